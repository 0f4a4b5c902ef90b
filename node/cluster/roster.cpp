#include "node/cluster/roster.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/legible.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "domains/registry.h"
#include "kernel/record/statement.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/scope_keys.h"
#include "program/output.h"
#include "replication/records/signed_document.h"
#include "replication/sealed_scope.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kDocumentName = "roster";
constexpr std::size_t kShownIdDigits = 8;
constexpr std::size_t kMaxReasonBytes = 1024;
constexpr std::size_t kMaxRosterCopies = 1024;  // domains
// What each device with ledgers reads of these, its runtime or desk needs.
constexpr std::string_view kEverywhere[] = {"graph", "escrow", "evidence"};
constexpr std::string_view kCounselor = "counselor";  // brings decisions; a role of devices, and of no process

Status checkDevice(const RosterDevice& device) {
  WITAN_DO(replication::validateDeviceId("device", device.device));
  const std::string who = "device " + device.device + ": ";
  if (device.name.empty() || device.name.size() > kMaxNodeNameBytes || !isUtf8(device.name))
    return invalid(concat(who, "a name has 1 to ", kMaxNodeNameBytes, " bytes of UTF-8"));
  if (device.keys.empty() || device.keys.size() > kMaxDeviceKeys)
    return invalid(concat(who, "has ", device.keys.size(), " keys (1 to ", kMaxDeviceKeys, ")"));
  for (const std::string& hex : device.keys) {
    WITAN_TRY(key, publicKeyFromHex(hex, who + "key"));
    if (&hex == &device.keys.front() && deviceIdOf(key) != device.device)
      return invalid(who + "its id is not the hash of its first key");
  }
  if (auto roles = checkDeviceRoles(device.roles); !roles.ok()) return invalid(who + roles.error().message);
  if (device.scopes.size() > kMaxDeviceRoles) return invalid(who + "too many scopes");
  for (const std::string& scope : device.scopes) WITAN_DO(validateId(who + "scope", scope));
  if (device.addresses.size() > kMaxDeviceAddresses) return invalid(who + "too many addresses");
  for (const std::string& address : device.addresses) WITAN_DO(checkAddress(address));
  if (device.reason.size() > kMaxReasonBytes) return invalid(who + "the reason is too long");
  if (device.revocation && device.revocation->size() != 2 * std::tuple_size_v<Signature>)
    return invalid(who + "its revocation has no signature");
  if (device.site)
    if (const Status site = checkSite(*device.site); !site.ok()) return invalid(who + site.error().message);
  return okStatus();
}

Status checkCopies(const std::vector<DomainCopies>& copies) {
  if (copies.size() > kMaxRosterCopies) return invalid(concat("copies of more than ", kMaxRosterCopies, " domains"));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    WITAN_DO(validateId("copies", copies[i].domain));
    if (i > 0 && !(copies[i - 1].domain < copies[i].domain)) return invalid("copies: not in order of their domains");
    if (copies[i].copies < kLeastCopies || copies[i].copies > kMaxRosterDevices)
      return invalid(concat("copies of ", copies[i].domain, ": ", copies[i].copies, " (", kLeastCopies, " to ",
                            kMaxRosterDevices, ")"));
  }
  return okStatus();
}

Status checkRetention(const DomainRetention& of) {
  WITAN_DO(validateId("retention", of.domain));
  const std::string where = concat("retention of ", of.domain, ": ");
  if (of.whole < kLeastCopies || of.whole > kMaxRosterDevices)
    return invalid(concat(where, of.whole, " whole copies (", kLeastCopies, " to ", kMaxRosterDevices, ")"));
  if (of.days > kMaxRetentionDays) return invalid(concat(where, of.days, " days (at most ", kMaxRetentionDays, ")"));
  if (of.entries == 0 && of.days == 0) return invalid(where + "neither entries nor days");
  return okStatus();
}

