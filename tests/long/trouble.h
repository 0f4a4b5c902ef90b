// Trouble: random faults of a LongCluster, each of which ends after a while: nodes killed and frozen, lines cut,
// swallowing and slow, nodes cut off from all others, partitions handed over; with etcd members killed, and nodes that
// do not reach it. A seed makes the plan; when things happen in the processes is theirs.
//
// Of the cluster's thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/seams.h"
#include "tests/long/long_cluster.h"

namespace witan::node::test {

class Trouble {
 public:
  using Clock = std::chrono::steady_clock;

  Trouble(LongCluster& cluster, std::uint64_t seed) : cluster_(cluster), random_(seed) {}

  // Makes trouble until then; what it has begun is mended by heal().
  void run(Clock::time_point end);
  void heal();
  // By kind.
  const std::map<std::string, std::size_t>& made() const { return made_; }
  // Nodes that did not come back.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Fault {
    Clock::time_point until;
    std::vector<std::string> targets;
    std::function<void()> mend;
  };
  void begin();
  void mendDue(Clock::time_point now);
  // False: one of them has trouble already.
  bool take(std::vector<std::string> targets, std::function<void()> mend);
  std::size_t down() const;
  void stopNode(std::size_t i, bool kill);
  void cutLine(std::size_t i, std::size_t j);
  void cutOff(std::size_t i);
  void handOver();
  void stopMember(std::size_t m);
  void cutFromEtcd(std::size_t i);
  void start(std::size_t i);

  LongCluster& cluster_;
  SeededRandom random_;
  std::vector<Fault> faults_;
  std::set<std::string> troubled_;
  std::map<std::string, std::size_t> made_;
  std::vector<std::string> problems_;
};

}  // namespace witan::node::test
