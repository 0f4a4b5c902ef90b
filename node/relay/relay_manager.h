// RelayManager: links through a third device (node/relay/tunnel.capnp). It looks for a way to the devices that cannot
// be dialled, gives the network's links the bytes of their tunnels, and carries for others.
//
//   missing(device)  ->  a directly linked peer is asked, then the next  ->  a link "via" it comes up at the
//   PeerManager
//
// What is decided is decided by TunnelTable and RelaySearch; here are loop, pipes and log. Main thread only. Loop,
// network, rosters and log outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "net/peer_network.h"
#include "node/cluster/roster_store.h"
#include "node/relay/relay_search.h"
#include "node/relay/tunnel_table.h"
#include "node/telemetry/log.h"

namespace witan::node {

class RelayManager {
 public:
  struct Hooks {
    std::function<void(const std::string& device, std::string frames)> send;  // over its direct link
    std::function<void(const std::string& device, std::string_view why)> breakLink;
    // Whether a tunnel from this device is wanted; an error is the reason that it hears.
    std::function<Status(const std::string& device)> welcome;
    // The tunnel of a link with this device is gone, which will notice that it is cut off; here is why.
    std::function<void(const std::string& device, const std::string& relay, std::string_view why)> cutOff;
  };
  struct Options {
    std::string device;      // this one
    bool carries = true;     // for others
    std::uint64_t seed = 0;  // of the jitter; 0: from the operating system
  };

  RelayManager(net::Loop& loop, net::PeerNetwork& network, const RosterStore& rosters, Log& log, Options options,
               Hooks hooks);
  ~RelayManager();

  // Direct links: over these, and only these, tunnels go.
  void linked(const std::string& device);
  void unlinked(const std::string& device, std::string_view why);
  // A frame with isTunnelFrame() over one.
  void frame(std::string device, std::string_view bytes);

  // It should be linked and is not, and dialling it has led to nothing.
  // `last`: the relay of a link that has just ended; empty: none.
  void missing(const std::string& device, std::int64_t delayMs = 0, const std::string& last = "");
  // It is linked, one way or the other, or should not be.
  void settled(const std::string& device);
  // Why there is no way to it through others, for people: "no way through clinic: ..."; empty: nobody has refused one.
  std::string noWay(std::string_view device) const;

  std::size_t carrying() const { return table_.carrying(); }
  // The devices whose links this one carries.
  std::set<std::string, std::less<>> carriesFor() const;
  std::size_t ends() const { return table_.ends(); }
  const TunnelCounters& counters() const { return table_.counters(); }

 private:
  struct Refusal {
    std::string relay;
    TunnelWhy why;
    std::string reason;
  };

  void armSearch();
  void search();
  void refused(const TunnelGone& gone);
  void ask(const RelaySearch::Ask& ask);
  void closeTunnel(TunnelId id, TunnelWhy why, std::string_view reason);
  Status openPipe(TunnelId id, const std::string& relay, const std::string& other, bool dials);
  void allow(TunnelId id);
  void apply(TunnelEffects effects);
  // Calls the table, then carries out what it says.
  void applying(const std::function<void(TunnelEffects&)>& call);
  void on(TunnelSend& send);
  void on(TunnelOffered& offered);
  void on(TunnelStands& stands);
  void on(TunnelArrived& arrived);
  void on(TunnelRoom& room);
  void on(TunnelGone& gone);
  void on(TunnelCarried& carried);

  net::Loop& loop_;
  net::PeerNetwork& network_;
  const RosterStore& rosters_;
  Log& log_;
  const Hooks hooks_;
  TunnelTable table_;
  RelaySearch search_;
  std::map<TunnelId, RelaySearch::Ask> asks_;
  std::map<std::string, Refusal, std::less<>> refusals_;  // the last one, by the device that was wanted
  std::map<TunnelId, std::unique_ptr<net::Pipe>> pipes_;
  std::multiset<std::string> carriesFor_;
  net::Loop::TimerId timer_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace witan::node
