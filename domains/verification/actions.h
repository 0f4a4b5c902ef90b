// Security vulnerability verification: the processes, which are also the actions.
//
// A mutation faults where it needs a finding that is not there or meets an unknown word; everything else is written
// and left to the invariants to judge. So triage, a duplicate mark or a verdict for a finding that nobody submitted
// is no fault: it starts a phase log in the wrong phase, and VERIF_PHASE_PATH rejects it.
#pragma once

#include "domains/verification/state.h"

namespace witan::domains::verification {

using FindingHandle = Mutator<Fields>::Row<kFindings>;

// A finding is known when it has a phase.
inline FindingHandle knownFinding(Mutator<Fields>& m, const std::string& f) {
  auto row = m.find<kFindings>(f);
  if (!row || !row->has<FindingPhase>()) throw Fault{"finding " + std::string(clip(f)) + " does not exist"};
  return *row;
}

inline void enter(FindingHandle& row, Phase phase, Time t) {
  std::vector<PhaseEntry> log = row.get<PhaseLog>().value_or(std::vector<PhaseEntry>{});
  log.push_back({phase, t});
  row.set<PhaseLog>(std::move(log)).set<FindingPhase>(phase);
}

struct SubmitFinding {
  static constexpr std::string_view name = "SubmitFinding";
  using Reads = Union<StaticFields, PhaseFields>::Type;
  using Writes = Reads;
  std::string f;
  std::string loc;
  std::string cwe;
  WITAN_MEMBERS(SubmitFinding, f, loc, cwe)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kFindings>(f);
    row.set<StaticLocation>(loc).set<StaticCwe>(cwe);
    enter(row, Phase::SUBMITTED, t);
  }
};

struct LocateDefect {
  static constexpr std::string_view name = "LocateDefect";
  using Reads = Union<StaticFields, Footprint<FindingPhase>>::Type;
  using Writes = Footprint<StaticLocation>;
  std::string f;
  std::string loc;
  WITAN_MEMBERS(LocateDefect, f, loc)

  void apply(Mutator<Fields>& m, Time) const { knownFinding(m, f).set<StaticLocation>(loc); }
};

struct TriageFinding {
  static constexpr std::string_view name = "TriageFinding";
  static constexpr std::size_t required = 2;
  using Reads = Union<TriageFields, PhaseFields>::Type;
  using Writes = Union<Footprint<TriageComponent, TriageMaintainer>, PhaseFields>::Type;
  std::string f;
  std::string component;
  std::optional<std::string> maintainer;  // whom a report would go to; none: as it was
  WITAN_MEMBERS(TriageFinding, f, component, maintainer)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kFindings>(f);
    row.set<TriageComponent>(component);
    if (maintainer) row.set<TriageMaintainer>(*maintainer);
    enter(row, Phase::TRIAGED, t);
  }
};

struct MarkDuplicate {
  static constexpr std::string_view name = "MarkDuplicate";
  using Reads = Union<TriageFields, PhaseFields>::Type;
  using Writes = Union<Footprint<DupOf>, PhaseFields>::Type;
  std::string f;
  std::string of;
  WITAN_MEMBERS(MarkDuplicate, f, of)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kFindings>(f);
    row.set<DupOf>(of);
    enter(row, Phase::DUPLICATE, t);
  }
};

struct RunReproduction {
  static constexpr std::string_view name = "RunReproduction";
  using Reads = Union<Footprint<ReproLog>, PhaseFields>::Type;
  using Writes = Reads;
  std::string f;
  std::string env;
  std::int64_t seed = 0;
  bool ok = false;
  std::optional<std::string> trace;  // must be named; null: the run left none
  WITAN_MEMBERS(RunReproduction, f, env, seed, ok, trace)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = knownFinding(m, f);
    m.append<ReproLog>({f, env, seed, ok, trace, t});
    if (ok && row.get<FindingPhase>() == Phase::TRIAGED) enter(row, Phase::REPRODUCED, t);
  }
};

struct AssessSeverity {
  static constexpr std::string_view name = "AssessSeverity";
  using Reads = Union<SeverityFields, Footprint<FindingPhase>>::Type;
  using Writes = SeverityFields;
  std::string f;
  std::string vector;
  Score score;
  std::string b;  // band
  WITAN_MEMBERS(AssessSeverity, f, vector, score, b)

  void apply(Mutator<Fields>& m, Time) const {
    const Band band = m.word<Band>(b);
    knownFinding(m, f).set<SevVector>(vector).set<SevScore>(score).set<SevBand>(band);
  }
};

struct ProposeVerdict {
  static constexpr std::string_view name = "ProposeVerdict";
  using Reads = Union<SeverityFields, VerdictFields, PhaseFields>::Type;
  using Writes = Union<Footprint<VerdictOutcomeOf>, PhaseFields>::Type;
  std::string f;
  std::string outcome;
  WITAN_MEMBERS(ProposeVerdict, f, outcome)

  void apply(Mutator<Fields>& m, Time t) const {
    const VerdictOutcome word = m.word<VerdictOutcome>(outcome);
    auto row = m.edit<kFindings>(f);
    row.set<VerdictOutcomeOf>(word);
    enter(row, word == VerdictOutcome::VERIFIED ? Phase::VERIFIED : Phase::REFUTED, t);
  }
};

// Only a counselor's commit performs it: declared for lint, not an action.
struct SignVerdict {
  static constexpr std::string_view name = "SignVerdict";
  using Reads =
      Union<PhaseFields, StaticFields, TriageFields, SeverityFields, VerdictFields, Footprint<ReproLog>>::Type;
  using Writes = Footprint<VerdictBy>;
};

struct StaticAnalysis : Role<"StaticAnalysis", SubmitFinding, LocateDefect> {};
struct Triage : Role<"Triage", TriageFinding, MarkDuplicate> {};
struct Reproduction : Role<"Reproduction", RunReproduction> {};
struct SeverityAssessment : Role<"SeverityAssessment", AssessSeverity, ProposeVerdict> {};

}  // namespace witan::domains::verification
