// User case management, assembled: signals are labelled, notices drafted, actions taken and appealed; a senior
// moderator is the counselor. Unlike UDT it is governed by time: strikes and manual labels expire, appeals have a
// window.
//
// Where the rules leave a choice (docs/FINDINGS.md, D6 to D13):
//   a label cited as evidence must not have been removed by the time of the action (not only: not be a removal);
//   the strike of an action counts towards its own threshold; the strike window is (t - 90 d, t], a manual label binds
//   until 5 s after its expiry, an appeal may come at the last instant of its window, and a case closes only after it;
//   whoever takes an action again takes it at the new time; an outcome is UPHELD or OVERTURNED; WARN is the one kind
//   that neither strikes nor restricts.
#pragma once

#include "base/seams.h"
#include "domains/moderation/actions.h"
#include "domains/moderation/invariants.h"

namespace witan::domains::moderation {

struct Moderation {
  static constexpr std::string_view name = "moderation";
  static constexpr std::string_view title =
      "User case management: labels, notices, enforcement actions, strikes and appeals of one user";
  using Fields = moderation::Fields;
  using Roles = RoleList<SignalTriage, UserNotice, Enforcement, Appeals>;
  using CounselorProcesses = ProcessList<ReviewBan, SignAppeal>;
  using Invariants = InvariantList<RefIntegrity, LabelValid, ManualLabelPrecedence, StrikeLedger, DoubleJeopardy,
                                   EvidenceRequired, StatementOfReasons, Proportionality, AppealWindow,
                                   OverturnRestores, HumanAppealDecision, HumanPermanentBan>;

  static std::vector<std::string> counselors() { return {"human.lead"}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  static std::string sampleInit(Random&, Time at);
  // The human's part: the review of a ban, the signature under an appeal's decision.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
};

}  // namespace witan::domains::moderation
