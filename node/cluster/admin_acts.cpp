#include "node/cluster/admin_acts.h"

#include <algorithm>
#include <set>

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

std::uint64_t AdminState::missing(std::string_view cluster, const AdminAct& act) const {
  const std::string text = actText(cluster, act), first = toHex(signer);
  std::set<std::string> by;
  for (const ActApproval& one : act.approved) {
    const bool counts =
        admins.empty() ? one.key == first : std::ranges::find(admins, one.key, &AdminKey::key) != admins.end();
    if (counts && holds(text, one)) by.insert(one.key);
  }
  const std::uint64_t needed = admins.empty() || mutated("oneAdminSuffices") ? 1 : approvals;
  return by.size() >= needed ? 0 : needed - by.size();
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
    return unauthorised(concat(nameOf(act), " lacks ", lacks, " of ", admins.empty() ? 1 : approvals, " approvals"));
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

std::string settledText(ActKind kind, std::string_view subject) { return concat(enumName(kind), ' ', subject); }

}  // namespace witan::node
