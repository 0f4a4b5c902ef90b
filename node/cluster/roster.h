// The roster: which devices belong to the cluster, with which keys, roles and scopes. One document, numbered, signed by
// the cluster's admin key; the highest number counts everywhere and the signature decides whether it counts at all, so
// it may travel through anybody.
//
// Values and pure functions. A Roster that came from readRoster is consistent: ids follow from first keys, no key and
// no device stands twice.
//
// Beside it stands replication/membership.h: the statements by which members agree what a leaving device has left
// behind. The roster says who may connect; the statements say what may be tidied away.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/json_codec.h"
#include "base/reflect.h"
#include "base/time.h"
#include "kernel/domain_module.h"
#include "node/cluster/admin_acts.h"
#include "replica/core/placement.h"

namespace witan::node {

inline constexpr std::size_t kMaxRosterDevices = 1024;
inline constexpr std::size_t kMaxDeviceAddresses = 8;
inline constexpr std::size_t kMaxNodeNameBytes = 64;
inline constexpr std::size_t kMaxDeviceRoles = 64;
inline constexpr std::size_t kMaxPersons = 1024;
inline constexpr std::size_t kMaxDeviceKeys = 16;
inline constexpr std::uint64_t kMaxRetentionDays = 36'500;

// The role of a device that keeps copies of the ledgers, and so sees all of the shared state.
inline constexpr std::string_view kLedgerRole = "ledger";
// The role of a device that may begin partitions and take them over without their owners.
inline constexpr std::string_view kTakeoverRole = "takeover";
// The role of a device that keeps encrypted copies of the replicated spaces, and reads nothing. It has no other.
inline constexpr std::string_view kCopyRole = "copy";
// Every role of every domain, without the copies.
inline constexpr std::string_view kAnyRole = "*";
// DOMAIN.counselor brings decisions of counselors, DOMAIN.begin begins entities. Roles of devices, of no process.
inline constexpr std::string_view kCounselorRole = "counselor";
inline constexpr std::string_view kBeginRole = "begin";
// graph.ingress sends messages to graphs.
inline constexpr std::string_view kIngressRole = "ingress";
// The role of a person, and of the devices that bring it, who answers questions of graphs.
inline constexpr std::string_view kGraphPerson = "graph.Person";
// DOMAIN.ROLE:read sees the slices of a role and proposes nothing.
inline constexpr std::string_view kReads = ":read";

WITAN_ENUM(DeviceState, active, revoked)

struct RosterDevice {
  std::string device;             // id: hash of its first key
  std::string name;               // as people call it; unique among the active
  std::vector<std::string> keys;  // hex; the last one counts, the first gives the id, others were rotated away
  DeviceState state = DeviceState::active;
  // "ledger", "takeover", "*", "{domain}.{role}", "{domain}.{role}:read", or "copy"
  std::vector<std::string> roles;
  std::vector<std::string> scopes;     // of the replicated data; empty: all with "ledger", "*" or "copy", else none
  std::vector<std::string> addresses;  // host:port, where others may dial it
  Time since;                          // admitted
  std::string reason;                  // of a revocation
  Omittable<bool> sealsRows{};  // all that it ever wrote (replication/row_seals.h); absent: it is older than that
  Omittable<std::uint64_t> revokedIn{};  // the first version in which it is revoked
  Omittable<std::string> revocation{};   // the signature of that (node/cluster/revocation.h)
  Omittable<std::string> site{};         // where it stands (LedgerMember)
  WITAN_MEMBERS(RosterDevice, device, name, keys, state, roles, scopes, addresses, since, reason, sealsRows, revokedIn,
                revocation, site)
  friend bool operator==(const RosterDevice& one, const RosterDevice& other) { return toJson(one) == toJson(other); }

  bool active() const { return state == DeviceState::active; }
  // Keeps copies of the ledgers.
  bool keepsLedgers() const;
  bool takesOver() const;
  // Keeps encrypted copies, and no key that opens them.
  bool copiesOnly() const;
  // May propose, and see slices, in a role of a domain.
  bool mayAct(std::string_view domain, std::string_view role) const;
  bool maySee(std::string_view domain, std::string_view role) const;
  // Of a sealed scope (replication/sealed_scope.h): who may have what it keeps, and who keeps copies.
  bool mayHave(std::string_view scope) const;
};

// Somebody who answers as a counselor, or questions of graphs, with a key of their own (`witan person add`).
struct RosterPerson {
  std::string name;               // as the domain's list of counselors has it
  std::vector<std::string> keys;  // hex; the last one counts, those before it were replaced
  DeviceState state = DeviceState::active;
  std::vector<std::string> roles;  // "{domain}.counselor"; "graph.Person" for questions of graphs
  Time since;
  std::string reason;  // of a revocation
  WITAN_MEMBERS(RosterPerson, name, keys, state, roles, since, reason)
  friend bool operator==(const RosterPerson&, const RosterPerson&) = default;

