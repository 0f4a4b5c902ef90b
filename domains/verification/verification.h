// Security vulnerability verification, assembled (seed 000, section 3.2.2): static analysis, triage, reproduction and
// severity assessment propose, and the verifier is a human, so the happy path always passes the counselor.
//
// Where the rules leave a choice (docs/FINDINGS.md, D1 to D5):
//   any phase that is not final may become DUPLICATE; a verdict is VERIFIED or REFUTED and nothing else (another word
//   faults); a score lies within 0 to 10; a location that is empty is none; evidence counts whenever it was recorded.
#pragma once

#include "base/seams.h"
#include "domains/registry.h"
#include "domains/verification/actions.h"
#include "domains/verification/invariants.h"

namespace witan::agents {
class Agent;
}

namespace witan::domains::verification {

struct Verification {
  static constexpr std::string_view name = "verification";
  static constexpr std::string_view title =
      "Security vulnerability verification: findings, their reproduction, severity and verdict";
  using Fields = verification::Fields;
  using Instances = Footprint<FindingPhase>;  // a question about one finding freezes that one
  using Roles = RoleList<StaticAnalysis, Triage, Reproduction, SeverityAssessment>;
  using CounselorProcesses = ProcessList<SignVerdict>;
  using Invariants = InvariantList<PhasePath, DuplicateTarget, SeverityBand, EvidenceFirst, HumanVerdict>;
  static const Extension& extension();

  static std::vector<std::string> counselors() { return {"human.verifier"}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  static std::string sampleInit(Random&, Time at);
  // The human's part: the signature under a verdict.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
};

namespace workers {
const agents::Agent& verifiedIntake();  // domains/verification/verified_intake.cpp
}

}  // namespace witan::domains::verification
