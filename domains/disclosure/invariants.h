// Vulnerability disclosure: the two structural invariants and the nine of seed 000, Table 2, in list order.
//
// T is the time of a vulnerability's disclosure, and a rule about it reads only facts dated no later than T: what comes
// to be known afterwards breaks no history. leak(v): v was publicly known by T. Rules over the whole portfolio look up
// what a write can concern (kernel/table.h) and never scan it.
#pragma once

#include <optional>
#include <string>

#include "base/utf8.h"
#include "domains/disclosure/state.h"

namespace witan::domains::disclosure {

// Known: it has a phase.
struct RefIntegrity : NamedInvariant<"VULN_REF_INTEGRITY"> {
  static constexpr std::string_view rule =
      "every column keyed by vulnerability, every report and every commitment is about a known one; report columns "
      "share keys";
  using Reads = Union<PhaseFields, Footprint<VulnOrgs, VulnSeverity, PtRefs, GroupOf, ReadyAt>, PatchFields,
                      ObservedFields, EmbargoFields, DiscFields, ReportFields, Footprint<ReportAckAt, CommitLog>>::Type;
  static Verdict check(const View<RefIntegrity>&);
  static std::optional<Verdict> checkTouched(const View<RefIntegrity>&, const Touched<RefIntegrity, Fields>&);
};

struct PhasePath : NamedRowInvariant<"VULN_PHASE_PATH", kVulns> {
  static constexpr std::string_view rule =
      "phases follow their edges from DISCOVERED; without an embargo only what is publicly known is disclosed";
  using Reads = Union<PhaseFields, Footprint<PubKnownAt>>::Type;
  static Verdict checkRow(const View<PhasePath>&, const RowView<PhasePath, table>&);
};

struct MaintainerRateLimit : NamedInvariant<"MAINTAINER_RATE_LIMIT"> {
  static constexpr std::string_view rule =
      "no more than N reports to one maintainer of one organisation in any window of W days";
  using Reads = ReportFields;
  static Verdict check(const View<MaintainerRateLimit>&);
  static std::optional<Verdict> checkTouched(const View<MaintainerRateLimit>&,
                                             const Touched<MaintainerRateLimit, Fields>&);
};

struct CommitmentRegistryConsistency : NamedInvariant<"COMMITMENT_REGISTRY_CONSISTENCY"> {
  static constexpr std::string_view rule =
      "commitment hashes are well-formed and distinct; each resolution opens a committed hash, once";
  using Reads = Registries;
  static Verdict check(const View<CommitmentRegistryConsistency>&);
  static std::optional<Verdict> checkTouched(const View<CommitmentRegistryConsistency>&,
                                             const Touched<CommitmentRegistryConsistency, Fields>&);
};

struct DisclosureTimelineConsistency : NamedInvariant<"DISCLOSURE_TIMELINE_CONSISTENCY"> {
  static constexpr std::string_view rule =
      "a group is disclosed no earlier than planned, and only when every member is ready and may be disclosed itself; "
      "a "
      "leak is for a human";
  static constexpr bool mixed = true;
  using Reads = Union<GroupFields, PhaseFields,
                      Footprint<DiscAt, ReadyAt, PubKnownAt, PatchStatusOf, PatchReleasedAt, EmbargoDeadline>>::Type;
  static Verdict check(const View<DisclosureTimelineConsistency>&);
  static std::optional<Verdict> checkTouched(const View<DisclosureTimelineConsistency>&,
                                             const Touched<DisclosureTimelineConsistency, Fields>&);
};

struct ReceivingOrgConfinement : NamedInvariant<"RECEIVING_ORG_CONFINEMENT"> {
  static constexpr std::string_view rule =
      "reports go to the vulnerability's organisations, and tracking mentions no vulnerability of others";
  using Reads = Union<ReportFields, Footprint<VulnOrgs, PtRefs>>::Type;
  static Verdict check(const View<ReceivingOrgConfinement>&);
  static std::optional<Verdict> checkTouched(const View<ReceivingOrgConfinement>&,
                                             const Touched<ReceivingOrgConfinement, Fields>&);
};

struct EmbargoEnforcement : NamedRowInvariant<"EMBARGO_ENFORCEMENT", kVulns> {
  static constexpr std::string_view rule =
      "deadlines follow from their parts, no embargo is shorter than the regime's, extensions stay within the limit, "
      "and "
      "nothing under an embargo is disclosed before its regime permits";
  static constexpr bool mixed = true;
  using Reads = Union<EmbargoFields, Footprint<DiscAt, PatchReleasedAt, PubKnownAt, ExploitObservedAt>>::Type;
  static Verdict checkRow(const View<EmbargoEnforcement>&, const RowView<EmbargoEnforcement, table>&);
};

struct PatchBeforeDisclosure : NamedRowInvariant<"PATCH_BEFORE_DISCLOSURE", kVulns> {
  static constexpr std::string_view rule =
      "a released fix has a reference and stays released; disclosure follows the patch, unless it is publicly known or "
      "its embargo has elapsed";
  using Reads = Union<PatchFields, Footprint<DiscAt, PubKnownAt, EmbargoDeadline>>::Type;
  static Verdict checkRow(const View<PatchBeforeDisclosure>&, const RowView<PatchBeforeDisclosure, table>&);
};

struct CveAttributionConsistency : NamedRowInvariant<"CVE_ATTRIBUTION_CONSISTENCY", kVulns> {
  static constexpr std::string_view rule =
      "one CVE id a vulnerability, in its canonical form, its own deduplication's if there is one, and the disclosure "
      "names it";
  static constexpr bool mixed = true;
  using Reads =
      Union<PhaseFields, Footprint<CveObserved, CveObservedAt, CveDedup, CveRequestedAt, DiscAt, DiscCve>>::Type;
  static Verdict checkRow(const View<CveAttributionConsistency>&, const RowView<CveAttributionConsistency, table>&);
};

struct CveAttributionUniqueness : NamedInvariant<"CVE_ATTRIBUTION_UNIQUENESS"> {
  static constexpr std::string_view rule = "no CVE id is bound to two vulnerabilities that are not withdrawn";
  static constexpr bool mixed = true;
  using Reads = Union<PhaseFields, Footprint<CveObserved, CveDedup, DiscCve>>::Type;
  static Verdict check(const View<CveAttributionUniqueness>&);
  static std::optional<Verdict> checkTouched(const View<CveAttributionUniqueness>&,
                                             const Touched<CveAttributionUniqueness, Fields>&);
};

struct DisclosureCompleteness : NamedInvariant<"DISCLOSURE_COMPLETENESS"> {
  static constexpr std::string_view rule =
      "a disclosure links the released patch or truly says why not, cites exactly the resolved commitments, and names "
      "CVE id and credits";
  using Reads = Union<DiscFields, Registries, PatchFields, Footprint<CveObservedAt, PubKnownAt, EmbargoDeadline>>::Type;
  static Verdict check(const View<DisclosureCompleteness>&);
  static std::optional<Verdict> checkTouched(const View<DisclosureCompleteness>&,
                                             const Touched<DisclosureCompleteness, Fields>&);
};

// ---- what their checks share

// What people wrote is quoted only in part: a message must stay one line.
inline std::string clipped(std::string_view text) { return std::string(clip(text, 80)); }

// Known, and no later than `by`.
inline bool isBy(const Cell<Time>& fact, Time by) { return fact && *fact <= by; }

// The patch counts as released by T.
template <class Row>
bool releasedBy(const Row& v, Time by) {
  return v.template get<PatchStatusOf>() == PatchStatus::RELEASED && isBy(v.template get<PatchReleasedAt>(), by);
}

// Does v's embargo, if it has one, permit disclosure at that time, as far as agents may judge?
template <class State, class Row>
bool embargoPermits(const State& s, const Row& v, Time at) {
  const auto& deadline = v.template get<EmbargoDeadline>();
  return !deadline || isBy(v.template get<PubKnownAt>(), at) || s.waived(EmbargoEnforcement::id, v.key()) ||
         at >= s.policy().embargo().releaseAt(*deadline, v.template get<PatchReleasedAt>(), at);
}

// Has its patch come by then, or need it not?
template <class State, class Row>
bool patchPermits(const State& s, const Row& v, Time at) {
  return releasedBy(v, at) || isBy(v.template get<PubKnownAt>(), at) || isBy(v.template get<EmbargoDeadline>(), at) ||
         s.waived(PatchBeforeDisclosure::id, v.key());
}

// Of the verdicts on several rows, in the order of their keys: the first rejection, else the first escalation. Nobody
// is asked about what is lost anyway.
class Worst {
 public:
  // True: nothing later can change it.
  bool add(Verdict verdict) {
    if (verdict.passed() || (worst_.result() == InvResult::escalate && verdict.result() == InvResult::escalate))
      return false;
    worst_ = std::move(verdict);
    return worst_.result() == InvResult::reject;
  }
  Verdict take() { return std::move(worst_); }

 private:
  Verdict worst_;
};

// Rows to judge again, each once, in the order of their keys.
template <class Row>
class Affected {
 public:
  void add(const Row& row) { rows_.push_back(row); }
  template <class Judge>
  Verdict judge(Judge&& judge) {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.key() < b.key(); });
    const auto end =
        std::unique(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.slot() == b.slot(); });
    Worst worst;
    for (auto at = rows_.begin(); at != end; ++at)
      if (worst.add(judge(*at))) break;
    return worst.take();
  }

 private:
  boost::container::small_vector<Row, 8> rows_;
};

template <class Range, class Judge>
Verdict judgeAll(Range&& rows, Judge&& judge) {
  Worst worst;
  for (auto row : rows)
    if (worst.add(judge(row))) break;
  return worst.take();
}

}  // namespace witan::domains::disclosure
