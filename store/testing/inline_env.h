// The world RocksDB runs in when nothing may happen by itself: a clock that stands still, and background jobs that wait
// until somebody runs them, in that thread. For store/testing/crashable_rocks.cpp.
//
// RocksDB schedules jobs under its own lock, so they cannot run at once; runJobs() is for after each of its calls.
// Threads: any thread may call any member; runJobs() from one at a time. Outlives the database that was opened with it.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <deque>
#include <memory>
#include <mutex>

namespace witan::store {

class InlineEnv final : public rocksdb::EnvWrapper {
 public:
  explicit InlineEnv(const std::shared_ptr<rocksdb::FileSystem>& files);
  const char* Name() const override { return "witan.InlineEnv"; }

  // Runs what was scheduled, and what that schedules, until nothing is left: flushes before compactions.
  void runJobs();

  void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag, void (*forget)(void*)) override;
  int UnSchedule(void* tag, Priority priority) override;
  void StartThread(void (*function)(void*), void* argument) override;
  void WaitForJoin() override {}
  int ReserveThreads(int, Priority) override { return 0; }
  int ReleaseThreads(int, Priority) override { return 0; }
  unsigned int GetThreadPoolQueueLen(Priority priority) const override;
  void SetBackgroundThreads(int, Priority) override {}
  int GetBackgroundThreads(Priority) override { return 1; }
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  void LowerThreadPoolIOPriority(Priority) override {}
  void LowerThreadPoolCPUPriority(Priority) override {}
  rocksdb::Status LowerThreadPoolCPUPriority(Priority, rocksdb::CpuPriority) override { return rocksdb::Status::OK(); }
  rocksdb::Status GetThreadList(std::vector<rocksdb::ThreadStatus>*) override {
    return rocksdb::Status::NotSupported("there are no threads");
  }
  rocksdb::Status GetHostName(char* name, uint64_t size) override;
  std::string GenerateUniqueId() override;

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
