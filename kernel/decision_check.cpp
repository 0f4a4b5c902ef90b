#include "kernel/decision_check.h"

#include <algorithm>

#include "base/json_codec.h"
#include "base/utf8.h"
#include "kernel/record/log_batch.h"

namespace witan::kernel {

namespace {

Result<json::object> parseObject(std::string_view text, std::string_view what) {
  auto parsed = parseJson(text, {.bytes = kRecordMax, .depth = 64});
  if (!parsed || !parsed->is_object()) return corrupt(concat(what, " is no JSON object"));
  return std::move(parsed->get_object());
}

Error differs(std::string_view what, std::string_view recorded, std::string_view now) {
  return corrupt(concat("replay: ", what, " is recorded as \"", clip(recorded, 200), "\" but comes out as \"",
                        clip(now, 200), "\""));
}

// What entries of its kind do not have: nobody writes there what no rule gives. Empty: nothing.
std::string_view strayPart(const EntryView& e) {
  const bool resolves = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
  const bool refuses = e.tag == Tag::rejected || e.tag == Tag::escalated;
  const bool counselors =
      !e.counselor.empty() || !e.reason.empty() || e.escalation != 0 || !e.shown.empty() || !e.signature.empty();
  if (!refuses && (!e.invariant.empty() || !e.message.empty())) return "reason for a refusal";
  if (e.tag != Tag::approved && e.tag != Tag::cCommitted && !e.writes.empty()) return "write set";
  if (e.tag != Tag::escalated && e.tag != Tag::cCommitted && !e.findings.empty()) return "detection vector";
  if (e.tag != Tag::escalated && e.tag != Tag::cCommitted && !e.decision.empty()) return "decision";
  return !resolves && counselors ? "part of a counselor" : std::string_view();
}

Result<Time> genesisTime(const json::object& genesis) {
  const json::value* at = genesis.if_contains("at");
  if (at == nullptr || !at->is_string()) return corrupt("genesis: no time");
  return parseTime(at->get_string());
}

// An entity of a rule file may have been moved on to a version between the first and the one that is here. The action
// as it was then, of those that `gives` accepts; null: none of them.
template <class Gives>
ActionPtr ofVersionBetween(const DomainModule& module, const EntryView& entry, const Gives& gives) {
  constexpr std::string_view kUpgrade = R"({"type":"UpgradeRules"})";
  if (entry.action != kUpgrade || module.ruleText().empty()) return nullptr;
  for (std::int64_t version = 2;; ++version) {
    auto action = module.parseAction(json::object{{"type", "UpgradeRules"}, {"version", version}});
    if (!action.ok()) return nullptr;
    if (gives(**action)) return *std::move(action);
  }
}

}  // namespace

std::string waitText(const Wait& wait) {
  json::object out;
  if (!wait.freezes.empty()) out["freezes"] = json::array(wait.freezes.begin(), wait.freezes.end());
  if (wait.until) out["until"] = formatTime(*wait.until);
  return out.empty() ? std::string() : canonicalJson(out);
}

Result<Wait> readWait(std::string_view text) {
  Wait wait;
  if (text.empty()) return wait;
  WITAN_TRY(parsed, parseJson(text, {.bytes = kRecordTextMax, .depth = 4}));
  if (!parsed.is_object()) return corrupt("what an escalation freezes is no JSON object");
  for (const auto& [name, value] : parsed.get_object())
    if (name == "freezes")
      WITAN_DO(readJson(value, wait.freezes, "freezes"));
    else if (name == "until")
      WITAN_DO(readJson(value, wait.until, "until"));
    else
      return corrupt("what an escalation freezes has an unknown member");
  return wait;
}

Result<EntityPtr> DecisionCheck::begin(std::string_view genesis) const {
  WITAN_TRY(beginning, parseObject(genesis, "genesis"));
  const json::value* state = beginning.if_contains("state");
  if (state == nullptr || !state->is_object()) return corrupt("genesis: no state");
  WITAN_TRY(entity, module_.readState(state->get_object()));
  WITAN_TRY(at, genesisTime(beginning));
  if (entity->shared.clock != at) return corrupt("genesis: the clock is not the time of the beginning");
  const std::vector<Verdict> verdicts = module_.walk(*entity);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed())
      return corrupt("genesis: the initial state violates " + module_.signature().invariants[i].id);
  return entity;
}

