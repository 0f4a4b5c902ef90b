// Evidence in memory: the time to verify a bundle from its text, and decisions of an escrow a second with its signed
// documents, each of one core.
#include "bench/bench_tools.h"
#include "domains/registry.h"
#include "kernel/partition.h"
#include "lab/conformance/market_toy.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::market;

double verifyMs(const std::string& text, const Roots& roots) {
  const ThreadStopwatch watch;
  if (const Verification found = verifyBundleText(text, roots); !found.ok()) fail(found.id + ": " + found.message);
  return watch.seconds() * 1e3;
}

// Random lives, one entity each; proposals only.
double decisionsPerSecond(std::uint64_t contracts) {
  std::vector<std::vector<json::object>> lives;
  for (std::uint64_t seed = 0; seed < contracts; ++seed) lives.push_back(randomEscrowHistory(seed));
  const auto module = domains::makeDomain("escrow").value();
  kernel::Partition partition(*module);
  std::uint64_t decisions = 0;
  const ThreadStopwatch watch;
  for (std::size_t life = 0; life < lives.size(); ++life) {
    const std::string entity = "K" + std::to_string(life);
    for (const json::object& line : lives[life]) {
      const Time at = parseTime(std::string_view(line.at("at").as_string())).value();
      if (const json::value* init = line.if_contains("init")) (void)partition.init(entity, init->as_object(), at);
      const json::value* role = line.if_contains("role");
      if (role == nullptr) continue;
      const auto action = module->parseAction(line.at("action"));
      if (!action.ok()) fail(action.error().message);
      const std::string id = entity + "-" + std::to_string(decisions++);
      (void)partition.propose({entity, std::string_view(role->as_string()), id, "", "", action->get(), at, true});
    }
  }
  return double(decisions) / watch.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"--records", "--contracts", "--rounds"});
  const MarketToy toy;
  const std::uint64_t records = arguments.number("--records", 1'000), rounds = arguments.number("--rounds", 9);
  const std::string text = canonicalJson(toy.bundle(records - 5));
  std::vector<double> times, rates;
  for (std::uint64_t i = 0; i < rounds; ++i) times.push_back(verifyMs(text, toy.roots()));
  for (std::uint64_t i = 0; i < rounds; ++i) rates.push_back(decisionsPerSecond(arguments.number("--contracts", 64)));
  std::printf("verification of a bundle of %zu records (%zu KiB): %.2f ms of processor time (median of %zu rounds)\n",
              std::size_t(records), text.size() >> 10, median(times), times.size());
  std::printf("escrow, 64 contracts: %.0f decisions/s of processor time (median of %zu rounds)\n", median(rates),
              rates.size());
}
