#include "net/loop.h"

#include <boost/asio/post.hpp>
#include <chrono>

#include "net/loop_impl.h"

namespace witan::net {
namespace {

// Waits for the next of the signals, again and again. `set` lives as long as the loop.
void watchSignals(asio::signal_set& set, std::shared_ptr<std::function<void(int)>> work) {
  set.async_wait([&set, work](const boost::system::error_code& error, int signal) {
    if (error) return;
    watchSignals(set, work);
    (*work)(signal);
  });
}

}  // namespace

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run() {
  impl_->io.run();
  impl_->io.restart();
}

bool Loop::runUntil(const std::function<bool()>& done, std::int64_t timeoutMs) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
  bool fits = done();
  while (!fits && impl_->io.run_one_until(end) > 0) fits = done();
  if (impl_->io.stopped()) impl_->io.restart();
  return fits;
}

void Loop::stop() { impl_->io.stop(); }

void Loop::post(std::function<void()> work) { asio::post(impl_->io, std::move(work)); }

Loop::TimerId Loop::after(std::int64_t ms, std::function<void()> work) {
  const TimerId id = ++impl_->lastTimer;
  auto& timer = impl_->timers.try_emplace(id, impl_->io).first->second;
  timer.expires_after(std::chrono::milliseconds(ms));
  timer.async_wait([this, id, work = std::move(work)](const boost::system::error_code& error) {
    if (error || impl_->timers.erase(id) == 0) return;  // cancelled, perhaps just after it was due
    work();
  });
  return id;
}

void Loop::cancel(TimerId timer) { impl_->timers.erase(timer); }

void Loop::onSignals(std::vector<int> signals, std::function<void(int)> work) {
  auto& set = impl_->signals.emplace_back(impl_->io);
  for (const int signal : signals) set.add(signal);
  watchSignals(set, std::make_shared<std::function<void(int)>>(std::move(work)));
}

std::int64_t Loop::nowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace witan::net
