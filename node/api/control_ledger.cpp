// The shared state as this device has it: entries, slices, and whether it all verifies.
#include "base/bytes.h"
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/api/messages/ledger.h"
#include "node/ledgers/ledger_rows.h"

namespace witan::node::api {

namespace {

constexpr std::uint64_t kMostEntries = 10'000;

// The newest `limit` of each partition, then of all of them by time; with `after`, the oldest of one partition.
Result<LedgerRows> ledger(const ApiContext& context, const LedgerRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  Replica& replica = context.daemon.replica();
  const RowFilter filter{request.domain.value_or(""), request.partition.value_or(""), request.entity.value_or("")};
  const std::size_t most = std::min(request.limit.value_or(20), kMostEntries);
  if (request.after && filter.partition.empty()) return invalid("query.after: needs a partition");
  WITAN_TRY(rows, request.after ? rowsAfter(replica, filter, *request.after, most) : newestRows(replica, filter, most));
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

constexpr const char* kRowsExample =
    R"({"entries":[{"partition":"budget/0","seq":2,"leafHash":"9f86d081884c7d65","story":"B: A SpendA approved",
        "entry":{"seq":2,"time":"2026-03-23T08:00:00Z","tag":"approved","entity":"B","role":"A","device":
        "0d66796d1c3b9a52","operationId":"order-4711","action":{"type":"SpendA","n":3},"writes":{"spentA":3},
        "verdicts":{"KERNEL_INTEGRITY":"pass"},"stateDigest":"60303ae22b998861"}}]})";

std::vector<ControlRoute> entryRoutes() {
  return {
      typedRoute({.method = "GET",
                  .path = "/v1/ledger",
                  .operationId = "listLedgerEntries",
                  .tag = "ledger",
                  .role = ControlRole::observer,
                  .summary = "Entries of this device's copies, newest last",
                  .errors = {404, 500},
                  .request = R"({"partition":"budget/0","after":1,"limit":100})",
                  .response = kRowsExample},
                 ledger),
      streamRoute<LedgerRow>({.method = "GET",
                              .path = "/v1/ledger/stream",
                              .operationId = "streamLedger",
                              .tag = "ledger",
                              .role = ControlRole::observer,
                              .summary = "New entries as server-sent events; each event is a LedgerRow",
                              .request = R"({"domain":"budget"})",
                              .response = "event: entry\nid: budget/0/2\ndata: {\"partition\":\"budget/0\"}\n\n",
                              .mediaType = "text/event-stream"},
                             stream),
      typedRoute({.method = "GET",
                  .path = "/v1/ledger/verify",
                  .operationId = "verifyLedgers",
                  .tag = "ledger",
                  .role = ControlRole::observer,
                  .summary = "Checks every ledger of this device",
                  .errors = {500},
                  .request = R"({"replay":true})",
                  .response = R"({"ok":true,"entries":2,"root":"60303ae22b998861","ledgers":[{"partition":"budget/0",
                          "entries":2,"root":"fd61a03af4f77d87","problem":null}]})"},
                 verify)};
}

}  // namespace

std::vector<ControlRoute> ledgerRoutes() {
  std::vector<ControlRoute> all = entryRoutes();
  all.push_back(laterRoute({.method = "GET",
                            .path = "/v1/slice",
                            .operationId = "readSlice",
                            .tag = "ledger",
                            .role = ControlRole::observer,
                            .summary = "The fields of an entity that a role sees",
                            .errors = {404, 500},
                            .request = R"({"domain":"budget","entity":"B","role":"A"})",
                            .response = R"({"domain":"budget","entity":"B","role":"A","partition":"budget/0",
                                "frozen":false,"state":{"spentA":3}})"},
                           slice));
  return all;
}

}  // namespace witan::node::api
