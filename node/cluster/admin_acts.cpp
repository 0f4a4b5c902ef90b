#include "node/cluster/admin_acts.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "kernel/record/signed_leaves.h"
#include "node/cluster/device_key.h"

namespace witan::node {

namespace {

constexpr std::size_t kReasonMax = 512;
constexpr std::size_t kMaxSettled = 4096;
constexpr std::size_t kSubjectMax = 8192;  // with roles

Error unauthorised(std::string what) { return {ErrorCode::unauthorised, std::move(what), ""}; }

std::string nameOf(const AdminAct& act) { return concat("act ", act.number, " (", enumName(act.kind), ")"); }

Status checkAdmins(const AdminAct& act) {
  if (act.admins.empty() || act.admins.size() > kMaxAdmins)
    return invalid(concat(nameOf(act), " names ", act.admins.size(), " admins, not 1 to ", kMaxAdmins));
  if (act.approvals == 0 || act.approvals > act.admins.size())
    return invalid(concat(nameOf(act), " asks for ", act.approvals, " of ", act.admins.size(), " admins"));
  std::set<std::string> names, keys;
  for (const AdminKey& admin : act.admins) {
    WITAN_DO(validateId("admin", admin.name));
    WITAN_TRY(key, publicKeyFromHex(admin.key, "admin's key"));
    if (!names.insert(admin.name).second || !keys.insert(toHex(key)).second)
      return invalid(concat(nameOf(act), " names an admin twice"));
  }
  return okStatus();
}

bool holds(std::string_view text, const ActApproval& approval) {
  const auto key = publicKeyFromHex(approval.key, "key");
  const auto signature = fromHex(approval.signature);
  return key.ok() && signature.ok() && verifySignature(*key, text, asBytes(*signature));
}

}  // namespace

Status checkAct(const AdminAct& act) {
  if (act.reason.size() > kReasonMax) return invalid(nameOf(act) + ": the reason is too long");
  if (act.approved.size() > kMaxAdmins) return invalid(nameOf(act) + " has too many approvals");
  if (act.settled.size() > kMaxSettled) return invalid(nameOf(act) + " settles too much");
  if (act.kind == ActKind::admins) return checkAdmins(act);
  if (!act.admins.empty() || act.approvals != 0 || !act.settled.empty()) return invalid(nameOf(act) + " names admins");
  if (act.kind == ActKind::signer)
    return publicKeyFromHex(act.subject, "subject").ok() ? okStatus() : invalid(nameOf(act) + " names no key");
  if (act.kind == ActKind::rekey || act.kind == ActKind::rekeyPerson) {
    const std::size_t blank = act.subject.find(' ');
    const auto key = publicKeyFromHex(blank == std::string::npos ? "" : act.subject.substr(blank + 1), "key");
    if (!key.ok() || act.subject.substr(blank + 1) != toHex(*key)) return invalid(nameOf(act) + " names no key");
  }
  if (act.kind == ActKind::withdraw || act.kind == ActKind::withdrawPerson) {
    const std::vector<std::string> roles = rolesWithdrawn(act);
    if (roles.empty() || std::ranges::find(roles, "") != roles.end()) return invalid(nameOf(act) + " names no role");
    if (act.subject.starts_with(' ') || act.subject.size() > kSubjectMax) return invalid(nameOf(act) + " names nobody");
    return okStatus();
  }
  return act.subject.empty() || act.subject.size() > kReasonMax ? Status(invalid(nameOf(act) + " names nobody"))
                                                                : okStatus();
}

std::string actText(std::string_view cluster, const AdminAct& act) {
  AdminAct bare = act;
  bare.approved.clear();
  const std::string text = toJson(bare);
  const std::string_view parts[] = {cluster, text};
  return kernel::statementText("witan-admin-act/1", parts);
}

void approveAct(std::string_view cluster, AdminAct& act, const SigningKey& admin) {
  const std::string key = toHex(admin.publicKey());
  std::erase_if(act.approved, [&](const ActApproval& one) { return one.key == key; });
  act.approved.push_back({key, toHex(admin.sign(actText(cluster, act)))});
}

bool AdminState::counts(std::string_view key) const {
  return admins.empty() ? key == toHex(signer) : std::ranges::find(admins, key, &AdminKey::key) != admins.end();
}

std::set<std::string> AdminState::approvers(std::string_view cluster, const AdminAct& act) const {
  const std::string text = actText(cluster, act);
  std::set<std::string> by;
  for (const ActApproval& one : act.approved)
    if (counts(one.key) && holds(text, one)) by.insert(one.key);
  return by;
}

std::uint64_t AdminState::missing(std::string_view cluster, const AdminAct& act) const {
  const std::size_t by = approvers(cluster, act).size();
  const std::uint64_t wanted = mutated("oneAdminSuffices") ? 1 : needed();
  return by >= wanted ? 0 : wanted - by;
}

Status AdminState::mayFollow(const AdminAct& act) const {
  if (act.number != acts + 1)
    return conflict(concat(nameOf(act), " is not the next one, which is ", acts + 1),
                    "another act was applied since: propose it again");
  if (act.number > kMaxActs) return invalid(concat("more than ", kMaxActs, " acts of admins"));
  WITAN_DO(checkAct(act));
  if (acts == 0 && act.kind != ActKind::admins) return invalid(nameOf(act) + ": the first act names the admins");
  if (acts > 0 && !act.settled.empty()) return invalid(nameOf(act) + ": only the first act settles what was before");
  return okStatus();
}

Status AdminState::apply(std::string_view cluster, const AdminAct& act) {
  WITAN_DO(mayFollow(act));
  if (const std::uint64_t lacks = missing(cluster, act); lacks > 0)
    return unauthorised(concat(nameOf(act), " lacks ", lacks, " of ", needed(), " approvals"));
  if (act.kind == ActKind::admins) admins = act.admins, approvals = act.approvals;
  if (act.kind == ActKind::signer) WITAN_SET(signer, publicKeyFromHex(act.subject, "subject"));
  if (acts == 0) settled = act.settled;
  acts = act.number;
  return okStatus();
}

Result<AdminState> stateAfter(std::string_view cluster, const PublicKey& first, std::span<const AdminAct> acts) {
  AdminState state;
  state.signer = first;
  if (acts.size() > kMaxActs) return invalid(concat("more than ", kMaxActs, " acts of admins"));
  for (const AdminAct& act : acts) WITAN_DO(state.apply(cluster, act));
  return state;
}

std::string rekeyText(std::string_view whose, std::string_view key) { return concat(whose, ' ', key); }

std::string withdrawText(std::string_view whose, std::span<const std::string> roles) {
  std::string text(whose);
  for (const std::string& role : roles) text += " " + role;
  return text;
}

std::vector<std::string> rolesLost(std::span<const std::string> before, std::span<const std::string> after) {
  std::vector<std::string> lost;
  for (const std::string& role : before)
    if (std::ranges::find(after, role) == after.end()) lost.push_back(role);
  return lost;
}

std::vector<std::string> rolesWithdrawn(const AdminAct& act) {
  std::vector<std::string> roles;
  for (std::size_t at = act.subject.find(' '); at != act.subject.npos;) {
    const std::size_t end = act.subject.find(' ', at + 1);
    roles.push_back(act.subject.substr(at + 1, end == act.subject.npos ? end : end - at - 1));
    at = end;
  }
  return roles;
}

bool withdraws(const AdminAct& act, ActKind kind, std::string_view whose, std::string_view role) {
  if (act.kind != kind || act.subject.substr(0, act.subject.find(' ')) != whose) return false;
  const std::vector<std::string> roles = rolesWithdrawn(act);
  return std::ranges::find(roles, role) != roles.end();
}

std::string settledText(ActKind kind, std::string_view subject) { return concat(enumName(kind), ' ', subject); }

}  // namespace witan::node
