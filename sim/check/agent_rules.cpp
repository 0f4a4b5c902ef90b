#include "sim/check/agent_rules.h"

#include <algorithm>

#include <array>
#include "agents/host/denials.h"
#include "agents/wake/wake_job.h"
#include "replication/writer.h"
#include "saga/operation_marks.h"

namespace witan::sim {

using namespace replication;

namespace {

using Views = std::map<OperationId, OperationView>;

bool wasApplied(const Views& views, const OperationId& operation) {
  const auto at = views.find(operation);
  return at != views.end() && at->second.record && at->second.record->body.outcome == OperationOutcome::applied;
}

// Forgotten with its run; the tombstones wait until all devices have them.
bool isGone(const std::vector<Version>& versions) {
  return std::ranges::all_of(versions, [](const Version& one) { return one.tombstone; });
}

bool has(const std::vector<OperationId>& operations, const OperationId& operation) {
  return std::ranges::find(operations, operation) != operations.end();
}

bool isPlanned(const PlanView& plans, const OperationId& operation) {
  if (plans.winner && has(plans.winner->operations, operation)) return true;
  return std::ranges::any_of(plans.losers, [&](const Plan& plan) { return has(plan.operations, operation); });
}

// What an operation does in the end: it was applied, and undone an even number of times.
bool stands(const AgentRecords& records, OperationId operation) {
  bool standing = false;
  for (; wasApplied(records.journal, operation); operation = compensationOperationId(operation)) standing = !standing;
  return standing;
}

std::string nameOf(const OperationId& operation) { return "operation " + operation.hex().substr(0, 16); }

// Which compensation of the other it is, from 1; 0: none, or one that follows nothing.
std::size_t compensationNumber(const AgentRecords& records, const OperationId& operation, const OperationId& undone) {
  OperationId one = compensationOperationId(undone);
  for (std::size_t n = 1; n <= saga::kMaxUndoings; ++n, one = saga::nextCompensation(one)) {
    if (one == operation) return n;
    if (!records.agents.contains(one) && !records.journal.contains(one)) break;
  }
  return 0;
}

bool isShared(std::string_view id, const AgentRuleOptions& options) {
  return !options.shared.empty() && id.starts_with(options.shared);
}

// How many devices have made it: no limit for what is or was done again, whose effect several operations have.
std::size_t timesDone(const AgentRecords& records, const OperationId& operation) {
  const auto at = records.journal.find(operation);
  if (at == records.journal.end() || !at->second.record) return 0;
  const bool again = wasApplied(records.journal, compensationOperationId(compensationOperationId(operation)));
  return again || at->second.record->body.compensates ? saga::kMaxUndoings : 1 + at->second.repeats.size();
}

// Whether it touches a shared entry. What it changed stands in the journal alone; of what changed nothing, such as an
// undoing that a person gave up, what it was to undo tells.
bool touchesShared(const AgentRecords& records, const OperationId& operation, const OperationId& undone,
                   const AgentRuleOptions& options) {
  for (const OperationId& one : {operation, undone}) {
    const auto at = records.journal.find(one);
    if (at == records.journal.end() || !at->second.record || at->second.record->body.undo.empty()) continue;
    return std::ranges::any_of(at->second.record->body.undo,
                               [&](const UndoStep& step) { return isShared(step.key, options); });
  }
  return false;
}

std::string wrongKey(const AgentRecords& records, const OperationId& operation, const OperationBody& body,
                     const AgentRuleOptions& options) {
  if (!options.graph.empty() && body.agentId == options.graph) return {};
  if (body.compensates) {
    const OperationId undone{*body.compensates};
    const std::size_t number = compensationNumber(records, operation, undone);
    if (number == 0) return "undoes another under an id of its own";
    // Of a shared entry the undoing of another operation may bring it back.
    if (number > timesDone(records, undone) && number > 1 && !touchesShared(records, operation, undone, options))
      return concat("undoes for time ", number, " what was done less often");
    return records.agents.contains({*body.compensates}) || records.journal.contains({*body.compensates})
               ? std::string()
               : "undoes what nobody did";
  }
  const auto plans = records.plans.find(RunKey{body.runKey});
  if (plans == records.plans.end()) return "is of a run without a plan";
  return isPlanned(plans->second, operation) ? std::string() : "stands in no plan of its run";
}

// The same device twice among those that have a record.
std::string twiceBy(const OperationView& view) {
  std::set<std::string> devices;
  if (view.record) devices.emplace(deviceOf(view.record->dot.host));
  for (const Dot& dot : view.repeats)
    if (!devices.emplace(deviceOf(dot.host)).second) return std::string(deviceOf(dot.host));
  return {};
}

std::string checkDatabase(const AgentRecords& records, const Views& views, const char* where,
                          const AgentRuleOptions& options) {
  for (const auto& [operation, view] : views) {
    if (!view.record) return nameOf(operation) + ": its record in " + where + " cannot be read";
    if (!options.wholeDisks) continue;
    if (const std::string wrong = wrongKey(records, operation, view.record->body, options); !wrong.empty())
      return nameOf(operation) + " in " + where + " " + wrong;
    if (const std::string device = twiceBy(view); !device.empty())
      return device + " carried out " + nameOf(operation) + " twice in " + where;
  }
  return {};
}

std::string checkBothSides(const AgentRecords& records) {
  for (const auto& [operation, view] : records.journal)
    if (!records.agents.contains(operation)) return nameOf(operation) + " has its effect in the journal and no outcome";
  for (const auto& [operation, view] : records.agents)
    if (view.record->body.toolName.starts_with("journal.") && wasApplied(records.agents, operation) &&
        !records.journal.contains(operation))
      return nameOf(operation) + " has an outcome, and its effect is nowhere";
  return {};
}

// What tools outside and owners of ledgers are said to have carried out they did.
std::string checkOutside(const AgentRecords& records, const AgentRuleOptions& options) {
  for (const auto& [operation, view] : records.agents) {
    const OperationBody& body = view.record->body;
    if (body.compensates || !wasApplied(records.agents, operation)) continue;
    if (body.toolName.starts_with("sim.") && options.toolsDid && !options.toolsDid->contains(operation.hex()))
      return nameOf(operation) + " is said to have been carried out, and " + body.toolName + " has done nothing";
    if (body.toolName == "propose" && options.ledgersDid && !options.ledgersDid->contains(operation.hex()))
      return nameOf(operation) + " is said to have been carried out, and no ledger has it";
  }
  return {};
}

std::string checkCompleted(const AgentRecords& records, const AgentRuleOptions& options) {
  for (const auto& [run, cause] : records.completed) {
    const auto plans = records.plans.find(run);
    if (plans == records.plans.end() || !plans->second.winner) continue;
    for (const OperationId& operation : plans->second.winner->operations)
      if (!records.agents.contains(operation) && !options.deadLettered.contains(operation) &&
          !options.denied.contains(operation))
        return "run " + run.hex().substr(0, 16) + " is completed, and of " + nameOf(operation) +
               " of its plan nothing is known";
  }
  return {};
}

// Whether its undoing was put aside: it stays until a person says otherwise.
bool isForAPerson(const OperationId& operation, const AgentRuleOptions& options) {
  OperationId one = compensationOperationId(operation);
  for (std::size_t n = 0; n < saga::kMaxUndoings; ++n, one = saga::nextCompensation(one))
    if (options.deadLettered.contains(one)) return true;
  return false;
}

// What the surviving plan wants stands, though it may have been undone while another plan seemed to survive.
std::string checkWinners(const AgentRecords& records, const AgentRuleOptions& options) {
  for (const auto& [run, plans] : records.plans) {
    if (!plans.winner) continue;
    for (const OperationId& operation : plans.winner->operations)
      if (wasApplied(records.journal, operation) && !stands(records, operation) && !isForAPerson(operation, options))
        return concat(nameOf(operation), " is undone, and the plan of run ", run.hex().substr(0, 16),
                      " that survives wants it");
  }
  return {};
}

// What a sibling says of the operation that wrote it.
std::string checkSibling(const AgentRecords& records, const std::string& id, const JournalBody& body,
                         const AgentRuleOptions& options) {
  const OperationId operation{*body.operationId};
  if (isForAPerson(operation, options)) return {};
  const auto record = records.journal.find(operation);
  const bool isKept = body.editedAtMs >= options.keptSinceMs && body.editedAtMs <= options.keptUntilMs;
  if (record == records.journal.end() && !isKept) return {};
  if (record == records.journal.end()) return id + " was written by " + nameOf(operation) + ", which has no record";
  if (record->second.record->body.compensates) return {};  // it brought back what had been there
  const bool undone = records.journal.contains(compensationOperationId(operation));
  if (body.lamport != 1 && !undone && !isShared(id, options))
    return nameOf(operation) + " has written " + id + " more than once";
  if (!stands(records, operation)) return id + " still shows what " + nameOf(operation) + " wrote, which was undone";
  const auto plans = records.plans.find(RunKey{record->second.record->body.runKey});
  if (plans != records.plans.end() && plans->second.winner && !has(plans->second.winner->operations, operation))
    return id + " shows what " + nameOf(operation) + " wrote, and another plan of its run survives";
  return {};
}

}  // namespace

Result<AgentRecords> agentRecordsOf(LocalReplica& replica) {
  AgentRecords records;
  WITAN_TRY(agents, replica.database(DatabaseName::agents).space("main"));
  WITAN_TRY(journal, replica.database(DatabaseName::journal).space("main"));
  for (const std::string& key : agents->keys(Kind::plan)) {
    WITAN_TRY(run, RunKey::parse(key));
    WITAN_TRY(versions, agents->versions(Kind::plan, key));
    if (isGone(versions)) continue;
    records.plans.emplace(run, planViewOf(run, versions));
  }
  const std::pair<Space*, std::map<OperationId, OperationView>*> sides[] = {{journal, &records.journal},
                                                                            {agents, &records.agents}};
  for (const auto& [space, views] : sides)
    for (const std::string& key : space->keys(Kind::operation)) {
      WITAN_TRY(operation, OperationId::parse(key));
      WITAN_TRY(versions, space->versions(Kind::operation, key));
      if (isGone(versions)) continue;
      views->emplace(operation, operationViewOf(operation, versions));
    }
  for (const std::string& key : journal->keys(Kind::journal)) {
    WITAN_TRY(versions, journal->versions(Kind::journal, key));
    records.entries.emplace(key, journalViewOf(versions));
  }
  WITAN_TRY(runs, agents::knownRuns(*agents));
  for (const agents::KnownRun& run : runs)
    if (run.view.run && run.view.run->body.status == WakeStatus::completed)
      records.completed.emplace(run.key, run.view.run->body.cause);
  return records;
}

std::set<OperationId> perhapsDenied(const AgentRecords& records, std::string_view tool,
                                    const std::map<RunKey, std::int64_t>& begun, std::int64_t unconfirmedAt,
                                    const std::map<std::string, std::uint64_t>& calls) {
  std::set<OperationId> denied;
  for (const auto& [run, view] : records.plans) {
    const auto began = begun.find(run);
    if (!view.winner || (began != begun.end() && began->second > unconfirmedAt)) continue;
    for (std::size_t i = 0; i < view.winner->operations.size(); ++i) {
      const OperationId& operation = view.winner->operations[i];
      if (view.winner->body.actions[i].toolName == tool && !calls.contains(operation.hex())) denied.insert(operation);
    }
  }
  return denied;
}

std::string checkOperations(const AgentRecords& records, const AgentRuleOptions& options) {
  for (const auto& [views, where] :
       {std::pair(&records.journal, "the journal"), std::pair(&records.agents, "the agents")})
    if (std::string wrong = checkDatabase(records, *views, where, options); !wrong.empty()) return wrong;
  if (!options.wholeDisks) return {};
  if (std::string wrong = checkBothSides(records); !wrong.empty()) return wrong;
  if (std::string wrong = checkCompleted(records, options); !wrong.empty()) return wrong;
  if (std::string wrong = checkOutside(records, options); !wrong.empty()) return wrong;
  for (const auto& [id, view] : records.entries)
    for (const Sibling& sibling : view.siblings)
      if (sibling.body && sibling.body->operationId)
        if (std::string wrong = checkSibling(records, id, *sibling.body, options); !wrong.empty()) return wrong;
  return checkWinners(records, options);
}

std::string checkNames(const AgentRecords& records) {
  for (const auto& [run, view] : records.plans) {
    if (!view.winner) continue;
    std::map<ActionStableId, std::uint64_t> before;
    for (std::size_t i = 0; i < view.winner->body.actions.size(); ++i) {
      const PlanAction& one = view.winner->body.actions[i];
      auto arguments = parseJson(one.arguments, {.bytes = kMaxRecordBytes});
      if (!arguments.ok()) return "run " + run.hex() + ": " + arguments.error().message;
      const auto action = actionStableId(one.toolName, argsHash(*arguments), one.scope, one.targets);
      if (!action.ok()) return "run " + run.hex() + ": " + action.error().message;
      if (i >= view.winner->operations.size() ||
          view.winner->operations[i] != operationId(run, *action, before[*action]++))
        return concat("action ", i + 1, " of the plan of run ", run.hex().substr(0, 16), ", ", one.toolName,
                      ", goes by another name than its own");
    }
  }
  return {};
}

std::string contentOf(std::string_view type, std::string_view payload) { return concat(type, " ", payload); }

namespace {

// Whether somebody who counts wrote over `content` having seen it. Undoings do not count: they are to leave it.
class Replaced {
 public:
  Replaced(const AgentRecords& records, const std::vector<SharedWrite>& writes) : records_(records) {
    for (const SharedWrite& write : writes) byDot_.emplace(write.dot, &write);
    for (const auto& [operation, view] : records.journal) {
      if (!view.record || !view.record->body.compensates) continue;
      undoings_.insert(view.record->dot);
      undoings_.insert(view.repeats.begin(), view.repeats.end());
    }
  }
  bool operator()(const std::string& content) const {
    return std::ranges::any_of(byDot_, [&](const auto& one) {
      const SharedWrite& write = *one.second;
      if (write.content == content || undoings_.contains(write.dot)) return false;
      if (write.operation && !stands(records_, {*write.operation})) return false;
      std::set<Dot> visited;
      return saw(write, content, visited);
    });
  }

