// A lie for each new copy that asks: a base which does not know of an operation, under the liar's own good signature.
#include "kernel/ledger/pruned_log.h"
#include "kernel/ledger/snapshot.h"
#include "sim/run/liar.h"
#include "store/memory_store.h"
#include "store/prefix_store.h"

namespace witan::sim {

namespace {

constexpr std::string_view kRows[] = {"b", "format", "h", "pruned", "t"};

// Another operation than the first that the base knows. Whether it knows one.
bool forgetOperation(store::Store& rows, const kernel::PrunedLog& pruned) {
  const std::string prefix = concat("b", kernel::batchKey(pruned.batches).substr(1));
  store::WriteBatch changed;
  for (std::uint64_t chunk = 0; changed.empty(); ++chunk) {
    const std::string key = prefix + kernel::snapshotChunkKey('o', chunk);
    const auto value = rows.get(key);
    if (!value.ok() || !*value) return false;
    auto payload = kernel::unsealSnapshot(**value);
    if (!payload.ok() || payload->empty()) continue;
    payload->front() ^= 1;
    changed.put(key, kernel::sealSnapshot(*payload));
  }
  return rows.write(changed).ok();
}

}  // namespace

void Liar::sayBase(Seat& self, std::uint32_t to, const node::AskBase& asked) {
  const node::PartitionHost* host = self.works() ? self.replica().host(asked.partition) : nullptr;
  if (host == nullptr || host->first() == 0 || host->first() != asked.batches || !asked.after.empty()) return;
  store::MemoryStore rows;
  for (const std::string_view prefix : kRows)
    if (!store::copyUnder(host->rows(), prefix, rows).ok()) return;
  auto pruned = kernel::prunedLog(rows);
  if (!pruned.ok() || !*pruned || !forgetOperation(rows, **pruned)) return;
  if (!kernel::beginPruned(rows, **std::move(pruned), {}, ClusterSetup::keyOf(self.index()), Time{c_.agenda().now()})
           .ok())
    return;
  node::Base base{asked.partition, asked.batches, {}, true};
  const std::string end = concat("h", kernel::batchKey(asked.batches).substr(1));
  const Status read = rows.scan("", {}, [&](std::string_view key, std::string_view value) {
    const bool later = key.starts_with('h') && key > end;
    if (!later && !key.starts_with("format"))
      base.rows.push_back({{key.begin(), key.end()}, {value.begin(), value.end()}});
    return true;
  });
  if (!read.ok()) return;
  std::string frame;
  WordWriter words;
  node::appendFrame(frame, words, base);
  c_.network().forge(self.index(), to, std::move(frame));
  c_.probe("liar: base told");
}

}  // namespace witan::sim
