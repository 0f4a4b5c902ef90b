#include "domains/registry.h"

namespace witan::domains {

#define WITAN_DOMAIN(name) \
  Result<std::unique_ptr<kernel::DomainModule>> make_##name(const json::object&, std::vector<std::string>);
#include "domains/registry.inc"
#undef WITAN_DOMAIN

std::vector<std::string_view> domainNames() {
  return {
#define WITAN_DOMAIN(name) #name,
#include "domains/registry.inc"
#undef WITAN_DOMAIN
  };
}

Result<std::unique_ptr<kernel::DomainModule>> makeDomain(std::string_view name, const json::object& policy,
                                                         std::vector<std::string> counselors) {
#define WITAN_DOMAIN(known) \
  if (name == #known) return make_##known(policy, std::move(counselors));
#include "domains/registry.inc"
#undef WITAN_DOMAIN
  std::string names;
  for (std::string_view known : domainNames()) names += (names.empty() ? "" : ", ") + std::string(known);
  return Error{ErrorCode::notFound, "no domain \"" + std::string(name.substr(0, 64)) + "\"", "known domains: " + names};
}

}  // namespace witan::domains
