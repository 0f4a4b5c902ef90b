#include "store/testing/inline_env.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

namespace witan::store {
namespace {

// Only sleeping makes time pass.
class StandingClock final : public rocksdb::SystemClock {
 public:
  const char* Name() const override { return "witan.StandingClock"; }
  uint64_t NowMicros() override { return micros_; }
  void SleepForMicroseconds(int micros) override { micros_ += static_cast<std::uint64_t>(std::max(micros, 0)); }
  rocksdb::Status GetCurrentTime(int64_t* seconds) override {
    *seconds = static_cast<int64_t>(micros_ / 1'000'000);
    return rocksdb::Status::OK();
  }
  std::string TimeToString(uint64_t time) override { return std::to_string(time); }

 private:
  // Not 0, which RocksDB takes for "unknown". 2026-01-01.
  std::atomic<std::uint64_t> micros_{1'767'225'600'000'000};
};

}  // namespace

InlineEnv::InlineEnv(const std::shared_ptr<rocksdb::FileSystem>& files) : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
  file_system_ = files;
  system_clock_ = std::make_shared<StandingClock>();
}

void InlineEnv::Schedule(void (*function)(void*), void* argument, Priority priority, void* tag, void (*forget)(void*)) {
  std::lock_guard lock(mutex_);
  jobs_.push_back({function, argument, priority, tag, forget});
}

int InlineEnv::UnSchedule(void* tag, Priority priority) {
  std::deque<Job> gone, kept;
  {
    std::lock_guard lock(mutex_);
    for (const Job& job : jobs_) (job.tag == tag && job.priority == priority ? gone : kept).push_back(job);
    jobs_.swap(kept);
  }
  for (const Job& job : gone) {
    if (job.forget) job.forget(job.argument);
  }
  return static_cast<int>(gone.size());
}

void InlineEnv::runJobs() {
  const auto next = [this]() -> std::optional<Job> {
    std::lock_guard lock(mutex_);
    const auto it = std::max_element(jobs_.begin(), jobs_.end(),
                                     [](const Job& a, const Job& b) { return a.priority < b.priority; });
    if (it == jobs_.end()) return std::nullopt;
    const Job job = *it;
    jobs_.erase(it);
    return job;
  };
  while (const std::optional<Job> job = next()) job->run(job->argument);
}

// RocksDB starts threads of its own only for what our options turn off.
void InlineEnv::StartThread(void (*function)(void*), void* argument) {
  Schedule(function, argument, LOW, nullptr, nullptr);
}

unsigned int InlineEnv::GetThreadPoolQueueLen(Priority priority) const {
  std::lock_guard lock(mutex_);
  return static_cast<unsigned int>(
      std::count_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.priority == priority; }));
}

rocksdb::Status InlineEnv::GetHostName(char* name, uint64_t size) {
  std::strncpy(name, "disk", size);
  return rocksdb::Status::OK();
}

std::string InlineEnv::GenerateUniqueId() { return "00000000-0000-4000-8000-000000000000"; }

}  // namespace witan::store
