#include "node/cluster/own_keys.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "node/data_dir/replica_identity.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr const char* kRestore = "restore the files of this device from one backup with keys";
constexpr const char* kDigestFile = "cluster.key.sha256";

// "CLUSTER DIGEST\n"
Result<std::string> digestLine(const std::filesystem::path& dir, std::string_view cluster) {
  WITAN_TRY(secret, readClusterSecret(dir));
  return std::string(cluster) + " " + toHex(sha256("witan cluster secret|" + secret)) + "\n";
}

std::string inWords(const RosterDevice& device) { return device.device + " (" + device.name + ")"; }

// The roster on disk may be older than the key: it could not be written as the key was rotated.
bool rotatedSince(const std::filesystem::path& dir, const Roster& roster, const RosterDevice* me) {
  if (me == nullptr || !hasKey(dir, KeyName::previousDevice)) return false;
  const auto previous = readKey(dir, KeyName::previousDevice);
  return previous.ok() && roster.byKey(previous->publicKey()) == me;
}

Status checkDevice(const std::filesystem::path& dir, const ReplicaIdentity& identity, const RosterStore& rosters) {
  WITAN_TRY(key, readKey(dir, KeyName::device));
  const Roster& roster = rosters.current();
  const RosterDevice* of = roster.byKey(key.publicKey());
  const RosterDevice* me = roster.find(identity.device);
  if (of != nullptr ? of == me : me == nullptr && deviceIdOf(key.publicKey()) == identity.device) return okStatus();
  if (of == nullptr && rotatedSince(dir, roster, me)) return okStatus();
  const std::string file = (dir / "device.key").string();
  const std::string self = me == nullptr ? identity.device : inWords(*me);
  if (of != nullptr)
    return Error{ErrorCode::conflict,
                 file + " is not the key of this device, " + self + ": it is that of " + inWords(*of), kRestore};
  return Error{ErrorCode::conflict,
               file + " is not the key of this device, " + self + ": the roster (version " +
                   std::to_string(roster.version) + ") does not know it",
               std::string(kRestore) + "; if the roster is older than the key, copy the file roster of another member"};
}

}  // namespace

Status rememberClusterKey(const std::filesystem::path& dir, std::string_view cluster) {
  WITAN_TRY(line, digestLine(dir, cluster));
  return replaceFile(dir / kDigestFile, line, 0644);
}

Status checkOwnKeys(const std::filesystem::path& dir, const RosterStore& rosters) {
  WITAN_TRY(identity, readReplicaIdentity(dir));
  const std::string id = clusterIdOf(rosters.admin());
  if (identity.cluster != id)
    return Error{ErrorCode::conflict,
                 (dir / "replica.json").string() + " is of the cluster " + identity.cluster + ", cluster.json of " + id,
                 kRestore};
  WITAN_DO(checkDevice(dir, identity, rosters));
  WITAN_TRY(line, digestLine(dir, id));
  WITAN_TRY(known, readSmallFile(dir / kDigestFile, 4096));
  if (known && known->starts_with(id + " ") && *known != line)
    return Error{ErrorCode::conflict, (dir / "cluster.key").string() + " is not the key of this cluster, " + id,
                 std::string(kRestore) + ", or copy cluster.key of another member"};
  return okStatus();
}

}  // namespace witan::node
