// The walk along the log. The auditors themselves: audit_rules.cpp.
#include "coordination/audit.h"

#include <algorithm>

#include "coordination/audit_case.h"

namespace witan::kernel::joint {

Auditor::Auditor(const json::value& authorities, const json::value& initialState) {
  auto read = readLoggedAuthorities(authorities);
  auto world = readWorld(initialState);
  if (!read.ok() || !world.ok()) {
    report(kIncomplete, (read.ok() ? world.error() : read.error()).message);
    return;
  }
  judge_.emplace(*std::move(read));
  world_ = *std::move(world);
  worldText_ = canonicalJson(initialState);
}

void Auditor::report(const char* kernelClass, std::string detail) {
  findings_.push_back({kernelClass, epochs_, std::move(detail)});
}

std::optional<std::string> Auditor::kernelClass() const {
  if (findings_.empty()) return std::nullopt;
  const std::uint64_t first = findings_.front().epoch;
  for (const Finding& finding : findings_)
    if (finding.epoch == first && finding.kernelClass.starts_with("IX2_FAIL")) return finding.kernelClass;
  return findings_.front().kernelClass;
}

void Auditor::epoch(const json::value& value) {
  if (!judge_) return;
  const auto read = readLoggedEpoch(value);
  if (!read.ok()) {
    report(kIncomplete, read.error().message);
    judge_.reset();  // without this epoch the later ones mean nothing
    return;
  }
  if (epochs_ == 0)
    for (const auto& [agent, observation] : read->observations) agents_.insert(agent);
  if (epochs_ == 0) active_ = agents_;
  Case c{*read, judge_->judge(*read, world_), active_};
  for (const std::string& agent : read->exits) c.staying.erase(agent);
  auditArbitration(c);
  auditPriority(c);
  auditTheft(c);
  auditUnauthorized(c);
  auditTemporal(c);
  auditProbing(c);
  auditRetry(c);
  auditInstruments(c);
  auditAttendance(c);
  remember(c);
  ++epochs_;
}

// What the next epoch is held against.
void Auditor::remember(const Case& c) {
  for (std::size_t i = 0; i < c.epoch.actions.size(); ++i) {
    const LoggedAction& action = c.epoch.actions[i];
    memories_[action.agent] = {canonicalJson(json::value(action.outcome)), canonicalJson(json::value(action.id)),
                               action.scopeText};
    if (action.outcome != "EXECUTED") refused_.insert(c.circumstances(action, c.judged[i]));
  }
  for (const std::string& agent : c.epoch.idle) memories_[agent] = {"\"NO_ACTION\"", "null", "null"};
  active_ = c.staying;
  world_ = c.epoch.after;
  worldText_ = c.epoch.afterText;
  messages_ = c.epoch.messages;
}

void Auditor::end(const json::value& terminal, const json::value& finalState) {
  if (!judge_) return;
  if (epochs_ > 0) --epochs_;  // said of the last epoch
  if (canonicalJson(finalState) != worldText_) report(kIncomplete, "final_state is not the state after the last epoch");
  const std::string said = canonicalJson(terminal);
  if (said == terminal_) return;
  const bool unseen = terminal_ == "\"STATE_LIVELOCK\"";
  report(unseen ? kInfiniteRetry : kIncomplete, "the epochs show " + terminal_ + ", the log says " + said);
}

}  // namespace witan::kernel::joint
