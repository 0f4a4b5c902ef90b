// The invariants of records: references, labels, strikes, and that nobody is punished twice. The others stand in
// enforcement.cpp.
#include "domains/moderation/invariants.h"

#include <map>
#include <tuple>

#include "domains/moderation/actions.h"

namespace witan::domains::moderation {

namespace {

template <class I>
using ActionView = RowView<I, kActions>;

Verdict checkActionRow(const ActionView<RefIntegrity>& row) {
  if (!shareKey<ActionKindOf, ActionPolicy, ActionItem, ActionAt, ActionEvidence>(row))
    return Verdict::reject(action(row.key()) + " is incomplete");
  if (row.has<ActionReversedAt>() && !row.has<ActionKindOf>())
    return Verdict::reject("the unknown " + action(row.key()) + " is reversed");
  return Verdict::pass();
}

Verdict checkAppealRow(const View<RefIntegrity>& s, const RowView<RefIntegrity, kAppeals>& row) {
  const auto target = s.row<kActions>(*row.get<AppealAction>());
  if (target && target->has<ActionKindOf>()) return Verdict::pass();
  return Verdict::reject(named("appeal", row.key()) + " is of the unknown " + action(*row.get<AppealAction>()));
}

Verdict checkAccountStatus(const View<RefIntegrity>& s) {
  AccountStatus derived = AccountStatus::ACTIVE;
  for (auto row : s.rows<kActions>())
    if (row.has<ActionKindOf>() && !row.has<ActionReversedAt>())
      derived = std::max(derived, statusFrom(*row.get<ActionKindOf>()));
  if (s.get<AccountStatusOf>() == derived) return Verdict::pass();
  return Verdict::reject("account.status is " + std::string(enumName(s.get<AccountStatusOf>())) +
                         ", the live actions make it " + std::string(enumName(derived)));
}

Verdict checkLabel(const Policy& policy, const LabelEntry& entry) {
  const auto known = policy.labels.find(entry.label);
  if (known == policy.labels.end())
    return Verdict::reject(named("label", entry.id) + ": there is no label \"" + std::string(clip(entry.label)) + "\"");
  if (!Policy::in(known->second, entry.type))
    return Verdict::reject(named("label", entry.id) + ": " + entry.label + " is not for a " +
                           std::string(clip(entry.type)));
  if (!isStated(entry.reason)) return Verdict::reject(named("label", entry.id) + " has no reason");
  return Verdict::pass();
}

// ---- manual labels ----

bool sameLabel(const LabelEntry& a, const LabelEntry& b) {
  return a.label == b.label && a.entity == b.entity && a.type == b.type;
}

// Until when a manual entry binds rules, the skew of clocks included; the end of time if it does not expire.
Time bindsUntil(const LabelEntry& entry, const Policy& policy) {
  if (!entry.expires) return kLastTime;
  return Time{entry.expires->micros + policy.skewSeconds * kMicrosPerSecond};
}

Verdict overrides(const LabelEntry& automatic) {
  return Verdict::reject(named("label", automatic.id) + ": a rule overrides what a person said of " +
                         std::string(clip(automatic.label)) + " on " + std::string(clip(automatic.entity)));
}

}  // namespace

Status Policy::validate() const {
  if (strikeWindowDays < 0 || strikeWindowDays > 36'500 || appealWindowDays < 0 || appealWindowDays > 36'500)
    return invalid("policy: windows are 0..36500 days");
  if (skewSeconds < 0 || skewSeconds > 86'400) return invalid("policy.skewSeconds: 0..86400");
  const auto isKind = [](const std::string& word) { return parseEnum<ActionKind>(word).has_value(); };
  const auto unknownKind = [](std::string_view where, const std::string& word) {
    return invalid("policy." + std::string(where) + ": \"" + std::string(clip(word)) + "\" is not one of " +
                   JsonCodec<ActionKind>::words());
  };
  for (const std::string& kind : strikeEnabled)
    if (!isKind(kind)) return unknownKind("strikeEnabled", kind);
  for (const std::string& kind : restrictive)
    if (!isKind(kind)) return unknownKind("restrictive", kind);
  for (const auto& [kind, least] : thresholds)
    if (!isKind(kind)) return unknownKind("thresholds", kind);
  for (const auto& [policy, weight] : weights)
    if (weight < 0 || weight > 1'000'000)
      return invalid("policy.weights." + std::string(clip(policy)) + ": 0..1000000");
  for (const std::string& policy : severe)
    if (!weights.contains(policy)) return invalid("policy.severe: \"" + std::string(clip(policy)) + "\" has no weight");
  return okStatus();
}

Verdict RefIntegrity::check(const View<RefIntegrity>& s) {
  Verdict actions = firstFailing(s.rows<kActions>(), [&](auto row) { return checkActionRow(row); });
  if (!actions.passed()) return actions;
  Verdict appeals = firstFailing(s.rows<kAppeals>(), [&](auto row) { return checkAppealRow(s, row); });
  return appeals.passed() ? checkAccountStatus(s) : appeals;
}

bool RefIntegrity::stillPasses(const View<RefIntegrity>& s, const Touched<RefIntegrity, Fields>& touched) {
  const auto actions = touched.rows<kActions>();
  for (auto row : actions) {
    if (touched.existedBefore<ActionKindOf>(row) && !row.has<ActionKindOf>()) return false;  // an appeal may be of it
    if (!checkActionRow(row).passed()) return false;
  }
  for (auto row : touched.rows<kAppeals>())
    if (row.visible() && !checkAppealRow(s, row).passed()) return false;
  return (actions.empty() && !touched.scalars()) || checkAccountStatus(s).passed();
}

Verdict LabelValid::checkRow(const View<LabelValid>& s, const RowView<LabelValid, table>& row) {
  return checkLabel(s.policy(), *row.get<LabelLog>());
}

// O(n log n): of the manual entries so far only the one that binds longest matters.
Verdict ManualLabelPrecedence::check(const View<ManualLabelPrecedence>& s) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Time> bound;
  for (auto row : s.rows<kLabels>()) {
    const LabelEntry& entry = *row.get<LabelLog>();
    const auto at = bound.try_emplace({entry.type, entry.entity, entry.label}, kFirstTime).first;
    if (isManual(entry.status))
      at->second = std::max(at->second, bindsUntil(entry, s.policy()));
    else if (at->second != kFirstTime && entry.at <= at->second)
      return overrides(entry);
  }
  return Verdict::pass();
}

bool ManualLabelPrecedence::stillPasses(const View<ManualLabelPrecedence>& s,
                                        const Touched<ManualLabelPrecedence, Fields>& touched) {
  for (auto row : touched.rows<kLabels>()) {
    if (!row.has<LabelLog>() || isManual(row.get<LabelLog>()->status)) continue;
    const LabelEntry& automatic = *row.get<LabelLog>();
    for (auto earlier : s.rows<kLabels>()) {
      if (earlier.key() >= row.key()) break;
      const LabelEntry& entry = *earlier.get<LabelLog>();
      if (isManual(entry.status) && sameLabel(automatic, entry) && automatic.at <= bindsUntil(entry, s.policy()))
        return false;
    }
  }
  return true;
}

Verdict StrikeLedger::checkRow(const View<StrikeLedger>& s, const RowView<StrikeLedger, table>& row) {
  const auto& kind = row.get<ActionKindOf>();
  const auto fails = [&](const std::string& what) { return Verdict::reject(action(row.key()) + " " + what); };
  if (row.has<StrikeVoidedAt>() != row.has<ActionReversedAt>())
    return fails(row.has<StrikeVoidedAt>() ? "stands but its strike is voided" : "is reversed but its strike stands");
  if (!kind || !s.policy().isStrikeEnabled(*kind))
    return row.has<StrikeWeight>() ? fails("has a strike that its kind does not give") : Verdict::pass();
  const auto weight =
      row.has<ActionPolicy>() ? s.policy().weights.find(*row.get<ActionPolicy>()) : s.policy().weights.end();
  if (weight == s.policy().weights.end()) return fails("is under a policy without a weight");
  if (row.get<StrikeWeight>() == weight->second) return Verdict::pass();
  return fails("has a strike of " +
               (row.has<StrikeWeight>() ? std::to_string(*row.get<StrikeWeight>()) : std::string("none")) +
               ", its policy gives " + std::to_string(weight->second));
}

Verdict DoubleJeopardy::check(const View<DoubleJeopardy>& s) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> liveOf;
  for (auto row : s.rows<kActions>()) {
    if (row.has<ActionReversedAt>() || !row.has<ActionItem>() || !row.has<ActionPolicy>()) continue;
    const auto [other, first] = liveOf.emplace(
        std::pair(std::string_view(*row.get<ActionItem>()), std::string_view(*row.get<ActionPolicy>())), row.key());
    if (!first)
      return Verdict::reject("actions " + std::string(clip(other->second)) + " and " + std::string(clip(row.key())) +
                             " are both for item " + std::string(clip(*row.get<ActionItem>())) + " under " +
                             std::string(clip(*row.get<ActionPolicy>())));
  }
  return Verdict::pass();
}

bool DoubleJeopardy::stillPasses(const View<DoubleJeopardy>& s, const Touched<DoubleJeopardy, Fields>& touched) {
  for (auto changed : touched.rows<kActions>()) {
    if (changed.has<ActionReversedAt>()) continue;
    for (auto row : s.rows<kActions>())
      if (row.slot() != changed.slot() && !row.has<ActionReversedAt>() &&
          row.get<ActionItem>() == changed.get<ActionItem>() && row.get<ActionPolicy>() == changed.get<ActionPolicy>())
        return false;
  }
  return true;
}

}  // namespace witan::domains::moderation