  bool active() const { return state == DeviceState::active; }
  bool mayAnswer(std::string_view domain) const;
};

// The key of a scope, in boxes for the members that may have it (node/cluster/scope_keys.h).
struct ScopeKeyCopy {
  std::string device;
  std::string key;  // the first digits of the device's key for which it is
  std::string box;  // Base64
  WITAN_MEMBERS(ScopeKeyCopy, device, key, box)
};
struct ScopeKey {
  std::string scope;
  std::uint64_t generation = 0;      // drawn above the one before: two rosters that part never give one to two keys
  std::vector<ScopeKeyCopy> copies;  // by device
  std::vector<std::string> before;   // Base64: earlier keys, each under the next one
  Omittable<std::vector<std::uint64_t>> numbers{};  // the generations of `before`; absent: they end before this one
  WITAN_MEMBERS(ScopeKey, scope, generation, copies, before, numbers)
};

// A roster as later ones name it (node/cluster/roster_follows.h).
struct RosterLink {
  std::uint64_t version = 0;
  std::string digest;  // the first digits of its document's SHA-256
  WITAN_MEMBERS(RosterLink, version, digest)
  friend bool operator==(const RosterLink&, const RosterLink&) = default;
};
inline constexpr std::size_t kMaxRosterLinks = 64;

struct Roster {
  std::string cluster;
  std::uint64_t version = 0;
  std::vector<RosterDevice> devices;               // by id
  Omittable<std::vector<RosterPerson>> persons{};  // by name
  Omittable<std::vector<ScopeKey>> scopeKeys{};    // by scope
  Omittable<std::vector<AdminAct>> acts{};         // all that the admins did together
  Omittable<std::uint64_t> partitions{};           // of each domain; absent: only cluster.json says it
  Omittable<std::vector<DomainCopies>> copies{};   // of the partitions of a domain, by domain; of others, everywhere
  Omittable<std::vector<DomainRetention>> retention{};  // by domain; copies of others keep every entry
  Omittable<std::vector<RosterLink>>
      before{};  // those before it, the last one first; absent: none, or an older program
  WITAN_MEMBERS(Roster, cluster, version, devices, persons, scopeKeys, acts, partitions, copies, retention, before)
  friend bool operator==(const Roster& one, const Roster& other) { return toJson(one) == toJson(other); }

  // Null: nobody.
  const RosterDevice* find(std::string_view device) const;
  RosterDevice* find(std::string_view device);
  // The same if it is active, else null.
  const RosterDevice* member(std::string_view device) const;
  // Whose current key it is, active or revoked. Null: nobody's.
  const RosterDevice* byKey(const PublicKey& key) const;
  // By id, by name, or by the beginning of an id that fits one device only. Errors: notFound; conflict (several).
  Result<const RosterDevice*> lookUp(std::string_view idOrName) const;
  std::size_t activeCount() const;
  // Null: there is no such person.
  const RosterPerson* person(std::string_view name) const;
  std::span<const AdminAct> allActs() const {
    return acts ? std::span<const AdminAct>(*acts) : std::span<const AdminAct>();
  }
};

// Who keeps copies of which partitions, of the members with the role `ledger`, and who keeps every entry of them.
Placement placementOf(const Roster& roster);
// Of the partitions of a domain, so many from now on; 0: everywhere. Errors: too few; a domain that has to be
// everywhere.
Status setCopies(Roster& roster, std::string_view domain, std::uint64_t copies);
// What copies of a domain's partitions keep from now on; with neither number all of them keep every entry. Errors: a
// number that is out of range; a domain whose entries all stay.
Status setRetention(Roster& roster, DomainRetention retention);
Status checkSite(std::string_view site);

// What of the roster takes an act of the admins, where they act together, as settledText() has it.
std::vector<std::string> actsNeededBy(const Roster& roster);

// Makes a person one who answers for these roles, from now on by this key. Errors: a bad name, role or key.
Status addPerson(Roster& roster, std::string_view name, const PublicKey& key, std::span<const std::string> roles,
                 Time now);
// Errors: notFound; conflict, already revoked.
Status revokePerson(Roster& roster, std::string_view name, std::string_view reason);

// Everything that can be wrong with a roster, the member named.
Status checkRoster(const Roster& roster);
Status checkDeviceRoles(std::span<const std::string> roles);
Status checkAddress(std::string_view address);
// The addresses that others can dial: without port 0, 0.0.0.0 and [::].
std::vector<std::string> dialable(std::vector<std::string> addresses);
// Of a device that begins or joins a cluster; empty: it gets one. People read names in tables: a name is one line
// without controls, and does not look like the id of another device. (A roster that has others stays readable.)
Status checkDeviceName(std::string_view name);
// Of a revocation, as people read it in tables: one line without controls. (As with names, others stay readable.)
Status checkReason(std::string_view reason);
// Whether people would take one name for the other: letters of Latin, Greek and Cyrillic that look alike, and capitals.
bool looksLike(std::string_view one, std::string_view other);

// The document's bytes. Errors: checkRoster.
Result<std::string> signRoster(const Roster& roster, const SigningKey& admin);
// `admin`: the key whose hash the cluster's id is. Errors: unreadable, of another cluster, inconsistent; acts that no
// admins of their time signed; not signed by the key that these name; something in it lacks an act. `state`: as the
// acts leave it.
Result<Roster> readRoster(std::string_view document, const PublicKey& admin, AdminState* state = nullptr);

// DeviceNames: device ids in sentences for people become the names that the roster gives them: "lab (a46244d4)". What
// programs read keeps its ids. A value; one thread at a time.
class DeviceNames {
 public:
  void add(std::string id, std::string name) { names_[std::move(id)] = std::move(name); }

  // Every id that is known, wherever it stands in the text; of a writer's name, "lab (a46244d4@9c8f73c3)". Others stay
  // as they are. O(bytes log devices).
  std::string in(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

// Roles of devices that no domain of this program has are mostly typing errors, with which the device would do nothing.
// They are given all the same, with a warning: other devices may run a newer program.

// Null: there is no such domain.
using SignatureOf = std::function<const kernel::Signature*(std::string_view domain)>;

// One text for each such role, with the names that there are. `roles`: as checkDeviceRoles takes them.
std::vector<std::string> roleWarnings(std::span<const std::string> roles, const SignatureOf& signatureOf);
// Of a person: roles of no domain, and other persons whose names look alike.
std::vector<std::string> personWarnings(const Roster& roster, std::string_view name, std::span<const std::string> roles,
                                        const SignatureOf& signatureOf);

}  // namespace witan::node
