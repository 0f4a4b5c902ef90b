// Who decides for what, and how that changes hands.
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/api/messages/partitions.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

PartitionRow rowOf(Daemon& daemon, const std::string& id, PartitionHost* host) {
  Replica& replica = daemon.replica();
  PartitionRow row{id};
  const OwnershipRecord* claim = replica.owners().find(id);
  if (claim != nullptr) {
    const std::string device(replication::deviceOf(claim->owner));
    row.owner = device;
    row.epoch = claim->number;
    if (const RosterDevice* known = daemon.roster().current().find(device)) row.ownerName = known->name;
    row.ownerConnected = device == replica.device() || replica.isConnected(device);
  }
  if (host == nullptr) return row;
  row.here = replica.owns(*host);
  const LedgerReaders::Census census = daemon.readers().censusOf(*host);
  row.entities = census.entities;
  row.entries = census.entries;
  row.pending = census.pending;
  row.behindEpoch = claim != nullptr && host->epoch() < claim->epoch();
  return row;
}

// What is no partition at all is told from one that is elsewhere.
Status checkPartition(Daemon& daemon, const std::string& id) {
  const std::size_t slash = id.find('/');
  const std::string domain = id.substr(0, slash);
  if (slash == std::string::npos) return invalid("partition: " + inQuotes(id) + " is no DOMAIN/NUMBER");
  if (auto module = moduleNamed(daemon, domain); !module.ok()) return module.error();
  const std::uint64_t count = daemon.cluster().partitions;
  for (std::uint64_t n = 0; n < count; ++n)
    if (id == partitionId(domain, static_cast<std::uint32_t>(n))) return okStatus();
  return Error{ErrorCode::notFound, "there is no partition " + inQuotes(id),
               domain + " has " + domain + "/0 to " + domain + "/" + std::to_string(count - 1)};
}

Result<Partitions> partitions(const ApiContext& context, const DomainFilter& request) {
  Partitions answer;
  const std::string domain = request.domain.value_or("");
  const auto wanted = [&](const std::string& id) { return domain.empty() || id.starts_with(domain + "/"); };
  Replica& replica = context.daemon.replica();
  if (replica.hosts().empty()) {
    for (const auto& [id, claim] : replica.owners().all())
      if (wanted(id)) answer.partitions.push_back(rowOf(context.daemon, id, nullptr));
  }
  for (const auto& [id, host] : replica.hosts())
    if (wanted(id)) answer.partitions.push_back(rowOf(context.daemon, id, host.get()));
  return answer;
}

Result<Moved> move(const ApiContext& context, const MoveRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(checkPartition(daemon, request.partition));
  WITAN_TRY(known, daemon.roster().current().lookUp(request.device));
  const std::string device = known->device;
  WITAN_DO(daemon.replica().transferOwnership(request.partition, device, request.reason.value_or(""), daemon.now()));
  WITAN_DO(daemon.tick());
  daemon.log().warn("partitions", "handed over", {{"partition", request.partition}, {"to", device}});
  return Moved{request.partition, device};
}

Result<Seized> seize(const ApiContext& context, const SeizeRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(checkPartition(daemon, request.partition));
  WITAN_DO(daemon.replica().forceTakeover(request.partition, request.reason.value_or(""), daemon.now()));
  WITAN_DO(daemon.tick());
  daemon.log().warn("partitions", "seized", {{"partition", request.partition}});
  return Seized{request.partition, daemon.replica().device()};
}

}  // namespace

std::vector<ControlRoute> partitionRoutes() {
  return {
      typedRoute({.method = "GET",
                  .path = "/v1/partitions",
                  .operationId = "listPartitions",
                  .tag = "partitions",
                  .role = ControlRole::observer,
                  .summary = "Partitions, their owners, and this device's copies",
                  .request = R"({"domain":"udt"})",
                  .response = R"({"partitions":[{"partition":"udt/0","owner":"0d66796d1c3b9a52","ownerName":"office",
                          "epoch":1,"ownerConnected":true,"here":true,"entities":2,"entries":7,"pending":1,
                          "behindEpoch":false}]})"},
                 partitions),
      typedRoute({.method = "POST",
                  .path = "/v1/partitions/move",
                  .operationId = "movePartition",
                  .tag = "partitions",
                  .role = ControlRole::operator_,
                  .summary = "Transfers the ownership of a partition to another device",
                  .errors = {404, 409, 500},
                  .request = R"({"partition":"udt/0","device":"laptop","reason":"maintenance"})",
                  .response = R"({"partition":"udt/0","to":"7be2a90c44d1f38e"})"},
                 move),
      typedRoute({.method = "POST",
                  .path = "/v1/partitions/seize",
                  .operationId = "seizePartition",
                  .tag = "partitions",
                  .role = ControlRole::operator_,
                  .summary = "Takes the ownership of a partition over without its owner",
                  .errors = {404, 409, 500},
                  .request = R"({"partition":"udt/0","reason":"the owner is lost"})",
                  .response = R"({"partition":"udt/0","owner":"0d66796d1c3b9a52"})"},
                 seize)};
}

}  // namespace witan::node::api
