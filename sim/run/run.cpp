// One run of a plan: a cluster, its workloads, faults and checkers, and the loop over the agenda.
//
// Two phases. In the safety phase the plan's work and faults happen, and the checkers that must hold at every moment
// look at what passes by. Then everything settles (sim/run/settling.h), and the final checkers look at disks, ledgers
// and history.
#include "sim/run.h"

#include "base/signature_memory.h"
#include "sim/checkers/checker.h"
#include "sim/run/liar.h"
#include "sim/run/market.h"
#include "sim/run/settling.h"
#include "sim/trace_format.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

namespace {

// A line of the trace for each entry that an owner decides, and why.
class DecisionTrace final : public ClusterObserver {
 public:
  explicit DecisionTrace(Cluster& cluster) : c_(cluster) {}

  void onStarted(Seat& at) override {
    for (const auto& [id, host] : at.replica().hosts()) told_[at][id] = host->position().entries;
  }

  void onDurable(Seat& at) override {
    if (!c_.tracing()) return;
    for (const auto& [id, host] : at.replica().hosts()) {
      const std::uint64_t entries = host->position().entries;
      std::uint64_t& told = told_[at][id];
      if (host->epoch().owner != at.replica().ownerName()) told = entries;
      told = std::min(told, entries);  // it may have gone back
      while (told < entries) {
        const auto bytes = host->ledger().entryBytes(++told);
        const auto entry = bytes.ok() ? kernel::readEntry(*bytes) : Result<kernel::Entry>(bytes.error());
        c_.trace(at.index(), "ledger", "decides",
                 id + " " + (entry.ok() ? formatEntry(*entry) : entry.error().message));
      }
    }
  }

 private:
  Cluster& c_;
  PerDevice<std::map<std::string, std::uint64_t, std::less<>>> told_;  // by partition: entries that have their line
};

class Run {
 public:
  Run(const Plan& plan, const RunOptions& options) : plan_(plan), options_(options), cluster_(plan, options) {
    cluster_.add(faults_);
    cluster_.add(operators_);
    cluster_.add(liar_);
    for (const auto& workload : workloads_) cluster_.add(*workload);
    for (const auto& checker : checkers_) cluster_.add(*checker);
    cluster_.add(decisions_);
  }

  RunResult run() {
    cluster_.found();
    Agenda& agenda = cluster_.agenda();
    for (std::uint64_t i = 0; i < plan_.events.size(); ++i) agenda.add(plan_.events[i].at, StepKind::plan, 0, i);
    agenda.add(plan_.options.time.seconds * kSecond, StepKind::look, 0);
    while (!agenda.empty() && !cluster_.hasFailed() && !settling_.settled()) {
      const Step next = agenda.take();
      cluster_.digest().add(static_cast<std::uint64_t>(next.at));
      cluster_.digest().add(static_cast<std::uint64_t>(next.kind) << 32 | next.a);
      step(next);
      ++cluster_.statistics().steps;
      if (options_.digests != nullptr) options_.digests->push_back(cluster_.digest().value());
    }
    checkAtEnd();
    return cluster_.finish();
  }

 private:
  void step(const Step& step) {
    switch (step.kind) {
      case StepKind::plan: return begin(step.n);
      case StepKind::faultEnd: return faults_.end(step.n);
      case StepKind::market: return market_.step();
      case StepKind::look: return settling_.look();
      default: return cluster_.step(step);
    }
  }

  void begin(std::uint64_t number) {
    const Event& event = plan_.events[number];
    if (cluster_.settling()) return;
    if (Market::concerns(event.kind)) return market_.begin(event);
    if (event.kind == EventKind::lie) return liar_.begin(event, number);
    if (isFault(event.kind)) return faults_.begin(event, number);
    if (copierOf(plan_.options.cluster) == event.device % cluster_.founders()) return;  // it has no work of its own
    cluster_.put(event.device % cluster_.founders(), {.kind = Arrival::Kind::event, .event = number});
  }

  void checkAtEnd() {
    if (!settling_.settled())
      cluster_.failed("liveness", "the agenda is empty before everything has settled: " + settling_.waitingFor());
    for (const auto& checker : checkers_)
      if (!cluster_.hasFailed()) checker->atEnd();
    if (!cluster_.hasFailed()) market_.check();
  }

  const Plan& plan_;
  const RunOptions& options_;
  Cluster cluster_;
  Clients clients_{cluster_};
  FaultInjector faults_{cluster_};
  Operators operators_{cluster_, clients_};
  std::vector<std::unique_ptr<Workload>> workloads_ = makeWorkloads(cluster_, clients_);
  std::vector<std::unique_ptr<Checker>> checkers_ = makeCheckers(cluster_);
  DecisionTrace decisions_{cluster_};
  Market market_{cluster_};
  Liar liar_{cluster_};
  Settling settling_{cluster_, faults_, operators_, market_, liar_};
};

}  // namespace

RunResult run(const Plan& plan, const RunOptions& options) {
  const SignatureMemory memory;
  return Run(plan, options).run();
}

}  // namespace witan::sim
