// One thread's event loop. Everything in net/ runs on it, and so does everything that uses net/: callbacks come from
// run(), one at a time, never from inside a call that caused them.
//
// Belongs to the thread that runs it; only stop() and post() may be called from others. Must outlive whatever was made
// with a reference to it; work that is still waiting when it goes is dropped, not run. An exception out of a callback
// leaves run().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace witan::net {

class Loop {
 public:
  using TimerId = std::uint64_t;  // 0 is never given

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Until stop(); a stop() that came before counts. May be called again afterwards.
  void run();

  // Runs until `done` is true, asked after each piece of work. False: `timeoutMs` passed, or stop().
  bool runUntil(const std::function<bool()>& done, std::int64_t timeoutMs);

  void stop();                            // any thread
  void post(std::function<void()> work);  // any thread

  // Once, not before `ms` milliseconds have passed (steady clock).
  TimerId after(std::int64_t ms, std::function<void()> work);
  void cancel(TimerId timer);  // unknown ids are fine

  // Each time one of these arrives, until the loop goes. They no longer end the process.
  void onSignals(std::vector<int> signals, std::function<void(int)> work);

  static std::int64_t nowMs();  // steady; of this start of the machine

  struct Impl;  // the Asio context, for net/'s own units
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace witan::net
