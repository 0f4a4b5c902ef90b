// Proofs about the ledgers of this device, for a verifier that trusts the roster's keys and nothing else here.
#include "base/bytes.h"
#include "base/quote.h"
#include "kernel/record/checkpoint.h"
#include "node/api/control_routes.h"
#include "node/ledgers/ledger_reader.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ProofRequest, (std::string, partition, "DOMAIN/NUMBER", 1), (std::uint64_t, seq, "Number of the entry"),
             (Omittable<std::uint64_t>, since, "Size of the ledger in an earlier checkpoint: proves that it goes on"))

WITAN_STRUCT(LedgerProof, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, seq, "Number of the entry"),
             (std::string, bytes, "The entry's bytes in base64 (docs/ledger-format.md)"),
             (std::string, leafHash, "Hash of the bytes as a leaf"), (std::uint64_t, index, "Index of the leaf"),
             (std::uint64_t, size, "Entries of the tree"), (std::string, root, "Root of the tree"),
             (std::vector<std::string>, path, "Audit path, from the leaf"),
             (std::string, checkpoint, "Signed by this device's key, C2SP tlog-checkpoint"),
             (std::string, verifier, "Key that signed it, in the form of transparency tools"),
             (Omittable<std::vector<std::string>>, consistency, "Path from the tree of the earlier checkpoint"))

std::vector<std::string> hexOf(const std::vector<Hash>& hashes) {
  std::vector<std::string> list;
  for (const Hash& hash : hashes) list.push_back(toHex(hash));
  return list;
}

Result<std::string> checkpointOf(Daemon& daemon, const PartitionHost& host, std::uint64_t size, const Hash& root,
                                 const std::string& origin) {
  const kernel::Signature& signature = host.module().signature();
  std::string invariants = "invariants " + std::string(kernel::kKernelIntegrity);
  for (const kernel::InvariantInfo& one : signature.invariants) invariants += " " + one.id;
  return kernel::signCheckpoint({origin,
                                 size,
                                 root,
                                 {"format 1", "domain " + signature.domain, "module " + toHex(host.module().digest()),
                                  invariants, "time " + formatTime(daemon.now().wall)}},
                                daemon.key());
}

// O(entries of the partition).
Result<LedgerProof> prove(const ApiContext& context, const ProofRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(needsLedgers(daemon));
  PartitionHost* host = daemon.replica().host(request.partition);
  if (host == nullptr)
    return Error{ErrorCode::notFound, "this device keeps no partition " + inQuotes(request.partition),
                 "see: witan partition list"};
  WITAN_TRY(tree, readTree(host->rows()));
  const std::uint64_t size = tree.size();
  if (request.seq == 0 || request.seq > size)
    return Error{ErrorCode::notFound, "there is no entry " + std::to_string(request.seq) + " in " + request.partition,
                 ""};
  LedgerProof proof{request.partition, request.seq};
  WITAN_DO(visitEntry(host->rows(), request.seq, [&](const StoredEntry& entry) {
    proof.bytes = toBase64(entry.bytes);
    proof.leafHash = toHex(entry.leaf);
  }));
  proof.index = request.seq - 1;
  proof.size = size;
  WITAN_TRY(root, kernel::rootAt(size, tree));
  proof.root = toHex(root);
  WITAN_TRY(path, kernel::inclusionProof(proof.index, size, tree));
  proof.path = hexOf(path);
  const std::string origin = "witan/" + daemon.roster().current().cluster + "/" + request.partition;
  WITAN_TRY(note, checkpointOf(daemon, *host, size, root, origin));
  proof.checkpoint = std::move(note);
  WITAN_TRY(verifier, kernel::makeNoteVerifier(origin, daemon.key().publicKey()));
  proof.verifier = kernel::verifierKeyText(verifier);
  if (request.since && *request.since > 0 && *request.since <= size) {
    WITAN_TRY(consistency, kernel::consistencyProof(*request.since, size, tree));
    proof.consistency = hexOf(consistency);
  }
  return proof;
}

}  // namespace

std::vector<ControlRoute> proofRoutes() {
  using enum ControlRole;
  return {get("/v1/ledger/proof", "proveEntry", "ledger", observer,
              "Proves that an entry is in a ledger of this device, under a signed checkpoint", prove, {404, 500})};
}

}  // namespace witan::node::api
