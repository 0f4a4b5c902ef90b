// The Asio side of a Loop, for the units of net/ only.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <list>
#include <map>

#include "net/loop.h"

namespace witan::net {

namespace asio = boost::asio;

// Awaits an operation; its error comes as the first of the tuple.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

struct Loop::Impl {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::map<TimerId, asio::steady_timer> timers;
  std::list<asio::signal_set> signals;
  TimerId lastTimer = 0;
};

// Starts a coroutine whose end is observed: an exception out of it leaves Loop::run().
inline void spawn(asio::io_context& io, asio::awaitable<void> work) {
  asio::co_spawn(io, std::move(work), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

// A timer that is set, set again and switched off. `work` runs from the loop, and not after the Deadline has gone.
class Deadline {
 public:
  Deadline(asio::io_context& io, std::function<void()> work)
      : state_(std::make_shared<State>(State{asio::steady_timer(io), std::move(work)})) {}
  ~Deadline() { off(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void within(std::int64_t ms) {
    const std::uint64_t round = ++state_->round;
    state_->timer.expires_after(std::chrono::milliseconds(ms));
    state_->timer.async_wait([weak = std::weak_ptr<State>(state_), round](const boost::system::error_code& error) {
      const auto state = weak.lock();
      if (!error && state && state->round == round) state->work();
    });
  }
  void off() {
    ++state_->round;
    state_->timer.cancel();
  }

 private:
  struct State {
    asio::steady_timer timer;
    std::function<void()> work;
    std::uint64_t round = 0;
  };
  std::shared_ptr<State> state_;
};

}  // namespace witan::net
