#include "node/enrolment/new_node.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/seams.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/cluster/scope_keys.h"
#include "node/config/daemon_config.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

Status takenBy(const fs::path& dir) {
  return conflict(dir.string() + " holds a node already", "start it: witan up --dir " + dir.string());
}

// An existing configuration is the operator's.
Status writeConfig(const fs::path& dir, const NewNode& node) {
  std::error_code ec;
  if (fs::exists(dir / "witan.toml", ec)) return okStatus();
  DaemonConfig config;
  if (!node.listen.empty()) config.listen = node.listen;
  config.advertise = node.advertise;
  WITAN_DO(checkConfig(config));
  return replaceFile(dir / "witan.toml", configText(config), 0644);
}

// The replica of a half-made node is taken as it is, if it is the same device and cluster.
Status makeReplica(const fs::path& dir, const std::string& device, const std::string& cluster, std::string secret) {
  NewReplica replica{.device = device, .cluster = cluster, .clusterKey = std::move(secret)};
  if (!ReplicaDir::exists(dir)) return ReplicaDir::create(dir, replica);
  WriterRecord record(dir);
  WITAN_TRY(options, readReplicaOptions(dir, record));
  if (options.device == device && options.cluster == cluster) return okStatus();
  return conflict(dir.string() + " holds device " + options.device + " of cluster " + options.cluster,
                  "give another --dir");
}

// With `keys`, entries bear proofs from the first one on.
Status foundPartitions(const fs::path& dir, std::uint32_t partitions, std::shared_ptr<HeadKeys> keys, Now now) {
  NodeSetup setup;
  setup.partitions = partitions;
  setup.heads = std::move(keys);
  WITAN_TRY(opened, NodeDir::open(dir, std::move(setup), now));
  const OwnerTable& owners = opened->replica().owners();
  WITAN_DO(opened->replica().bootstrap(now, [&](std::string_view p) { return owners.find(p) == nullptr; }));
  return opened->close(now);
}

RosterDevice firstDevice(const SigningKey& key, const NewNode& node, Time now) {
  RosterDevice device{.device = deviceIdOf(key.publicKey()), .name = node.name.empty() ? hostName() : node.name};
  device.keys = {toHex(key.publicKey())};
  device.roles = {std::string(kLedgerRole), std::string(kTakeoverRole), std::string(kAnyRole)};
  device.addresses = dialable(node.advertise.empty() ? node.listen : node.advertise);
  device.since = now;
  device.sealsRows = true;
  return device;
}

}  // namespace

std::string hostName() {
  std::array<char, 64> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "node";
  std::string name(host.data());
  name = name.substr(0, name.find('.'));
  return name.empty() ? "node" : name;
}

bool nodeExists(const fs::path& dir) {
  std::error_code ec;
  return fs::exists(dir / "cluster.json", ec);
}

// The folder is this user's alone: made here, or empty before, or closed to others already.
Status ownFolder(const fs::path& dir) {
  WITAN_DO(makeFolder(dir));
  struct stat about {};
  std::error_code ec;
  if (::stat(dir.c_str(), &about) != 0)
    return ioFailed("cannot look at " + dir.string() + " (" + std::strerror(errno) + ")");
  if (about.st_uid != ::geteuid())
    return conflict(dir.string() + " belongs to another user", "give a new folder with --dir");
  if ((about.st_mode & 0077) == 0) return okStatus();
  if (!fs::is_empty(dir, ec) || ec)
    return conflict(dir.string() + " has files in it, and other users may enter it",
                    "give a new folder with --dir, or close this one: chmod 700 " + dir.string());
  return ::chmod(dir.c_str(), 0700) == 0 ? okStatus() : Status(ioFailed("cannot close " + dir.string() + " to others"));
}

Result<SigningKey> ownKey(const fs::path& dir) {
  WITAN_DO(ownFolder(dir));
  return hasKey(dir, KeyName::device) ? readKey(dir, KeyName::device) : createKey(dir, KeyName::device);
}

Status beginCluster(const fs::path& dir, NewNode node, Now now) {
  if (nodeExists(dir)) return takenBy(dir);
  if (node.partitions == 0 || node.partitions > kMaxClusterPartitions)
    return invalid(concat("a domain has 1 to ", kMaxClusterPartitions, " partitions"));
  WITAN_TRY(key, ownKey(dir));
  WITAN_TRY(admin, hasKey(dir, KeyName::admin) ? readKey(dir, KeyName::admin) : createKey(dir, KeyName::admin));
  const std::string cluster = clusterIdOf(admin.publicKey());
  WITAN_DO(writeConfig(dir, node));
  WITAN_TRY(config, loadConfig(dir));
  std::string secret(32, '\0');
  SystemRandom().fill({reinterpret_cast<std::uint8_t*>(secret.data()), secret.size()});
  WITAN_DO(makeReplica(dir, deviceIdOf(key.publicKey()), cluster, std::move(secret)));
  WITAN_DO(rememberClusterKey(dir, cluster));
  Roster roster{.cluster = cluster, .version = 1};
  roster.devices = {firstDevice(key, node, now.wall)};
  SystemRandom random;
  WITAN_DO(renewScopeKeys(roster, admin, random));
  WITAN_TRY(document, signRoster(roster, admin));
  WITAN_TRY(rosters, RosterStore::create(dir, admin.publicKey(), std::move(document)));
  // Of partitions that etcd gives away, whoever gets one first begins it.
  if (config.engine == "embedded")
    WITAN_DO(foundPartitions(dir, node.partitions, std::make_shared<DeviceHeads>(dir, key, rosters), now));
  return writeClusterFile(dir, {toHex(admin.publicKey()), node.partitions, rosters.current().devices.front().name});
}

Status enterCluster(const fs::path& dir, NewNode node, const JoinAnswer& answer) {
  if (nodeExists(dir)) return takenBy(dir);
  WITAN_TRY(key, ownKey(dir));
  WITAN_TRY(admin, publicKeyFromBytes(answer.adminKey, "adminKey"));
  const auto broken = [](const std::string& what) {
    return corrupt("the cluster's answer does not hold together (" + what + ")", "ask for another invitation");
  };
  if (clusterIdOf(admin) != answer.cluster) return broken("its id is not the hash of its admin's key");
  auto roster = readRoster(asView(answer.document), admin);
  if (!roster.ok()) return broken(roster.error().message);
  const RosterDevice* me = roster->byKey(key.publicKey());
  if (me == nullptr || !me->active() || me->device != answer.device)
    return broken("the roster does not have this device");
  if (answer.partitions == 0 || answer.partitions > kMaxClusterPartitions) return broken("its number of partitions");
  if (answer.clusterKey.size() != 32) return broken("its secret");
  WITAN_DO(writeConfig(dir, node));
  WITAN_DO(makeReplica(dir, me->device, answer.cluster, std::string(asView(answer.clusterKey))));
  WITAN_DO(rememberClusterKey(dir, answer.cluster));
  WITAN_TRY(rosters, RosterStore::create(dir, admin, std::string(asView(answer.document))));
  return writeClusterFile(dir, {toHex(admin), answer.partitions, rosters.current().find(me->device)->name});
}

}  // namespace witan::node
