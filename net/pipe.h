// One end of a link whose bytes go another way than over a socket of the network: whoever holds it carries them, say
// through a third device. The link itself (TLS, admission, heartbeats) is one like all others and notices nothing.
//
// Made by PeerNetwork::carry(); belongs to its loop's thread, and the loop must outlive it. Events come from the loop,
// never from inside a call; an event's function may destroy the Pipe. Destroying it tells the link, after what was
// delivered, that nothing comes any more; no event comes then.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace witan::net {

inline constexpr std::size_t kMaxPipeRead = 64 * 1024;

struct PipeEvents {
  std::function<void(std::string_view bytes)> came;  // from the link; the view dies with the call
  std::function<void(std::size_t bytes)> delivered;  // the link has taken what one deliver() brought
  std::function<void()> ended;                       // the link has closed its end, once
};

class Pipe {
 public:
  struct State;
  explicit Pipe(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // One `came` of at most so many bytes (kMaxPipeRead at the most) may follow. 0 takes it back. Who allows nothing
  // holds the link up (its queue fills and its own limits count); what it had written when it ends is lost then.
  void allow(std::size_t bytes);
  // Kept until the link has taken it: how much is under way is for the caller to limit.
  void deliver(std::string bytes);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace witan::net
