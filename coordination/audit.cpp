#include "coordination/audit.h"

#include <algorithm>

namespace witan::kernel::joint {

namespace {

constexpr std::uint64_t kLivelockEpochs = 3;

bool executed(const LoggedAction& action) { return action.outcome == "EXECUTED"; }

bool isOutcome(const std::string& word) {
  return word == "EXECUTED" || word == "JOINT_ADMISSIBILITY_FAILURE" || word == "ACTION_FAULT";
}

}  // namespace

// What the auditors of one epoch look at.
struct Auditor::Case {
  const LoggedEpoch& epoch;
  std::vector<Judged> judged;  // as epoch.actions
  std::set<std::string> staying;

  // All that an answer may depend on but time: the request, its rivals, and who is there (exits are for ever, so their
  // number says who).
  std::pair<std::string, std::string> circumstances(const LoggedAction& action, const Judged& judged_) const {
    return {action.request, concat(staying.size(), " ", judged_.rivals)};
  }

  // Calls visit(action, what should have come of it) for each action.
  template <class Visit>
  void forEach(Visit visit) const {
    for (std::size_t i = 0; i < epoch.actions.size(); ++i) visit(epoch.actions[i], judged[i]);
  }
};

Auditor::Auditor(const json::value& authorities, const json::value& initialState) {
  auto read = readLoggedAuthorities(authorities);
  auto world = readWorld(initialState);
  if (!read.ok() || !world.ok()) {
    report(kIncomplete, (read.ok() ? world.error() : read.error()).message);
    return;
  }
  judge_.emplace(*std::move(read));
  world_ = *std::move(world);
  worldText_ = canonicalJson(initialState);
}

void Auditor::report(const char* kernelClass, std::string detail) {
  findings_.push_back({kernelClass, epochs_, std::move(detail)});
}

std::optional<std::string> Auditor::kernelClass() const {
  if (findings_.empty()) return std::nullopt;
  const std::uint64_t first = findings_.front().epoch;
  for (const Finding& finding : findings_)
    if (finding.epoch == first && finding.kernelClass.starts_with("IX2_FAIL")) return finding.kernelClass;
  return findings_.front().kernelClass;
}

void Auditor::epoch(const json::value& value) {
  if (!judge_) return;
  const auto read = readLoggedEpoch(value);
  if (!read.ok()) {
    report(kIncomplete, read.error().message);
    judge_.reset();  // without this epoch the later ones mean nothing
    return;
  }
  if (epochs_ == 0)
    for (const auto& [agent, observation] : read->observations) agents_.insert(agent);
  if (epochs_ == 0) active_ = agents_;
  Case c{*read, judge_->judge(*read, world_), active_};
  for (const std::string& agent : read->exits) c.staying.erase(agent);
  auditArbitration(c);
  auditPriority(c);
  auditTheft(c);
  auditUnauthorized(c);
  auditTemporal(c);
  auditProbing(c);
  auditRetry(c);
  auditInstruments(c);
  auditAttendance(c);
  remember(c);
  ++epochs_;
}

// What the next epoch is held against.
void Auditor::remember(const Case& c) {
  for (std::size_t i = 0; i < c.epoch.actions.size(); ++i) {
    const LoggedAction& action = c.epoch.actions[i];
    memories_[action.agent] = {canonicalJson(json::value(action.outcome)), canonicalJson(json::value(action.id)),
                               action.scopeText};
    if (action.outcome != "EXECUTED") refused_.insert(c.circumstances(action, c.judged[i]));
  }
  for (const std::string& agent : c.epoch.idle) memories_[agent] = {"\"NO_ACTION\"", "null", "null"};
  active_ = c.staying;
  world_ = c.epoch.after;
  worldText_ = c.epoch.afterText;
  messages_ = c.epoch.messages;
}

void Auditor::end(const json::value& terminal, const json::value& finalState) {
  if (!judge_) return;
  if (epochs_ > 0) --epochs_;  // said of the last epoch
  if (canonicalJson(finalState) != worldText_) report(kIncomplete, "final_state is not the state after the last epoch");
  const std::string said = canonicalJson(terminal);
  if (said == terminal_) return;
  const bool unseen = terminal_ == "\"STATE_LIVELOCK\"";
  report(unseen ? kInfiniteRetry : kIncomplete, "the epochs show " + terminal_ + ", the log says " + said);
}

// ---- the auditors, one for each class of failure ----

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
    const std::string due = concat("{\"epoch\":", epochs_, ",\"messages\":", messages_,
                                   ",\"own_last_action_id\":", own.action, ",\"own_last_declared_scope\":", own.scope,
                                   ",\"own_last_outcome\":", own.outcome, ",\"world_state\":", worldText_, "}");
    if (observation != due) report(kConstraintProbing, agent + " observed something else than it should");
  }
  c.forEach([&](const LoggedAction& action, const Judged& judged) {
    const bool tells =
        !isOutcome(action.outcome) || (action.outcome == "ACTION_FAULT" && !judged.lawful() &&
                                       std::string_view(judged.outcome()) == "JOINT_ADMISSIBILITY_FAILURE");
    if (tells) report(kConstraintProbing, action.id + " was answered " + action.outcome + ", which tells more than no");
  });
  if (!std::ranges::is_sorted(c.epoch.senders))
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
  const std::string place = concat(":", epochs_, ":");
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
