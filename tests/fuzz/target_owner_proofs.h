// Any bytes as a seal, a claim or a proof of a peer, as evidence or a sealed box, and as changes of genuine ones: only
// what was signed holds.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/dense.h"
#include "base/json_codec.h"
#include "base/sealed_box.h"
#include "kernel/record/signed_leaves.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_proofs.h"
#include "replica/core/owner_table.h"
#include "replica/core/row_proofs.h"

namespace witan::fuzz {

class CorpusKeys final : public node::HeadKeys {
 public:
  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view) const override { return {key_.publicKey()}; }
  node::Takeover mayTakeOver(std::string_view) const override { return node::Takeover::yes; }
  Result<std::string> remembered() const override { return std::string(); }
  Status remember(std::string_view) override { return okStatus(); }

 private:
  SigningKey key_ = *SigningKey::fromSeed(std::string(32, 's'));
};

// Of a row that device c sealed in the name of a. What holds of it after changes says the same.
template <class Altered>
void fuzzEvidence(const Altered& altered) {
  const SigningKey liar = *SigningKey::fromSeed(std::string(32, 'c'));
  std::string row("\0witan-row/1\n", 13);
  DenseWriter to(row);
  for (const char* name : {"test", "journal/main", "a@00000001"}) to.text(name);
  to.varint(1), to.byte(1), to.text("plot"), to.varint(7);
  const Hash leaf = sha256(row);
  const node::RowEvidence evidence{
      .key = kernel::verifierKeyText(*kernel::makeNoteVerifier("witan/test/c", liar.publicKey())),
      .seal = toBase64(kernel::packSet(kernel::signSet("test", {&leaf, 1}, liar))),
      .row = toBase64(row)};
  const auto proven = node::verifyEvidence(toJson(evidence));
  WITAN_CHECK(proven.ok(), "genuine evidence holds");
  for (node::FileBytes node::RowEvidence::*bytes : {&node::RowEvidence::seal, &node::RowEvidence::row}) {
    node::RowEvidence other = evidence;
    other.*bytes = toBase64(altered(*fromBase64(evidence.*bytes)));
    const auto still = node::verifyEvidence(toJson(other));
    WITAN_CHECK(!still.ok() || still->what == proven->what, "changed evidence proves nothing else");
  }
  const auto file = node::verifyEvidence(altered(toJson(evidence)));
  WITAN_CHECK(!file.ok() || file->what == proven->what, "a changed file proves nothing else");
}

inline void fuzzOwnerProofs(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 1 << 16) return;
  const CorpusKeys keys;
  const node::OwnerTable none;
  kernel::SignatureMemo memo;
  WordWriter words;
  const auto altered = [&](std::string genuine) {
    for (std::size_t i = 0; i < genuine.size(); ++i)
      genuine[i] = static_cast<char>(genuine[i] ^ bytes[i % bytes.size()]);
    return genuine;
  };
  node::BatchSeal seal{3, "a@00000001", 7, sha256("chain"), sha256("value")}, other = seal;
  other.batches = 8;
  const std::vector<std::pair<std::string, node::BatchSeal*>> both{{"budget/0", &seal}, {"budget/1", &other}};
  node::sealTogether("test", both, keys.key());
  const std::string genuine(words.message(seal));
  WITAN_CHECK(node::holdsSeal("test", "budget/0", seal, keys.keysOf("a"), memo), "a genuine seal holds");
  for (const std::string& text : {std::string(bytes), altered(genuine)}) {
    node::BatchSeal read;
    if (!readMessage(text, read, "seal").ok() || words.message(read) == genuine) continue;
    WITAN_CHECK(!node::holdsSeal("test", "budget/0", read, keys.keysOf("a"), memo), "another seal does not hold");
  }
  const std::span<const std::uint8_t> raw = asBytes(bytes);
  if (const auto proof = kernel::readProof(raw); proof.ok()) {
    WITAN_CHECK(std::ranges::equal(kernel::packProof(*proof), raw), "a proof has one form");
    WITAN_CHECK(!memo.holds("test", sha256("leaf"), *proof), "another proof does not hold");
  }
  const std::vector<Hash> leaves{sha256("1"), sha256("2"), sha256("3")};
  const std::string all = kernel::packSet(kernel::signSet("test", leaves, keys.key()));
  for (const std::string& text : {std::string(bytes), altered(all)}) {
    const auto set = kernel::readSet(text);
    if (!set.ok() || text == all) continue;
    WITAN_CHECK(kernel::packSet(*set) == text, "a set of leaves has one form");
    std::vector<Hash> found;
    if (memo.holds("test", *set, found))  // it has some of the leaves, each at its place
      for (std::size_t i = 0; i < found.size(); ++i)
        WITAN_CHECK(found[i] == leaves.at(set->kept[i]), "another leaf does not hold");
    const kernel::LeafSet fewer = kernel::keepLeaves(*set, {set->kept.data(), 1});
    Hash root, same;
    (void)kernel::leavesOf(*set, root);
    WITAN_CHECK(kernel::leavesOf(fewer, same).front() == found.front() && root == same, "fewer leaves have its root");
  }
  WITAN_CHECK(!openBox(keys.key(), "", bytes).has_value(), "there is no box");
  WITAN_CHECK(!node::verifyEvidence(bytes).ok(), "there is no evidence");
  fuzzEvidence(altered);
  node::OwnershipRecord claim{"budget/0", 3, "a@00000001"};
  node::signClaim("test", claim, keys.key());
  const std::string claimed(words.message(claim));
  for (const std::string& text : {std::string(bytes), altered(claimed)}) {
    node::OwnershipRecord read;
    if (!readMessage(text, read, "claim").ok() || words.message(read) == claimed) continue;
    if (!node::checkOwnershipRecord(read, 0).ok()) continue;
    WITAN_CHECK(!node::isProven("test", read, keys, none), "another claim is not proven");
  }
}

}  // namespace witan::fuzz
