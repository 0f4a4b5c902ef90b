// Checkers "runs", "operations", "sagas" and "agents-apart": the work of agents, while it is done and at the end.
#include <algorithm>
#include <limits>
#include <set>

#include "agents/host/agent_host.h"
#include "agents/host/record_audit.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_checks.h"
#include "replication/arrivals.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"
#include "saga/saga_rows.h"
#include "sim/check/agent_rules.h"
#include "sim/check/run_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"
#include "sim/sim_graph.h"

namespace witan::sim {

using namespace replication;

namespace {

// Whether others know what the device writes next of its agents for something else, since its disk and its record of
// counters went back. They do not take it, and when it meets them it goes on without it.
bool writesInVain(Cluster& c, Seat& at) {
  Space* space = at.replica().data().database(DatabaseName::agents).find("main");
  return space != nullptr &&
         c.history().usedBefore("agents/main", {space->selfName(), space->vector().at(space->self()) + 1});
}

// Whether a device has come to go by copies of others since the last look: under a new name, or above the counters that
// it had used before.
class GoesOnByOthers {
 public:
  bool operator()(Cluster& c, Seat& at) {
    const std::string& writer = at.replica().data().writer();
    const bool vain = writesInVain(c, at);
    const bool anew = std::exchange(writers_[at], writer) != writer;
    return (std::exchange(vain_[at], vain) && !vain) || anew;
  }

 private:
  PerDevice<std::string> writers_;  // under which it wrote at the last look
  PerDevice<bool> vain_;
};

class AgentChecker final : public Checker {
 public:
  explicit AgentChecker(Cluster& cluster) : Checker(cluster) {}
  void onStopped(Seat& at) override { forget(at, false); }
  void onDiskLost(Seat& at) override { forget(at, true); }

  void onDurable(Seat& at) override {
    const agents::AgentHost* host = std::as_const(at.replica()).agents();
    if (host == nullptr) return;
    const std::uint32_t device = at.index();
    noteQuestions(at);
    findOverdue(at);
    for (const OperationId& operation : std::exchange(calls_[at].heard, {})) calls_[at].settled.insert(operation);
    for (const OperationId& operation : std::exchange(calls_[at].gone, {}))
      if (++calls_[at].attempts[operation] >= kSagaAttempts) calls_[at].toTell.insert(operation);
    for (const RunKey& run : std::exchange(calls_[at].overdrawn, {})) calls_[at].spent.insert(run);
    for (TurnRecord& turn : c_.history().agents.turns) turn.durable = turn.durable || turn.device == device;
    const auto& jobs = host->wakes().queue().all();
    rules_.stands(device, [&](const RunKey& run) { return jobs.contains(run); });
    // Ends that it wrote under counters used before are not among the copies of others.
    if (goesOn_(c_, at)) {
      rules_.forgetEnds(device);
      forgetVain(calls_[at]);
    }
    for (const auto& [run, entry] : jobs) {
      if (entry.job.state != agents::JobState::running) continue;
      watchPlan(at, run);
      if (!rules_.isNew(device, run)) continue;
      c_.probe("run started");
      c_.trace(device, "agents", "runs", entry.job.agentId + " " + run.hex());
      judgeStart(at, entry.job, undisturbed());
      if (rules_.startedBy(run) > 1) c_.probe("run started by several devices");
      if (c_.hasFailed()) return;
    }
  }

  // A start may be durable although the power went before its step was over. The disk has it, and what the device knew.
  void onStarted(Seat& at) override {
    std::vector<agents::WakeJob> begun;
    const Status read = at.replica().data().database(DatabaseName::agents).scanMeta("wake/", [&](auto row, auto bytes) {
      auto job = agents::decodeJob(row, bytes);
      if (job.ok() && job->startedAtMs != 0 && !at.begun.contains(job->key())) begun.push_back(*std::move(job));
      return true;
    });
    if (!read.ok()) return c_.failed("store", at.name() + ": " + read.error().message);
    for (const agents::WakeJob& job : begun) {
      c_.probe("run begun in a step that broke off");
      judgeStart(at, job, false);
    }
    rules_.stopped(at.index(), false);  // nothing runs yet
  }

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (call.operation && calls_[at].settled.contains(*call.operation))
      return c_.failed("operations", at.name() + " calls " + call.tool + " under operation " + name +
                                         " again, which had been answered for good");
    if (call.operation && calls_[at].attempts[*call.operation] >= kSagaAttempts)
      return c_.failed("sagas", at.name() + " calls " + call.tool + " under operation " + name + " once more, after " +
                                    std::to_string(kSagaAttempts) + " attempts that failed");
    if (call.tool == "sim.pay" && call.operation) checkApproved(at, *call.operation);
  }

