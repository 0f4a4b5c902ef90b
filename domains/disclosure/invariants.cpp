// VULN_REF_INTEGRITY and VULN_PHASE_PATH: without them the rules gated by phases could fall silent (Remark A.19).
#include "domains/disclosure/invariants.h"

#include <map>
#include <set>

#include "domains/disclosure/commitment.h"
#include "domains/vocabulary.h"
#include "rules/program/cvss.h"

namespace witan::domains::disclosure {

namespace {

template <auto TablePointer>
using RefRow = RowView<RefIntegrity, TablePointer>;

bool isKnown(const View<RefIntegrity>& s, std::string_view v) {
  const auto row = s.row<kVulns>(v);
  return row && row->has<VulnPhase>();
}

Verdict judgeVuln(const RefRow<kVulns>& row) {
  if (!row.has<VulnPhase>()) return Verdict::reject("vulnerability " + clipped(row.key()) + " is unknown");
  if (const auto& severity = row.get<VulnSeverity>();
      severity && !rules::isSeverityWord(*severity) && !rules::cvssTenths(*severity))
    return Verdict::reject("\"" + clipped(*severity) + "\" of vulnerability " + clipped(row.key()) +
                           " is neither NONE, LOW, MEDIUM, HIGH, CRITICAL nor a vector of CVSS 3.0, 3.1 or 4.0");
  if (!row.has<VulnOrgs>()) return Verdict::pass();
  for (const std::string& org : *row.get<VulnOrgs>())
    if (!isPartyName(org))
      return Verdict::reject("\"" + clipped(org) + "\" of vulnerability " + clipped(row.key()) +
                             " is no organisation's name");
  return Verdict::pass();
}

Verdict judgeReport(const View<RefIntegrity>& s, const RefRow<kReports>& row) {
  if (!row.has<ReportVuln>() || !row.has<ReportOrg>() || !row.has<ReportMaintainer>() || !row.has<ReportSubmittedAt>())
    return Verdict::reject("report " + clipped(row.key()) + " is incomplete");
  for (const auto* name : {&row.get<ReportOrg>(), &row.get<ReportMaintainer>()})
    if (!isPartyName(**name))
      return Verdict::reject("report " + clipped(row.key()) + ": \"" + clipped(**name) + "\" is no name");
  if (isKnown(s, *row.get<ReportVuln>())) return Verdict::pass();
  return Verdict::reject("report " + clipped(row.key()) + " is about the unknown vulnerability " +
                         clipped(*row.get<ReportVuln>()));
}

Verdict judgeCommitment(const View<RefIntegrity>& s, const RefRow<kCommits>& row) {
  const Commitment& c = *row.get<CommitLog>();
  if (isKnown(s, c.vuln)) return Verdict::pass();
  return Verdict::reject("commitment " + clipped(c.hash) + " is about the unknown vulnerability " + clipped(c.vuln));
}

bool isEdge(Phase from, Phase to, bool publiclyKnown) {
  if (to == Phase::WITHDRAWN) return from != Phase::DISCLOSED;
  switch (from) {
    case Phase::DISCOVERED: return to == Phase::TRIAGED;
    case Phase::TRIAGED: return to == Phase::REPORTED;
    case Phase::REPORTED:
      return to == Phase::ACKNOWLEDGED || to == Phase::EMBARGOED || (to == Phase::DISCLOSED && publiclyKnown);
    case Phase::ACKNOWLEDGED: return to == Phase::EMBARGOED || (to == Phase::DISCLOSED && publiclyKnown);
    case Phase::EMBARGOED: return to == Phase::DISCLOSED;
    default: return false;
  }
}

}  // namespace

Verdict RefIntegrity::check(const View<RefIntegrity>& s) {
  for (auto row : s.rows<kVulns>())
    if (Verdict verdict = judgeVuln(row); !verdict.passed()) return verdict;
  for (auto row : s.rows<kReports>())
    if (Verdict verdict = judgeReport(s, row); !verdict.passed()) return verdict;
  for (auto row : s.rows<kCommits>())
    if (Verdict verdict = judgeCommitment(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
}

std::optional<Verdict> RefIntegrity::checkTouched(const View<RefIntegrity>& s,
                                                  const Touched<RefIntegrity, Fields>& touched) {
  for (auto row : touched.rows<kVulns>()) {
    if (!row.has<VulnPhase>() && touched.existedBefore<VulnPhase>(row)) return std::nullopt;  // others may point at it
    if (!row.visible()) continue;
    if (Verdict verdict = judgeVuln(row); !verdict.passed()) return verdict;
  }
  for (auto row : touched.rows<kReports>())
    if (row.visible())
      if (Verdict verdict = judgeReport(s, row); !verdict.passed()) return verdict;
  for (auto row : touched.rows<kCommits>())
    if (row.visible())
      if (Verdict verdict = judgeCommitment(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
}

Verdict PhasePath::checkRow(const View<PhasePath>&, const RowView<PhasePath, table>& row) {
  const auto reject = [&](const std::string& why) {
    return Verdict::reject("vulnerability " + clipped(row.key()) + ": " + why);
  };
  if (!row.has<VulnPhase>() && !row.has<PhaseLog>()) return Verdict::pass();  // VULN_REF_INTEGRITY's
  if (!row.has<VulnPhase>() || !row.has<PhaseLog>() || row.get<PhaseLog>()->empty())
    return reject("phase and phase log go together");
  const std::vector<PhaseChange>& log = *row.get<PhaseLog>();
  if (log.front().phase != Phase::DISCOVERED)
    return reject("its phases start with " + std::string(enumName(log.front().phase)));
  for (std::size_t i = 1; i < log.size(); ++i) {
    const PhaseChange &from = log[i - 1], &to = log[i];
    if (to.at < from.at)
      return reject("it became " + std::string(enumName(to.phase)) + " before it became " +
                    std::string(enumName(from.phase)));
    if (!isEdge(from.phase, to.phase, isBy(row.get<PubKnownAt>(), to.at)))
      return reject(std::string(enumName(from.phase)) + " does not lead to " + std::string(enumName(to.phase)));
  }
  if (log.back().phase != *row.get<VulnPhase>())
    return reject("it is " + std::string(enumName(*row.get<VulnPhase>())) + ", its log ends with " +
                  std::string(enumName(log.back().phase)));
  return Verdict::pass();
}

// Rules over the whole portfolio: MAINTAINER_RATE_LIMIT, COMMITMENT_REGISTRY_CONSISTENCY, RECEIVING_ORG_CONFINEMENT,
// CVE_ATTRIBUTION_UNIQUENESS.

// ---- MAINTAINER_RATE_LIMIT: the densest window always ends at a report, so only those are looked at.

namespace {

using LimitedReport = RowView<MaintainerRateLimit, kReports>;

bool isComplete(const LimitedReport& r) {
  return r.has<ReportOrg>() && r.has<ReportMaintainer>() && r.has<ReportSubmittedAt>();
}

Verdict judgeReport(const View<MaintainerRateLimit>& s, const LimitedReport& r) {
  if (!isComplete(r)) return Verdict::pass();  // VULN_REF_INTEGRITY's
  const RateLimit& rate = s.policy().rate;
  const Time end = *r.get<ReportSubmittedAt>();
  std::int64_t held = 0;
  for (const auto& other : s.matching<kReports, ByMaintainer>(*r.get<ReportOrg>(), *r.get<ReportMaintainer>()))
    if (const auto& at = other.get<ReportSubmittedAt>();
        at && *at <= end && *at > Time{end.micros - rate.W * kMicrosPerDay})
      ++held;
  if (held <= rate.N) return Verdict::pass();
  return Verdict::reject(std::to_string(held) + " reports to maintainer " + clipped(*r.get<ReportMaintainer>()) +
                         " of " + clipped(*r.get<ReportOrg>()) + " in " + std::to_string(rate.W) + " days, at most " +
                         std::to_string(rate.N) + " are allowed");
}

}  // namespace

Verdict MaintainerRateLimit::check(const View<MaintainerRateLimit>& s) {
  return judgeAll(s.rows<kReports>(), [&](const LimitedReport& r) { return judgeReport(s, r); });
}

std::optional<Verdict> MaintainerRateLimit::checkTouched(const View<MaintainerRateLimit>& s,
                                                         const Touched<MaintainerRateLimit, Fields>& touched) {
  Affected<LimitedReport> affected;
  for (const LimitedReport& r : touched.rows<kReports>()) {
    if (!isComplete(r)) continue;
    const Time from = *r.get<ReportSubmittedAt>();
    for (const auto& other : s.matching<kReports, ByMaintainer>(*r.get<ReportOrg>(), *r.get<ReportMaintainer>()))
      if (const auto& at = other.get<ReportSubmittedAt>();
          at && *at >= from && *at < Time{from.micros + s.policy().rate.W * kMicrosPerDay})
        affected.add(other);
  }
  return affected.judge([&](const LimitedReport& r) { return judgeReport(s, r); });
}

// ---- COMMITMENT_REGISTRY_CONSISTENCY

namespace {

using Registry = View<CommitmentRegistryConsistency>;
template <auto TablePointer>
using Fact = RowView<CommitmentRegistryConsistency, TablePointer>;

// Of several facts about one hash all but the first are at fault.
Verdict judgeCommitment(const Registry& s, const Fact<kCommits>& row) {
  const Commitment& c = *row.get<CommitLog>();
  if (!isHash256(c.hash))
    return Verdict::reject("commitment \"" + clipped(c.hash) + "\" is not 64 lower-case hex digits");
  if (!commitmentHashNamed(c.alg))
    return Verdict::reject("commitment " + c.hash + ": \"" + clipped(c.alg) + "\" is neither SHA-256 nor SHA3-256");
  if (s.matching<kCommits, ByCommitHash>(c.hash).front().slot() != row.slot())
    return Verdict::reject("commitment " + c.hash + " is published already");
  return Verdict::pass();
}

Verdict judgeResolution(const Registry& s, const Fact<kResolves>& row) {
  const Resolution& r = *row.get<ResolveLog>();
  const auto committed = s.matching<kCommits, ByCommitHash>(r.hash);
  if (committed.empty()) return Verdict::reject("no commitment " + clipped(r.hash) + " was published");
  if (s.matching<kResolves, ByResolveHash>(r.hash).front().slot() != row.slot())
    return Verdict::reject("commitment " + r.hash + " is resolved already");
  if (!opens(r.hash, committed.front().get<CommitLog>()->alg, r.nonce, r.digest))
    return Verdict::reject("nonce and digest do not open commitment " + r.hash);
  return Verdict::pass();
}

}  // namespace

Verdict CommitmentRegistryConsistency::check(const Registry& s) {
  Verdict verdict = judgeAll(s.rows<kCommits>(), [&](const auto& row) { return judgeCommitment(s, row); });
  if (!verdict.passed()) return verdict;
  return judgeAll(s.rows<kResolves>(), [&](const auto& row) { return judgeResolution(s, row); });
}

std::optional<Verdict> CommitmentRegistryConsistency::checkTouched(
    const Registry& s, const Touched<CommitmentRegistryConsistency, Fields>& touched) {
  const auto commits = touched.rows<kCommits>();
  const auto resolves = touched.rows<kResolves>();
  for (const auto& row : commits)
    if (touched.existedBefore<CommitLog>(row)) return std::nullopt;  // a log only grows
  for (const auto& row : resolves)
    if (touched.existedBefore<ResolveLog>(row)) return std::nullopt;
  Verdict verdict = judgeAll(commits, [&](const auto& row) { return judgeCommitment(s, row); });
  if (!verdict.passed()) return verdict;
  return judgeAll(resolves, [&](const auto& row) { return judgeResolution(s, row); });
}

// ---- RECEIVING_ORG_CONFINEMENT

namespace {

using Confined = View<ReceivingOrgConfinement>;

const Texts& orgsOf(const Confined& s, std::string_view v) {
  static const Texts kNone;
  const auto row = s.row<kVulns>(v);
  return row && row->has<VulnOrgs>() ? *row->get<VulnOrgs>() : kNone;
}

bool has(const Texts& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

Verdict judgeRecipient(const Confined& s, const RowView<ReceivingOrgConfinement, kReports>& r) {
  if (!r.has<ReportVuln>() || !r.has<ReportOrg>()) return Verdict::pass();  // VULN_REF_INTEGRITY's
  if (has(orgsOf(s, *r.get<ReportVuln>()), *r.get<ReportOrg>())) return Verdict::pass();
  return Verdict::reject("report " + clipped(r.key()) + " went to " + clipped(*r.get<ReportOrg>()) +
                         ", no recipient of " + clipped(*r.get<ReportVuln>()));
}

Verdict judgeMentions(const Confined& s, const RowView<ReceivingOrgConfinement, kVulns>& v) {
  if (!v.has<PtRefs>()) return Verdict::pass();
  const Texts& own = orgsOf(s, v.key());
  for (const std::string& x : *v.get<PtRefs>()) {
    if (x == v.key()) continue;
    const Texts& theirs = orgsOf(s, x);
    if (std::none_of(theirs.begin(), theirs.end(), [&](const std::string& org) { return has(own, org); }))
      return Verdict::reject("the material of " + clipped(v.key()) + " mentions " + clipped(x) +
                             ", which no organisation shares with it");
  }
  return Verdict::pass();
}

}  // namespace

Verdict ReceivingOrgConfinement::check(const Confined& s) {
  Verdict verdict = judgeAll(s.rows<kReports>(), [&](const auto& row) { return judgeRecipient(s, row); });
  if (!verdict.passed()) return verdict;
  return judgeAll(s.rows<kVulns>(), [&](const auto& row) { return judgeMentions(s, row); });
}

std::optional<Verdict> ReceivingOrgConfinement::checkTouched(const Confined& s,
                                                             const Touched<ReceivingOrgConfinement, Fields>& touched) {
  const auto vulns = touched.rows<kVulns>();
  for (const auto& v : vulns)
    if (touched.changed<VulnOrgs>(v) && touched.existedBefore<VulnOrgs>(v)) return std::nullopt;  // others rest on it
  Verdict verdict = judgeAll(touched.rows<kReports>(), [&](const auto& row) { return judgeRecipient(s, row); });
  if (!verdict.passed()) return verdict;
  return judgeAll(vulns, [&](const auto& row) { return judgeMentions(s, row); });
}

// ---- CVE_ATTRIBUTION_UNIQUENESS

namespace {

using Attributed = RowView<CveAttributionUniqueness, kVulns>;

bool isLive(const Attributed& v) { return v.get<VulnPhase>() != Phase::WITHDRAWN; }

// `bound`: the vulnerabilities that claim `cve` and are not withdrawn, each once, in key order.
template <class Bound>
Verdict judgeId(const View<CveAttributionUniqueness>& s, const std::string& cve, const Bound& bound) {
  if (bound.size() < 2 || s.waived(CveAttributionUniqueness::id, cve)) return Verdict::pass();
  const std::string both =
      clipped(cve) + " is bound to " + clipped(bound[0].key()) + " and to " + clipped(bound[1].key());
  for (const Attributed& v : bound)
    if (v.get<CveObserved>() != cve) return Verdict::reject(both + ": merge them instead");
  return Verdict::escalate(both + " by external observations: the numbering authority must fix it");
}

// Calls visit for each id that v claims.
template <class Visit>
void forEachId(const Attributed& v, Visit&& visit) {
  if (v.has<CveObserved>()) visit(*v.get<CveObserved>());
  if (v.has<CveDedup>()) visit(*v.get<CveDedup>());
  if (v.has<DiscCve>()) visit(*v.get<DiscCve>());
}

using Claims = boost::container::small_vector<Attributed, 4>;

Claims claimsOn(const View<CveAttributionUniqueness>& s, const std::string& cve) {
  Claims claims;
  const auto add = [&](const auto& rows) {
    for (const Attributed& v : rows)
      if (isLive(v)) claims.push_back(v);
  };
  add(s.matching<kVulns, ByCveObserved>(cve));
  add(s.matching<kVulns, ByCveDedup>(cve));
  add(s.matching<kVulns, ByCveDisclosed>(cve));
  std::sort(claims.begin(), claims.end(), [](const Attributed& a, const Attributed& b) { return a.key() < b.key(); });
  claims.erase(std::unique(claims.begin(), claims.end(),
                           [](const Attributed& a, const Attributed& b) { return a.slot() == b.slot(); }),
               claims.end());
  return claims;
}

}  // namespace

Verdict CveAttributionUniqueness::check(const View<CveAttributionUniqueness>& s) {
  std::map<std::string_view, Claims> claims;
  for (const Attributed& v : s.rows<kVulns>())
    if (isLive(v))
      forEachId(v, [&](const std::string& cve) {
        Claims& of = claims[cve];
        if (of.empty() || of.back().slot() != v.slot()) of.push_back(v);
      });
  Worst worst;
  for (const auto& [cve, bound] : claims)
    if (worst.add(judgeId(s, std::string(cve), bound))) break;
  return worst.take();
}

std::optional<Verdict> CveAttributionUniqueness::checkTouched(
    const View<CveAttributionUniqueness>& s, const Touched<CveAttributionUniqueness, Fields>& touched) {
  std::set<std::string_view> ids;
  for (const Attributed& v : touched.rows<kVulns>())
    if (isLive(v)) forEachId(v, [&](const std::string& cve) { ids.insert(cve); });
  Worst worst;
  for (std::string_view cve : ids)
    if (worst.add(judgeId(s, std::string(cve), claimsOn(s, std::string(cve))))) break;
  return worst.take();
}

}  // namespace witan::domains::disclosure
