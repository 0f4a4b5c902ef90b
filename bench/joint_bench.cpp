// Joint admissibility in memory: epochs a second of N agents that each write a key of their own.
// One core. An epoch is all of it: observations, proposals, both passes, execution, the classes; not the log's text.
#include "bench/bench_tools.h"
#include "coordination/run.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::kernel::joint;

// Agent i writes key i, another value each epoch, and holds the ALLOW for it.
Setup setupOf(std::uint32_t n, std::uint32_t epochs) {
  Setup setup{.condition = "bench", .authoritiesText = "[]", .maxEpochs = epochs};
  setup.values = {"absent", "0", "1", "2"};
  setup.initialState.assign(n, 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::string number = std::to_string(1'000'000 + i);
    setup.keys.push_back("key_" + number);
    setup.authorities.push_back({"CUD-" + number, Commitment::ALLOW, i, {{i, ActionType::WRITE}}});
    AgentSetup agent{"agent_" + number, StrategyKind::scripted, {}, false};
    for (std::uint32_t epoch = 0; epoch < epochs; ++epoch)
      agent.script.push_back({false, Request{ActionType::WRITE, {i}, {{i, 2 + epoch % 2}}, {i}, "[]", "[]", "{}"}});
    setup.agents.push_back(std::move(agent));
  }
  return setup;
}

double epochsPerSecond(const Setup& setup, std::uint64_t runs) {
  std::uint64_t executed = 0, changed = 0, made = 0;
  double seconds = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    Run run(setup);
    const ThreadStopwatch watch;
    for (; !run.over(); ++made) {
      const EpochRecord& record = run.step();
      changed += record.changes.size();
      for (const Submission& s : record.submissions) executed += s.outcome == Outcome::EXECUTED ? 1 : 0;
    }
    seconds += watch.seconds();
  }
  if (executed != made * setup.agents.size() || changed != executed) fail("other outcomes than expected");
  return static_cast<double>(made) / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"--agents", "--epochs", "--runs", "--rounds"});
  const auto agents = static_cast<std::uint32_t>(arguments.number("--agents", 1000));
  const Setup setup = setupOf(agents, static_cast<std::uint32_t>(arguments.number("--epochs", 200)));
  std::vector<double> rates;
  for (std::uint64_t i = 0; i < arguments.number("--rounds", 9); ++i)
    rates.push_back(epochsPerSecond(setup, arguments.number("--runs", 20)));
  std::printf("%u agents, %u keys, disjoint writes: %.0f epochs/s of processor time (median of %zu rounds)\n", agents,
              agents, median(rates), rates.size());
}