 private:
  bool saw(const SharedWrite& write, const std::string& content, std::set<Dot>& visited) const {
    return std::ranges::any_of(write.seen, [&](const Dot& dot) {
      const auto at = byDot_.find(dot);
      if (at == byDot_.end() || !visited.insert(dot).second) return false;
      return at->second->content == content || saw(*at->second, content, visited);
    });
  }

  const AgentRecords& records_;
  std::map<Dot, const SharedWrite*> byDot_;
  std::set<Dot> undoings_;
};

// An action of a plan that puts something into the journal: into which entry, and what.
struct Put {
  std::string entry, content;
};
std::optional<Put> putOf(const PlanAction& action) {
  if (action.toolName != "journal.put") return std::nullopt;
  auto arguments = parseJson(action.arguments, {.bytes = kMaxRecordBytes});
  const json::object* members = arguments.ok() ? arguments->if_object() : nullptr;
  if (members == nullptr || !members->contains("id") || !members->contains("payload")) return std::nullopt;
  return Put{std::string(members->at("id").as_string()),
             contentOf(std::string_view(members->at("type").as_string()), canonicalJson(members->at("payload")))};
}

bool says(const AgentRecords& records, const Put& put) {
  const auto entry = records.entries.find(put.entry);
  return entry != records.entries.end() && std::ranges::any_of(entry->second.siblings, [&](const Sibling& one) {
           return one.body && contentOf(one.body->type, one.body->payload) == put.content;
         });
}

// The last action of a plan on an entry is the one whose effect is to be seen.
bool isLastOn(const Plan& plan, std::size_t n, const std::string& entry) {
  for (std::size_t i = n + 1; i < plan.body.actions.size(); ++i)
    if (const auto put = putOf(plan.body.actions[i]); put && put->entry == entry) return false;
  return true;
}

std::string checkTold(const AgentRecords& records, const RunKey& run, const Plan& plan) {
  const auto completed = records.completed.find(run);
  if (completed == records.completed.end() || !completed->second.empty()) return {};
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    const std::string& tool = plan.body.actions[i].toolName;
    const bool counts = tool.starts_with("journal.") || tool.starts_with("sim.");
    // What one device put aside another one may have carried out.
    if (counts && !wasApplied(records.agents, plan.operations[i]))
      return "run " + run.hex().substr(0, 16) + " is completed without a word of failure, and " +
             nameOf(plan.operations[i]) + " of its plan, " + tool + ", was not carried out";
  }
  return {};
}

}  // namespace

