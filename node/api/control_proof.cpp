// Proofs about this device's copies of ledgers.
//
// A proof shows two facts: an entry is in the tree under a root, and this device stated at a moment that its copy has
// that root. The head of the ledger (replica/head_exchange.h) binds its owner and its cosigners: prove an entry in a
// tree of the head's size, and check the head's note.
//
// The statement is a signed note in the form of a checkpoint, signed with the device's key, which is also its TLS key.
// The signatures cannot stand in for each other. A statement begins with "witan-copy/" and has no control character but
// the line's end. What TLS 1.3 signs begins with 64 spaces and has a zero byte (RFC 8446, 4.4.3); links speak no older
// TLS (net/tls_context.cpp). A certificate begins with 0x30, the order to rotate a key with "witan rotate|"
// (node/cluster/device_key.cpp), the head of a ledger with "witan/" (replica/core/log_head.h), a cosigned one with
// "cosignature/v1" (kernel/record/signed_note.cpp).
#include "base/bytes.h"
#include "base/quote.h"
#include "kernel/record/checkpoint.h"
#include "node/api/control_routes.h"
#include "node/ledgers/held_entry.h"
#include "node/witness/witness_rounds.h"
#include "replica/head_exchange.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ProofRequest, (std::string, partition, "DOMAIN/NUMBER", 1), (std::uint64_t, seq, "Number of the entry"),
             (Omittable<std::uint64_t>, size, "Entries of the tree; default: all of this copy"),
             (Omittable<std::uint64_t>, since,
              "Size of the ledger in an earlier statement: proves that the copy goes on"))

WITAN_STRUCT(
    LedgerProof, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, seq, "Number of the entry"),
    (std::string, bytes,
     "The entry's bytes in base64 (docs/ledger-format.md); empty: `size` was given, and they were pruned here"),
    (std::string, leafHash, "Hash of the bytes as a leaf"), (std::uint64_t, index, "Index of the leaf"),
    (std::uint64_t, size, "Entries of the tree"), (std::string, root, "Root of the tree"),
    (std::vector<std::string>, path, "Audit path, from the leaf"),
    (std::string, statement, "That this device's copy has this root now: a note, signed with the device's key"),
    (std::string, verifier, "Key that signed it, in the form of transparency tools"),
    (Omittable<std::string>, firstRoot, "Root of the earlier tree"),
    (Omittable<std::vector<std::string>>, consistency, "Path from the earlier tree"),
    (Omittable<std::string>, holder,
     "Id of the device that was asked, where this one keeps no copy, or has pruned the entry: what it told was "
     "checked here, and `statement` is the head of the ledger's owner"))

WITAN_STRUCT(HeadRequest, (std::string, partition, "DOMAIN/NUMBER", 1),
             (Omittable<bool>, signedOnly, "true: the newest head, though no other device has cosigned it"))

