// Acts of the admins: what no single one of them may do. A roster (node/cluster/roster.h) lists them all, from the
// first on, each signed by as many of the admins of its time as these have agreed upon.
//
//   admins        who they are from now on, and how many an act takes. The first one is signed by the key that signs
//                 rosters; it names what stood in the roster before, which needs no act
//   signer        another key signs rosters from now on: for one that was lost, or stolen
//   revoke        of a device; revokePerson of a person
//   takeover      a device gets the role of that name
//   withdraw      a device loses roles; withdrawPerson: a person
//   rekey         a device gets another key, for which it asked; rekeyPerson: a person
//
// A cluster without acts is its signer's. Pure functions on values; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/json_codec.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::node {

inline constexpr std::size_t kMaxAdmins = 16;
inline constexpr std::size_t kMaxActs = 1024;
inline constexpr std::int64_t kMaxActLifeMicros = 30LL * 24 * 3600 * 1'000'000;

WITAN_ENUM(ActKind, admins, signer, revoke, revokePerson, takeover, rekey, rekeyPerson, withdraw, withdrawPerson)

struct AdminKey {
  std::string name;
  std::string key;  // hex
  WITAN_MEMBERS(AdminKey, name, key)
  friend bool operator==(const AdminKey&, const AdminKey&) = default;
};

struct ActApproval {
  std::string key;        // hex
  std::string signature;  // hex, of actText()
  WITAN_MEMBERS(ActApproval, key, signature)
  friend bool operator==(const ActApproval&, const ActApproval&) = default;
};

struct AdminAct {
  std::uint64_t number = 0;  // 1, 2, ...: an act is good for one place, so none happens twice
  ActKind kind = ActKind::admins;
  // Device id; person's name; the next signer's key in hex; of new keys the id or name and the key, with a blank; of
  // roles that are withdrawn the id or name and each role, with blanks; of admins none.
  std::string subject;
  std::vector<AdminKey> admins;      // of the kind admins
  std::uint64_t approvals = 0;       // likewise
  std::vector<std::string> settled;  // of the first act: "revoke ID", "revokePerson NAME", "takeover ID"
  std::string reason;
  Time expires;  // it must be in a roster by then
  std::vector<ActApproval> approved;
  WITAN_MEMBERS(AdminAct, number, kind, subject, admins, approvals, settled, reason, expires, approved)
  friend bool operator==(const AdminAct&, const AdminAct&) = default;
};

// What an admin signs of it.
std::string actText(std::string_view cluster, const AdminAct& act);
void approveAct(std::string_view cluster, AdminAct& act, const SigningKey& admin);

// Who may do what after some acts.
struct AdminState {
  PublicKey signer{};
  std::vector<AdminKey> admins;  // none: the signer alone
  std::uint64_t approvals = 0;
  std::uint64_t acts = 0;
  std::vector<std::string> settled;

  // Its form and its number, without its signatures. Errors: conflict, not the next one; invalid.
  Status mayFollow(const AdminAct& act) const;
  // Errors: as mayFollow(); unauthorised, too few admins signed it.
  Status apply(std::string_view cluster, const AdminAct& act);
  // Whether a signature by this key, in hex, counts now.
  bool counts(std::string_view key) const;
  // Those keys of the act's signatures that count: of admins, and the signature holds.
  std::set<std::string> approvers(std::string_view cluster, const AdminAct& act) const;
  // How many approvals an act takes.
  std::uint64_t needed() const { return admins.empty() ? 1 : approvals; }
  // How many more approvals it needs; 0: it may be applied.
  std::uint64_t missing(std::string_view cluster, const AdminAct& act) const;
};

// Its form. Whether it is permitted, the signatures say. Errors: invalid.
Status checkAct(const AdminAct& act);

// After all of them. `first`: the key that signed the cluster's first roster. Errors: as apply(), with the number.
Result<AdminState> stateAfter(std::string_view cluster, const PublicKey& first, std::span<const AdminAct> acts);

// "revoke ID": how a roster's contents are looked up among the acts.
std::string settledText(ActKind kind, std::string_view subject);
std::string rekeyText(std::string_view whose, std::string_view key);
std::string withdrawText(std::string_view whose, std::span<const std::string> roles);
// Those of `before` that `after` lacks.
std::vector<std::string> rolesLost(std::span<const std::string> before, std::span<const std::string> after);
// Whether the act is of that kind and takes the role from that device or person.
bool withdraws(const AdminAct& act, ActKind kind, std::string_view whose, std::string_view role);
// The roles that an act of the kind withdraw or withdrawPerson names.
std::vector<std::string> rolesWithdrawn(const AdminAct& act);

}  // namespace witan::node