  void onNotice(Seat& at, const node::Notice& notice) override {
    if (notice.kind != "agent needsAttention") return;
    std::erase_if(calls_[at].toTell,
                  [&](const OperationId& operation) { return notice.what.find(operation.hex()) != std::string::npos; });
  }

  void onToolAnswer(Seat& at, const ToolAnswer& answer) override {
    if (writesInVain(c_, at)) calls_[at].vain.emplace(answer.call.run, answer.call.operation);
    if (!answer.call.operation) return heardModel(at, answer);
    if (answer.says == ToolSays::done) toolsDid_.insert(answer.call.operation->hex());
    // Only while the saga waits for it does it hear it.
    const saga::SagaRow* row = at.replica().agents()->sagas().find(*answer.call.operation);
    if (row == nullptr || row->phase != saga::SagaPhase::applying) return;
    if (answer.says != ToolSays::unreachable)
      calls_[at].heard.push_back(*answer.call.operation);
    else if (row->status == saga::SagaStatus::waiting)
      calls_[at].gone.push_back(*answer.call.operation);
  }

  void atEnd() override {
    if (c_.plan().options.cluster.hosts == 0) return;
    Seat* first = nullptr;
    AgentRuleOptions options;
    options.graph = kSimGraph;
    options.wholeDisks = c_.history().losses().empty();
    noteKept(options);
    for (const auto& at : c_.seats()) options.deadLettered.insert(at->gaveUp.begin(), at->gaveUp.end());
    for (Seat* at : c_.members()) {
      if (first == nullptr) first = at;
      if (const auto& untold = calls_[*at].toTell; !untold.empty())
        return c_.failed("sagas", at->name() + " has given up operation " + untold.begin()->hex() + " after " +
                                      std::to_string(kSagaAttempts) + " attempts, and told nobody");
      if (const std::string wrong = checkApart(at->replica().data()); !wrong.empty())
        return c_.failed("agents-apart", wrong);
      if (const std::string wrong = openSagas(*at, options.deadLettered); !wrong.empty())
        return c_.failed("sagas", wrong);
    }
    if (first == nullptr) return;
    if (const std::string wrong = checkRuns(*first); !wrong.empty()) return c_.failed("runs", wrong);
    auto records = agentRecordsOf(first->replica().data());
    if (!records.ok()) return c_.failed("store", first->name() + ": " + records.error().message);
    std::map<RunKey, Micros> begun;
    for (auto& at : c_.seats())
      for (const auto& [run, when] : at->begun) begun[run] = std::min(begun.try_emplace(run, when).first->second, when);
    options.shared = kDeskFolder;
    options.toolsDid = toolsDid_;
    options.ledgersDid = ledgersDid();
    options.denied =
        perhapsDenied(*records, "sim.mail", begun, c_.history().agents.unconfirmedAt, c_.history().agents.toolCalls);
    // What nobody approved leaves no record either.
    options.denied.merge(
        perhapsDenied(*records, "sim.pay", begun, std::numeric_limits<Micros>::max(), c_.history().agents.toolCalls));
    if (const std::string wrong = toldForged(*records); !wrong.empty()) return c_.failed("need-to-know", wrong);
    if (const std::string wrong = saidOtherwise(*records); !wrong.empty()) return c_.failed("runs", wrong);
    if (const std::string wrong = checkOperations(*records, options); !wrong.empty())
      return c_.failed("operations", wrong);
    if (const std::string wrong = checkNames(*records); !wrong.empty()) return c_.failed("operations", wrong);
    if (const std::string wrong = checkCompensations(*records, options); !wrong.empty())
      return c_.failed("sagas", wrong);
    if (const std::string wrong = auditComplains(options); !wrong.empty()) return c_.failed("operations", wrong);
    for (const auto& [run, plans] : records->plans)
      if (!plans.losers.empty()) c_.probe("run with several plans");
    for (const auto& [operation, view] : records->journal) {
      if (view.record && view.record->body.compensates) c_.probe("operation undone");
      if (!view.repeats.empty()) c_.probe("operation carried out by several devices");
    }
  }

