#include "replica/ledger_looks.h"

#include <algorithm>

#include "agents/json_members.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "domains/disclosure/advice.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

namespace {

using agents::textOf;

struct Seen {
  const kernel::DomainModule* module = nullptr;
  const kernel::EntityState* state = nullptr;
};

Result<Seen> entityAt(const Replica& replica, const std::string& domain, const std::string& entity) {
  const kernel::DomainModule* module = replica.moduleOf(domain);
  if (module == nullptr) return Error{ErrorCode::notFound, "this device has no domain " + inQuotes(domain), ""};
  const auto host = replica.hosts().find(replica.partitionFor(domain, entity));
  if (host == replica.hosts().end())
    return Error{ErrorCode::notFound, "this device keeps no ledger of " + domain,
                 "let the agent work where it is kept"};
  const kernel::EntityState* state = host->second->partition().state(entity);
  if (state == nullptr) return Error{ErrorCode::notFound, "there is no " + domain + " " + inQuotes(entity), ""};
  return Seen{module, state};
}

Result<json::value> readSlice(const Replica& replica, const json::object& arguments) {
  WITAN_TRY(domain, textOf(arguments, "domain"));
  WITAN_TRY(entity, textOf(arguments, "entity"));
  WITAN_TRY(role, textOf(arguments, "role"));
  WITAN_TRY(key, textOf(arguments, "key"));
  WITAN_TRY(seen, entityAt(replica, domain, entity));
  const auto& roles = seen.module->signature().roles;
  const auto at = std::find_if(roles.begin(), roles.end(), [&](const auto& one) { return one.name == role; });
  if (at == roles.end()) return invalid("the domain " + domain + " has no role " + inQuotes(role));
  std::string text;
  seen.module->writeState(text, *seen.state, at->footprint);
  WITAN_TRY(slice, parseJson(text, {.bytes = kernel::kRecordMax, .depth = 64}));
  json::object cells;
  for (const auto& [field, column] : slice.as_object())
    if (const json::object* cell = column.if_object(); cell != nullptr && cell->contains(key))
      cells[field] = json::object{{key, cell->at(key)}};
  return json::value(std::move(cells));
}

bool flag(const json::object& arguments, std::string_view member) {
  const json::value* value = arguments.if_contains(member);
  return value != nullptr && value->is_bool() && value->get_bool();
}

Result<json::value> nextStep(const Replica& replica, const EmbargoSeal& seal, const json::object& arguments, Now now) {
  WITAN_TRY(role, textOf(arguments, "role"));
  const json::value* given = arguments.if_contains("case");
  if (given == nullptr) return invalid("it has no \"case\"");
  domains::disclosure::Case about;
  WITAN_TRY(whole, seal.opened(*given));
  WITAN_DO(readJson(whole, about, "case"));
  WITAN_TRY(seen, entityAt(replica, "disclosure", about.portfolio));
  WITAN_TRY(advice, adviseOn(*seen.module, *seen.state, role, about,
                             {flag(arguments, "due"), flag(arguments, "opened")}, now.wall));
  json::array actions;
  for (const std::string& action : advice.actions) {
    WITAN_TRY(parsed, parseJson(action));
    actions.push_back(std::move(parsed));
  }
  return json::value(json::object{{"actions", std::move(actions)}, {"due", advice.due}, {"over", advice.over}});
}

bool isLook(const agents::ToolCall& call) { return call.tool == "slice.read" || call.tool == "disclosure.next"; }

// Of a call that is well formed; what is wrong with another the look itself says.
std::optional<std::string> partitionLookedAt(const Replica& replica, const agents::ToolCall& call) {
  if (!isLook(call)) return std::nullopt;
  if (call.tool == "slice.read") {
    const auto domain = textOf(call.arguments, "domain"), entity = textOf(call.arguments, "entity");
    if (!domain.ok() || !entity.ok()) return std::nullopt;
    return replica.partitionFor(*domain, *entity);
  }
  const json::value* about = call.arguments.if_contains("case");
  if (about == nullptr || !about->is_object()) return std::nullopt;
  const auto portfolio = textOf(about->get_object(), "portfolio");
  return portfolio.ok() ? std::optional(replica.partitionFor("disclosure", *portfolio)) : std::nullopt;
}

}  // namespace

std::optional<agents::episode::Observation> lookAtLedger(const Replica& replica, const EmbargoSeal& seal,
                                                         const agents::ToolCall& call, Now now) {
  if (!isLook(call)) return std::nullopt;
  auto seen =
      call.tool == "slice.read" ? readSlice(replica, call.arguments) : nextStep(replica, seal, call.arguments, now);
  if (seen.ok()) return agents::episode::Observation{true, *std::move(seen), "", 0, 0};
  return agents::episode::Observation{false, nullptr, seen.error().message, 0, 0};
}

bool needsLedgers(const agents::Agent& agent) {
  const agents::AgentSpec& spec = agent.spec();
  return !spec.ledgers.empty() ||
         std::any_of(spec.capabilities.begin(), spec.capabilities.end(), [](const agents::Capability& capability) {
           return capability.resource == "slice.read" || capability.resource == "disclosure.next";
         });
}

void addLedgerLooks(AgentSetup& setup, EmbargoSeal seal) {
  for (const char* name : {"slice.read", "disclosure.next"}) {
    agents::episode::ToolInfo tool;
    tool.name = name;
    tool.targetArgument = "role";  // an agent sees the slices of the roles that its capabilities name
    setup.options.tools.push_back(std::move(tool));
  }
  setup.look = [seal = std::move(seal)](const Replica& replica, const agents::ToolCall& call, Now now) {
    return lookAtLedger(replica, seal, call, now);
  };
  setup.partitionOf = partitionLookedAt;
}

}  // namespace witan::node