Status checkRetentions(const std::vector<DomainRetention>& all) {
  if (all.size() > kMaxRosterCopies) return invalid(concat("retention of more than ", kMaxRosterCopies, " domains"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    WITAN_DO(checkRetention(all[i]));
    if (i > 0 && !(all[i - 1].domain < all[i].domain)) return invalid("retention: not in order of the domains");
  }
  return okStatus();
}

// Whose holder answers: escalations of a domain, or questions of graphs.
bool isPersonsRole(std::string_view role) { return role == kGraphPerson || role.ends_with(concat(".", kCounselor)); }

Status checkPersons(const std::vector<RosterPerson>& persons, std::set<std::string>& keys) {
  if (persons.size() > kMaxPersons) return invalid(concat("a roster has at most ", kMaxPersons, " persons"));
  std::set<std::string> counting;  // a key that two histories gave to two persons counts for one of them
  for (std::size_t i = 0; i < persons.size(); ++i) {
    const RosterPerson& person = persons[i];
    const std::string who = "person " + person.name + ": ";
    WITAN_DO(validateId("person", person.name));
    if (i > 0 && !(persons[i - 1].name < person.name)) return invalid("persons: not in order of their names");
    if (person.keys.empty() || person.keys.size() > kMaxDeviceKeys)
      return invalid(concat(who, "has ", person.keys.size(), " keys (1 to ", kMaxDeviceKeys, ")"));
    for (const std::string& hex : person.keys) {
      WITAN_TRY(key, publicKeyFromHex(hex, who + "key"));
      (void)key;
      const bool twice = std::ranges::count(person.keys, hex) > 1 || keys.contains(hex);
      if (twice || (person.active() && &hex == &person.keys.back() && !counting.insert(hex).second))
        return invalid(who + "its key is another's too, or twice its own");
    }
    if (person.roles.size() > kMaxDeviceRoles) return invalid(who + "too many roles");
    for (const std::string& role : person.roles)
      if (!isPersonsRole(role) || !validateId("role", role).ok())
        return invalid(who + inQuotes(role) + " is no role of a person", "a role is DOMAIN.counselor, or graph.Person");
    if (person.reason.size() > kMaxReasonBytes) return invalid(who + "the reason is too long");
  }
  return okStatus();
}

// "rekeyPerson ann 9f3a..." as the command line takes it.
std::string proposalOf(std::string needed) {
  const std::size_t key = needed.rfind(' ');
  if (needed.starts_with("rekeyPerson "))
    needed[key] = '=';
  else if (needed.starts_with("rekey "))
    needed.resize(key);
  return "witan admin propose " + needed;
}

// Where admins act together, each revocation and each role `takeover` has its act, or stood there before the first one;
// and whom an act revokes is revoked, whatever the signer writes.
Status checkPermitted(const Roster& roster) {
  std::set<std::string> permitted;
  for (const AdminAct& act : roster.allActs()) {
    permitted.insert(settledText(act.kind, act.subject));
    permitted.insert(act.settled.begin(), act.settled.end());
  }
  // Two histories gave one key two names: it answers by one, and the other one is kept without an act.
  const auto isSecondName = [&](const RosterPerson& person) {
    return std::ranges::any_of(*roster.persons, [&](const RosterPerson& other) {
      return other.name != person.name && std::ranges::find(other.keys, person.keys.back()) != other.keys.end() &&
             (other.active() || permitted.contains(settledText(ActKind::revokePerson, other.name)));
    });
  };
  std::set<std::string> second;
  if (roster.persons)
    for (const RosterPerson& person : *roster.persons)
      if (!person.active() && isSecondName(person)) second.insert(settledText(ActKind::revokePerson, person.name));
  for (const std::string& needed : actsNeededBy(roster))
    if (!permitted.contains(needed) && !second.contains(needed))
      return Error{ErrorCode::unauthorised, "no act of the admins permits this: " + needed, proposalOf(needed)};
  const auto back = [](const std::string& who, const char* hint) {
    return Error{ErrorCode::unauthorised, "the admins have revoked " + who + ", and the roster lets it in again", hint};
  };
  for (const RosterDevice& device : roster.devices)
    if (device.active() && permitted.contains(settledText(ActKind::revoke, device.device)))
      return back(concat(device.device, " (", device.name, ")"), "invite it again with a new directory");
  for (const RosterPerson& person : roster.persons ? *roster.persons : std::vector<RosterPerson>())
    if (person.active() && permitted.contains(settledText(ActKind::revokePerson, person.name)))
      return back(person.name, "give the person another name: witan person add");
  return okStatus();
}

constexpr std::size_t kShortDigits = 8;
constexpr std::size_t kTagDigits = 8;  // replication/writer.h

bool isHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::size_t hexDigitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isHex(text[end])) ++end;
  return end - at;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> rolesOf(const kernel::Signature& signature) {
  std::vector<std::string> names;
  for (const kernel::RoleInfo& role : signature.roles) names.push_back(signature.domain + "." + role.name);
  for (const std::string_view role : {kCounselorRole, kBeginRole}) names.push_back(concat(signature.domain, ".", role));
  if (kGraphPerson.starts_with(signature.domain + ".")) names.push_back(concat(signature.domain, ".", kIngressRole));
  return names;
}