 private:
  struct Calls {
    std::vector<OperationId> heard;                 // answered for good in the step that is being made
    std::set<OperationId> settled;                  // durably so
    std::vector<OperationId> gone;                  // attempts that failed in this step
    std::map<OperationId, std::uint32_t> attempts;  // durably so
    std::set<OperationId> toTell;                   // given up after the last; people have to hear of it
    std::set<RunKey> overdrawn, spent;              // runs whose model cost all that they had: in this step; durably
    std::set<std::pair<RunKey, std::optional<OperationId>>> vain;  // answered when what it wrote was in vain
    std::map<RunKey, std::set<replication::Dot>> plans;            // of running runs: what was there at the last look
  };

  // What was noted of these is not among the copies of others.
  static void forgetVain(Calls& known) {
    for (const auto& [run, operation] : std::exchange(known.vain, {})) {
      known.spent.erase(run);
      if (operation) known.settled.erase(*operation), known.attempts.erase(*operation);
    }
    known.plans.clear();  // of what runs, the next look finds them
  }

  // A run begins, or goes on, by what is durable there. A pause ends no run that has begun.
  void judgeStart(Seat& at, const agents::WakeJob& job, bool undisturbed) {
    const RunKey run = job.key();
    const bool goesOn = !at.begun.try_emplace(run, c_.agenda().now()).second || plannedElsewhere(at, run);
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    auto state = space.ok() ? agents::agentStateToWrite(**space, job.agentId) : Result<AgentState>(space.error());
    if (!state.ok()) return c_.failed("store", at.name() + ": " + state.error().message);
    const bool sleeps = std::cmp_greater(state->schedule.sleepUntil, at.device->now(c_.agenda().now()).wallMs());
    const bool paused =
        state->lifecycle == Lifecycle::destroyed || ((sleeps || state->lifecycle == Lifecycle::dormant) && !goesOn);
    const std::string wrong = rules_.begins({at.index(), at.name(), job.agentId, run, paused, undisturbed});
    if (!wrong.empty()) c_.failed("runs", wrong);
  }

  static bool plannedElsewhere(Seat& at, const RunKey& run) {
    LocalReplica& data = at.replica().data();
    auto space = data.database(DatabaseName::agents).space("main");
    if (!space.ok()) return false;
    const auto plan = planViewIn(**space, run);
    return plan.ok() && plan->winner && plan->winner->dot.host != data.writer();
  }

  // A run that has a plan, whoever made it, is not planned again; nor is one planned that has nothing left to spend.
  void watchPlan(Seat& at, const RunKey& run) {
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    if (!space.ok()) return;
    Calls& known = calls_[at];
    const bool begins = rules_.isNew(at.index(), run);
    if ((*space)->table().find(Kind::plan, run.hex()) == nullptr) {
      known.plans[run];
      return;
    }
    auto versions = (*space)->versions(Kind::plan, run.hex());
    if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
    const auto before = known.plans.find(run);
    if (begins && before == known.plans.end()) c_.probe("run begins with a plan");
    std::set<replication::Dot>& dots = known.plans[run];
    const bool any = !dots.empty() && !begins;
    for (const replication::Version& version : *versions) {
      // What it planned before its disk went back comes from the others, like theirs.
      const bool own = version.dot.host == at.replica().data().writer();
      if (!dots.insert(version.dot).second || !own || begins) continue;
      const std::string name = at.name() + " plans run " + run.hex().substr(0, 16);
      if (any) return c_.failed("operations", name + " although a plan of it is here");
      if (known.spent.contains(run)) return c_.failed("operations", name + ", which has nothing left to spend");
    }
  }

  void heardModel(Seat& at, const ToolAnswer& answer) {
    if (answer.says != ToolSays::done || answer.tokens < kClerkTokens) return;
    if (!rules_.isNew(at.index(), answer.call.run)) {
      calls_[at].overdrawn.insert(answer.call.run);
      c_.probe("budget of a run spent");
    }
  }

