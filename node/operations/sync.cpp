#include "node/operations/sync.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/quote.h"
#include "base/utf8.h"
#include "replication/sync_messages.h"
#include "replication/writer.h"

namespace witan::node::operations {

using namespace replication;

namespace {

SyncDeviceRow rowOf(const OperationContext& context, const replication::Member& member, std::string name,
                    Standing standing, const std::vector<replication::Member>& missing = {}) {
  SyncDeviceRow row{member.admission, member.device,      {},
                    std::move(name),  toString(standing), member.device == context.replica.device()};
  for (const replication::Member& m : missing) row.missingAcks.push_back(m.device);
  return row;
}

std::vector<SyncDeviceRow> rowsOf(const OperationContext& context, const Membership& members) {
  std::vector<SyncDeviceRow> rows;
  for (const ActiveMember& m : members.active) rows.push_back(rowOf(context, m.member, m.name, Standing::active));
  for (const RetiringMember& m : members.retiring)
    rows.push_back(rowOf(context, m.member, m.name, Standing::retiring, m.missing));
  for (const RetiredMember& m : members.retired) rows.push_back(rowOf(context, m.member, m.name, Standing::retired));
  // Devices that were never admitted: this one, perhaps, and those that acknowledged something.
  std::set<std::string> others{context.replica.device()};
  for (const auto& [space, devices] : context.replica.acks().entries())
    for (const auto& [device, clock] : devices)
      if (device != replication::kForgotten) others.insert(device);
  for (const SyncDeviceRow& row : rows) others.erase(row.device);
  for (const std::string& device : others)
    rows.push_back(rowOf(context, replication::Member{device, 0}, "", Standing::unknown));
  std::ranges::sort(rows, {}, [](const SyncDeviceRow& row) { return std::tie(row.device, row.admission); });
  return rows;
}

Status admit(LocalReplica& replica, std::string_view device, std::string_view name) {
  WITAN_TRY(members, replica.membership());
  WITAN_TRY(known, replica.statements());
  return replica.addStatement(
      replication::admit(known, replica.writer(), device, members.nextAdmission(device), name.empty() ? device : name));
}

std::uint64_t commitsBeyond(const VectorClock& all, const VectorClock& some) {
  std::uint64_t lacks = 0;
  for (const auto& [writer, counter] : all.entries()) lacks += counter - std::min(counter, some.at(writer));
  return lacks;
}

}  // namespace

std::string digestHex(const Digest& digest) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(digest.sum >> 64),
                static_cast<unsigned long long>(digest.sum));
  return text;
}

Status checkDeviceName(const std::string& name) {
  if (name.size() <= kMaxDeviceNameBytes && isUtf8(name)) return okStatus();
  return invalid(concat("the name is no UTF-8 of at most ", kMaxDeviceNameBytes, " bytes"));
}

Result<std::vector<IncidentRow>> incidentRows(const LocalReplica& replica) {
  WITAN_TRY(incidents, replica.incidents());
  std::vector<IncidentRow> rows;
  for (const Incident& incident : incidents) rows.push_back({incident.kind, incident.peer, incident.what});
  return rows;
}

Result<SyncStatus> syncStatus(OperationContext& context, const Nothing&) {
  LocalReplica& replica = context.replica;
  WITAN_TRY(members, replica.membership());
  WITAN_TRY(incidents, incidentRows(replica));
  WITAN_TRY(quarantines, replica.quarantines());
  SyncStatus status{.cluster = replica.cluster(),
                    .device = replica.device(),
                    .epoch = members.epoch,
                    .incidents = std::move(incidents),
                    .names = context.names};
  status.quarantined = {quarantines.begin(), quarantines.end()};
  status.writer = replica.writer();
  AckTable acks = replica.acks();
  for (const std::string& id : replica.spaceIds()) {
    Space& space = *replica.findSpace(id);
    const Digest digest = space.digest();
    SyncSpace row{digest.count,         digestHex(digest), {}, space.table().records(),
                  replica.restored(id), space.settled(),   id, clockRow(space.clock())};
    acks.record(id, replica.device(), space.clock(), context.nowMs());
    if (const auto known = acks.entries().find(id); known != acks.entries().end())
      for (const auto& [device, clock] : known->second)
        if (device != replica.device() && device != replication::kForgotten)
          row.peers.push_back({device, commitsBeyond(space.clock(), clock), clockRow(clock)});
    status.spaces.push_back(std::move(row));
  }
  const auto waitedFor = [&](const std::string& id) {
    auto devices = replica.waitedFor(id);
    return devices.ok() ? *std::move(devices) : std::vector<std::string>();
  };
  for (const Holdup& holdup : acks.holdups(waitedFor, context.nowMs()))
    status.holdups.push_back({holdup.alarm, holdup.device, holdup.silentMs, holdup.spaces.size(), holdup.text});
  return status;
}

Result<SyncDevices> listSyncDevices(OperationContext& context, const Nothing&) {
  WITAN_TRY(members, context.replica.membership());
  WITAN_TRY(quarantines, context.replica.quarantines());
  return SyncDevices{
      rowsOf(context, members), members.epoch, {quarantines.begin(), quarantines.end()}, context.replica.writer()};
}

Result<SyncDevices> admitSyncDevice(OperationContext& context, const SyncAdmitRequest& request) {
  WITAN_DO(validateDeviceId("device", request.device));
  WITAN_DO(checkDeviceName(request.name.value_or("")));
  WITAN_TRY(members, context.replica.membership());
  const Standing standing = members.standing(request.device);
  if (standing == Standing::active) return conflict(request.device + " is a member already");
  if (standing == Standing::retiring)
    return conflict(request.device + " is being retired", "wait for that: witan device list");
  const std::string& self = context.replica.device();
  if (members.active.empty() && request.device != self)  // the first member admits the others
    WITAN_DO(admit(context.replica, self, ""));
  WITAN_DO(admit(context.replica, request.device, request.name.value_or("")));
  WITAN_DO(context.flush());
  return listSyncDevices(context, {});
}

Result<SyncDevices> retireSyncDevice(OperationContext& context, const SyncRetireRequest& request) {
  LocalReplica& replica = context.replica;
  if (context.names.contains(request.device))
    return conflict(request.device + " is in the roster: its admin says who leaves",
                    "on the device that holds the admin's key: witan device revoke " + request.device);
  WITAN_TRY(members, replica.membership());
  const auto member = std::ranges::find(members.active, request.device,
                                        [](const ActiveMember& m) -> const std::string& { return m.member.device; });
  if (member == members.active.end())
    return notFound(inQuotes(request.device) + " is no active member", "see: witan device list");
  WITAN_TRY(known, replica.statements());
  WITAN_DO(replica.addStatement(proposeRetire(known, replica.writer(), request.device, member->member.admission)));
  WITAN_TRY(paid, replica.acknowledgeRetirements());
  (void)paid;
  WITAN_DO(context.flush());
  return listSyncDevices(context, {});
}

Result<SyncRecovered> recoverSync(OperationContext& context, const SyncRecoverRequest& request) {
  LocalReplica& replica = context.replica;
  SyncRecovered done;
  if (const std::string device = request.device.value_or(replica.device()); device != replica.device()) {
    if (!replica.quarantined(device))
      return notFound(inQuotes(device) + " is not quarantined", "see: witan device list");
    replica.pardon(device);
    done.pardoned = device;
    return done;
  }
  for (const std::string& id : replica.spaceIds()) replica.setRestored(id, true);
  WITAN_DO(replica.reincarnate("the operator says that this store is a copy or was restored"));
  done.writer = replica.writer();
  return done;
}

}  // namespace witan::node::operations
