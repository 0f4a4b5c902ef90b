// RunningHost: a device of this build at work: an AgentHost on a replica whose two disks are in memory and lose their
// power at any write (store::MemoryStore). Its tools are those of the toys. It keeps the history that ToyHost keeps, so
// the same laws judge it (lab/conformance/laws.h). Deterministic. The agent and the disk outlive it.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "agents/host/agent_host.h"
#include "lab/conformance/toy.h"
#include "replication/local_replica.h"
#include "store/memory_store.h"

namespace witan::agents::conformance {

class RunningHost {
 public:
  // `worldSeed`: what tools and people answer. `honours`: the tools know an operation that they have carried out.
  RunningHost(std::string device, const Agent& agent, const episode::Gate& gate, std::uint64_t worldSeed, ToyDisk& disk,
              bool honours = true);
  ~RunningHost();

  // At first, and again after the power went. Errors: of the stores.
  Status open();
  // A person says something to the agent.
  Status turn(std::uint64_t number);
  // A graph wakes the agent for this span, at a node with this grant.
  Status activate(const std::string& span, const episode::Grant& grant);
  // One round, as Replica::drain has it, and the answers of tools and people.
  Status round();
  // Until nothing is left to do here for an hour. Errors: of the stores; the power is gone.
  Status settle();
  // The disks come back with what was synced; open() goes on.
  void powerBack();
  // New, empty disks.
  void wipe();
  // What each has to tell the other, until both are silent.
  static Status meet(RunningHost& a, RunningHost& b, bool live);

  const std::string& device() const { return device_; }
  AgentHost& host() { return *host_; }
  replication::LocalReplica& replica() { return *replica_; }
  replication::Space& space(replication::DatabaseName database) { return **replica_->database(database).space("main"); }
  store::MemoryStore& disk(replication::DatabaseName database) {
    return database == replication::DatabaseName::journal ? *journal_ : *agents_;
  }
  Now now() const { return {Time{ms_ * 1000}, ms_}; }
  void later(std::int64_t ms) { ms_ += ms; }

 private:
  Status note();
  Status answer(const ToolCall& call);
  Status answerPeople();

  const std::string device_;
  const Agent& agent_;
  const episode::Gate& gate_;
  const std::uint64_t worldSeed_;
  const bool honours_;
  ToyDisk& history_;
  std::unique_ptr<store::MemoryStore> journal_ = std::make_unique<store::MemoryStore>();
  std::unique_ptr<store::MemoryStore> agents_ = std::make_unique<store::MemoryStore>();
  std::unique_ptr<replication::LocalReplica> replica_;
  std::unique_ptr<AgentHost> host_;
  std::uint32_t tag_ = 1;
  std::uint64_t calls_ = 0;
  std::set<std::string> planned_;  // runs whose plans were seen on the disk
  std::int64_t ms_ = 1'774'252'800'000;
};

// One life of a toy that a person speaks to. `deathAt`: the write of that disk before or after which the power goes;
// `died`: whether it came to that.
struct Death {
  replication::DatabaseName database = replication::DatabaseName::agents;
  std::uint64_t step = 0;
  store::Moment moment = store::Moment::before;
};
Status liveThrough(RunningHost& host, std::uint64_t number, const Death* death, bool& died);

}  // namespace witan::agents::conformance
