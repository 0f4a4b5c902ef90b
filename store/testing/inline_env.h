// The world RocksDB runs in when nothing may happen by itself: a clock that stands still, and background jobs that wait
// until somebody runs them, in that thread. For store/testing/crashable_rocks.cpp.
//
// RocksDB schedules jobs under its own lock, so they cannot run at once; runJobs() is for after each of its calls.
// Threads: any thread may call any member; runJobs() from one at a time. Outlives the database that was opened with it.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace witan::store {

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

class InlineEnv final : public rocksdb::EnvWrapper {
 public:
  explicit InlineEnv(const std::shared_ptr<rocksdb::FileSystem>& files) : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
    file_system_ = files;
    system_clock_ = std::make_shared<StandingClock>();
  }
  const char* Name() const override { return "witan.InlineEnv"; }

  // Runs what was scheduled, and what that schedules, until nothing is left: flushes before compactions.
  void runJobs() {
    const auto next = [this]() -> std::optional<Job> {
      std::lock_guard lock(mutex_);
      const auto it =
          std::ranges::max_element(jobs_, [](const Job& a, const Job& b) { return a.priority < b.priority; });
      if (it == jobs_.end()) return std::nullopt;
      const Job job = *it;
      jobs_.erase(it);
      return job;
    };
    while (const std::optional<Job> job = next()) job->run(job->argument);
  }

  void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag, void (*forget)(void*)) override {
    std::lock_guard lock(mutex_);
    jobs_.push_back({function, argument, priority, tag, forget});
  }
  int UnSchedule(void* tag, Priority priority) override {
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
  // RocksDB starts threads of its own only for what our options turn off.
  void StartThread(void (*function)(void*), void* argument) override {
    Schedule(function, argument, LOW, nullptr, nullptr);
  }
  void WaitForJoin() override {}
  int ReserveThreads(int, Priority) override { return 0; }
  int ReleaseThreads(int, Priority) override { return 0; }
  unsigned int GetThreadPoolQueueLen(Priority priority) const override {
    std::lock_guard lock(mutex_);
    return static_cast<unsigned int>(
        std::ranges::count_if(jobs_, [&](const Job& job) { return job.priority == priority; }));
  }
  void SetBackgroundThreads(int, Priority) override {}
  int GetBackgroundThreads(Priority) override { return 1; }
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  void LowerThreadPoolIOPriority(Priority) override {}
  void LowerThreadPoolCPUPriority(Priority) override {}
  rocksdb::Status LowerThreadPoolCPUPriority(Priority, rocksdb::CpuPriority) override { return rocksdb::Status::OK(); }
  rocksdb::Status GetThreadList(std::vector<rocksdb::ThreadStatus>*) override {
    return rocksdb::Status::NotSupported("there are no threads");
  }
  rocksdb::Status GetHostName(char* name, uint64_t size) override {
    std::strncpy(name, "disk", size);
    return rocksdb::Status::OK();
  }
  std::string GenerateUniqueId() override { return "00000000-0000-4000-8000-000000000000"; }

  uint64_t NowMicros() override { return system_clock_->NowMicros(); }
  uint64_t NowNanos() override { return system_clock_->NowNanos(); }
  uint64_t NowCPUNanos() override { return 0; }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
  rocksdb::Status GetCurrentTime(int64_t* seconds) override { return system_clock_->GetCurrentTime(seconds); }
  std::string TimeToString(uint64_t time) override { return system_clock_->TimeToString(time); }

 private:
  struct Job {
    void (*run)(void*);
    void* argument;
    Priority priority;
    void* tag;
    void (*forget)(void*);
  };

  mutable std::mutex mutex_;
  std::deque<Job> jobs_;
};

}  // namespace witan::store
