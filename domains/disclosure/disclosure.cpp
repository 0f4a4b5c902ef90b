#include "domains/disclosure/disclosure.h"

#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::disclosure {

const State& stateOf(const EntityState& entity) { return TypedModule<DisclosureDomain>::boxOf(entity).state; }

}  // namespace witan::domains::disclosure

WITAN_DEFINE_DOMAIN(disclosure, disclosure::DisclosureDomain)
