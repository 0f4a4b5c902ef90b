// User case management: the processes, which are also the actions.
//
// A mutation faults where it needs an action or appeal that is not there or meets an unknown word (a status, a kind, an
// outcome, a policy without a weight); everything else is written and left to the invariants to judge.
#pragma once

#include "domains/moderation/state.h"

namespace witan::domains::moderation {

// ---- labels ----

inline void appendLabel(Mutator<Fields>& m, LabelEntry entry) {
  std::size_t labels = 0;
  m.forEachRow<kLabels>([&](auto) { ++labels; });
  entry.id = "L" + std::to_string(labels + 1);
  m.append<LabelLog>(std::move(entry));
}

struct ApplyLabel {
  static constexpr std::string_view name = "ApplyLabel";
  static constexpr std::size_t required = 3;
  using Reads = LabelFields;
  using Writes = LabelFields;
  std::string entityType;
  std::string entity;
  std::string label;
  std::string status = "ADDED";
  std::string reason;
  std::optional<Time> expires;
  WITAN_MEMBERS(ApplyLabel, entityType, entity, label, status, reason, expires)

  void apply(Mutator<Fields>& m, Time t) const {
    appendLabel(m, {{}, entityType, entity, label, m.word<LabelStatus>(status), reason, t, expires});
  }
};

struct RemoveLabel {
  static constexpr std::string_view name = "RemoveLabel";
  static constexpr std::size_t required = 3;
  using Reads = LabelFields;
  using Writes = LabelFields;
  std::string entityType;
  std::string entity;
  std::string label;
  std::string reason;
  std::string status = "REMOVED";
  WITAN_MEMBERS(RemoveLabel, entityType, entity, label, reason, status)

  void apply(Mutator<Fields>& m, Time t) const {
    appendLabel(m, {{}, entityType, entity, label, m.word<LabelStatus>(status), reason, t, std::nullopt});
  }
};

// ---- notices ----

struct DraftNotice {
  static constexpr std::string_view name = "DraftNotice";
  static constexpr std::size_t required = 2;
  using Reads = NoticeFields;
  using Writes = NoticeFields;
  std::string n;
  std::string action;
  std::string facts;
  std::string clause;
  std::string redress;
  WITAN_MEMBERS(DraftNotice, n, action, facts, clause, redress)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kNotices>(n);
    row.set<NoticeAction>(action).set<NoticeAt>(t).set<NoticeFacts>(facts).set<NoticeClause>(clause);
    row.set<NoticeRedress>(redress);
  }
};

// ---- enforcement ----

inline AccountStatus statusFrom(ActionKind kind) {
  switch (kind) {
    case ActionKind::RESTRICT: return AccountStatus::RESTRICT;
    case ActionKind::SUSPEND: return AccountStatus::SUSPEND;
    case ActionKind::BAN: return AccountStatus::BAN;
    case ActionKind::WARN:
    case ActionKind::REMOVE_CONTENT: return AccountStatus::ACTIVE;
  }
  return AccountStatus::ACTIVE;
}

inline void deriveAccountStatus(Mutator<Fields>& m) {
  AccountStatus status = AccountStatus::ACTIVE;
  m.forEachRow<kActions>([&](auto row) {
    if (row.template has<ActionKindOf>() && !row.template has<ActionReversedAt>())
      status = std::max(status, statusFrom(*row.template get<ActionKindOf>()));
  });
  m.set<AccountStatusOf>(status);
}

struct TakeAction {
  static constexpr std::string_view name = "TakeAction";
  using Reads = Union<ActionFields, StrikeFields, Footprint<AccountStatusOf, CasePhaseOf>>::Type;
  using Writes = Union<TakenFields, Footprint<StrikeWeight, AccountStatusOf, CasePhaseOf>>::Type;
  std::string a;
  std::string kind;
  std::string policy;
  std::string item;
  std::vector<std::string> evidence;  // ids of labels
  WITAN_MEMBERS(TakeAction, a, kind, policy, item, evidence)

