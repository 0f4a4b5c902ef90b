// ClusterObserver: the moments of a run at which workloads act, faults strike and checkers look. The cluster calls its
// observers in the order in which they were added; the first failure that one reports is the run's.
#pragma once

#include <string_view>

#include "agents/host/host_effects.h"
#include "sim/cluster/seat.h"
#include "sim/plan.h"

namespace witan::sim {

struct ToolAnswer;

class ClusterObserver {
 public:
  virtual ~ClusterObserver() = default;

  // The cluster has its devices and partitions; time is 0.
  virtual void onFounded() {}
  // An event of the plan reaches its device.
  virtual void onEvent(Seat&, const Event&) {}

  // A device starts (its disks are read), stops, and is about to lose its disk or an earlier state of it.
  virtual void onStarted(Seat&) {}
  virtual void onStopped(Seat&) {}
  virtual void onDiskLost(Seat&) {}

  // A step of a device: its inbox is empty; what it did is durable; frames of it have left.
  virtual void beforeDrain(Seat&) {}
  virtual void onDurable(Seat&) {}
  virtual void onSent(Seat&) {}

  // Bytes reach a device; later it takes them out of its inbox, frame by frame.
  virtual void onLink(std::uint32_t /*device*/, std::uint32_t /*peer*/) {}
  virtual void onBytes(std::uint32_t /*device*/, std::uint32_t /*peer*/, std::string_view /*frames*/) {}
  virtual void onFrame(Seat&, std::uint32_t /*peer*/, std::string_view /*frame*/) {}

  // What a device tells its people, when it leaves it.
  virtual void onNotice(Seat&, const node::Notice&) {}

  // A transaction of etcd that held.
  virtual void onEtcdTransaction(const node::EtcdRequest&) {}

  // An agent calls a tool outside, and is about to get the answer. `name`: the operation, or run and span.
  virtual void onToolCall(Seat&, const agents::ToolCall&, const std::string& /*name*/) {}
  virtual void onToolAnswer(Seat&, const ToolAnswer&) {}
};

}  // namespace witan::sim
