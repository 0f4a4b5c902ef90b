// Seat: a device in the simulated cluster, with what waits for it and what has not left it yet.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/device.h"

namespace witan::sim {

// An entry of a device's inbox.
struct Arrival {
  enum class Kind : std::uint8_t {
    connected,
    disconnected,
    frames,
    event,
    tick,
    etcdConnected,
    etcdDisconnected,
    etcdAnswer,
    tool
  } kind = Kind::tick;
  std::uint32_t peer = 0;
  std::uint64_t event = 0;  // of the plan; of a tool: its answer
  std::string frames;
  node::EtcdAnswer answer;
};

struct Seat {
  std::unique_ptr<SimDevice> device;
  std::deque<Arrival> inbox;
  bool workDue = false;
  bool releasing = false;
  node::Effects held;  // durable, not yet out
  bool retired = false;
  bool returned = false;           // retired, and switched on all the same
  std::uint32_t readmitted = 0;    // times; others take in then what only it had
  bool rolledBack = false;         // its disk is an earlier copy, and it has not started since
  bool sidecarRolledBack = false;  // once, with its disks
  std::uint64_t toolsDown = 0;     // faults that keep its tools from answering
  // --- its agents
  Micros unconfirmedSince = -1;    // no confirmation of mails stands here; -1: one does
  std::map<RunKey, Micros> begun;  // runs, when for the first time
  struct InForce {
    std::uint64_t version = 0;
    Micros since = 0;
  };
  std::vector<InForce> policies{{1, 0}};  // over payments
  // Answers to its questions by two people who did not know of each other: one approves, one denies.
  struct Split {
    OperationId operation;
    replication::Dot yes, no;
  };
  std::vector<Split> splits = {};
  std::map<OperationId, std::string> approvedAsleep = {};  // here, for agents that had been paused here
  std::set<OperationId> givesUp = {};                      // what a person has given up there, until that is durable
  std::set<OperationId> gaveUp = {};                       // all of it
  // --- its operators, and who lies to it
  bool lingers = false;                  // retired, and not switched off yet
  std::vector<std::string> seized = {};  // partitions, by an operator; until a checker takes them
  // Frames that speak of an epoch that cannot be, by whom they come from.
  std::map<std::uint32_t, std::set<std::string, std::less<>>> absurd = {};

  std::uint32_t index() const { return device->index(); }
  const std::string& name() const { return device->name(); }
  node::Replica& replica() const { return device->replica(); }
  bool running() const { return device->running(); }
  bool works() const { return running() && !device->paused; }
};

// Something that is kept for each device.
template <class T>
class PerDevice {
 public:
  T& operator[](const Seat& at) {
    while (all_.size() <= at.index()) all_.emplace_back();
    return all_[at.index()];
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::deque<T> all_;
};

}  // namespace witan::sim
