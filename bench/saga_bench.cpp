// Durable sagas across two RocksDB databases, beside two plain synced batches of the same size in the same run.
//
//   witan_saga_bench --dir DIR [--callers N] [--seconds N]     a closed loop of N callers, each waiting for its saga
//   witan_saga_bench --dir DIR --scan N                        N open sagas, then the recovery scan of a start
//
// Each saga puts one entity into the journal: row, effect and outcome, each durable before the next. DIR must not
// exist.
#include <filesystem>

#include "bench/bench_tools.h"
#include "replication/journal_write.h"
#include "saga/saga_engine.h"
#include "store/rocks_store.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::replication;

struct Device {
  std::unique_ptr<store::Store> journal, agents;
  std::unique_ptr<LocalReplica> replica;
};

Device open(const std::string& dir) {
  Device device;
  store::RocksOptions options;
  options.createIfMissing = true;
  std::filesystem::create_directories(dir);
  device.journal = must(store::openRocksStore(dir + "/journal", options), "journal");
  device.agents = must(store::openRocksStore(dir + "/agents", options), "agents");
  ReplicaOptions replica;
  replica.cluster = "bench";
  replica.clusterKey = "key";
  replica.device = "device";
  replica.trustStore = true;
  replica.freshTag = [] { return 1u; };
  device.replica = must(LocalReplica::open(*device.journal, *device.agents, std::move(replica)), "replica");
  return device;
}

class Work final : public saga::SagaEnvironment {
 public:
  Result<saga::JournalEffect> journalEffect(const saga::SagaRow& row) override {
    JournalBody body{"note", row.intent.arguments, 1, row.intent.agentId, row.createdAtMs, row.id().value, {}};
    saga::JournalEffect effect;
    effect.scope = "main";
    effect.changes.push_back({"entity-" + row.id().hex(), std::move(body), "", ChangeOrigin::local});
    return effect;
  }
  Status call(const saga::SagaRow&, Now) override { return okStatus(); }
  Result<std::vector<Write>> record(const saga::SagaRow&, const saga::Outcome&) override {
    return std::vector<Write>{};
  }
  void finished(const saga::SagaRow&) override { ++done; }
  std::uint64_t done = 0;
};

saga::Intent intentOf(std::uint64_t n) {
  saga::Intent intent;
  intent.operation = sha256("operation " + std::to_string(n));
  intent.run = sha256("run " + std::to_string(n));
  intent.agentId = "agent";
  intent.tool = "journal.put";
  intent.scope = "main";
  intent.arguments = R"({"text":"what an agent writes down about a patient, some eighty bytes of it, more or less"})";
  intent.targets = {"entity"};
  return intent;
}

// One round as the composition has it.
void round(Device& device, saga::SagaEngine& engine, Now now) {
  must(device.replica->database(DatabaseName::journal).flush(), "journal");
  engine.journalDurable(now);
  must(device.replica->database(DatabaseName::agents).flush(), "agents");
  engine.agentsDurable(now);
}

void sagas(const std::string& dir, std::uint64_t callers, double seconds) {
  Device device = open(dir);
  Work work;
  saga::SagaEngine engine(*device.replica, work);
  must(engine.load({}), "load");
  const Now now{Time{1'774'252'800'000'000}, 0};
  std::uint64_t begun = 0, rounds = 0;
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    std::vector<saga::Intent> intents;
    while (begun - work.done < callers) intents.push_back(intentOf(begun++));
    if (!intents.empty()) must(engine.begin(intents, now), "begin");
    round(device, engine, now);
    ++rounds;
  }
  const double took = watch.seconds();
  std::printf("callers %llu: %.0f sagas/s, %.0f rounds/s\n", static_cast<unsigned long long>(callers),
              static_cast<double>(work.done) / took, static_cast<double>(rounds) / took);

  // Two plain batches of the same size, one after the other, each synced.
  const std::string value(600, 'x');
  std::uint64_t pairs = 0, n = 0;
  const Stopwatch plain;
  while (plain.seconds() < seconds) {
    store::WriteBatch a, b;
    for (std::uint64_t i = 0; i < callers; ++i, ++n) {
      a.put("plain/" + std::to_string(n), value);
      b.put("plain/" + std::to_string(n), value);
    }
    must(device.journal->writeSynced(a), "journal");
    must(device.agents->writeSynced(b), "agents");
    pairs += callers;
  }
  std::printf("two plain synced batches of %llu: %.0f/s\n", static_cast<unsigned long long>(callers),
              static_cast<double>(pairs) / plain.seconds());
}

void scan(const std::string& dir, std::uint64_t count) {
  const Now now{Time{1'774'252'800'000'000}, 0};
  {
    Device device = open(dir);
    Work work;
    saga::SagaEngine engine(*device.replica, work);
    for (std::uint64_t n = 0; n < count; ++n) must(engine.begin(std::array{intentOf(n)}, now), "begin");
    must(device.replica->flush(), "flush");
  }
  Device device = open(dir);
  Work work;
  saga::SagaEngine engine(*device.replica, work);
  const Stopwatch watch;
  must(engine.load(now), "load");
  std::printf("recovery scan of %llu open sagas: %.2f s\n", static_cast<unsigned long long>(engine.open()),
              watch.seconds());
  const Stopwatch finish;
  while (work.done < count) round(device, engine, now), engine.tick(now);
  std::printf("all finished after %.2f s\n", finish.seconds());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"--dir", "--callers", "--seconds", "--scan"});
  const std::string dir = arguments.text("--dir", "");
  if (dir.empty()) fail("--dir DIR is missing");
  if (std::filesystem::exists(dir)) fail(dir + " exists");
  if (const std::uint64_t open = arguments.number("--scan", 0); open > 0)
    scan(dir, open);
  else
    sagas(dir, std::max<std::uint64_t>(1, arguments.number("--callers", 1)),
          static_cast<double>(arguments.number("--seconds", 5)));
  return 0;
}
