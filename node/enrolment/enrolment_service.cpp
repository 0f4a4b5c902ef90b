#include "node/enrolment/enrolment_service.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/roster_union.h"
#include "node/cluster/scope_keys.h"
#include "node/enrolment/joining.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kStateBytes = 1 << 20;
constexpr std::size_t kMaxDenied = 1024;
constexpr std::size_t kMostNamed = 8;  // of devices that one name fits

std::string randomHex(Random& random, std::size_t bytes) {
  std::vector<std::uint8_t> drawn(bytes);
  random.fill(drawn);
  return toHex(drawn);
}

JoinAnswer refused(const Error& why) {
  JoinAnswer answer{.verdict = JoinVerdict::refused, .reason = why.message};
  return answer;
}

// "10.0.0.7:41520", "[::1]:7600": without the port, which is another one each time.
std::string_view hostOf(std::string_view address) { return address.substr(0, address.rfind(':')); }

std::string fingerprintOfHex(const std::string& key) {
  const auto read = publicKeyFromHex(key, "key");
  return read.ok() ? fingerprintOf(*read) : "of no key";
}

Error unauthorised(std::string what, std::string hint = {}) {
  return {ErrorCode::unauthorised, std::move(what), std::move(hint)};
}

// Nobody is given more than somebody said.
Status checkGranted(std::span<const std::string> roles) {
  if (roles.empty()) return invalid("no role is given to the device", "give --role: DOMAIN.ROLE, *, ledger, takeover");
  return checkDeviceRoles(roles);
}

Status withdraw(Roster& roster, const AdminAct& act) {
  const std::string whose = act.subject.substr(0, act.subject.find(' '));
  std::vector<std::string>* roles = nullptr;
  if (act.kind == ActKind::withdraw) {
    RosterDevice* device = roster.find(whose);
    if (device != nullptr && device->active()) roles = &device->roles;
  } else if (roster.persons) {
    for (RosterPerson& person : *roster.persons)
      if (person.name == whose && person.active()) roles = &person.roles;
  }
  if (roles == nullptr) return notFound("no active member " + whose + " in the roster", "see: witan device roster");
  for (const std::string& role : rolesWithdrawn(act))
    if (std::erase(*roles, role) == 0)
      return conflict(concat(whose, " has no role ", role), "see: witan device roster");
  return okStatus();
}

std::string wordsOf(const RosterUnion& united, std::size_t ended) {
  std::string words = "this device had signed another roster before its disk went back: both are united. ";
  words += united.toSign.empty()
               ? "Who was revoked in either is revoked, a role that one of both lacks is taken"
               : "What one of them did without an act of the admins does not count until they sign it";
  words += "; compare with: witan device roster, witan person list";
  const auto add = [&](const std::vector<std::string>& some) {
    for (std::size_t i = 0; i < std::min(some.size(), kMostNamed); ++i) words += "; " + some[i];
    if (some.size() > kMostNamed) words += concat("; and ", some.size() - kMostNamed, " more");
  };
  add(united.toSign), add(united.taken);
  if (ended > 0) words += concat("; ", ended, " invitation(s) ended: invite anew");
  return words;
}

// It was replaced since.
bool hadSigned(const RosterStore& rosters, const PublicKey& key) {
  return key == rosters.admin() || std::ranges::any_of(rosters.current().allActs(), [&](const AdminAct& act) {
           return act.kind == ActKind::signer && act.subject == toHex(key);
         });
}

Status checkJoin(const JoinRequest& request) {
  WITAN_DO(checkDeviceName(request.name));
  if (request.addresses.size() > kMaxDeviceAddresses) return invalid("too many addresses");
  for (const std::string& address : request.addresses) WITAN_DO(checkAddress(address));
  if (request.tokenId.size() > 64 || request.secret.size() > 64) return invalid("a token that is none");
  return okStatus();
}

// The first gives the id. Those that go are the oldest of the others.
void takeKey(RosterDevice& member, const std::string& key) {
  if (member.keys.size() == kMaxDeviceKeys) member.keys.erase(member.keys.begin() + 1);
  member.keys.push_back(key);
}

}  // namespace

EnrolmentService::EnrolmentService(std::filesystem::path file, RosterStore& rosters, std::string clusterKey,
                                   std::uint32_t partitions, std::optional<SigningKey> admin)
    : file_(std::move(file)),
      rosters_(&rosters),
      clusterKey_(std::move(clusterKey)),
      partitions_(partitions),
      admin_(std::move(admin)) {}

