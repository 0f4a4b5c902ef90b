#include "replica/core/log_hash_chain.h"

#include <algorithm>
#include <cstring>

#include "base/mutant.h"
#include "kernel/ledger/snapshot.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::size_t kRowsAtOnce = 10'000;

std::string rowKey(std::uint64_t batches) { return "h" + bigEndian(batches); }

std::string_view asText(const Hash& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

Hash start() { return sha256(""); }

}  // namespace

std::string bigEndian(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i));
  return bytes;
}

Hash chained(const Hash& before, std::string_view batch) {
  Sha256 hash;
  hash.update(asText(before));
  hash.update(batch.substr(0, kernel::kBatchHeader));
  if (mutated("shallowChain")) return hash.finish();
  for (std::size_t at = kernel::kBatchHeader; at + kernel::kRecordHeader <= batch.size();) {
    std::uint32_t length = 0;
    std::memcpy(&length, batch.data() + at, sizeof length);
    hash.update(batch.substr(at, kernel::kRecordHeader));
    at += kernel::kRecordHeader + ((std::size_t{length} + 7) & ~std::size_t{7});
  }
  return hash.finish();
}

std::optional<Hash> LogHashChain::row(std::uint64_t batches) const {
  if (batches == 0) return start();
  if (const auto fresh = unwritten_.find(batches); fresh != unwritten_.end()) return fresh->second;
  const auto value = rows_.get(rowKey(batches));
  if (!value.ok() || !*value) return std::nullopt;
  const auto payload = kernel::unsealSnapshot(**value);
  Hash hash{};
  if (!payload.ok() || payload->size() != hash.size()) return std::nullopt;
  std::memcpy(hash.data(), payload->data(), hash.size());
  return hash;
}

Result<Hash> LogHashChain::fold(std::uint64_t from, std::uint64_t to, store::WriteBatch* out) const {
  while (from > 0 && !row(from)) --from;
  Hash hash = *row(from);
  for (std::uint64_t n = from; n < to; ++n) {
    WITAN_TRY(value, ledger_.batch(n));
    hash = chained(hash, value);
    if (out == nullptr) continue;
    out->put(rowKey(n + 1), kernel::sealSnapshot(asText(hash)));
    if (out->size() < kRowsAtOnce) continue;
    WITAN_DO(rows_.write(*out));
    out->clear();
  }
  return hash;
}

Status LogHashChain::open() {
  unwritten_.clear();
  batches_ = ledger_.batches();
  store::WriteBatch out;
  WITAN_DO(rows_.scan("h", rowKey(batches_ + 1), [&](std::string_view key, std::string_view) {
    out.erase(key);
    return true;
  }));
  // A crash may have cut the last batch shorter since its row was written: it is digested again. A pruned one is gone.
  const std::uint64_t before = std::max(batches_ == 0 ? 0 : batches_ - 1, ledger_.prunedBatches());
  WITAN_TRY(newest, rows_.last("h"));
  const std::optional<Hash> was = row(batches_);
  WITAN_TRY(hash, fold(newest ? before : 0, batches_, &out));
  last_ = hash;
  if (was == last_ && out.size() <= 1) return okStatus();
  return rows_.write(out);  // derived: what is lost is made again
}

void LogHashChain::append(std::string_view batch, store::WriteBatch& out) {
  last_ = chained(last_, batch);
  unwritten_[++batches_] = last_;
  out.put(rowKey(batches_), kernel::sealSnapshot(asText(last_)));
}

void LogHashChain::cut(std::uint64_t keep, store::WriteBatch& out) const {
  for (std::uint64_t n = keep; n < batches_; ++n) out.erase(rowKey(n + 1));
}

std::optional<Hash> LogHashChain::after(std::uint64_t batches) const {
  if (batches == batches_) return last_;
  if (batches > batches_) return std::nullopt;
  if (const auto known = row(batches)) return known;
  const auto hash = fold(batches, batches, nullptr);
  return hash.ok() ? std::optional(*hash) : std::nullopt;
}

std::vector<LogProbe> LogHashChain::between(std::uint64_t low, std::uint64_t high, std::size_t most) const {
  std::vector<LogProbe> probes;
  high = std::min(high, batches_);
  if (low >= high) return probes;
  const std::uint64_t wide = high - low, parts = std::min<std::uint64_t>(wide, most);
  for (std::uint64_t i = 0; i <= parts; ++i) {
    const std::uint64_t n = low + wide / parts * i + wide % parts * i / parts;
    if (const auto hash = after(n)) probes.push_back({n, *hash});
  }
  return probes;
}

Divergence divergenceOf(const LogHashChain& chain, std::uint64_t batches, const LogPosition& theirs) {
  Divergence found{0, batches + 1, false};
  const auto look = [&](std::uint64_t at, const Hash& hash) {
    if (hash == Hash{} || at > batches) return;
    const auto here = chain.after(at);
    if (!here) return;
    if (*here == hash) {
      found.low = std::max(found.low, at);
    } else {
      found.high = std::min(found.high, at);
      found.diverged = true;
    }
  };
  look(theirs.batches, theirs.chain);
  for (const LogProbe& probe : theirs.probes) look(probe.batches, probe.chain);
  // What no two logs can show: equal further on than where they part.
  if (found.low >= found.high) found.low = found.high - 1;
  return found;
}

kernel::Epoch EpochHistory::last() const {
  return epochs.empty() ? kernel::Epoch{} : kernel::Epoch{epochs.back().number, epochs.back().owner};
}

kernel::Epoch EpochHistory::epochAt(std::uint64_t batch) const {
  kernel::Epoch found;
  for (const EpochMark& mark : epochs)
    if (mark.start <= batch) found = {mark.number, mark.owner};
  return found;
}

std::uint64_t commonBatches(const EpochHistory& a, const EpochHistory& b) {
  std::size_t same = 0;
  while (same < a.epochs.size() && same < b.epochs.size() && a.epochs[same] == b.epochs[same]) ++same;
  if (same == 0) return 0;
  const auto end = [same](const EpochHistory& of) {
    return same < of.epochs.size() ? of.epochs[same].start : of.batches;
  };
  return std::min(end(a), end(b));
}

Status checkEpochHistory(const EpochHistory& lineage) {
  if (lineage.epochs.size() > kMaxEpochs)
    return invalid("a log of more than " + std::to_string(kMaxEpochs) + " epochs");
  const EpochMark* before = nullptr;
  for (const EpochMark& mark : lineage.epochs) {
    WITAN_DO(replication::validateWriter("epoch owner", mark.owner));
    if (mark.number == 0 || (before != nullptr && mark.number <= before->number))
      return invalid("epoch " + std::to_string(mark.number) + " out of order");
    if (mark.start >= lineage.batches || (before != nullptr && mark.start <= before->start))
      return invalid("epoch " + std::to_string(mark.number) + " begins at an impossible batch");
    before = &mark;
  }
  if (!lineage.epochs.empty() && lineage.epochs.front().start != 0)
    return invalid("a log whose first epoch does not open it");
  if (lineage.epochs.empty() && lineage.batches > 0) return invalid("a log without an epoch");
  return okStatus();
}

}  // namespace witan::node