std::string checkEffects(const AgentRecords& records, const SharedWrites& writes, const AgentRuleOptions& options) {
  if (!options.wholeDisks) return {};
  static const std::vector<SharedWrite> kNone;
  for (const auto& [entry, all] : writes)
    for (const SharedWrite& write : all)
      if (write.kept && !write.content.empty() && !says(records, {entry, write.content}) &&
          !Replaced(records, all)(write.content))
        return concat("what a person wrote into ", entry, " with ", write.dot.host, ":", write.dot.counter,
                      " is gone, and nobody who counts had seen it: ", write.content);
  for (const auto& [run, view] : records.plans) {
    if (!view.winner) continue;
    if (view.losers.empty())
      if (std::string wrong = checkTold(records, run, *view.winner); !wrong.empty()) return wrong;
    for (std::size_t i = 0; i < view.winner->operations.size(); ++i) {
      const OperationId& operation = view.winner->operations[i];
      const auto put = putOf(view.winner->body.actions[i]);
      if (!put || !stands(records, operation) || !isLastOn(*view.winner, i, put->entry) || says(records, *put))
        continue;
      const auto on = writes.find(put->entry);
      if (isShared(put->entry, options) && Replaced(records, on == writes.end() ? kNone : on->second)(put->content))
        continue;
      return nameOf(operation) + " stands, and " + put->entry + " does not say what it wrote: " + put->content;
    }
  }
  return {};
}

