// User case management (moderation of one user's account): policy, state and fields. The entity is one user.
//
// Columns of one enforcement action share its row, with its strike and the human's review of it; notices and appeals
// have rows of their own, which name the action. Labels are a history. Every fact carries its own time, that of its
// adjudication.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json_codec.h"
#include "base/time.h"
#include "domains/vocabulary.h"
#include "kernel/domain.h"

namespace witan::domains::moderation {

using namespace kernel;

// Osprey's: a manual status is a person's, the others are rules'.
WITAN_ENUM(LabelStatus, REMOVED, ADDED, MANUALLY_REMOVED, MANUALLY_ADDED)
WITAN_ENUM(ActionKind, WARN, REMOVE_CONTENT, RESTRICT, SUSPEND, BAN)
// What live actions make of the account: the highest of theirs.
WITAN_ENUM(AccountStatus, ACTIVE, RESTRICT, SUSPEND, BAN)
WITAN_ENUM(CasePhase, OPEN, ACTIONED, CLOSED)
WITAN_ENUM(AppealStatus, OPEN, UPHELD, OVERTURNED)
WITAN_ENUM(AppealOutcome, UPHELD, OVERTURNED)

inline bool isManual(LabelStatus s) { return s == LabelStatus::MANUALLY_ADDED || s == LabelStatus::MANUALLY_REMOVED; }
inline bool isRemoval(LabelStatus s) { return s == LabelStatus::REMOVED || s == LabelStatus::MANUALLY_REMOVED; }

struct Policy {
  static constexpr std::size_t required = 0;
  std::map<std::string, std::int64_t> weights{{"spam", 1}, {"harassment", 3}, {"hate", 5}, {"scam", 5}, {"csam", 20}};
  std::vector<std::string> severe{"csam"};  // policies whose violation needs no strikes before
  std::int64_t strikeWindowDays = 90;
  std::vector<std::string> strikeEnabled{"REMOVE_CONTENT", "RESTRICT", "SUSPEND", "BAN"};
  std::vector<std::string> restrictive{"REMOVE_CONTENT", "RESTRICT", "SUSPEND", "BAN"};
  std::map<std::string, std::int64_t> thresholds{{"RESTRICT", 5}, {"SUSPEND", 10}, {"BAN", 20}};
  std::int64_t appealWindowDays = 182;  // at least six months (DSA, Art. 20(1))
  std::int64_t skewSeconds = 5;         // of clocks, when a manual label expires
  // Which kinds of entity a label is for.
  std::map<std::string, std::vector<std::string>> labels{
      {"likely_spammer", {"User"}}, {"scam_link", {"Post", "User"}}, {"trusted", {"User"}}};
  WITAN_MEMBERS(Policy, weights, severe, strikeWindowDays, strikeEnabled, restrictive, thresholds, appealWindowDays,
                skewSeconds, labels)

  static bool in(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  }
  bool isStrikeEnabled(ActionKind kind) const { return in(strikeEnabled, enumName(kind)); }
  bool isRestrictive(ActionKind kind) const { return in(restrictive, enumName(kind)); }
  bool isSevere(const std::string& policy) const { return in(severe, policy); }
  // The strikes that an action of the kind needs; none: it needs none.
  std::optional<std::int64_t> thresholdOf(ActionKind kind) const {
    const auto at = thresholds.find(std::string(enumName(kind)));
    return at == thresholds.end() ? std::nullopt : std::optional(at->second);
  }

