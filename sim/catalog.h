// What there is in a simulation, each with its words: kinds of events, checkers, probes. For `witan sim list`, for
// docs/SIMULATION.md, for reports and traces. Constants; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan.h"

namespace witan::sim {

// The option that says how often events of a kind are drawn.
class EventRate {
 public:
  constexpr EventRate(std::int64_t WorkOptions::*work) : work_(work) {}      // NOLINT: reads as the member
  constexpr EventRate(std::int64_t FaultOptions::*fault) : fault_(fault) {}  // NOLINT
  std::int64_t in(const Options& options) const {
    return work_ != nullptr ? options.work.*work_ : options.faults.*fault_;
  }

 private:
  std::int64_t WorkOptions::*work_ = nullptr;
  std::int64_t FaultOptions::*fault_ = nullptr;
};

struct EventInfo {
  EventKind kind;
  EventRate rate;
  std::string_view does;     // after the kind's name
  std::string_view members;  // of the event that it looks at, beside `at` and `device`
  bool isSpan = false;       // it changes nothing if it lasts no time
  bool reads(std::string_view member) const { return members.find(member) != std::string_view::npos; }
};

const EventInfo& eventInfo(EventKind kind);

struct CheckerInfo {
  std::string_view name;
  std::string_view promise;  // what it expected, one sentence
};

std::span<const CheckerInfo> checkers();
// Empty: none is called so.
std::string_view checkerPromise(std::string_view name);

// The names of probes, sorted: the rare things that a run counts (RunResult::probes) and a scenario may expect. A new
// probe needs a line in catalog.cpp.
const std::vector<std::string>& probeNames();
// Why the scenario "everything" never reaches it, or hardly ever; empty: no reason is known, and it should.
std::string_view whyNever(std::string_view probe);

}  // namespace witan::sim
