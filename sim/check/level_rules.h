// Checker "retention", its part about growth: what a device keeps of the work of agents is level from week to week once
// the horizon has passed (agents/host/run_retention.h), whatever it was busy with.
//
// Values; each rule says "" or what is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "base/reflect.h"

namespace witan::sim {

// What one device keeps, in records that stand, tombstones that wait until all devices have them, and kilobytes of
// keys and values on its disks.
struct KeptLevel {
  WITAN_DECLARED(KeptLevel, (std::uint64_t, entries), (std::uint64_t, plans), (std::uint64_t, runs),
                 (std::uint64_t, operations), (std::uint64_t, approvals), (std::uint64_t, batches),
                 (std::uint64_t, tombstones), (std::uint64_t, agentsKb), (std::uint64_t, journalKb))
};

// "120 entries, 30 plans, ...".
std::string wordsOf(const KeptLevel& level);

// The weeks after the first ones give the level; in none after those may a device keep more than half as much again.
class LevelRules {
 public:
  static constexpr std::int64_t kWarmDays = 7, kLevelDays = 14;  // after the horizon, and after that

  explicit LevelRules(std::int64_t horizonDays) : warm_(horizonDays + kWarmDays) {}
  // What `device` keeps on this day.
  std::string looked(const std::string& device, std::int64_t day, const KeptLevel& level);

 private:
  const std::int64_t warm_;
  KeptLevel most_;  // of all devices, while the level is found
};

}  // namespace witan::sim
