// The links between organisations: TLS 1.3 with the devices' keys, under a protocol of their own, witan-market/1. No
// replication, no slices, no relay: letters (market/letters.h) and nothing else.
//
// The first frame of each end is its pass: its root's word that this key, which TLS has proven, speaks for the
// organisation. Before that nothing is believed, and no frame of more than 64 KiB is read; a link whose other end shows
// no pass of a trusted root within 10 s ends. So does one whose pass has ended, whose root is trusted no more or has
// revoked the device; a pass that is shown later takes the place of the one before. A frame is JSON, filled up with
// spaces to whole words.
//
// One device speaks for an organisation at a time: the one whose link came first, until it has none. Links of another
// one wait for that, and meanwhile lists of revoked devices alone are heard from them: a device that was revoked takes
// no place of an honest one, and an honest one that comes later can tell of it.
//
// Belongs to its loop's thread. Loop and log outlive it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "market/letters.h"
#include "net/peer_network.h"
#include "node/market/market_identity.h"
#include "node/telemetry/log.h"

namespace witan::node {

inline constexpr std::string_view kMarketPurpose = "witan-market/1";
// What an organisation may send in a second, answers included; more is not read.
inline constexpr int kLettersPerSecond = 200;
inline constexpr std::size_t kBytesPerSecond = 2 << 20, kBytesAtOnce = 4 << 20;
inline constexpr int kLettersOfAWaiting = 20;                  // and lists of revoked devices, of each link
inline constexpr std::string_view kRevokedLetter = "revoked";  // a list (market_revoked.h), in "list"

class MarketDoor {
 public:
  struct Events {
    std::function<market::Moment()> now;
    std::function<market::Roots()> roots;  // trusted now
    std::function<bool(const PublicKey& root, const PublicKey& device)> isRevoked;
    std::function<void(const std::string& org)> connected;
    std::function<bool(const std::string& org)> awaitsEvidence;  // so that a letter of this may be large
    std::function<void(const market::Letter&)> letter;
    std::function<void(const market::MarketIncident&)> incident;
  };

  MarketDoor(net::Loop& loop, Log& log, const net::TlsIdentity& identity, std::string org, std::string pass,
             Events events);
  ~MarketDoor();

  Result<std::string> listen(const std::string& address) { return network_->listen(address); }
  void dial(const std::string& org, const std::string& address);
  // False: its organisation is not connected, or the letter is too large. A letter that left may be lost.
  bool send(const market::Letter& letter);
  bool isConnected(const std::string& org) const;
  // Another pass of this end, also for links that are up.
  void show(std::string pass);
  // Ends the links of organisations that are trusted no more, or under another root, or whose pass has ended, and of
  // devices that are revoked.
  void keepTo(const market::Roots& roots);
  void close() { network_->close(); }

 private:
  struct Pace {
    std::int64_t second = 0;
    int letters = 0;
    std::size_t left = kBytesAtOnce, unread = 0;
    std::int64_t largeAt = 0;  // the second from which on a large letter is read
  };
  struct Link {
    std::string expected;  // whom this end dialled; empty: nobody
    std::string org;       // whose pass it showed
    PublicKey key{}, root{};
    market::Moment until;  // of the pass
    bool waits = false;    // another device of its organisation speaks
    Pace pace;             // while it waits
    std::int64_t listsAt = 0;
    int lists = 0;  // that were heard in that second
  };

  void onUp(const net::LinkInfo& info);
  void onFrame(net::LinkId id, std::string_view frame);
  void onDown(net::LinkId id, std::string_view reason);
  static bool mayTell(Link& link);
  bool mayRead(net::LinkId id, Link& link, std::size_t bytes);
  void onPass(net::LinkId id, Link& link, const json::value& frame);
  void join(net::LinkId id, Link& link, const std::string& org);
  void onLetter(net::LinkId id, Link& link, const json::value& frame);
  std::string passFlaw(Link& link, const json::value& frame, std::string& org);

  net::Loop& loop_;
  Log& log_;
  const std::string org_;
  std::string pass_;
  Events events_;
  std::map<net::LinkId, Link> links_;
  std::map<std::string, Pace> paces_;
  std::map<std::string, std::int64_t> accusedMs_;  // by org: when a false pass in its name was recorded last
  std::shared_ptr<MarketDoor*> self_ = std::make_shared<MarketDoor*>(this);  // for timers that outlive it
  std::unique_ptr<net::PeerNetwork> network_;                                // ends first
};

}  // namespace witan::node
