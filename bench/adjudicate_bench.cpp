// In-memory adjudication on one core: decode, apply, check, encode, leaf hash, tree; a batch is taken every 256.
//
//   witan_adjudicate_bench --domain budget|udt [--rules FILE] [--entities N] [--orders N] [--decisions N] [--rounds N]
//   [--block N]
//
// Times are processor time of the deciding thread. A round decides `decisions` proposals, made ahead in blocks that are
// not timed; the figure is the median round.
// --grow 1 reports the rate at ledger lengths 10^4, 10^5, ... up to --decisions instead.
#include "bench/workload.h"
#include "domains/registry.h"

namespace {

using namespace witan;
using namespace witan::bench;

struct Setup {
  std::unique_ptr<kernel::DomainModule> module;
  std::unique_ptr<kernel::Partition> partition;
  std::unique_ptr<Workload> workload;
  std::uint64_t residentBefore = 0;
};

Setup setUp(const Arguments& args) {
  const std::string domain = args.text("--domain", "budget");
  const std::size_t entities = args.number("--entities", 10'000);
  const std::size_t orders = args.number("--orders", 100);
  Setup s;
  json::object policy;
  if (domain == "budget") policy["cap"] = std::int64_t{1} << 60;
  s.module = must(domains::makeDomain(args.text("--rules", domain), policy), "domain");
  s.partition = std::make_unique<kernel::Partition>(*s.module);
  s.workload =
      domain == "budget" ? budgetWorkload(*s.module, entities, 1) : clinicWorkload(*s.module, entities, orders, 1);
  s.residentBefore = residentBytes();
  const Stopwatch watch;
  s.workload->begin(*s.partition);
  std::printf("%s: %zu entities, %zu orders each, made in %.1f s, %.0f resident bytes per entity\n", domain.c_str(),
              entities, domain == "udt" ? orders : 0, watch.seconds(),
              static_cast<double>(residentBytes() - s.residentBefore) / static_cast<double>(entities));
  return s;
}

Round decide(Setup& s, std::size_t count, std::size_t block) {
  static Messages messages;
  Round round{.decisions = count};
  while (count > 0) {
    const std::size_t n = std::min(count, block);
    messages.clear();
    s.workload->fill(messages, n);
    const ThreadStopwatch watch;
    round.approved += decideAll(*s.partition, messages, 0, n, 256, round.logBytes);
    round.seconds += watch.seconds();
    count -= n;
  }
  return round;
}

void measureRounds(Setup& s, std::size_t decisions, std::size_t rounds, std::size_t block) {
  const double rate = medianRate(rounds, [&](std::size_t) { return decide(s, decisions, block); });
  std::printf("median %.0f decisions/s (%.0f ns each), ledger of %llu entries\n", rate, 1e9 / rate,
              static_cast<unsigned long long>(s.partition->size()));
}

void measureGrowth(Setup& s, std::size_t longest, std::size_t block) {
  for (std::size_t length = 10'000; length <= longest; length *= 10) {
    if (s.partition->size() < length) decide(s, length - s.partition->size(), block);
    std::vector<double> rates;
    for (int i = 0; i < 5; ++i) rates.push_back(static_cast<double>(block) / decide(s, block, block).seconds);
    std::printf("  ledger of %9llu entries: %.0f ns a decision\n", static_cast<unsigned long long>(length),
                1e9 / median(rates));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Arguments args(
      argc, argv, {"--domain", "--rules", "--entities", "--orders", "--decisions", "--rounds", "--block", "--grow"});
  Setup s = setUp(args);
  const std::size_t block = args.number("--block", 20'000);
  const std::size_t decisions = args.number("--decisions", 200'000);
  if (args.number("--grow", 0) != 0)
    measureGrowth(s, decisions, block);
  else
    measureRounds(s, decisions, args.number("--rounds", 5), block);
  return 0;
}