  // A person has approved the very payment that goes out, as it was asked for under a policy that was in force here
  // since.
  void checkApproved(Seat& at, const OperationId& operation) {
    const auto& approved = c_.history().agents.approved;
    const auto given = approved.find(operation);
    const auto counts = [&](const auto& one) {
      const auto asked = asked_.find(one.digest);
      if (asked == asked_.end()) return false;
      for (std::size_t i = 0; i < at.policies.size(); ++i) {
        const bool ended = i + 1 < at.policies.size() && at.policies[i + 1].since <= one.at;
        if (at.policies[i].version == asked->second && !ended) return true;
      }
      return false;
    };
    if (given == approved.end() || std::ranges::none_of(given->second, counts))
      c_.failed("need-to-know", at.name() + " pays under operation " + operation.hex() +
                                    (given == approved.end() ? ", which nobody has approved"
                                                             : ", which was approved under another policy"));
  }

  // Under which version of the policy a question was asked: the one of the device that asked.
  void noteQuestions(Seat& at) {
    const std::uint64_t questions = std::as_const(at.replica()).agents()->counters().questions;
    Space* space = at.replica().data().database(DatabaseName::agents).find("main");
    if (space == nullptr || std::exchange(asksAt_[at], questions) == questions) return;
    for (const std::string& key : space->keys(Kind::approval)) {
      auto versions = space->versions(Kind::approval, key);
      if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
      for (const replication::Version& version : *versions) {
        const auto body = decodeRecord<ApprovalBody>(version.body);
        if (!body.ok() || body->verdict != ApprovalVerdict::waiting ||
            replication::deviceOf(version.dot.host) != at.name())
          continue;
        if (asked_.emplace(body->digest, at.device->policy()).second) c_.probe("question asked");
        open_[at].insert_or_assign(OperationId{body->operationId}, Open{RunKey{body->runKey}, body->untilMs});
      }
    }
  }

  // A question is answered, or denied when its time is over: nothing waits for ever. Looked at where the device that
  // asked has been at work all the time.
  void findOverdue(Seat& at) {
    std::map<OperationId, Open>& open = open_[at];
    const Micros now = c_.agenda().now();
    if (open.empty() || now < lookAt_[at]) return;
    const bool awake = now - lookAt_[at] <= kAwake;
    lookAt_[at] = now + kAwake;
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    if (!space.ok()) return;
    const auto& jobs = std::as_const(at.replica()).agents()->wakes().queue().all();
    for (auto one = open.begin(); one != open.end();) {
      auto& [operation, asked] = *one;
      auto versions = (*space)->versions(Kind::approval, operation.hex());
      auto plan = planViewIn(**space, asked.run);
      if (!versions.ok() || !plan.ok()) return c_.failed("store", at.name() + ": a question cannot be read");
      const ApprovalView view = approvalViewOf(operation, *versions);
      const auto job = jobs.find(asked.run);
      const bool waits = view.shown && view.shown->body.verdict == ApprovalVerdict::waiting && job != jobs.end() &&
                         job->second.job.state == agents::JobState::running && plan->winner && plan->losers.empty();
      if (!waits) {
        one = open.erase(one);
        continue;
      }
      if (at.device->now(now).wallMs() < view.shown->body.untilMs || !awake)
        asked.overSince = -1;
      else if (asked.overSince < 0)
        asked.overSince = now;
      else if (now - asked.overSince > 4 * kAwake)
        return c_.failed(
            "liveness",
            concat(at.name(), " lets run ", asked.run.hex().substr(0, 16), " wait for an answer about operation ",
                   operation.hex(), ", whose time has been over for ", (now - asked.overSince) / kSecond, " s"));
      ++one;
    }
  }

  void noteKept(AgentRuleOptions& options) {
    const std::int64_t days = c_.plan().options.cluster.retentionDays;
    if (days == 0) return;
    options.keptSinceMs =
        (options.keptUntilMs = c_.seat(0).device->now(c_.agenda().now()).wallMs()) - days * kMicrosPerDay / 1'000;
  }

  // An answer that the policy's conditions refuse reaches no plan.
  static std::string toldForged(const AgentRecords& records) {
    for (const auto& [run, view] : records.plans)
      for (const PlanAction& action : view.winner ? view.winner->body.actions : std::vector<PlanAction>())
        if (action.arguments.find(kForgedAnswer) != std::string::npos)
          return "run " + run.hex().substr(0, 16) + " was told what the policy lets no answer say: " + action.arguments;
    return {};
  }

