#include "agents/episode/turn_check.h"

#include <cmath>
#include <set>
#include <string>

#include "agents/knowledge.h"
#include "base/identity.h"
#include "base/utf8.h"

namespace witan::agents::episode {

namespace {

Error tooMuch(std::string_view what, std::size_t limit, std::string_view of) {
  return invalid(concat(what, ": more than ", limit, " ", of));
}

class Walk {
 public:
  Walk(std::string_view what, const ValueLimits& limits) : what_(what), limits_(limits) {}

  Status visit(const json::value& value, std::size_t depth) {
    if (value.is_string()) return text(value.get_string());
    if (value.is_double() && !std::isfinite(value.get_double()))
      return invalid(concat(what_, ": a number that is not finite"));
    if (!value.is_array() && !value.is_object()) return okStatus();
    if (depth >= limits_.depth) return tooMuch(what_, limits_.depth, "containers inside each other");
    const std::size_t size = value.is_array() ? value.get_array().size() : value.get_object().size();
    elements_ += size;
    if (elements_ >= limits_.elements) return tooMuch(what_, limits_.elements - 1, "elements");
    if (value.is_array()) {
      for (const json::value& one : value.get_array()) WITAN_DO(visit(one, depth + 1));
      return okStatus();
    }
    for (const auto& member : value.get_object()) {
      WITAN_DO(text(member.key()));
      WITAN_DO(visit(member.value(), depth + 1));
    }
    return okStatus();
  }

 private:
  Status text(std::string_view text) {
    bytes_ += text.size();
    if (bytes_ > limits_.bytes) return tooMuch(what_, limits_.bytes, "bytes");
    return isUtf8(text) ? okStatus() : Status(invalid(concat(what_, ": text that is not UTF-8")));
  }