  void apply(Mutator<Fields>& m, Time t) const {
    const ActionKind word = m.word<ActionKind>(kind);
    const auto weight = m.policy().weights.find(policy);
    if (weight == m.policy().weights.end()) throw Fault{"unknown policy \"" + std::string(clip(policy)) + "\""};
    auto row = m.edit<kActions>(a);
    // A person reviewed that ban, not the next one of its name.
    if (row.get<ActionKindOf>() == ActionKind::BAN)
      throw Fault{"action " + std::string(clip(a)) + " is a ban: it is reversed, and another one taken"};
    row.set<ActionKindOf>(word).set<ActionPolicy>(policy).set<ActionItem>(item).set<ActionAt>(t);
    row.set<ActionEvidence>(evidence);
    if (m.policy().isStrikeEnabled(word)) row.set<StrikeWeight>(weight->second);
    deriveAccountStatus(m);
    m.set<CasePhaseOf>(CasePhase::ACTIONED);
  }
};

struct ReverseAction {
  static constexpr std::string_view name = "ReverseAction";
  using Reads = Union<ActionFields, StrikeFields, Footprint<AccountStatusOf>>::Type;
  using Writes = Footprint<ActionReversedAt, StrikeVoidedAt, AccountStatusOf>;
  std::string a;
  WITAN_MEMBERS(ReverseAction, a)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.find<kActions>(a);
    if (!row || !row->has<ActionKindOf>()) throw Fault{"action " + std::string(clip(a)) + " does not exist"};
    row->set<ActionReversedAt>(t).set<StrikeVoidedAt>(t);
    deriveAccountStatus(m);
  }
};

struct CloseCase {
  static constexpr std::string_view name = "CloseCase";
  using Reads = Union<ActionFields, CaseFields>::Type;
  using Writes = CaseFields;
  WITAN_NO_MEMBERS

  void apply(Mutator<Fields>& m, Time t) const {
    m.set<CasePhaseOf>(CasePhase::CLOSED);
    m.set<CaseClosedAt>(t);
  }
};

// ---- appeals ----

struct OpenAppeal {
  static constexpr std::string_view name = "OpenAppeal";
  using Reads = AppealFields;
  using Writes = AppealFields;
  std::string p;
  std::string a;
  WITAN_MEMBERS(OpenAppeal, p, a)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kAppeals>(p);
    row.set<AppealAction>(a).set<AppealAt>(t).set<AppealStatusOf>(AppealStatus::OPEN);
    if (row.has<AppealDecidedBy>()) row.erase<AppealDecidedBy>();
  }
};

// An agent's proposal: a person signs it, by the edit of a commit (SignAppeal). A signature under an earlier decision
// does not carry over.
struct DecideAppeal {
  static constexpr std::string_view name = "DecideAppeal";
  static constexpr std::size_t required = 2;
  using Reads = AppealFields;
  using Writes = Footprint<AppealStatusOf, AppealDecidedBy>;
  std::string p;
  std::string outcome;
  std::string by = "agent.appeals";  // who proposes it, as ledgers have had it; proves nothing and is not recorded
  WITAN_MEMBERS(DecideAppeal, p, outcome, by)

  void apply(Mutator<Fields>& m, Time) const {
    const bool upheld = m.word<AppealOutcome>(outcome) == AppealOutcome::UPHELD;
    auto row = m.find<kAppeals>(p);
    if (!row || !row->has<AppealStatusOf>()) throw Fault{"appeal " + std::string(clip(p)) + " does not exist"};
    row->set<AppealStatusOf>(upheld ? AppealStatus::UPHELD : AppealStatus::OVERTURNED);
    if (row->has<AppealDecidedBy>()) row->erase<AppealDecidedBy>();
  }
};

// ---- what only a counselor's commit performs: declared for lint, not an action ----

struct ReviewBan {
  static constexpr std::string_view name = "ReviewBan";
  using Reads = Union<LabelFields, ActionFields, StrikeFields, NoticeFields, AppealFields,
                      Footprint<AccountStatusOf, HumanReview>, CaseFields>::Type;
  using Writes = Footprint<HumanReview>;
};
struct SignAppeal {
  static constexpr std::string_view name = "SignAppeal";
  using Reads = ReviewBan::Reads;
  using Writes = Footprint<AppealDecidedBy>;
};

struct SignalTriage : Role<"SignalTriage", ApplyLabel, RemoveLabel> {};
struct UserNotice : Role<"UserNotice", DraftNotice> {};
struct Enforcement : Role<"Enforcement", TakeAction, ReverseAction, CloseCase> {};
struct Appeals : Role<"Appeals", OpenAppeal, DecideAppeal> {};

}  // namespace witan::domains::moderation
