// Vulnerability disclosure: the processes, which are also the actions, and the four roles that perform them.
//
// A mutation faults where it needs what does not exist or meets an unknown word; everything else is written and left to
// the invariants to judge.
#pragma once

#include <algorithm>

#include "domains/disclosure/state.h"

namespace witan::domains::disclosure {

using VulnEdit = Mutator<Fields>::Row<kVulns>;

// The vulnerability enters `phase` at t: its history only grows.
inline void enterPhase(VulnEdit& v, Phase phase, Time t) {
  std::vector<PhaseChange> log = v.get<PhaseLog>().value_or(std::vector<PhaseChange>{});
  log.push_back({phase, t});
  v.set<VulnPhase>(phase).set<PhaseLog>(std::move(log));
}

// `days` after `start`; a calendar that has no such day is a fault.
inline Time deadlineAfter(Time start, std::int64_t days) {
  constexpr std::int64_t kMost = 10'000 * 366;
  const Time deadline{std::clamp(days, -kMost, kMost) * kMicrosPerDay + start.micros};
  if (!isCalendarTime(deadline)) throw Fault{std::to_string(days) + " days of embargo leave the calendar"};
  return deadline;
}

// Vulnerabilities whose details appear in the material of v's tracking slice.
inline void addMentions(VulnEdit& v, const Texts& mentions) {
  if (mentions.empty()) return;
  Texts refs = v.get<PtRefs>().value_or(Texts{});
  refs.insert(refs.end(), mentions.begin(), mentions.end());
  std::sort(refs.begin(), refs.end());
  refs.erase(std::unique(refs.begin(), refs.end()), refs.end());
  v.set<PtRefs>(std::move(refs));
}

template <class F, class Row>
void setOrErase(Row& row, const std::optional<std::string>& value) {
  if (value)
    row.template set<F>(*value);
  else if (row.template has<F>())
    row.template erase<F>();
}

// ---- ReporterCoordination

struct Intake {
  static constexpr std::string_view name = "Intake";
  using Reads = Footprint<VulnOrgs, VulnPhase, PhaseLog>;
  using Writes = Footprint<VulnOrgs, VulnPhase, PhaseLog>;
  std::string v;
  Texts orgs;
  WITAN_MEMBERS(Intake, v, orgs)

  void apply(Mutator<Fields>& m, Time t) const {
    auto row = m.edit<kVulns>(v);
    Texts names;
    for (const std::string& org : orgs) names.push_back(canonicalName(org));
    row.set<VulnOrgs>(std::move(names));
    enterPhase(row, Phase::DISCOVERED, t);
    enterPhase(row, Phase::TRIAGED, t);
  }
};

struct SubmitReport {
  static constexpr std::string_view name = "SubmitReport";
  using Reads = Union<ReportFields, PhaseFields, Footprint<VulnOrgs>>::Type;
  using Writes = Union<ReportFields, PhaseFields>::Type;
  std::string r;
  std::string v;
  std::string org;
  std::string maint;
  WITAN_MEMBERS(SubmitReport, r, v, org, maint)

  void apply(Mutator<Fields>& m, Time t) const {
    auto vuln = m.find<kVulns>(v);
    if (!vuln || !vuln->has<VulnPhase>()) throw Fault{"vulnerability " + v + " is unknown"};
    auto report = m.edit<kReports>(r);
    // Else one name for all reports would hide them from the rate limit.
    if (report.has<ReportSubmittedAt>()) throw Fault{"report " + r + " exists already"};
    report.set<ReportVuln>(v).set<ReportOrg>(canonicalName(org)).set<ReportMaintainer>(canonicalName(maint));
    report.set<ReportSubmittedAt>(t);
    if (vuln->get<VulnPhase>() == Phase::TRIAGED) enterPhase(*vuln, Phase::REPORTED, t);
  }
};

struct RecordAcknowledgment {
  static constexpr std::string_view name = "RecordAcknowledgment";
  static constexpr std::size_t required = 1;
  using Reads = Union<ReportFields, Footprint<ReportAckAt>, EmbargoFields, PhaseFields>::Type;
  using Writes = Union<Footprint<ReportAckAt>, EmbargoFields, PhaseFields>::Type;
  std::string r;
  bool embargo = true;
  std::optional<std::int64_t> baseDays;  // else the policy's
  WITAN_MEMBERS(RecordAcknowledgment, r, embargo, baseDays)

  void apply(Mutator<Fields>& m, Time t) const {
    auto report = m.find<kReports>(r);
    if (!report || !report->has<ReportVuln>() || !report->has<ReportSubmittedAt>())
      throw Fault{"report " + r + " is unknown"};
    report->set<ReportAckAt>(t);
    auto vuln = m.edit<kVulns>(*report->get<ReportVuln>());
    enterPhase(vuln, Phase::ACKNOWLEDGED, t);
    if (embargo) {
      const Time start = *report->get<ReportSubmittedAt>();
      const std::int64_t days = baseDays.value_or(m.policy().embargo().baseDays);
      vuln.set<EmbargoStartAt>(start).set<EmbargoBaseDays>(days).set<EmbargoExtensionDays>(0).set<EmbargoDeadline>(
          deadlineAfter(start, days));
    }
    enterPhase(vuln, Phase::EMBARGOED, t);
  }
};

// Longer only: an invariant sees states, not steps, so that the days that were granted would be lost on it.
struct ExtendEmbargo {
  static constexpr std::string_view name = "ExtendEmbargo";
  using Reads = Union<EmbargoFields, ReportFields>::Type;
  using Writes = EmbargoFields;
  std::string v;
  std::int64_t days = 0;
  WITAN_MEMBERS(ExtendEmbargo, v, days)

