// What `witan sim run` says at the end, for people and as JSON; and what it says meanwhile.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/sim_source.h"
#include "sim/jobs.h"
#include "sim/run.h"

namespace witan::node {

struct SimReport {
  SimSource source;
  std::string scenario;  // its name
  sim::SeedRange range;
  sim::JobsResult result;
  std::uint64_t twice = 0;  // seeds that ran twice
  double wallSeconds = 0;
  std::vector<std::string> missedProbes;  // expected, and never reached
  std::optional<sim::Options> options;    // of the first seed that failed

  std::uint64_t failed() const;
};

// One object, with a line end.
std::string reportJson(const SimReport& report);
// A table, then the first failure in full and the others in brief.
std::string reportText(const SimReport& report);

// On a terminal a line on stderr that is written over, at most ten times a second; else a line every 15 seconds.
class SimProgressBar {
 public:
  SimProgressBar();
  ~SimProgressBar();  // takes the line away
  void show(const sim::JobsProgress& progress);
  double seconds() const;  // since it was made

 private:
  const double from_;
  const bool terminal_;
  double shownAt_ = 0;
};

// ---- how a failed run is told: what failed, with which options, and how to see it again

// Every option, those that differ from the default first, one a line; the others after each other.
std::string optionsText(const sim::Options& options);

// "liveness at 12m3s: ...", what the checker proves, and the commands that replay and shrink.
std::string failureText(const sim::Failure& failure, const SimSource& source, std::uint64_t seed);

// "liveness at 12m3s: ..."; without the moment if nobody knows it (a run that died).
std::string failureLine(const sim::Failure& failure);

// "12m3s500ms", for people; whole milliseconds.
std::string momentText(sim::Micros at);

}  // namespace witan::node