// "disclosure.PatchTracking:acme" is that role, bound to the key acme.
std::pair<std::string_view, std::string_view> roleAndKey(std::string_view role) {
  const std::size_t colon = role.find(':');
  if (colon == std::string_view::npos) return {role, {}};
  return {role.substr(0, colon), role.substr(colon + 1)};
}

// Of no domain.
bool isPlainRole(std::string_view role) {
  return role == kLedgerRole || role == kTakeoverRole || role == kAnyRole || role == kCopyRole;
}

// As a hurried reader sees it: capital I, 1 and l, O and 0, rn and m are one; blanks and signs between words count
// less.
std::string skimmed(std::string_view name) {
  std::string seen;
  for (const char c : name) {
    const bool sign = c == ' ' || c == '-' || c == '_' || c == '.';
    if (sign && (seen.empty() || seen.back() == ' ')) continue;
    seen += sign ? ' ' : c == 'I' || c == '1' || c == '|' ? 'l' : c == 'O' || c == '0' ? 'o' : c;
    if (seen.ends_with("rn")) seen.replace(seen.size() - 2, 2, "m");
    if (seen.ends_with("vv")) seen.replace(seen.size() - 2, 2, "w");
  }
  if (seen.ends_with(' ')) seen.pop_back();
  return seen;
}

// "NAME (1234abcd)" is how this program names a device with its id.
bool looksLikeAnId(std::string_view name) {
  const std::size_t open = name.rfind('(');
  return open != std::string_view::npos && hexDigitsAt(name, open + 1) >= kTagDigits;
}

std::string warningOf(const std::string& role, const SignatureOf& signatureOf) {
  if (isPlainRole(role)) return "";
  const kernel::Signature* signature = signatureOf(role.substr(0, role.find('.')));
  if (signature == nullptr) {
    const auto domains = domains::domainNames();
    return "the role " + inQuotes(role) + " is of no domain that this node knows: it knows " +
           joined({domains.begin(), domains.end()});
  }
  const std::vector<std::string> known = rolesOf(*signature);
  const std::string_view name = roleAndKey(role).first;
  if (std::ranges::find(known, name) != known.end()) return "";
  return "the role " + inQuotes(role) + " is none of its domain as this node knows it: there are " + joined(known);
}

}  // namespace

bool RosterDevice::keepsLedgers() const { return std::ranges::find(roles, kLedgerRole) != roles.end(); }
bool RosterDevice::takesOver() const { return std::ranges::find(roles, kTakeoverRole) != roles.end(); }

bool RosterDevice::mayAct(std::string_view domain, std::string_view role) const {
  const std::string exact = concat(domain, ".", role);
  return std::ranges::any_of(roles, [&](const std::string& r) { return r == kAnyRole || r == exact; });
}

bool RosterDevice::maySee(std::string_view domain, std::string_view role) const {
  return mayAct(domain, role) || std::ranges::find(roles, concat(domain, ".", role, kReads)) != roles.end();
}

