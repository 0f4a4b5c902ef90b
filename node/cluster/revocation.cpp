#include "node/cluster/revocation.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"

namespace witan::node {

namespace {

std::string textOf(std::string_view cluster, const Revocation& revocation) {
  return concat("witan revocation|", cluster, "|", revocation.device, "|", revocation.version, "|", revocation.reason);
}

// By one of these, or before the first of them.
bool revokes(std::span<const AdminAct> acts, std::string_view device) {
  const std::string text = settledText(ActKind::revoke, device);
  return std::ranges::any_of(acts, [&](const AdminAct& act) {
    return settledText(act.kind, act.subject) == text || std::ranges::find(act.settled, text) != act.settled.end();
  });
}

// Those that show that the word counts: who signs, and that the device was revoked.
std::span<const AdminAct> upToTheWord(std::span<const AdminAct> acts, std::string_view device) {
  while (!acts.empty() && acts.back().kind != ActKind::signer && revokes(acts.first(acts.size() - 1), device))
    acts = acts.first(acts.size() - 1);
  return acts;
}

}  // namespace

void signRevocations(Roster& roster, const SigningKey& signer, bool anew) {
  for (RosterDevice& device : roster.devices) {
    if (device.active()) device.revokedIn = {}, device.revocation = {};
    if (device.active() || (device.revocation && !anew)) continue;
    if (!device.revokedIn) device.revokedIn = roster.version;
    const Revocation revocation{device.device, *device.revokedIn, device.reason, {}};
    device.revocation = toHex(signer.sign(textOf(roster.cluster, revocation)));
  }
}

std::string revocationOf(const Roster& roster, std::string_view device) {
  const RosterDevice* known = roster.find(device);
  if (known == nullptr || known->active() || !known->revocation) return "";
  Revocation revocation{known->device, known->revokedIn.value_or(0), known->reason, *known->revocation};
  if (const auto acts = upToTheWord(roster.allActs(), device); !acts.empty())
    revocation.acts = std::vector<AdminAct>(acts.begin(), acts.end());
  return toJson(revocation);
}

Result<Revocation> readRevocation(std::string_view text, const Roster& known, const PublicKey& admin,
                                  const AdminState& state) {
  WITAN_TRY(value, parseJson(text));
  Revocation revocation;
  WITAN_DO(readJson(value, revocation, "revocation"));
  const std::vector<AdminAct> acts = revocation.acts.value_or(std::vector<AdminAct>());
  const auto mine = known.allActs();
  const std::size_t common = std::min(mine.size(), acts.size());
  PublicKey signer = state.signer;
  if (acts.size() > mine.size()) {
    WITAN_TRY(after, stateAfter(known.cluster, admin, acts));
    signer = after.signer;
  }
  const auto signature = fromHex(revocation.signature);
  if (!std::ranges::equal(mine.first(common), std::span(acts).first(common)) || !signature.ok() ||
      !verifySignature(signer, textOf(known.cluster, revocation), asBytes(*signature)))
    return Error{ErrorCode::unauthorised, "a revocation that the admin has not signed", ""};
  const std::span<const AdminAct> all = acts.size() > mine.size() ? std::span<const AdminAct>(acts) : mine;
  if (!all.empty() && !revokes(all, revocation.device))
    return Error{ErrorCode::unauthorised, "a revocation without an act of the admins", ""};
  return revocation;
}

}  // namespace witan::node