std::string checkRepeats(const AgentRecords& records, const std::string& id, const JournalView& read,
                         const std::vector<SharedWrite>& writes) {
  const auto entry = records.entries.find(id);
  if (entry == records.entries.end() || !read.inConflict()) return {};
  const auto isOutdated = [&](const Sibling& one) {
    if (!one.body || !one.body->operationId) return false;
    const auto at = records.journal.find({*one.body->operationId});
    if (at == records.journal.end() || !at->second.record) return false;
    std::vector<Dot> times = at->second.repeats;
    times.push_back(at->second.record->dot);
    if (std::ranges::find(times, one.dot) == times.end()) return false;  // an undoing brought it back
    return std::ranges::any_of(writes, [&](const SharedWrite& other) {
      return other.operation == one.body->operationId && std::ranges::find(times, other.dot) != times.end() &&
             std::ranges::none_of(entry->second.siblings, [&](const Sibling& s) { return s.dot == other.dot; });
    });
  };
  const std::vector<Sibling>& all = entry->second.siblings;
  if (std::ranges::none_of(all, [&](const Sibling& one) { return one.body && !isOutdated(one); })) return {};
  for (const Sibling& one : read.siblings)
    if (isOutdated(one))
      return concat(id, " shows what ", nameOf({*one.body->operationId}), " wrote as ", one.dot.host, ":",
                    one.dot.counter, ", beside what was built upon it");
  return {};
}

