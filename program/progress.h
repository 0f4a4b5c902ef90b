// Progress: one line on stderr while a long command works, which replaces itself twice a second and goes with the
// object. Where stderr is no terminal nothing is shown.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace witan::node {

class Progress {
 public:
  // "verifying"; `unit`: what count() counts, "entries".
  explicit Progress(std::string doing, std::string unit = "");
  ~Progress();
  Progress(const Progress&) = delete;

  // How much is done. Any thread.
  void count(std::uint64_t done) { done_.store(done, std::memory_order_relaxed); }

 private:
  void show();

  const std::string doing_, unit_;
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread shower_;
};

}  // namespace witan::node