  // What was said is what the run was told.
  std::string saidOtherwise(const AgentRecords& records) {
    for (const TurnRecord& turn : c_.history().agents.turns) {
      const auto plans = records.plans.find(turn.run);
      if (!turn.durable || plans == records.plans.end() || !plans->second.winner) continue;
      const auto& actions = plans->second.winner->body.actions;
      if (actions.size() != 1 ||
          actions.front().arguments.find(concat("\"text\":\"", turn.text, "\"")) == std::string::npos)
        return "somebody said \"" + turn.text + "\" on " + ClusterSetup::deviceName(turn.device) + ", and run " +
               turn.run.hex().substr(0, 16) + " heard something else";
    }
    return {};
  }

  // No fault yet, a network that is quick beside the grace of a takeover, and everybody has heard who hosts what.
  bool undisturbed() const {
    const NetworkOptions& n = c_.plan().options.network;
    const bool quick = n.lossPerMillion == 0 && n.resetPerMillion == 0 && n.bytesPerSecond == 0 && n.chords == 0 &&
                       n.delayMinMicros + n.delayMeanMicros <= 100'000 && c_.plan().options.disk.syncMicros <= 1'000 &&
                       c_.plan().options.time.driftPpm <= 1'000;
    return quick && !c_.settling() && c_.agenda().now() > 30 * kSecond &&
           std::ranges::none_of(c_.probes(), [](const auto& probe) { return probe.first.starts_with("fault: "); });
  }

  void forget(Seat& at, bool disk) {
    rules_.stopped(at.index(), disk);
    asksAt_[at] = ~std::uint64_t{0};
    calls_[at].heard.clear(), calls_[at].gone.clear(), calls_[at].overdrawn.clear();
    calls_[at].plans.clear();
    open_[at].clear();
    // Whoever restarts it finds these in the list of what waits for people.
    calls_[at].toTell.clear();
    if (disk) calls_[at].attempts.clear(), calls_[at].spent.clear();
    std::erase_if(c_.history().agents.turns,
                  [&](const TurnRecord& turn) { return turn.device == at.index() && (disk || !turn.durable); });
    if (disk) calls_[at].settled.clear();
  }

  // `witan agent check` has nothing to say on any device of a cluster that is in order.
  std::string auditComplains(const AgentRuleOptions& options) {
    const auto works = [](Seat* member) { return member->replica().agents() != nullptr; };
    if (!options.wholeDisks || std::ranges::none_of(c_.members(), works)) return {};
    for (Seat* at : c_.members()) {
      auto audit = agents::auditRecords(at->replica().data(), "main");
      if (!audit.ok()) return at->name() + ": " + audit.error().message;
      if (!audit->problems.empty()) return at->name() + ", asked by agent check, complains: " + audit->problems.front();
    }
    return {};
  }

  // Checker "sagas": each has ended, or was put aside for a person after its last attempt.
  std::string openSagas(Seat& at, std::set<OperationId>& deadLettered) {
    saga::SagaRows rows(at.replica().data().database(DatabaseName::agents), 0);
    std::string open;
    const Status read = rows.visitOpen([&](saga::SagaRow&& row) {
      open =
          concat(at.name(), " has not ended the saga of operation ", row.id().hex(), " (", enumName(row.status), ")");
    });
    if (!read.ok()) return at.name() + ": " + read.error().message;
    const Status held = rows.visitHeld([&](saga::SagaRow&& row) {
      c_.probe("saga put aside");
      deadLettered.insert(row.id());
    });
    return held.ok() ? open : at.name() + ": " + held.error().message;
  }

