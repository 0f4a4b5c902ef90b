// VULN_REF_INTEGRITY and VULN_PHASE_PATH: without them the rules gated by phases could fall silent (Remark A.19).
#include "domains/disclosure/invariants.h"
#include "domains/disclosure/verdicts.h"

namespace witan::domains::disclosure {

namespace {

template <auto TablePointer>
using RefRow = RowView<RefIntegrity, TablePointer>;

bool isKnown(const View<RefIntegrity>& s, std::string_view v) {
  const auto row = s.row<kVulns>(v);
  return row && row->has<VulnPhase>();
}

Verdict judgeVuln(const RefRow<kVulns>& row) {
  if (row.has<VulnPhase>()) return Verdict::pass();
  return Verdict::reject("vulnerability " + clipped(row.key()) + " is unknown");
}

Verdict judgeReport(const View<RefIntegrity>& s, const RefRow<kReports>& row) {
  if (!row.has<ReportVuln>() || !row.has<ReportOrg>() || !row.has<ReportMaintainer>() || !row.has<ReportSubmittedAt>())
    return Verdict::reject("report " + clipped(row.key()) + " is incomplete");
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

}  // namespace witan::domains::disclosure
