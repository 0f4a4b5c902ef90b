// Stands in the program witan-killed for node/data_dir/replica_store.cpp: the same stores on disk, but the process
// kills itself with SIGKILL at one of their write steps, counted over all of them since it started. A step is a write()
// of something, a sync() or a writeSynced().
//   WITAN_KILL_STEP     which, from 1; none: never
//   WITAN_KILL_MOMENT   before: the step has no effect any more; after: it has, and nobody hears of it
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "node/data_dir/replica_store.h"

namespace witan::node {

namespace {

using store::WriteBatch;

class Killer {
 public:
  Killer() {
    if (const char* step = std::getenv("WITAN_KILL_STEP")) left_ = std::strtoull(step, nullptr, 10);
    const char* moment = std::getenv("WITAN_KILL_MOMENT");
    after_ = moment != nullptr && std::string_view(moment) == "after";
  }

  template <class Step>
  Status at(Step step) {
    const bool now = left_ > 0 && --left_ == 0;
    if (now && !after_) die();
    Status done = step();
    if (now) die();
    return done;
  }

 private:
  [[noreturn]] static void die() {
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
  }

  unsigned long long left_ = 0;
  bool after_ = false;
};

// The program's commands write from one thread.
Killer& killer() {
  static Killer killer;
  return killer;
}

class KillingStore final : public store::Store {
 public:
  explicit KillingStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  Result<std::optional<std::string>> get(std::string_view key) const override { return store_->get(key); }
  Status scan(std::string_view prefix, std::string_view from, const store::Visitor& visit) const override {
    return store_->scan(prefix, from, visit);
  }
  Result<std::optional<store::KeyValue>> last(std::string_view prefix) const override { return store_->last(prefix); }
  std::unique_ptr<store::Snapshot> snapshot() const override { return store_->snapshot(); }

  Status write(const WriteBatch& batch) override {
    if (batch.empty()) return okStatus();
    return killer().at([&] { return store_->write(batch); });
  }
  Status sync() override {
    return killer().at([&] { return store_->sync(); });
  }
  Status writeSynced(const WriteBatch& batch) override {
    if (batch.empty()) return okStatus();
    return killer().at([&] { return store_->writeSynced(batch); });
  }

 private:
  const std::unique_ptr<store::Store> store_;
};

}  // namespace

Result<std::unique_ptr<store::Store>> openReplicaStore(const std::filesystem::path& path) {
  WITAN_TRY(opened, store::openRocksStore(path, kReplicaStore));
  return std::unique_ptr<store::Store>(std::make_unique<KillingStore>(std::move(opened)));
}

}  // namespace witan::node