  void apply(Mutator<Fields>& m, Time) const {
    auto vuln = m.find<kVulns>(v);
    if (!vuln || !vuln->has<EmbargoStartAt>() || !vuln->has<EmbargoBaseDays>() || !vuln->has<EmbargoExtensionDays>())
      throw Fault{"vulnerability " + v + " is under no embargo"};
    std::int64_t extension = 0;
    std::int64_t total = 0;
    if (__builtin_add_overflow(*vuln->get<EmbargoExtensionDays>(), days, &extension) ||
        __builtin_add_overflow(*vuln->get<EmbargoBaseDays>(), extension, &total))
      throw Fault{std::to_string(days) + " more days of embargo leave the calendar"};
    if (days < 0 && extension >= 0) throw Fault{"an agent does not take back " + std::to_string(-days) + " days"};
    const Time deadline = deadlineAfter(*vuln->get<EmbargoStartAt>(), total);
    vuln->set<EmbargoExtensionDays>(extension).set<EmbargoDeadline>(deadline);
  }
};

// ---- PatchTracking

template <PatchStatus status>
struct PatchStep {
  static constexpr std::size_t required = 1;
  using Reads = Union<PatchFields, Footprint<PtRefs>>::Type;
  using Writes = Footprint<PatchStatusOf, PtRefs>;
  std::string v;
  Texts mentions;
  WITAN_MEMBERS(PatchStep, v, mentions)

  void apply(Mutator<Fields>& m, Time) const {
    auto vuln = m.edit<kVulns>(v);
    vuln.template set<PatchStatusOf>(status);
    addMentions(vuln, mentions);
  }
};
struct DevelopPatch : PatchStep<PatchStatus::IN_DEVELOPMENT> {
  static constexpr std::string_view name = "DevelopPatch";
};
struct ReviewPatch : PatchStep<PatchStatus::UNDER_REVIEW> {
  static constexpr std::string_view name = "ReviewPatch";
};

struct ReleaseFix {
  static constexpr std::string_view name = "ReleaseFix";
  using Reads = PatchFields;
  using Writes = PatchFields;
  std::string v;
  std::string ref;
  WITAN_MEMBERS(ReleaseFix, v, ref)

  void apply(Mutator<Fields>& m, Time t) const {
    m.edit<kVulns>(v).set<PatchStatusOf>(PatchStatus::RELEASED).set<PatchReleasedAt>(t).set<PatchRef>(ref);
  }
};

struct ReviseSeverity {
  static constexpr std::string_view name = "ReviseSeverity";
  static constexpr std::size_t required = 2;
  using Reads = Union<PatchFields, Footprint<VulnSeverity, PtRefs>>::Type;
  using Writes = Footprint<VulnSeverity, PtRefs>;
  std::string v;
  std::string sev;
  Texts mentions;
  WITAN_MEMBERS(ReviseSeverity, v, sev, mentions)

  void apply(Mutator<Fields>& m, Time) const {
    auto vuln = m.edit<kVulns>(v);
    vuln.set<VulnSeverity>(sev);
    addMentions(vuln, mentions);
  }
};

struct ObserveExternalFact {
  static constexpr std::string_view name = "ObserveExternalFact";
  static constexpr std::size_t required = 2;
  using Reads = Union<PatchFields, ObservedFields>::Type;
  using Writes = ObservedFields;
  std::string v;
  std::string what;  // public, exploited, cve, dedup, request
  std::optional<std::string> value;
  WITAN_MEMBERS(ObserveExternalFact, v, what, value)

  void apply(Mutator<Fields>& m, Time t) const {
    auto vuln = m.edit<kVulns>(v);
    const auto id = [&]() -> const std::string& {
      if (!value) throw Fault{"an observation of \"" + what + "\" needs a value"};
      return *value;
    };
    if (what == "public")
      vuln.set<PubKnownAt>(t);
    else if (what == "exploited")
      vuln.set<ExploitObservedAt>(t);
    else if (what == "cve")
      vuln.set<CveObserved>(canonicalCveId(id())).set<CveObservedAt>(t);
    else if (what == "dedup")
      vuln.set<CveDedup>(canonicalCveId(id()));
    else if (what == "request")
      vuln.set<CveRequestedAt>(t);
    else
      throw Fault{"unknown word \"" + std::string(clip(what)) +
                  "\": expected one of public, exploited, cve, dedup, request"};
  }
};

// ---- CommitmentManagement

struct PublishCommitment {
  static constexpr std::string_view name = "PublishCommitment";
  using Reads = Registries;
  using Writes = Footprint<CommitLog>;
  std::string hash;
  std::string alg;
  std::string artifact;
  std::string v;
  WITAN_MEMBERS(PublishCommitment, hash, alg, artifact, v)

