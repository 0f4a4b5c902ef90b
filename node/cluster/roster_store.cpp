#include "node/cluster/roster_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/cluster/roster_follows.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"
#include "replication/records/records.h"

namespace witan::node {

namespace {

constexpr const char* kRosterFile = "roster";
constexpr std::size_t kDateBytes = 4096;
constexpr std::size_t kDeviceKeysBytes = 4096;
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
std::filesystem::path partedFile(std::filesystem::path roster) { return roster += ".parted"; }
std::filesystem::path revokedFile(std::filesystem::path roster) { return roster += ".revoked"; }

// The roster on disk may be older than the key: it could not be written as the key was rotated.
bool rotatedSince(const std::filesystem::path& dir, const Roster& roster, const RosterDevice* me) {
  if (me == nullptr || !hasKey(dir, KeyName::previousDevice)) return false;
  const auto previous = readKey(dir, KeyName::previousDevice);
  return previous.ok() && roster.byKey(previous->publicKey()) == me;
}

// Whether it has run with this key, as each start writes it down.
bool startedWith(const std::filesystem::path& dir, const ReplicaIdentity& identity, const PublicKey& key) {
  const auto verifier =
      kernel::makeNoteVerifier(keyNameOf(identity.cluster, identity.device), key, kernel::NoteKeyType::signature);
  const auto text = readSmallFile(dir / kDeviceKeysFile, kDeviceKeysBytes);
  return verifier.ok() && text.ok() && *text && (*text)->starts_with(kernel::verifierKeyText(*verifier) + "\n");
}

Status checkDevice(const std::filesystem::path& dir, const ReplicaIdentity& identity, const RosterStore& rosters) {
  WITAN_TRY(key, readKey(dir, KeyName::device));
  const Roster& roster = rosters.current();
  const RosterDevice* of = roster.byKey(key.publicKey());
  const RosterDevice* me = roster.find(identity.device);
  if (of != nullptr ? of == me : me == nullptr && deviceIdOf(key.publicKey()) == identity.device) return okStatus();
  if (of == nullptr && rotatedSince(dir, roster, me)) return okStatus();
  // Its disk went back to before its key was replaced, or the admins' first act does not know the key that it got
  // alone: it starts, and says how to go on (memberCheck).
  if (of == nullptr && me != nullptr &&
      (me == hadKey(roster, key.publicKey()) || startedWith(dir, identity, key.publicKey())))
    return okStatus();
  const std::string file = (dir / "device.key").string();
  const std::string self = me == nullptr ? identity.device : deviceInWords(*me);
  if (of != nullptr)
    return conflict(file + " is not the key of this device, " + self + ": it is that of " + deviceInWords(*of),
                    kRestore);
  return conflict(concat(file, " is not the key of this device, ", self, ": the roster (version ", roster.version,
                         ") does not know it"),
                  concat(kRestore, "; if the roster is older than the key, copy the file roster of another member"));
}

}  // namespace

Result<RosterStore> RosterStore::open(const std::filesystem::path& dir, const PublicKey& admin) {
  RosterStore rosters(dir / kRosterFile, admin);
  WITAN_TRY(document, readSmallFile(rosters.file_, replication::kMaxRecordBytes));
  if (!document) return notFound("there is no " + rosters.file_.string(), "restore it, or join the cluster anew");
  AdminState admins;
  auto roster = readRoster(*document, admin, &admins);
  if (!roster.ok())
    return corrupt(rosters.file_.string() + " is damaged (" + roster.error().message + ")", "restore it from a copy");
  rosters.take(*std::move(roster), std::move(admins), *std::move(document));
  rosters.readDate();
  rosters.readParted();
  WITAN_TRY(revoked, readSmallFile(revokedFile(rosters.file_), replication::kMaxRecordBytes));
  const auto identity = readReplicaIdentity(dir);
  // One that cannot be read, or is of another device, is asked for again.
  if (revoked) (void)rosters.markRevoked(*revoked, identity.ok() ? std::optional(identity->device) : std::nullopt);
  return rosters;
}

Result<RosterStore> RosterStore::create(const std::filesystem::path& dir, const PublicKey& admin,
                                        std::string document) {
  RosterStore rosters(dir / kRosterFile, admin);
  AdminState admins;
  WITAN_TRY(roster, readRoster(document, admin, &admins));
  rosters.take(std::move(roster), std::move(admins), std::move(document));
  WITAN_DO(rosters.keep());
  return rosters;
}

const Status& RosterStore::keep() { return kept_ = replaceFile(file_, document_, 0644); }

void RosterStore::take(Roster roster, AdminState after, std::string document) {
  link_ = linkOf(roster, document);
  roster_ = std::move(roster), admins_ = std::move(after), document_ = std::move(document);
}

Result<bool> RosterStore::adopt(std::string_view document) {
  if (document == document_) return false;
  AdminState after;
  WITAN_TRY(roster, readRoster(document, admin_, &after));
  WITAN_TRY(byActs, compareActs(roster_, roster));
  const bool newSigner = hasNewSigner(roster_, roster);
  if (after.signer == admins_.signer && roster.version > roster_.version + kMaxVersionStep)
    return refusedRoster(concat("a roster of version ", roster.version, ", where ", roster_.version, " is known"));
  if (!marked_ && after.signer == admins_.signer &&
      lineageOf(roster_, link_, roster, linkOf(roster, document)) == Lineage::parts)
    return takeParted(std::move(roster), document, after);
  if (byActs < 0 && hasNewSigner(roster, roster_)) noteLeftOut(roster, roster_);
  const bool later = byActs > 0 || (byActs == 0 && (roster.version > roster_.version ||
                                                    (roster.version == roster_.version && document < document_)));
  if (!later) return false;
  if (after.acts > 0) WITAN_DO(checkFollows(roster_, roster));
  if (newSigner) noteLeftOut(roster_, roster), date_ = {};
  take(std::move(roster), std::move(after), std::string(document));
  marked_ = false;
  (void)keep();
  if (parted_ && lineageOf(parted_->roster, parted_->link, roster_, link_) == Lineage::follows) united();
  return true;
}

// Of the same key, and neither follows the other. Where its device is, both are united (EnrolmentService::unite). Until
// then each device keeps both, and its own counts, unless the other one has more acts or has taken something: a member,
// or a role.
Result<bool> RosterStore::takeParted(Roster roster, std::string_view document, const AdminState& after) {
  const bool back = revives(roster_, roster);
  const bool takes = revives(roster, roster_) || (!givesMore(roster, roster_) && givesMore(roster_, roster));
  const bool counts = after.acts > admins_.acts || (after.acts == admins_.acts && !back && takes);
  const bool comparable = after.acts > 0 && after.acts >= admins_.acts;
  const Status follows = comparable ? checkFollows(roster_, roster) : okStatus();
  const bool taken = counts && follows.ok();
  // Without it on disk a restart asks again.
  (void)replaceFile(partedFile(file_), taken ? document_ : document, 0644);
  parted_ = Parted{taken ? roster_ : roster, taken ? link_ : linkOf(roster, document)};
  if (!follows.ok()) return follows.error();
  if (back && !taken)
    return refusedRoster(
        "a roster that parts from the one that is known here, of the same key: the disk of the device that "
        "signs rosters went back, and it went on",
        "run that device beside others: it unites both");
  if (!taken) return false;
  take(std::move(roster), after, std::string(document));
  (void)keep();
  return true;
}

void RosterStore::united() {
  parted_.reset();
  std::error_code ec;
  std::filesystem::remove(partedFile(file_), ec);
}

std::string RosterStore::partedDocument() const {
  if (!parted_) return "";
  const auto text = readSmallFile(partedFile(file_), replication::kMaxRecordBytes);
  return text.ok() ? text->value_or("") : "";
}

// Of a device that was stopped before both were united.
void RosterStore::readParted() {
  const auto text = readSmallFile(partedFile(file_), replication::kMaxRecordBytes);
  if (!text.ok() || !*text) return;
  AdminState state;
  auto roster = readRoster(**text, admin_, &state);
  if (!roster.ok() || state.signer != admins_.signer) return;
  const RosterLink link = linkOf(*roster, **text);
  if (lineageOf(roster_, link_, *roster, link) == Lineage::parts) parted_ = Parted{*std::move(roster), link};
}

Result<bool> RosterStore::markRevoked(std::string_view text, const std::optional<std::string>& of) {
  WITAN_TRY(revocation, readRevocation(text, roster_, admin_, admins_));
  // Of the others the rosters tell.
  if (of && revocation.device != *of)
    return refusedRoster("a revocation of " + revocation.device + ", which is not this device");
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

Result<bool> RosterStore::adoptRevocation(std::string_view text, std::string_view device) {
  WITAN_TRY(news, markRevoked(text, std::string(device)));
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
    return refusedRoster("a date of the roster that the admin has not signed");
  }
  date_ = date;
  // Without it on disk a restart asks again.
  (void)replaceFile(dateFile(file_), toJson(date_) + "\n", 0644);
  return true;
}

Status RosterStore::publish(Roster next, const SigningKey& admin) {
  next.version = std::max(roster_.version, parted_ ? parted_->roster.version : 0) + 1;
  next.before = linksAfter(next, link_);
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
  take(std::move(next), std::move(after), std::move(document));
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