  Status validate() const;
};

struct LabelEntry {
  static constexpr std::size_t required = 7;
  std::string id;  // L1, L2, ...
  std::string type;
  std::string entity;
  std::string label;
  LabelStatus status = LabelStatus::ADDED;
  std::string reason;
  Time at;
  std::optional<Time> expires;
  WITAN_MEMBERS(LabelEntry, id, type, entity, label, status, reason, at, expires)
};

struct LabelRow {
  Cell<LabelEntry> entry;
};

struct ActionRow {
  Cell<ActionKind> kind;
  Cell<Time> at;
  Cell<Time> reversedAt;
  Cell<std::int64_t> strikeWeight;
  Cell<Time> strikeVoidedAt;
  Cell<std::string> policy;
  Cell<std::string> item;
  Cell<std::vector<std::string>> evidence;
  Cell<HumanMark> humanReview;
};

struct NoticeRow {
  Cell<std::string> action;
  Cell<Time> at;
  Cell<std::string> facts;
  Cell<std::string> clause;
  Cell<std::string> redress;
};

struct AppealRow {
  Cell<std::string> action;
  Cell<Time> at;
  Cell<AppealStatus> status;
  Cell<HumanMark> decidedBy;
};

struct State {
  using Policy = moderation::Policy;
  Table<LabelRow> labels;
  Table<ActionRow> actions;
  Table<NoticeRow> notices;
  Table<AppealRow> appeals;
  AccountStatus accountStatus = AccountStatus::ACTIVE;
  CasePhase casePhase = CasePhase::OPEN;
  std::optional<Time> closedAt;
};

struct LabelLog : LogColumn<"label.log", &State::labels, &LabelRow::entry> {};
struct ActionKindOf : Column<"action.kind", &State::actions, &ActionRow::kind> {};
struct ActionPolicy : Column<"action.policy", &State::actions, &ActionRow::policy> {};
struct ActionItem : Column<"action.item", &State::actions, &ActionRow::item> {};
struct ActionAt : Column<"action.at", &State::actions, &ActionRow::at> {};
struct ActionEvidence : Column<"action.evidence", &State::actions, &ActionRow::evidence> {};
struct ActionReversedAt : Column<"action.reversedAt", &State::actions, &ActionRow::reversedAt> {};
struct StrikeWeight : Column<"strike.weight", &State::actions, &ActionRow::strikeWeight> {};
struct StrikeVoidedAt : Column<"strike.voidedAt", &State::actions, &ActionRow::strikeVoidedAt> {};
struct NoticeAction : Column<"notice.action", &State::notices, &NoticeRow::action> {};
struct NoticeAt : Column<"notice.at", &State::notices, &NoticeRow::at> {};
struct NoticeFacts : Column<"notice.facts", &State::notices, &NoticeRow::facts> {};
struct NoticeClause : Column<"notice.clause", &State::notices, &NoticeRow::clause> {};
struct NoticeRedress : Column<"notice.redress", &State::notices, &NoticeRow::redress> {};
struct AppealAction : Column<"appeal.action", &State::appeals, &AppealRow::action> {};
struct AppealAt : Column<"appeal.at", &State::appeals, &AppealRow::at> {};
struct AppealStatusOf : Column<"appeal.status", &State::appeals, &AppealRow::status> {};
struct AppealDecidedBy : HumanColumn<"appeal.decidedBy", &State::appeals, &AppealRow::decidedBy> {};
struct AccountStatusOf : Scalar<"account.status", &State::accountStatus> {
  static constexpr bool lifecycle = true;
};
struct CasePhaseOf : Scalar<"case.phase", &State::casePhase> {
  static constexpr bool lifecycle = true;
};
struct CaseClosedAt : Scalar<"case.closedAt", &State::closedAt> {};
struct HumanReview : HumanColumn<"humanReview", &State::actions, &ActionRow::humanReview> {};

using Fields = FieldList<LabelLog, ActionKindOf, ActionPolicy, ActionItem, ActionAt, ActionEvidence, ActionReversedAt,
                         StrikeWeight, StrikeVoidedAt, NoticeAction, NoticeAt, NoticeFacts, NoticeClause, NoticeRedress,
                         AppealAction, AppealAt, AppealStatusOf, AppealDecidedBy, AccountStatusOf, CasePhaseOf,
                         CaseClosedAt, HumanReview>;

using LabelFields = Footprint<LabelLog>;
using TakenFields = Footprint<ActionKindOf, ActionPolicy, ActionItem, ActionAt, ActionEvidence>;
using ActionFields = Union<TakenFields, Footprint<ActionReversedAt>>::Type;
using StrikeFields = Footprint<StrikeWeight, StrikeVoidedAt>;
using NoticeFields = Footprint<NoticeAction, NoticeAt, NoticeFacts, NoticeClause, NoticeRedress>;
using AppealFields = Footprint<AppealAction, AppealAt, AppealStatusOf, AppealDecidedBy>;
using CaseFields = Footprint<CasePhaseOf, CaseClosedAt>;

inline constexpr auto kLabels = &State::labels;
inline constexpr auto kActions = &State::actions;
inline constexpr auto kNotices = &State::notices;
inline constexpr auto kAppeals = &State::appeals;

}  // namespace witan::domains::moderation
