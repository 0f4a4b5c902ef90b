// `witan device init|list|admit|retire|recover`: which devices a cluster has, and this one among them.
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/enrolment/new_node.h"
#include "node/operations/sync.h"
#include "program/option_checks.h"
#include "replication/writer.h"

namespace witan::node {

using namespace operations;

namespace {

struct DeviceArguments : LiveArguments {
  std::string device, name, cluster, keyFile;
};

Result<Printed> whoAmI(ReplicaDir& dir, const DeviceArguments& a) {
  const replication::LocalReplica& replica = dir.replica();
  const std::string keyFile = (dir.path() / "cluster.key").string();
  if (a.json)
    return Printed{canonicalJson(json::object{{"cluster", replica.cluster()},
                                              {"device", replica.device()},
                                              {"keyFile", keyFile},
                                              {"writer", replica.writer()}}) +
                   "\n"};
  return Printed{"device   " + replica.device() + "\nwriter   " + replica.writer() + "\ncluster  " + replica.cluster() +
                 "\nanother device joins with: witan device init --cluster " + replica.cluster() +
                 " --key-file <a copy of " + keyFile + ">\n"};
}

Result<int> init(const DeviceArguments& a) {
  WITAN_TRY(path, replicaDirPath(a.dir));
  NewReplica replica;
  if (!a.device.empty()) replica.device = a.device;
  if (!a.cluster.empty()) replica.cluster = a.cluster;
  if (!a.keyFile.empty()) replica.keyFile = a.keyFile;
  WITAN_DO(ReplicaDir::create(path, replica));
  Printed answer;
  WITAN_DO(onDirectory(path, Missing::refuse, [&](ReplicaDir& dir) -> Status {
    WITAN_SET(answer, whoAmI(dir, a));
    return okStatus();
  }));
  return printed(answer);
}

// `latest`: of the device's admissions.
std::string rowWords(const SyncDeviceRow& row, bool latest, const std::string& writer) {
  std::string out = row.device + "  " + row.standing;
  if (!latest) return concat(out, "  (admission ", row.admission, ")\n");
  if (!row.name.empty() && row.name != row.device) out += "  " + row.name;
  if (row.this_) out += "  (this device, writer " + writer + ")";
  for (const std::string& device : row.missingAcks)
    out += (&device == row.missingAcks.data() ? "  waits for " : ", ") + device;
  return out + "\n";
}

Result<Printed> listAnswer(const SyncDevices& list, const DeviceArguments& a) {
  std::string text;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    const bool latest = i + 1 == list.devices.size() || list.devices[i + 1].device != list.devices[i].device;
    text += rowWords(list.devices[i], latest, list.writer);
  }
  for (const auto& [device, why] : list.quarantined) text += device + "  QUARANTINED: " + why + "\n";
  if (list.epoch == 0)
    text += "no device was admitted yet: any device with the cluster's id may sync (witan device admit ends that)\n";
  WITAN_TRY(path, replicaDirPath(a.dir));
  if (nodeExists(path)) text += "roles and links: witan device roster\n";
  return Printed{std::move(text)};
}

Printed recoverAnswer(const SyncRecovered& done, const DeviceArguments&) {
  if (done.pardoned) return {*done.pardoned + " may sync again\n"};
  return {"goes on as " + *done.writer + "; what the others outlived leaves with the next sync\n"};
}

}  // namespace

void addDeviceCommand(Command& app) {
  Command* device = app.noun("device", "The devices of a cluster, and this one", "witan device list");
  const auto verb = [&](const char* name, const char* what, const char* example, const auto& operation, auto fill,
                        auto format) {
    return addOperationVerb<DeviceArguments>(*device, name, what, example, Missing::refuse, operation, fill, format);
  };
  const auto [initCommand, made] = addVerb<DeviceArguments>(
      *device, "init", "Records without a network: the first replica, or one more (nodes: witan init, witan join)",
      "witan device init --device laptop", init);
  const auto deviceId = readBy([](const std::string& id) { return replication::validateDeviceId("device", id); });
  initCommand->option("--device", made->device, "Its id; default: the host's name and random digits")->check(deviceId);
  initCommand->option("--cluster", made->cluster, "The cluster to join; default: a new one")->check(idText("cluster"));
  initCommand->option("--key-file", made->keyFile, "A copy of another device's cluster.key")->typeName("FILE");
  verb(
      "list",
      "Whose records this device knows of and waits for, running or not (who belongs, with which roles: device roster)",
      "witan device list", kSyncDevices, [](const DeviceArguments&) { return Result(Nothing{}); }, listAnswer);
  const auto [admit, admitted] = verb(
      "admit",
      "Without a network: make a device a member; from the first one on, only members sync (nodes: device invite)",
      "witan device admit phone", kSyncAdmit,
      [](const DeviceArguments& a) {
        return Result(SyncAdmitRequest{a.device, given(a.name)});
      },
      listAnswer);
  admit->option("DEVICE", admitted->device, "The device")->required()->check(deviceId);
  admit->option("--name", admitted->name, "What people call it")->check(readBy(checkDeviceName));
  const auto [retire, retired] = verb(
      "retire",
      "Without a network: state that a device is gone; done when all others have acknowledged how much of it they "
      "have (nodes: device revoke)",
      "witan device retire phone", kSyncRetire,
      [](const DeviceArguments& a) { return Result(SyncRetireRequest{a.device}); }, listAnswer);
  retire->option("DEVICE", retired->device, "The device")->required();
  const auto [recover, recovered] = verb(
      "recover", "After a restore or copy: go on as a new writer. With a name: lift that device's quarantine",
      "witan device recover", kSyncRecover,
      [](const DeviceArguments& a) { return Result(SyncRecoverRequest{given(a.device)}); }, recoverAnswer);
  recover->option("DEVICE", recovered->device, "A quarantined device");
  addEnrolmentCommands(*device);
}

}  // namespace witan::node
