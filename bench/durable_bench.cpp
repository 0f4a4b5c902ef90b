// Durable adjudication: every decision is on the disk before it is answered.
//
//   witan_durable_bench --dir DIR [--budgets N] [--proposers N] [--seconds N] [--batch-max N]   many proposers
//   witan_durable_bench --dir DIR --batch B [--pipeline 1] [--budgets N] [--seconds N]          one writer
//
// Many proposers: each sends a proposal, waits for the durable answer, and sends the next; they share one group
// commit. One writer: decides B, commits them with one sync, as one would batch transactions of SQLite by hand;
// with --pipeline it decides the next B meanwhile.
// Afterwards the ledger is opened again, folded and verified against what was answered. DIR must not exist.
#include <atomic>
#include <filesystem>
#include <future>

#include "bench/workload.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_verify.h"
#include "store/group_commit.h"
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

// One proposer's proposal in flight.
struct Item {
  std::size_t message = 0;
  Steady::time_point sent;
  bool approved = false;
};

// Each answer makes its proposer send the next proposal at once: a closed loop without a thread for each.
class ClosedLoop {
 public:
  ClosedLoop(Opened& opened, const Messages& messages, std::size_t batchMax)
      : opened_(opened),
        messages_(messages),
        commit_(
            *opened.store, [this](std::vector<Item>& items, store::WriteBatch& out) { return work(items, out); },
            [this](std::vector<Item>& items, const Status& durable) { done(items, durable); }, {batchMax}) {}

  Tally run(std::size_t proposers, double seconds) {
    const Stopwatch watch;
    end_ = Steady::now() + std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
    inFlight_ = proposers;
    for (std::size_t i = 0; i < proposers; ++i) must(commit_.submit({next_++, Steady::now(), false}), "submit");
    finished_.get_future().wait();
    commit_.stop();
    tally_.seconds = watch.seconds();
    tally_.batches = commit_.stats().batches;
    return std::move(tally_);
  }

 private:
  Status work(std::vector<Item>& items, store::WriteBatch& out) {
    for (Item& item : items)
      item.approved = decideAll(opened_.ledger->partition(), messages_, item.message, 1, 0, logBytes_) == 1;
    opened_.ledger->stage(out);
    return okStatus();
  }
  void done(std::vector<Item>& items, const Status& durable) {
    must(durable, "commit");
    const auto now = Steady::now();
    for (const Item& item : items) {
      tally_.latencies.push_back(std::chrono::duration<double, std::milli>(now - item.sent).count());
      tally_.approved += item.approved;
      if (now >= end_) {
        if (--inFlight_ == 0) finished_.set_value();
        continue;
      }
      const std::size_t message = next_++;
      if (message >= messages_.size()) fail("more decisions than proposals were prepared: give fewer --seconds");
      must(commit_.submit({message, now, false}), "submit");
    }
  }

  Opened& opened_;
  const Messages& messages_;
  std::atomic<std::size_t> next_{0};
  std::size_t inFlight_ = 0;  // proposers still in their loop; the commit thread's after the first submit
  std::promise<void> finished_;
  Steady::time_point end_;
  Tally tally_;
  std::uint64_t logBytes_ = 0;
  store::GroupCommit<Item> commit_;
};

Tally oneWriter(Opened& o, const Messages& messages, std::size_t batch, double seconds) {
  store::requestShortSlice();
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
// before it is durable; a failure ends the committer, so that nothing after it is answered either.
Tally pipelinedWriter(Opened& o, const Messages& messages, std::size_t batch, double seconds) {
  struct Staged {
    store::WriteBatch writes;
    Steady::time_point sent;
  };
  Tally t;
  std::uint64_t logBytes = 0;
  const auto merge = [](std::vector<Staged>& staged, store::WriteBatch& out) {
    for (const Staged& s : staged)
      for (std::size_t i = 0; i < s.writes.size(); ++i) out.put(s.writes.op(i).key, s.writes.op(i).value);
    return okStatus();
  };
  const auto answer = [&](std::vector<Staged>& staged, const Status& durable) {
    must(durable, "commit");
    for (const Staged& s : staged)
      t.latencies.push_back(std::chrono::duration<double, std::milli>(Steady::now() - s.sent).count());
  };
  store::GroupCommit<Staged> commit(*o.store, merge, answer, {1});
  const Stopwatch watch;
  for (std::size_t next = 0; watch.seconds() < seconds; next += batch) {
    if (next + batch > messages.size()) fail("more decisions than proposals were prepared: give fewer --seconds");
    Staged staged{{}, Steady::now()};
    t.approved += decideAll(o.ledger->partition(), messages, next, batch, 0, logBytes);
    o.ledger->stage(staged.writes);
    must(commit.submit(std::move(staged)), "submit");
  }
  commit.stop();
  t.seconds = watch.seconds();
  t.batches = commit.stats().batches;
  return t;
}

void checkAfterwards(const std::string& dir, std::uint64_t entries) {
  const Opened again = open(dir);
  const kernel::VerifyReport verified = must(kernel::verifyLedger(*again.store), "verify");
  if (!verified.ok()) fail("the ledger does not verify: " + verified.problem);
  if (verified.entries != entries || again.ledger->partition().size() != entries)
    fail("answered " + std::to_string(entries) + " decisions, the ledger holds " + std::to_string(verified.entries));
  std::printf("  folded and verified: %llu entries, as many as were answered\n",
              static_cast<unsigned long long>(entries));
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args(argc, argv,
                       {"--dir", "--budgets", "--proposers", "--seconds", "--batch-max", "--batch", "--pipeline",
                        "--prepare", "--preallocate", "--memtable"});
  const std::string dir = args.text("--dir", "");
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
    Tally t;
    if (batch == 0)
      t = ClosedLoop(o, messages, args.number("--batch-max", 16 * 1024)).run(args.number("--proposers", 64), seconds);
    else if (args.number("--pipeline", 0) != 0)
      t = pipelinedWriter(o, messages, batch, seconds);
    else
      t = oneWriter(o, messages, batch, seconds);
    report(batch > 0 ? "one writer" : "group commit", t);
    entries += t.approved;
  }
  checkAfterwards(dir, entries);
  return 0;
}
