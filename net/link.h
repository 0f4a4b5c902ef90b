// One link, from the first packet to its end: connect, handshake, admission, frames, heartbeats, goodbye. For
// net/peer_network.cpp; see there and net/peer_network.h for what a link promises.
//
//   connecting/handshaking -- both welcomed --> up -- close(), goodbye, bad frame --> closing --> ended
//        |  refused: a goodbye is written, the rest read away (refusing)                    ^
//        +----------------------------------- any failure, any time: end() -----------------+
//
// One coroutine connects, shakes hands and then reads; another writes while something is queued; one Deadline watches
// the time. Each holds the link alive. `owner` must outlive it, or call abandon().
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "net/address.h"
#include "net/byte_stream.h"
#include "net/link_frames.h"
#include "net/peer_network.h"
#include "net/sockets.h"

namespace witan::net {

class Link;

// What a link tells the network it belongs to; from the loop, never from inside a call.
class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  virtual Status onHandshake(Link& link) = 0;  // admission; an error refuses
  virtual void onUp(Link& link) = 0;
  virtual void onFrame(Link& link, std::string_view frame) = 0;
  virtual bool knowsFrame(const Link& link, std::uint8_t type) = 0;
  virtual void onRoom(Link& link) = 0;
  virtual void onEnd(Link& link, const std::string& reason) = 0;  // once, also of one that was never up
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  enum class State { starting, refusing, up, closing, ended };

  Link(asio::io_context& io, LinkOwner& owner, std::shared_ptr<const PeerNetworkOptions> options,
       std::shared_ptr<asio::ssl::context> context, LinkId id);

  void accept(Socket socket);
  void carry(Socket socket, const CarriedLink& carried);
  void dial(Address address, std::string name, std::string purpose, std::optional<PublicKey> key);

  bool send(std::string frames);
  void close(std::string reason);  // what is queued, the reason, the end
  void end(std::string reason);    // at once
  void abandon();                  // at once, and the owner hears nothing any more
  void probe();                    // padding, so that the pongs from now on prove more than small packets
  void trust() { cutter_.setMaxFrame(options_->maxFrameBytes); }

  State state() const { return state_; }
  bool admitted() const { return welcomed_ && (state_ == State::starting || state_ == State::up); }  // by us
  bool wasUp() const { return wasUp_; }
  bool wentQuiet() const { return wentQuiet_; }  // up, and for a while before its end it carried nothing
  bool isQuiet() const;                          // it would have gone quiet, if it ended now
  const LinkInfo& info() const { return info_; }
  const std::string& limitedBy() const { return limitedBy_; }
  std::size_t queuedBytes() const { return queuedBytes_; }
  const LinkStats& stats() const { return stats_; }

 private:
  using Self = std::shared_ptr<Link>;

  asio::awaitable<void> runAccepted(Self self, Socket socket);
  asio::awaitable<void> runDialled(Self self, Address address);
  asio::awaitable<void> run(Socket socket);
  asio::awaitable<bool> shakeHands();
  Status judge();
  asio::awaitable<void> refuse(Error why);
  asio::awaitable<void> readFrames();
  asio::awaitable<void> writeQueued(Self self);
  void take(const CutFrame& frame);
  void takeLinkFrame(const CutFrame& frame);
  void takePong(std::uint64_t stamp);
  void onUp();
  void queue(std::string bytes);
  void fillBatch();
  void lost(const ErrorCodeOf& error);
  void onTime();
  void beat();

  asio::io_context& io_;
  LinkOwner* owner_;
  std::shared_ptr<const PeerNetworkOptions> options_;
  std::shared_ptr<asio::ssl::context> context_;
  LinkInfo info_;
  LinkStats stats_;
  std::string limitedBy_;
  std::optional<PublicKey> expected_;
  State state_ = State::starting;
  bool welcomed_ = false, wasUp_ = false, wentQuiet_ = false;  // welcomed: by us
  std::string closeReason_;

  Connecting connecting_;
  std::unique_ptr<TlsStream> stream_;
  FrameCutter cutter_;

  std::deque<std::string> queue_;
  std::string batch_;  // taken from the queue, being written
  std::size_t queuedBytes_ = 0;
  bool writing_ = false, pressed_ = false;  // pressed: the queue reached a quarter of its limit
  ErrorCodeOf writeError_;

  std::int64_t lastIn_ = 0, lastProgress_ = 0, nextBeat_ = 0;  // Loop::nowMs()
  std::int64_t asked_ = 0;        // when the oldest ping was sent that waits for its pong; 0: none
  std::uint64_t bytesAtAsk_ = 0;  // that had come by then
  Deadline deadline_;
};

}  // namespace witan::net
