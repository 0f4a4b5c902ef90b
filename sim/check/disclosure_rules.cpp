// The domain disclosure, under the preset PAPER: 90 days and at most 14 more, the later of deadline and patch.
#include <algorithm>
#include <map>
#include <vector>

#include "sim/check/domain_rules.h"
#include "sim/check/state_view.h"

namespace witan::sim {

namespace {

constexpr std::int64_t kRateWindow = 7 * kMicrosPerDay;
constexpr std::size_t kRate = 3;

// No maintainer of an organisation had more reports than three in any seven days.
std::string tooManyReports(const json::object& state) {
  std::map<std::pair<std::string, std::string>, std::vector<Time>> sent;
  for (const auto& [report, at] : columnOf(state, "report.submittedAt"))
    if (const auto time = timeIn(textIn(&at)))
      sent[{textOf(state, "report.org", report), textOf(state, "report.maintainer", report)}].push_back(*time);
  for (auto& [whom, times] : sent) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = kRate; i < times.size(); ++i)
      if (times[i].micros - times[i - kRate].micros < kRateWindow)
        return "more than three reports in a week to " + whom.second + " of " + whom.first;
  }
  return {};
}

std::string doubledCommitment(const json::object& state) {
  std::map<std::string, int> committed, resolved;
  for (const auto& [number, fact] : columnOf(state, "commit.log"))
    if (++committed[memberOf(fact, "hash")] > 1) return "commitment " + memberOf(fact, "hash") + " stands twice";
  for (const auto& [number, fact] : columnOf(state, "resolve.log")) {
    const std::string hash = memberOf(fact, "hash");
    if (!committed.contains(hash)) return "commitment " + hash + " is open, and was never made";
    if (++resolved[hash] > 1) return "commitment " + hash + " is opened twice";
  }
  return {};
}

// An id names one vulnerability that is not withdrawn, unless a person let it be.
std::string sharedId(const json::object& state) {
  std::map<std::string, std::string> holder;
  for (const char* field : {"cve.observed", "cve.dedup", "disc.cve"})
    for (const auto& [v, id] : columnOf(state, field)) {
      const std::string cve = textIn(&id);
      if (cve.empty() || textOf(state, "vuln.phase", v) == "WITHDRAWN") continue;
      const auto [at, fresh] = holder.emplace(cve, std::string(v));
      if (!fresh && at->second != v && !isWaived(state, "CVE_ATTRIBUTION_UNIQUENESS", cve))
        return cve + " names " + at->second + " and " + std::string(v);
    }
  return {};
}

// A disclosure at T: not before its embargo lets go, with a patch or a reason, and crediting somebody.
std::string wrongDisclosure(const json::object& state, std::string_view v, Time at) {
  const std::string name = "the disclosure of " + std::string(v);
  const auto by = [&](const char* field) {
    const auto time = timeOf(state, field, v);
    return time && *time <= at ? time : std::nullopt;
  };
  const auto patch = by("patch.releasedAt"), leak = by("pub.knownAt"), deadline = timeOf(state, "embargo.deadline", v);
  if (deadline && !leak && !isWaived(state, "EMBARGO_ENFORCEMENT", v)) {
    const Time release = patch ? std::max(*deadline, *patch) : *deadline;
    if (at < release) return name + " came before its embargo let go, at " + formatTime(release);
  }
  const bool released = patch && textOf(state, "patch.status", v) == "RELEASED";
  if (!released && !leak && !by("embargo.deadline") && !isWaived(state, "PATCH_BEFORE_DISCLOSURE", v))
    return name + " came before a patch";
  if (released && textOf(state, "disc.patchLink", v).empty()) return name + " does not say where the patch is";
  if (by("cve.observedAt") && textOf(state, "disc.cve", v).empty()) return name + " leaves out its CVE id";
  if (listIn(cellOf(state, "disc.attribution", v)).empty()) return name + " credits nobody";
  return {};
}

}  // namespace

std::string checkDisclosureState(const json::object& state) {
  for (const std::string& why : {tooManyReports(state), doubledCommitment(state), sharedId(state)})
    if (!why.empty()) return why;
  for (const auto& [v, phase] : columnOf(state, "vuln.phase")) {
    const json::array& history = listIn(cellOf(state, "phase.log", v));
    const json::array& last = listIn(history.empty() ? nullptr : &history.back());
    if (last.empty() || textIn(&last[0]) != textIn(&phase)) return std::string(v) + " is not where its history ends";
    const auto at = timeOf(state, "disc.at", v);
    if (at.has_value() != (textIn(&phase) == "DISCLOSED")) return std::string(v) + " is disclosed at no time, or not";
    if (!at) continue;
    if (const std::string why = wrongDisclosure(state, v, *at); !why.empty()) return why;
  }
  return {};
}

}  // namespace witan::sim
