// Security vulnerability verification: policy, state and fields. The entity is one body of findings (a project's, or
// one finding with those it may be a duplicate of).
//
// Columns of one finding share its row. What happened to it is in two histories: its phases, and all runs of its
// reproduction. Every fact carries its own time, that of its adjudication.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/capnp_codec.h"
#include "base/json_schema.h"
#include "base/time.h"
#include "domains/vocabulary.h"
#include "kernel/domain.h"

namespace witan::domains::verification {

// A severity score such as 8.1, exact to a millionth. JSON has it as a number, Cap'n Proto as millionths. Fixed-point,
// because bands have sharp edges (7.0 is HIGH, 6.9 is not) and equal states must have equal digests.
struct Score {
  static constexpr std::int64_t kOne = 1'000'000;
  static constexpr std::int64_t kMost = 1'000'000 * kOne;  // either way; what a double still holds exactly

  Score() = default;
  constexpr explicit Score(std::int64_t inMillionths) : millionths(inMillionths) {}
  static constexpr Score ofTenths(std::int64_t tenths) { return Score(tenths * (kOne / 10)); }
  auto operator<=>(const Score&) const = default;

  // Cap'n Proto's 64 bits. What no JSON could have carried becomes the nearest that could.
  explicit Score(std::uint64_t bits) : millionths(std::clamp(static_cast<std::int64_t>(bits), -kMost, kMost)) {}
  explicit operator std::uint64_t() const { return static_cast<std::uint64_t>(millionths); }

  std::int64_t millionths = 0;
};

}  // namespace witan::domains::verification

namespace witan {

template <>
struct JsonCodec<domains::verification::Score> {
  using Score = domains::verification::Score;
  static Status read(const json::value& v, Score& out, std::string_view where) {
    if (!v.is_number()) return wrongJsonType(where, "a number", v);
    const double number = v.to_number<double>();
    constexpr double most = static_cast<double>(Score::kMost / Score::kOne);
    if (!(std::fabs(number) <= most)) return invalid(std::string(where) + ": must lie within a million of 0");
    const Score score(static_cast<std::int64_t>(std::llround(number * static_cast<double>(Score::kOne))));
    if (asDouble(score) != number) return invalid(std::string(where) + ": has more than six decimals");
    out = score;
    return okStatus();
  }
  static void write(std::string& out, Score v) { appendJsonNumber(out, asDouble(v)); }
  static std::string typeName() { return "number"; }

 private:
  static double asDouble(Score v) { return static_cast<double>(v.millionths) / static_cast<double>(Score::kOne); }
};

template <>
struct JsonSchema<domains::verification::Score> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("number"); }
};

template <>
constexpr int capnpSize<domains::verification::Score>() {
  return 6;
}
template <>
inline std::string capnpTypeName<domains::verification::Score>() {
  return "Int64";
}

}  // namespace witan

namespace witan::domains::verification {

using namespace kernel;

WITAN_ENUM(Phase, SUBMITTED, TRIAGED, REPRODUCED, VERIFIED, REFUTED, DUPLICATE)
WITAN_ENUM(VerdictOutcome, VERIFIED, REFUTED)
WITAN_ENUM(Band, NONE, LOW, MEDIUM, HIGH, CRITICAL)

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t minRuns = 2;  // successful runs, each of another (env, seed), that make evidence
  WITAN_MEMBERS(Policy, minRuns)

  Status validate() const {
    if (minRuns < 0 || minRuns > 1000) return invalid("policy.minRuns: 0..1000");
    return okStatus();
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
  Cell<HumanMark> by;  // who signed the verdict
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
struct VerdictBy : HumanColumn<"verdict.by", &State::findings, &FindingRow::by> {};

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