bool RosterDevice::copiesOnly() const { return std::ranges::find(roles, kCopyRole) != roles.end(); }

bool RosterDevice::mayHave(std::string_view scope) const {
  if (copiesOnly() && !replication::isSealedScope(scope)) return false;
  // Whoever is given single roles is given no journals with them, unless they are named.
  if (scopes.empty()) return copiesOnly() || keepsLedgers() || std::ranges::find(roles, kAnyRole) != roles.end();
  return std::ranges::find(scopes, replication::openScopeOf(scope)) != scopes.end();
}

const RosterDevice* Roster::find(std::string_view device) const {
  const auto at =
      std::ranges::lower_bound(devices, device, {}, [](const auto& d) { return std::string_view(d.device); });
  return at != devices.end() && at->device == device ? &*at : nullptr;
}

RosterDevice* Roster::find(std::string_view device) {
  return const_cast<RosterDevice*>(static_cast<const Roster*>(this)->find(device));
}

const RosterDevice* Roster::member(std::string_view device) const {
  const RosterDevice* found = find(device);
  return found != nullptr && found->active() ? found : nullptr;
}

const RosterDevice* Roster::byKey(const PublicKey& key) const {
  const std::string hex = toHex(key);
  for (const RosterDevice& device : devices)
    if (device.keys.back() == hex) return &device;
  return nullptr;
}

Result<const RosterDevice*> Roster::lookUp(std::string_view idOrName) const {
  const RosterDevice* found = find(idOrName);
  if (found != nullptr) return found;
  for (const RosterDevice& device : devices)
    if (device.name == idOrName && (found == nullptr || device.active())) found = &device;
  if (found != nullptr) return found;
  for (const RosterDevice& device : devices) {
    if (idOrName.size() < 4 || !device.device.starts_with(idOrName)) continue;
    if (found != nullptr) return conflict(inQuotes(idOrName) + " fits several devices", "give more of the id");
    found = &device;
  }
  if (found != nullptr) return found;
  return notFound("no device " + inQuotes(idOrName) + " in the roster", "see: witan device roster");
}

std::size_t Roster::activeCount() const {
  return static_cast<std::size_t>(std::ranges::count_if(devices, [](const RosterDevice& d) { return d.active(); }));
}

bool RosterPerson::mayAnswer(std::string_view domain) const {
  return active() && std::ranges::any_of(roles, [&](const std::string& role) {
           return isPersonsRole(role) && role.substr(0, role.rfind('.')) == domain;
         });
}

const RosterPerson* Roster::person(std::string_view name) const {
  if (!persons) return nullptr;
  const auto at = std::ranges::find(*persons, name, &RosterPerson::name);
  return at == persons->end() ? nullptr : &*at;
}

Placement placementOf(const Roster& roster) {
  if (!roster.copies && !roster.retention) return {};
  std::vector<LedgerMember> members;
  // The moment of its admission is its lot: the admin's clock says it, after the device has made its key.
  for (const RosterDevice& device : roster.devices)
    if (device.active() && device.keepsLedgers())
      members.push_back({device.device, device.site.value_or(""), formatTime(device.since)});
  return {std::move(members), roster.copies.value_or(std::vector<DomainCopies>()), roster.version,
          roster.retention.value_or(std::vector<DomainRetention>())};
}

Status setCopies(Roster& roster, std::string_view domain, std::uint64_t copies) {
  if (std::ranges::find(kEverywhere, domain) != std::end(kEverywhere))
    return invalid(concat("each device with the role ledger keeps all of ", domain), "name another domain");
  if (copies != 0 && copies < kLeastCopies)
    return invalid(concat(copies, " copies: with the loss of one disk, decisions would be lost"),
                   concat("give ", kLeastCopies, " or more, or 0 for copies on each device with the role ledger"));
  std::vector<DomainCopies> all = roster.copies.value_or(std::vector<DomainCopies>());
  std::erase_if(all, [&](const DomainCopies& of) { return of.domain == domain; });
  if (copies != 0)
    all.insert(std::ranges::upper_bound(all, domain, {}, &DomainCopies::domain), {std::string(domain), copies});
  roster.copies.reset();
  if (!all.empty()) roster.copies = std::move(all);
  return checkRoster(roster);
}

