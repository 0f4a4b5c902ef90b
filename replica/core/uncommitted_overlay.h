// UncommittedOverlay: the rows of a partition as its ledger sees them: what is in the store, and the batches of the log
// that come into it later: with the end of the round, or when they are committed elsewhere
// (replica/core/partition_host.h).
//
// Only get() knows of those: the log is scanned when it is opened, and nothing is under way then. Not thread-safe but
// for the store below, which outlives it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "store/store.h"

namespace witan::node {

class UncommittedOverlay final : public store::Store {
 public:
  explicit UncommittedOverlay(store::Store& below) : below_(below) {}

  void add(std::string key, std::string value) { ahead_.insert_or_assign(std::move(key), std::move(value)); }
  // Those are in the store by now.
  void forgetBefore(const std::string& key) { ahead_.erase(ahead_.begin(), ahead_.lower_bound(key)); }

  Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto at = ahead_.find(key);
    return at == ahead_.end() ? below_.get(key) : std::optional(at->second);
  }
  Status scan(std::string_view prefix, std::string_view from, const store::Visitor& visit) const override {
    return below_.scan(prefix, from, visit);
  }
  Result<std::optional<store::KeyValue>> last(std::string_view prefix) const override { return below_.last(prefix); }
  std::unique_ptr<store::Snapshot> snapshot() const override { return below_.snapshot(); }
  Status write(const store::WriteBatch& batch) override { return below_.write(batch); }
  Status sync() override { return below_.sync(); }
  Status writeSynced(const store::WriteBatch& batch) override { return below_.writeSynced(batch); }

 private:
  store::Store& below_;
  std::map<std::string, std::string, std::less<>> ahead_;
};

}  // namespace witan::node
