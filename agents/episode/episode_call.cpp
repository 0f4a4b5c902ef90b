// One call: judged, announced, permitted when its announcement is durable, answered.
#include <algorithm>

#include "agents/episode/episode.h"
#include "agents/episode/react.h"
#include "agents/episode/turn_check.h"
#include "agents/episode/value_check.h"
#include "base/mutant.h"
#include "base/utf8.h"

namespace witan::agents::episode {

using replication::OperationOutcome;

namespace {

inline constexpr std::string_view kAfterFailure = "after_failure";

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

// What cannot be read gives another entry, which whoever follows the transcript will notice.
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

// What a gate may say: everything else is a denial.
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
  const bool known = std::any_of(beginning_.tools.begin(), beginning_.tools.end(),
                                 [&](const ToolInfo& t) { return t.name == call.tool.name; });
  const ToolKind wanted = call.operation ? ToolKind::action : ToolKind::look;
  if (!known) {
    out.verdict = denial("unknown_tool", "the episode has no tool of this name");
    return out;
  }
  if (call.tool.kind != wanted) {
    out.verdict = denial("wrong_kind", wanted == ToolKind::look ? "it changes something, so it must be planned"
                                                                : "it changes nothing, so it is not planned");
    return out;
  }
  const std::vector<std::string> targets = targetsOf(call.tool, call.planned, call.targets);
  const auto capability = context_.admits({call.tool.name, targets, call.tool.locale});
  if (!capability.ok()) {
    out.verdict = denial("beyond_context", capability.error().message);
    return out;
  }
  if (!decision::canInvokeTool(toolOf(call.tool, call.cost), stateOf(context_.quota(), accessOf(wanted)))) {
    out.verdict = denial("budget_exhausted", "it costs more than is left");
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

// Denials by whoever: the episode, its gate, a person. What was not tried since something before it failed is none.
void Episode::Tally::count(const Call& call) {
  ++calls;
  if (!call.denial || *call.denial == kAfterFailure) return;
  ++denied;
  if (first.empty()) first = call.tool.name + ": " + *call.denial;
}

// A run that was refused all that it wanted to do, or all that it wanted to know and so did nothing, has not completed,
// whatever its agent makes of it.
Ending Episode::endingOf(const Finish& finish) const {
  using replication::WakeStatus;
  Tally acted;
  for (const Call& call : actions_) acted.count(call);
  const Tally& tally = acted.calls > 0 ? acted : seen_;
  if (beginning_.rules < 2 || tally.denied == 0) return {WakeStatus::completed, "", finish};
  const std::string what = std::string(acted.calls > 0 ? "action" : "look") + (tally.calls == 1 ? "" : "s");
  const std::string which = what + (tally.calls == 1 ? " was" : " were") + " denied (" + tally.first + ")";
  if (tally.denied < tally.calls)
    return {WakeStatus::completed, std::to_string(tally.denied) + " of " + std::to_string(tally.calls) + " " + which,
            finish};
  return {WakeStatus::failedTerminal,
          tally.calls == 1 ? "its only " + which : "all its " + std::to_string(tally.calls) + " " + which, finish};
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
  return std::any_of(actions_.begin(), actions_.end(), asked) &&
         std::all_of(actions_.begin(), actions_.end(), [&](const Call& c) { return c.answer || asked(c); });
}

Result<Episode::Call*> Episode::openCall(std::vector<Call>& calls, std::string_view span) {
  for (Call& call : calls)
    if (call.span == span) return call.answer ? nullptr : &call;
  if (ending_ || settled_.contains(span)) return static_cast<Call*>(nullptr);
  return Error{ErrorCode::notFound, "nothing was announced under the span " + shortText(span), ""};
}

Status Episode::observed(std::string_view span, Observation given) {
  WITAN_TRY(call, openCall(looks_, span));
  if (call == nullptr || ending_) return okStatus();
  if (given.ok)
    if (const Status form = checkValue(given.content, "the answer", {.bytes = kMaxObservationBytes}); !form.ok())
      given = {false, {}, "tool-error: " + form.error().message, given.tokens, given.seconds};
  json::object body{{"ok", given.ok}};
  if (given.ok)
    body["content"] = std::move(given.content);
  else
    body["error"] = shortText(given.error);
  // What it did cost beyond the estimate has been used up already.
  const Budget more{0, std::max<std::int64_t>(given.tokens - call->cost.tokens, 0),
                    std::max<std::int64_t>(given.seconds - call->cost.seconds, 0)};
  if (more.tokens > 0) body["tokens"] = given.tokens;
  if (more.seconds > 0) body["seconds"] = given.seconds;
  context_.quota().spendUpTo(more);
  settled_.insert(call->span);
  settle(*call, std::move(body));
  tellObservations();
  advance();
  return okStatus();
}

Status Episode::outcome(const OperationId& operation, OperationOutcome outcome, const json::value& result) {
  WITAN_TRY(call, openCall(actions_, operation.hex()));
  if (call == nullptr || ending_) return okStatus();
  json::value kept = result;
  if (const Status form = checkValue(result, "the result", {.bytes = kMaxObservationBytes}); !form.ok())
    kept = json::object{{"omitted", shortText(form.error().message)}};
  const bool waits = kept.is_object() && kept.get_object().contains("waiting");
  settle(*call, {{"outcome", enumName(outcome)}, {"result", std::move(kept)}});
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
    return std::any_of(theirs.begin(), theirs.end(), [&](const std::string& target) {
      return std::find(targets.begin(), targets.end(), target) != targets.end();
    });
  };
  const auto placeOf = [&](const Call& call) {
    return std::find(bound_->operations.begin(), bound_->operations.end(), *call.operation);
  };
  const auto place = placeOf(failed);
  for (Call& later : actions_)
    if (!later.answer && placeOf(later) > place && meets(later))
      deny(later, std::string(kAfterFailure), "an action on the same target failed before it");
}

bool Episode::waitsFor(const OperationId& operation) const {
  return !ending_ && std::any_of(actions_.begin(), actions_.end(),
                                 [&](const Call& call) { return call.operation == operation && call.allowed; });
}

Status Episode::answered(std::string_view span, const Hash& digest, bool approved, std::string_view by) {
  WITAN_TRY(call, openCall(actions_, span));
  if (call == nullptr || ending_ || call->allowed) return okStatus();
  if (digest != *call->digest)
    return Error{ErrorCode::conflict,
                 "the answer is about " + toHex(digest) + ", and what is asked about is " + toHex(*call->digest),
                 "what was shown must be what is approved"};
  WITAN_DO(checkText(by, "who answered", 256));
  json::object body{{"span", call->span}, {"digest", toHex(digest)}, {"approved", approved}, {"by", by}};
  GateVerdict verdict = denial("denied_by_person", "");
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
