// User case management: the invariants, in list order (structure, then rejects, then escalations).
//
// Every predicate is time-stable. One about an action at time T reads only facts dated <= T, so that what comes later
// (a label removed, a strike voided, an appeal opened) never breaks the action.
#pragma once

#include "base/utf8.h"
#include "domains/moderation/state.h"

namespace witan::domains::moderation {

// How their messages name things.
inline std::string named(std::string_view what, std::string_view key) {
  return std::string(what) + " " + std::string(clip(key));
}
inline std::string action(std::string_view key) { return named("action", key); }

struct RefIntegrity : NamedInvariant<"UCM_REF_INTEGRITY"> {
  static constexpr std::string_view rule =
      "columns of one action share keys, appeals point at actions, the account's status is that of the live actions";
  using Reads = Union<ActionFields, Footprint<AppealAction, AccountStatusOf>>::Type;
  static Verdict check(const View<RefIntegrity>&);
  static bool stillPasses(const View<RefIntegrity>&, const Touched<RefIntegrity, Fields>&);
};

struct LabelValid : NamedRowInvariant<"UCM_LABEL_VALID", kLabels> {
  static constexpr std::string_view rule = "every label entry has a reason, and its label is for that kind of entity";
  using Reads = LabelFields;
  static Verdict checkRow(const View<LabelValid>&, const RowView<LabelValid, table>&);
};

struct ManualLabelPrecedence : NamedInvariant<"UCM_MANUAL_LABEL_PRECEDENCE"> {
  static constexpr std::string_view rule =
      "no automatic label entry follows an unexpired manual one for the same entity and label";
  using Reads = LabelFields;
  static Verdict check(const View<ManualLabelPrecedence>&);
  static bool stillPasses(const View<ManualLabelPrecedence>&, const Touched<ManualLabelPrecedence, Fields>&);
};

struct StrikeLedger : NamedRowInvariant<"UCM_STRIKE_LEDGER", kActions> {
  static constexpr std::string_view rule =
      "an action has its policy's weight as a strike iff its kind is strike-enabled, voided iff it is reversed";
  using Reads = Union<Footprint<ActionKindOf, ActionPolicy, ActionReversedAt>, StrikeFields>::Type;
  static Verdict checkRow(const View<StrikeLedger>&, const RowView<StrikeLedger, table>&);
};

struct DoubleJeopardy : NamedInvariant<"UCM_DOUBLE_JEOPARDY"> {
  static constexpr std::string_view rule = "at most one live action for an item under a policy";
  using Reads = Footprint<ActionPolicy, ActionItem, ActionReversedAt>;
  static Verdict check(const View<DoubleJeopardy>&);
  static bool stillPasses(const View<DoubleJeopardy>&, const Touched<DoubleJeopardy, Fields>&);
};

struct EvidenceRequired : NamedRowInvariant<"UCM_EVIDENCE_REQUIRED", kActions> {
  static constexpr std::string_view rule =
      "every action cites labels, each of them existing and not removed at the time of the action";
  using Reads = Union<Footprint<ActionAt, ActionEvidence>, LabelFields>::Type;
  static Verdict checkRow(const View<EvidenceRequired>&, const RowView<EvidenceRequired, table>&);
  static bool othersStand(const View<EvidenceRequired>&, const Touched<EvidenceRequired, Fields>&);
};

struct StatementOfReasons : NamedRowInvariant<"UCM_STATEMENT_OF_REASONS", kActions> {
  static constexpr std::string_view rule =
      "a restrictive action has a notice of facts, clause and redress, no later than the action";
  using Reads = Union<Footprint<ActionKindOf, ActionAt>, NoticeFields>::Type;
  static Verdict checkRow(const View<StatementOfReasons>&, const RowView<StatementOfReasons, table>&);
  static bool othersStand(const View<StatementOfReasons>&, const Touched<StatementOfReasons, Fields>&);
};

struct Proportionality : NamedRowInvariant<"UCM_PROPORTIONALITY", kActions> {
  static constexpr std::string_view rule =
      "the strikes that count at an action's time reach the threshold of its kind, unless its policy is severe";
  using Reads = Union<Footprint<ActionKindOf, ActionPolicy, ActionAt>, StrikeFields,
                      Footprint<AppealAction, AppealAt, AppealStatusOf>>::Type;
  static Verdict checkRow(const View<Proportionality>&, const RowView<Proportionality, table>&);
  static bool othersStand(const View<Proportionality>&, const Touched<Proportionality, Fields>&);
};

struct AppealWindow : NamedInvariant<"UCM_APPEAL_WINDOW"> {
  static constexpr std::string_view rule =
      "appeals come within the window of their action; a case is closed after those of all live restrictive actions";
  using Reads = Union<Footprint<ActionKindOf, ActionAt, ActionReversedAt, AppealAction, AppealAt>, CaseFields>::Type;
  static Verdict check(const View<AppealWindow>&);
  static bool stillPasses(const View<AppealWindow>&, const Touched<AppealWindow, Fields>&);
};

struct OverturnRestores : NamedRowInvariant<"UCM_OVERTURN_RESTORES", kAppeals> {
  static constexpr std::string_view rule = "the action of an OVERTURNED appeal is reversed";
  using Reads = Footprint<AppealAction, AppealStatusOf, ActionReversedAt>;
  static Verdict checkRow(const View<OverturnRestores>&, const RowView<OverturnRestores, table>&);
  static bool othersStand(const View<OverturnRestores>&, const Touched<OverturnRestores, Fields>&);
};

struct HumanAppealDecision : NamedRowInvariant<"UCM_HUMAN_APPEAL_DECISION", kAppeals> {
  static constexpr std::string_view rule = "a human has decided every decided appeal";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Footprint<AppealStatusOf, AppealDecidedBy>;
  static Verdict checkRow(const View<HumanAppealDecision>&, const RowView<HumanAppealDecision, table>&);
};

struct HumanPermanentBan : NamedRowInvariant<"UCM_HUMAN_PERMANENT_BAN", kActions> {
  static constexpr std::string_view rule = "a human has reviewed every BAN";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Footprint<ActionKindOf, ActionAt, HumanReview>;
  static Verdict checkRow(const View<HumanPermanentBan>&, const RowView<HumanPermanentBan, table>&);
};

}  // namespace witan::domains::moderation