Status setRetention(Roster& roster, DomainRetention retention) {
  const std::string& domain = retention.domain;
  if (std::ranges::find(kEverywhere, domain) != std::end(kEverywhere))
    return invalid(concat("each copy of ", domain, " keeps every entry, since it is read from its first entry on"),
                   "name another domain");
  if (retention.whole < kLeastCopies)
    return invalid(concat(retention.whole, " whole copies: with the loss of one disk, entries would be lost"),
                   concat("give ", kLeastCopies, " or more"));
  std::vector<DomainRetention> all = roster.retention.value_or(std::vector<DomainRetention>());
  std::erase_if(all, [&](const DomainRetention& of) { return of.domain == domain; });
  if (retention.entries > 0 || retention.days > 0) {
    const auto at = std::ranges::upper_bound(all, domain, {}, &DomainRetention::domain);
    all.insert(at, std::move(retention));
  }
  roster.retention.reset();
  if (!all.empty()) roster.retention = std::move(all);
  return checkRoster(roster);
}

Status checkSite(std::string_view site) { return validateId("site", site); }

Status addPerson(Roster& roster, std::string_view name, const PublicKey& key, std::span<const std::string> roles,
                 Time now) {
  WITAN_DO(checkLegible(name));
  if (name == kernel::kSystemCounselor)
    return invalid(inQuotes(name) + " answers for the program where a time is up, so no person has that name",
                   "give another name");
  if (roles.empty()) return invalid("a person needs a role", "give --role DOMAIN.counselor, or graph.Person");
  std::vector<RosterPerson>& persons = roster.persons ? *roster.persons : roster.persons.emplace();
  for (const RosterPerson& other : persons)
    if (other.name != name && std::ranges::find(other.keys, toHex(key)) != other.keys.end())
      return invalid(concat("person ", name, ": its key is another's too: that of ", other.name),
                     "give another key: witan person add NAME makes one");
  auto at = std::ranges::lower_bound(persons, name, {}, &RosterPerson::name);
  if (at == persons.end() || at->name != name) {
    at = persons.insert(at, RosterPerson{std::string(name), {}, DeviceState::active, {}, now, ""});
  } else {
    at->state = DeviceState::active;
    at->reason.clear();
  }
  at->roles.assign(roles.begin(), roles.end());
  if (at->keys.empty() || at->keys.back() != toHex(key)) at->keys.push_back(toHex(key));
  return checkRoster(roster);
}

Status revokePerson(Roster& roster, std::string_view name, std::string_view reason) {
  auto* found = const_cast<RosterPerson*>(roster.person(name));
  if (found == nullptr) return notFound("no person " + inQuotes(name) + " in the roster", "see: witan person list");
  if (!found->active()) return conflict(found->name + " was revoked already");
  found->state = DeviceState::revoked;
  found->reason = std::string(clip(reason, 512));
  return okStatus();
}

Status checkDeviceRoles(std::span<const std::string> roles) {
  if (roles.size() > kMaxDeviceRoles) return invalid(concat("more than ", kMaxDeviceRoles, " roles"));
  if (roles.size() > 1 && std::ranges::find(roles, kCopyRole) != roles.end())
    return invalid("a device with the role copy keeps encrypted copies and has no other role",
                   "give the other roles to another device");
  for (const std::string& role : roles) {
    if (isPlainRole(role)) continue;
    const auto [name, key] = roleAndKey(role);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == name.size() || !validateId("role", name).ok())
      return invalid(inQuotes(role) + " is no role of a device",
                     "a role is ledger, takeover, * (all), copy, DOMAIN.ROLE, as udt.LabOrder, DOMAIN.ROLE:read or "
                     "DOMAIN.ROLE:KEY");
    if (name.size() == role.size()) continue;
    if (key.empty() || key.size() > kernel::kKeyMax || !isUtf8(key) || forTerminal(key) != key ||
        key.find_first_of("\n\t") != std::string_view::npos)
      return invalid(concat(inQuotes(role), ": a key has 1 to ", kernel::kKeyMax, " bytes on one line"));
    if (name.substr(dot + 1) == kCounselor)
      return invalid(inQuotes(role) + ": a counselor is shown the whole entity, so the role has no key");
  }
  return okStatus();
}