Result<EnrolmentService> EnrolmentService::open(const std::filesystem::path& dir, RosterStore& rosters,
                                                std::string clusterKey, std::uint32_t partitions,
                                                std::optional<SigningKey> admin) {
  if (admin && admin->publicKey() != rosters.admins().signer && !hadSigned(rosters, admin->publicKey()))
    return conflict("admin.key is not the key of this cluster's admin", "restore the right one");
  EnrolmentService service(dir / "enrolment.json", rosters, std::move(clusterKey), partitions, std::move(admin));
  WITAN_TRY(text, readSmallFile(service.file_, kStateBytes));
  if (!text) return service;
  auto parsed = parseJson(*text);
  Status read = parsed.ok() ? readJson(*parsed, service.state_, "enrolment") : Status(parsed.error());
  if (!read.ok())
    return corrupt(service.file_.string() + " is damaged (" + read.error().message + ")",
                   "delete it: open invitations are void then");
  std::erase_if(service.state_.pending,
                [&](const PendingDevice& p) { return rosters.current().find(p.device) != nullptr; });
  return service;
}

Status EnrolmentService::save() const { return replaceFile(file_, toJson(state_) + "\n", 0600); }

Status EnrolmentService::mayChange() const {
  if (isAdmin()) return okStatus();
  return unauthorised(admin_ ? "the admin's key of this device was replaced by acts of the admins"
                             : "this device does not hold the admin's key: do it where the cluster was begun");
}

// --- invitations

Result<std::string> EnrolmentService::invite(const InviteOptions& options, std::span<const std::string> addresses,
                                             const PublicKey& key, Time now, Random& random) {
  WITAN_DO(mayChange());
  WITAN_DO(checkGranted(options.roles));
  WITAN_DO(mayGrant(options.roles));
  if (options.ttlMicros <= 0 || options.ttlMicros > kMaxInviteTtlMicros)
    return invalid("an invitation lasts from a moment to 30 days");
  if (options.uses == 0 || options.uses > kMaxRosterDevices)
    return invalid(concat("an invitation has 1 to ", kMaxRosterDevices, " uses"));
  if (addresses.empty())
    return invalid("this device has no address that others can dial, so nobody could join",
                   "give --address HOST:PORT, or [node] advertise in witan.toml");
  std::erase_if(state_.invites, [&](const Invite& i) { return i.expires < now || i.usesLeft == 0; });
  if (state_.invites.size() >= kMaxInvites)
    return conflict(concat(kMaxInvites, " invitations are open"), "end some: witan device uninvite ID, or --all");
  const JoinToken token{rosters_->current().cluster,
                        {addresses.begin(), addresses.end()},
                        toHex(key),
                        randomHex(random, 8),
                        randomHex(random, 16)};
  Invite invite{token.id,       toHex(sha256(token.secret)),          options.roles,
                options.scopes, Time{now.micros + options.ttlMicros}, options.uses};
  state_.invites.push_back(std::move(invite));
  WITAN_DO(save());
  return writeToken(token);
}

Result<Invite*> EnrolmentService::inviteFor(const JoinRequest& request, Time now) {
  const auto at = std::ranges::find_if(state_.invites, [&](const Invite& i) { return i.id == request.tokenId; });
  // Hashes are compared, so the time that it takes tells nothing about the secret.
  if (at == state_.invites.end() || at->secretHash != toHex(sha256(request.secret)))
    return unauthorised("this cluster has given out no such invitation");
  if (at->expires < now) return unauthorised("the invitation expired at " + formatTime(at->expires));
  if (at->usesLeft == 0) return unauthorised("the invitation was used up");
  // Also where the file of invitations went back to before the revocation.
  const auto revoked = [&](const std::string& device) {
    const RosterDevice* known = rosters_->current().find(device);
    return known != nullptr && !known->active();
  };
  if (at->devices && std::ranges::any_of(*at->devices, revoked))
    return unauthorised("the invitation ended when a device that came by it was revoked");
  return &*at;
}

Result<std::vector<Invite>> EnrolmentService::openInvites(Time now) const {
  WITAN_DO(mayChange());
  std::vector<Invite> open;
  std::ranges::copy_if(state_.invites, std::back_inserter(open),
                       [&](const Invite& one) { return one.expires >= now && one.usesLeft > 0; });
  return open;
}

