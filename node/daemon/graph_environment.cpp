#include "node/daemon/graph_environment.h"

#include "agents/host/builtin_tools.h"
#include "node/daemon/artefacts.h"
#include "node/daemon/daemon.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"

namespace witan::node {

std::map<std::string, graph::Artefact> artefactsOf(Daemon& daemon) {
  replication::Space* space = GraphBodies(daemon.replica().data(), "main").records();
  return space == nullptr ? std::map<std::string, graph::Artefact>()
                          : artefactsIn(*space, daemon.roster().admins().signer);
}

graph::Environment graphEnvironmentOf(Daemon& daemon) {
  graph::Environment environment;
  const bool required = daemon.config().registryRequired;
  const auto artefacts = required ? artefactsOf(daemon) : std::map<std::string, graph::Artefact>();
  for (const agents::Agent* agent : daemon.agentFiles().all()) {
    const agents::AgentSpec& spec = agent->spec();
    graph::RegisteredAgent& known = environment.agents[spec.id];
    known = {spec.version, {}, "", !required || isValidated(artefacts, spec)};
    for (const agents::Capability& one : spec.capabilities) known.tools.push_back(one.resource);
  }
  for (const kernel::DomainModule* module : daemon.replica().domains())
    for (const kernel::RoleInfo& role : module->signature().roles)
      environment.domains[module->signature().domain].roles.push_back(role.name);
  const agents::Policy* policy = daemon.policy();
  for (const agents::episode::ToolInfo& tool : agents::builtinTools()) {
    const agents::PolicyPlace place = agents::DeviceGate().placeOf(tool.name);
    environment.tools[tool.name] = {place.boundary, {}};
  }
  for (const ToolConfig& outside : daemon.tools() != nullptr ? daemon.tools()->tools() : daemon.config().tools)
    for (const agents::episode::ToolInfo& tool : toolInfos(outside))
      environment.tools[tool.name] = {tool.boundary, outside.locales};
  if (daemon.market() != nullptr) environment.tools["market.invoke"] = {"market", {}};  // of market nodes
  if (policy != nullptr)
    for (const agents::Boundary& boundary : policy->boundary) {
      for (const agents::OperationRule& rule : boundary.operation)
        environment.boundaries[boundary.name].push_back(rule.name);
      for (auto& [name, tool] : environment.tools)
        if (tool.boundary == boundary.name && tool.locales.empty()) tool.locales = boundary.locales;
    }
  GraphBodies bodies(daemon.replica().data(), "main");
  for (const auto& [id, host] : daemon.replica().hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& name : host->partition().entities())
      if (const auto version = domains::graph::deployedIn(host->partition().state(name)))
        if (const graph::Body document = bodies.find(version->digest))
          environment.graphs[name + "@" + std::to_string(version->number)] = *document;
  }
  return environment;
}

}  // namespace witan::node