Status checkAddress(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : address.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (colon == 0 || !digits || address.size() > 255 || std::stoul(std::string(port)) > 65535)
    return invalid(inQuotes(address) + " is no address", "give HOST:PORT, [IPV6]:PORT or NAME:PORT");
  return okStatus();
}

std::vector<std::string> dialable(std::vector<std::string> addresses) {
  std::erase_if(addresses, [](const std::string& address) {
    return address.ends_with(":0") || address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  });
  return addresses;
}

bool looksLike(std::string_view one, std::string_view other) {
  return shapeOf(one) == shapeOf(other) || shapeOf(skimmed(one)) == shapeOf(skimmed(other));
}

Status checkDeviceName(std::string_view name) {
  if (name.size() > kMaxNodeNameBytes || !isUtf8(name))
    return invalid(concat("a name has at most ", kMaxNodeNameBytes, " bytes of UTF-8"));
  if (forTerminal(name) != name || name.find_first_of("\n\t") != std::string_view::npos)
    return invalid("the name " + inQuotes(name) + " has controls", "give one of letters, digits and signs");
  WITAN_DO(checkLegible(name));
  if (name.starts_with('-') || (!name.empty() && name.find_first_not_of(".-_ ") == name.npos))
    return invalid("the name " + inQuotes(name) + " begins with -, or has no letter",
                   "give one of letters, digits and signs");
  if (looksLikeAnId(name))
    return invalid("the name " + inQuotes(name) + " reads like a device with its id", "give another name");
  const bool hex = name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (hex && (name.size() == kShownIdDigits || name.size() == kDeviceIdDigits))
    return invalid("the name " + inQuotes(name) + " could be the id of a device", "give another name");
  return okStatus();
}

Status checkReason(std::string_view reason) {
  if (forTerminal(reason) == reason && reason.find_first_of("\n\t") == std::string_view::npos) return okStatus();
  return invalid("the reason " + inQuotes(reason) + " has controls, line ends or bytes that are no UTF-8",
                 "give one line of plain text");
}

Status checkRoster(const Roster& roster) {
  WITAN_DO(validateId("cluster", roster.cluster));
  if (roster.devices.empty() || roster.devices.size() > kMaxRosterDevices)
    return invalid(concat("a roster has 1 to ", kMaxRosterDevices, " devices, this one ", roster.devices.size()));
  std::set<std::string> names, keys;
  for (std::size_t i = 0; i < roster.devices.size(); ++i) {
    const RosterDevice& device = roster.devices[i];
    WITAN_DO(checkDevice(device));
    if (i > 0 && !(roster.devices[i - 1].device < device.device)) return invalid("devices: not in order of their ids");
    if (device.active() && !names.insert(device.name).second)
      return conflict("two devices are called " + inQuotes(device.name), "give another name");
    for (const std::string& key : device.keys)
      if (!keys.insert(key).second) return invalid("one key stands for two devices");
  }
  if (roster.scopeKeys) WITAN_DO(checkScopeKeys(*roster.scopeKeys));
  if (roster.copies) WITAN_DO(checkCopies(*roster.copies));
  if (roster.retention) WITAN_DO(checkRetentions(*roster.retention));
  if (roster.before) WITAN_DO(checkRosterLinks(*roster.before, roster.version));
  if (roster.acts) WITAN_DO(checkPermitted(roster));
  return roster.persons ? checkPersons(*roster.persons, keys) : okStatus();
}