namespace {

std::optional<std::size_t> placeIn(const Plan& plan, const OperationId& operation) {
  const auto at = std::ranges::find(plan.operations, operation);
  return at == plan.operations.end() ? std::nullopt : std::optional<std::size_t>(at - plan.operations.begin());
}

// Whether all that was ever written into the entry is this plan's work, or the undoing of it.
bool isOnlyOf(const AgentRecords& records, const Plan& plan, const std::vector<SharedWrite>& writes) {
  std::set<Dot> undoings;
  for (const OperationId& operation : plan.operations) {
    const auto at = records.journal.find(compensationOperationId(operation));
    if (at == records.journal.end() || !at->second.record) continue;
    undoings.insert(at->second.record->dot);
    undoings.insert(at->second.repeats.begin(), at->second.repeats.end());
  }
  return std::ranges::all_of(writes, [&](const SharedWrite& write) {
    return undoings.contains(write.dot) || (write.operation && has(plan.operations, {*write.operation}));
  });
}

// Once, by one device: what it found there no other device found otherwise.
bool wasDoneOnce(const AgentRecords& records, const OperationId& operation) {
  const auto at = records.journal.find(operation);
  return at != records.journal.end() && at->second.record && at->second.repeats.empty();
}

std::string checkUndoing(const AgentRecords& records, const PlanView& plans, const Undoing& undoing,
                         const std::string& entry, const std::vector<SharedWrite>& writes,
                         const std::set<OperationId>& aside) {
  const Plan& plan = plans.losers.front();
  const std::size_t place = *placeIn(plan, undoing.undone);
  const bool onlyIts = isOnlyOf(records, plan, writes) && wasDoneOnce(records, undoing.undone);
  for (std::size_t i = place + 1; i < plan.operations.size(); ++i) {
    const OperationId& later = plan.operations[i];
    const auto put = putOf(plan.body.actions[i]);
    const OperationId undoingOfIt = compensationOperationId(later);
    if (!put || put->entry != entry || has(plans.winner->operations, later) || !wasDoneOnce(records, later) ||
        aside.contains(undoingOfIt))
      continue;
    if (undoing.aside && onlyIts)
      return concat(undoing.device, " asks a person what ", entry, " should say without ", nameOf(undoing.undone),
                    ", and only its own plan has written there");
    if (!undoing.aside && undoing.had.contains(later) && !undoing.had.contains(undoingOfIt))
      return concat(undoing.device, " undoes ", nameOf(undoing.undone), " before ", nameOf(later),
                    ", which wrote into ", entry, " after it");
  }
  return {};
}

}  // namespace

