#include "store/prefix_store.h"

namespace witan::store {

namespace {

constexpr std::size_t kWriteOps = 4096, kWriteBytes = 4 << 20;

// Visits in rounds, each of whose operations are then written.
template <class Add>
Status writeEach(const Reader& from, std::string_view prefix, Store& to, Add add) {
  std::string last;  // of the round before
  while (true) {
    WriteBatch batch;
    bool more = false;
    WITAN_DO(from.scan(prefix, last, [&](std::string_view key, std::string_view value) {
      if (key == last) return true;
      more = batch.size() >= kWriteOps || batch.bytes() >= kWriteBytes;
      if (more) return false;
      add(batch, key, value);
      last = key;
      return true;
    }));
    if (!batch.empty()) WITAN_DO(to.write(batch));
    if (!more) return okStatus();
  }
}

class PrefixSnapshot final : public PrefixReads<Snapshot> {
 public:
  PrefixSnapshot(std::unique_ptr<Snapshot> below, std::string prefix)
      : PrefixReads(*below, std::move(prefix)), below_(std::move(below)) {}

 private:
  std::unique_ptr<Snapshot> below_;
};

}  // namespace

std::unique_ptr<Snapshot> PrefixStore::snapshot() const {
  return std::make_unique<PrefixSnapshot>(below_.snapshot(), prefix());
}

void PrefixStore::append(const WriteBatch& batch, WriteBatch& out) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const WriteBatch::Op op = batch.op(i);
    op.kind == WriteBatch::Kind::put ? out.put(under(op.key), op.value) : out.erase(under(op.key));
  }
}

Status eraseUnder(Store& store, std::string_view prefix) {
  return writeEach(store, prefix, store,
                   [](WriteBatch& batch, std::string_view key, std::string_view) { batch.erase(key); });
}

Status copyUnder(const Reader& from, std::string_view prefix, Store& to) {
  return writeEach(from, prefix, to,
                   [](WriteBatch& batch, std::string_view key, std::string_view value) { batch.put(key, value); });
}

WriteBatch PrefixStore::below(const WriteBatch& batch) const {
  WriteBatch out;
  append(batch, out);
  return out;
}

}  // namespace witan::store
