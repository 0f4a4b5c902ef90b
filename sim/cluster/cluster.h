// Cluster: the simulated devices at work, the network and etcd between them, and the record of the run: history,
// digest, trace, probes, statistics and the first failure.
//
// A device takes everything in its inbox, drains its replica, and lets go of the effects when its disks are done.
// Observers (sim/cluster/observer.h) see each of these moments. Used by one run; plan, options and observers outlive
// it. Single-threaded and deterministic.
#pragma once

#include <memory>
#include <vector>

#include "sim/agenda.h"
#include "sim/cluster/observer.h"
#include "sim/cluster/seat.h"
#include "sim/cluster/tool_service.h"
#include "sim/digest.h"
#include "sim/etcd_service.h"
#include "sim/history.h"
#include "sim/network.h"
#include "sim/run.h"

namespace witan::sim {

class Cluster final : NetworkHooks, EtcdHooks {
 public:
  Cluster(const Plan& plan, const RunOptions& options);
  ~Cluster() override;

  void add(ClusterObserver& observer) { observers_.push_back(&observer); }
  // Device 0 founds the cluster and admits the others. Once, after the observers were added.
  void found();
  // Of every kind that concerns devices, the network, etcd or tools.
  void step(const Step& step);
  // The counters of the run; nothing may follow.
  RunResult finish();

  // ---- devices
  std::vector<std::unique_ptr<Seat>>& seats() { return seats_; }
  // Those that were not retired.
  std::vector<Seat*> members();
  bool isLiar(std::uint32_t device) const { return liarOf(setup_.options.cluster) == device; }
  // The member that lies. Null: none does (any more).
  Seat* liar();
  // The members that do not lie.
  std::vector<Seat*> honest();
  Seat& seat(std::uint32_t device) { return *seats_[device % seats_.size()]; }
  // Devices that were there from the beginning: what plans speak of. Later ones only join in.
  std::uint32_t founders() const { return static_cast<std::uint32_t>(plan_.options.cluster.devices); }
  std::uint32_t addSeat();
  void put(std::uint32_t device, Arrival arrival);
  void start(std::uint32_t device);
  // Stops at once. With `power`: what was not synced is lost. It starts again at `backAt`, if that is not negative.
  void switchOff(std::uint32_t device, bool power, Micros backAt);
  // The roster says from now on that it has left.
  void leaves(std::uint32_t device) { setup_.left.emplace(device, agenda_.now()); }
  // The disk is no longer what it was: writes since then, and everything that it should remember, may be gone.
  void diskLost(Seat& at, Micros since);

  // ---- the rest of the world
  const Plan& plan() const { return plan_; }
  const ClusterSetup& setup() const { return setup_; }
  const std::vector<std::unique_ptr<kernel::DomainModule>>& modules() const { return modules_; }
  // Every partition: the module of its domain, and its id.
  const std::vector<std::pair<const kernel::DomainModule*, std::string>>& partitions() const { return partitions_; }
  Agenda& agenda() { return agenda_; }
  Network& network() { return network_; }
  EtcdService* etcd() { return etcd_.get(); }  // null: the embedded mode
  // Nothing new is asked, and faults have ended.
  bool settling() const { return settling_; }
  void beginSettling() { settling_ = true; }

  // ---- the record of the run
  History& history() { return history_; }
  RollingDigest& digest() { return digest_; }
  Statistics& statistics() { return result_.statistics; }
  const std::map<std::string, std::uint64_t>& probes() const { return result_.probes; }
  void probe(std::string_view name) { ++result_.probes[std::string(name)]; }
  bool tracing() const { return static_cast<bool>(options_.trace); }
  void trace(std::uint32_t device, std::string_view category, std::string_view what, std::string_view detail = {},
             Micros lasts = 0, std::uint64_t flow = 0);
  // The first failure is the run's.
  void failed(std::string checker, std::string reason);
  bool hasFailed() const { return result_.failure.has_value(); }

 private:
  // NetworkHooks
  bool reachable(std::uint32_t device) const override;
  void onConnected(std::uint32_t device, std::uint32_t peer) override;
  void onDisconnected(std::uint32_t device, std::uint32_t peer) override;
  void onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) override;
  void onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) override;
  void onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) override;
  void onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) override;

  // EtcdHooks
  bool etcdReachable(std::uint32_t device) const override { return reachable(device); }
  void onEtcdConnected(std::uint32_t device) override;
  void onEtcdDisconnected(std::uint32_t device) override;
  void onEtcdAnswer(std::uint32_t device, node::EtcdAnswer answer) override;
  void onEtcdApplied(const node::EtcdRequest& request) override;
  void onEtcd(std::uint32_t device, std::string_view what, std::string_view detail) override;

  void startEtcd();
  void tellMembers();
  void foundPartitions();
  void scheduleWork(std::uint32_t device);
  void work(std::uint32_t device);
  void take(Seat& at, Arrival& arrival);
  void release(std::uint32_t device);
  void sendToEtcd(std::uint32_t device, std::vector<node::EtcdRequest> requests);
  void setTimer(std::uint32_t device);
  void fail(std::uint32_t device, const Error& why);

  const Plan& plan_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<kernel::DomainModule>> modules_;
  std::vector<std::pair<const kernel::DomainModule*, std::string>> partitions_;
  ClusterSetup setup_;
  Agenda agenda_;
  Network network_;
  std::unique_ptr<EtcdService> etcd_;
  ToolService tools_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<ClusterObserver*> observers_;
  History history_;
  RollingDigest digest_;
  RunResult result_;
  bool settling_ = false;
};

}  // namespace witan::sim
