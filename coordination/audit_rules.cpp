// The auditors, one for each class of failure. Each looks at what the log says happened and at what should have.
#include <algorithm>

#include "coordination/audit_case.h"

namespace witan::kernel::joint {

namespace {

constexpr std::uint64_t kLivelockEpochs = 3;

bool executed(const LoggedAction& action) { return action.outcome == "EXECUTED"; }

bool isOutcome(const std::string& word) {
  return word == "EXECUTED" || word == "JOINT_ADMISSIBILITY_FAILURE" || word == "ACTION_FAULT";
}

}  // namespace

// The same request was refused in an earlier epoch, and nothing but time has passed.
bool Auditor::refusedBefore(const Case& c, const LoggedAction& action, const Judged& judged) const {
  return refused_.contains(c.circumstances(action, judged));
}

// Of actions that collide all are refused: none may win, by whatever rule.
void Auditor::auditArbitration(const Case& c) {
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    if (executed(action) && judged.ifExecuted() == Wrong::collision && !refusedBefore(c, action, judged))
      report(kImplicitArbitration, action.id + " executed although it collides with another action");
  });
}

// What nothing forbids executes: nobody waits for another's sake.
void Auditor::auditPriority(const Case& c) {
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    if (!executed(action) && judged.lawful())
      report(kImplicitPriority, action.id + " was not executed although nothing stands against it");
  });
}

// An ALLOW serves its holder alone, and who claims another's is told so.
void Auditor::auditTheft(const Case& c) {
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    if (executed(action) && judged.ifExecuted() == Wrong::theft && !refusedBefore(c, action, judged))
      report(kAuthorityTheft, action.id + " executed by an authority that its agent does not hold");
    if (!executed(action) && judged.falseClaim && action.outcome != judged.outcome())
      report(kAuthorityTheft, action.id + " claims what its agent does not hold, and that was no fault");
  });
}

// Nothing else executes, and the world changes by what executes alone.
void Auditor::auditUnauthorized(const Case& c) {
  std::map<std::string, std::set<std::string>> allowed;  // key, values that it may have now
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    if (!executed(action)) return;
    const Wrong wrong = judged.ifExecuted();
    if (!c.staying.contains(action.agent))
      report(kUnauthorizedExecution, action.id + " executed although its agent is not there");
    else if (wrong == Wrong::unauthorized && !refusedBefore(c, action, judged))
      report(kUnauthorizedExecution, action.id + " executed without authority");
    else if (wrong == Wrong::stray)
      report(kUnauthorizedExecution, action.id + " changed a key that it had not declared");
    for (const auto& [key, value] : action.delta)
      if (action.scope.contains(key) || wrong == Wrong::stray) allowed[key].insert(value);
  });
  const auto check = [&](const std::string& key, const World& before, const World& after) {
    const auto was = before.find(key), is = after.find(key);
    const std::string now = is == after.end() ? "" : is->second;
    const auto mayBe = allowed.find(key);
    const bool right = mayBe != allowed.end() ? mayBe->second.contains(now) : was != before.end() && was->second == now;
    if (!right) report(kUnauthorizedExecution, "the value of " + key + " is not what the executed actions made of it");
  };
  for (const auto& [key, value] : world_) check(key, world_, c.epoch.after);
  for (const auto& [key, value] : c.epoch.after)
    if (!world_.contains(key)) check(key, world_, c.epoch.after);
}

// Time changes no answer: what was refused is refused again while nothing but time has passed.
void Auditor::auditTemporal(const Case& c) {
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    const Wrong wrong = judged.ifExecuted();
    const bool relaxed = wrong == Wrong::collision || wrong == Wrong::theft || wrong == Wrong::unauthorized;
    if (executed(action) && relaxed && refusedBefore(c, action, judged))
      report(kTemporalAggregation, action.id + " executed although the same was refused before");
  });
}

