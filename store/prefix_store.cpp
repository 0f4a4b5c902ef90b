#include "store/prefix_store.h"

namespace witan::store {

namespace {

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

WriteBatch PrefixStore::below(const WriteBatch& batch) const {
  WriteBatch out;
  append(batch, out);
  return out;
}

}  // namespace witan::store