  // Checker "runs" at the end: what should wake an agent did, tokens are typed (invariant 3), and every run that was
  // started has ended (invariant 5).
  std::string checkRuns(Seat& at) {
    LocalReplica& data = at.replica().data();
    auto space = data.database(DatabaseName::agents).space("main");
    if (!space.ok()) return space.error().message;
    auto runs = agents::knownRuns(**space);
    if (!runs.ok()) return runs.error().message;
    std::vector<const agents::AgentSpec*> specs;
    const auto setup = simAgents({.retentionDays = c_.plan().options.cluster.retentionDays}).setup;
    for (const agents::Agent* agent : setup->agents) specs.push_back(&agent->spec());
    auto unwoken = agents::wakesWithoutEnd(data, "main", specs);
    if (!unwoken.ok()) return unwoken.error().message;
    // Where all that let agents work have been retired, nobody does.
    const bool works =
        std::ranges::any_of(c_.members(), [](Seat* member) { return member->replica().agents() != nullptr; });
    if (!works) return c_.probe("nobody works any more"), untypedTokens(data);
    if (!unwoken->empty()) return unwoken->front();
    std::vector<ExpectedRun> expected;
    for (const auto& [key, run] : c_.history().agents.requests) {
      const auto writes = c_.history().writes().find(key);
      if (writes == c_.history().writes().end() || !writes->second.front().durable || writes->second.front().mayBeLost)
        continue;
      if (forgetsAt(writes->second.front().at)) continue;
      expected.push_back({key.second.second + " was entered, and nobody has worked on it", run});
    }
    for (const agents::KnownRun& run : *runs)
      if (c_.history().agents.unasked.contains(run.key))
        return "run " + run.key.hex().substr(0, 16) + " began, and what a person wrote should wake no agent";
    for (const TurnRecord& turn : c_.history().agents.turns)
      if (turn.durable)
        expected.push_back(
            {"what was said on " + ClusterSetup::deviceName(turn.device) + " was never heard", turn.run});
    expectFacts(expected);
    if (const std::string wrong = checkAtRest(*runs, expected); !wrong.empty()) return wrong;
    return untypedTokens(data);
  }

  // What came of something that happened then may be forgotten.
  bool forgetsAt(Micros at) const {
    const std::int64_t days = c_.plan().options.cluster.retentionDays;
    return days > 0 && at < c_.agenda().now() - days * kMicrosPerDay;
  }

  static std::string untypedTokens(LocalReplica& data) {
    for (const std::string& id : data.spaceIds()) {
      auto batches = agents::batchesOf(*data.findSpace(id));
      if (!batches.ok()) return batches.error().message;
      if (const auto untyped = agents::untypedTokens(*batches); !untyped.empty()) return untyped.front();
    }
    return {};
  }

  // What stands in the ledgers under the names of operations. None: something may have been taken out of one.
  std::optional<std::set<std::string>> ledgersDid() {
    const bool seized =
        std::ranges::any_of(c_.seats(), [](const auto& at) { return at->device->counters().seizures > 0; });
    if (seized || !c_.history().losses().empty()) return std::nullopt;
    std::set<std::string> did;
    for (const auto& [module, id] : c_.partitions())
      for (Seat* at : c_.members()) {
        if (at->replica().host(id) == nullptr) continue;
        const auto log = logAt(*at, id);
        if (!log.ok()) return c_.failed("store", at->name() + " " + id + ": " + log.error().message), std::nullopt;
        for (const LedgerLine& line : log->lines)
          if (line.entry.tag != kernel::Tag::rejected) did.insert(line.entry.operationId);
        break;  // all copies are alike
      }
    return did;
  }

  // What a ledger says wakes who watches it, on the devices that keep it and let agents work.
  void expectFacts(std::vector<ExpectedRun>& expected) {
    const agents::AgentSpec* herald = nullptr;
    const auto setup = simAgents({}).setup;
    for (const agents::Agent* agent : setup->agents)
      if (!agent->spec().ledgers.empty()) herald = &agent->spec();
    WITAN_CHECK(herald != nullptr, "one of the simulated agents watches ledgers");
    for (Seat* at : c_.members()) {
      if (at->replica().agents() == nullptr || at->replica().hosts().empty()) continue;
      for (const auto& [id, host] : at->replica().hosts())
        for (const agents::LedgerSpec& spec : herald->ledgers) {
          if (host->module().signature().domain != spec.domain) continue;
          auto log = logAt(*at, id);
          if (!log.ok()) return c_.failed("store", at->name() + " " + id + ": " + log.error().message);
          for (const agents::LedgerFact& fact : factsOf(*log, spec)) {
            c_.probe("fact of a ledger");
            expected.push_back({id + " says that " + fact.key + " is " + fact.value + ", and nobody has heard",
                                runOfFact(herald->id, spec.id, fact)});
          }
        }
      return;  // all copies are alike
    }
  }

  static constexpr Micros kAwake = 30 * kSecond;  // between two looks at a device that works all the time
  struct Open {
    RunKey run;
    std::int64_t untilMs = 0;
    Micros overSince = -1;  // its time; -1: it is not over
  };

