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

// Reads from a store or a snapshot as if every key began after the prefix.
template <class Base>
class PrefixReads : public Base {
 public:
  PrefixReads(const Reader& from, std::string prefix) : from_(from), prefix_(std::move(prefix)) {}

  Result<std::optional<std::string>> get(std::string_view key) const override { return from_.get(under(key)); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return from_.scan(
        under(prefix), from.empty() ? std::string() : under(from),
        [&](std::string_view key, std::string_view value) { return visit(key.substr(prefix_.size()), value); });
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override {
    WITAN_TRY(found, from_.last(under(prefix)));
    if (found) found->first.erase(0, prefix_.size());
    return found;
  }

 protected:
  std::string under(std::string_view key) const { return concat(prefix_, key); }
  const std::string& prefix() const { return prefix_; }

 private:
  const Reader& from_;
  const std::string prefix_;
};

class PrefixStore final : public PrefixReads<Store> {
 public:
  PrefixStore(Store& below, std::string prefix) : PrefixReads(below, std::move(prefix)), below_(below) {}

  std::unique_ptr<Snapshot> snapshot() const override;
  Status write(const WriteBatch& batch) override { return below_.write(below(batch)); }
  Status sync() override { return below_.sync(); }
  Status writeSynced(const WriteBatch& batch) override { return below_.writeSynced(below(batch)); }

  // Adds the operations of `batch`, on this part's keys, to a batch for the store below.
  void append(const WriteBatch& batch, WriteBatch& out) const;

 private:
  WriteBatch below(const WriteBatch& batch) const;

  Store& below_;
};

// Takes all keys with the prefix out, in writes of bounded size, without a sync. Errors: of the store.
Status eraseUnder(Store& store, std::string_view prefix);
// Puts all keys with the prefix, and their values, into another store, in the same way.
Status copyUnder(const Reader& from, std::string_view prefix, Store& to);

}  // namespace witan::store
