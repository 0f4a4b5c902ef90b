// The decision functions, one at a time: what each costs an agent that takes a step. One core; nothing allocates but
// the choice of a tool.
#include <benchmark/benchmark.h>

#include <array>

#include "agents/decision/choice.h"
#include "agents/decision/transitions.h"

namespace {

using namespace witan::agents::decision;

// Different enough that no branch is foreseen by rote; small enough to stay in the cache.
struct Cases {
  std::array<State, 256> states;
  std::array<StepInput<RunTime>, 256> inputs;

  Cases() {
    std::uint64_t x = 1;
    const auto below = [&](unsigned n) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      return static_cast<unsigned>((x >> 33) % n);
    };
    for (std::size_t i = 0; i < states.size(); ++i) {
      states[i] = {Natural(below(110)), 100,           Natural(below(10'000)), Natural(below(3'600)),
                   Natural(below(3)),   below(2) == 0, Natural(below(101)),    false,
                   ErrorKind::none};
      inputs[i] = {static_cast<ActionKind>(below(3)),
                   {Natural(below(3)), below(3) == 0, Natural(below(5'000)), Natural(below(1'000))},
                   {CallOutcome::succeeded, Natural(below(5'000)), Natural(below(1'000))},
                   Natural(below(101))};
    }
  }
};
const Cases kCases;

template <class Function>
void measure(benchmark::State& run, Function function) {
  std::size_t i = 0;
  for (auto _ : run) {
    auto result = function(kCases.states[i], kCases.inputs[i]);
    benchmark::DoNotOptimize(result);
    i = (i + 1) % kCases.states.size();
  }
}

void canInvoke(benchmark::State& run) {
  measure(run, [](const State& st, const auto& in) { return canInvokeTool(in.tool, st); });
}
void mustRespondNow(benchmark::State& run) {
  measure(run, [](const State& st, const auto&) { return mustRespond(st); });
}
void shouldContinueNow(benchmark::State& run) {
  measure(run, [](const State& st, const auto&) { return shouldContinue<RunTime>(st, Natural(kFullySatisfied)); });
}
void step(benchmark::State& run) {
  measure(run, [](const State& st, const auto& in) { return guardedStep<RunTime>(in.action, in.tool, st); });
}
void turn(benchmark::State& run) {
  measure(run, [](const State& st, const auto& in) { return takeTurn(in, st); });
}
void fits(benchmark::State& run) {
  measure(run, [](const State& st, const auto& in) { return recordFits(StepRecord<RunTime>{in, 5, true}, st); });
}

void select(benchmark::State& run) {
  ToolRegistry tools;
  AdaptationBook experience;
  for (int i = 0; i < run.range(0); ++i) {
    const std::string name = witan::concat("tool-", i);
    if (!tools.add(name, kCases.inputs[static_cast<std::size_t>(i) % 256].tool).ok()) std::abort();
    experience.observe("lookup", name, i % 3 == 0, {Natural(100), Natural(2)});
  }
  measure(run, [&](const State& st, const auto&) { return selectTool("lookup", tools, experience, st); });
}

BENCHMARK(canInvoke);
BENCHMARK(mustRespondNow);
BENCHMARK(shouldContinueNow);
BENCHMARK(step);
BENCHMARK(turn);
BENCHMARK(fits);
BENCHMARK(select)->Arg(10)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