Result<std::string> signRoster(const Roster& roster, const SigningKey& admin) {
  WITAN_DO(checkRoster(roster));
  replication::SignedDocumentBody body{.kind = replication::DocumentKind::roster,
                                       .name = std::string(kDocumentName),
                                       .version = roster.version,
                                       .content = toJson(roster)};
  WITAN_TRY(document, replication::sign(std::move(body), admin));
  return replication::encodeRecord(document);
}

std::vector<std::string> actsNeededBy(const Roster& roster) {
  std::vector<std::string> needed;
  for (const RosterDevice& device : roster.devices) {
    if (!device.active()) needed.push_back(settledText(ActKind::revoke, device.device));
    if (device.active() && device.takesOver()) needed.push_back(settledText(ActKind::takeover, device.device));
    for (std::size_t i = 1; i < device.keys.size(); ++i)  // the id is of the first
      needed.push_back(settledText(ActKind::rekey, rekeyText(device.device, device.keys[i])));
  }
  for (const RosterPerson& person : roster.persons ? *roster.persons : std::vector<RosterPerson>()) {
    if (!person.active()) needed.push_back(settledText(ActKind::revokePerson, person.name));
    for (std::size_t i = 1; i < person.keys.size(); ++i)
      needed.push_back(settledText(ActKind::rekeyPerson, rekeyText(person.name, person.keys[i])));
  }
  return needed;
}

Result<Roster> readRoster(std::string_view document, const PublicKey& admin, AdminState* state) {
  WITAN_TRY(body, replication::decodeRecord<replication::SignedDocumentBody>(document));
  if (body.kind != replication::DocumentKind::roster || body.name != kDocumentName)
    return invalid("a signed document that is no roster");
  WITAN_TRY(canonical, replication::encodeRecord(body));
  if (canonical != document) return invalid("roster: not the canonical bytes of its document");
  WITAN_TRY(value, parseJson(body.content));
  Roster roster;
  WITAN_DO(readJson(value, roster, "roster"));
  if (roster.version != body.version) return invalid("roster: its version is not that of its document");
  if (roster.cluster != clusterIdOf(admin))
    return Error{ErrorCode::unauthorised, "a roster of the cluster " + roster.cluster, ""};
  WITAN_TRY(after, stateAfter(roster.cluster, admin, roster.allActs()));
  WITAN_DO(replication::verify(body, after.signer));
  WITAN_DO(checkRoster(roster));
  if (state != nullptr) *state = std::move(after);
  return roster;
}

std::string DeviceNames::in(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t digits = hexDigitsAt(text, at);
    const auto known = digits == kDeviceIdDigits ? names_.find(text.substr(at, digits)) : names_.end();
    if (known == names_.end()) {
      const std::size_t length = digits == 0 ? 1 : digits;
      out += text.substr(at, length), at += length;
      continue;
    }
    out += concat(known->second, " (", text.substr(at, kShortDigits));
    at += kDeviceIdDigits;
    if (at < text.size() && text[at] == '@' && hexDigitsAt(text, at + 1) == kTagDigits)
      out += text.substr(at, 1 + kTagDigits), at += 1 + kTagDigits;
    out += ")";
  }
  return out;
}

std::vector<std::string> personWarnings(const Roster& roster, std::string_view name, std::span<const std::string> roles,
                                        const SignatureOf& signatureOf) {
  std::vector<std::string> warnings;
  for (const std::string& role : roles)
    if (role != kGraphPerson && signatureOf(role.substr(0, role.find('.'))) == nullptr)
      warnings.push_back("the role " + inQuotes(role) + " is of no domain that this node knows");
  for (const RosterPerson& other : roster.persons ? *roster.persons : std::vector<RosterPerson>())
    if (other.active() && other.name != name && looksLike(other.name, name))
      warnings.push_back(concat("the name ", inQuotes(name), " looks like that of ", inQuotes(other.name)));
  return warnings;
}

std::vector<std::string> roleWarnings(std::span<const std::string> roles, const SignatureOf& signatureOf) {
  std::vector<std::string> warnings;
  for (const std::string& role : roles)
    if (std::string warning = warningOf(role, signatureOf); !warning.empty()) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace witan::node
