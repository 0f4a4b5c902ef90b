#include "replica/agent_runtime.h"

#include <algorithm>

#include "base/check.h"
#include "base/quote.h"
#include "replica/core/messages.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

using agents::ProposalCall;
using replication::DatabaseName;
using replication::OperationOutcome;

namespace {

saga::Outcome outcomeOf(const Answer& answer) {
  const kernel::Outcome outcome = answer.outcome == kernel::Outcome::duplicate ? answer.recorded : answer.outcome;
  const bool done = outcome == kernel::Outcome::approved || outcome == kernel::Outcome::initialised ||
                    outcome == kernel::Outcome::escalated;
  json::object result{{"outcome", std::string(enumName(outcome))}};
  if (answer.seq > 0) result["seq"] = answer.seq;
  if (!answer.invariant.empty()) result["invariant"] = answer.invariant;
  if (!answer.message.empty()) result["message"] = answer.message;
  return {done ? OperationOutcome::applied : OperationOutcome::failed, canonicalJson(result)};
}

}  // namespace

AgentRuntime::AgentRuntime(Replica& replica, const AgentSetup& setup)
    : replica_(replica),
      setup_(setup),
      host_(replica.data(), gateOf(setup), setup.options),
      watch_(replica, setup.agents, setup.options.wake.scope) {}

const agents::episode::Gate& AgentRuntime::gateOf(const AgentSetup& setup) const {
  if (setup.gate != nullptr) return *setup.gate;
  return setup.policy != nullptr ? static_cast<const agents::episode::Gate&>(*setup.policy) : closed_;
}

Status AgentRuntime::open(Now now) {
  if (setup_.policy != nullptr) {
    WITAN_TRY(records, replica_.data().database(DatabaseName::agents).space(setup_.options.wake.scope));
    setup_.policy->readFrom(*records);
  }
  return host_.load(setup_.agents, now);
}

std::optional<std::int64_t> AgentRuntime::nextMs(Now now) const {
  return watch_.behind() ? std::optional(now.ms) : host_.nextMs(now);
}

// Who belongs to the cluster, and who can be reached.
void AgentRuntime::lookAround(Now now) {
  const replication::Space* cluster = replica_.data().database(DatabaseName::agents).find(replication::kClusterScope);
  bool changed = false;
  if (cluster != nullptr && statementsSeen_ != cluster->changes()) {
    statementsSeen_ = cluster->changes();
    if (auto members = replica_.data().membership(); members.ok()) {
      members_.clear();
      for (const replication::ActiveMember& member : members->active) members_.push_back(member.member.device);
      changed = true;
    }
  }
  std::set<std::string> live = replica_.connectedPeers();
  if (!changed && live == live_) return;
  live_ = std::move(live);
  host_.setDevices(members_, live_, now);
}

Status AgentRuntime::round(Now now, Effects& out) {
  lookAround(now);
  WITAN_DO(watch_.look(host_, now));
  WITAN_DO(host_.work(now));
  WITAN_DO(replica_.data().database(DatabaseName::journal).flush());
  host_.journalDurable(now);
  WITAN_DO(replica_.data().database(DatabaseName::agents).flush());
  agents::HostEffects effects;
  WITAN_DO(host_.agentsDurable(now, effects));
  for (const ProposalCall& call : effects.proposals)
    if (Status made = submit(call, now); !made.ok()) host_.failed(call.operation, made.error(), now);
  for (agents::ToolCall& call : effects.calls) {
    if (mustWait(call)) {
      looks_.push_back({std::move(call), now.ms});
      continue;
    }
    auto seen = setup_.look && !call.operation ? setup_.look(replica_, call, now) : std::nullopt;
    if (seen)
      WITAN_DO(host_.observed(call.run, call.span, *std::move(seen)));
    else
      out.toolCalls.push_back(std::move(call));
  }
  for (agents::HostNotice& notice : effects.notices)
    out.notices.push_back({"agent " + notice.kind, "", std::move(notice.what)});
  return okStatus();
}

// An agent acts on what it sees, and its transcript stays: nothing that may yet come to nothing.
bool AgentRuntime::mustWait(const agents::ToolCall& call) const {
  if (!setup_.partitionOf || call.operation) return false;
  const auto partition = setup_.partitionOf(replica_, call);
  const auto host = partition ? replica_.hosts().find(*partition) : replica_.hosts().end();
  return host != replica_.hosts().end() && !host->second->showsLog();
}

Status AgentRuntime::look(Now now) {
  std::vector<Look> waiting;
  for (Look& look : looks_) {
    if (now.ms - look.sinceMs >= setup_.options.callTimeoutMs) continue;  // round() has told the run so
    if (mustWait(look.call)) {
      waiting.push_back(std::move(look));
      continue;
    }
    auto seen = setup_.look(replica_, look.call, now);
    WITAN_CHECK(seen, "it is a look at a ledger");
    WITAN_DO(host_.observed(look.call.run, look.call.span, *std::move(seen)));
  }
  looks_ = std::move(waiting);
  return okStatus();
}

Status AgentRuntime::submit(const ProposalCall& call, Now now) {
  const kernel::DomainModule* module = replica_.moduleOf(call.domain);
  if (module == nullptr)  // another build or another start of this device may have it
    return Error{ErrorCode::unavailable, "this device has no domain " + call.domain, "see: witan domain list"};
  Request request;
  if (call.begin) {
    request = initRequest(*module, call.entity, call.operation.hex(), call.body);
  } else {
    WITAN_TRY(made, proposalRequest(*module, call.entity, call.role, call.operation.hex(), call.body));
    request = std::move(made);
    request.runKey = call.run.value;
    request.planDigest = call.plan.value;
  }
  request.agent = call.agentId;
  return replica_.enqueue(std::move(request), now);
}

void AgentRuntime::frozen(const Answer& answer) {
  if (auto operation = OperationId::parse(answer.operationId); operation.ok()) host_.waits(*operation, answer.message);
}

bool AgentRuntime::take(const Answered& answered, Now now) {
  auto operation = OperationId::parse(answered.answer.operationId);
  if (!operation.ok() || host_.sagas().find(*operation) == nullptr) return false;
  if (answered.answer.kind == AnswerKind::decided)
    host_.answered(*operation, outcomeOf(answered.answer), now);
  else
    host_.failed(*operation, Error{ErrorCode::unavailable, answered.answer.message, ""}, now);
  return true;
}

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
