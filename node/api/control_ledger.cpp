// The shared state as this device has it: entries, slices, and whether it all verifies.
#include "base/bytes.h"
#include "base/quote.h"
#include "kernel/record/entry.h"
#include "node/api/control_routes.h"
#include "node/ledgers/ledger_rows.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(LedgerRequest, (Omittable<std::string>, domain, "Entries of this domain only"),
             (Omittable<std::string>, partition, "Entries of this partition only"),
             (Omittable<std::string>, entity, "Entries of this entity only"),
             (Omittable<std::uint64_t>, after,
              "The oldest entries after this number, of one partition; default: the newest entries"),
             (Omittable<bool>, bytes, "true: with the bytes of each entry; with `after` only"),
             (Omittable<std::uint64_t>, limit, "Most entries to give, at most 10000; default: 20"))

WITAN_STRUCT(LedgerEntry, (std::uint64_t, seq, "Number of the entry in its partition"),
             (Time, time, "When it was decided"), (kernel::Tag, tag, "Kind of the entry"),
             (Omittable<std::string>, entity, "Id of the entity"),
             (Omittable<std::string>, role, "Role of the proposer"),
             (Omittable<std::string>, device, "Id of the proposer's device"),
             (Omittable<std::string>, agent, "Id of the proposing agent"),
             (Omittable<std::string>, operationId, "Id of the operation"),
             (Omittable<std::string>, runKey, "Key of the agent's run"),
             (Omittable<std::string>, planDigest, "Digest of the agent's plan"),
             (Omittable<json::value>, action, "The action"),
             (Omittable<std::string>, invariant, "Invariant that did not pass"),
             (Omittable<std::string>, message, "Message of that invariant"),
             (Omittable<json::value>, writes, "Fields that the entry writes"),
             (ByName<kernel::InvResult>, verdicts, "Result by invariant, of those that were evaluated"),
             (Omittable<std::vector<FindingRow>>, findings, "Every invariant that did not pass"),
             (Omittable<std::string>, counselor, "Name of the counselor"),
             (Omittable<std::uint64_t>, escalation, "Number of the escalation that is decided"),
             (Omittable<std::string>, reason, "Reason that was given"),
             (Omittable<json::value>, decision, "Base and edit of a commit"),
             (std::string, stateDigest, "Digest of the entity's states up to this entry"),
             (Omittable<json::value>, genesis, "Domain, policy and partition of a first entry"))

WITAN_STRUCT(LedgerRow, (std::string, partition, "DOMAIN/NUMBER"),
             (std::uint64_t, seq, "Number of the entry in its partition"),
             (std::string, leafHash, "Hash of the entry's bytes as a leaf of the Merkle tree"),
             (std::string, story, "The entry in one line"),
             (Omittable<std::string>, bytes, "The entry's bytes in base64 (docs/ledger-format.md)"),
             (std::optional<LedgerEntry>, entry, "The entry; null: its bytes are damaged"))

WITAN_STRUCT(LedgerRows, (JsonAs<std::vector<LedgerRow>>, entries, "Entries, oldest first"))

WITAN_STRUCT(StreamRequest, (Omittable<std::string>, domain, "Entries of this domain only"),
             (Omittable<std::string>, partition, "Entries of this partition only: DOMAIN/NUMBER"),
             (Omittable<std::string>, entity, "Entries of this entity only"))

WITAN_STRUCT(VerifyRequest, (Omittable<bool>, replay, "true: decides every entry again"))

WITAN_STRUCT(LedgerVerdict, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, entries, "Number of entries"),
             (std::string, root, "Root of the Merkle tree"),
             (std::uint64_t, signedEntries, "Entries that the newest head of its owner covers"),
             (std::uint64_t, cosignedEntries, "Entries that the newest head covers that another device signed, too"),
             (std::optional<std::string>, problem, "The first problem; null: none"))

WITAN_STRUCT(VerifyReport, (bool, ok, "Whether no ledger has a problem"),
             (std::uint64_t, entries, "Entries of all ledgers"),
             (std::string, root, "Hash over all roots: equal on devices with equal ledgers"),
             (std::vector<LedgerVerdict>, ledgers, "Ledgers with entries or problems"))

WITAN_STRUCT(SliceRequest, (std::string, domain, "Name of the domain", 1), (std::string, entity, "Id of the entity", 1),
             (Omittable<std::string>, role, "Fields that this role sees; default: all, on a device with ledgers"))

WITAN_STRUCT(SliceShown, (std::string, domain, "Name of the domain"), (std::string, entity, "Id of the entity"),
             (std::string, role, "Role whose fields are shown; empty: all fields"),
             (std::string, partition, "DOMAIN/NUMBER"), (bool, frozen, "Whether the entity waits for a counselor"),
             (Omittable<Time>, at, "When the slice was made, on a device without ledgers"),
             (Omittable<std::int64_t>, ageSeconds, "Age of the slice, on a device without ledgers"),
             (json::value, state, "Fields of the entity by name, its clock and its waivers"))

constexpr std::uint64_t kMostEntries = 10'000;

