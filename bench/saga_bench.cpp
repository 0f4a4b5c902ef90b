// Durable sagas across two RocksDB databases, beside two plain synced batches of the same size in the same run.
//
//   witan_saga_bench --dir DIR [--callers N] [--seconds N]     a closed loop of N callers, each waiting for its saga
//   witan_saga_bench --dir DIR --scan N                        N open sagas, then the recovery scan of a start
//
// Each saga puts one entity into the journal: row, effect and outcome, each durable before the next. DIR must not
// exist.
#include "bench/saga_device.h"
#include "replication/records/journal_entity.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::replication;

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

void sagas(const std::string& dir, std::uint64_t callers, double seconds) {
  SagaDevice device = openSagaDevice(dir);
  Work work;
  saga::SagaEngine engine(*device.replica, work);
  must(engine.load({}), "load");
  const Now now{Time{1'774'252'800'000'000}, 0};
  std::uint64_t begun = 0, rounds = 0;
  const ThreadStopwatch cpuWatch(CLOCK_PROCESS_CPUTIME_ID);  // of all threads, RocksDB's too
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    std::vector<saga::Intent> intents;
    while (begun - work.done < callers) intents.push_back(sagaIntent(begun++));
    if (!intents.empty()) must(engine.begin(intents, now), "begin");
    sagaRound(device, engine, now);
    ++rounds;
  }
  const double took = watch.seconds();
  const double cpu = cpuWatch.seconds() / static_cast<double>(work.done);
  std::printf("callers %llu: %.0f sagas/s, %.0f rounds/s, %.0f us of processor time a saga\n",
              static_cast<unsigned long long>(callers), static_cast<double>(work.done) / took,
              static_cast<double>(rounds) / took, cpu * 1e6);

  // Two plain batches of the same size, one after the other, each synced.
  const std::string value(600, 'x');
  std::uint64_t pairs = 0, n = 0;
  const Stopwatch plain;
  while (plain.seconds() < seconds) {
    store::WriteBatch a, b;
    for (std::uint64_t i = 0; i < callers; ++i, ++n) {
      a.put(concat("plain/", n), value);
      b.put(concat("plain/", n), value);
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
    SagaDevice device = openSagaDevice(dir);
    Work work;
    saga::SagaEngine engine(*device.replica, work);
    for (std::uint64_t n = 0; n < count; ++n) must(engine.begin(std::array{sagaIntent(n)}, now), "begin");
    must(device.replica->flush(), "flush");
  }
  SagaDevice device = openSagaDevice(dir);
  Work work;
  saga::SagaEngine engine(*device.replica, work);
  const Stopwatch watch;
  must(engine.load(now), "load");
  std::printf("recovery scan of %llu open sagas: %.2f s\n", static_cast<unsigned long long>(engine.open()),
              watch.seconds());
  const Stopwatch finish;
  while (work.done < count) sagaRound(device, engine, now), engine.tick(now);
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
