#include "node/daemon/role_warnings.h"

#include <algorithm>

#include "base/quote.h"
#include "domains/registry.h"
#include "node/cluster/roster.h"

namespace witan::node {

namespace {

constexpr std::string_view kCounselor = "counselor";  // brings decisions; a role of devices, and of no process

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> rolesOf(const kernel::Signature& signature) {
  std::vector<std::string> names;
  for (const kernel::RoleInfo& role : signature.roles) names.push_back(signature.domain + "." + role.name);
  names.push_back(signature.domain + "." + std::string(kCounselor));
  return names;
}

std::string warningOf(const std::string& role, const SignatureOf& signatureOf) {
  if (role == kLedgerRole || role == kAnyRole) return "";
  const kernel::Signature* signature = signatureOf(role.substr(0, role.find('.')));
  if (signature == nullptr) {
    const auto domains = domains::domainNames();
    return "the role " + inQuotes(role) + " is of no domain that this node knows: it knows " +
           joined({domains.begin(), domains.end()});
  }
  const std::vector<std::string> known = rolesOf(*signature);
  if (std::find(known.begin(), known.end(), role) != known.end()) return "";
  return "the role " + inQuotes(role) + " is none of its domain as this node knows it: there are " + joined(known);
}

}  // namespace

std::vector<std::string> roleWarnings(std::span<const std::string> roles, const SignatureOf& signatureOf) {
  std::vector<std::string> warnings;
  for (const std::string& role : roles)
    if (std::string warning = warningOf(role, signatureOf); !warning.empty()) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace witan::node
