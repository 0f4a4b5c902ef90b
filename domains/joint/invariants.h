// Joint: the invariants. The second is the auditor: it recomputes the last closed epoch from what the state remembers
// of it, with the auditors' own reading of the rules (coordination/audit_judge.h), so that a kernel that arbitrates
// cannot commit.
#pragma once

#include "domains/joint/state.h"

namespace witan::domains::joint {

struct RequestsAreOpen {
  static constexpr std::string_view id = "JOINT_REQUESTS_ARE_OPEN";
  static constexpr std::string_view rule =
      "what waits is of the open epoch, by who is there, and about keys of the world";
  using Reads = Footprint<WorldValue, AgentActive, AgentRequest, Epoch>;
  static Verdict check(const View<RequestsAreOpen>& s);
};

struct NoArbitration {
  static constexpr std::string_view id = "JOINT_NO_ARBITRATION";
  static constexpr std::string_view rule =
      "of the last epoch exactly what both passes admit was executed, and the world is what that made of it";
  using Reads = Union<AuthorityFields, Footprint<WorldValue, WorldBefore, AgentClosed, AgentOutcome, Epoch>>::Type;
  static Verdict check(const View<NoArbitration>& s);
};

}  // namespace witan::domains::joint
