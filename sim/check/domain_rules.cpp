#include "sim/check/domain_rules.h"

#include <set>

#include "sim/check/state_view.h"

namespace witan::sim {

std::string checkDomainState(std::string_view domain, const json::object& state) {
  if (domain == "disclosure") return checkDisclosureState(state);
  if (domain == "verification") return checkVerificationState(state);
  if (domain == "moderation") return checkModerationState(state);
  if (domain == "joint") return checkJointState(state);
  return {};
}

namespace {

// Two runs count as one if environment and seed are the same.
std::size_t reproductionsOf(const json::object& state, std::string_view finding) {
  std::set<std::string> settings;
  for (const auto& [number, run] : columnOf(state, "repro.log")) {
    if (!run.is_object() || memberOf(run, "f") != finding || memberOf(run, "trace").empty()) continue;
    const json::value* ok = run.get_object().if_contains("ok");
    const json::value* seed = run.get_object().if_contains("seed");
    if (ok != nullptr && ok->is_bool() && ok->get_bool() && seed != nullptr)
      settings.insert(memberOf(run, "env") + " " + canonicalJson(*seed));
  }
  return settings.size();
}

bool mayFollow(const std::string& from, const std::string& to) {
  static const std::set<std::pair<std::string, std::string>> edges{
      {"SUBMITTED", "TRIAGED"}, {"SUBMITTED", "DUPLICATE"}, {"TRIAGED", "REPRODUCED"}, {"TRIAGED", "REFUTED"},
      {"TRIAGED", "DUPLICATE"}, {"REPRODUCED", "VERIFIED"}, {"REPRODUCED", "REFUTED"}, {"REPRODUCED", "DUPLICATE"}};
  return edges.contains({from, to});
}

}  // namespace

std::string checkVerificationState(const json::object& state) {
  for (const auto& [finding, phase] : columnOf(state, "finding.phase")) {
    const std::string name = "finding " + std::string(finding), now = textIn(&phase);
    std::string before;
    for (const json::value& step : listIn(cellOf(state, "phase.log", finding))) {
      const json::array& pair = listIn(&step);
      const std::string next = pair.empty() ? "" : textIn(&pair[0]);
      if (before.empty() ? next != "SUBMITTED" : !mayFollow(before, next))
        return name + " went from \"" + before + "\" to " + next;
      before = next;
    }
    if (before != now) return name + " is " + now + ", its history ends with \"" + before + "\"";
    if (now == "DUPLICATE" && textOf(state, "finding.phase", textOf(state, "dup.of", finding)).empty())
      return name + " is a duplicate of what nobody knows";
    if ((now == "VERIFIED" || now == "REFUTED") && !textOf(state, "verdict.by", finding).starts_with("human"))
      return name + " is " + now + " and no human said so";
    if (now != "VERIFIED") continue;
    if (reproductionsOf(state, finding) < 2) return name + " is VERIFIED without two reproductions";
    if (textOf(state, "static.location", finding).empty() || cellOf(state, "sev.score", finding) == nullptr)
      return name + " is VERIFIED without a location or a severity";
  }
  return {};
}

}  // namespace witan::sim