Result<std::size_t> EnrolmentService::withdrawInvites(std::string_view id, Time now) {
  WITAN_TRY(open, openInvites(now));
  const std::size_t ended =
      std::erase_if(state_.invites, [&](const Invite& one) { return id == "all" || one.id == id; });
  if (ended == 0 && id != "all")
    return notFound("no invitation " + inQuotes(id) + " is open", "see: witan device invitations");
  WITAN_DO(save());
  return id == "all" ? open.size() : ended;
}

Status EnrolmentService::endInvitesOf(const std::string& device) {
  const auto brought = [&](const Invite& one) {
    return one.devices && std::ranges::find(*one.devices, device) != one.devices->end();
  };
  return std::erase_if(state_.invites, brought) == 0 ? okStatus() : save();
}

// --- joining

JoinAnswer EnrolmentService::onJoin(const JoinRequest& request, const PublicKey& key, std::string_view from, Time now) {
  if (Status checked = checkJoin(request); !checked.ok()) return refused(checked.error());
  const std::string device = deviceIdOf(key);
  if (const RosterDevice* known = rosters_->current().byKey(key)) {
    if (known->active()) return admitted(key);
    JoinAnswer answer = refused(unauthorised("this device was revoked: " + known->reason));
    answer.revocation = revocationOf(rosters_->current(), known->device);  // the admin's word for it
    return answer;
  }
  if (const RosterDevice* known = hadKey(rosters_->current(), key)) {
    JoinAnswer answer = refused(unauthorised(concat(kKeyReplaced, ": this one was rotated away")));
    // Its disk went back, and it signs rosters: it has to know this one, and then gives itself another key.
    const std::string text = adminProofText(rosters_->current().cluster, key);
    if (known->active() && verifySignature(rosters_->admins().signer, text, request.proof))
      answer.document.assign(rosters_->document().begin(), rosters_->document().end());
    return answer;
  }
  if (Status may = mayChange(); !may.ok()) return refused(may.error());
  if (std::ranges::find(state_.denied, device) != state_.denied.end())
    return refused(unauthorised("a person has denied this device"));
  if (request.tokenId.empty()) {
    if (Status enlisted = enlist(request, key, from, now); !enlisted.ok()) return refused(enlisted.error());
    JoinAnswer answer{
        .verdict = JoinVerdict::pending, .reason = "waits for: witan device approve " + device, .device = device};
    return answer;
  }
  auto invite = inviteFor(request, now);
  if (!invite.ok()) return refused(invite.error());
  const Invite terms = **invite;
  if (Status may = mayGrant(terms.roles); !may.ok()) return refused(may.error());
  --(*invite)->usesLeft;
  auto& brought = (*invite)->devices;
  (brought ? *brought : brought.emplace()).push_back(device);
  Status done = save();
  if (done.ok()) done = admit(key, request.name, request.addresses, terms.roles, terms.scopes, now);
  return done.ok() ? admitted(key) : refused(done.error());
}

Status EnrolmentService::enlist(const JoinRequest& request, const PublicKey& key, std::string_view from, Time now) {
  const std::string device = deviceIdOf(key);
  std::erase_if(state_.pending, [&](const PendingDevice& p) { return p.since.micros + kPendingMicros < now.micros; });
  for (const PendingDevice& p : state_.pending)
    if (p.device == device) return okStatus();
  const auto ofAddress =
      std::ranges::count_if(state_.pending, [&](const PendingDevice& p) { return hostOf(p.from) == hostOf(from); });
  if (static_cast<std::size_t>(ofAddress) >= kMaxPendingOfAddress)
    return unavailable("too many devices of this address wait to be approved");
  if (state_.pending.size() >= kMaxPending) return unavailable("too many devices wait to be approved");
  state_.pending.push_back({device, toHex(key), request.name, request.addresses, std::string(clip(from, 128)), now});
  return save();
}

Status EnrolmentService::admit(const PublicKey& key, const std::string& name, std::span<const std::string> addresses,
                               std::span<const std::string> roles, std::span<const std::string> scopes, Time now) {
  Roster next = rosters_->current();
  RosterDevice device;
  device.device = deviceIdOf(key);
  device.name = freeNameIn(next, name, device.device);
  device.keys = {toHex(key)};
  device.roles.assign(roles.begin(), roles.end());
  device.scopes.assign(scopes.begin(), scopes.end());
  device.addresses.assign(addresses.begin(), addresses.end());
  device.since = now;
  device.sealsRows = true;
  const auto at = std::ranges::lower_bound(next.devices, device.device, {}, &RosterDevice::device);
  next.devices.insert(at, std::move(device));
  return publish(std::move(next));
}

