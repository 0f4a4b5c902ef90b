// `witan device init|list|admit|retire|recover`: which devices a cluster has, and this one among them.
#include "base/quote.h"
#include "base/utf8.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "node/enrolment/new_node.h"
#include "program/option_checks.h"
#include "replica/membership_duties.h"
#include "replication/writer.h"

namespace witan::node {

using namespace replication;

namespace {

struct DeviceArguments : ReplicaArguments {
  std::string device, name, cluster, keyFile;
};

Result<Printed> whoAmI(ReplicaDir& dir, const DeviceArguments& a) {
  const LocalReplica& replica = dir.replica();
  if (a.json)
    return Printed{"{\"cluster\":" + inJson(replica.cluster()) + ",\"device\":" + inJson(replica.device()) +
                   ",\"keyFile\":" + inJson((dir.path() / "cluster.key").string()) +
                   ",\"writer\":" + inJson(replica.writer()) + "}\n"};
  return Printed{"device   " + replica.device() + "\nwriter   " + replica.writer() + "\ncluster  " + replica.cluster() +
                 "\nanother device joins with: witan device init --cluster " + replica.cluster() +
                 " --key-file <a copy of " + (dir.path() / "cluster.key").string() + ">\n"};
}

int init(const DeviceArguments& a) {
  const Status made = [&]() -> Status {
    WITAN_TRY(path, replicaDirPath(a.dir));
    NewReplica replica;
    if (!a.device.empty()) replica.device = a.device;
    if (!a.cluster.empty()) replica.cluster = a.cluster;
    if (!a.keyFile.empty()) replica.keyFile = a.keyFile;
    return ReplicaDir::create(path, replica);
  }();
  if (!made.ok()) return reportError(made.error(), a.json);
  return onReplica(a, Missing::refuse, [&](ReplicaDir& dir) { return whoAmI(dir, a); });
}

struct Row {
  replication::Member member;
  std::string name;
  Standing standing = Standing::unknown;
  std::vector<replication::Member> missing;
};

std::vector<Row> rowsOf(const LocalReplica& replica, const Membership& members) {
  std::vector<Row> rows;
  for (const ActiveMember& m : members.active) rows.push_back({m.member, m.name, Standing::active, {}});
  for (const RetiringMember& m : members.retiring) rows.push_back({m.member, m.name, Standing::retiring, m.missing});
  for (const RetiredMember& m : members.retired) rows.push_back({m.member, m.name, Standing::retired, {}});
  // Who was never admitted: this device, perhaps, and those it has heard of.
  std::set<std::string> others{replica.device()};
  for (const auto& [space, devices] : replica.acks().entries())
    for (const auto& [device, clock] : devices) others.insert(device);
  for (const Row& row : rows) others.erase(row.member.device);
  for (const std::string& device : others) rows.push_back({{device, 0}, "", Standing::unknown, {}});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.member < b.member; });
  return rows;
}

std::string rowJson(const Row& row, const LocalReplica& replica) {
  std::string out = "{\"admission\":" + std::to_string(row.member.admission) +
                    ",\"device\":" + inJson(row.member.device) + ",\"missingAcks\":[";
  for (const replication::Member& m : row.missing) out += (out.back() == '[' ? "" : ",") + inJson(m.device);
  return out + "],\"name\":" + inJson(row.name) + ",\"standing\":\"" + toString(row.standing) +
         "\",\"this\":" + (row.member.device == replica.device() ? "true" : "false") + "}";
}

// `latest`: of the device's admissions.
std::string rowWords(const Row& row, bool latest, const LocalReplica& replica) {
  std::string out = row.member.device + "  " + toString(row.standing);
  if (!latest) return out + "  (admission " + std::to_string(row.member.admission) + ")\n";
  if (!row.name.empty() && row.name != row.member.device) out += "  " + row.name;
  if (row.member.device == replica.device()) out += "  (this device, writer " + replica.writer() + ")";
  if (row.standing != Standing::retiring) return out + "\n";
  for (const replication::Member& m : row.missing) out += (&m == row.missing.data() ? "  waits for " : ", ") + m.device;
  return out + "\n";
}

Result<Printed> list(ReplicaDir& dir, const DeviceArguments& a) {
  LocalReplica& replica = dir.replica();
  WITAN_TRY(members, replica.membership());
  WITAN_TRY(quarantines, replica.quarantines());
  Printed answer;
  const std::vector<Row> rows = rowsOf(replica, members);
  if (a.json) {
    answer.text = "{\"devices\":[";
    for (const Row& row : rows) answer.text += (&row == rows.data() ? "" : ",") + rowJson(row, replica);
    answer.text += "],\"epoch\":" + std::to_string(members.epoch) + ",\"quarantined\":{";
    for (const auto& [device, why] : quarantines)
      answer.text += (answer.text.back() == '{' ? "" : ",") + inJson(device) + ":" + inJson(why);
    answer.text += "}}\n";
    return answer;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool latest = i + 1 == rows.size() || rows[i + 1].member.device != rows[i].member.device;
    answer.text += rowWords(rows[i], latest, replica);
  }
  for (const auto& [device, why] : quarantines) answer.text += device + "  QUARANTINED: " + why + "\n";
  if (members.epoch == 0)
    answer.text += "nobody was admitted yet: whoever has the cluster's id may sync (witan device admit ends that)\n";
  if (nodeExists(dir.path())) answer.text += "roles and links: witan device roster\n";
  return answer;
}

