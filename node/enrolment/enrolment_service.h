// EnrolmentService: who may become a member. On the device that holds the admin's key; elsewhere it refuses and says
// where to ask.
//
//   invite(...)                  -> a token for a person to carry; withdraw() ends it, and so does the revocation of a
//                                   device that came by it: what was on its disk lets nobody in again
//   onJoin(request, key, ...)    -> the answer: admitted, pending, or refused with the reason
//   approve / deny(device)       -> of those that came without a token
//   revoke / setRoles / rotate   -> of members
//
// What a call changed is durable when it returns: DIR/roster (node/cluster/roster_store.h) and DIR/enrolment.json with
// the invitations and the pending list. An invitation's use is written down before the answer leaves, so it is never
// used more often than it may; a device that did not hear the answer asks again and is known by its key.
//
// Time comes in as an argument, randomness from the Random it is given. One per data directory and process; the rosters
// outlives it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json_codec.h"
#include "base/seams.h"
#include "node/cluster/messages.h"
#include "node/cluster/roster_store.h"

namespace witan::node {

inline constexpr std::size_t kMaxInvites = 256;
inline constexpr std::size_t kMaxPending = 64;
inline constexpr std::size_t kMaxPendingOfAddress = 8;
inline constexpr std::int64_t kPendingMicros = 24LL * 3600 * 1'000'000;  // a device that still waits asks again
inline constexpr std::int64_t kMaxInviteTtlMicros = 30LL * 24 * 3600 * 1'000'000;

struct Invite {
  std::string id;
  std::string secretHash;  // SHA-256 of the secret, hex: the file alone admits nobody
  std::vector<std::string> roles;
  std::vector<std::string> scopes;
  Time expires;
  std::uint64_t usesLeft = 1;
  Omittable<std::vector<std::string>> devices = {};  // that came by it
  WITAN_MEMBERS(Invite, id, secretHash, roles, scopes, expires, usesLeft, devices)
};

struct PendingDevice {
  std::string device;
  std::string key;  // hex
  std::string name;
  std::vector<std::string> addresses;
  std::string from;  // the address it came from
  Time since;
  WITAN_MEMBERS(PendingDevice, device, key, name, addresses, from, since)
};

// A member would like to have another key.
struct AskedKey {
  std::string device;
  std::string key;  // hex
  Time since;
  WITAN_MEMBERS(AskedKey, device, key, since)
};

struct InviteOptions {
  std::vector<std::string> roles;
  std::vector<std::string> scopes;  // empty: all
  std::int64_t ttlMicros = 15LL * 60 * 1'000'000;
  std::uint64_t uses = 1;
};

class EnrolmentService {
 public:
  // `clusterKey`: the secret that members share. `admin`: none where the admin's key is not.
  static Result<EnrolmentService> open(const std::filesystem::path& dir, RosterStore& rosters, std::string clusterKey,
                                       std::uint32_t partitions, std::optional<SigningKey> admin);

  // Whether this device has the key that signs rosters now.
  bool isAdmin() const { return admin_ && admin_->publicKey() == rosters_->admins().signer; }
  const std::vector<PendingDevice>& pending() const { return state_.pending; }
  const std::vector<Invite>& invites() const { return state_.invites; }
  // Those by which a device may still join. Errors: unauthorised, the admin's key is elsewhere.
  Result<std::vector<Invite>> openInvites(Time now) const;
  // By id; "all". Returns how many. Errors: notFound.
  Result<std::size_t> withdrawInvites(std::string_view id, Time now);

  // The text of the token. `addresses` and `key` are this device's.
  Result<std::string> invite(const InviteOptions& options, std::span<const std::string> addresses, const PublicKey& key,
                             Time now, Random& random);
  // `key`: of the stream that brought the request. `from`: its address, for people.
  JoinAnswer onJoin(const JoinRequest& request, const PublicKey& key, std::string_view from, Time now);