JoinAnswer EnrolmentService::admitted(const PublicKey& key) const {
  JoinAnswer answer{.verdict = JoinVerdict::admitted,
                    .device = rosters_->current().byKey(key)->device,
                    .cluster = rosters_->current().cluster};
  answer.adminKey.assign(rosters_->admin().begin(), rosters_->admin().end());
  answer.clusterKey.assign(clusterKey_.begin(), clusterKey_.end());
  answer.partitions = partitions_;
  answer.document.assign(rosters_->document().begin(), rosters_->document().end());
  return answer;
}

// --- what people decide

Result<PendingDevice> EnrolmentService::waiting(std::string_view device) const {
  std::vector<PendingDevice> found;
  for (const PendingDevice& p : state_.pending) {
    if (p.device == device) return p;
    if (p.name == device || (device.size() >= 8 && p.device.starts_with(device))) found.push_back(p);
  }
  if (found.empty()) return notFound(inQuotes(device) + " does not wait to be approved", "see: witan device pending");
  if (found.size() == 1) return found.front();
  std::string who;
  for (const PendingDevice& p : std::span(found).first(std::min(found.size(), kMostNamed)))
    who += (who.empty() ? ": " : ", ") + p.device + " (fingerprint " + fingerprintOfHex(p.key) + ")";
  if (found.size() > kMostNamed) who += ", and more";
  return conflict(concat(found.size(), " devices that wait are called ", inQuotes(device), who),
                  "compare the fingerprints and use the id");
}

void EnrolmentService::forget(const PendingDevice& pending) {
  std::erase_if(state_.pending, [&](const PendingDevice& p) { return p.device == pending.device; });
}

Result<PendingDevice> EnrolmentService::approve(std::string_view device, std::span<const std::string> roles,
                                                std::span<const std::string> scopes, Time now) {
  WITAN_DO(mayChange());
  WITAN_DO(checkGranted(roles));
  WITAN_DO(mayGrant(roles));
  WITAN_TRY(one, waiting(device));
  WITAN_TRY(key, publicKeyFromHex(one.key, "key"));
  WITAN_DO(admit(key, one.name, one.addresses, roles, scopes, now));
  forget(one);
  (void)save();  // the roster has it: what stays in the file is dropped as it is read
  return one;
}

Result<PendingDevice> EnrolmentService::deny(std::string_view device) {
  WITAN_DO(mayChange());
  WITAN_TRY(one, waiting(device));
  if (state_.denied.size() >= kMaxDenied) state_.denied.erase(state_.denied.begin());
  state_.denied.push_back(one.device);
  forget(one);
  WITAN_DO(save());
  return one;
}

Result<RosterDevice*> EnrolmentService::activeIn(Roster& roster, std::string_view idOrName) const {
  WITAN_TRY(found, roster.lookUp(idOrName));
  RosterDevice* device = roster.find(found->device);
  if (!device->active()) return conflict(device->name + " was revoked already");
  return device;
}

Status EnrolmentService::revoke(std::string_view idOrName, std::string_view reason) {
  WITAN_DO(mayChange());
  WITAN_DO(checkReason(reason));
  Roster next = rosters_->current();
  WITAN_TRY(device, activeIn(next, idOrName));
  WITAN_DO(mayAlone(ActKind::revoke, device->device));
  if (next.activeCount() == 1)
    return conflict("the last device of a cluster cannot be revoked", "delete its directory instead");
  device->state = DeviceState::revoked;
  device->reason = std::string(clip(reason, 512));
  WITAN_DO(endInvitesOf(device->device));
  return publish(std::move(next));
}

Status EnrolmentService::publish(Roster next) {
  SystemRandom random;
  WITAN_DO(renewScopeKeys(next, *admin_, random));
  next.partitions = partitions_;
  return rosters_->publish(std::move(next), *admin_);
}

Status EnrolmentService::mayAlone(ActKind kind, std::string_view subject) const {
  const AdminState& admins = rosters_->admins();
  if (admins.admins.empty()) return okStatus();
  return unauthorised(concat("this takes ", admins.approvals, " of ", admins.admins.size(), " admins"),
                      concat("witan admin propose ", enumName(kind), " ", subject));
}

// No invitation brings what takes an act for each device.
Status EnrolmentService::mayGrant(std::span<const std::string> roles) const {
  if (std::ranges::find(roles, kTakeoverRole) == roles.end()) return okStatus();
  const Status alone = mayAlone(ActKind::takeover, "DEVICE");
  if (alone.ok()) return alone;
  return unauthorised("a new device gets no role takeover: " + alone.error().message,
                      "let it in without, then: " + alone.error().hint);
}

