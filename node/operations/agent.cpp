#include "node/operations/agent.h"

#include <algorithm>

#include "agents/knowledge.h"
#include "agents/wake/host_choice.h"
#include "base/quote.h"
#include "domains/agents.h"
#include "replication/records/agent_state.h"
#include "replication/records/agent_state_json.h"
#include "replication/records/message_graph.h"

namespace witan::node::operations {

using namespace replication;

namespace {

// What a device holds of an agent, and its view with the messages that arrived.
struct AgentRecord {
  std::vector<Version> antichain;  // by dot
  AgentView view;
  std::size_t messages = 0, missingParents = 0;
};

// The versions of a kind that can be read and concern the agent.
template <class Item, class Read>
Result<std::vector<Item>> itemsOf(Space& space, Kind kind, const std::string& agent, Read read) {
  std::vector<Item> items;
  for (const std::string& key : space.keys(kind)) {
    WITAN_TRY(versions, space.versions(kind, key));
    for (const Version& version : versions) {
      if (version.tombstone) continue;
      auto item = read(version);
      if (item.ok() && item->body.agentId == agent) items.push_back(*std::move(item));
    }
  }
  return items;
}

// Errors: notFound; a state that this build does not read. O(messages of the scope).
Result<AgentRecord> readAgent(OperationContext& context, const Omittable<std::string>& scope, const std::string& id) {
  WITAN_DO(validateId("agent", id));
  AgentRecord record;
  Space* space = context.space(DatabaseName::agents, scope);
  if (space != nullptr) {
    WITAN_TRY(held, space->versions(Kind::agentState, id));
    std::erase_if(held, [](const Version& version) { return version.tombstone; });
    record.antichain = std::move(held);
  }
  if (record.antichain.empty())
    return notFound("no agent " + inQuotes(id) + " in scope " + scope.value_or(kDefaultScope), "see: witan agent list");
  WITAN_TRY(messages, itemsOf<Message>(*space, Kind::message, id, messageOf));
  WITAN_TRY(links, itemsOf<Link>(*space, Kind::link, id, linkOf));
  const MessageGraph graph = messageGraphOf(std::move(messages), std::move(links));
  record.messages = graph.size();
  record.missingParents = graph.missingParents().size();
  const GraphAncestry ancestry(graph);
  WITAN_TRY(view, viewOf(record.antichain, &ancestry));
  WITAN_CHECK(view.has_value(), "no tombstone is among them");
  record.view = *std::move(view);
  return record;
}

Status apply(const AgentSetRequest& request, AgentState& state, const std::string& writer) {
  if (request.lifecycle) {
    WITAN_SET(state.lifecycle, parseLifecycle(*request.lifecycle));
  }
  if (request.mode) {
    WITAN_SET(state.mode, parseAgentMode(*request.mode));
  }
  for (const auto& [name, everyMs] : request.timers.value_or(ByName<std::uint64_t>())) {
    WITAN_DO(validateId("timer", name));
    const auto every = static_cast<std::int64_t>(std::min(everyMs, kMaxStateCounter));
    if (every != 0) WITAN_DO(agents::checkTimer(every));
    TimerState& timer = state.schedule.timers[name];
    if (timer.version == 0 || timer.everyMs != everyMs)
      timer = {timer.firedThrough, everyMs, timer.version + 1, writer};
    if (state.schedule.timers.size() > kMaxTimers) return invalid(concat("more than ", kMaxTimers, " timers"));
  }
  for (const auto& [name, value] : request.slots.value_or(json::object())) {
    WITAN_TRY(slot, slotNamed(name));
    WITAN_TRY(text, slotValue(slot, canonicalJson(value)));
    if (slot == SlotName::extension) WITAN_SET(text, agents::slotWithOwn(state.slot(slot).value, value));
    state.slot(slot) = {std::move(text), state.slot(slot).version + 1, writer};
  }
  if (request.sleepUntil) state.schedule.sleepUntil = *request.sleepUntil;
  if (request.nextWakeAt) state.schedule.nextWakeAt = *request.nextWakeAt;
  if (request.consecutiveFailureCount) state.consecutiveFailureCount = *request.consecutiveFailureCount;
  return okStatus();
}

Result<AgentWritten> commit(OperationContext& context, const Omittable<std::string>& scope, const std::string& id,
                            const AgentState& state) {
  const Write write{Kind::agentState, id, encodeAgentState(state, context.replica.writer()), false};
  WITAN_TRY(dot, context.replica.commit(DatabaseName::agents, scope.value_or(kDefaultScope), {&write, 1}));
  return AgentWritten{id, VersionDot(dot)};
}

// Of an agent without a state: whether it is built in, or a device hosts it.
Result<bool> isKnown(OperationContext& context, const Omittable<std::string>& scope, const std::string& id) {
  if (domains::findAgent(id) != nullptr) return true;
  Space* space = context.space(DatabaseName::agents, scope);
  if (space == nullptr) return false;
  WITAN_TRY(members, context.replica.membership());
  std::vector<std::string> devices = members.presentDevices();
  devices.push_back(context.replica.device());
  return !agents::hostsAmong(*space, id, devices).empty();
}

Status checkChanges(const std::string& id, const AgentState& state) {
  if (state.lifecycle != Lifecycle::destroyed) return okStatus();
  return conflict("agent " + id + " is destroyed and does not change any more");
}

}  // namespace

Result<SlotName> slotNamed(std::string_view name) {
  for (std::size_t i = 0; i < kSlots; ++i)
    if (name == toString(static_cast<SlotName>(i))) return static_cast<SlotName>(i);
  return invalid(inQuotes(name) + " is no slot",
                 "give one of primaryGoal, activeTaskId, openLoopIds, preferenceByKey, extension");
}

Result<std::string> slotValue(SlotName name, std::string_view text) {
  auto parsed = parseJson(text, {.bytes = kMaxSlotBytes, .depth = kMaxSlotDepth});
  if (!parsed.ok()) return invalid(concat(toString(name), " (", parsed.error().message, ")"));
  return canonicalJson(*parsed);
}

AgentShown agentPicture(const std::string& id, const std::vector<Version>& antichain, const AgentView& view) {
  AgentShown shown;
  for (const Version& version : antichain) shown.antichain.emplace_back(version.dot);
  shown.view = viewRow(id, view);
  return shown;
}

Result<Agents> listAgents(OperationContext& context, const ScopeRequest& request) {
  Agents list;
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return list;
  for (const std::string& id : space->keys(Kind::agentState)) {
    WITAN_TRY(versions, space->versions(Kind::agentState, id));
    WITAN_TRY(view, viewOf(versions, nullptr));
    if (!view) continue;
    WITAN_TRY(goal, parseJson(view->state.slot(SlotName::primaryGoal).value, kOwnJson));
    list.agents.push_back({id, toString(view->state.lifecycle), std::move(goal), versions.size()});
  }
  return list;
}

Result<AgentShown> showAgent(OperationContext& context, const AgentShowRequest& request) {
  WITAN_TRY(agent, readAgent(context, request.scope, request.id));
  AgentShown shown = agentPicture(request.id, agent.antichain, agent.view);
  shown.messages = agent.messages;
  shown.missingParents = agent.missingParents;
  if (!request.history.value_or(false)) return shown;
  shown.snapshots = std::vector<AgentSnapshotRow>();
  for (const Version& version : agent.antichain) {
    WITAN_TRY(snapshot, toSnapshot(request.id, version));
    shown.snapshots->push_back(snapshotRow(snapshot));
  }
  return shown;
}

Result<AgentWritten> createAgent(OperationContext& context, const AgentSetRequest& request) {
  if (readAgent(context, request.scope, request.id).ok())
    return conflict("agent " + request.id + " exists", "change it with: witan agent set " + request.id);
  AgentState state;
  WITAN_DO(apply(request, state, context.replica.writer()));
  return commit(context, request.scope, request.id, state);
}

Result<AgentWritten> setAgent(OperationContext& context, const AgentSetRequest& request) {
  WITAN_TRY(agent, readAgent(context, request.scope, request.id));
  AgentState state = agent.view.state;
  WITAN_DO(checkChanges(request.id, state));
  WITAN_DO(apply(request, state, context.replica.writer()));
  if (state == agent.view.state && agent.antichain.size() == 1)
    return invalid("nothing to set (every value is as it was)", "see: witan agent set --help");
  return commit(context, request.scope, request.id, state);
}

Result<AgentWritten> setAgentLifecycle(OperationContext& context, const AgentLifecycleRequest& request) {
  WITAN_TRY(lifecycle, parseLifecycle(request.lifecycle));
  AgentState state;
  if (auto there = readAgent(context, request.scope, request.id); there.ok()) {
    state = there->view.state;
  } else {
    if (there.error().code != ErrorCode::notFound) return there.error();
    WITAN_TRY(known, isKnown(context, request.scope, request.id));
    if (!known)
      return notFound(
          concat("there is no agent ", inQuotes(request.id), ": no device hosts it, and it has no state in scope ",
                 request.scope.value_or(kDefaultScope)),
          "see: witan agent list");
  }
  WITAN_DO(checkChanges(request.id, state));
  if (lifecycle == Lifecycle::active) state.schedule.sleepUntil = 0;
  state.lifecycle = lifecycle;
  return commit(context, request.scope, request.id, state);
}

}  // namespace witan::node::operations
