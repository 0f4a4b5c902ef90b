#include "node/daemon/agent_names.h"

#include <algorithm>

#include "agents/data/data_agent.h"
#include "base/quote.h"

namespace witan::node {

std::vector<std::string> unknownNames(const agents::Agent& agent, std::span<const kernel::DomainModule* const> domains,
                                      std::span<const std::string> coming) {
  std::vector<std::string> words;
  const auto look = [&](const std::string& domain, const std::string& name, const char* what, auto&& members) {
    if (std::ranges::find(coming, domain) != coming.end()) return;
    const auto found =
        std::ranges::find_if(domains, [&](const auto* module) { return module->signature().domain == domain; });
    if (found == domains.end())
      words.push_back(concat("there is no domain ", inQuotes(domain)));
    else if (!name.empty() && !std::ranges::any_of(members((*found)->signature()),
                                                   [&](const auto& member) { return member.name == name; }))
      words.push_back(concat("the domain ", domain, " has no ", what, " ", inQuotes(name)));
  };
  if (const auto* file = dynamic_cast<const agents::DataAgent*>(&agent); file != nullptr && !file->role().empty()) {
    const std::size_t dot = file->role().find('.');
    look(
        file->role().substr(0, dot), file->role().substr(dot + 1), "role",
        [](const kernel::Signature& signature) -> const auto& { return signature.roles; });
  }
  for (const agents::LedgerSpec& ledger : agent.spec().ledgers)
    look(
        ledger.domain, ledger.field, "field",
        [](const kernel::Signature& signature) -> const auto& { return signature.fields; });
  return words;
}

void warnOfUnknownNames(Log& log, const AgentFiles& files, std::span<const std::string> ids,
                        std::span<const kernel::DomainModule* const> domains) {
  const bool all = std::ranges::find(ids, "all") != ids.end();
  for (const agents::Agent* agent : files.all()) {
    const std::string& id = agent->spec().id;
    if (!all && std::ranges::find(ids, id) == ids.end()) continue;
    for (const std::string& what : unknownNames(*agent, domains))
      log.warn("agents", "it names what this node does not have", {{"agent", id}, {"why", what}});
  }
}

}  // namespace witan::node