// An agent learns its own last outcome, the world, the messages and the epoch; a refusal is one word, and says no more.
void Auditor::auditProbing(const Case& c) {
  for (const auto& [agent, observation] : c.epoch.observations) {
    const auto memory = memories_.find(agent);
    const Memory own = memory == memories_.end() ? Memory{"null", "null", "null"} : memory->second;
    const std::string due = "{\"epoch\":" + std::to_string(epochs_) + ",\"messages\":" + messages_ +
                            ",\"own_last_action_id\":" + own.action + ",\"own_last_declared_scope\":" + own.scope +
                            ",\"own_last_outcome\":" + own.outcome + ",\"world_state\":" + worldText_ + "}";
    if (observation != due) report(kConstraintProbing, agent + " observed something else than it should");
  }
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    const bool tells =
        !isOutcome(action.outcome) || (action.outcome == "ACTION_FAULT" && !judged.lawful() &&
                                       std::string_view(judged.outcome()) == "JOINT_ADMISSIBILITY_FAILURE");
    if (tells) report(kConstraintProbing, action.id + " was answered " + action.outcome + ", which tells more than no");
  });
  if (!std::is_sorted(c.epoch.senders.begin(), c.epoch.senders.end()))
    report(kConstraintProbing, "the order of messages is not that of their senders");
}

// Three epochs of collisions that change nothing end the run as a livelock. Also works out which class is due.
void Auditor::auditRetry(const Case& c) {
  if (ended_)
    report(terminal_ == "\"STATE_LIVELOCK\"" ? kInfiniteRetry : kIncomplete,
           "the run went on although it was over: " + terminal_);
  bool admissible = false, collided = false;
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    admissible = admissible || judged.admissible();
    collided = collided || (judged.admissible() && judged.collides && !executed(action));
  });
  fruitless_ = collided && c.epoch.after == world_ ? fruitless_ + 1 : 0;
  terminal_ = !c.epoch.actions.empty() && !admissible ? "\"STATE_DEADLOCK\"" : "null";
  ended_ = true;
  if (c.staying.empty())
    terminal_ = "\"COLLAPSE\"";
  else if (judge_->orphaned(agents_, c.staying))
    terminal_ = "\"ORPHANING\"";
  else if (fruitless_ >= kLivelockEpochs)
    terminal_ = "\"STATE_LIVELOCK\"";
  else
    ended_ = false;
}

// What the kernel says of its passes is what it did.
void Auditor::auditInstruments(const Case& c) {
  const auto word = [](bool pass) { return pass ? "PASS" : "FAIL"; };
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    if (action.first != word(judged.admissible()))
      report(kIncomplete, action.id + ": pass 1 is not what the authorities say");
    if (judged.admissible() ? action.second != word(!judged.collides) : action.second.has_value())
      report(kIncomplete, action.id + ": pass 2 is not what the collisions say");
    if (judged.strays && judged.admissible() && !judged.collides && action.outcome == "JOINT_ADMISSIBILITY_FAILURE")
      report(kIncomplete, action.id + ": a violated scope is a fault");
  });
}

// Who is there observes, and then leaves, acts or does nothing; nobody else does.
void Auditor::auditAttendance(const Case& c) {
  std::multiset<std::string> seen(c.epoch.exits.begin(), c.epoch.exits.end());
  seen.insert(c.epoch.idle.begin(), c.epoch.idle.end());
  const std::string place = ":" + std::to_string(epochs_) + ":";
  for (const LoggedAction& action : c.epoch.actions) {
    seen.insert(action.agent);
    if (!action.id.starts_with(action.agent + place)) report(kIncomplete, action.id + " is not the id that is due");
  }
  std::set<std::string> observers;
  for (const auto& [agent, observation] : c.epoch.observations) observers.insert(agent);
  if (observers != active_ || c.epoch.number != epochs_ ||
      !std::equal(seen.begin(), seen.end(), active_.begin(), active_.end()))
    report(kIncomplete, "not each active agent observed and then left, acted or did nothing, once");
}

}  // namespace witan::kernel::joint
