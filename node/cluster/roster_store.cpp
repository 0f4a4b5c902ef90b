#include "node/cluster/roster_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/sha256.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"
#include "replication/records/records.h"

namespace witan::node {

namespace {

constexpr const char* kRosterFile = "roster";
constexpr std::size_t kDateBytes = 4096;
constexpr std::int64_t kClockSkewMicros = 3600LL * 1'000'000;

constexpr const char* kRestore = "restore the files of this device from one backup with keys";
// A roster has one version a change; who signs a far one would leave no version for those after it.
constexpr std::uint64_t kMaxVersionStep = 1 << 20;
constexpr const char* kDigestFile = "cluster.key.sha256";

// "CLUSTER DIGEST\n"
Result<std::string> digestLine(const std::filesystem::path& dir, std::string_view cluster) {
  WITAN_TRY(secret, readClusterSecret(dir));
  return concat(cluster, " ", toHex(sha256("witan cluster secret|" + secret)), "\n");
}

std::filesystem::path dateFile(std::filesystem::path roster) { return roster += ".date"; }
std::filesystem::path revokedFile(std::filesystem::path roster) { return roster += ".revoked"; }

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
    return conflict(file + " is not the key of this device, " + self + ": it is that of " + inWords(*of), kRestore);
  return conflict(concat(file, " is not the key of this device, ", self, ": the roster (version ", roster.version,
                         ") does not know it"),
                  concat(kRestore, "; if the roster is older than the key, copy the file roster of another member"));
}

// To take roles or scopes away is a revocation in effect. Who signs by another key from now on need not keep what the
// key before, which may be stolen, gave meanwhile.
Status checkKeepsRoles(const Roster& before, const Roster& after) {
  const auto acts = after.allActs().subspan(before.allActs().size());
  if (std::ranges::find(acts, ActKind::signer, &AdminAct::kind) != acts.end()) return okStatus();
  const auto check = [&](ActKind kind, const std::string& whose, const std::string& words,
                         const std::vector<std::string>& was, const std::vector<std::string>& is) -> Status {
    for (const std::string& role : rolesLost(was, is))
      if (std::ranges::none_of(acts, [&](const AdminAct& act) { return withdraws(act, kind, whose, role); }))
        return Error{ErrorCode::unauthorised,
                     concat("a roster that takes the role ", role, " from ", words, " without a new act of the admins"),
                     concat("witan admin propose ", enumName(kind), " ", whose, " --role ", role)};
    return okStatus();
  };
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdraw, was.device, inWords(was), was.roles, is->roles));
    if (was.scopes != is->scopes && (was.scopes.empty() || !rolesLost(was.scopes, is->scopes).empty()))
      return Error{ErrorCode::unauthorised, "a roster that takes scopes from " + inWords(was),
                   "witan admin propose revoke"};
  }
  for (const RosterPerson& was : before.persons.value_or(std::vector<RosterPerson>())) {
    const RosterPerson* is = after.person(was.name);
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdrawPerson, was.name, was.name, was.roles, is->roles));
  }
  return okStatus();
}

// Where admins act together, who signs rosters can take nobody out by leaving it out, nor let anybody in again, nor
// give the role `takeover` again or take a role away without a new act; and the first act settles nothing that did not
// stand there.
Status checkFollows(const Roster& before, const Roster& after) {
  const auto refuse = [](std::string what) { return Error{ErrorCode::unauthorised, std::move(what), ""}; };
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (is == nullptr || (is->active() && !was.active()))
      return refuse(concat("a roster that ", is == nullptr ? "leaves out " : "lets in again ", inWords(was)));
    if (is->keys.back() != was.keys.back() && std::ranges::find(was.keys, is->keys.back()) != was.keys.end())
      return refuse(concat("a roster that goes back to an earlier key of ", inWords(was)));
  }
  const std::span<const AdminAct> acts = after.allActs();
  const std::size_t known = before.allActs().size();
  for (const RosterDevice& is : after.devices) {
    const RosterDevice* was = before.find(is.device);
    const bool had = was != nullptr && was->active() && was->takesOver();
    if (known == 0 || had || !is.active() || !is.takesOver()) continue;
    if (std::ranges::none_of(acts.subspan(known), [&](const AdminAct& act) {
          return act.kind == ActKind::takeover && act.subject == is.device;
        }))
      return refuse(
          concat("a roster that gives the role takeover to ", inWords(is), " without a new act of the admins"));
  }
  for (const RosterPerson& was : before.persons.value_or(std::vector<RosterPerson>())) {
    const RosterPerson* is = after.person(was.name);
    if (is == nullptr || (is->active() && !was.active()))
      return refuse(concat("a roster that ", is == nullptr ? "leaves out " : "lets in again ", was.name));
    if (is->keys.front() != was.keys.front() ||
        (is->keys.back() != was.keys.back() && std::ranges::find(was.keys, is->keys.back()) != was.keys.end()))
      return refuse(concat("a roster with another first key of ", was.name, ", or that goes back to an earlier one"));
  }
  if (known > 0) WITAN_DO(checkKeepsRoles(before, after));
  const std::vector<std::string> needed = actsNeededBy(after);
  // Who hears of several acts at once cannot know who had the role at the first one.
  for (const std::string& settled : acts.front().settled)
    if (known == 0 && (acts.size() == 1 || settled.starts_with("revoke")) &&
        std::ranges::find(needed, settled) == needed.end())
      return refuse("a roster whose first act of the admins settles what did not happen: " + settled);
  if (before.partitions && *before.partitions != after.partitions.value_or(0))
    return refuse("a roster with another number of partitions");
  return okStatus();
}

}  // namespace