std::string originOf(Daemon& daemon, const std::string& partition) {
  return std::string(kernel::kCopyStatement) + daemon.roster().current().cluster + "/" + daemon.replica().device() +
         "/" + partition;
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

LedgerProof proofOf(const InclusionProof& proven) {
  LedgerProof proof{proven.partition, proven.seq,  proven.bytes, proven.leafHash,
                    proven.index,     proven.size, proven.root,  proven.path};
  proof.firstRoot = proven.firstRoot;
  proof.consistency = proven.consistency;
  proof.holder = proven.holder;
  return proof;
}

// O(entries of the partition).
Result<LedgerProof> proveHere(const ApiContext& context, const ProofRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(needsLedgers(daemon));
  WITAN_TRY(proven, proveEntry(daemon.replica(), request.partition, request.seq, request.size.value_or(0),
                               request.since.value_or(0)));
  const PartitionHost* host = daemon.replica().host(request.partition);
  LedgerProof proof = proofOf(proven);
  const std::string origin = originOf(daemon, request.partition);
  Hash root{};
  WITAN_TRY(bytes, fromHex(proven.root));
  std::copy(bytes.begin(), bytes.end(), root.begin());
  WITAN_SET(proof.statement, statementOf(daemon, *host, proof.size, root, origin));
  WITAN_TRY(verifier, kernel::makeNoteVerifier(origin, daemon.key().publicKey()));
  proof.verifier = kernel::verifierKeyText(verifier);
  return proof;
}

// Of a partition that other devices keep, with the role to have all of it.
bool asksHolders(Daemon& daemon, const std::string& partition) {
  return daemon.replica().host(partition) == nullptr && daemon.me() != nullptr && daemon.me()->keepsLedgers() &&
         daemon.replica().placement().partial(partition);
}

// An entry that was pruned here is asked too, but not its place in a tree of a given size: that is known here.
bool asksHolders(Daemon& daemon, const ProofRequest& request) {
  const PartitionHost* host = daemon.replica().host(request.partition);
  if (host == nullptr) return asksHolders(daemon, request.partition);
  return request.seq > 0 && request.seq < host->firstEntry() && request.size.value_or(0) == 0;
}

LedgerProof proofOf(Daemon& daemon, const HeldEntry& held) {
  LedgerProof proof = proofOf(held.proof);
  proof.statement = held.head.note;
  const std::vector<std::string> keys = daemon.replica().heads().verifierKeysOf(held.head);
  if (!keys.empty()) proof.verifier = keys.front();
  return proof;
}

void prove(const ApiContext& context, const ProofRequest& request, Later<LedgerProof> later) {
  Daemon& daemon = context.daemon;
  if (!asksHolders(daemon, request)) return later.answer(proveHere(context, request));
  if (request.seq == 0) return later.refuse(notFound("there is no entry 0 in " + request.partition));
  daemon.askHolders({0, request.partition, request.seq, request.size.value_or(0), request.since.value_or(0)},
                    [later, &daemon](const Result<HeldEntry>& held) {
                      if (!held.ok()) return later.refuse(held.error());
                      later.answer(proofOf(daemon, *held));
                    });
}

LedgerHead headOf(Daemon& daemon, const LogHead& head) {
  return {head.log.partition,
          head.checkpoint.size,
          head.checkpoint.size,
          toHex(head.checkpoint.root),
          head.note,
          {head.cosigners.begin(), head.cosigners.end()},
          daemon.replica().heads().verifierKeysOf(head),
          {}};
}

Result<LedgerHead> headHere(const ApiContext& context, const HeadRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  const bool signedOnly = request.signedOnly.value_or(false);
  WITAN_TRY(head, headOf(context.daemon.replica(), request.partition, signedOnly));
  const WitnessRounds* witnesses = context.daemon.witnesses();
  const auto* published = witnesses == nullptr ? nullptr : witnesses->published(request.partition);
  if (published == nullptr || signedOnly) return head;
  WITAN_TRY(checkpoint, kernel::parseCheckpointText(published->text));
  head.size = checkpoint.size, head.root = toHex(checkpoint.root), head.note = published->note;
  for (const kernel::NoteVerifier& key : witnesses->verifiers())
    if (published->witnesses.contains(key.name)) head.keys.push_back(kernel::verifierKeyText(key));
  head.witnesses = {published->witnesses.begin(), published->witnesses.end()};
  return head;
}

void head(const ApiContext& context, const HeadRequest& request, Later<LedgerHead> later) {
  Daemon& daemon = context.daemon;
  if (!asksHolders(daemon, request.partition)) return later.answer(headHere(context, request));
  daemon.askHolders({0, request.partition}, [later, &daemon](const Result<HeldEntry>& held) {
    if (!held.ok()) return later.refuse(held.error());
    later.answer(headOf(daemon, held->head));
  });
}

}  // namespace

std::vector<ControlRoute> proofRoutes() {
  using enum ControlRole;
  return {
      get("/v1/ledger/proof", "proveEntry", "ledger", observer,
          "Proves that an entry is in this device's copy of a ledger, under a root that the device states and signs",
          prove, {404, 500, 503}),
      get("/v1/ledger/checkpoint", "readLedgerHead", "ledger", observer,
          "The newest head of a ledger, signed by its owner and cosigned by other devices", head, {404, 500, 503})};
}

}  // namespace witan::node::api
