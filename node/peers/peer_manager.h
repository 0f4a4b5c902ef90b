// PeerManager: the links with the other devices. It wires the network to the parts that decide, and carries out what
// they say:
//
//   Admission      may this link exist                  PendingPeers   links of devices that are not enrolled
//   PeerLinks      which link carries a device's traffic  LinkProbation  direct links that have to prove themselves
//   Dialer         what is dialled                      LinkHistory    how links ended, when to dial again
//   Mesh           who is, and whose link may end (replica/mesh.h)
//   RosterGossip   the roster between peers             RelayManager   links through a third device
//
//   a link comes up         -> Events::connected(device); replication and adjudication frames -> Events::received
//   the roster changes      -> links that may no longer exist end at once; new devices are dialled
//   a device is unreachable -> the RelayManager looks for a way through a third device; a direct link replaces it
//
// Main thread only. Loop, roster store, enrolment and log outlive it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/peer_network.h"
#include "node/cluster/roster_store.h"
#include "node/enrolment/enrolment_service.h"
#include "node/peers/admission.h"
#include "node/peers/dialer.h"
#include "node/peers/peer_clocks.h"
#include "node/peers/peer_links.h"
#include "node/peers/roster_gossip.h"
#include "node/relay/relay_manager.h"
#include "node/telemetry/log.h"
#include "replica/mesh.h"

namespace witan::node {

inline constexpr std::string_view kStaleRoster = "the roster of this device is older than its lease";
inline constexpr const char* kRosterPartedIncident = "rosterParted";

// One known device, for `witan peers`.
struct PeerStatus {
  std::string device, name, address;
  std::string via;  // the device that carries the link; empty: direct, or none
  bool connected = false, dialled = false, blocked = false;
  std::uint64_t framesIn = 0, bytesIn = 0, bytesOut = 0, queuedBytes = 0;
  std::int64_t sinceMs = 0;  // steady, of the link or of its end
  std::string lastEnd;       // why its last link ended, and why there is no way through others
  bool wanted = false;       // this device keeps a link with it, or looks for one
};

class PeerManager {
 public:
  struct Events {
    std::function<void(const std::string& device)> connected;
    std::function<void(const std::string& device)> disconnected;
    std::function<void(const std::string& device, std::string_view frame)> received;
    std::function<void(const std::string& device)> room;  // its queue has drained
    std::function<void()> rosterChanged;
    // Something that an operator must know of a device; `kind`: of an incident.
    std::function<void(const std::string& kind, const std::string& device, const std::string& what)> alarm;
    // Those of the kind about the device are over.
    std::function<void(const std::string& kind, const std::string& device)> over = [](const auto&, const auto&) {};
    // A member asked for something that it has asked for, or may not have. It may be empty.
    std::function<void(const std::string& device)> askedInVain{};
    std::function<Time()> wall;
    std::function<std::int64_t()> steadyMs;
  };
  struct Options {
    std::string device;  // this one
    std::vector<std::string> dial;
    bool carry = true;                                       // links of others
    std::int64_t heartbeatMs = 5'000, deadAfterMs = 20'000;  // net::PeerNetworkOptions
    std::int64_t joinMs = 10'000;                            // a link of a device that would like to join
    std::size_t links = kUsualLinks;                         // Mesh; 0: with every device
    // Without the admin's word for so long that no later roster is known, this device serves no other. 0: it does.
    std::int64_t rosterLeaseMs = 0;
  };

  PeerManager(net::Loop& loop, const net::TlsIdentity& identity, RosterStore& rosters, EnrolmentService& enrolment,
              Log& log, Options options, Events events);
  ~PeerManager();

  // Errors: an address that cannot be listened on. Returns the bound address.
  Result<std::string> listen(const std::string& address);
  void dialAll();
  // Whole frames. Frames that cannot be sent are lost with the link; the replicas send again over the next one.
  void send(const std::string& device, std::string frames, bool close);
  // Called after the roster changed here (by an admin's command): applies it and sends it to all peers.
  void rosterPublished();
  // Where two rosters part (EnrolmentService::unite); at the start, too: a power cut may have left both on disk.
  void unite();

  // This device's key has changed: links from now on are made with it.
  void setIdentity(const net::TlsIdentity& identity) { network_.setIdentity(identity); }

  // Devices that this one waits for now, beside those with which it keeps links anyway.
  void need(std::set<std::string, std::less<>> devices);
  // Whether links with all devices are kept.
  bool linksWithAll() const { return mesh_.full(); }
  // Whether it keeps one with this device, or looks for one.
  bool wants(std::string_view device) const { return mesh_.dials(device); }
  // Looks for links with these for a minute. ok: each is linked, or none was found within kSeekMs: then it is off, or
  // there is no way to it. Else `conflict`: ask again.
  Status seek(const std::set<std::string, std::less<>>& devices);
  static constexpr std::int64_t kSeekMs = 10'000, kSeekForMs = 60'000;

