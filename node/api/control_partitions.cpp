// Who decides for what, and how that changes hands.
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "replica/core/placement.h"
#include "replica/head_exchange.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(Retained, (Omittable<std::uint64_t>, entries, "The newest so many; absent: by days alone"),
             (Omittable<std::uint64_t>, days, "Those of so many days; absent: by their number alone"),
             (std::vector<std::string>, whole, "Ids of the devices that are to keep every entry"))

WITAN_STRUCT(PartitionRow, (std::string, partition, "DOMAIN/NUMBER"),
             (Omittable<std::string>, owner, "Id of the device that decides; absent: no owner is known"),
             (Omittable<std::string>, ownerName, "Name of that device"),
             (Omittable<std::uint64_t>, epoch, "Number of the owner's epoch"),
             (Omittable<bool>, ownerConnected, "Whether the owner is reachable from this device"),
             (Omittable<bool>, here, "Whether this device decides; absent: it keeps no copy"),
             (Omittable<std::uint64_t>, entities, "Entities in this device's copy"),
             (Omittable<std::uint64_t>, entries, "Entries in this device's copy"),
             (Omittable<std::uint64_t>, pending, "Proposals that wait for a counselor"),
             (Omittable<bool>, behindEpoch, "Whether the copy has not reached the owner's epoch yet"),
             (Omittable<std::uint64_t>, witnessed,
              "Entries under the newest head that a device other than the owner has cosigned; absent: there is none"),
             (Omittable<std::vector<std::string>>, witnesses, "Ids of those that cosigned it"),
             (Omittable<std::vector<std::string>>, keepers,
              "Ids of the devices that are to keep copies beside the owner; absent: each with the role ledger"),
             (Omittable<Retained>, retention, "Which entries its copies keep; absent: every one"),
             (Omittable<std::uint64_t>, firstEntry,
              "The first entry that this device's copy has; before it only hashes stand. Absent: it has every one"),
             (Omittable<bool>, lost, "True: its owner was revoked, or has lost its ledgers; an operator seizes it"))

WITAN_STRUCT(Partitions, (std::vector<PartitionRow>, partitions, "Partitions, by id"))

WITAN_STRUCT(MoveRequest, (std::string, partition, "DOMAIN/NUMBER", 1),
             (std::string, device, "Id or name of the new owner", 1),
             (Omittable<std::string>, reason, "Reason, for the ledger"))

WITAN_STRUCT(Moved, (std::string, partition, "DOMAIN/NUMBER"), (std::string, to, "Id of the new owner"))

WITAN_STRUCT(SeizeRequest, (std::string, partition, "DOMAIN/NUMBER", 1),
             (Omittable<std::string>, reason, "Reason, for the ledger"))

WITAN_STRUCT(Seized, (std::string, partition, "DOMAIN/NUMBER"),
             (std::string, owner, "Id of the new owner: this device"))

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
  if (const auto& keepers = replica.placement().keepers(id); !keepers.empty()) row.keepers = keepers;
  if (const DomainRetention* retention = replica.placement().retention(id)) {
    row.retention = Retained{{}, {}, replica.placement().whole(id)};
    if (retention->entries > 0) row.retention->entries = retention->entries;
    if (retention->days > 0) row.retention->days = retention->days;
  }
  if (host == nullptr) return row;
  if (host->firstEntry() > 1) row.firstEntry = host->firstEntry();
  if (claim != nullptr && !replica.refusesOwner(id) && replica.ownerState(id) == OwnerState::lost) row.lost = true;
  row.here = replica.owns(*host);
  const LedgerReaders::Census census = daemon.readers().censusOf(*host);
  row.entities = census.entities;
  row.entries = census.entries;
  row.pending = census.pending;
  if (const HeadExchange::Heads* heads = replica.heads().find(id); heads != nullptr && heads->witnessed) {
    row.witnessed = heads->witnessed->checkpoint.size;
    row.witnesses = std::vector<std::string>(heads->witnessed->cosigners.begin(), heads->witnessed->cosigners.end());
  }
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
  std::map<std::string, PartitionHost*, std::less<>> all;  // those that are elsewhere, too
  for (const auto& [id, claim] : replica.owners().all()) all[id] = nullptr;
  for (const auto& [id, host] : replica.hosts()) all[id] = host.get();
  for (const auto& [id, host] : all)
    if (wanted(id)) answer.partitions.push_back(rowOf(context.daemon, id, host));
  for (const std::string& id : orphanedPartitions(context.daemon))
    for (PartitionRow& row : answer.partitions)
      if (row.partition == id) row.lost = true;
  return answer;
}

Result<Moved> move(const ApiContext& context, const MoveRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(checkPartition(daemon, request.partition));
  WITAN_TRY(known, daemon.roster().current().lookUp(request.device));
  const std::string device = known->device;
  WITAN_DO(daemon.peers().seek({device}));
  WITAN_DO(daemon.replica().transferOwnership(request.partition, device, request.reason.value_or(""), daemon.now()));
  WITAN_DO(daemon.tick());
  daemon.log().warn("partitions", "handed over", {{"partition", request.partition}, {"to", device}});
  return Moved{request.partition, device};
}

// A takeover heeds the owner and the copies that this device has links with: it must have looked for all.
Status seekCopies(Daemon& daemon) {
  std::set<std::string, std::less<>> copies;
  for (const RosterDevice& device : daemon.roster().current().devices)
    if (device.active() && device.keepsLedgers()) copies.insert(device.device);
  return daemon.peers().seek(copies);
}

Result<Seized> seize(const ApiContext& context, const SeizeRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(checkPartition(daemon, request.partition));
  WITAN_DO(seekCopies(daemon));
  WITAN_DO(daemon.replica().forceTakeover(request.partition, request.reason.value_or(""), daemon.now()));
  WITAN_DO(daemon.tick());
  daemon.log().warn("partitions", "seized", {{"partition", request.partition}});
  return Seized{request.partition, daemon.replica().device()};
}

}  // namespace

std::vector<ControlRoute> partitionRoutes() {
  using enum ControlRole;
  return {get("/v1/partitions", "listPartitions", "partitions", observer,
              "Partitions, their owners, and this device's copies", partitions),
          post("/v1/partitions/move", "movePartition", "partitions", operator_,
               "Transfers the ownership of a partition to another device", move, {404, 409, 500}),
          post("/v1/partitions/seize", "seizePartition", "partitions", operator_,
               "Takes the ownership of a partition over without its owner", seize, {404, 409, 500})};
}

}  // namespace witan::node::api
