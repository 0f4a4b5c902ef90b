// One simulated run of a plan: the whole cluster under virtual time, its checkers, its outcome.
//
// Deterministic: the same plan and the same code give the same trace, byte for byte, on any machine. No state outside
// of the call, so runs may go in parallel on several threads, except that a broken variant (base/mutant.h) holds for
// the whole process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan.h"

namespace witan::sim {

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};
inline constexpr std::string_view kSends = "sends", kArrives = "arrives";

// One line of the story. The views are valid during the call.
struct TraceLine {
  Micros at = 0;
  Micros lasts = 0;                // 0: a moment
  std::uint32_t device = kNobody;  // whose track; kNobody: the cluster's
  std::string_view category;       // work, net, disk, clock, ledger, sync, agents, fault, check
  std::string_view what;           // a few words
  std::string_view detail;         // may be empty
  // Not 0: frames on their way. The line that says kSends and the one with the same number belong together.
  std::uint64_t flow = 0;
};
using Trace = std::function<void(const TraceLine&)>;

struct RunOptions {
  Trace trace;                                    // called for every line; empty: no text is made
  std::vector<std::uint64_t>* digests = nullptr;  // the rolling digest after each step, to find the first difference
};

struct Failure {
  std::string checker;  // the name in docs/SIMULATION.md
  std::string reason;   // the shortest explanation: devices, ids, what was expected
  Micros at = 0;
  WITAN_MEMBERS(Failure, checker, reason, at)
};

struct Statistics {
  std::uint64_t steps = 0;  // events of the simulation: a frame that arrives, a timer, an event of the plan
  std::uint64_t frames = 0, bytes = 0;
  std::uint64_t decisions = 0, commits = 0, crashes = 0;
  Micros simulated = 0;
  WITAN_MEMBERS(Statistics, steps, frames, bytes, decisions, commits, crashes, simulated)
};

struct RunResult {
  std::optional<Failure> failure;
  std::uint64_t digest = 0;  // over every step: what, where, when, and what came out
  Statistics statistics;
  std::map<std::string, std::uint64_t> probes;  // rare things, and how often they were reached
};

RunResult run(const Plan& plan, const RunOptions& options = {});

// ---- a run made twice (sim/run_result.cpp): does the same plan give the same trace? If not, something outside the
// plan was read (a clock, an address, the order of a hash table), and no failure of this code can be replayed.

using Runner = std::function<RunResult(const Plan&, const RunOptions&)>;

// The first run's result; with checker "determinism" if the second one differs (unless the first failed otherwise),
// naming the first step that does and what was told there.
RunResult runTwice(const Plan& plan, const Runner& run);

// Does this seed belong to the share of those that run twice? Always the same answer.
bool chosenForTwice(std::uint64_t seed, std::int64_t perMillion);

// ---- a result as JSON (sim/run_result.cpp), from a worker to its parent and for --json. Digests are hexadecimal
// texts: JSON numbers are not whole beyond 2^53.

std::string writeRunResult(const RunResult& result);
Result<RunResult> readRunResult(std::string_view text);

std::string hexDigest(std::uint64_t digest);  // 16 digits

}  // namespace witan::sim
