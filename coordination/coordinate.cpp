#include "coordination/coordinate.h"

#include "base/check.h"
#include "coordination/log_writer.h"
#include "coordination/run.h"

namespace witan::kernel::joint {

namespace {

json::value parsed(std::string_view text) {
  auto value = parseJson(text, {.bytes = text.size()});
  WITAN_CHECK(value.ok(), "what LogWriter writes is JSON");
  return *std::move(value);
}

// One run and its log.
struct Told {
  Told(const Setup& setup, std::uint32_t earlierRuns) : run(setup, earlierRuns), writer(setup) {}
  std::string step() {
    const EpochRecord& record = run.step();
    return writer.epoch(record, run.state());
  }
  Run run;
  LogWriter writer;
};

class Coordination {
 public:
  Coordination(const Setup& setup, const LogSink& sink, std::uint32_t earlierRuns)
      : setup_(setup),
        sink_(sink),
        told_(setup, earlierRuns),
        again_(setup, earlierRuns + 1),
        initial_(told_.writer.world(setup.initialState)),
        auditor_(parsed(setup.authoritiesText), parsed(initial_)) {}

  Verdict run() {
    std::string condition;
    appendJsonString(condition, setup_.condition);
    put("{\"authority_artifacts\":" + setup_.authoritiesText + ",\"condition\":" + condition + ",\"epochs\":[");
    while (!told_.run.over()) epoch();
    conclude();
    put("],\"experiment_result\":" + std::string(verdict_.pass ? "\"PASS\"" : "\"FAIL\"") +
        ",\"final_state\":" + verdict_.finalState + ",\"initial_state\":" + initial_ + ",\"kernel_classification\":" +
        orNull(verdict_.kernel) + ",\"terminal_classification\":" + orNull(verdict_.terminal) + "}");
    verdict_.digest = hash_.finish();
    return std::move(verdict_);
  }

 private:
  void put(std::string_view text) {
    hash_.update(text);
    sink_(text);
  }

  void epoch() {
    const std::string text = told_.step();
    if (same_ && (again_.run.over() || again_.step() != text)) {
      same_ = false;
      replay_ = {kNondeterministic, verdict_.epochs, "the second run writes something else"};
    }
    auditor_.epoch(parsed(text));
    if (verdict_.epochs++ > 0) put(",");
    put(text);
  }

  void conclude() {
    if (const auto terminal = told_.run.terminal()) verdict_.terminal = enumName(*terminal);
    verdict_.finalState = told_.writer.world(told_.run.state());
    auditor_.end(parsed(orNull(verdict_.terminal)), parsed(verdict_.finalState));
    verdict_.findings = auditor_.findings();
    verdict_.kernel = auditor_.kernelClass();
    if (same_ && !again_.run.over()) replay_ = {kNondeterministic, verdict_.epochs, "the second run is longer"};
    if (verdict_.epochs > setup_.maxEpochs)
      invalidate({kNonterminating, setup_.maxEpochs, "it went on beyond max_epochs"});
    if (!replay_.kernelClass.empty()) invalidate(std::move(replay_));
    judge();
  }

  // A run that is none outweighs what the auditors found in it.
  void invalidate(Finding finding) {
    verdict_.kernel = finding.kernelClass;
    verdict_.findings.insert(verdict_.findings.begin(), std::move(finding));
  }

  void judge() {
    const std::optional<std::string> due = setup_.expected ? setup_.expected->kernel : dueKernelClass(setup_.injection);
    if (verdict_.kernel != due)
      verdict_.why = "kernel_classification is " + orNull(verdict_.kernel) + ", due is " + orNull(due);
    else if (setup_.expected && setup_.expected->terminal != verdict_.terminal)
      verdict_.why = "terminal_classification is " + orNull(verdict_.terminal) + ", expected is " +
                     orNull(setup_.expected->terminal);
    verdict_.pass = verdict_.why.empty();
  }

  const Setup& setup_;
  const LogSink& sink_;
  Told told_, again_;
  std::string initial_;
  Auditor auditor_;
  Sha256 hash_;
  Verdict verdict_;
  Finding replay_;
  bool same_ = true;
};

}  // namespace

Verdict coordinate(const Setup& setup, const LogSink& sink, std::uint32_t earlierRuns) {
  return Coordination(setup, sink, earlierRuns).run();
}

std::optional<std::string> dueKernelClass(Injection injection) {
  switch (injection) {
    case Injection::none: return std::nullopt;
    case Injection::tie_break: return kImplicitArbitration;
    case Injection::implicit_priority: return kImplicitPriority;
    case Injection::authority_theft: return kAuthorityTheft;
    case Injection::constraint_probing: return kConstraintProbing;
    case Injection::unauthorized_execution:
    case Injection::keep_scope_violation: return kUnauthorizedExecution;
    case Injection::temporal_aggregation: return kTemporalAggregation;
    case Injection::infinite_retry: return kInfiniteRetry;
    case Injection::nondeterministic_execution: return kNondeterministic;
    case Injection::nonterminating_condition: return kNonterminating;
  }
  return std::nullopt;
}

}  // namespace witan::kernel::joint