Result<Printed> listAfter(ReplicaDir& dir, const DeviceArguments& a) {
  WITAN_DO(dir.flush());
  return list(dir, a);
}

Status add(LocalReplica& replica, std::string_view device, std::string_view name) {
  WITAN_TRY(members, replica.membership());
  WITAN_TRY(known, replica.statements());
  return replica.addStatement(
      replication::admit(known, replica.writer(), device, members.nextAdmission(device), name.empty() ? device : name));
}

Status checkDevice(const std::string& device) { return validateDeviceId("device", device); }

Status checkName(const std::string& name) {
  if (name.size() <= kMaxDeviceNameBytes && isUtf8(name)) return okStatus();
  return invalid("the name is no UTF-8 of at most " + std::to_string(kMaxDeviceNameBytes) + " bytes");
}

Result<Printed> admitDevice(ReplicaDir& dir, const DeviceArguments& a) {
  LocalReplica& replica = dir.replica();
  WITAN_TRY(members, replica.membership());
  const Standing standing = members.standing(a.device);
  if (standing == Standing::active) return Error{ErrorCode::conflict, a.device + " is a member already", ""};
  if (standing == Standing::retiring)
    return Error{ErrorCode::conflict, a.device + " is being retired", "wait for that: witan device list"};
  // The first member of all is who admits the others.
  if (members.active.empty() && a.device != replica.device()) WITAN_DO(add(replica, replica.device(), ""));
  WITAN_DO(add(replica, a.device, a.name));
  return listAfter(dir, a);
}

Result<Printed> retire(ReplicaDir& dir, const DeviceArguments& a) {
  LocalReplica& replica = dir.replica();
  WITAN_TRY(members, replica.membership());
  const auto member = std::find_if(members.active.begin(), members.active.end(),
                                   [&](const ActiveMember& m) { return m.member.device == a.device; });
  if (member == members.active.end())
    return Error{ErrorCode::notFound, inQuotes(a.device) + " is no active member", "see: witan device list"};
  WITAN_TRY(known, replica.statements());
  WITAN_DO(replica.addStatement(proposeRetire(known, replica.writer(), a.device, member->member.admission)));
  WITAN_TRY(paid, payRetireAcks(replica));
  (void)paid;
  return listAfter(dir, a);
}

Result<Printed> recover(ReplicaDir& dir, const DeviceArguments& a) {
  LocalReplica& replica = dir.replica();
  if (!a.device.empty() && a.device != replica.device()) {
    if (!replica.quarantined(a.device))
      return Error{ErrorCode::notFound, inQuotes(a.device) + " is not quarantined", "see: witan device list"};
    replica.pardon(a.device);
    return Printed{a.json ? "{\"pardoned\":" + inJson(a.device) + "}\n" : a.device + " may sync again\n"};
  }
  for (const std::string& id : replica.spaceIds()) replica.setRestored(id, true);
  WITAN_DO(replica.reincarnate("the operator says that this store is a copy or was restored"));
  return Printed{a.json ? "{\"writer\":" + inJson(replica.writer()) + "}\n"
                        : "goes on as " + replica.writer() + "; what the others outlived leaves with the next sync\n"};
}

}  // namespace

void addDeviceCommand(Command& app, int& exitCode) {
  Command* device = app.command("device", "The devices of a cluster, and this one");
  device->requireCommand();
  device->footer("Example: witan device list");
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    const auto arguments = std::make_shared<DeviceArguments>();
    Command* command = addReplicaVerb(*device, name, what, example, arguments, Missing::refuse, work, exitCode);
    return std::pair(command, arguments);
  };
  const auto [initCommand, made] =
      verb("init", "Records without a network: the first replica, or one more (nodes: witan init, witan join)",
           "witan device init --device laptop", whoAmI);
  initCommand->option("--device", made->device, "Its id; default: the host's name and random digits")
      ->check(readBy(checkDevice));
  initCommand->option("--cluster", made->cluster, "The cluster to join; default: a new one")->check(idText("cluster"));
  initCommand->option("--key-file", made->keyFile, "A copy of another device's cluster.key")->typeName("FILE");
  initCommand->callback([arguments = made, &exitCode] { exitCode = init(*arguments); });
  verb(
      "list",
      "Whose records this device knows of and waits for, running or not (who belongs, with which roles: device roster)",
      "witan device list", list);
  const auto [admitCommand, admitted] =
      verb("admit",
           "Without a network: make a device a member; from the first one on, only members sync (nodes: device invite)",
           "witan device admit phone", admitDevice);
  admitCommand->option("DEVICE", admitted->device, "The device")->required()->check(readBy(checkDevice));
  admitCommand->option("--name", admitted->name, "What people call it")->check(readBy(checkName));
  const auto [retireCommand, retired] =
      verb("retire",
           "Without a network: state that a device is gone; done when all others have acknowledged how much of it they "
           "have (nodes: device revoke)",
           "witan device retire phone", retire);
  retireCommand->option("DEVICE", retired->device, "The device")->required();
  const auto [recoverCommand, recovered] =
      verb("recover", "After a restore or copy: go on as a new writer. With a name: lift that device's quarantine",
           "witan device recover", recover);
  recoverCommand->option("DEVICE", recovered->device, "A quarantined device");
  addEnrolmentCommands(*device, exitCode);
}

}  // namespace witan::node