Result<RosterStore> RosterStore::open(const std::filesystem::path& dir, const PublicKey& admin) {
  RosterStore rosters(dir / kRosterFile, admin);
  WITAN_TRY(document, readSmallFile(rosters.file_, replication::kMaxRecordBytes));
  if (!document) return notFound("there is no " + rosters.file_.string(), "restore it, or join the cluster anew");
  auto roster = readRoster(*document, admin, &rosters.admins_);
  if (!roster.ok())
    return corrupt(rosters.file_.string() + " is damaged (" + roster.error().message + ")", "restore it from a copy");
  rosters.roster_ = std::move(*roster);
  rosters.document_ = std::move(*document);
  rosters.readDate();
  WITAN_TRY(revoked, readSmallFile(revokedFile(rosters.file_), replication::kMaxRecordBytes));
  if (revoked) (void)rosters.markRevoked(*revoked);  // one that cannot be read is asked for again
  return rosters;
}

Result<RosterStore> RosterStore::create(const std::filesystem::path& dir, const PublicKey& admin,
                                        std::string document) {
  RosterStore rosters(dir / kRosterFile, admin);
  WITAN_SET(rosters.roster_, readRoster(document, admin, &rosters.admins_));
  rosters.document_ = std::move(document);
  WITAN_DO(rosters.keep());
  return rosters;
}

const Status& RosterStore::keep() { return kept_ = replaceFile(file_, document_, 0644); }

Result<bool> RosterStore::adopt(std::string_view document) {
  if (document == document_) return false;
  AdminState after;
  WITAN_TRY(roster, readRoster(document, admin_, &after));
  const auto mine = roster_.allActs(), theirs = roster.allActs();
  const std::size_t common = std::min(mine.size(), theirs.size());
  if (!std::ranges::equal(mine.first(common), theirs.first(common)))
    return Error{ErrorCode::unauthorised, "a roster with other acts of the admins than those that are known here", ""};
  if (theirs.size() < mine.size()) return false;
  const bool later = theirs.size() > mine.size() || roster.version > roster_.version ||
                     (roster.version == roster_.version && document < document_);
  if (!later) return false;
  if (roster.version > roster_.version + kMaxVersionStep)
    return Error{ErrorCode::unauthorised,
                 concat("a roster of version ", roster.version, ", where ", roster_.version, " is known"), ""};
  if (!theirs.empty()) WITAN_DO(checkFollows(roster_, roster));
  roster_ = std::move(roster);
  admins_ = std::move(after);
  document_ = std::string(document);
  (void)keep();
  return true;
}

Result<bool> RosterStore::markRevoked(std::string_view text) {
  WITAN_TRY(revocation, readRevocation(text, roster_, admin_, admins_));
  RosterDevice* device = roster_.find(revocation.device);
  if (device == nullptr || !device->active() || revocation.version <= roster_.version) return false;
  if (revocation.version > roster_.version + kMaxVersionStep)
    return Error{ErrorCode::unauthorised,
                 concat("a revocation of version ", revocation.version, ", where ", roster_.version, " is known"), ""};
  device->state = DeviceState::revoked;
  device->reason = revocation.reason;
  roster_.version = revocation.version;
  return true;
}

Result<bool> RosterStore::adoptRevocation(std::string_view text) {
  WITAN_TRY(news, markRevoked(text));
  // Without it on disk a restart asks again.
  if (news) (void)replaceFile(revokedFile(file_), text, 0644);
  return news;
}

