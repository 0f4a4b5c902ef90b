// Who decides for what, and how that changes hands.
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "replication/writer.h"

namespace witan::node::control {

namespace {

json::object rowOf(Daemon& daemon, const std::string& id, PartitionHost* host) {
  Replica& replica = daemon.replica();
  json::object row{{"partition", id}};
  const OwnershipRecord* claim = replica.owners().find(id);
  if (claim != nullptr) {
    const std::string device(replication::deviceOf(claim->owner));
    row["owner"] = device;
    row["epoch"] = claim->number;
    if (const RosterDevice* known = daemon.roster().current().find(device)) row["ownerName"] = known->name;
    row["ownerConnected"] = device == replica.device() || replica.isConnected(device);
  }
  if (host == nullptr) return row;
  row["here"] = replica.owns(*host);
  const LedgerReaders::Census census = daemon.readers().censusOf(*host);
  row["entities"] = census.entities;
  row["entries"] = census.entries;
  row["pending"] = census.pending;
  row["behindEpoch"] = claim != nullptr && host->epoch() < claim->epoch();
  return row;
}

// What is no partition at all is told from one that is elsewhere.
Status checkPartition(const ControlCall& call) {
  const std::string id = call.text("partition");
  const std::size_t slash = id.find('/');
  const std::string domain = id.substr(0, slash);
  if (slash == std::string::npos) return invalid("partition: " + inQuotes(id) + " is no DOMAIN/NUMBER");
  if (call.daemon.replica().moduleOf(domain) == nullptr)
    return Error{ErrorCode::notFound, "there is no domain " + inQuotes(domain), "see: witan domain list"};
  const std::uint64_t count = call.daemon.cluster().partitions;
  for (std::uint64_t n = 0; n < count; ++n)
    if (id == partitionId(domain, static_cast<std::uint32_t>(n))) return okStatus();
  return Error{ErrorCode::notFound, "there is no partition " + inQuotes(id),
               domain + " has " + domain + "/0 to " + domain + "/" + std::to_string(count - 1)};
}

}  // namespace

void partitions(const ControlCall& call) {
  json::array list;
  const std::string domain = call.text("domain");
  const auto wanted = [&](const std::string& id) { return domain.empty() || id.starts_with(domain + "/"); };
  Replica& replica = call.daemon.replica();
  if (replica.hosts().empty()) {
    for (const auto& [id, claim] : replica.owners().all())
      if (wanted(id)) list.push_back(rowOf(call.daemon, id, nullptr));
  }
  for (const auto& [id, host] : replica.hosts())
    if (wanted(id)) list.push_back(rowOf(call.daemon, id, host.get()));
  call.answer({{"partitions", std::move(list)}});
}

void movePartition(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(checkPartition(call));
    const std::string partition = call.text("partition");
    WITAN_TRY(known, call.daemon.roster().current().lookUp(call.text("device")));
    const std::string device = known->device;
    WITAN_DO(call.daemon.replica().transferOwnership(partition, device, call.text("reason"), call.daemon.now()));
    WITAN_DO(call.daemon.round());
    call.daemon.log().warn("partitions", "handed over", {{"partition", partition}, {"to", device}});
    return json::value(json::object{{"partition", partition}, {"to", device}});
  }());
}

void seizePartition(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(checkPartition(call));
    const std::string partition = call.text("partition");
    WITAN_DO(call.daemon.replica().forceTakeover(partition, call.text("reason"), call.daemon.now()));
    WITAN_DO(call.daemon.round());
    call.daemon.log().warn("partitions", "seized", {{"partition", partition}});
    return json::value(json::object{{"partition", partition}, {"owner", call.daemon.replica().device()}});
  }());
}

}  // namespace witan::node::control
