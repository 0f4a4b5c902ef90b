#include "domains/registry.h"

#include <span>

#include "base/utf8.h"
#include "kernel/ledger/ledger.h"
#include "program/line_reader.h"
#include "rules/domain/gates.h"
#include "rules/domain/rule_domain.h"
#include "rules/domain/rule_module.h"

namespace witan::domains {

#define WITAN_DOMAIN(name)                                                                                  \
  Result<std::unique_ptr<kernel::DomainModule>> make_##name(const json::object&, std::vector<std::string>); \
  const Extension* extension_##name();
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
  for (const std::string& counselor : counselors)
    if (counselor.empty() || counselor.size() > kernel::kKeyMax || !isUtf8(counselor))
      return invalid("a counselor's name must be UTF-8 of 1 to " + std::to_string(kernel::kKeyMax) + " bytes");
  if (isRuleFile(name)) {
    WITAN_TRY(text, node::readInput(std::string(name), rules::kFileMax));
    return rules::makeRuleModule(std::move(text), std::string(name), policy, std::move(counselors));
  }
#define WITAN_DOMAIN(known) \
  if (name == #known) return make_##known(policy, std::move(counselors));
#include "domains/registry.inc"
#undef WITAN_DOMAIN
  std::string names;
  for (std::string_view known : domainNames()) names += (names.empty() ? "" : ", ") + std::string(known);
  return Error{ErrorCode::notFound, "no domain \"" + std::string(clip(name)) + "\"", "known domains: " + names};
}

Result<std::unique_ptr<kernel::DomainModule>> domainOf(const kernel::LedgerFormat& format) {
  if (format.rules.empty()) return makeDomain(format.domain, format.policy, format.counselors);
  return rules::makeRuleModule(format.rules, concat("the rules of domain ", format.domain), format.policy,
                               format.counselors);
}

bool isRuleFile(std::string_view name) { return name.ends_with(".toml"); }

std::vector<std::pair<std::string_view, const Extension*>> extensions() {
  std::vector<std::pair<std::string_view, const Extension*>> all{
#define WITAN_DOMAIN(name) {#name, extension_##name()},
#include "domains/registry.inc"
#undef WITAN_DOMAIN
  };
  std::erase_if(all, [](const auto& one) { return one.second == nullptr; });
  return all;
}

// The scenarios that the domains ship, as tests and `witan domain test` run them. Every expectation in them was derived
// from the domain's rules, not from what the program answered.

namespace {

struct Shipped {
  std::string_view domain, lines;
};

constexpr Shipped kShipped[] = {
#include "domains/scenarios.inc"
};

constexpr Shipped kGates[] = {
#include "domains/gates.inc"
};

std::string_view textFor(std::string_view domain, std::span<const Shipped> shipped) {
  for (const Shipped& one : shipped)
    if (one.domain == domain) return one.lines;
  return {};
}

}  // namespace

std::string_view scenariosOf(std::string_view domain) { return textFor(domain, kShipped); }

Result<std::unique_ptr<const rules::Gates>> gatesOf(const kernel::DomainModule& module) {
  const kernel::Signature& signature = module.signature();
  WITAN_TRY(own, rules::Gates::read(module.ruleText(), "the rules of domain " + signature.domain, signature,
                                    module.policyJson()));
  if (!own->all().empty()) return std::move(own);
  return rules::Gates::read(textFor(signature.domain, kGates), "the gates of domain " + signature.domain, signature,
                            module.policyJson());
}

}  // namespace witan::domains
