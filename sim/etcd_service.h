// EtcdService: etcd as the devices of a simulated cluster meet it: three members, of which some may be gone, and a link
// to each device that can be cut.
//
//   a minority gone   requests take longer; if the leader was among them, nothing happens until the others have chosen
//                     one, and of what it was about to do some is done and some is not: nobody is told
//   a majority gone   nothing happens until enough are back; leases wait as well
//   a link cut        what is sent waits; it comes late, or never, if the connection dies first
//   too large         what a transaction writes is more than etcd takes: refused at the door
//   a connection      ends with its device, its member, or when nothing has come through for a while; what was under
//                     way to etcd may still be done, what was under way back is lost
//
// Requests and their answers overtake each other, as on streams of their own; a watch keeps its order, and may lag.
// All chance comes from one stream of draws. The hooks outlive it.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "base/seams.h"
#include "sim/agenda.h"
#include "sim/etcd_model.h"
#include "sim/options.h"

namespace witan::sim {

class EtcdHooks {
 public:
  virtual ~EtcdHooks() = default;
  virtual bool etcdReachable(std::uint32_t device) const = 0;  // it runs and answers
  virtual void onEtcdConnected(std::uint32_t device) = 0;
  virtual void onEtcdDisconnected(std::uint32_t device) = 0;
  virtual void onEtcdAnswer(std::uint32_t device, node::EtcdAnswer answer) = 0;
  virtual void onEtcdApplied(const node::EtcdRequest& request) = 0;  // a transaction that held
  virtual void onEtcd(std::uint32_t device, std::string_view what, std::string_view detail) = 0;  // trace and probes
};

class EtcdService {
 public:
  static constexpr std::uint32_t kMembers = 3;

  // `takes`: bytes of a transaction; 0: whatever comes.
  EtcdService(const NetworkOptions& options, std::uint64_t seed, std::uint32_t devices, Agenda& agenda,
              EtcdHooks& hooks, std::size_t takes = 0);

  void send(std::uint32_t device, node::EtcdRequest request, Micros when);
  void stopped(std::uint32_t device);
  // A link that is blocked twice must be unblocked twice.
  void block(std::uint32_t device);
  void unblock(std::uint32_t device);
  // `count` members are gone; the first one by `choice`.
  void outage(std::uint64_t count, std::uint64_t choice, bool begins);
  // A step of the agenda that is etcd's.
  void step(std::uint64_t id);

  const EtcdModel& model() const { return model_; }

 private:
  struct Link {
    std::uint64_t session = 0;  // 0: not connected
    std::uint32_t member = 0;
    int blocked = 0;
    Micros blockedAt = 0;
    Micros watchArrival = 0;
    std::deque<std::uint64_t> held;  // parcels that wait for the link
    // The watch, as the server has it.
    std::uint64_t watch = 0;  // id of its request; 0: none
    node::EtcdKeys watched;
    std::uint64_t watchFrom = 0;
  };
  // What is on its way, or waits to be applied.
  struct Parcel {
    enum class Kind : std::uint8_t { tick, request, apply, answer, connected, disconnected } kind = Kind::tick;
    std::uint32_t device = 0;
    std::uint64_t session = 0;
    node::EtcdRequest request;
    node::EtcdAnswer answer;
  };

  node::EtcdAnswer apply(const node::EtcdRequest& request);
  void put(Parcel parcel, Micros when);
  void hand(Parcel& parcel);
  void atServer(Parcel& parcel);
  void answer(std::uint32_t device, std::uint64_t session, node::EtcdAnswer answer);
  void tellWatchers();
  void tick();
  void dial(std::uint32_t device);
  void kill(std::uint32_t device, std::string_view why);
  void loseLeader();
  bool hasQuorum() const;
  Micros delay();

  const NetworkOptions options_;
  SeededRandom random_;
  Agenda& agenda_;
  EtcdHooks& hooks_;
  const std::size_t takes_;
  EtcdModel model_;
  std::vector<Link> links_;
  std::map<std::uint64_t, Parcel> parcels_;
  std::uint64_t nextParcel_ = 1, nextSession_ = 1;
  int gone_[kMembers] = {0, 0, 0};
  bool leader_ = true;
  std::uint32_t leaderMember_ = 0;
  Micros electedAt_ = -1;  // when the next leader will be there; -1: no election
  Micros compactAt_ = 0;
};

}  // namespace witan::sim
