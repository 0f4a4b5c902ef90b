// The domains that this build knows. One line each in domains/registry.inc; node/ and sim/ read the same list, so a
// domain cannot exist in production without being simulated.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::kernel {
struct LedgerFormat;  // kernel/ledger/ledger.h
}

namespace witan::rules {
class Gates;  // rules/domain/gates.h
}

namespace witan::domains {

struct Extension;  // domains/extension.h

std::vector<std::string_view> domainNames();

// A name that is the path of a rule file (NAME.domain.toml, docs/RULES.md) instead of a domain of this build.
bool isRuleFile(std::string_view name);

// The domain of that name, or of that rule file, which is read. `policy`: members that replace the domain's defaults.
// `counselors`: if any, instead of the domain's own.
Result<std::unique_ptr<kernel::DomainModule>> makeDomain(std::string_view name, const json::object& policy = {},
                                                         std::vector<std::string> counselors = {});

// The domain that a ledger was written under, of its name or of the rules that it holds.
Result<std::unique_ptr<kernel::DomainModule>> domainOf(const kernel::LedgerFormat& format);

// domains/<domain>/scenarios.jsonl, compiled in; empty: there is none.
std::string_view scenariosOf(std::string_view domain);

// What must not be reached without evidence: [gates] of the module's rule file, else domains/<domain>/gates.toml,
// compiled in. Errors: as Gates::read.
Result<std::unique_ptr<const rules::Gates>> gatesOf(const kernel::DomainModule& module);

// What the domains bring beside their rules, by domain; those that bring nothing are absent.
std::vector<std::pair<std::string_view, const Extension*>> extensions();

template <class DomainType>
const Extension* extensionOf() {
  if constexpr (requires { DomainType::extension(); })
    return &DomainType::extension();
  else
    return nullptr;
}

}  // namespace witan::domains

// At the end of a domain's source file: makes DomainType known under `name` (which also stands in registry.inc).
#define WITAN_DEFINE_DOMAIN(name, DomainType)                                                                         \
  namespace witan::domains {                                                                                          \
  Result<std::unique_ptr<kernel::DomainModule>> make_##name(const json::object& policy, std::vector<std::string> c) { \
    return kernel::makeModule<DomainType>(policy, std::move(c), scenariosOf(#name));                                  \
  }                                                                                                                   \
  const Extension* extension_##name() { return extensionOf<DomainType>(); }                                           \
  }
