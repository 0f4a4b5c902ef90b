#include "node/cluster/roster_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
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
constexpr std::size_t kMaxLeftOut = 64;
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

Error refusal(std::string what, std::string hint = {}) {
  return {ErrorCode::unauthorised, std::move(what), std::move(hint)};
}

const std::vector<RosterPerson>& personsOf(const Roster& roster) {
  static const std::vector<RosterPerson> none;
  return roster.persons ? *roster.persons : none;
}

std::size_t actsInCommon(const Roster& one, const Roster& other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one.allActs(), other.allActs()).in1 - one.allActs().begin());
}

// Whether the acts that only `after` has name who signs.
bool hasNewSigner(const Roster& before, const Roster& after) {
  const auto acts = after.allActs().subspan(actsInCommon(before, after));
  return std::ranges::find(acts, ActKind::signer, &AdminAct::kind) != acts.end();
}

// The admins named another signer in ignorance of acts that were applied meanwhile, where the key before signs. An act
// of after its expiry shows that the cluster went on without it.
bool overtakes(std::span<const AdminAct> acts, std::span<const AdminAct> others) {
  const AdminAct& first = acts.front();
  if (first.kind != ActKind::signer) return false;
  if (others.front().kind == ActKind::signer) return toJson(first) < toJson(others.front());
  return std::ranges::all_of(
      others, [&](const AdminAct& act) { return act.expires.micros - kMaxActLifeMicros <= first.expires.micros; });
}

// Negative: by its acts `theirs` counts less than `mine`; positive: more. Errors: nobody can tell.
Result<int> compareActs(const Roster& mine, const Roster& theirs) {
  const std::size_t common = actsInCommon(mine, theirs);
  const auto here = mine.allActs().subspan(common), there = theirs.allActs().subspan(common);
  if (here.empty() || there.empty()) return static_cast<int>(!there.empty()) - static_cast<int>(!here.empty());
  if (overtakes(there, here)) return 1;
  if (overtakes(here, there)) return -1;
  return refusal("a roster with other acts of the admins than those that are known here");
}

Error lost(const AdminAct& act, const std::string& what, const std::string& subject) {
  return refusal(concat("a roster that lacks act ", act.number, " of the admins, which is known here: ", what),
                 concat("the admins sign it again where the new key is: witan admin propose ", enumName(act.kind),
                        subject.empty() ? "" : " ", subject));
}

// Acts that a new signer's roster lacks still hold: the admins have signed them. (Who was revoked, or has another key,
// the rosters show.)
Status checkOvertaken(const Roster& before, const Roster& after) {
  for (const AdminAct& act : before.allActs().subspan(actsInCommon(before, after))) {
    const std::string whose = act.subject.substr(0, act.subject.find(' '));
    const RosterDevice* device = after.member(whose);
    const RosterPerson* person = after.person(whose);
    const bool ofDevice = act.kind == ActKind::withdraw && device != nullptr;
    const bool ofPerson = act.kind == ActKind::withdrawPerson && person != nullptr && person->active();
    if (ofDevice || ofPerson)
      for (const std::string& role : rolesWithdrawn(act))
        if (const auto& has = ofDevice ? device->roles : person->roles; std::ranges::find(has, role) != has.end())
          return lost(act, concat(whose, " has no role ", role), concat(whose, " --role ", role));
    if (act.kind != ActKind::admins) continue;
    const auto acts = after.allActs();
    const auto last = std::ranges::find(acts.rbegin(), acts.rend(), ActKind::admins, &AdminAct::kind);
    if (last->admins != act.admins || last->approvals != act.approvals) return lost(act, "other admins", "");
  }
  return okStatus();
}

// To take roles or scopes away is a revocation in effect.
Status checkKeepsRoles(const Roster& before, const Roster& after) {
  const auto acts = after.allActs().subspan(before.allActs().size());
  const auto check = [&](ActKind kind, const std::string& whose, const std::string& words,
                         const std::vector<std::string>& was, const std::vector<std::string>& is) -> Status {
    for (const std::string& role : rolesLost(was, is))
      if (std::ranges::none_of(acts, [&](const AdminAct& act) { return withdraws(act, kind, whose, role); }))
        return refusal(
            concat("a roster that takes the role ", role, " from ", words, " without a new act of the admins"),
            concat("witan admin propose ", enumName(kind), " ", whose, " --role ", role));
    return okStatus();
  };
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdraw, was.device, inWords(was), was.roles, is->roles));
    if (was.scopes != is->scopes && (was.scopes.empty() || !rolesLost(was.scopes, is->scopes).empty()))
      return refusal("a roster that takes scopes from " + inWords(was), "witan admin propose revoke");
  }
  for (const RosterPerson& was : personsOf(before)) {
    const RosterPerson* is = after.person(was.name);
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdrawPerson, was.name, was.name, was.roles, is->roles));
  }
  return okStatus();
}

// Whether a device that `before` knows as revoked is a member in `after`.
bool revived(const Roster& before, const Roster& after) {
  return std::ranges::any_of(before.devices, [&](const RosterDevice& was) {
    const RosterDevice* is = after.find(was.device);
    return !was.active() && is != nullptr && is->active();
  });
}