  void apply(Mutator<Fields>& m, Time t) const { m.append<CommitLog>({hash, alg, artifact, v, t}); }
};

struct ResolveCommitment {
  static constexpr std::string_view name = "ResolveCommitment";
  using Reads = Registries;
  using Writes = Footprint<ResolveLog>;
  std::string hash;
  std::string nonce;
  std::string digest;
  WITAN_MEMBERS(ResolveCommitment, hash, nonce, digest)

  void apply(Mutator<Fields>& m, Time t) const { m.append<ResolveLog>({hash, nonce, digest, t}); }
};

// ---- Disclosure

// Groups only grow and only come later: an agent neither takes a member out of one nor brings its day forward. Who is
// in another group comes with all of it.
struct FormCoDisclosureGroup {
  static constexpr std::string_view name = "FormCoDisclosureGroup";
  using Reads = Union<GroupFields, Footprint<ReadyAt>>::Type;
  using Writes = GroupFields;
  std::string g;
  Texts members;
  Time planned;
  WITAN_MEMBERS(FormCoDisclosureGroup, g, members, planned)

  void apply(Mutator<Fields>& m, Time) const {
    keep(m, g);
    for (const std::string& member : members) {
      auto vuln = m.edit<kVulns>(member);
      if (vuln.has<GroupOf>() && vuln.get<GroupOf>() != g) {
        const std::string from = *vuln.get<GroupOf>();
        keep(m, from);
        wholeGroup(m, from);
      }
    }
    m.edit<kGroups>(g).set<GroupPlannedAt>(planned);
    for (const std::string& member : members) m.edit<kVulns>(member).set<GroupOf>(g);
  }

 private:
  // The day that a group was promised.
  void keep(Mutator<Fields>& m, const std::string& group) const {
    const auto row = m.find<kGroups>(group);
    if (row && row->has<GroupPlannedAt>() && planned < *row->get<GroupPlannedAt>())
      throw Fault{"group " + group + " is planned for " + formatTime(*row->get<GroupPlannedAt>()) + ", not earlier"};
  }
  void wholeGroup(Mutator<Fields>& m, const std::string& from) const {
    m.forEachRow<kVulns>([&](auto row) {
      if (row.template get<GroupOf>() == from && std::find(members.begin(), members.end(), row.key()) == members.end())
        throw Fault{"the others of group " + from + " would stay behind"};
    });
  }
};

struct AssertReadiness {
  static constexpr std::string_view name = "AssertReadiness";
  using Reads = Union<GroupFields, Footprint<ReadyAt>>::Type;
  using Writes = Footprint<ReadyAt>;
  std::string v;
  WITAN_MEMBERS(AssertReadiness, v)

  void apply(Mutator<Fields>& m, Time t) const { m.edit<kVulns>(v).set<ReadyAt>(t); }
};

struct ExecuteDisclosure {
  static constexpr std::string_view name = "ExecuteDisclosure";
  static constexpr std::size_t required = 1;
  using Reads = Union<GroupFields, DiscFields, PhaseFields, Footprint<ReadyAt>>::Type;
  using Writes = Union<DiscFields, PhaseFields>::Type;
  std::string v;
  std::optional<std::string> patchLink;
  std::optional<std::string> noPatchReason;
  Texts hashes;
  std::optional<std::string> cve;
  std::optional<Texts> attribution;  // none given: nobody
  WITAN_MEMBERS(ExecuteDisclosure, v, patchLink, noPatchReason, hashes, cve, attribution)

  void apply(Mutator<Fields>& m, Time t) const {
    auto vuln = m.edit<kVulns>(v);
    vuln.set<DiscAt>(t).set<DiscHashes>(hashes).set<DiscAttribution>(attribution.value_or(Texts{}));
    setOrErase<DiscPatchLink>(vuln, patchLink);
    setOrErase<DiscNoPatchReason>(vuln, noPatchReason);
    setOrErase<DiscCve>(vuln, cve ? std::optional(canonicalCveId(*cve)) : cve);
    enterPhase(vuln, Phase::DISCLOSED, t);
  }
};

// Table 3. Each works on one vulnerability at a time (domains/disclosure/rules.h).
struct ReporterCoordination : Role<"ReporterCoordination", Intake, SubmitReport, RecordAcknowledgment, ExtendEmbargo> {
};
struct PatchTracking
    : Role<"PatchTracking", DevelopPatch, ReviewPatch, ReleaseFix, ReviseSeverity, ObserveExternalFact> {};
struct CommitmentManagement : Role<"CommitmentManagement", PublishCommitment, ResolveCommitment> {};
struct Disclosure : Role<"Disclosure", FormCoDisclosureGroup, AssertReadiness, ExecuteDisclosure> {};

}  // namespace witan::domains::disclosure