  // For drills: no link with this device, in either direction, until heal().
  void cut(const std::string& device);
  void heal(const std::string& device);
  bool isCut(const std::string& device) const { return !admission_.whyBlocked(device).empty(); }
  // The same for a while, of a device that does what no honest one does.
  void suspend(const std::string& device, const std::string& why, std::int64_t ms);

  bool connected(std::string_view device) const { return links_.of(device) != nullptr; }
  std::size_t queuedBytes(std::string_view device) const;
  std::vector<PeerStatus> status() const;
  // Whether the roster here may miss a revocation (Options::rosterLeaseMs).
  bool stale() const;
  // Which member's clock is far from this device's, in words; empty: none.
  std::string clocks() const { return clocks_.words(); }
  // Links that were refused at the handshake, since the start.
  std::uint64_t refusedLinks() const { return refused_; }
  const RelayManager& relay() const { return relay_; }
  // Ends all links, with a reason.
  void close();

 private:
  net::PeerEvents networkEvents();
  RelayManager::Hooks relayHooks();
  // Calls after so long, unless the manager is gone.
  void later(std::int64_t ms, std::function<void()> call);
  // ok: a link with it may exist, and there is no direct one.
  Status wantsRelayedLink(const std::string& device) const;
  Status admit(const net::LinkInfo& info);

  void onUp(const net::LinkInfo& info);
  void onMemberUp(const net::LinkInfo& info, const std::string& device);
  void onDown(net::LinkId id, std::string_view reason);
  // The link carries its device's traffic from now on.
  void choose(net::LinkId id);
  // Ends a link that carries traffic: handles its end here first, then tells the other end.
  void end(net::LinkId id, std::string_view reason);
  // After a chosen link ended: another way at once, the link on probation, or dials.
  void findOtherWay(const PeerLink& ended);
  void shutOff(const std::string& device, const std::string& why);
  void noticeTakeover(const PeerLink& old, const net::LinkInfo& fresh);

  bool needsProbation(const std::string& device) const;
  void startProbation(const net::LinkInfo& info, const std::string& device);
  void checkProbationLater(const std::string& device, net::LinkId id);
  void checkProbation(const std::string& device, net::LinkId id);
  void endProbation(const std::string& device, std::string_view why);
  void endQuietProbation(const std::string& device);
  void recordDirectEnd(const PeerLink& link);

  void tellMesh();
  void tellNeeds();
  void followMeshLater(std::int64_t ms);
  void followMesh();
  void dial(const RosterDevice& device);
  void dialLater(const std::string& device, std::int64_t ms);
  void apply(const DialChanges& changes);
  void seekRelay(const std::string& device);

  void onFrame(net::LinkId id, std::string_view frame);
  void onClusterFrame(PeerLink& link, std::string_view frame);
  void onRoster(const PeerLink& link, std::string_view frame);
  void onJoin(PeerLink& link, std::string_view frame);
  void onOffer(PeerLink& link, std::string_view frame);
  void onRotate(PeerLink& link, std::string_view frame);
  void sendRoster(net::LinkId id);
  void applyRoster(std::string_view from);
  void tellLeftOut();
  void saveRosterLater();
  void compareClocks(const std::string& device, const RosterGossip::Heard& heard);
  void keepLease();
  void dateChanged(std::string_view from);
  void endAll(std::string_view why, bool served);
  void limitPending(net::LinkId pending);
  void reject(net::LinkId pending, std::string_view why);

  net::Loop& loop_;
  RosterStore& rosters_;
  EnrolmentService& enrolment_;
  Log& log_;
  const Options options_;
  const Events events_;
  Admission admission_;
  PeerLinks links_;
  LinkProbation probation_;
  PendingPeers pending_;
  LinkHistory history_;
  Dialer dialer_;
  RosterGossip gossip_;
  PeerClocks clocks_;
  Mesh mesh_;
  std::set<std::string, std::less<>> needs_;
  struct Sought {
    std::int64_t sinceMs, untilMs;
  };
  std::map<std::string, Sought, std::less<>> sought_;
  std::int64_t meshDueMs_ = -1;  // when it is followed next; -1: it is not
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::uint64_t refused_ = 0;
  bool warned_ = false;              // that the lease runs out
  bool apart_ = true;                // two rosters are known that part, or were so before the start
  std::set<std::string> heardWell_;  // whose roster was not refused since then
  net::PeerNetwork network_;
  RelayManager relay_;
};

}  // namespace witan::node
