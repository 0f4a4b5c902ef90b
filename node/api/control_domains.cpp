// The domains of this node and what each declares.
#include "base/bytes.h"
#include "kernel/domain_description.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(DomainSummary, (std::string, name, "Name of the domain"), (std::string, title, "Title of the domain"),
             (std::vector<std::string>, roles, "Roles that propose"),
             (std::string, digest, "Digest of the declaration and the policy"))

WITAN_STRUCT(Domains, (std::vector<DomainSummary>, domains, "Domains of this node"))

WITAN_STRUCT(DomainRequest, (std::string, domain, "Name of the domain", 1))

Result<Domains> domains(const ApiContext& context, const Nothing&) {
  Domains answer;
  for (const kernel::DomainModule* module : context.daemon.replica().domains()) {
    const kernel::Signature& s = module->signature();
    DomainSummary summary{s.domain, s.title, {}, toHex(module->digest())};
    for (const kernel::RoleInfo& role : s.roles) summary.roles.push_back(role.name);
    answer.domains.push_back(std::move(summary));
  }
  return answer;
}

Result<kernel::DomainDescription> domain(const ApiContext& context, const DomainRequest& request) {
  WITAN_TRY(module, moduleNamed(context.daemon, request.domain));
  return kernel::describeDomain(*module);
}

}  // namespace

std::vector<ControlRoute> domainRoutes() {
  using enum ControlRole;
  return {get("/v1/domains", "listDomains", "domains", observer, "Domains of this node", domains),
          route({"GET",
                 "/v1/domains/{domain}",
                 "describeDomain",
                 "domains",
                 observer,
                 "Roles, processes with their arguments, fields, invariants and policy of a domain",
                 {404}},
                domain)};
}

}  // namespace witan::node::api
