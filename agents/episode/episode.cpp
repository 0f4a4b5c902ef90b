// The turns: what the agent is told and what it answers. One call is in episode_call.cpp.
#include "agents/episode/episode.h"

#include <algorithm>
#include <exception>

#include "agents/episode/react.h"
#include "agents/episode/turn_check.h"
#include "agents/episode/value_check.h"
#include "base/mutant.h"
#include "base/utf8.h"
#include "replication/plan.h"

namespace witan::agents::episode {

using replication::PlanAction;
using replication::PlanBody;
using replication::WakeStatus;

namespace {

inline constexpr std::size_t kMaxGrantBytes = 256 * 1024;

template <class T>
json::value valueOf(const T& value) {
  auto parsed = parseJson(toJson(value));
  WITAN_CHECK(parsed.ok(), "what was written can be read");
  return *std::move(parsed);
}

Status checkBeginning(const Beginning& b, const AgentSpec& spec) {
  WITAN_DO(validateId("agent", spec.id));
  WITAN_DO(validateId("device", b.device));
  WITAN_DO(validateId("thread", transcriptThread(spec.thread, b.run)));
  WITAN_DO(checkText(spec.version, "version", 256));
  WITAN_DO(checkText(spec.category, "category", 256));
  WITAN_DO(checkGrant(b.grant));
  if (b.tools.size() > kMaxTools) return invalid("more than " + std::to_string(kMaxTools) + " tools");
  for (const ToolInfo& tool : b.tools) WITAN_DO(checkTool(tool));
  if (toJson(b.grant).size() + toJson(b.tools).size() > kMaxGrantBytes)
    return invalid("capabilities and tools of more than " + std::to_string(kMaxGrantBytes) + " bytes");
  if (b.rules < 1 || b.rules > kRules)
    return invalid("rules " + std::to_string(b.rules) + " (this build knows 1 to " + std::to_string(kRules) + ")");
  if (b.seed < 0) return invalid("a seed cannot be negative");
  if (b.input.contains("seed")) return invalid("the input has a seed already");
  return checkValue(b.input, "input", {.bytes = kMaxInputBytes, .elements = 50'000});
}

json::value actionsJson(const std::vector<PlanAction>& actions) {
  json::array out;
  for (const PlanAction& action : actions) {
    auto arguments = parseJson(action.arguments);
    WITAN_CHECK(arguments.ok(), "checked with the plan");
    out.push_back(json::object{{"arguments", *std::move(arguments)},
                               {"scope", json::value_from(action.scope)},
                               {"targets", json::value_from(action.targets)},
                               {"tool", action.toolName}});
  }
  return out;
}

}  // namespace

Result<Beginning> beginningOf(const AgentSpec& spec, const ToolTable& tools, const RunKey& run, std::string device,
                              json::object input) {
  Beginning out;
  out.run = run;
  out.device = std::move(device);
  out.input = std::move(input);
  const Hash digest = sha256("v1|seed|" + run.hex());
  for (std::size_t i = 0; i < 6; ++i)
    out.seed = out.seed * 256 + digest[i];  // 48 bits: any reader of JSON has them exactly
  WITAN_TRY(grant, grantOf(spec));
  out.tools = tools.coveredBy(grant.capabilities);
  out.grant = std::move(grant);
  return out;
}

Episode::Episode(const Agent& agent, const Gate& gate, Beginning beginning)
    : agent_(&agent), gate_(&gate), beginning_(std::move(beginning)), context_(beginning_.grant) {}

Result<Episode> Episode::begin(const Agent& agent, const Gate& gate, Beginning beginning) {
  WITAN_DO(checkBeginning(beginning, agent.spec()));
  Episode episode(agent, gate, std::move(beginning));
  episode.start();
  return episode;
}

TranscriptName Episode::name() const {
  return {beginning_.run, beginning_.device, agent_->spec().id, agent_->spec().thread};
}

std::span<const Entry> Episode::takeEntries(std::uint64_t& first) {
  first = taken_;
  taken_ = entries_.size();
  return std::span(entries_).subspan(first);
}

void Episode::durable(std::uint64_t count) { durable_ = std::max(durable_, std::min<std::uint64_t>(count, taken_)); }

const PlanBody* Episode::wantsPlan() const { return phase_ == Phase::planning ? &proposal_ : nullptr; }

void Episode::append(EntryKind kind, json::object body) {
  if (kind == EntryKind::end) body["transcript"] = toHex(chain_);
  entries_.push_back(makeEntry(kind, std::move(body)));
  const std::string& content = entries_.back().content;
  bytes_ += content.size();
  chain_ = sha256(std::string(asView(chain_)) + content);
}

void Episode::start() {
  const AgentSpec& spec = agent_->spec();
  json::object body{{"agent", spec.id},
                    {"version", spec.version},
                    {"category", spec.category},
                    {"run", beginning_.run.hex()},
                    {"device", beginning_.device},
                    {"policy", epochAt(0)},
                    {"seed", beginning_.seed},
                    {"grant", valueOf(beginning_.grant)},
                    {"tools", valueOf(beginning_.tools)},
                    {"input", beginning_.input}};
  if (beginning_.rules > 1) body["rules"] = beginning_.rules;
  if (beginning_.parent) body["parent"] = beginning_.parent->hex();
  append(EntryKind::begin, std::move(body));
  // As it is recorded, so that a replay tells the agent the very same.
  json::object wake = entries_.back().body.at("input").get_object();
  wake["seed"] = beginning_.seed;
  next_ = Input{InputKind::wake, std::move(wake)};
  advance();
}

void Episode::advance() {
  while (next_ && !ending_) {
    const Input input = *std::move(next_);
    next_.reset();
    turn(input);
  }
}

void Episode::turn(const Input& input) {
  if (entries_.size() + kMaxActions * 4 > kMaxEntries || bytes_ > kMaxTranscriptBytes)
    return fail("the transcript is full");
  Turn turn;
  try {
    turn = agent_->step(sigma_, input);
  } catch (const std::exception& thrown) {
    return fail(std::string("the agent threw: ") + shortText(thrown.what()));
  } catch (...) {
    return fail("the agent threw something that is no exception");
  }
  if (const Status form = checkTurn(turn); !form.ok())
    return fail("the agent's output is malformed: " + shortText(form.error().message));
  sigma_ = std::move(turn.sigma);
  for (std::string& thought : turn.thoughts) append(EntryKind::thought, {{"text", std::move(thought)}});
  std::visit([this](auto& output) { take(std::move(output)); }, turn.output);
}

void Episode::take(Looks looks) {
  if (decision::mustRespond(stateOf(context_.quota())) || !context_.quota().spend({1, 0, 0}).ok())
    return fail("the budget is exhausted, and the agent looked again instead of answering");
  looks_.clear();
  for (Look& look : looks) {
    Call& call = looks_.emplace_back();
    call.span = "look-" + std::to_string(entries_.size());
    call.tool = toolNamed(look.tool);
    call.planned = std::move(look.arguments);
    call.cost = {0, std::max(call.tool.tokens, look.tokens), call.tool.seconds};
    announce(call, {});
  }
  tellObservations();
}

void Episode::tellObservations() {
  if (!std::all_of(looks_.begin(), looks_.end(), [](const Call& c) { return c.answer.has_value(); })) return;
  json::array content;
  for (const Call& call : looks_) {
    json::object one = *call.answer;
    one["arguments"] = call.planned;
    one["tool"] = call.tool.name;
    content.push_back(std::move(one));
  }
  next_ = Input{InputKind::observation, std::move(content)};
}

void Episode::take(Actions actions) {
  if (told_) return fail("the agent planned twice (there is one plan a run)");
  if (bound_) return carryOut();
  if (decision::mustRespond(stateOf(context_.quota())) || !context_.quota().spend({1, 0, 0}).ok())
    return fail("the budget is exhausted, and the agent planned instead of answering");
  proposal_ = {beginning_.run.value, agent_->spec().id, std::move(actions)};
  const Status fits = checkRecord(proposal_);
  if (!fits.ok()) return fail("the agent's plan is malformed: " + shortText(fits.error().message));
  phase_ = Phase::planning;
  if (mutated("effectBeforePlan")) (void)planned(proposal_);
}

void Episode::take(const Finish& finish) {
  // What the run has planned elsewhere is carried out, also if the agent sees no need for a plan here.
  if (bound_ && !told_) return carryOut();
  if (finish.failed) return end(WakeStatus::failedTerminal, shortText(finish.answer), finish);
  Ending ending = endingOf(finish);
  end(ending.status, std::move(ending.cause), finish);
}

Status Episode::planned(const PlanBody& plan) {
  if (ending_) return okStatus();
  if (plan.runKey != beginning_.run.value) return invalid("a plan of the run " + RunKey{plan.runKey}.hex());
  if (plan.agentId != agent_->spec().id) return invalid("a plan of the agent " + plan.agentId);
  Bound bound{plan, {}, {}};
  if (mutated("replanOnRetry")) {
    if (phase_ != Phase::planning) return okStatus();
    bound.body = proposal_;
  }
  WITAN_DO(checkPlan(bound.body.actions));
  WITAN_TRY(operations, replication::operationsOf(bound.body));
  bound.operations = std::move(operations);
  bound.digest = planDigest(bound.operations);
  if (bound_ && bound_->digest == bound.digest) return okStatus();
  if (told_) return Error{ErrorCode::conflict, "the agent has been told the results of another plan of this run", ""};
  bind(std::move(bound));
  advance();
  return okStatus();
}

void Episode::bind(Bound bound) {
  json::array operations;
  for (const OperationId& operation : bound.operations) operations.emplace_back(operation.hex());
  append(EntryKind::plan, {{"actions", actionsJson(bound.body.actions)},
                           {"digest", bound.digest.hex()},
                           {"operations", std::move(operations)}});
  std::vector<Call> kept;
  for (Call& call : actions_) {
    const auto& now = bound.operations;
    if (std::find(now.begin(), now.end(), *call.operation) != now.end())
      kept.push_back(std::move(call));
    else
      settled_.insert(call.span);
  }
  actions_ = std::move(kept);
  bound_ = std::move(bound);
  if (phase_ != Phase::looking) carryOut();
}

void Episode::carryOut() {
  phase_ = Phase::acting;
  for (std::size_t i = 0; i < bound_->operations.size(); ++i) {
    const OperationId& operation = bound_->operations[i];
    const PlanAction& action = bound_->body.actions[i];
    if (std::any_of(actions_.begin(), actions_.end(), [&](const Call& c) { return c.operation == operation; }))
      continue;
    Call& call = actions_.emplace_back();
    call.span = operation.hex();
    call.operation = operation;
    settled_.erase(call.span);  // a former plan had it, and this one has it again
    call.tool = toolNamed(action.toolName);
    auto arguments = parseJson(action.arguments);
    WITAN_CHECK(arguments.ok() && arguments->is_object(), "checked with the plan");
    call.planned = std::move(arguments->get_object());
    call.scope = action.scope;
    call.targets = action.targets;
    call.cost = {0, call.tool.tokens, call.tool.seconds};
    announce(call, {{"action", i}});
  }
  tellResults();
}

void Episode::tellResults() {
  if (!std::all_of(actions_.begin(), actions_.end(), [](const Call& c) { return c.answer.has_value(); })) return;
  json::array content;
  for (const OperationId& operation : bound_->operations)
    for (const Call& call : actions_)
      if (call.operation == operation) {
        json::object one = *call.answer;
        one["operation"] = operation.hex();
        one["tool"] = call.tool.name;
        if (beginning_.rules > 2) one["arguments"] = call.planned;
        content.push_back(std::move(one));
      }
  told_ = true;
  phase_ = Phase::looking;
  next_ = Input{InputKind::results, std::move(content)};
}

Status Episode::abort(std::string_view cause) {
  if (ending_) return okStatus();
  append(EntryKind::abort, {{"cause", shortText(cause)}});
  fail(shortText(cause));
  return okStatus();
}

Result<Sub> Episode::fork(std::string_view agentId, Grant wish) {
  if (ending_) return Error{ErrorCode::conflict, "the episode has ended", ""};
  WITAN_TRY(run, userRunKey(agentId, beginning_.run.hex(), std::to_string(forks_ + 1)));
  if (toJson(wish).size() > kMaxGrantBytes) return invalid("capabilities of more than 256 KiB");
  WITAN_TRY(grant, context_.fork(std::move(wish)));
  ++forks_;
  append(EntryKind::fork, {{"agent", agentId}, {"run", run.hex()}, {"grant", valueOf(grant)}});
  return Sub{run, std::move(grant)};
}

void Episode::fail(std::string cause) { end(WakeStatus::failedTerminal, std::move(cause), {}); }

void Episode::end(WakeStatus status, std::string cause, const Finish& finish) {
  json::array slots;
  for (const SlotWrite& write : finish.slots) slots.push_back(json::array{toString(write.slot), write.value});
  json::object body{{"status", enumName(status)},
                    {"cause", cause},
                    {"answer", finish.answer},
                    {"slots", std::move(slots)},
                    {"spent", valueOf(context_.quota().spent())}};
  if (finish.nextWakeAtMs) body["nextWakeAtMs"] = *finish.nextWakeAtMs;
  if (finish.sleepUntilMs) body["sleepUntilMs"] = *finish.sleepUntilMs;
  append(EntryKind::end, std::move(body));
  phase_ = Phase::ended;
  ending_ = Ending{status, std::move(cause), finish};
}

}  // namespace witan::agents::episode