bool leavesOut(const Roster& before, const Roster& after) {
  return std::ranges::any_of(before.devices,
                             [&](const RosterDevice& was) { return after.find(was.device) == nullptr; });
}

// Of two rosters of one key the later one has each device of the earlier, and lets none in again; one version has one
// content. Else the key's device went back to an older copy between both.
bool partsFrom(const Roster& mine, const Roster& theirs) {
  if (mine.version == theirs.version) return true;
  const Roster &earlier = mine.version < theirs.version ? mine : theirs,
               &later = mine.version < theirs.version ? theirs : mine;
  return revived(earlier, later) || leavesOut(earlier, later);
}

// By the acts alone: the last one about it gave the role.
bool mayTakeOver(std::span<const AdminAct> acts, const std::string& device) {
  const auto& settled = acts.front().settled;
  bool may = std::ranges::find(settled, settledText(ActKind::takeover, device)) != settled.end();
  for (const AdminAct& act : acts) {
    if (act.kind == ActKind::takeover && act.subject == device) may = true;
    if (withdraws(act, ActKind::withdraw, device, kTakeoverRole)) may = false;
  }
  return may;
}

bool goesBack(const std::vector<std::string>& was, const std::vector<std::string>& is) {
  return is.back() != was.back() && std::ranges::find(was, is.back()) != was.end();
}

Status checkDevices(const Roster& before, const Roster& after, bool newSigner) {
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (is == nullptr && newSigner) continue;
    if (is == nullptr) return refusal("a roster that leaves out " + inWords(was));
    if (is->active() && !was.active())
      return refusal("a roster that lets in again " + inWords(was),
                     newSigner ? "the admins revoke it again where the new key is: witan admin propose revoke" : "");
    if (goesBack(was.keys, is->keys)) return refusal("a roster that goes back to an earlier key of " + inWords(was));
  }
  const std::span<const AdminAct> acts = after.allActs();
  const std::size_t known = before.allActs().size();
  for (const RosterDevice& is : after.devices) {
    if (!is.active() || !is.takesOver() || (known == 0 && !newSigner)) continue;
    const RosterDevice* was = before.find(is.device);
    const bool had = was != nullptr && was->active() && was->takesOver();
    const bool may = newSigner ? mayTakeOver(acts, is.device)
                               : had || std::ranges::any_of(acts.subspan(known), [&](const AdminAct& act) {
                                   return act.kind == ActKind::takeover && act.subject == is.device;
                                 });
    if (!may)
      return refusal(
          concat("a roster that gives the role takeover to ", inWords(is), " without a new act of the admins"));
  }
  return okStatus();
}

Status checkPersons(const Roster& before, const Roster& after, bool newSigner) {
  for (const RosterPerson& was : personsOf(before)) {
    const RosterPerson* is = after.person(was.name);
    if (is == nullptr && newSigner) continue;
    if (is == nullptr) return refusal("a roster that leaves out " + was.name);
    if (is->active() && !was.active())
      return refusal("a roster that lets in again " + was.name,
                     newSigner ? "the admins revoke again: witan admin propose revokePerson " + was.name : "");
    const bool another = is->keys.front() != was.keys.front();
    if (another ? !newSigner : goesBack(was.keys, is->keys))
      return refusal(concat("a roster with another first key of ", was.name, ", or that goes back to an earlier one"));
  }
  return okStatus();
}

// Where admins act together, who signs rosters can take nobody out by leaving it out, nor let anybody in again, nor
// give the role `takeover` again or take a role away without a new act; and the first act settles nothing that did not
// stand there. Who signs by another key from now on need not keep what the key before, which may be stolen, gave
// meanwhile; what the admins did stays.
Status checkFollows(const Roster& before, const Roster& after) {
  const std::span<const AdminAct> acts = after.allActs();
  const bool newSigner = hasNewSigner(before, after);
  WITAN_DO(checkDevices(before, after, newSigner));
  WITAN_DO(checkPersons(before, after, newSigner));
  if (newSigner) WITAN_DO(checkOvertaken(before, after));
  const std::size_t known = before.allActs().size();
  if (known > 0 && !newSigner) WITAN_DO(checkKeepsRoles(before, after));
  const std::vector<std::string> needed = actsNeededBy(after);
  // Who hears of several acts at once cannot know who had the role at the first one.
  for (const std::string& settled : acts.front().settled)
    if (known == 0 && (acts.size() == 1 || settled.starts_with("revoke")) &&
        std::ranges::find(needed, settled) == needed.end())
      return refusal("a roster whose first act of the admins settles what did not happen: " + settled);
  if (!newSigner && before.partitions && *before.partitions != after.partitions.value_or(0))
    return refusal("a roster with another number of partitions");
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
  WITAN_TRY(byActs, compareActs(roster_, roster));
  const bool newSigner = hasNewSigner(roster_, roster);
  if (after.signer == admins_.signer && roster.version > roster_.version + kMaxVersionStep)
    return refusal(concat("a roster of version ", roster.version, ", where ", roster_.version, " is known"));
  if (!marked_ && after.signer == admins_.signer && partsFrom(roster_, roster))
    return takeParted(std::move(roster), document, after);
  if (byActs < 0 && hasNewSigner(roster, roster_)) noteLeftOut(roster, roster_);
  const bool later = byActs > 0 || (byActs == 0 && (roster.version > roster_.version ||
                                                    (roster.version == roster_.version && document < document_)));
  if (!later) return false;
  if (after.acts > 0) WITAN_DO(checkFollows(roster_, roster));
  if (newSigner) noteLeftOut(roster_, roster), date_ = {};
  roster_ = std::move(roster);
  admins_ = std::move(after);
  document_ = std::string(document);
  marked_ = false;
  (void)keep();
  return true;
}

