// Proofs about this device's copies of ledgers.
//
// A proof shows two facts: an entry is in the tree under a root, and this device stated at a moment that its copy has
// that root. It does not show that other devices have the same copy, that the copy stays (a seizure can truncate it),
// or that the owner decided by the rules. A cluster's ledgers have no checkpoints that bind their owner.
//
// The statement is a signed note in the form of a checkpoint, signed with the device's key, which is also its TLS key.
// The signatures cannot stand in for each other. A statement begins with "witan-copy/" and has no control character but
// the line's end. What TLS 1.3 signs begins with 64 spaces and has a zero byte (RFC 8446, 4.4.3); links speak no older
// TLS (net/tls_context.cpp). A certificate begins with 0x30, the order to rotate a key with "witan rotate|"
// (node/cluster/device_key.cpp), the checkpoint of a ledger of `witan run` with "witan/" (node/data_dir/store_dir.cpp).
#include "base/bytes.h"
#include "base/quote.h"
#include "kernel/record/checkpoint.h"
#include "node/api/control_routes.h"
#include "node/ledgers/ledger_reader.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ProofRequest, (std::string, partition, "DOMAIN/NUMBER", 1), (std::uint64_t, seq, "Number of the entry"),
             (Omittable<std::uint64_t>, since,
              "Size of the ledger in an earlier statement: proves that the copy goes on"))

WITAN_STRUCT(LedgerProof, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, seq, "Number of the entry"),
             (std::string, bytes, "The entry's bytes in base64 (docs/ledger-format.md)"),
             (std::string, leafHash, "Hash of the bytes as a leaf"), (std::uint64_t, index, "Index of the leaf"),
             (std::uint64_t, size, "Entries of the tree"), (std::string, root, "Root of the tree"),
             (std::vector<std::string>, path, "Audit path, from the leaf"),
             (std::string, statement,
              "That this device's copy has this root now: a note, signed with the device's key"),
             (std::string, verifier, "Key that signed it, in the form of transparency tools"),
             (Omittable<std::vector<std::string>>, consistency, "Path from the tree of the earlier statement"))

std::vector<std::string> hexOf(const std::vector<Hash>& hashes) {
  std::vector<std::string> list;
  for (const Hash& hash : hashes) list.push_back(toHex(hash));
  return list;
}

std::string originOf(Daemon& daemon, const std::string& partition) {
  return "witan-copy/" + daemon.roster().current().cluster + "/" + daemon.replica().device() + "/" + partition;
}

Result<std::string> statementOf(Daemon& daemon, const PartitionHost& host, std::uint64_t size, const Hash& root,
                                const std::string& origin) {
  const kernel::Signature& signature = host.module().signature();
  std::string invariants = "invariants " + std::string(kernel::kKernelIntegrity);
  for (const kernel::InvariantInfo& one : signature.invariants) invariants += " " + one.id;
  return kernel::signCheckpoint({origin,
                                 size,
                                 root,
                                 {"format 1", "domain " + signature.domain, "module " + toHex(host.module().digest()),
                                  invariants, "time " + formatTime(daemon.now().wall),
                                  "meaning this device holds this copy now; no other device has signed it"}},
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
  const std::string origin = originOf(daemon, request.partition);
  WITAN_TRY(note, statementOf(daemon, *host, size, root, origin));
  proof.statement = std::move(note);
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
  return {
      get("/v1/ledger/proof", "proveEntry", "ledger", observer,
          "Proves that an entry is in this device's copy of a ledger, under a root that the device states and signs",
          prove, {404, 500})};
}

}  // namespace witan::node::api
