// The reduction rules.
#include "lab/redux/calculus/calculus.h"

#include "base/check.h"

namespace witan::kernel::calculus {

namespace {

// What a primitive rule makes of a redex: a term and the rule that fired, or the reason why none did.
struct Contracted {
  TermPtr term;
  Rule rule;
};
using Contraction = std::variant<Contracted, Stuck>;

class Reduction {
 public:
  Reduction(Architecture& architecture, Oracle& oracle, System system)
      : architecture_(architecture), oracle_(oracle), system_(system) {}

  Contraction contract(const Term& redex) {
    switch (redex.kind) {
      case Term::Kind::let: return Contracted{substitute(redex.second, redex.name, redex.first->value), Rule::eLet};
      case Term::Kind::coordinate: return coordinate();
      case Term::Kind::adjudicate: return adjudicate(redex);
      case Term::Kind::entry: return entry(redex);
      case Term::Kind::awaitCounselor: return awaitCounselor();
      case Term::Kind::variable: return Stuck::freeVariable;
      case Term::Kind::value: break;
    }
    WITAN_CHECK(false, "a value is no redex");
  }

 private:
  // The premise that A.3.1 adds to the four architecture rules: s.queue = [].
  bool frozen() const { return system_ == System::withCounselor && architecture_.queueLength() != 0; }

  Contraction coordinate() {
    if (frozen()) return Stuck::frozen;
    std::optional<Proposal> proposal = architecture_.coordinate(oracle_);
    if (!proposal || !typeOfValue(*proposal, architecture_).ok()) return Stuck::coordinateUndefined;
    return Contracted{makeValue(*std::move(proposal)), Rule::eCoordinate};
  }

  Contraction adjudicate(const Term& redex) {
    const auto* proposal = std::get_if<Proposal>(&redex.first->value);
    const auto* time = std::get_if<Time>(&redex.second->value);
    if (proposal == nullptr || time == nullptr) return Stuck::illTyped;
    if (frozen()) return Stuck::frozen;
    const std::optional<Outcome> outcome = architecture_.adjudicate(*proposal, *time);
    if (!outcome) return Stuck::adjudicateUndefined;
    const Rule rule = *outcome == Outcome::approved   ? Rule::eAdjudicateApprove
                      : *outcome == Outcome::rejected ? Rule::eAdjudicateReject
                                                      : Rule::eAdjudicateEscalate;
    return Contracted{makeValue(*outcome), rule};
  }

  // E-Entry fires for any value (A.1.14); T-Entry keeps others than outcomes out.
  Contraction entry(const Term& redex) { return Contracted{redex.first, Rule::eEntry}; }

  Contraction awaitCounselor() {
    if (system_ == System::base) return Stuck::illTyped;
    if (architecture_.queueLength() != 1) return Stuck::nothingPending;  // both rules ask for s.queue = [p]
    switch (architecture_.awaitCounselor(oracle_)) {
      case CounselorAnswer::cCommitted:
        return Contracted{makeValue(CounselorOutcome::cCommitted), Rule::eCounselorCommit};
      case CounselorAnswer::cRejected:
        return Contracted{makeValue(CounselorOutcome::cRejected), Rule::eCounselorReject};
      case CounselorAnswer::unauthorised: return Stuck::unauthorisedCounselor;
      case CounselorAnswer::undefined: return Stuck::counselorUndefined;
    }
    return Stuck::counselorUndefined;
  }

  Architecture& architecture_;
  Oracle& oracle_;
  System system_;
};

}  // namespace

void Oracle::rewind(std::size_t consumed) {
  WITAN_CHECK(consumed <= position_, "an oracle is rewound, not wound forward");
  position_ = consumed;
}

StepResult step(const TermPtr& term, Architecture& architecture, Oracle& oracle, System system) {
  const std::optional<Decomposition> parts = decompose(term);
  if (!parts) return {.kind = StepResult::Kind::value, .term = term};
  const std::size_t consumed = oracle.consumed();
  Contraction contraction = Reduction(architecture, oracle, system).contract(*parts->redex);
  if (const Stuck* reason = std::get_if<Stuck>(&contraction)) {
    oracle.rewind(consumed);
    return {.kind = StepResult::Kind::stuck, .term = term, .reason = *reason, .contextDepth = parts->context.size()};
  }
  auto& [reduct, rule] = std::get<Contracted>(contraction);
  return {.kind = StepResult::Kind::stepped,
          .term = plug(parts->context, std::move(reduct)),
          .rule = rule,
          .contextDepth = parts->context.size()};
}

Execution execute(TermPtr term, Architecture& architecture, Oracle& oracle, System system) {
  Execution execution;
  for (;;) {
    StepResult result = step(term, architecture, oracle, system);
    if (result.kind != StepResult::Kind::stepped) {
      execution.last = std::move(result);
      return execution;
    }
    execution.rules.push_back(result.rule);
    term = std::move(result.term);
  }
}

const char* toString(Rule rule) {
  switch (rule) {
    case Rule::eLet: return "E-Let";
    case Rule::eCoordinate: return "E-Coordinate";
    case Rule::eAdjudicateApprove: return "E-Adjudicate-Approve";
    case Rule::eAdjudicateReject: return "E-Adjudicate-Reject";
    case Rule::eAdjudicateEscalate: return "E-Adjudicate-Escalate";
    case Rule::eEntry: return "E-Entry";
    case Rule::eCounselorCommit: return "E-Counselor-Commit";
    case Rule::eCounselorReject: return "E-Counselor-Reject";
  }
  return "unknown";
}

const char* toString(Stuck reason) {
  switch (reason) {
    case Stuck::coordinateUndefined: return "coordinate is undefined";
    case Stuck::adjudicateUndefined: return "adjudicate is undefined";
    case Stuck::frozen: return "frozen: a proposal waits for a counselor";
    case Stuck::nothingPending: return "no proposal waits for a counselor";
    case Stuck::unauthorisedCounselor: return "the counselor is not authorised";
    case Stuck::counselorUndefined: return "no counselor directive comes";
    case Stuck::freeVariable: return "a variable is free";
    case Stuck::illTyped: return "no rule has this form";
  }
  return "unknown";
}

}  // namespace witan::kernel::calculus
