#include "store/prefix_store.h"

namespace witan::store {

namespace {

// Reads from any reader as if every key began after the prefix.
Result<std::optional<std::string>> getIn(const Reader& from, const std::string& prefix, std::string_view key) {
  return from.get(prefix + std::string(key));
}

Status scanIn(const Reader& from, const std::string& prefix, std::string_view within, std::string_view first,
              const Visitor& visit) {
  const std::string start = first.empty() ? std::string() : prefix + std::string(first);
  return from.scan(prefix + std::string(within), start, [&](std::string_view key, std::string_view value) {
    return visit(key.substr(prefix.size()), value);
  });
}

Result<std::optional<KeyValue>> lastIn(const Reader& from, const std::string& prefix, std::string_view within) {
  WITAN_TRY(found, from.last(prefix + std::string(within)));
  if (found) found->first.erase(0, prefix.size());
  return found;
}

class PrefixSnapshot final : public Snapshot {
 public:
  PrefixSnapshot(std::unique_ptr<Snapshot> below, std::string prefix)
      : below_(std::move(below)), prefix_(std::move(prefix)) {}
  Result<std::optional<std::string>> get(std::string_view key) const override { return getIn(*below_, prefix_, key); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return scanIn(*below_, prefix_, prefix, from, visit);
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override {
    return lastIn(*below_, prefix_, prefix);
  }

 private:
  std::unique_ptr<Snapshot> below_;
  const std::string prefix_;
};

}  // namespace

Result<std::optional<std::string>> PrefixStore::get(std::string_view key) const { return getIn(below_, prefix_, key); }
Status PrefixStore::scan(std::string_view prefix, std::string_view from, const Visitor& visit) const {
  return scanIn(below_, prefix_, prefix, from, visit);
}
Result<std::optional<KeyValue>> PrefixStore::last(std::string_view prefix) const {
  return lastIn(below_, prefix_, prefix);
}
std::unique_ptr<Snapshot> PrefixStore::snapshot() const {
  return std::make_unique<PrefixSnapshot>(below_.snapshot(), prefix_);
}

void PrefixStore::append(const WriteBatch& batch, WriteBatch& out) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const WriteBatch::Op op = batch.op(i);
    const std::string key = prefix_ + std::string(op.key);
    op.kind == WriteBatch::Kind::put ? out.put(key, op.value) : out.erase(key);
  }
}

WriteBatch PrefixStore::below(const WriteBatch& batch) const {
  WriteBatch out;
  append(batch, out);
  return out;
}

}  // namespace witan::store
