#include "kernel/record/fork_proof.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

Error bad(std::string_view why) { return invalid(concat("evidence: ", why)); }

Result<Hash> hashOf(std::string_view hex) {
  WITAN_TRY(bytes, fromHex(hex));
  Hash hash{};
  if (bytes.size() != hash.size()) return bad("a hash has 32 bytes");
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

Result<Checkpoint> headOf(std::string_view note, const NoteVerifier& key) {
  WITAN_TRY(opened, openNote(note, {&key, 1}));
  return parseCheckpointText(opened.text);
}

}  // namespace

Result<ProvenFork> verifyForkProof(std::string_view file) {
  WITAN_TRY(parsed, parseJson(file, {.bytes = kMaxForkProofBytes, .depth = 4}));
  ForkProof proof;
  WITAN_DO(readJson(parsed, proof, "evidence"));
  if (proof.kind != "fork") return bad("of an unknown kind");
  WITAN_TRY(key, parseVerifierKey(proof.key));
  if (key.type != NoteKeyType::signature) return bad("the key is that of a witness");
  WITAN_TRY(first, headOf(proof.first, key));
  WITAN_TRY(second, headOf(proof.second, key));
  if (first.origin != second.origin) return bad("the heads are of two logs");
  if (first.size > second.size) return bad("the first head is of the larger tree");
  WITAN_TRY(root, hashOf(proof.root));
  std::vector<Hash> path;
  for (const std::string& hex : proof.path) {
    WITAN_TRY(hash, hashOf(hex));
    path.push_back(hash);
  }
  if (!verifyConsistency(first.size, second.size, root, second.root, path))
    return bad("the path does not lead to the second head");
  if (root == first.root) return bad("one log can have both heads");
  return ProvenFork{key, first.origin,
                    concat(key.name, " signed two different ledgers of ", first.origin, ": of the first ", first.size,
                           " entries one has the root ", toHex(first.root), ", the other ", toHex(root))};
}

}  // namespace witan::kernel
