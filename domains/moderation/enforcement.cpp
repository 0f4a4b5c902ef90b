// The invariants of enforcement: evidence, reasons, proportion, appeals, and what only a human may do.
#include <algorithm>

#include "base/mutant.h"
#include "domains/moderation/invariants.h"

namespace witan::domains::moderation {

namespace {

Time plusDays(Time t, std::int64_t days) { return Time{t.micros + days * kMicrosPerDay}; }

// ---- evidence ----

// Why the label `id` is no evidence for an action at `at`; empty: it is. O(labels).
std::string_view defectOf(const View<EvidenceRequired>& s, std::string_view id, Time at) {
  const LabelEntry* cited = nullptr;
  for (auto row : s.rows<kLabels>()) {
    const LabelEntry& entry = *row.get<LabelLog>();
    if (cited == nullptr && entry.id == id) {
      if (entry.at > at) return "came later";
      if (isRemoval(entry.status)) return "is a removal";
      cited = &entry;
    } else if (cited != nullptr && isRemoval(entry.status) && entry.at <= at && entry.label == cited->label &&
               entry.entity == cited->entity && entry.type == cited->type) {
      return "had been removed";
    }
  }
  return cited == nullptr ? "does not exist" : "";
}

// ---- reasons ----

bool isFilled(const Cell<std::string>& text) { return text && isStated(*text); }

bool isComplete(const RowView<StatementOfReasons, kNotices>& notice) {
  return notice.has<NoticeAt>() && isFilled(notice.get<NoticeFacts>()) && isFilled(notice.get<NoticeClause>()) &&
         isFilled(notice.get<NoticeRedress>());
}

// ---- proportion ----

using StrikeView = RowView<Proportionality, kActions>;

bool isUnderOpenAppeal(const View<Proportionality>& s, std::string_view key, Time at) {
  for (auto appeal : s.rows<kAppeals>())
    if (appeal.get<AppealAction>() == key && appeal.get<AppealStatusOf>() == AppealStatus::OPEN &&
        appeal.has<AppealAt>() && *appeal.get<AppealAt>() <= at)
      return true;
  return false;
}

// Does the strike of `row` count at `at`? Its window is (at - days, at].
bool counts(const View<Proportionality>& s, const StrikeView& row, Time at) {
  if (!row.has<StrikeWeight>() || !row.has<ActionAt>()) return false;
  if (*row.get<ActionAt>() > at || *row.get<ActionAt>() <= plusDays(at, -s.policy().strikeWindowDays)) return false;
  if (row.has<StrikeVoidedAt>() && *row.get<StrikeVoidedAt>() <= at) return false;
  return !isUnderOpenAppeal(s, row.key(), at);
}

// ---- appeals ----

Verdict checkAppealTime(const View<AppealWindow>& s, const RowView<AppealWindow, kAppeals>& appeal) {
  if (!appeal.has<AppealAction>() || !appeal.has<AppealAt>()) return Verdict::pass();
  const auto target = s.row<kActions>(*appeal.get<AppealAction>());
  if (!target || !target->has<ActionAt>()) return Verdict::pass();  // UCM_REF_INTEGRITY's
  if (*appeal.get<AppealAt>() <= plusDays(*target->get<ActionAt>(), s.policy().appealWindowDays))
    return Verdict::pass();
  return Verdict::reject(named("appeal", appeal.key()) + " comes more than " +
                         std::to_string(s.policy().appealWindowDays) + " days after " + action(target->key()));
}

Verdict checkClosing(const View<AppealWindow>& s) {
  if (s.get<CasePhaseOf>() != CasePhase::CLOSED) return Verdict::pass();
  const std::optional<Time>& closed = s.get<CaseClosedAt>();
  if (!closed) return Verdict::reject("the case is CLOSED at no time");
  for (auto row : s.rows<kActions>()) {
    if (!row.has<ActionKindOf>() || !row.has<ActionAt>() || row.has<ActionReversedAt>()) continue;
    if (!s.policy().isRestrictive(*row.get<ActionKindOf>())) continue;
    const Time end = plusDays(*row.get<ActionAt>(), s.policy().appealWindowDays);
    if (*closed <= end)
      return Verdict::reject("the case is closed while " + action(row.key()) + " may be appealed until " +
                             formatTime(end));
  }
  return Verdict::pass();
}

}  // namespace

Verdict EvidenceRequired::checkRow(const View<EvidenceRequired>& s, const RowView<EvidenceRequired, table>& row) {
  if (!row.has<ActionAt>()) return Verdict::pass();  // UCM_REF_INTEGRITY's
  if (!row.has<ActionEvidence>() || row.get<ActionEvidence>()->empty())
    return Verdict::reject(action(row.key()) + " cites no label");
  for (const std::string& id : *row.get<ActionEvidence>())
    if (const auto defect = defectOf(s, id, *row.get<ActionAt>()); !defect.empty())
      return Verdict::reject(action(row.key()) + ": " + named("label", id) + " " + std::string(defect));
  return Verdict::pass();
}

// A new entry takes evidence away only if it removes, and only from actions of its own time or later.
bool EvidenceRequired::othersStand(const View<EvidenceRequired>& s, const Touched<EvidenceRequired, Fields>& touched) {
  for (auto label : touched.rows<kLabels>()) {
    if (!label.has<LabelLog>() || touched.existedBefore<LabelLog>(label)) return false;
    if (!isRemoval(label.get<LabelLog>()->status)) continue;
    for (auto row : s.rows<kActions>())
      if (row.has<ActionAt>() && *row.get<ActionAt>() >= label.get<LabelLog>()->at && !checkRow(s, row).passed())
        return false;
  }
  return true;
}

// O(notices) for a restrictive action.
Verdict StatementOfReasons::checkRow(const View<StatementOfReasons>& s, const RowView<StatementOfReasons, table>& row) {
  if (!row.has<ActionKindOf>() || !row.has<ActionAt>() || !s.policy().isRestrictive(*row.get<ActionKindOf>()) ||
      mutated("noStatement"))
    return Verdict::pass();
  for (auto notice : s.rows<kNotices>())
    if (notice.get<NoticeAction>() == row.key() && isComplete(notice) &&
        *notice.get<NoticeAt>() <= *row.get<ActionAt>())
      return Verdict::pass();
  return Verdict::reject(action(row.key()) + " has no complete notice of its own time or before");
}

// A new notice takes nothing away; a notice that is written again may.
bool StatementOfReasons::othersStand(const View<StatementOfReasons>&,
                                     const Touched<StatementOfReasons, Fields>& touched) {
  return noneOf(touched.rows<kNotices>(),
                [&](auto notice) { return touched.template existedBefore<NoticeAction>(notice); });
}

// O(actions * appeals). The action's own strike counts as any other.
Verdict Proportionality::checkRow(const View<Proportionality>& s, const RowView<Proportionality, table>& row) {
  if (!row.has<ActionKindOf>() || !row.has<ActionAt>()) return Verdict::pass();
  const auto least = s.policy().thresholdOf(*row.get<ActionKindOf>());
  if (!least || (row.has<ActionPolicy>() && s.policy().isSevere(*row.get<ActionPolicy>()))) return Verdict::pass();
  std::int64_t score = 0;
  for (auto other : s.rows<kActions>())
    if (counts(s, other, *row.get<ActionAt>())) score += *other.get<StrikeWeight>();
  if (score >= *least) return Verdict::pass();
  return Verdict::reject(action(row.key()) + ": strikes of " + std::to_string(score) + " count, " +
                         std::string(enumName(*row.get<ActionKindOf>())) + " needs " + std::to_string(*least));
}

// What is new at some time (an action, a void, an open appeal) concerns actions of that time or later only; a decided
// appeal only gives strikes back. An action that is taken again moves its strike: that calls for the full check.
bool Proportionality::othersStand(const View<Proportionality>& s, const Touched<Proportionality, Fields>& touched) {
  Time since = kLastTime;
  bool any = false;
  const auto concerns = [&](const Cell<Time>& at) {
    any = any || at.has_value();
    if (at) since = std::min(since, *at);
  };
  for (auto row : touched.rows<kActions>()) {
    if (touched.existedBefore<ActionAt>(row) &&
        (touched.changed<ActionAt>(row) || touched.changed<StrikeWeight>(row) || touched.changed<ActionKindOf>(row) ||
         touched.changed<ActionPolicy>(row)))
      return false;
    if (touched.changed<ActionAt>(row)) concerns(row.get<ActionAt>());
    if (touched.changed<StrikeVoidedAt>(row)) concerns(row.get<StrikeVoidedAt>());
  }
  for (auto appeal : touched.rows<kAppeals>())
    if (appeal.get<AppealStatusOf>() == AppealStatus::OPEN) concerns(appeal.get<AppealAt>());
  if (!any) return true;
  for (auto row : s.rows<kActions>())
    if (row.has<ActionAt>() && *row.get<ActionAt>() >= since && !checkRow(s, row).passed()) return false;
  return true;
}

Verdict AppealWindow::check(const View<AppealWindow>& s) {
  Verdict times = firstFailing(s.rows<kAppeals>(), [&](auto appeal) { return checkAppealTime(s, appeal); });
  return times.passed() ? checkClosing(s) : times;
}

bool AppealWindow::stillPasses(const View<AppealWindow>& s, const Touched<AppealWindow, Fields>& touched) {
  const auto actions = touched.rows<kActions>();
  for (auto row : actions)
    if (touched.changed<ActionAt>(row)) return false;  // appeals may be of it
  for (auto appeal : touched.rows<kAppeals>())
    if (!checkAppealTime(s, appeal).passed()) return false;
  return (actions.empty() && !touched.scalars()) || checkClosing(s).passed();
}

Verdict OverturnRestores::checkRow(const View<OverturnRestores>& s, const RowView<OverturnRestores, table>& appeal) {
  if (appeal.get<AppealStatusOf>() != AppealStatus::OVERTURNED) return Verdict::pass();
  if (appeal.has<AppealAction>()) {
    const auto target = s.row<kActions>(*appeal.get<AppealAction>());
    if (target && target->has<ActionReversedAt>()) return Verdict::pass();
  }
  return Verdict::reject(named("appeal", appeal.key()) + " is OVERTURNED but its action is not reversed");
}

bool OverturnRestores::othersStand(const View<OverturnRestores>&, const Touched<OverturnRestores, Fields>& touched) {
  return noneOf(touched.rows<kActions>(), [&](auto row) { return !row.template has<ActionReversedAt>(); });
}

Verdict HumanAppealDecision::checkRow(const View<HumanAppealDecision>&,
                                      const RowView<HumanAppealDecision, table>& row) {
  const bool open = !row.has<AppealStatusOf>() || row.get<AppealStatusOf>() == AppealStatus::OPEN;
  if (open || row.has<AppealDecidedBy>()) return Verdict::pass();
  return Verdict::escalate("no human has signed the decision of " + named("appeal", row.key()));
}

// A review of before the ban is none: it was given for something else.
Verdict HumanPermanentBan::checkRow(const View<HumanPermanentBan>&, const RowView<HumanPermanentBan, table>& row) {
  const auto& review = row.get<HumanReview>();
  const auto& at = row.get<ActionAt>();
  if (row.get<ActionKindOf>() != ActionKind::BAN || (review && (!at || review->at >= *at))) return Verdict::pass();
  return Verdict::escalate("no human has reviewed the ban of " + action(row.key()));
}

}  // namespace witan::domains::moderation
