// PeerDesk: the other devices as links. It decides whom to let in (by the roster), whom to dial, which of two links to
// keep, and hands frames on; the roster itself travels here, and new devices are enrolled here.
//
//   a link comes up   -> Events::connected(device);  each frame of replication and adjudication -> Events::received
//   the roster grows  -> links of devices that may no more are dropped at once, new ones are dialled
//   a stranger would like to join  -> its link has ten seconds and a few requests; of more than 16 the oldest ends
//   a device cannot be dialled  -> the RelayDesk looks for a way through a third one; a direct link takes its place
//
// A direct link may come up and carry nothing (small packets pass, large ones do not). So one that would take the place
// of a carried link, or follows a direct one that went quiet, is on trial first: it has to answer heartbeats after a
// probe, the longer the more of its kind went quiet. What comes over it ends the trial: the other end has chosen it.
//
// Main thread only. Loop, book, desk and log outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "net/peer_network.h"
#include "node/cluster/roster_book.h"
#include "node/enrolment/enrolment_desk.h"
#include "node/relay/relay_desk.h"
#include "node/telemetry/log.h"

namespace witan::node {

// One known device, for `witan peers`.
struct PeerStatus {
  std::string device, name, address;
  std::string via;  // the device that carries the link; empty: direct, or none
  bool connected = false, dialled = false, blocked = false;
  std::uint64_t framesIn = 0, bytesIn = 0, bytesOut = 0, queuedBytes = 0;
  std::int64_t sinceMs = 0;  // steady, of the link or of its end
  std::string lastEnd;       // why its last link ended, and why there is no way through others
};

class PeerDesk {
 public:
  struct Events {
    std::function<void(const std::string& device)> connected;
    std::function<void(const std::string& device)> disconnected;
    std::function<void(const std::string& device, std::string_view frame)> received;
    std::function<void(const std::string& device)> room;  // its queue has drained
    std::function<void()> rosterChanged;
    std::function<Time()> wall;
    std::function<std::int64_t()> steadyMs;
  };
  struct Options {
    std::string device;  // this one
    std::vector<std::string> dial;
    bool carry = true;                                       // links of others
    std::int64_t heartbeatMs = 5'000, deadAfterMs = 20'000;  // net::PeerNetworkOptions
    std::int64_t joinMs = 10'000;                            // a link of a device that would like to join
  };

  PeerDesk(net::Loop& loop, const net::TlsIdentity& identity, RosterBook& book, EnrolmentDesk& desk, Log& log,
           Options options, Events events);
  ~PeerDesk();

  // Errors: an address that cannot be listened on. Returns the bound address.
  Result<std::string> listen(const std::string& address);
  void dialAll();
  // Whole frames. What cannot be sent ends with the link; the cores send again after the next one.
  void send(const std::string& device, std::string frames, bool close);
  // Called after the book has changed here (by an admin's command): tells everybody and applies it.
  void rosterPublished();

  // A member asks for another key, or this device does. Errors: not the admin's device, a proof that does not hold.
  Status rotate(const std::string& device, const RotateKey& request);
  // This device's key has changed: links from now on are made with it.
  void setIdentity(const net::TlsIdentity& identity) { network_.setIdentity(identity); }

  // For drills: no link with this device, in either direction, until heal().
  void cut(const std::string& device);
  void heal(const std::string& device);
  bool isCut(const std::string& device) const { return cut_.contains(device); }

  bool connected(std::string_view device) const { return byDevice_.contains(device); }
  std::size_t queuedBytes(std::string_view device) const;
  std::vector<PeerStatus> status() const;
  // What refused strangers came with, since the start.
  std::uint64_t refusedLinks() const { return refused_; }
  const RelayDesk& relay() const { return relay_; }
  // Tells everybody good-bye.
  void close();

 private:
  struct Link {
    std::string device;  // empty: a device that would like to join
    net::LinkInfo info;
    std::uint64_t framesIn = 0, bytesIn = 0, bytesOut = 0;
    std::int64_t sinceMs = 0;
    unsigned requests = 0;  // to join
    bool quiet = false;     // net::PeerEvents::quiet
    std::string cutOff;     // why its tunnel ended
  };
  struct Trial {
    net::LinkId link = 0;
    std::int64_t aloneMs = 0;  // since when there has been no other link
  };
  struct Past {
    std::string end;
    std::int64_t atMs = 0;
    unsigned shortLived = 0;  // links in a row that ended as soon as they were there
    unsigned quiet = 0;       // direct links that went quiet, since one that lasted
  };

  RelayDesk::Hooks relayHooks();
  // ok: there could be a link with it, and there is no direct one.
  Status welcome(const std::string& device) const;
  Status admit(const net::LinkInfo& info);
  void up(const net::LinkInfo& info);
  void take(net::LinkId id);  // it is the link with its device from now on
  void down(net::LinkId id, std::string_view reason);
  void frame(net::LinkId id, std::string_view frame);
  void clusterFrame(Link& link, std::string_view frame);
  void onRoster(Link& link, std::string_view frame);
  void onJoin(Link& link, std::string_view frame);
  void onRotate(Link& link, std::string_view frame);
  void hearOut(net::LinkId stranger);
  void turnAway(net::LinkId stranger, std::string_view why);
  bool keepsNew(const Link& old, const net::LinkInfo& info, const std::string& device) const;
  void tellRoster(net::LinkId id);
  // node/peers/peer_trial.cpp
  bool needsTrial(const std::string& device) const;
  void tryOut(const net::LinkInfo& info, const std::string& device);
  void judge(const std::string& device, net::LinkId id);
  void judgeLater(const std::string& device, net::LinkId id);
  bool onTrial(net::LinkId id) const;
  void endTrial(const std::string& device, std::string_view why);
  void endQuietTrial(const std::string& device);
  bool hasLasted(const Link& link) const;
  void countQuiet(const Link& link);
  std::int64_t trialMs(const std::string& device) const;
  void applyRoster(std::string_view from);
  void keepRosterLater();
  void dial(const RosterDevice& device);
  void dialConfigured(const std::string& name);
  void dialLater(const std::string& device, std::int64_t ms);
  void undial(const std::string& device, const std::string& except = "");
  void seek(const std::string& device);
  const Link* linkOf(std::string_view device) const;  // null: none

  net::Loop& loop_;
  RosterBook& book_;
  EnrolmentDesk& desk_;
  Log& log_;
  const Options options_;
  const Events events_;
  std::map<net::LinkId, Link> links_;
  std::map<std::string, net::LinkId, std::less<>> byDevice_;
  std::map<std::string, Trial, std::less<>> trials_;  // links that are not in byDevice_ yet
  std::map<std::string, Past, std::less<>> past_;
  std::map<std::string, std::set<std::string>, std::less<>> dialling_;    // names of dials by device
  std::map<std::string, std::set<std::string>, std::less<>> configured_;  // those of Options::dial that led to it
  std::map<std::string, RosterDevice, std::less<>> applied_;              // as links were judged
  std::set<std::string, std::less<>> cut_, waiting_;                      // waiting_: to be dialled after a while
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  bool keepsLater_ = false;  // the roster is to be written again
  std::uint64_t refused_ = 0;
  net::PeerNetwork network_;
  RelayDesk relay_;
};

}  // namespace witan::node
