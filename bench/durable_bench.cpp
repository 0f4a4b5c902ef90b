// Durable adjudication: every decision is on the disk before it is answered.
//
//   witan_durable_bench --dir DIR [--budgets N] [--proposers N] [--seconds N]            many proposers
//   witan_durable_bench --dir DIR --batch B [--pipeline 1] [--budgets N] [--seconds N]   one writer
//   witan_durable_bench --dir DIR --fill N [--batch B] [--budgets N]                     how long a start takes
//
// Many proposers: each waits for its durable answer and sends its next proposal at once, so a round of the daemon's
// loop finds one proposal of each and commits them with one sync. One writer: decides B, commits them with one sync, as
// one would batch transactions of SQLite by hand. With --pipeline it decides the next B meanwhile.
// Afterwards the ledger is opened again, folded and verified against what was answered. DIR must not exist.
// With --fill a ledger of N entries with snapshots is made, or is there, and is then opened three times.
#include <filesystem>
#include <future>

#include "bench/workload.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_verify.h"
#include "store/rocks_store.h"

namespace {

using namespace witan;
using namespace witan::bench;
using Steady = std::chrono::steady_clock;

struct Opened {
  std::unique_ptr<store::Store> store;
  std::unique_ptr<kernel::DomainModule> module;
  std::unique_ptr<kernel::Ledger> ledger;
};

Opened open(const std::string& dir, const store::RocksOptions& options = {}) {
  Opened o;
  o.store = must(store::openRocksStore(dir, options), "store");
  o.module = must(domains::makeDomain("budget", {{"cap", std::int64_t{1} << 60}}), "domain");
  o.ledger = must(kernel::Ledger::open(*o.store, *o.module, {{}, "witan/bench"}), "ledger");
  return o;
}

// What was answered as approved, to compare with what a restart finds.
struct Tally {
  std::uint64_t approved = 0;
  std::uint64_t entries = 0;
  std::vector<double> latencies;  // milliseconds
  double seconds = 0;
  std::uint64_t batches = 0;
};

void report(const char* what, const Tally& t) {
  std::printf("%s: %.0f decisions/s, p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, %llu batches of %.1f\n", what,
              static_cast<double>(t.approved) / t.seconds, quantile(t.latencies, 0.5), quantile(t.latencies, 0.99),
              quantile(t.latencies, 0.999), static_cast<unsigned long long>(t.batches),
              static_cast<double>(t.approved) / static_cast<double>(std::max<std::uint64_t>(1, t.batches)));
}

// Decides `batch` proposals, makes them durable with one sync, answers them, and begins again.
Tally oneWriter(Opened& o, const Messages& messages, std::size_t batch, double seconds) {
  Tally t;
  std::uint64_t logBytes = 0;
  const Stopwatch watch;
  for (std::size_t next = 0; watch.seconds() < seconds; ++t.batches) {
    const auto sent = Steady::now();
    if (next + batch > messages.size()) fail("more decisions than proposals were prepared: give fewer --seconds");
    t.approved += decideAll(o.ledger->partition(), messages, next, batch, 0, logBytes);
    next += batch;
    must(o.ledger->commit(), "commit");
    t.latencies.push_back(std::chrono::duration<double, std::milli>(Steady::now() - sent).count());
  }
  t.seconds = watch.seconds();
  return t;
}

// As oneWriter, but the next batch is decided while the last one is on its way to the disk. Nothing is answered
// before it is durable.
Tally pipelinedWriter(Opened& o, const Messages& messages, std::size_t batch, double seconds) {
  Tally t;
  std::uint64_t logBytes = 0;
  std::future<Status> durable;
  Steady::time_point durableSent;
  const auto answer = [&] {
    must(durable.get(), "commit");
    t.latencies.push_back(std::chrono::duration<double, std::milli>(Steady::now() - durableSent).count());
    ++t.batches;
  };
  const Stopwatch watch;
  for (std::size_t next = 0; watch.seconds() < seconds; next += batch) {
    if (next + batch > messages.size()) fail("more decisions than proposals were prepared: give fewer --seconds");
    const auto sent = Steady::now();
    t.approved += decideAll(o.ledger->partition(), messages, next, batch, 0, logBytes);
    store::WriteBatch writes;
    o.ledger->stage(writes);
    if (durable.valid()) answer();
    durableSent = sent;
    durable = std::async(std::launch::async,
                         [&store = *o.store, writes = std::move(writes)] { return store.writeSynced(writes); });
  }
  answer();
  t.seconds = watch.seconds();
  return t;
}

void checkAfterwards(const std::string& dir, std::uint64_t entries) {
  const Opened again = open(dir);
  const kernel::VerifyReport verified = must(kernel::verifyLedger(*again.store), "verify");
  if (!verified.ok()) fail("the ledger does not verify: " + verified.problem);
  if (verified.entries != entries || again.ledger->partition().size() != entries)
    fail(concat("answered ", entries, " decisions, the ledger holds ", verified.entries));
  std::printf("  folded and verified: %llu entries, as many as were answered\n",
              static_cast<unsigned long long>(entries));
}

void fill(const std::string& dir, std::uint64_t entries, std::size_t batch, std::size_t budgets) {
  Opened o = open(dir);
  const auto workload = budgetWorkload(*o.module, budgets, 1);
  workload->begin(o.ledger->partition(), 0);
  must(o.ledger->commit(), "commit");
  Messages messages;
  std::uint64_t logBytes = 0;
  while (o.ledger->partition().size() < entries) {
    messages.clear();
    workload->fill(messages, batch);
    decideAll(o.ledger->partition(), messages, 0, batch, 0, logBytes);
    store::WriteBatch writes;
    o.ledger->stage(writes);
    must(o.store->write(writes), "write");
    must(o.ledger->snapshotIfDue(), "snapshot");
  }
  must(o.store->sync(), "sync");
}

void measureOpening(const std::string& dir) {
  for (int round = 0; round < 3; ++round) {
    const Stopwatch watch;
    const ThreadStopwatch processor(CLOCK_PROCESS_CPUTIME_ID);
    const std::uint64_t before = residentBytes();
    const Opened o = open(dir);
    std::printf(
        "%llu entries, of which %llu batches of %llu in the snapshot: open after %.2f s, %.2f s of processor "
        "time, %llu MB\n",
        static_cast<unsigned long long>(o.ledger->partition().size()),
        static_cast<unsigned long long>(o.ledger->recovery().snapshotBatches),
        static_cast<unsigned long long>(o.ledger->batches()), watch.seconds(), processor.seconds(),
        static_cast<unsigned long long>((residentBytes() - before) >> 20));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args(argc, argv,
                       {"--dir", "--budgets", "--proposers", "--seconds", "--batch", "--pipeline", "--prepare",
                        "--preallocate", "--memtable", "--fill"});
  const std::string dir = args.text("--dir", "");
  if (const std::uint64_t entries = args.number("--fill", 0); entries > 0) {
    if (!std::filesystem::exists(dir)) fill(dir, entries, args.number("--batch", 64), args.number("--budgets", 10'000));
    measureOpening(dir);
    return 0;
  }
  if (dir.empty() || std::filesystem::exists(dir)) fail("--dir must name a folder that does not exist yet");
  const double seconds = static_cast<double>(args.number("--seconds", 5));
  const std::size_t batch = args.number("--batch", 0);
  std::uint64_t entries = 0;
  {
    store::RocksOptions options;
    options.preallocateLog = args.number("--preallocate", 1) != 0;
    options.memtableBytes = args.number("--memtable", options.memtableBytes >> 20) << 20;
    Opened o = open(dir, options);
    const auto workload = budgetWorkload(*o.module, args.number("--budgets", 1), 1);
    workload->begin(o.ledger->partition(), 0);
    must(o.ledger->commit(), "commit");
    Messages messages;
    workload->fill(messages, args.number("--prepare", static_cast<std::uint64_t>(seconds * 500'000)));
    entries = o.ledger->partition().size();
    const auto writer = args.number("--pipeline", 0) != 0 ? pipelinedWriter : oneWriter;
    const Tally t = writer(o, messages, batch > 0 ? batch : args.number("--proposers", 64), seconds);
    report(batch > 0 ? "one writer" : "group commit", t);
    entries += t.approved;
  }
  checkAfterwards(dir, entries);
  return 0;
}
