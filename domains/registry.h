// The domains that this build knows. One line each in domains/registry.inc; node/ and sim/ read the same list, so a
// domain cannot exist in production without being simulated.
#pragma once

#include <string_view>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::domains {

std::vector<std::string_view> domainNames();

// `policy`: members that replace the domain's defaults. `counselors`: if any, instead of the domain's own.
Result<std::unique_ptr<kernel::DomainModule>> makeDomain(std::string_view name, const json::object& policy = {},
                                                         std::vector<std::string> counselors = {});

}  // namespace witan::domains

// At the end of a domain's source file: makes DomainType known under `name` (which also stands in registry.inc).
#define WITAN_DEFINE_DOMAIN(name, DomainType)                                                                         \
  namespace witan::domains {                                                                                          \
  Result<std::unique_ptr<kernel::DomainModule>> make_##name(const json::object& policy, std::vector<std::string> c) { \
    return kernel::makeModule<DomainType>(policy, std::move(c));                                                      \
  }                                                                                                                   \
  }