std::string checkUndoings(const AgentRecords& records, const SharedWrites& writes, std::span<const Undoing> undoings) {
  std::set<OperationId> aside;
  for (const Undoing& undoing : undoings)
    if (undoing.aside) aside.insert(undoing.operation);
  for (const Undoing& undoing : undoings) {
    const auto record = records.journal.find(undoing.undone);
    if (record == records.journal.end() || !record->second.record) continue;
    const auto plans = records.plans.find(RunKey{record->second.record->body.runKey});
    // Of several that lost, one may have stood for a while.
    if (plans == records.plans.end() || !plans->second.winner || plans->second.losers.size() != 1) continue;
    const Plan& plan = plans->second.losers.front();
    const auto place = placeIn(plan, undoing.undone);
    if (!place || has(plans->second.winner->operations, undoing.undone)) continue;
    const auto put = putOf(plan.body.actions[*place]);
    const auto on = put ? writes.find(put->entry) : writes.end();
    if (on == writes.end()) continue;
    if (std::string wrong = checkUndoing(records, plans->second, undoing, put->entry, on->second, aside);
        !wrong.empty())
      return wrong;
  }
  return {};
}

std::string checkCompensations(const AgentRecords& records, const AgentRuleOptions& options) {
  for (const Views* views : {&records.journal, &records.agents}) {
    std::map<Hash, std::set<OperationId>> compensations;
    for (const auto& [operation, view] : *views) {
      if (!view.record || !view.record->body.compensates) continue;
      compensations[*view.record->body.compensates].insert(operation);
      if (options.wholeDisks)
        if (const std::string device = twiceBy(view); !device.empty())
          return device + " undid it twice: " + nameOf(operation);
    }
    // Of several each follows another, but for the first.
    for (const auto& [undone, by] : compensations) {
      std::set<OperationId> firsts = by;
      for (const OperationId& one : by) firsts.erase(saga::nextCompensation(one));
      if (firsts.size() > 1) return nameOf({undone}) + " was undone by two operations";
    }
  }
  return {};
}