  // By id, the beginning of one, or name; returns who it was. Errors: conflict if several fit, since names are the
  // strangers' choice.
  Result<PendingDevice> approve(std::string_view device, std::span<const std::string> roles,
                                std::span<const std::string> scopes, Time now);
  Result<PendingDevice> deny(std::string_view device);
  Status revoke(std::string_view idOrName, std::string_view reason);
  Status setRoles(std::string_view idOrName, std::span<const std::string> roles);
  // What admins have agreed upon (node/cluster/admin_acts.h): publishes the roster with it, and with what it says. Of
  // the kind signer: where DIR/admin.key.next is that key, which takes the place of admin.key. Errors: unauthorised, it
  // expired or too few signed it; as revoke().
  Status apply(const AdminAct& act, Time now);
  // Where the admin's key is: publishes one roster in place of two that part (node/cluster/roster_union.h), and ends
  // all invitations. `tell` has what people must know, and makes it durable, before anything of it counts: no power cut
  // takes it from them. Returns whether there was something to unite.
  Result<bool> unite(Time now, const std::function<void(const std::string& words)>& tell);
  // Publishes the roster as `edit` leaves it.
  Status change(const std::function<Status(Roster& roster)>& edit);
  // A member asks for another key, over a stream authenticated by its present one: it waits for acceptKey(). Returns
  // what people must know; empty: nothing new. Errors: the proof does not hold; those of rotate().
  Result<std::string> onRotate(std::string_view device, const RotateKey& request, Time now);
  std::vector<AskedKey> askedKeys() const { return state_.keys.value_or(std::vector<AskedKey>()); }
  // Gives a member the key for which it asked, or forgets that it asked. Errors: notFound, it has not.
  Result<AskedKey> acceptKey(std::string_view idOrName);
  Result<AskedKey> denyKey(std::string_view idOrName);
  Status rotate(std::string_view device, const PublicKey& next);
  // Where the admin's key is: there is no later roster now. Else nothing.
  void stampRoster(Time now) {
    if (isAdmin()) rosters_->stamp(now, *admin_);
  }

 private:
  struct State {
    std::vector<Invite> invites;
    std::vector<PendingDevice> pending;
    std::vector<std::string> denied;  // devices
    Omittable<std::vector<AskedKey>> keys;
    WITAN_MEMBERS(State, invites, pending, denied, keys)
  };

  EnrolmentService(std::filesystem::path file, RosterStore& rosters, std::string clusterKey, std::uint32_t partitions,
                   std::optional<SigningKey> admin);
  Status save() const;
  // With the scopes' keys for its members.
  Status publish(Roster next);
  // Where admins act together, one of them alone may not.
  Status mayAlone(ActKind kind, std::string_view subject) const;
  Status mayGrant(std::span<const std::string> roles) const;
  Result<AskedKey> takeAsked(std::string_view idOrName) const;
  Status forgetAsked(const AskedKey& asked);
  Status mayChange() const;
  Result<PendingDevice> waiting(std::string_view device) const;
  void forget(const PendingDevice& pending);
  Result<Invite*> inviteFor(const JoinRequest& request, Time now);
  Status endInvitesOf(const std::string& device);
  Status admit(const PublicKey& key, const std::string& name, std::span<const std::string> addresses,
               std::span<const std::string> roles, std::span<const std::string> scopes, Time now);
  Status enlist(const JoinRequest& request, const PublicKey& key, std::string_view from, Time now);
  JoinAnswer admitted(const PublicKey& key) const;
  Result<RosterDevice*> activeIn(Roster& roster, std::string_view idOrName) const;

  std::filesystem::path file_;
  RosterStore* rosters_;
  std::string clusterKey_;
  std::uint32_t partitions_;
  std::optional<SigningKey> admin_;
  State state_;
  std::set<std::string, std::less<>> contested_;  // devices that asked for a second key, and people know it
};

}  // namespace witan::node