// Of the same key, and neither follows the other. Where its device is, both are united (EnrolmentService::unite). Until
// then the one with more acts counts, and without acts the one that revoked somebody.
Result<bool> RosterStore::takeParted(Roster roster, std::string_view document, const AdminState& after) {
  const bool revives = revived(roster_, roster);
  const bool later = revived(roster, roster_) || roster.version > roster_.version ||
                     (roster.version == roster_.version && document < document_);
  const bool counts = after.acts > admins_.acts || (after.acts == admins_.acts && !revives && later);
  const bool comparable = after.acts > 0 && after.acts >= admins_.acts;
  const Status follows = comparable && (counts || revives) ? checkFollows(roster_, roster) : okStatus();
  const bool taken = counts && follows.ok();
  parted_ = taken ? roster_ : roster;
  if (!follows.ok()) return follows.error();
  if (revives)
    return refusal(
        "a roster that parts from the one that is known here, of the same key: the disk of the device that "
        "signs rosters went back, and it went on",
        "run that device beside others: it unites both");
  if (!taken) return false;
  roster_ = std::move(roster);
  admins_ = after;
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
  marked_ = true;
  return true;
}

Result<bool> RosterStore::adoptRevocation(std::string_view text) {
  WITAN_TRY(news, markRevoked(text));
  // Without it on disk a restart asks again.
  if (news) (void)replaceFile(revokedFile(file_), text, 0644);
  return news;
}

std::string RosterStore::LeftOut::words() const {
  return concat(
      inQuotes(name), device.empty() ? " (a person)" : concat(" (", device, ")"),
      ", admitted by the key that signed rosters before, is no member since that key was replaced; to let it in "
      "again, where the new key is: ",
      device.empty() ? "witan person add" : "witan device approve, or witan device invite");
}

void RosterStore::noteLeftOut(const Roster& gave, const Roster& counts) {
  const auto note = [&](LeftOut one) {
    if (leftOut_.size() < kMaxLeftOut && std::ranges::find(leftOut_, one) == leftOut_.end())
      leftOut_.push_back(std::move(one));
  };
  for (const RosterDevice& device : gave.devices)
    if (device.active() && counts.find(device.device) == nullptr) note({device.device, device.name});
  for (const RosterPerson& person : personsOf(gave))
    if (person.active() && counts.person(person.name) == nullptr) note({"", person.name});
}

std::vector<RosterStore::LeftOut> RosterStore::newlyLeftOut() {
  const std::vector<LeftOut> fresh(leftOut_.begin() + static_cast<std::ptrdiff_t>(leftOutTold_), leftOut_.end());
  leftOutTold_ = leftOut_.size();
  return fresh;
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

bool RosterStore::replaced(const std::function<bool(const PublicKey&)>& signer) const {
  if (signer(admin_)) return true;
  return std::ranges::any_of(roster_.allActs(), [&](const AdminAct& act) {
    const auto key = act.kind == ActKind::signer ? publicKeyFromHex(act.subject, "key") : Result<PublicKey>(admin_);
    return key.ok() && *key != admin_ && signer(*key);
  });
}

Result<bool> RosterStore::adopt(const RosterDate& date, Time now) {
  if (date.at <= date_.at || date.version > roster_.version) return false;
  if (date.at.micros - now.micros > kClockSkewMicros)
    return invalid("the roster's date is " + formatTime(date.at) + ", here it is " + formatTime(now),
                   "set the clocks of this device and of the admin's");
  const auto signature = fromHex(date.signature);
  const auto by = [&](const PublicKey& key) {
    return signature.ok() && verifySignature(key, dateText(roster_.cluster, date), asBytes(*signature));
  };
  if (!by(admins_.signer)) {
    if (replaced(by)) return false;  // of who has not heard yet that its key was replaced
    return refusal("a date of the roster that the admin has not signed");
  }
  date_ = date;
  // Without it on disk a restart asks again.
  (void)replaceFile(dateFile(file_), toJson(date_) + "\n", 0644);
  return true;
}

Status RosterStore::publish(Roster next, const SigningKey& admin) {
  next.version = std::max(roster_.version, parted_ ? parted_->version : 0) + 1;
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
