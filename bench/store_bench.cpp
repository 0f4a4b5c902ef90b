// The stores under the simulator: microseconds of one core for each thing it does with them.
//
//   witan_store_bench [--rows N]   rows that lie in the store already (20000)
#include <functional>

#include "bench/bench_tools.h"
#include "store/memory_store.h"
#include "store/testing/crashable_rocks.h"

namespace {

using namespace witan;
using namespace witan::bench;
using store::WriteBatch;

constexpr std::size_t kRowsPerWrite = 3;

std::string keyOf(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  return "space/main/version/" + std::string(12 - digits.size(), '0') + digits;
}

// Batches of three rows of about 150 bytes, two of them new, over `rows` that are there.
class Rows {
 public:
  explicit Rows(std::uint64_t rows) : rows_(rows) {}
  const WriteBatch& next() {
    batch_.clear();
    for (std::size_t i = 0; i < kRowsPerWrite; ++i) {
      batch_.put(keyOf(i == 0 ? random_.below(rows_) : rows_ + 2 * count_ + i), value_);
    }
    ++count_;
    return batch_;
  }

 private:
  std::uint64_t rows_, count_ = 0;
  witan::SeededRandom random_{7};
  std::string value_ = std::string(150, 'v');
  WriteBatch batch_;
};

void measure(const char* store, const char* what, std::uint64_t times, const std::function<void()>& act) {
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    ThreadStopwatch watch;
    for (std::uint64_t i = 0; i < times; ++i) act();
    rounds.push_back(1e6 * watch.seconds() / static_cast<double>(times));
  }
  std::printf("%-8s %-34s %9.2f us\n", store, what, median(rounds));
}

void fill(store::CrashableStore& store, std::uint64_t rows) {
  WriteBatch batch;
  for (std::uint64_t n = 0; n < rows; ++n) batch.put(keyOf(n), std::string(150, 'v'));
  must(store.writeSynced(batch), "filling");
}

void run(const char* name, const std::function<std::unique_ptr<store::CrashableStore>()>& make, std::uint64_t rows) {
  auto store = make();
  fill(*store, rows);
  Rows source(rows);
  std::uint64_t made = 0;
  measure(name, "(making a batch)", 2000, [&] { made += source.next().bytes(); });
  measure(name, "writeSynced, 3 rows", 2000, [&] { must(store->writeSynced(source.next()), "step"); });
  measure(name, "write and sync, 3 rows", 2000, [&] {
    must(store->write(source.next()), "step");
    must(store->sync(), "step");
  });
  measure(name, "get", 2000, [&] { made += store->get(keyOf(made % rows)).value()->size(); });
  measure(name, "crash, 10 un-synced batches", 10, [&] {
    for (int i = 0; i < 10; ++i) must(store->write(source.next()), "step");
    store->crash({.keepUnsynced = 5, .tearLastValue = {}});
  });
  std::shared_ptr<const store::DiskImage> image;
  measure(name, "image", 5, [&] { image = store->image(); });
  measure(name, "restoreImage", 5, [&] { store->restoreImage(*image); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t rows = Arguments(argc, argv, {"--rows"}).number("--rows", 20'000);
  run(
      "memory", [] { return std::make_unique<store::MemoryStore>(); }, rows);
  run(
      "rocks", [] { return std::make_unique<store::CrashableRocks>(); }, rows);
}