  const std::string_view what_;
  const ValueLimits& limits_;
  std::size_t elements_ = 0, bytes_ = 0;
};

constexpr std::size_t kMaxShortBytes = 1024;

Error tooMany(std::string_view what, std::size_t limit) { return invalid(concat("more than ", limit, " ", what)); }

Status checkThoughts(const std::vector<std::string>& thoughts) {
  if (thoughts.size() > kMaxThoughts) return tooMany("thoughts", kMaxThoughts);
  for (const std::string& thought : thoughts) WITAN_DO(checkText(thought, "thought", kMaxThoughtBytes));
  return okStatus();
}

Status checkLooks(const Looks& looks) {
  if (looks.empty()) return invalid("an empty list of looks");
  if (looks.size() > kMaxLooks) return tooMany("looks", kMaxLooks);
  for (const Look& look : looks) {
    if (!look.goal.empty()) WITAN_DO(validateId("goal of a look", look.goal));
    if (look.goal.empty() || !look.tool.empty()) WITAN_DO(validateId("tool of a look", look.tool));
    if (look.tokens < 0) return invalid("look at " + look.tool + ": a negative cost");
    WITAN_DO(checkValue(look.arguments, "arguments of " + look.tool, {.bytes = kMaxArgumentBytes}));
  }
  return okStatus();
}

Status checkAction(replication::PlanAction& action) {
  WITAN_DO(validateId("tool of an action", action.toolName));
  auto arguments = parseJson(action.arguments, {.bytes = kMaxArgumentBytes, .depth = 32});
  if (!arguments.ok()) return invalid("arguments of " + action.toolName + ": " + arguments.error().message);
  if (!arguments->is_object()) return invalid("arguments of " + action.toolName + ": not an object");
  action.arguments = canonicalJson(*arguments);
  if (action.scope.size() > kMaxActions || action.targets.size() > kMaxActions)
    return tooMany("scopes or targets of " + action.toolName, kMaxActions);
  for (const std::string& scope : action.scope) WITAN_DO(validateId("scope of " + action.toolName, scope));
  for (const std::string& target : action.targets) WITAN_DO(validateId("target of " + action.toolName, target));
  return okStatus();
}

Status checkLearned(const Turn& turn) {
  if (turn.facts.size() > kMaxLearned || turn.goals.size() > kMaxLearned)
    return tooMany("facts or goals in one turn", kMaxLearned);
  for (const Fact& fact : turn.facts) {
    WITAN_DO(checkText(fact.content, "fact", kMaxFactText));
    if (fact.confidence > decision::kFullySatisfied) return invalid("a fact's confidence is above 100");
  }
  for (const GoalStep& step : turn.goals) {
    WITAN_DO(validateId("goal", step.id));
    if (!step.type.empty()) WITAN_DO(validateId("type of goal " + step.id, step.type));
    WITAN_DO(checkText(step.description, "description of goal " + step.id, kMaxShortBytes));
    if (step.gained < 0 || step.gained > 100) return invalid("goal " + step.id + ": a gain of 0 to 100");
  }
  return okStatus();
}

Status checkFinish(const Finish& finish) {
  WITAN_DO(checkText(finish.answer, "answer", kMaxAnswerBytes));
  std::set<replication::SlotName> seen;
  std::size_t bytes = 0;
  for (const SlotWrite& write : finish.slots) {
    const auto index = static_cast<std::size_t>(write.slot);
    if (index >= replication::kSlots) return invalid("a slot that does not exist");
    if (!seen.insert(write.slot).second) return invalid("a slot that is written twice");
    const bool shared = write.slot == replication::SlotName::extension;  // with the agent's knowledge
    WITAN_DO(checkValue(write.value, toString(write.slot),
                        {.bytes = shared ? kMaxOwnExtensionBytes : replication::kMaxSlotBytes,
                         .depth = replication::kMaxSlotDepth,
                         .elements = 100'000}));
    bytes += canonicalJson(write.value).size();
  }
  if (bytes > kMaxSlotsBytes) return tooMany("bytes of slots", kMaxSlotsBytes);
  if (finish.emits.size() > kMaxEmissions) return tooMany("emissions", kMaxEmissions);
  std::size_t emitted = 0;
  for (const Emission& one : finish.emits) {
    WITAN_DO(validateId("type of an emission", one.type));
    WITAN_DO(checkValue(one.body, "emission of " + one.type, {.bytes = kMaxEmissionsBytes, .elements = 100'000}));
    emitted += canonicalJson(one.body).size();
  }
  if (emitted > kMaxEmissionsBytes) return tooMany("bytes of emissions", kMaxEmissionsBytes);
  if (finish.nextWakeAtMs.value_or(0) < 0 || finish.sleepUntilMs.value_or(0) < 0) return invalid("a time before 1970");
  return okStatus();
}

}  // namespace

Status checkValue(const json::value& value, std::string_view what, ValueLimits limits) {
  WITAN_DO(Walk(what, limits).visit(value, 0));
  if (canonicalJson(value).size() > limits.bytes) return tooMuch(what, limits.bytes, "bytes");
  return okStatus();
}

Status checkText(std::string_view text, std::string_view what, std::size_t bytes) {
  if (text.size() > bytes) return tooMuch(what, bytes, "bytes");
  if (!isUtf8(text)) return invalid(concat(what, ": text that is not UTF-8"));
  std::string written;
  appendJsonString(written, text);
  return written.size() > bytes ? Status(tooMuch(what, bytes, "bytes")) : okStatus();
}

Status checkPlan(Actions& actions) {
  if (actions.size() > kMaxActions) return tooMany("actions", kMaxActions);
  std::size_t bytes = 0;
  for (replication::PlanAction& action : actions) {
    WITAN_DO(checkAction(action));
    bytes += action.arguments.size() + action.toolName.size();
    for (const std::string& one : action.scope) bytes += one.size();
    for (const std::string& one : action.targets) bytes += one.size();
    if (bytes > kMaxPlanBytes) return tooMany("bytes of actions", kMaxPlanBytes);
  }
  return okStatus();
}

std::string shortText(std::string_view text) {
  return isUtf8(text) ? std::string(clip(text, kMaxShortBytes)) : "(text that is not UTF-8)";
}

Status checkTurn(Turn& turn) {
  WITAN_DO(checkThoughts(turn.thoughts));
  WITAN_DO(checkLearned(turn));
  WITAN_DO(checkValue(turn.sigma, "sigma", {.bytes = kMaxSigmaBytes, .elements = 100'000}));
  if (const Looks* looks = std::get_if<Looks>(&turn.output)) return checkLooks(*looks);
  if (Actions* actions = std::get_if<Actions>(&turn.output)) return checkPlan(*actions);
  return checkFinish(std::get<Finish>(turn.output));
}

}  // namespace witan::agents::episode