Result<ActionPtr> DecisionCheck::check(EntityState& state, const Action* pending, const RunBindings& bindings,
                                       const EntryView& entry) {
  if (const std::string_view stray = strayPart(entry); !stray.empty())
    return corrupt(concat("replay: an entry of this kind (", enumName(entry.tag), ") has no ", stray));
  const bool resolves = entry.tag == Tag::cCommitted || entry.tag == Tag::cRejected;
  if (resolves && pending != nullptr) {
    std::string text;
    module_.writeAction(text, *pending);
    if (text != entry.action) return differs("the action that was escalated", entry.action, text);
  }
  if (entry.tag == Tag::cCommitted) {
    WITAN_DO(checkCommit(state, pending, entry));
    return ActionPtr();
  }
  if (entry.tag != Tag::cRejected) return checkProposal(state, pending, bindings, entry);
  if (entry.counselor != "system" && !module_.authorised(entry.counselor))
    return corrupt("replay: \"" + std::string(entry.counselor) + "\" is no authorised counselor");
  return ActionPtr();
}

Result<ActionPtr> DecisionCheck::checkProposal(EntityState& state, const Action* pending, const RunBindings& bindings,
                                               const EntryView& entry) {
  auto value = parseJson(entry.action, {.bytes = kRecordMax, .depth = 64});
  if (!value) return corrupt("its action is no JSON");
  WITAN_TRY(action, module_.parseAction(*value));
  std::string text;
  module_.writeAction(text, *action);
  if (text != entry.action) return differs("the action's canonical form", entry.action, text);
  const Touch touched = module_.touch(state, *action, entry.time);
  if (pending != nullptr && touched.meets(module_.touch(state, *pending, entry.time)))
    return corrupt("replay: it touches what waits for a counselor");
  ActionPtr then = ofVersionBetween(module_, entry, [&](const Action& one) {
    module_.evaluateFully(*module_.clone(state), entry.role, one, entry.time, evaluation_);
    return static_cast<Tag>(evaluation_.tag) == entry.tag && evaluation_.writes == entry.writes &&
           evaluation_.message == entry.message && compareVerdicts(entry).ok() &&
           (entry.tag != Tag::escalated || compareFindings(entry).ok());
  });
  if (then != nullptr) action = std::move(then);
  if (std::string elsewhere = bindings.objection(entry.runKey, entry.planDigest); !elsewhere.empty())
    rejectForIntegrity(module_.signature().invariants.size(), std::move(elsewhere), evaluation_);
  else
    module_.evaluateFully(state, entry.role, *action, entry.time, evaluation_);
  const Tag tag = static_cast<Tag>(evaluation_.tag);
  if (tag != entry.tag)
    return differs("the outcome", enumName(entry.tag),
                   concat(enumName(tag), evaluation_.message.empty() ? "" : ": " + evaluation_.message));
  if (tag == Tag::approved) {
    if (entry.writes != evaluation_.writes) return differs("the write set", entry.writes, evaluation_.writes);
  } else {
    if (entry.invariant != module_.invariantId(evaluation_.witness))
      return differs("the witness", entry.invariant, module_.invariantId(evaluation_.witness));
    if (entry.message != evaluation_.message) return differs("the message", entry.message, evaluation_.message);
  }
  WITAN_DO(compareVerdicts(entry));
  if (tag != Tag::escalated) return ActionPtr();
  WITAN_DO(compareFindings(entry));
  WITAN_TRY(wait, readWait(entry.decision));
  if (const Wait now{touched.instances, wait.until}; entry.decision != waitText(now))
    return differs("what it freezes", entry.decision, waitText(now));
  if (wait.until && *wait.until <= entry.time) return corrupt("replay: it is over before it waits");
  return module_.parseAction(*value);
}

