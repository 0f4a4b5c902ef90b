#include "program/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/concat.h"

namespace witan::node {

Progress::Progress(std::string doing, std::string unit) : doing_(std::move(doing)), unit_(std::move(unit)) {
  if (::isatty(STDERR_FILENO) != 0) shower_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!shower_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  shower_.join();
}

void Progress::show() {
  using namespace std::chrono;
  const auto begun = steady_clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, milliseconds(500), [this] { return over_; })) {
    const auto seconds = duration_cast<std::chrono::seconds>(steady_clock::now() - begun).count();
    const std::uint64_t done = done_.load(std::memory_order_relaxed);
    const std::string counted = done == 0 ? "" : concat(done, " ", unit_, ", ");
    std::fprintf(stderr, "\r\x1b[Kwitan: %s: %s%lld s", doing_.c_str(), counted.c_str(),
                 static_cast<long long>(seconds));
    shown = true;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
}

}  // namespace witan::node
