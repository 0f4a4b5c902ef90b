// The domains of this node and what each declares.
#include "base/bytes.h"
#include "kernel/domain_description.h"
#include "node/api/control_routes.h"
#include "node/api/messages/domains.h"

namespace witan::node::api {

namespace {

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
  return {typedRoute({.method = "GET",
                      .path = "/v1/domains",
                      .operationId = "listDomains",
                      .tag = "domains",
                      .role = ControlRole::observer,
                      .summary = "Domains of this node",
                      .response = R"({"domains":[{"name":"budget","title":"Budget toy: two agents, one cap",
                          "roles":["A","B"],"digest":"9f86d081884c7d65"}]})"},
                     domains),
          typedRoute({.method = "GET",
                      .path = "/v1/domains/{domain}",
                      .operationId = "describeDomain",
                      .tag = "domains",
                      .role = ControlRole::observer,
                      .summary = "Roles, processes with their arguments, fields, invariants and policy of a domain",
                      .errors = {404},
                      .request = R"({"domain":"budget"})",
                      .response = R"({"name":"budget","title":"Budget toy: two agents, one cap",
                          "fields":[{"name":"spentA","type":"integer","lifecycle":false}],
                          "roles":[{"name":"A","footprint":["spentA"],"writes":["spentA"]}],
                          "processes":[{"name":"SpendA","role":"A","arguments":[{"name":"n","type":"integer",
                          "required":true}],"reads":["spentA"],"writes":["spentA"],"schema":{"type":"object","properties":
                          {"n":{"type":"integer"},"type":{"const":"SpendA"}},"required":["type","n"],
                          "additionalProperties":false}}],
                          "invariants":[{"id":"BUDGET_CAP","onFailure":"reject","rule":"spentA + spentB never exceed the cap",
                          "footprint":["spentA","spentB"],"incremental":false,"class":"crossCutting","localTo":[]}],
                          "counselors":[],"policy":{"cap":100000},"digest":"9f86d081884c7d65"})"},
                     domain)};
}

}  // namespace witan::node::api
