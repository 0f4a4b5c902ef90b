// Generated histories of two to five devices on the real core: writes, commits of several records, tombstones, sessions
// that are cut anywhere, live sessions, crashes, stability, newcomers and losses. Afterwards the survivors tell each
// other everything and must hold the same, and what the oracle says.
//
//   WITAN_SEED=n    runs that history alone and prints it
//   WITAN_LONG=1    runs 10^6 instead of 10^4
#include <cstdlib>

#include "tests/replication/history_world.h"

namespace witan::replication::test::convergence_test {
namespace {

std::uint64_t environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

std::string report(const Plot& plot, const std::string& problem) {
  const Plot shorter = shrink(plot, [](const Plot& p) { return !outcomeOf(p).empty(); });
  return problem + "\nrun it alone with WITAN_SEED=" + std::to_string(plot.seed) + "; the shortest history found:\n" +
         toString(shorter) + "which ends with: " + outcomeOf(shorter);
}

TEST(Convergence, GeneratedHistories) {
  if (const std::uint64_t seed = environment("WITAN_SEED"); seed != 0) {
    const Plot plot = makePlot(seed);
    std::printf("%s", toString(plot).c_str());
    const std::string problem = outcomeOf(plot);
    ASSERT_EQ(problem, "") << report(plot, problem);
    return;
  }
  const bool lengthy = environment("WITAN_LONG") == 1;
  const std::uint64_t histories = lengthy ? 1'000'000 : 10'000;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    const Plot plot = makePlot(seed);
    const std::string problem = outcomeOf(plot);
    ASSERT_EQ(problem, "") << report(plot, problem);
    if (lengthy && seed % 10'000 == 0) {
      std::printf("%llu histories\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace witan::replication::test::convergence_test