Status EnrolmentService::apply(const AdminAct& act, Time now) {
  if (act.expires < now) return unauthorised("the act expired at " + formatTime(act.expires));
  if (act.expires.micros - now.micros > kMaxActLifeMicros) return invalid("an act expires within 30 days");
  Roster next = rosters_->current();
  AdminState state = rosters_->admins();
  WITAN_DO(state.apply(next.cluster, act));
  (next.acts ? *next.acts : next.acts.emplace()).push_back(act);
  const fs::path dir = file_.parent_path();
  if (act.kind == ActKind::signer) {
    WITAN_TRY(key, readKey(dir, hasKey(dir, KeyName::nextAdmin) ? KeyName::nextAdmin : KeyName::admin));
    if (toHex(key.publicKey()) != act.subject)
      return conflict("the key that the act names is not on this device", "apply it where it was proposed");
    WITAN_TRY(own, readKey(dir, KeyName::device));
    const RosterDevice* me = next.byKey(own.publicKey());
    if (me == nullptr || !me->active()) return conflict("this device is no member of its cluster");
    const Roster before = rosters_->current();
    SystemRandom random;
    WITAN_DO(renewScopeKeys(next, key, random,
                            [&](std::string_view scope) { return openScopeKeys(before, scope, me->device, own); }));
    WITAN_DO(rosters_->publish(std::move(next), key));
    admin_ = std::move(key);
    return promoteNextAdmin(dir);
  }
  WITAN_DO(mayChange());
  if (act.kind == ActKind::revoke || act.kind == ActKind::takeover) {
    WITAN_TRY(device, activeIn(next, act.subject));
    if (act.kind == ActKind::takeover) {
      if (!device->takesOver()) device->roles.emplace_back(kTakeoverRole);
    } else {
      device->state = DeviceState::revoked;
      device->reason = act.reason;
      WITAN_DO(endInvitesOf(device->device));
    }
  }
  if (act.kind == ActKind::withdraw || act.kind == ActKind::withdrawPerson) WITAN_DO(withdraw(next, act));
  if (act.kind == ActKind::revokePerson) WITAN_DO(revokePerson(next, act.subject, act.reason));
  const std::size_t blank = act.subject.find(' ');
  if (act.kind == ActKind::rekeyPerson) {
    const RosterPerson* person = next.person(act.subject.substr(0, blank));
    if (person == nullptr || !person->active())
      return notFound("no such person in the roster", "see: witan person list");
    WITAN_TRY(key, publicKeyFromHex(act.subject.substr(blank + 1), "key"));
    WITAN_DO(addPerson(next, person->name, key, std::vector(person->roles), now));
  }
  if (act.kind != ActKind::rekey) return publish(std::move(next));
  WITAN_TRY(device, activeIn(next, act.subject.substr(0, blank)));
  const AskedKey asked{device->device, act.subject.substr(blank + 1), now};
  takeKey(*device, asked.key);
  WITAN_DO(publish(std::move(next)));
  (void)forgetAsked(asked);  // the roster has it: its device asks no more
  return okStatus();
}

Status EnrolmentService::setRoles(std::string_view idOrName, std::span<const std::string> roles) {
  WITAN_DO(mayChange());
  WITAN_DO(checkDeviceRoles(roles));
  Roster next = rosters_->current();
  WITAN_TRY(device, activeIn(next, idOrName));
  const bool mayAlready = device->takesOver(), copied = device->copiesOnly();
  std::string taken;
  for (const std::string& role : rolesLost(device->roles, roles)) taken += " --role " + role;
  if (!taken.empty()) WITAN_DO(mayAlone(ActKind::withdraw, device->device + taken));
  device->roles.assign(roles.begin(), roles.end());
  // What it has read, or keeps unread, stays on its disk.
  if (device->copiesOnly() != copied)
    return conflict("a device gets the role copy when it joins, and keeps it",
                    "revoke it, and invite it again with a new directory");
  if (device->takesOver() && !mayAlready) WITAN_DO(mayAlone(ActKind::takeover, device->device));
  return publish(std::move(next));
}