// The newest `limit` of each partition, then of all of them by time; with `after`, the oldest of one partition.
Result<LedgerRows> ledger(const ApiContext& context, const LedgerRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  Replica& replica = context.daemon.replica();
  const RowFilter filter{request.domain.value_or(""), request.partition.value_or(""), request.entity.value_or("")};
  const std::size_t most = std::min(request.limit.value_or(20), kMostEntries);
  if (request.after && filter.partition.empty()) return invalid("query.after: needs a partition");
  WITAN_TRY(rows, request.after ? rowsAfter(replica, filter, *request.after, most, request.bytes.value_or(false))
                                : newestRows(replica, filter, most));
  return LedgerRows{{std::move(rows)}};
}

void stream(const ApiContext& context, const StreamRequest& request) {
  Daemon& daemon = context.daemon;
  if (const Status kept = needsLedgers(daemon); !kept.ok()) return context.responder.refuse(kept.error());
  const auto stream = context.responder.reply->stream({});
  const RowFilter filter{request.domain.value_or(""), request.partition.value_or(""), request.entity.value_or("")};
  const std::uint64_t handle = daemon.follow([stream, filter](PartitionHost& host, const StoredEntry& entry) {
    if (!filter.takes(host) || !filter.takes(entry)) return;
    stream->send("entry", canonicalJson(entryRow(host, entry)), host.id() + "/" + std::to_string(entry.seq));
  });
  stream->onGone([&daemon, handle] { daemon.unfollow(handle); });
}

Result<JsonAs<VerifyReport>> verify(const ApiContext& context, const VerifyRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  WITAN_TRY(report, verifyHosts(context.daemon.replica(), request.replay.value_or(false)));
  return JsonAs<VerifyReport>{std::move(report)};
}

// Of a device that keeps no ledgers: what it received, and how old that is.
Result<SliceShown> receivedSlice(Daemon& daemon, const SliceRequest& request) {
  const std::string role = request.role.value_or("");
  if (role.empty())
    return invalid("query.role: this device keeps no ledgers, only slices of roles", "give one of its roles");
  WITAN_TRY(found, daemon.slices().find(request.domain, request.entity, role));
  if (!found)
    return Error{ErrorCode::notFound,
                 "no slice of " + inQuotes(request.entity) + " for the role " + role + " was received",
                 "does this device have the role? witan device roster"};
  SliceShown shown{request.domain, request.entity, role, found->partition, found->frozen};
  shown.at = found->time;
  shown.ageSeconds = (daemon.now().wall.micros - found->time.micros) / 1'000'000;
  shown.state = parseJson(found->state, {.bytes = kernel::kRecordTextMax, .depth = 64}).value();
  return shown;
}

Result<SliceShown> keptSlice(const PartitionHost& host, const SliceRequest& request, kernel::FieldMask mask) {
  const kernel::EntityState* state = host.partition().state(request.entity);
  if (state == nullptr) return Error{ErrorCode::notFound, "there is no entity " + inQuotes(request.entity), ""};
  std::string text;
  host.module().writeState(text, *state, mask);
  SliceShown shown{request.domain, request.entity, request.role.value_or(""), host.id(),
                   host.partition().frozen(request.entity)};
  shown.state = parseJson(text, {.bytes = kernel::kRecordTextMax, .depth = 64}).value();
  return shown;
}

// The fields that the asked role sees.
Result<kernel::FieldMask> maskOf(Daemon& daemon, const SliceRequest& request) {
  WITAN_TRY(module, moduleNamed(daemon, request.domain));
  const std::string role = request.role.value_or("");
  if (role.empty()) return ~kernel::FieldMask{0};
  for (const kernel::RoleInfo& info : module->signature().roles)
    if (info.name == role) return info.footprint;
  return Error{ErrorCode::notFound, "the domain " + request.domain + " has no role " + inQuotes(role), ""};
}

void slice(const ApiContext& context, const SliceRequest& request, Later<SliceShown> later) {
  Replica& replica = context.daemon.replica();
  const auto mask = maskOf(context.daemon, request);
  if (!mask.ok()) return later.refuse(mask.error());
  const PartitionHost* host = replica.host(replica.partitionFor(request.domain, request.entity));
  if (host == nullptr) return later.answer(receivedSlice(context.daemon, request));
  context.daemon.readers().read(
      {host->id()},
      [later, request, mask](const PartitionHost& copy) { later.answer(keptSlice(copy, request, *mask)); },
      [later](const Status& read) {
        if (!read.ok()) later.refuse(read.error());
      });
}

}  // namespace

std::vector<ControlRoute> ledgerRoutes() {
  using enum ControlRole;
  return {
      get("/v1/ledger", "listLedgerEntries", "ledger", observer, "Entries of this device's copies, newest last", ledger,
          {404, 500}),
      streamRoute<LedgerRow>({"GET",
                              "/v1/ledger/stream",
                              "streamLedger",
                              "ledger",
                              observer,
                              "New entries as server-sent events; each event is a LedgerRow",
                              {},
                              "text/event-stream"},
                             stream),
      get("/v1/ledger/verify", "verifyLedgers", "ledger", observer, "Checks every ledger of this device", verify,
          {500}),
      get("/v1/slice", "readSlice", "ledger", observer, "The fields of an entity that a role sees", slice, {404, 500})};
}

}  // namespace witan::node::api
