#include "domains/disclosure/disclosure.h"

#include <algorithm>

#include "domains/disclosure/agents/worker.h"
#include "domains/disclosure/embargo_seal.h"
#include "domains/extension.h"
#include "kernel/typed_module.h"

namespace witan::domains::disclosure {

Time EmbargoSpec::releaseAt(Time deadline, std::optional<Time> patchReleasedAt, Time disclosedAt) const {
  if (!patchReleasedAt || *patchReleasedAt > disclosedAt) return deadline;
  switch (combine) {
    case Combine::LATER_OF: return std::max(deadline, *patchReleasedAt);
    case Combine::FIRST_OF: return std::min(deadline, *patchReleasedAt);
    case Combine::P0_90_30:
      return *patchReleasedAt <= deadline ? Time{patchReleasedAt->micros + bufferDays * kMicrosPerDay} : deadline;
    case Combine::DEADLINE_ONLY: break;
  }
  return deadline;
}

EmbargoSpec specOf(Preset preset) {
  switch (preset) {
    case Preset::PAPER: return {90, 14, Combine::LATER_OF, 30};
    case Preset::CERTCC: return {45, std::nullopt, Combine::DEADLINE_ONLY, 30};
    case Preset::P0: return {90, 14, Combine::P0_90_30, 30};
    case Preset::ANTHROPIC: return {90, 14, Combine::FIRST_OF, 30};
  }
  return {};
}

EmbargoSpec Policy::embargo() const {
  EmbargoSpec spec = specOf(preset);
  if (baseDays) spec.baseDays = *baseDays;
  if (maxExtensionDays) spec.maxExtensionDays = maxExtensionDays;
  if (combine) spec.combine = *combine;
  if (bufferDays) spec.bufferDays = *bufferDays;
  return spec;
}

Status Policy::validate() const {
  const EmbargoSpec spec = embargo();
  if (spec.baseDays < 0 || spec.baseDays > 3660) return invalid("policy.baseDays: 0..3660");
  if (spec.maxExtensionDays && (*spec.maxExtensionDays < 0 || *spec.maxExtensionDays > 3660))
    return invalid("policy.maxExtensionDays: 0..3660");
  if (spec.bufferDays < 0 || spec.bufferDays > 3660) return invalid("policy.bufferDays: 0..3660");
  if (rate.N < 0 || rate.N > 1'000'000 || rate.W < 1 || rate.W > 3660)
    return invalid("policy.rate: N 0..1000000 reports in W 1..3660 days");
  return okStatus();
}

namespace {

std::shared_ptr<const agents::ContentSeal> embargoSeal(std::shared_ptr<const agents::SealKeys> keys) {
  return std::make_shared<const EmbargoSeal>(std::move(keys));
}

}  // namespace

const Extension& DisclosureDomain::extension() {
  static const Extension extension{.agents = workers::roleAgents(),
                                   .tools = {&adviceTool()},
                                   .seal = embargoSeal,
                                   .feed = {"a lab that discloses what it finds", portfolioFeed}};
  return extension;
}

const State& stateOf(const EntityState& entity) { return TypedModule<DisclosureDomain>::boxOf(entity).state; }

}  // namespace witan::domains::disclosure

WITAN_DEFINE_DOMAIN(disclosure, disclosure::DisclosureDomain)