std::string checkApart(LocalReplica& replica) {
  for (const auto& [scope, space] : replica.database(DatabaseName::journal).spaces())
    for (const Kind kind : {Kind::agentState, Kind::message, Kind::link, Kind::summary, Kind::plan, Kind::wakeRun,
                            Kind::approval, Kind::receipt})
      if (const auto keys = space->keys(kind); !keys.empty())
        return replica.device() + ": the journal of " + scope + " holds what is an agent's own: " + keys.front();
  for (const auto& [scope, space] : replica.database(DatabaseName::agents).spaces())
    if (const auto keys = space->keys(Kind::journal); !keys.empty())
      return replica.device() + ": the agents' records of " + scope +
             " hold what belongs in the journal: " + keys.front();
  return {};
}

namespace {

struct Allowed {
  std::string_view tool, field;
};
constexpr std::array kAllowed{Allowed{"sim.ask", "about"},    Allowed{"sim.mail", "to"}, Allowed{"sim.mail", "text"},
                              Allowed{"sim.mail", "subject"}, Allowed{"sim.pay", "to"},  Allowed{"sim.pay", "text"},
                              Allowed{"sim.sum", "lines"}};

}  // namespace

std::string checkUnwanted(const AgentRecords& records, const std::set<OperationId>& denied, std::uint64_t unwanted) {
  std::size_t least = 0;
  for (const auto& [operation, view] : records.agents)
    least += wasApplied(records.agents, operation) && denied.contains(operation);
  std::set<OperationId> lost;
  for (const auto& [run, plans] : records.plans)
    for (const Plan& loser : plans.losers)
      for (const OperationId& operation : loser.operations)
        if (!(plans.winner && has(plans.winner->operations, operation)) && !denied.contains(operation) &&
            wasApplied(records.agents, operation) && !records.agents.contains(compensationOperationId(operation)) &&
            !records.agents.at(operation).record->body.toolName.starts_with("journal."))
          lost.insert(operation);
  if (unwanted == least + lost.size()) return {};
  return concat(unwanted, " effects outside are said to be unwanted: ", least, " were denied, and ", lost.size(),
                " are of plans that did not survive");
}

std::string checkHops(const AgentRecords& records, std::string_view agent, std::uint64_t hops) {
  for (const auto* side : {&records.journal, &records.agents})
    for (const auto& [operation, view] : *side)
      if (view.record && view.record->body.agentId == agent && !view.record->body.compensates &&
          view.record->body.hops != hops)
        return concat(operation.hex(), " of ", agent, " has ", view.record->body.hops, " runs behind it, not ", hops);
  return {};
}

namespace {

bool isReplaced(std::span<const replication::Version> versions, const replication::Version& version) {
  return std::ranges::any_of(versions, [&](const replication::Version& other) {
    return !(other.dot == version.dot) && other.context.covers(version.dot);
  });
}

}  // namespace

bool isDenied(std::span<const replication::Version> versions) {
  return std::ranges::any_of(versions, [&](const replication::Version& version) {
    if (version.tombstone || isReplaced(versions, version)) return false;
    const auto body = decodeRecord<ApprovalBody>(version.body);
    return body.ok() && body->verdict == ApprovalVerdict::denied &&
           (body->by != kNobodyAnswered || body->reason == agents::kAgentDestroyed);
  });
}

bool isConfirmed(std::span<const replication::Version> versions) {
  bool confirmed = false;
  for (const replication::Version& version : versions) {
    if (isReplaced(versions, version)) continue;
    if (version.tombstone) return false;
    confirmed = true;
  }
  return confirmed;
}

std::string checkNeedToKnow(std::string_view tool, const json::object& arguments) {
  for (const auto& [field, value] : arguments) {
    const bool allowed = std::any_of(
        kAllowed.begin(), kAllowed.end(),
        [&, told = std::string_view(field)](const Allowed& one) { return one.tool == tool && one.field == told; });
    if (!allowed) return concat(tool, " is told ", field, ", which is on no allowlist");
  }
  const std::string text = canonicalJson(arguments);
  if (text.find(kNeedToKnow) != std::string::npos) return concat(tool, " is told what may not be told: ", text);
  return {};
}

}  // namespace witan::sim
