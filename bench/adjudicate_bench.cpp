// In-memory adjudication on one core: decode, apply, check, encode, leaf hash, tree; a batch is taken every 256.
//
//   witan_adjudicate_bench --domain budget|udt [--rules FILE] [--entities N] [--orders N] [--decisions N] [--rounds N]
//   [--block N]
//
// Times are processor time of the deciding thread. A round decides `decisions` proposals, made ahead in blocks that are
// not timed; the figure is the median round.
// --bare 1 (budget) also times a loop without a kernel on the same messages, in turns, and reports the ratio: decode,
// look up, check the cap, one canonical record, one link of a hash chain; no rules as data, roles, duplicates, undo or
// tree.
// --grow 1 reports the rate at ledger lengths 10^4, 10^5, ... up to --decisions instead.
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/capnp_codec.h"
#include "base/sha256.h"
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

struct BareSpend {
  std::int64_t n = 0;
  WITAN_MEMBERS(BareSpend, n)
};

struct BareRecord {
  std::uint64_t seq = 0;
  Time time;
  bool approved = false;
  std::int64_t n = 0;
  std::string_view entity, role, device, agent, operationId, type;
  Hash before{};
  WITAN_MEMBERS(BareRecord, seq, time, approved, n, entity, role, device, agent, operationId, type, before)
};

// What is left of a decision when nothing of it can be shown, asked or changed.
class BareLoop {
 public:
  std::size_t decide(const Messages& messages, std::uint64_t& logBytes) {
    std::size_t approved = 0;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto message = must(kernel::readProposalMessage(messages.bytes(i)), "message");
      BareSpend spend;
      must(withMessage({reinterpret_cast<const char*>(message.action.data()), message.action.size()},
                       [&](capnp::AnyStruct::Reader root) { return readCapnp(root, spend, "action"); }),
           "action");
      auto at = budgets_.find(message.entity);
      if (at == budgets_.end()) at = budgets_.try_emplace(std::string(message.entity)).first;
      std::int64_t& spent = message.role == "A" ? at->second.first : at->second.second;
      const bool fits = at->second.first + at->second.second + spend.n <= std::int64_t{1} << 60;
      if (fits) spent += spend.n, ++approved;
      const std::string_view record =
          writer_.message(BareRecord{++seq_, messages.at(i), fits, spend.n, message.entity, message.role,
                                     message.device, message.agent, message.operationId, message.actionType, before_});
      before_ = sha256(record);
      log_.append(record);
      if (seq_ % 256 == 0) logBytes += log_.size(), log_.clear();
    }
    return approved;
  }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  boost::unordered_flat_map<std::string, std::pair<std::int64_t, std::int64_t>, TextHash, std::equal_to<>> budgets_;
  WordWriter writer_;
  Hash before_{};
  std::string log_;
  std::uint64_t seq_ = 0;
};

void measureBeside(Setup& s, std::size_t decisions, std::size_t rounds, std::size_t block) {
  BareLoop bare;
  Messages messages;
  std::vector<double> ratios;
  for (std::size_t round = 0; round < rounds; ++round) {
    double kernel = 0, loop = 0;
    std::uint64_t kernelBytes = 0, loopBytes = 0;
    for (std::size_t done = 0; done < decisions; done += block) {
      messages.clear();
      s.workload->fill(messages, block);
      const ThreadStopwatch first;
      decideAll(*s.partition, messages, 0, block, 256, kernelBytes);
      kernel += first.seconds();
      const ThreadStopwatch second;
      if (bare.decide(messages, loopBytes) != block) fail("the bare loop refuses what the kernel takes");
      loop += second.seconds();
    }
    const auto count = static_cast<double>(decisions);
    ratios.push_back(loop / kernel);
    std::printf("  round %zu: %.0f decisions/s, bare loop %.0f/s: %.3f of it\n", round + 1, count / kernel,
                count / loop, ratios.back());
  }
  std::printf("median %.3f of the bare loop\n", median(ratios));
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
      argc, argv,
      {"--domain", "--rules", "--entities", "--orders", "--decisions", "--rounds", "--block", "--grow", "--bare"});
  Setup s = setUp(args);
  const std::size_t block = args.number("--block", 20'000);
  const std::size_t decisions = args.number("--decisions", 200'000);
  if (args.number("--grow", 0) != 0)
    measureGrowth(s, decisions, block);
  else if (args.number("--bare", 0) != 0)
    measureBeside(s, decisions, args.number("--rounds", 5), block);
  else
    measureRounds(s, decisions, args.number("--rounds", 5), block);
  return 0;
}
