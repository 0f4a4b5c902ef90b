// The inside of a PeerNetwork: its links, its listeners (net/peer_listen.cpp) and its dials (net/peer_dial.cpp).
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <list>
#include <map>

#include "base/seams.h"
#include "net/link.h"

namespace witan::net {

// Of failed dials: a device that is off must not use up the lines of a stranger that knocks.
inline constexpr std::string_view kDialLog = "dial";

// At most so many lines in a while, then one that counts the rest; kDialLog passes.
class RateLimitedLog {
 public:
  explicit RateLimitedLog(std::function<void(std::string_view, std::string_view)> log) : log_(std::move(log)) {}
  void say(std::string_view level, const std::string& what);
  bool takes();  // one more line, which is counted
  void mute() { log_ = nullptr; }

 private:
  std::function<void(std::string_view, std::string_view)> log_;
  std::int64_t windowStart_ = 0;
  std::uint64_t inWindow_ = 0;
};

struct Dial {
  DialInfo info;
  Address address;
  std::optional<PublicKey> key;
  std::string purpose;
  LinkId attempt = 0;  // the link that is up or being tried; 0: waiting
  std::unique_ptr<Deadline> retry;
};

struct PeerNetwork::Impl final : LinkOwner {
  Impl(Loop& loop, const TlsIdentity& identity, PeerNetworkOptions settings, PeerEvents callbacks);
  ~Impl() override;

  // LinkOwner
  Status onHandshake(Link& link) override;
  void onUp(Link& link) override;
  void onFrame(Link& link, std::string_view frame) override;
  bool knowsFrame(const Link& link, std::uint8_t type) override;
  void onRoom(Link& link) override;
  void onEnd(Link& link, const std::string& reason) override;

  std::shared_ptr<Link> newLink();
  Link* find(LinkId id) const;  // nullptr: none, or ended
  std::size_t linksAdmitted() const;
  void closeAll(std::string_view reason);

  // net/peer_listen.cpp
  Result<std::string> listen(const std::string& address);
  void acceptNext(asio::ip::tcp::acceptor& acceptor);
  void accepted(asio::ip::tcp::socket socket);
  void makeRoomFor(const std::string& address);
  Result<std::unique_ptr<Pipe>> carry(const CarriedLink& carried, PipeEvents pipeEvents);

  // net/peer_dial.cpp
  void dial(const std::string& name, Dial dial);
  void tryDial(const std::string& name);
  void dialEnded(const Link& link, const std::string& reason);
  std::int64_t backoffMs(std::uint64_t failures);

  asio::io_context& io;
  std::shared_ptr<const PeerNetworkOptions> options;
  PeerEvents events;
  RateLimitedLog log;
  SeededRandom random;
  std::shared_ptr<asio::ssl::context> context;
  std::map<LinkId, std::shared_ptr<Link>> all;
  std::map<LinkId, std::string> handshakes;  // accepted, not up yet, by age: whom a limit per address is for
  std::map<std::string, Dial> dials;
  std::list<asio::ip::tcp::acceptor> acceptors;
  std::shared_ptr<Impl*> self = std::make_shared<Impl*>(this);  // for handlers that may outlive it
  LinkId lastId = 0;
  bool closed = false;
};

}  // namespace witan::net
