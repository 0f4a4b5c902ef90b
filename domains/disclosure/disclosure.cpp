#include "domains/disclosure/disclosure.h"

#include "domains/disclosure/portfolio.h"
#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::disclosure {

std::string DisclosureDomain::generate(const DomainModule& module, std::size_t vulnerabilities, std::size_t days,
                                       std::uint64_t seed) {
  return generatePortfolio(module, vulnerabilities, days, seed);
}

const State& stateOf(const EntityState& entity) { return TypedModule<DisclosureDomain>::boxOf(entity).state; }

}  // namespace witan::domains::disclosure

WITAN_DEFINE_DOMAIN(disclosure, disclosure::DisclosureDomain)
