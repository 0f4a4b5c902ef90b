// The shared state as this device has it: entries, slices, and whether it all verifies.
#include "base/bytes.h"
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/ledgers/ledger_rows.h"
#include "node/ledgers/verify_hosts.h"

namespace witan::node::control {

namespace {

constexpr std::uint64_t kMostEntries = 10'000;

}  // namespace

// The newest `limit` of each partition, then of all of them by time; with `after`, the oldest of one partition.
void ledger(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(call.needsLedgers());
    WITAN_TRY(limit, call.number("limit", 20));
    WITAN_TRY(after, call.number("after", 0));
    Replica& replica = call.daemon.replica();
    const RowFilter filter{call.text("domain"), call.text("partition"), call.text("entity")};
    const std::size_t most = std::min(limit, kMostEntries);
    const bool following = call.request.query.contains("after");
    if (following && filter.partition.empty()) return invalid("after: of which partition?");
    WITAN_TRY(rows, following ? rowsAfter(replica, filter, after, most) : newestRows(replica, filter, most));
    return json::value(json::object{{"entries", std::move(rows)}});
  }());
}

void ledgerStream(const ControlCall& call) {
  if (const Status kept = call.needsLedgers(); !kept.ok()) return call.refuse(kept.error());
  const auto stream = call.reply->stream({});
  const RowFilter filter{call.text("domain"), "", call.text("entity")};
  const std::uint64_t handle = call.daemon.follow([stream, filter](PartitionHost& host, const StoredEntry& entry) {
    if (!filter.takes(host) || !filter.takes(entry)) return;
    stream->send("entry", canonicalJson(entryRow(host, entry)), host.id() + "/" + std::to_string(entry.seq));
  });
  Daemon& daemon = call.daemon;
  stream->onGone([&daemon, handle] { daemon.unfollow(handle); });
}

void ledgerVerify(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(call.needsLedgers());
    return verifyHosts(call.daemon.replica(), call.text("replay") == "true");
  }());
}

namespace {

// Of a device that keeps no ledgers: what it was given, and how old that is.
void receivedSlice(const ControlCall& call, const std::string& domain, const std::string& entity,
                   const std::string& role) {
  if (role.empty()) return call.refuse(invalid("role: this device keeps no ledgers, it has slices of roles alone"));
  auto slice = call.daemon.slices().find(domain, entity, role);
  if (!slice.ok()) return call.refuse(slice.error());
  if (!*slice)
    return call.refuse({ErrorCode::notFound,
                        "no slice of " + inQuotes(entity) + " for the role " + role + " was received",
                        "does this device have the role? witan device roster"});
  const Slice& held = **slice;
  call.answer({{"domain", domain},
               {"entity", entity},
               {"role", role},
               {"partition", held.partition},
               {"frozen", held.frozen},
               {"at", formatTime(held.time)},
               {"ageSeconds", (call.daemon.now().wall.micros - held.time.micros) / 1'000'000},
               {"state", parseJson(held.state, {.bytes = kernel::kRecordTextMax, .depth = 64}).value()}});
}

void sliceOf(const ControlCall& call, const PartitionHost& host, const std::string& domain, const std::string& entity,
             const std::string& role, kernel::FieldMask mask) {
  const kernel::EntityState* state = host.partition().state(entity);
  if (state == nullptr) return call.refuse({ErrorCode::notFound, "there is no entity " + inQuotes(entity), ""});
  std::string text;
  host.module().writeState(text, *state, mask);
  call.answer({{"domain", domain},
               {"entity", entity},
               {"role", role},
               {"partition", host.id()},
               {"frozen", host.partition().frozen(entity)},
               {"state", parseJson(text, {.bytes = kernel::kRecordTextMax, .depth = 64}).value()}});
}

}  // namespace

void slice(const ControlCall& call) {
  Replica& replica = call.daemon.replica();
  const std::string domain = call.text("domain"), entity = call.text("entity"), role = call.text("role");
  const auto module = call.module();
  if (!module.ok()) return call.refuse(module.error());
  kernel::FieldMask mask = ~kernel::FieldMask{0};
  if (!role.empty()) {
    const auto& roles = (*module)->signature().roles;
    const auto at = std::find_if(roles.begin(), roles.end(), [&](const auto& info) { return info.name == role; });
    if (at == roles.end())
      return call.refuse({ErrorCode::notFound, "the domain " + domain + " has no role " + inQuotes(role), ""});
    mask = at->footprint;
  }
  PartitionHost* host = replica.host(replica.partitionFor(domain, entity));
  if (host == nullptr) return receivedSlice(call, domain, entity, role);
  call.daemon.readers().read(
      {host->id()},
      [call, domain, entity, role, mask](const PartitionHost& copy) {
        sliceOf(call, copy, domain, entity, role, mask);
      },
      [call](const Status& read) {
        if (!read.ok()) call.refuse(read.error());
      });
}

}  // namespace witan::node::control
