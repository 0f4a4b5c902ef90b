#include "sim/check/run_rules.h"

#include "agents/wake/wake_checks.h"

namespace witan::sim {

void RunRules::stands(std::uint32_t device, const std::function<bool(const RunKey&)>& isThere) {
  Known& known = devices_[device];
  std::erase_if(known.running, [&](const RunKey& run) { return !isThere(run) && known.ended.insert(run).second; });
}

bool RunRules::isNew(std::uint32_t device, const RunKey& run) const {
  const auto known = devices_.find(device);
  return known == devices_.end() || !known->second.running.contains(run);
}

std::string RunRules::begins(const Start& start) {
  Known& known = devices_[start.device];
  known.running.insert(start.run);
  std::set<std::uint32_t>& by = startedBy_[start.run];
  by.insert(start.device);
  const std::string name = start.agent + "'s run " + start.run.hex().substr(0, 16);
  const std::string begins = start.deviceName + " begins " + name;
  if (known.ended.contains(start.run)) return begins + ", which has ended there";
  if (start.paused) return begins + " although the agent is paused";
  if (by.size() > 1 && start.undisturbed) return name + " was begun by several devices that see each other";
  return {};
}

std::size_t RunRules::startedBy(const RunKey& run) const {
  const auto by = startedBy_.find(run);
  return by == startedBy_.end() ? 0 : by->second.size();
}

void RunRules::stopped(std::uint32_t device, bool diskToo) {
  Known& known = devices_[device];
  known.running.clear();
  if (diskToo) known.ended.clear();
}

std::string checkAtRest(std::span<const agents::KnownRun> runs, std::span<const ExpectedRun> expected) {
  if (const auto found = agents::runsWithoutEnd(runs); !found.empty()) return found.front();
  std::set<RunKey> ended;
  for (const agents::KnownRun& run : runs)
    if (run.view.run && replication::isTerminal(run.view.run->body.status)) ended.insert(run.key);
  for (const ExpectedRun& one : expected)
    if (!ended.contains(one.run)) return one.what + ": run " + one.run.hex().substr(0, 16) + " has no end";
  return {};
}

}  // namespace witan::sim
