// PrefixStore: the part of a store whose keys begin with a prefix, as a store of its own. So one disk, and one sync,
// serves many ledgers.
//
// The store below outlives it. Threads, durability and failures are those of the store below: sync() makes everything
// durable, not only this part.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace witan::store {

class PrefixStore final : public Store {
 public:
  PrefixStore(Store& below, std::string prefix) : below_(below), prefix_(std::move(prefix)) {}

  Result<std::optional<std::string>> get(std::string_view key) const override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  Status write(const WriteBatch& batch) override { return below_.write(below(batch)); }
  Status sync() override { return below_.sync(); }
  Status writeSynced(const WriteBatch& batch) override { return below_.writeSynced(below(batch)); }

  // Adds the operations of `batch`, on this part's keys, to a batch for the store below.
  void append(const WriteBatch& batch, WriteBatch& out) const;

 private:
  WriteBatch below(const WriteBatch& batch) const;

  Store& below_;
  const std::string prefix_;
};

}  // namespace witan::store