  RunRules rules_;
  std::set<std::string> toolsDid_;               // operations that tools say they have carried out
  PerDevice<std::map<OperationId, Open>> open_;  // questions of the device, as it asked them
  PerDevice<Micros> lookAt_;
  std::map<Hash, std::uint64_t> asked_;  // questions, by digest: under which version of the policy
  PerDevice<std::uint64_t> asksAt_;      // questions that a device had asked in this life
  PerDevice<Calls> calls_;
  GoesOnByOthers goesOn_;
};

// Parts of the checkers "operations" and "sagas": what is decided, or done with, is not begun again. A device that has
// a plan that won over another one begins nothing of the other; what was put aside waits for a person; what a model has
// answered it is not asked again; and a run begins once in a life of its device.
class RestraintChecker final : public Checker {
 public:
  explicit RestraintChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    Known& known = known_[at];
    known.rivals.clear(), known.answers.clear(), known.starts.clear();
    known.plans.emplace(Kind::plan), known.records.emplace(Kind::operation);
    known.asideAt.reset();
  }
  void onDiskLost(Seat& at) override { known_[at].aside.clear(), known_[at].answered.clear(); }

  void onDurable(Seat& at) override {
    if (std::as_const(at.replica()).agents() == nullptr) return;
    Known& known = known_[at];
    ++known.steps;
    if (goesOn_(c_, at))
      for (const std::string& name : std::exchange(known.vain, {}))
        known.answered.erase(name), known.answers.erase(name);
    for (auto answer = known.answers.begin(); answer != known.answers.end();) {
      if (++answer->second < kSteps) {
        ++answer;
        continue;
      }
      known.answered.insert(answer->first);
      answer = known.answers.erase(answer);
    }
    judgeRecords(at, known);
    findRivals(at, known);
    findAside(at, known);
    findLoops(at, known);
  }

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    Known& known = known_[at];
    if (!call.operation) {
      if (known.answered.contains(name))
        c_.failed("operations", concat(at.name(), " asks ", call.tool, " again what it was told: ", name));
      return;
    }
    if (known.begun.insert(*call.operation).second) judge(at, call.run, *call.operation, "calls " + call.tool);
  }

  void onToolAnswer(Seat& at, const ToolAnswer& answer) override {
    if (answer.call.operation) return;
    const std::string name = ToolService::nameOf(answer.call);
    known_[at].answers.try_emplace(name, 0);
    if (writesInVain(c_, at)) known_[at].vain.insert(name);
  }

 private:
  static constexpr std::uint64_t kSteps = 3;  // until what was heard must be on the disk, and count
  struct Rivals {
    std::set<OperationId> winners;  // operations of the plan that stands
    std::uint64_t step = 0;         // since which
    Micros at = 0;
  };
  struct Known {
    std::uint64_t steps = 0;
    std::optional<Arrivals> plans{Kind::plan}, records{Kind::operation};
    std::map<RunKey, Rivals> rivals;               // runs with several plans, as the disk has them
    std::set<OperationId> begun;                   // called or carried out here
    std::optional<std::uint64_t> asideAt;          // changes of what was put aside, at the last look
    std::set<OperationId> aside;                   // durably
    std::map<RunKey, std::uint64_t> starts;        // of runs, when they were first seen in this life
    std::map<std::string, std::uint64_t> answers;  // of models, and for how many steps
    std::set<std::string> answered;                // durably
    std::set<std::string> vain;                    // of those, when what it wrote was in vain
  };

  void judge(Seat& at, const RunKey& run, const OperationId& operation, const std::string& does) {
    const Known& known = known_[at];
    const auto rivals = known.rivals.find(run);
    if (rivals == known.rivals.end() || rivals->second.winners.contains(operation)) return;
    if (known.steps - rivals->second.step < kSteps) return;
    c_.failed("operations", concat(at.name(), " ", does, " under operation ", operation.hex(), " of a plan of run ",
                                   run.hex().substr(0, 16), " that lost, as it has known for ",
                                   (c_.agenda().now() - rivals->second.at) / 1'000, " ms"));
  }

  // The plan that was written first stands: the one with the smallest dot.
  void findRivals(Seat& at, Known& known) {
    Space* space = at.replica().data().database(DatabaseName::agents).find("main");
    if (space == nullptr) return;
    std::set<std::string> contested;
    known.plans->look(*space, [&](const Record& record) {
      if (record.versions.size() > 1) contested.emplace(record.key());
    });
    for (const std::string& key : contested) {
      auto run = RunKey::parse(key);
      auto versions = space->versions(Kind::plan, key);
      if (!run.ok() || !versions.ok()) return c_.failed("store", at.name() + ": a plan cannot be read");
      std::erase_if(*versions, [](const replication::Version& one) { return one.tombstone; });
      if (versions->size() < 2) continue;
      const auto first = std::ranges::min_element(*versions, {}, &replication::Version::dot);
      const auto body = decodeRecord<PlanBody>(first->body);
      const auto operations = body.ok() ? operationsOf(*body) : Result<std::vector<OperationId>>(body.error());
      if (!operations.ok()) return c_.failed("store", at.name() + ": " + operations.error().message);
      const std::set<OperationId> winners(operations->begin(), operations->end());
      Rivals& rivals = known.rivals[*run];
      if (rivals.winners == winners) continue;
      rivals = {winners, known.steps, c_.agenda().now()};
      c_.probe("plan of another device arrives");
      for (const replication::Version& version : *versions) noteOpen(at, known, version);
    }
  }

  // What is under way goes on to its end.
  static void noteOpen(Seat& at, Known& known, const replication::Version& plan) {
    const auto body = decodeRecord<PlanBody>(plan.body);
    const auto operations = body.ok() ? operationsOf(*body) : Result<std::vector<OperationId>>(body.error());
    if (!operations.ok()) return;
    for (const OperationId& operation : *operations)
      if (at.replica().agents()->sagas().find(operation) != nullptr) known.begun.insert(operation);
  }

  // A run that goes on after a start goes on from where it was; none begins again and again.
  void findLoops(Seat& at, Known& known) {
    if (!c_.history().losses().empty()) return;
    for (const auto& [run, entry] : std::as_const(at.replica()).agents()->wakes().queue().all()) {
      const std::uint64_t before = known.starts.try_emplace(run, entry.job.attempts).first->second;
      if (entry.job.attempts > before + 1 && !isRationed(entry.job.agentId, c_.plan().options.cluster.retentionDays))
        return c_.failed("runs", concat(at.name(), " begins run ", run.hex().substr(0, 16), " time after time: ",
                                        entry.job.attempts - before, " times since it started itself"));
    }
  }

  // What the device itself has put into the journal.
  void judgeRecords(Seat& at, Known& known) {
    Space* space = at.replica().data().database(DatabaseName::journal).find("main");
    if (space == nullptr) return;
    std::set<std::string> fresh;
    known.records->look(*space, [&](const Record& record) { fresh.emplace(record.key()); });
    for (const std::string& key : fresh) {
      auto operation = OperationId::parse(key);
      auto versions = space->versions(Kind::operation, key);
      if (!operation.ok() || !versions.ok()) return c_.failed("store", at.name() + ": an operation cannot be read");
      for (const replication::Version& version : *versions) {
        if (version.tombstone || version.dot.host != at.replica().data().writer()) continue;
        const auto body = decodeRecord<OperationBody>(version.body);
        if (!body.ok() || body->compensates || !known.begun.insert(*operation).second) continue;
        judge(at, RunKey{body->runKey}, *operation, "carries out " + body->toolName);
      }
    }
  }

  // Only a person takes it up again.
  void findAside(Seat& at, Known& known) {
    saga::SagaEngine& sagas = at.replica().agents()->sagas();
    for (const OperationId& operation : known.aside)
      if (sagas.find(operation) != nullptr && !at.gaveUp.contains(operation))
        return c_.failed("sagas", concat(at.name(), " begins operation ", operation.hex(),
                                         " again, which was put aside for a person"));
    const std::uint64_t changes = sagas.rows().heldChanges();
    if (known.asideAt == changes) return;
    known.asideAt = changes;
    known.aside.clear();
    const Status read = sagas.rows().visitHeld([&](saga::SagaRow&& row) { known.aside.insert(row.id()); });
    if (!read.ok()) c_.failed("store", at.name() + ": " + read.error().message);
  }

  PerDevice<Known> known_;
  GoesOnByOthers goesOn_;
};

}  // namespace

std::unique_ptr<Checker> makeRestraintChecker(Cluster& cluster) { return std::make_unique<RestraintChecker>(cluster); }
std::unique_ptr<Checker> makeAgentChecker(Cluster& cluster) { return std::make_unique<AgentChecker>(cluster); }

}  // namespace witan::sim
