// Security vulnerability verification: the invariants, in list order. The human's verdict comes last, so that a
// verdict without its evidence never costs human time.
//
// Every predicate is time-stable, and later facts do not break it: evidence only grows, and no predicate reads the
// clock.
#pragma once

#include "domains/verification/state.h"

namespace witan::domains::verification {

// The phase log begins at SUBMITTED, ends at the finding's phase and follows the life cycle, in time:
//   SUBMITTED -> TRIAGED -> REPRODUCED -> VERIFIED or REFUTED;  TRIAGED -> REFUTED;
//   SUBMITTED, TRIAGED or REPRODUCED -> DUPLICATE.  VERIFIED, REFUTED and DUPLICATE are final.
struct PhasePath : NamedRowInvariant<"VERIF_PHASE_PATH", kFindings> {
  static constexpr std::string_view rule =
      "each finding's phase log starts at SUBMITTED, ends at its phase and follows the life cycle in order of time";
  using Reads = PhaseFields;
  static Verdict checkRow(const View<PhasePath>&, const RowView<PhasePath, table>&);
};

struct DuplicateTarget : NamedRowInvariant<"VERIF_DUPLICATE_TARGET", kFindings> {
  static constexpr std::string_view rule =
      "a duplicate names another finding that exists and is not itself a duplicate";
  using Reads = Footprint<DupOf, FindingPhase>;
  static Verdict checkRow(const View<DuplicateTarget>&, const RowView<DuplicateTarget, table>&);
  static bool othersStand(const View<DuplicateTarget>&, const Touched<DuplicateTarget, Fields>&);
};

struct SeverityBand : NamedRowInvariant<"VERIF_SEVERITY_BAND", kFindings> {
  static constexpr std::string_view rule =
      "the score is that of the CVSS vector, and the band that of the score: 0 NONE, below 4 LOW, below 7 MEDIUM, "
      "below 9 HIGH, to 10 CRITICAL";
  using Reads = SeverityFields;
  static Verdict checkRow(const View<SeverityBand>&, const RowView<SeverityBand, table>&);
};

struct EvidenceFirst : NamedInvariant<"VERIF_EVIDENCE_FIRST"> {
  static constexpr std::string_view rule =
      "a VERIFIED finding has a location, a severity and enough successful runs, with a trace, of different (env, "
      "seed)";
  using Reads = Union<Footprint<FindingPhase, StaticLocation, ReproLog>, SeverityFields>::Type;
  static Verdict check(const View<EvidenceFirst>&);
  static bool stillPasses(const View<EvidenceFirst>&, const Touched<EvidenceFirst, Fields>&);
};

struct HumanVerdict : NamedRowInvariant<"VERIF_HUMAN_VERDICT", kFindings> {
  static constexpr std::string_view rule = "a human has signed every verdict";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Union<PhaseFields, VerdictFields>::Type;
  static Verdict checkRow(const View<HumanVerdict>&, const RowView<HumanVerdict, table>&);
};

Band bandOf(Score);

}  // namespace witan::domains::verification
