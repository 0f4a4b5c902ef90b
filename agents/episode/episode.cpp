#include "agents/episode/episode.h"

#include <algorithm>
#include <exception>

#include "agents/decision/decisions.h"
#include "agents/entry_agent.h"
#include "agents/episode/sparing.h"
#include "agents/episode/turn_check.h"
#include "agents/json_members.h"
#include "base/mutant.h"
#include "base/utf8.h"
#include "replication/records/record_views.h"

namespace witan::agents::episode {

using replication::OperationOutcome;
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
  if (b.tools.size() > kMaxTools) return invalid(concat("more than ", kMaxTools, " tools"));
  for (const ToolInfo& tool : b.tools) WITAN_DO(checkTool(tool));
  if (toJson(b.grant).size() + toJson(b.tools).size() > kMaxGrantBytes)
    return invalid(concat("capabilities and tools of more than ", kMaxGrantBytes, " bytes"));
  if (b.rules < 1 || b.rules > kRules)
    return invalid(concat("rules ", b.rules, " (this build knows 1 to ", kRules, ")"));
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

// --- The verified decision logic (agents/decision/, seed 002) as an episode uses it.
//
// One turn in which the agent calls tools is one step of ReAct, whatever it calls; a final answer costs none. Two
// things differ from the seed's react-step. The agent is told of a refused call; it does not end the run. When the
// agent must respond (budget spent, possibly to exactly zero: docs/FINDINGS.md, F10), it is called once more, for its
// answer.

decision::Natural natural(std::int64_t value) {
  return decision::Natural(static_cast<std::uint64_t>(value < 0 ? 0 : value));
}

// The agent's state as the logic sees it, with what the capability that covers the call gives.
decision::State stateOf(const Quota& quota, decision::State state = {}) {
  state.stepCounter = natural(quota.spent().steps);
  state.maxSteps = natural(quota.limit().steps);
  state.tokenBudget = natural(quota.remaining().tokens);
  state.timeBudget = natural(quota.remaining().seconds);
  return state;
}

// --- verdicts

GateVerdict denial(std::string token, std::string_view why) {
  return {GateKind::deny, std::move(token), shortText(why), std::nullopt, std::nullopt};
}

json::object verdictJson(const GateVerdict& verdict, bool byGate) {
  json::object out{{"by", byGate ? "gate" : "episode"}, {"kind", enumName(verdict.kind)}};
  if (verdict.kind == GateKind::deny) out["token"] = verdict.token;
  if (!verdict.why.empty()) out["why"] = verdict.why;
  if (verdict.arguments) out["arguments"] = *verdict.arguments;
  if (verdict.digest) out["digest"] = toHex(*verdict.digest);
  return out;
}

std::string_view textAt(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found != nullptr && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

// An unreadable verdict gives another entry, so that a replay notices it.
GateVerdict verdictFrom(const json::object& body) {
  GateVerdict out = denial("unreadable", "");
  const json::value* found = body.if_contains("verdict");
  if (found == nullptr || !found->is_object()) return out;
  const json::object& verdict = found->get_object();
  const auto kind = parseEnum<GateKind>(textAt(verdict, "kind"));
  if (!kind) return out;
  out.kind = *kind;
  out.token = textAt(verdict, "token");
  out.why = textAt(verdict, "why");
  if (const json::value* arguments = verdict.if_contains("arguments"); arguments != nullptr && arguments->is_object())
    out.arguments = arguments->get_object();
  if (auto digest = hashFromHex(textAt(verdict, "digest")); digest.ok()) out.digest = *digest;
  return out;
}

// Turns every verdict that a gate may not give into a denial.
GateVerdict sound(GateVerdict verdict) {
  verdict.why = shortText(verdict.why);
  if (verdict.kind == GateKind::deny) return denial(shortText(verdict.token), verdict.why);
  verdict.token.clear();
  if (verdict.kind == GateKind::redact && !verdict.arguments) return denial("not_judged", "redacted to nothing");
  if (verdict.kind == GateKind::requireHuman && !verdict.digest) return denial("not_judged", "nothing to be approved");
  if (verdict.kind == GateKind::allow) verdict.arguments.reset();
  if (verdict.kind != GateKind::requireHuman) verdict.digest.reset();
  if (verdict.arguments)
    if (const Status form = checkValue(*verdict.arguments, "arguments", {.bytes = kMaxArgumentBytes}); !form.ok())
      return denial("not_judged", form.error().message);
  return verdict;
}

}  // namespace

Result<Beginning> beginningOf(const AgentSpec& spec, const ToolTable& tools, const RunKey& run, std::string device,
                              json::object input) {
  Beginning out{.run = run, .device = std::move(device), .input = std::move(input)};
  const Hash digest = sha256("v1|seed|" + run.hex());
  for (std::size_t i = 0; i < 6; ++i)
    out.seed = out.seed * 256 + digest[i];  // 48 bits: any reader of JSON has them exactly
  WITAN_TRY(grant, grantOf(spec));
  out.tools = tools.coveredBy(grant.capabilities);
  out.grant = std::move(grant);
  return out;
}

Episode::Episode(const Agent& agent, const Gate& gate, Beginning beginning)
    : agent_(&agent),
      gate_(&gate),
      beginning_(std::move(beginning)),
      context_(beginning_.grant),
      learner_(beginning_.input) {}

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
  chain_ = sha256(concat(asView(chain_), content));
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
  if (beginning_.rules >= 8) wake["rules"] = beginning_.rules;
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

// A conflict of which its agent knows nothing.
bool Episode::keepsShown() const {
  return !agent_->spec().settles && stringOf(beginning_.input, "subject") == kConflictSubject &&
         beginning_.input.contains("conflict");
}

void Episode::turn(const Input& input) {
  if (entries_.size() + kMaxActions * 4 > kMaxEntries || bytes_ > kMaxTranscriptBytes)
    return fail("the transcript is full");
  Turn turn;
  try {
    turn = keepsShown() ? keepShown(input) : agent_->step(sigma_, input);
  } catch (const std::exception& thrown) {
    return fail(concat("the agent threw: ", shortText(thrown.what())));
  } catch (...) {
    return fail("the agent threw something that is no exception");
  }
  if (const Status form = checkTurn(turn); !form.ok())
    return fail("the agent's output is malformed: " + shortText(form.error().message));
  if (!learner_.learns() && (!turn.facts.empty() || !turn.goals.empty()))
    return fail("the agent's output is malformed: it learns, and its specification does not say so");
  learner_.take(turn);
  leftOut_ = std::max(leftOut_, turn.leftOut);
  sigma_ = std::move(turn.sigma);
  for (std::string& thought : turn.thoughts) append(EntryKind::thought, {{"text", std::move(thought)}});
  std::visit([this](auto& output) { take(std::move(output)); }, turn.output);
}

void Episode::take(Looks looks) {
  decision::State state = stateOf(context_.quota());
  if (decision::mustRespond(state) || !context_.quota().spend({1, 0, 0}).ok())
    return fail("the budget is exhausted, and the agent looked again instead of answering");
  state.satisfaction = learner_.satisfaction();
  const bool met = learner_.learns() && !decision::shouldContinue(state, natural(agent_->spec().enough));
  looks_.clear();
  for (Look& look : looks) {
    Call& call = looks_.emplace_back();
    call.planned = std::move(look.arguments);
    call.estimate = look.tokens;
    call.met = met;
    if (look.tool.empty()) call.goal = look.goal;
    if (!call.goal.empty() && (lookFor(call) || call.answer)) continue;
    call.span = concat("look-", entries_.size());
    call.tool = toolNamed(look.tool.empty() ? look.goal : look.tool);
    call.cost = learner_.adapted(call.tool.name, {0, std::max(call.tool.tokens, look.tokens), call.tool.seconds});
    announce(call, {});
  }
  tellObservations();
}

// Asks the best tool for what the look is for, then the next best (seed 002, phase 4). False: there is none that was
// not tried, and the last answer stands.
bool Episode::lookFor(Call& call) {
  decision::State state = stateOf(context_.quota());
  state.fileAccess = natural(2), state.executeAllowed = true;  // each tool's own are a matter of its capability
  const auto admitted = [&](const ToolInfo& tool) {
    const std::vector<std::string> targets = targetsOf(tool, call.planned, {});
    return context_.admits({tool.name, targets, tool.locale, specOf(tool, {0, 0, 0})}).ok();
  };
  while (const auto name = learner_.choose(call.goal, beginning_.tools, call.tried, state, admitted)) {
    Call next;
    next.span = concat("look-", entries_.size());
    next.tool = toolNamed(*name);
    next.planned = call.planned;
    next.goal = call.goal, next.estimate = call.estimate, next.met = call.met, next.tried = call.tried;
    next.tried.insert(*name);
    next.cost = learner_.adapted(*name, {0, std::max(next.tool.tokens, next.estimate), next.tool.seconds});
    announce(next, {{"goal", next.goal}});
    call = std::move(next);
    if (!call.answer) return true;
    if (call.met) break;
  }
  return false;
}

void Episode::tellObservations() {
  if (!std::ranges::all_of(looks_, [](const Call& c) { return c.answer.has_value(); })) return;
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
  // A plan that was made elsewhere is carried out, also if the agent sees no need for a plan here.
  if (bound_ && !told_) return carryOut();
  for (const SlotWrite& write : finish.slots)
    if (learner_.learns() && write.slot == replication::SlotName::extension && !write.value.is_object())
      return fail("the agent's output is malformed: the extension of an agent that learns is an object");
  if (const std::string much = tooMuchToKeep(finish); !much.empty()) return fail(much);
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
  if (told_) return conflict("the agent has been told the results of another plan of this run");
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
    if (std::ranges::find(now, *call.operation) != now.end())
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
    if (std::ranges::any_of(actions_, [&](const Call& c) { return c.operation == operation; })) continue;
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
  if (!std::ranges::all_of(actions_, [](const Call& c) { return c.answer.has_value(); })) return;
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
  if (ending_) return conflict("the episode has ended");
  WITAN_TRY(run, userRunKey(agentId, beginning_.run.hex(), std::to_string(forks_ + 1)));
  if (toJson(wish).size() > kMaxGrantBytes) return invalid("capabilities of more than 256 KiB");
  WITAN_TRY(grant, context_.fork(std::move(wish)));
  ++forks_;
  append(EntryKind::fork, {{"agent", agentId}, {"run", run.hex()}, {"grant", valueOf(grant)}});
  return Sub{run, std::move(grant)};
}

// --- one call: judged, announced, permitted when its announcement is durable, answered

ToolInfo Episode::toolNamed(const std::string& name) const {
  for (const ToolInfo& tool : beginning_.tools)
    if (tool.name == name) return tool;
  ToolInfo unknown;
  unknown.name = name;
  return unknown;
}

std::string Episode::epochAt(std::uint64_t entry) const {
  if (entry < recorded_.size()) return std::string(textAt(recorded_[entry].body, "policy"));
  return shortText(gate_->epoch());
}

GateVerdict Episode::judge(const GateRequest& request, std::uint64_t entry) const {
  return sound(entry < recorded_.size() ? verdictFrom(recorded_[entry].body) : gate_->judge(request));
}

GateRequest Episode::requestOf(const Call& call) const {
  const AgentSpec& spec = agent_->spec();
  return {spec.id, spec.category, call.span, &call.tool, &call.planned, call.scope, context_.locale(), nullptr};
}

// The order: known and of the right kind, capabilities and locale (Laws 4, 5), budget (Law 3), policy.
Episode::Ruling Episode::rule(const Call& call) {
  Ruling out;
  out.policy = epochAt(entries_.size());
  if (call.met) {
    out.verdict = denial("goal_met", "the goals of the agent are met");
    return out;
  }
  const bool known = std::ranges::any_of(beginning_.tools, [&](const ToolInfo& t) { return t.name == call.tool.name; });
  const ToolKind wanted = call.operation ? ToolKind::action : ToolKind::look;
  if (!known) {
    out.verdict = call.goal.empty() ? denial("unknown_tool", "the episode has no tool of this name")
                                    : denial("no_tool_serves", "no tool that it may use now serves this goal");
    return out;
  }
  if (call.tool.kind != wanted) {
    out.verdict = denial("wrong_kind", wanted == ToolKind::look ? "it changes something, so it must be planned"
                                                                : "it changes nothing, so it is not planned");
    return out;
  }
  const std::vector<std::string> targets = targetsOf(call.tool, call.planned, call.targets);
  const decision::Tool spec = specOf(call.tool, call.cost);
  const auto capability = context_.admits({call.tool.name, targets, call.tool.locale, spec});
  if (!capability.ok()) {
    out.verdict = denial("beyond_context", capability.error().message);
    return out;
  }
  const decision::State held = permissionsOf(context_.capabilities()[*capability]);
  if (!decision::canInvokeTool(spec, stateOf(context_.quota(), held))) {
    out.verdict = denial("budget_exhausted", "it costs more than is left");
    return out;
  }
  if (!learner_.affords(call.tool, call.cost)) {
    out.verdict = denial("standing_budget", "it costs more than the agent has left for this day");
    return out;
  }
  out.capability = *capability;
  out.byGate = true;
  out.verdict = judge(requestOf(call), entries_.size());
  if (out.verdict.kind == GateKind::requireHuman && wanted == ToolKind::look)
    out.verdict = denial("needs_person", "looks do not wait for a person");
  return out;
}

void Episode::announce(Call& call, json::object body) {
  const Ruling ruling = rule(call);
  if (ruling.verdict.kind != GateKind::deny) {
    context_.use(*ruling.capability);
    const Status spent = context_.quota().spend(call.cost);
    WITAN_CHECK(spent.ok(), "it was affordable");
    learner_.charge(call.tool, 1, call.cost);
  }
  const json::object& crossing = ruling.verdict.arguments ? *ruling.verdict.arguments : call.planned;
  body["span"] = call.span;
  body["tool"] = call.tool.name;
  body["arguments"] = call.planned;
  body["tokens"] = call.cost.tokens;
  body["seconds"] = call.cost.seconds;
  body["policy"] = ruling.policy;
  body["input"] = toHex(sha256(canonicalJson(crossing)));
  body["verdict"] = verdictJson(ruling.verdict, ruling.byGate);
  if (ruling.capability) body["capability"] = context_.capabilities()[*ruling.capability].resource;
  if (!call.operation && beginning_.rules >= 8) spare(body, entries_.front().body.at("input").get_object());
  call.entry = entries_.size();
  append(call.operation ? EntryKind::intended : EntryKind::look, std::move(body));
  apply(call, ruling.verdict);
}

void Episode::apply(Call& call, const GateVerdict& verdict) {
  call.arguments = verdict.arguments ? *verdict.arguments : call.planned;
  call.digest = verdict.digest;
  call.asked = verdict.kind == GateKind::requireHuman;
  call.allowed = verdict.kind == GateKind::allow || verdict.kind == GateKind::redact;
  if (verdict.kind == GateKind::deny) deny(call, verdict.token, verdict.why);
}

void Episode::deny(Call& call, const std::string& token, const std::string& why) {
  call.denial = token;
  if (call.operation)
    settle(call,
           {{"outcome", enumName(OperationOutcome::denied)}, {"result", json::object{{"token", token}, {"why", why}}}});
  else
    settle(call, {{"ok", false}, {"error", token + (why.empty() ? "" : ": " + why)}});
}

void Episode::settle(Call& call, json::object answer) {
  json::object body = answer;
  body["span"] = call.span;
  append(call.operation ? EntryKind::outcome : EntryKind::observation, std::move(body));
  // As it is recorded, so that a replay tells the agent the very same.
  json::object recorded = entries_.back().body;
  for (const char* name : {"span", "tokens", "seconds"}) recorded.erase(name);
  call.answer = std::move(recorded);
  call.asked = call.allowed = false;
  if (!call.operation) seen_.count(call);
}

std::vector<Effect> Episode::takeEffects() {
  std::vector<Effect> out;
  if (ending_) return out;
  for (std::vector<Call>* calls : {&looks_, &actions_})
    for (Call& call : *calls) {
      if (!call.allowed || call.given) continue;
      if (call.entry >= durable_ && !mutated("effectBeforePlan")) continue;
      call.given = true;
      Effect& effect = out.emplace_back(Effect());
      effect.span_ = call.span;
      effect.run_ = beginning_.run;
      effect.agentId_ = agent_->spec().id;
      effect.tool_ = call.tool;
      effect.arguments_ = call.arguments;
      effect.operation_ = call.operation;
      effect.scope_ = call.scope;
      effect.targets_ = call.targets;
    }
  return out;
}

std::vector<Question> Episode::questions() const {
  std::vector<Question> out;
  if (ending_) return out;
  for (const Call& call : actions_)
    if (call.asked) out.push_back({call.span, *call.operation, call.tool.name, call.arguments, *call.digest});
  return out;
}

bool Episode::waitsForPeople() const {
  if (ending_ || phase_ != Phase::acting) return false;
  const auto asked = [](const Call& call) { return call.asked; };
  return std::ranges::any_of(actions_, asked) &&
         std::ranges::all_of(actions_, [&](const Call& c) { return c.answer || asked(c); });
}

Result<Episode::Call*> Episode::openCall(std::vector<Call>& calls, std::string_view span) {
  for (Call& call : calls)
    if (call.span == span) return call.answer ? nullptr : &call;
  if (ending_ || settled_.contains(span)) return static_cast<Call*>(nullptr);
  return notFound("nothing was announced under the span " + shortText(span));
}

Status Episode::observed(std::string_view span, Observation given) {
  WITAN_TRY(call, openCall(looks_, span));
  if (call == nullptr || ending_) return okStatus();
  if (given.ok)
    if (const Status form = checkValue(given.content, "the answer", {.bytes = kMaxObservationBytes}); !form.ok())
      given = {false, {}, "tool-error: " + form.error().message, given.tokens, given.seconds};
  json::object body;
  if (!judgeAnswer(*call, given.ok, given.content, body))
    given.ok = false, given.error = concat(textAt(body, "withheld"), ": ", textAt(body, "why"));
  body["ok"] = given.ok;
  if (given.ok)
    body["content"] = std::move(given.content);
  else
    body["error"] = shortText(given.error);
  // The cost beyond the estimate has been used up already.
  const Budget more{0, std::max<std::int64_t>(given.tokens - call->cost.tokens, 0),
                    std::max<std::int64_t>(given.seconds - call->cost.seconds, 0)};
  const Budget took{0, std::max<std::int64_t>(given.tokens, 0), std::max<std::int64_t>(given.seconds, 0)};
  if (more.tokens > 0 || (learner_.learns() && took.tokens > 0)) body["tokens"] = took.tokens;
  if (more.seconds > 0 || (learner_.learns() && took.seconds > 0)) body["seconds"] = took.seconds;
  if (!mutated("forgetLookCost")) context_.quota().spendUpTo(more);
  if (!mutated("forgetExcess")) learner_.charge(call->tool, 0, more);
  learner_.observe(call->goal, call->tool.name, given.ok, took);
  settled_.insert(call->span);
  settle(*call, std::move(body));
  if (!given.ok && !call->goal.empty() && lookFor(*call)) return okStatus();
  tellObservations();
  advance();
  return okStatus();
}

Status Episode::outcome(const OperationId& operation, OperationOutcome outcome, const json::value& result,
                        std::int64_t seconds) {
  WITAN_TRY(call, openCall(actions_, operation.hex()));
  if (call == nullptr || ending_) return okStatus();
  json::value kept = result;
  if (const Status form = checkValue(result, "the result", {.bytes = kMaxObservationBytes}); !form.ok())
    kept = json::object{{"omitted", shortText(form.error().message)}};
  const bool waits = kept.is_object() && kept.get_object().contains("waiting");
  json::object body;
  // It has happened; what came of it is not what the policy wants to come of it.
  if (!judgeAnswer(*call, outcome == OperationOutcome::applied, kept, body)) {
    outcome = OperationOutcome::failed;
    kept = json::object{{"applied", true}, {"error", concat(textAt(body, "withheld"), ": ", textAt(body, "why"))}};
  }
  body["outcome"] = enumName(outcome);
  body["result"] = std::move(kept);
  if (beginning_.rules >= 6 && seconds > 0) {
    body["seconds"] = seconds;
    const Budget more{0, 0, std::max<std::int64_t>(seconds - call->cost.seconds, 0)};
    context_.quota().spendUpTo(more);
    learner_.charge(call->tool, 0, more);
  }
  if (!waits) learner_.observe({}, call->tool.name, outcome == OperationOutcome::applied, {0, 0, seconds});
  settle(*call, std::move(body));
  if (outcome != OperationOutcome::applied && !waits) denyAfter(*call);
  tellResults();
  advance();
  return okStatus();
}

// Follows from the outcome, so that a replay comes to the same. Actions are carried out one after the other
// (AgentHost), so none of those after it is under way.
void Episode::denyAfter(const Call& failed) {
  const std::vector<std::string> targets = targetsOf(failed.tool, failed.planned, failed.targets);
  const auto meets = [&](const Call& later) {
    const std::vector<std::string> theirs = targetsOf(later.tool, later.planned, later.targets);
    return std::ranges::any_of(
        theirs, [&](const std::string& target) { return std::ranges::find(targets, target) != targets.end(); });
  };
  const auto placeOf = [&](const Call& call) { return std::ranges::find(bound_->operations, *call.operation); };
  const auto place = placeOf(failed);
  for (Call& later : actions_)
    if (!later.answer && placeOf(later) > place && (meets(later) || mutated("denyAllAfter")))
      deny(later, std::string(kAfterFailure), "an action on the same target failed before it");
}

bool Episode::waitsFor(const OperationId& operation) const {
  return !ending_ &&
         std::ranges::any_of(actions_, [&](const Call& call) { return call.operation == operation && call.allowed; });
}

Status Episode::answered(std::string_view span, const Hash& digest, bool approved, std::string_view by) {
  WITAN_TRY(call, openCall(actions_, span));
  if (call == nullptr || ending_ || call->allowed) return okStatus();
  if (digest != *call->digest)
    return conflict("the answer is about " + toHex(digest) + ", and what is asked about is " + toHex(*call->digest),
                    "what was shown must be what is approved");
  WITAN_DO(checkText(by, "who answered", 256));
  json::object body{{"span", call->span}, {"digest", toHex(digest)}, {"approved", approved}, {"by", by}};
  const bool expired = by == replication::kNobodyAnswered && beginning_.rules >= 4;
  GateVerdict verdict = denial(expired ? "approval_expired" : "denied_by_person", "");
  if (approved) {
    GateRequest request = requestOf(*call);
    request.approved = &digest;
    verdict = judge(request, entries_.size());
    if (verdict.kind == GateKind::requireHuman) verdict = denial("approval_is_stale", verdict.why);
  }
  body["policy"] = epochAt(entries_.size());
  body["verdict"] = verdictJson(verdict, approved);
  call->entry = entries_.size();
  append(EntryKind::answer, std::move(body));
  apply(*call, verdict);
  tellResults();
  advance();
  return okStatus();
}

}  // namespace witan::agents::episode
