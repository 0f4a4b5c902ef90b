// What `witan sim run` says at the end, for people and as JSON; and what it says meanwhile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/commands/sim_source.h"
#include "sim/jobs.h"

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

}  // namespace witan::node