std::string dateText(std::string_view cluster, const RosterDate& date) {
  return concat("witan roster date|", cluster, "|", date.version, "|", date.at.micros);
}

// One that cannot be read is none: the next word of the admin's device replaces it.
void RosterStore::readDate() {
  const auto text = readSmallFile(dateFile(file_), kDateBytes);
  if (!text.ok() || !*text) return;
  const auto value = parseJson(**text);
  RosterDate date;
  if (!value.ok() || !readJson(*value, date, "roster.date").ok()) return;
  (void)adopt(date, date.at);
}

void RosterStore::stamp(Time now, const SigningKey& admin) {
  date_ = {now, roster_.version, {}};
  date_.signature = toHex(admin.sign(dateText(roster_.cluster, date_)));
}

Result<bool> RosterStore::adopt(const RosterDate& date, Time now) {
  if (date.at <= date_.at || date.version > roster_.version) return false;
  if (date.at.micros - now.micros > kClockSkewMicros)
    return invalid("the roster's date is " + formatTime(date.at) + ", here it is " + formatTime(now),
                   "set the clocks of this device and of the admin's");
  const auto signature = fromHex(date.signature);
  if (!signature.ok() || !verifySignature(admins_.signer, dateText(roster_.cluster, date), asBytes(*signature)))
    return Error{ErrorCode::unauthorised, "a date of the roster that the admin has not signed", ""};
  date_ = date;
  // Without it on disk a restart asks again.
  (void)replaceFile(dateFile(file_), toJson(date_) + "\n", 0644);
  return true;
}

Status RosterStore::publish(Roster next, const SigningKey& admin) {
  next.version = roster_.version + 1;
  WITAN_TRY(after, stateAfter(next.cluster, admin_, next.allActs()));
  if (admin.publicKey() != after.signer)
    return Error{ErrorCode::unauthorised, "another key signs the rosters of this cluster by now",
                 "see: witan admin list"};
  if (after.acts > 0) WITAN_DO(checkFollows(roster_, next));
  signRevocations(next, admin, admin.publicKey() != admins_.signer);
  WITAN_TRY(document, signRoster(next, admin));
  WITAN_TRY(read, readRoster(document, admin_));  // nothing is written that cannot be read again
  (void)read;
  WITAN_DO(replaceFile(file_, document, 0644));  // first: a version that was given away is never given again
  roster_ = std::move(next);
  admins_ = std::move(after);
  document_ = std::move(document);
  kept_ = okStatus();
  return okStatus();
}

std::map<std::string, std::string> rosterNames(const std::filesystem::path& dir) {
  std::map<std::string, std::string> names;
  const auto cluster = readClusterFile(dir);
  if (!cluster.ok()) return names;
  const auto admin = publicKeyFromHex(cluster->adminKey, "adminKey");
  if (!admin.ok()) return names;
  if (const auto book = RosterStore::open(dir, *admin); book.ok())
    for (const RosterDevice& device : book->current().devices) names.emplace(device.device, device.name);
  return names;
}

Status rememberClusterKey(const std::filesystem::path& dir, std::string_view cluster) {
  WITAN_TRY(line, digestLine(dir, cluster));
  return replaceFile(dir / kDigestFile, line, 0644);
}

Status checkOwnKeys(const std::filesystem::path& dir, const RosterStore& rosters) {
  WITAN_TRY(identity, readReplicaIdentity(dir));
  const std::string id = clusterIdOf(rosters.admin());
  if (identity.cluster != id)
    return conflict(
        (dir / "replica.json").string() + " is of the cluster " + identity.cluster + ", cluster.json of " + id,
        kRestore);
  WITAN_DO(checkDevice(dir, identity, rosters));
  WITAN_TRY(cluster, readClusterFile(dir));
  if (const auto& signedCount = rosters.current().partitions; signedCount && *signedCount != cluster.partitions)
    return conflict(concat((dir / "cluster.json").string(), " says ", cluster.partitions,
                           " partitions, the roster that the admin signed ", *signedCount),
                    kRestore);
  WITAN_TRY(line, digestLine(dir, id));
  WITAN_TRY(known, readSmallFile(dir / kDigestFile, 4096));
  if (known && known->starts_with(id + " ") && *known != line)
    return conflict((dir / "cluster.key").string() + " is not the key of this cluster, " + id,
                    concat(kRestore, ", or copy cluster.key of another member"));
  return okStatus();
}

}  // namespace witan::node