Result<bool> EnrolmentService::unite(Time now, const std::function<void(const std::string&)>& tell) {
  const RosterStore::Parted* parted = rosters_->parted();
  if (!isAdmin() || parted == nullptr) return false;
  RosterUnion united = uniteRosters(rosters_->current(), rosters_->link(), *parted);
  SystemRandom random;
  uniteScopeKeys(united.roster, *united.other, *admin_, random);
  WITAN_DO(renewScopeKeys(united.roster, *admin_, random));
  united.roster.partitions = partitions_;
  if (!united.roster.allActs().empty()) WITAN_DO(checkFollows(parted->roster, united.roster));
  const std::size_t ended = state_.invites.size();
  tell(wordsOf(united, ended));
  // Those that people ended are back with the disk. First: after the union nothing shows that they are to end.
  const State before = state_;
  state_.invites.clear();
  std::vector<AskedKey> asked = askedKeys();
  for (const RosterUnion::NewKey& key : united.keys) {
    std::erase_if(asked, [&](const AskedKey& one) { return one.device == key.device; });
    asked.push_back({key.device, key.key, now});
  }
  if (!united.keys.empty()) state_.keys = std::move(asked);
  if (const Status kept = ended > 0 || !united.keys.empty() ? save() : okStatus(); !kept.ok()) {
    state_ = before;
    return kept.error();
  }
  WITAN_DO(publish(std::move(united.roster)));
  rosters_->united();
  return true;
}

Status EnrolmentService::change(const std::function<Status(Roster& roster)>& edit) {
  WITAN_DO(mayChange());
  Roster next = rosters_->current();
  WITAN_DO(edit(next));
  return publish(std::move(next));
}

Result<std::string> EnrolmentService::onRotate(std::string_view device, const RotateKey& request, Time now) {
  WITAN_DO(mayChange());
  WITAN_TRY(next, publicKeyFromBytes(request.key, "key"));
  if (!verifySignature(next, rotationText(device, next), request.proof))
    return Error{ErrorCode::unauthorised, "the request does not prove possession of the key", ""};
  Roster roster = rosters_->current();
  WITAN_TRY(member, activeIn(roster, device));
  if (member->keys.back() == toHex(next)) return std::string();
  const std::string wish = concat(device, " asks for another key (fingerprint ", fingerprintOf(next), ")");
  std::vector<AskedKey> asked = askedKeys();
  const auto before = std::ranges::find(asked, device, &AskedKey::device);
  if (before != asked.end() && before->key == toHex(next)) return std::string();
  // Whoever asks for many of them is told of once.
  if (before != asked.end() && !contested_.insert(std::string(device)).second) return std::string();
  if (before != asked.end())
    return concat(wish, ", but one with the fingerprint ", fingerprintOfHex(before->key),
                  " waits already: one of both is not its owner's");
  asked.push_back({std::string(device), toHex(next), now});
  state_.keys = std::move(asked);
  WITAN_DO(save());
  return concat(wish, ": compare it there, then witan device accept-key ", device);
}

Result<AskedKey> EnrolmentService::takeAsked(std::string_view idOrName) const {
  WITAN_DO(mayChange());
  WITAN_TRY(member, rosters_->current().lookUp(idOrName));
  const std::vector<AskedKey> asked = askedKeys();
  const auto at = std::ranges::find(asked, member->device, &AskedKey::device);
  if (at == asked.end()) return notFound(member->name + " asks for no other key", "see: witan device pending");
  return *at;
}

Status EnrolmentService::forgetAsked(const AskedKey& asked) {
  contested_.erase(asked.device);
  if (!state_.keys) return okStatus();
  std::erase_if(*state_.keys, [&](const AskedKey& one) { return one.device == asked.device; });
  return save();
}

Result<AskedKey> EnrolmentService::acceptKey(std::string_view idOrName) {
  WITAN_TRY(asked, takeAsked(idOrName));
  WITAN_TRY(next, publicKeyFromHex(asked.key, "key"));
  WITAN_DO(rotate(asked.device, next));
  (void)forgetAsked(asked);  // the roster has it: its device asks no more
  return asked;
}

Result<AskedKey> EnrolmentService::denyKey(std::string_view idOrName) {
  WITAN_TRY(asked, takeAsked(idOrName));
  WITAN_DO(forgetAsked(asked));
  return asked;
}

Status EnrolmentService::rotate(std::string_view device, const PublicKey& next) {
  WITAN_DO(mayChange());
  WITAN_DO(mayAlone(ActKind::rekey, device));
  Roster changed = rosters_->current();
  WITAN_TRY(member, activeIn(changed, device));
  takeKey(*member, toHex(next));
  return publish(std::move(changed));
}

}  // namespace witan::node
