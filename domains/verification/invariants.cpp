#include "domains/verification/invariants.h"

#include <map>
#include <set>

#include "base/mutant.h"
#include "base/utf8.h"
#include "rules/program/cvss.h"

namespace witan::domains::verification {

namespace {

template <class I>
using FindingView = RowView<I, kFindings>;

std::string finding(std::string_view key) { return "finding " + std::string(clip(key)); }

bool isEdge(Phase from, Phase to) {
  switch (from) {
    case Phase::SUBMITTED: return to == Phase::TRIAGED || to == Phase::DUPLICATE;
    case Phase::TRIAGED: return to == Phase::REPRODUCED || to == Phase::REFUTED || to == Phase::DUPLICATE;
    case Phase::REPRODUCED: return to == Phase::VERIFIED || to == Phase::REFUTED || to == Phase::DUPLICATE;
    case Phase::VERIFIED:
    case Phase::REFUTED:
    case Phase::DUPLICATE: return false;
  }
  return false;
}

bool isDuplicate(const FindingView<DuplicateTarget>& row) {
  return row.has<DupOf>() || row.get<FindingPhase>() == Phase::DUPLICATE;
}

// What tells two runs apart.
using Setting = std::pair<std::string_view, std::int64_t>;

Verdict checkEvidence(const View<EvidenceFirst>& s, const FindingView<EvidenceFirst>& row,
                      const std::set<Setting>& reproducedIn) {
  const auto lacks = [&](const std::string& what) {
    return Verdict::reject(finding(row.key()) + " is VERIFIED " + what);
  };
  const std::int64_t needed = mutated("oneRunSuffices") ? 1 : s.policy().minRuns;
  if (static_cast<std::int64_t>(reproducedIn.size()) < needed)
    return lacks("by " + std::to_string(reproducedIn.size()) + " successful runs of different (env, seed), " +
                 std::to_string(needed) + " are needed");
  if (!row.has<StaticLocation>() || !isStated(*row.get<StaticLocation>())) return lacks("without a location");
  if (!row.has<SevVector>() || !row.has<SevScore>() || !row.has<SevBand>()) return lacks("without a severity");
  return Verdict::pass();
}

bool isEvidence(const Run& run) { return run.ok && run.trace && isStated(*run.trace); }

}  // namespace

Verdict PhasePath::checkRow(const View<PhasePath>&, const RowView<PhasePath, table>& row) {
  const auto fails = [&](const std::string& what) { return Verdict::reject(finding(row.key()) + " " + what); };
  if (!row.has<FindingPhase>()) return fails("has a phase log but no phase");
  if (!row.has<PhaseLog>() || row.get<PhaseLog>()->empty()) return fails("has a phase but no phase log");
  const std::vector<PhaseEntry>& log = *row.get<PhaseLog>();
  if (log.front().phase != Phase::SUBMITTED)
    return fails("begins as " + std::string(enumName(log.front().phase)) + ", not as SUBMITTED");
  for (std::size_t i = 1; i < log.size(); ++i) {
    if (!isEdge(log[i - 1].phase, log[i].phase))
      return fails("cannot go from " + std::string(enumName(log[i - 1].phase)) + " to " +
                   std::string(enumName(log[i].phase)));
    if (log[i].at < log[i - 1].at) return fails("has a phase log that goes back in time at " + formatTime(log[i].at));
  }
  if (log.back().phase != *row.get<FindingPhase>())
    return fails("is " + std::string(enumName(*row.get<FindingPhase>())) + " but its phase log ends at " +
                 std::string(enumName(log.back().phase)));
  return Verdict::pass();
}

Verdict DuplicateTarget::checkRow(const View<DuplicateTarget>& s, const RowView<DuplicateTarget, table>& row) {
  if (!isDuplicate(row)) return Verdict::pass();
  if (!row.has<DupOf>()) return Verdict::reject(finding(row.key()) + " is a duplicate of none");
  const std::string& of = *row.get<DupOf>();
  if (of == row.key()) return Verdict::reject(finding(row.key()) + " is marked a duplicate of itself");
  const auto target = s.row<kFindings>(of);
  if (!target || !target->has<FindingPhase>())
    return Verdict::reject(finding(row.key()) + " is marked a duplicate of the unknown " + finding(of));
  if (isDuplicate(*target))
    return Verdict::reject(finding(row.key()) + " is marked a duplicate of " + finding(of) +
                           ", which is a duplicate itself");
  return Verdict::pass();
}

// A finding that becomes a duplicate, or goes away, may be the target of others; any other step is no one's concern.
bool DuplicateTarget::othersStand(const View<DuplicateTarget>&, const Touched<DuplicateTarget, Fields>& touched) {
  return noneOf(touched.rows<kFindings>(), [&](auto row) {
    return touched.template changed<DupOf>(row) || !row.template has<FindingPhase>() ||
           row.template get<FindingPhase>() == Phase::DUPLICATE;
  });
}

Band bandOf(Score score) {
  if (score == Score::ofTenths(0)) return Band::NONE;
  if (score < Score::ofTenths(40)) return Band::LOW;
  if (score < Score::ofTenths(70)) return Band::MEDIUM;
  return score < Score::ofTenths(90) ? Band::HIGH : Band::CRITICAL;
}

Verdict SeverityBand::checkRow(const View<SeverityBand>&, const RowView<SeverityBand, table>& row) {
  if (!row.has<SevVector>() || !row.has<SevScore>() || !row.has<SevBand>())
    return Verdict::reject("the severity of " + finding(row.key()) + " is incomplete");
  const Score score = *row.get<SevScore>();
  if (score < Score::ofTenths(0) || score > Score::ofTenths(100))
    return Verdict::reject(finding(row.key()) + ": score " + toJson(score) + " lies outside of 0 to 10");
  const auto tenths = rules::cvssTenths(*row.get<SevVector>());
  if (!tenths)
    return Verdict::reject(finding(row.key()) + ": \"" + std::string(clip(*row.get<SevVector>(), 80)) +
                           "\" is no vector of CVSS 3.0, 3.1 or 4.0");
  if (const Score due = Score::ofTenths(*tenths); score != due)
    return Verdict::reject(finding(row.key()) + ": score " + toJson(score) + ", the vector gives " + toJson(due));
  if (const Band right = bandOf(score); row.get<SevBand>() != right)
    return Verdict::reject(finding(row.key()) + ": score " + toJson(score) + " is " + std::string(enumName(right)) +
                           ", not " + std::string(enumName(*row.get<SevBand>())));
  return Verdict::pass();
}

Verdict EvidenceFirst::check(const View<EvidenceFirst>& s) {
  std::map<std::string_view, std::set<Setting>> settings;
  for (auto row : s.rows<kRuns>())
    if (const Run& run = *row.get<ReproLog>(); isEvidence(run)) settings[run.f].insert({run.env, run.seed});
  for (auto row : s.rows<kFindings>())
    if (row.get<FindingPhase>() == Phase::VERIFIED)
      if (Verdict verdict = checkEvidence(s, row, settings[row.key()]); !verdict.passed()) return verdict;
  return Verdict::pass();
}

// More runs never take evidence away: only findings that were written need a look.
bool EvidenceFirst::stillPasses(const View<EvidenceFirst>& s, const Touched<EvidenceFirst, Fields>& touched) {
  for (auto row : touched.rows<kFindings>()) {
    if (row.get<FindingPhase>() != Phase::VERIFIED) continue;
    std::set<Setting> settings;
    for (auto entry : s.rows<kRuns>())
      if (const Run& run = *entry.get<ReproLog>(); run.f == row.key() && isEvidence(run))
        settings.insert({run.env, run.seed});
    if (!checkEvidence(s, row, settings).passed()) return false;
  }
  return true;
}

// A signature of before the verdict is none: it was given for something else.
Verdict HumanVerdict::checkRow(const View<HumanVerdict>&, const RowView<HumanVerdict, table>& row) {
  const auto& phase = row.get<FindingPhase>();
  const auto& signature = row.get<VerdictBy>();
  const auto& log = row.get<PhaseLog>();
  const bool judged = phase == Phase::VERIFIED || phase == Phase::REFUTED || row.has<VerdictOutcomeOf>();
  if (!judged || (signature && (!log || log->empty() || signature->at >= log->back().at))) return Verdict::pass();
  const std::string verdict(row.has<VerdictOutcomeOf>() ? enumName(*row.get<VerdictOutcomeOf>()) : enumName(*phase));
  return Verdict::escalate("no human has signed that " + finding(row.key()) + " is " + verdict);
}

}  // namespace witan::domains::verification
