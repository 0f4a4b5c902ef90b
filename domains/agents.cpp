#include "domains/agents.h"

#include <algorithm>

#include "agents/builtin/builtin.h"
#include "domains/extension.h"
#include "domains/registry.h"

namespace witan::domains {

std::span<const agents::Agent* const> builtinAgents() {
  static const auto all = [] {
    const auto generic = agents::genericAgents();
    std::vector<const agents::Agent*> list(generic.begin(), generic.end());
    for (const auto& [name, extension] : extensions())
      list.insert(list.end(), extension->agents.begin(), extension->agents.end());
    std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->spec().id < b->spec().id; });
    return list;
  }();
  return all;
}

const agents::Agent* findAgent(std::string_view id) {
  for (const agents::Agent* agent : builtinAgents())
    if (agent->spec().id == id) return agent;
  return nullptr;
}

std::span<const agents::LedgerTool* const> ledgerTools() {
  static const auto all = [] {
    std::vector<const agents::LedgerTool*> list{&agents::sliceRead()};
    for (const auto& [name, extension] : extensions())
      list.insert(list.end(), extension->tools.begin(), extension->tools.end());
    return list;
  }();
  return all;
}

const agents::LedgerTool* findLedgerTool(std::string_view name) {
  for (const agents::LedgerTool* tool : ledgerTools())
    if (tool->name() == name) return tool;
  return nullptr;
}

agents::ContentSeals contentSeals(std::shared_ptr<const agents::SealKeys> keys) {
  std::vector<std::shared_ptr<const agents::ContentSeal>> seals;
  for (const auto& [name, extension] : extensions())
    if (extension->seal != nullptr) seals.push_back(extension->seal(keys));
  return agents::ContentSeals(std::move(seals));
}

}  // namespace witan::domains
