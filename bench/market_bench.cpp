// Evidence in memory: the time to verify a bundle from its text, and decisions of an escrow a second with its signed
// documents, each of one core. With --dir DIR, which must not exist, also durable ones: a holder with that many
// contracts, of which each has one act under way; a round decides one act of each and makes them durable with one sync.
#include "bench/bench_tools.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/partition.h"
#include "market/testing/market_toy.h"
#include "store/rocks_store.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::market;

double verifyMs(const std::string& text, const Roots& roots) {
  const ThreadStopwatch watch;
  if (const Verification found = verifyBundleText(text, roots); !found.ok()) fail(found.id + ": " + found.message);
  return watch.seconds() * 1e3;
}

std::vector<std::vector<json::object>> randomLives(std::uint64_t contracts, std::uint64_t firstSeed = 0) {
  std::vector<std::vector<json::object>> lives;
  for (std::uint64_t seed = 0; seed < contracts; ++seed) lives.push_back(randomEscrowHistory(firstSeed + seed));
  return lives;
}

// One line of a life; proposals and beginnings only. True: it was a proposal.
bool decide(kernel::Partition& partition, const kernel::DomainModule& module, const std::string& entity,
            const json::object& line, const std::string& id) {
  const Time at = parseTime(std::string_view(line.at("at").as_string())).value();
  if (const json::value* init = line.if_contains("init")) (void)partition.init(entity, init->as_object(), at);
  const json::value* role = line.if_contains("role");
  if (role == nullptr) return false;
  const auto action = module.parseAction(line.at("action"));
  if (!action.ok()) fail(action.error().message);
  (void)partition.propose({entity, std::string_view(role->as_string()), id, "", "", action->get(), at, true});
  return true;
}

double decisionsPerSecond(std::uint64_t contracts) {
  const auto lives = randomLives(contracts);
  const auto module = domains::makeDomain("escrow").value();
  kernel::Partition partition(*module);
  std::uint64_t decisions = 0;
  const ThreadStopwatch watch;
  for (std::size_t life = 0; life < lives.size(); ++life)
    for (const json::object& line : lives[life])
      decisions +=
          decide(partition, *module, "K" + std::to_string(life), line, "op-" + std::to_string(decisions)) ? 1 : 0;
  return double(decisions) / watch.seconds();
}

double durableDecisionsPerSecond(const std::string& dir, std::uint64_t contracts, std::uint64_t generations) {
  const auto store = store::openRocksStore(dir).value();
  const auto module = domains::makeDomain("escrow").value();
  const auto ledger = kernel::Ledger::open(*store, *module, {.origin = "witan/bench"}).value();
  std::uint64_t decisions = 0;
  double seconds = 0;
  for (std::uint64_t generation = 0; generation < generations; ++generation) {
    const auto lives = randomLives(contracts, generation * contracts);
    const Stopwatch watch;
    for (std::size_t turn = 0, busy = lives.size(); busy > 0; ++turn) {
      busy = 0;
      for (std::size_t life = 0; life < lives.size(); ++life) {
        if (turn >= lives[life].size()) continue;
        ++busy;
        const std::string entity = concat("K", generation, "-", life);
        decisions += decide(ledger->partition(), *module, entity, lives[life][turn], concat("op-", decisions)) ? 1 : 0;
      }
      if (const Status kept = ledger->commit(); !kept.ok()) fail(kept.error().message);
    }
    seconds += watch.seconds();
  }
  return double(decisions) / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"--records", "--contracts", "--rounds", "--dir"});
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
  if (const std::string dir = arguments.text("--dir", ""); !dir.empty())
    std::printf("escrow, 64 contracts, durable: %.0f decisions/s\n",
                durableDecisionsPerSecond(dir, arguments.number("--contracts", 64), 10));
}
