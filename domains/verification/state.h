// Security vulnerability verification: policy, state and fields. The entity is one body of findings (a project's, or
// one finding with those it may be a duplicate of).
//
// Columns of one finding share its row. What happened to it is in two histories: its phases, and all runs of its
// reproduction. Every fact carries its own time, that of its adjudication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "domains/people.h"
#include "domains/verification/score.h"
#include "kernel/domain.h"

namespace witan::domains::verification {

using namespace kernel;

WITAN_ENUM(Phase, SUBMITTED, TRIAGED, REPRODUCED, VERIFIED, REFUTED, DUPLICATE)
WITAN_ENUM(VerdictOutcome, VERIFIED, REFUTED)
WITAN_ENUM(Band, NONE, LOW, MEDIUM, HIGH, CRITICAL)

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t minRuns = 2;                  // successful runs, each of another (env, seed), that make evidence
  std::vector<std::string> humans{"human"};  // who may have given a verdict (domains/people.h)
  WITAN_MEMBERS(Policy, minRuns, humans)

  Status validate() const {
    if (minRuns < 0 || minRuns > 1000) return invalid("policy.minRuns: 0..1000");
    return validHumans(humans);
  }
};

struct PhaseEntry {
  static constexpr bool asTuple = true;
  Phase phase = Phase::SUBMITTED;
  Time at;
  WITAN_MEMBERS(PhaseEntry, phase, at)
};

// One attempt to reproduce a finding.
struct Run {
  std::string f;
  std::string env;
  std::int64_t seed = 0;
  bool ok = false;
  std::optional<std::string> trace;
  Time at;
  WITAN_MEMBERS(Run, f, env, seed, ok, trace, at)
};

struct FindingRow {
  Cell<Phase> phase;
  Cell<std::vector<PhaseEntry>> phaseLog;
  Cell<std::string> location;
  Cell<std::string> cwe;
  Cell<std::string> component;
  Cell<std::string> maintainer;
  Cell<std::string> vector;
  Cell<Score> score;
  Cell<Band> band;
  Cell<std::string> dupOf;
  Cell<VerdictOutcome> outcome;
  Cell<std::string> by;
};

struct RunRow {
  Cell<Run> run;
};

struct State {
  using Policy = verification::Policy;
  Table<FindingRow> findings;
  Table<RunRow> runs;
};

struct FindingPhase : Column<"finding.phase", &State::findings, &FindingRow::phase> {
  static constexpr bool lifecycle = true;
};
struct PhaseLog : Column<"phase.log", &State::findings, &FindingRow::phaseLog> {
  static constexpr bool lifecycle = true;
};
struct StaticLocation : Column<"static.location", &State::findings, &FindingRow::location> {};
struct StaticCwe : Column<"static.cwe", &State::findings, &FindingRow::cwe> {};
struct ReproLog : LogColumn<"repro.log", &State::runs, &RunRow::run> {};
struct DupOf : Column<"dup.of", &State::findings, &FindingRow::dupOf> {};
struct TriageComponent : Column<"triage.component", &State::findings, &FindingRow::component> {};
struct TriageMaintainer : Column<"triage.maintainer", &State::findings, &FindingRow::maintainer> {};
struct SevVector : Column<"sev.vector", &State::findings, &FindingRow::vector> {};
struct SevScore : Column<"sev.score", &State::findings, &FindingRow::score> {};
struct SevBand : Column<"sev.band", &State::findings, &FindingRow::band> {};
struct VerdictOutcomeOf : Column<"verdict.outcome", &State::findings, &FindingRow::outcome> {};
struct VerdictBy : Column<"verdict.by", &State::findings, &FindingRow::by> {};

using Fields = FieldList<FindingPhase, PhaseLog, StaticLocation, StaticCwe, ReproLog, DupOf, TriageComponent,
                         TriageMaintainer, SevVector, SevScore, SevBand, VerdictOutcomeOf, VerdictBy>;

using PhaseFields = Footprint<FindingPhase, PhaseLog>;
using StaticFields = Footprint<StaticLocation, StaticCwe>;
using TriageFields = Footprint<DupOf, TriageComponent, TriageMaintainer>;
using SeverityFields = Footprint<SevVector, SevScore, SevBand>;
using VerdictFields = Footprint<VerdictOutcomeOf, VerdictBy>;

inline constexpr auto kFindings = &State::findings;
inline constexpr auto kRuns = &State::runs;

}  // namespace witan::domains::verification