Status DecisionCheck::checkCommit(EntityState& state, const Action* pending, const EntryView& entry) {
  if (!module_.authorised(entry.counselor))
    return corrupt(concat("replay: \"", entry.counselor, "\" is no authorised counselor"));
  WITAN_TRY(decision, parseObject(entry.decision, "decision"));
  const json::value* base = decision.if_contains("base");
  const json::value* edit = decision.if_contains("edit");
  if (base == nullptr || !base->is_string() || edit == nullptr || !edit->is_object())
    return corrupt("decision: base or edit is missing");
  const auto word = parseEnum<CommitBase>(base->get_string());
  if (!word) return corrupt("decision: no such base");
  const auto commit = [&](EntityState& of, const Action* proposed) {
    return module_.counselorCommit(of, *word, proposed, edit->get_object(), entry.counselor, entry.time, evaluation_);
  };
  // What was put to a counselor under one version may be answered under a later one.
  const ActionPtr then = ofVersionBetween(module_, entry, [&](const Action& one) {
    return pending != nullptr && commit(*module_.clone(state), &one).ok() && evaluation_.writes == entry.writes &&
           compareVerdicts(entry).ok() && compareFindings(entry).ok();
  });
  WITAN_DO(commit(state, then == nullptr ? pending : then.get()));
  if (entry.writes != evaluation_.writes) return differs("the write set", entry.writes, evaluation_.writes);
  WITAN_DO(compareVerdicts(entry));
  return compareFindings(entry);
}

// A verdict that was left standing (F8) must be a pass now. So must those on invariants that a later version of a rule
// file has besides.
Status DecisionCheck::compareVerdicts(const EntryView& entry) const {
  const auto& now = evaluation_.verdicts;
  const std::size_t known = std::min(entry.verdicts.size(), now.size());
  const bool later = !module_.ruleText().empty() && known > 0 && entry.verdicts.size() == known &&
                     std::all_of(now.begin() + static_cast<std::ptrdiff_t>(known), now.end(),
                                 [](std::uint8_t one) { return one <= static_cast<std::uint8_t>(InvResult::pass); });
  if (entry.verdicts.size() != now.size() && !later) return corrupt("replay: the verdicts are not one per invariant");
  for (std::size_t i = 0; i < entry.verdicts.size(); ++i) {
    const bool stood = entry.verdicts[i] == 0 && now[i] == static_cast<std::uint8_t>(InvResult::pass);
    if (entry.verdicts[i] != now[i] && !stood)
      return corrupt(concat("replay: the verdict of ", module_.invariantId(static_cast<std::uint16_t>(i)),
                            " comes out differently"));
  }
  return okStatus();
}

Status DecisionCheck::compareFindings(const EntryView& entry) const {
  bool same = entry.findings.size() == evaluation_.findings.size();
  for (std::size_t i = 0; same && i < entry.findings.size(); ++i) {
    const Finding& now = evaluation_.findings[i];
    same = entry.findings[i].invariant == module_.invariantId(now.invariant) &&
           entry.findings[i].result == static_cast<std::uint16_t>(now.result) &&
           entry.findings[i].message == now.message;
  }
  return same ? okStatus() : Status(corrupt("replay: the detection vector comes out differently"));
}

Result<Replay::Instance*> Replay::instanceOf(const EntryView& entry) {
  const auto known = instances_.find(entry.entity);
  if (known != instances_.end()) {
    if (!entry.genesis.empty()) return corrupt("carries a beginning though it is not its entity's first entry");
    return &known->second;
  }
  WITAN_TRY(state, check_.begin(entry.genesis));
  Instance& instance = instances_[std::string(entry.entity)];
  instance.state = std::move(state);
  return &instance;
}

Status Replay::check(const EntryView& entry) {
  WITAN_TRY(instance, instanceOf(entry));
  WITAN_TRY(pending, check_.check(*instance->state, instance->pending.get(), bindings_, entry));
  if (pending != nullptr || entry.tag == Tag::cCommitted || entry.tag == Tag::cRejected)
    instance->pending = std::move(pending);
  bindings_.note(entry);
  return okStatus();
}

}  // namespace witan::kernel
