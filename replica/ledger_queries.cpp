#include "replica/ledger_queries.h"

#include <algorithm>

#include "base/quote.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"

namespace witan::node {

namespace {

Result<agents::LedgerState> stateOn(const Replica& replica, const agents::LedgerEntity& subject) {
  const auto& [domain, entity] = subject;
  const kernel::DomainModule* module = replica.moduleOf(domain);
  if (module == nullptr) return Error{ErrorCode::notFound, "this device has no domain " + inQuotes(domain), ""};
  const auto host = replica.hosts().find(replica.partitionFor(domain, entity));
  if (host == replica.hosts().end())
    return Error{ErrorCode::notFound, "this device keeps no ledger of " + domain,
                 "let the agent work where it is kept"};
  const kernel::EntityState* state = host->second->partition().state(entity);
  if (state == nullptr) return Error{ErrorCode::notFound, "there is no " + domain + " " + inQuotes(entity), ""};
  return agents::LedgerState{module, state};
}

// None: the call is of another tool.
std::optional<agents::episode::Observation> look(const Replica& replica, const agents::ContentSeals& seals,
                                                 const agents::ToolCall& call, Now now) {
  const agents::LedgerTool* tool = domains::findLedgerTool(call.tool);
  if (tool == nullptr) return std::nullopt;
  const auto find = [&](const agents::LedgerEntity& subject) { return stateOn(replica, subject); };
  auto seen = tool->look(find, call.arguments, seals, now);
  if (seen.ok()) return agents::episode::Observation{true, *std::move(seen), "", 0, 0};
  return agents::episode::Observation{false, nullptr, seen.error().message, 0, 0};
}

std::optional<std::string> partitionOfCall(const Replica& replica, const agents::ToolCall& call) {
  const agents::LedgerTool* tool = domains::findLedgerTool(call.tool);
  const auto subject = tool != nullptr ? tool->subject(call.arguments) : std::nullopt;
  return subject ? std::optional(replica.partitionFor(subject->domain, subject->entity)) : std::nullopt;
}

}  // namespace

bool needsLedgers(const agents::Agent& agent) {
  const agents::AgentSpec& spec = agent.spec();
  return !spec.ledgers.empty() ||
         std::any_of(spec.capabilities.begin(), spec.capabilities.end(), [](const agents::Capability& capability) {
           return domains::findLedgerTool(capability.resource) != nullptr;
         });
}

void addLedgerTools(AgentSetup& setup, agents::ContentSeals seals) {
  for (const agents::LedgerTool* tool : domains::ledgerTools()) {
    agents::episode::ToolInfo info;
    info.name = tool->name();
    info.targetArgument = "role";  // an agent sees the slices of the roles that its capabilities name
    setup.options.tools.push_back(std::move(info));
    if (setup.policy) setup.policy->addLedgerTool(tool->name(), tool->operation());
  }
  setup.look = [seals = std::move(seals)](const Replica& replica, const agents::ToolCall& call, Now now) {
    return look(replica, seals, call, now);
  };
  setup.partitionOf = partitionOfCall;
}

}  // namespace witan::node
