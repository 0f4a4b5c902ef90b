// Checker "runs" (seed 003, section 6.1 and section 10, invariant 5): which runs of agents may begin on which device,
// and which must have ended when all is at rest. Told by whoever drives the devices what each has made durable; it
// knows nothing of what the devices believe.
//
// Values; each rule says "" or the first thing that is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/wake/wake_job.h"
#include "base/identity.h"
#include "sim/check/operation.h"

namespace witan::sim {

class RunRules {
 public:
  // A device has made durable what waits or runs on it: of what ran there, what is gone has ended.
  void stands(std::uint32_t device, const std::function<bool(const RunKey&)>& isThere);

  struct Start {
    std::uint32_t device = 0;
    std::string deviceName;
    std::string agent;
    RunKey run;
    bool paused = false;       // the agent, as this device knows
    bool undisturbed = false;  // all devices see each other, and have since the beginning
  };
  // Whether it is news that this run is under way there.
  bool isNew(std::uint32_t device, const RunKey& run) const;
  // A run begins. It may not where its end is known, nor while its agent is paused; and of devices that see each other
  // one runs it.
  std::string begins(const Start& start);
  // How many devices have begun it.
  std::size_t startedBy(const RunKey& run) const;

  // The power went: nothing runs there any more. With the disk goes what it knew of ends.
  void stopped(std::uint32_t device, bool diskToo);
  // What runs there goes on; of what has ended there it may know nothing any more.
  void forgetEnds(std::uint32_t device) { devices_[device].ended.clear(); }

 private:
  struct Known {
    std::set<RunKey> running, ended;
  };
  std::map<std::uint32_t, Known> devices_;
  std::map<RunKey, std::set<std::uint32_t>> startedBy_;
};

// The runs that something wakes, derived as seed 003, 3.2 and 3.4, has it: from who said or changed what, and never
// from the words.
RunKey runOfTurn(std::string_view agent, std::string_view session, std::string_view turn);
RunKey runOfEntry(std::string_view agent, std::string_view subscription, const ChangeUnit& change);
RunKey runOfFact(std::string_view agent, std::string_view subscription, const agents::LedgerFact& fact);

// What should have woken an agent.
struct ExpectedRun {
  std::string what;
  RunKey run;
};

// At rest: every run that began has ended, and what should have woken an agent did.
std::string checkAtRest(std::span<const agents::KnownRun> runs, std::span<const ExpectedRun> expected);

// What the entries of a log say of a column that agents watch (agents/agent.h, LedgerSpec): read from the JSON of what
// each entity began with and of what was written, as a person would.
// Each fact once, in the order of the log. Entities that nobody has decided anything about yet say nothing.
std::vector<agents::LedgerFact> factsOf(const PartitionLog& log, const agents::LedgerSpec& spec);

}  // namespace witan::sim
