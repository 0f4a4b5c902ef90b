// TestCluster of devices with sagas, and stories of devices that were cut off and planned one run differently
// (docs/FINDINGS.md, F3), for the tests and for the broken variants. Each returns "" or what is wrong.
#pragma once

#include "saga/operation_marks.h"
#include "tests/replication/cluster.h"
#include "tests/saga/host.h"

namespace witan::saga::test {

using replication::test::Device;

// Devices with sagas, which meet as the test says.
class TestCluster {
 public:
  explicit TestCluster(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      devices_.push_back(std::make_unique<Device>(std::string(1, static_cast<char>('a' + i))));
      hosts_.push_back(std::make_unique<Host>(devices_.back()->replica(), world));
    }
  }
  std::size_t size() const { return hosts_.size(); }
  Host& host(std::size_t i) { return *hosts_[i]; }
  Device& device(std::size_t i) { return *devices_[i]; }

  void sync(std::size_t i, std::size_t j) { replication::test::sync(*devices_[i], *devices_[j]); }
  // The connection dies after some frames.
  void syncUntil(std::size_t i, std::size_t j, std::size_t frames) {
    replication::test::Link(*devices_[i], *devices_[j]).runUntilCut(frames);
  }
  void reconcile(std::size_t i) {
    ASSERT_TRUE(host(i).engine.reconcileAll(host(i).now).ok());
    ASSERT_TRUE(host(i).run());
  }
  void crash(std::size_t i) {
    hosts_[i].reset();
    devices_[i]->crash();
    hosts_[i] = std::make_unique<Host>(devices_[i]->replica(), world);
    ASSERT_TRUE(host(i).engine.load(host(i).now).ok());
  }
  // All exchange everything; then each looks at its plans and carries out what follows.
  void meetAll() {
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < i; ++j) sync(j, i);
    for (std::size_t i = 0; i < size(); ++i) reconcile(i);
  }

  // Whether all hold the same.
  bool equal() {
    for (std::size_t i = 1; i < size(); ++i)
      for (const std::string& id : device(0).replica().spaceIds()) {
        const Space* other = device(i).replica().findSpace(id);
        if (other == nullptr || other->digest() != device(0).replica().findSpace(id)->digest()) return false;
      }
    return true;
  }

  World world;  // of all of them

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

// a's plan has the smaller dot: it survives. Both were carried out, and wrote the same entity and others.
inline std::string twoPlansForOneRun() {
  TestCluster cluster(2);
  cluster.host(0).write("shared", "\"before\"");
  cluster.sync(0, 1);
  const PlanBody won =
      cluster.host(0).plan("t", {action("put", "shared", "\"of a\""), action("put", "only-a", "\"x\"")});
  const PlanBody lost = cluster.host(1).plan(
      "t", {action("put", "shared", "\"of b\""), action("put", "only-b", "\"y\""), action("call", "x")});
  if (!cluster.host(0).run() || !cluster.host(1).run()) return "a store failed";
  for (int i = 0; i < 4; ++i) cluster.meetAll();
  for (Host* host : {&cluster.host(0), &cluster.host(1)}) {
    if (host->says("shared") != "\"of a\"") return "shared says " + host->says("shared");
    if (host->says("only-a") != "\"x\"") return "the winner's effect is gone";
    if (host->says("only-b") != "-") return "the loser's effect stays";
    if (!host->aside.empty()) return "put aside: " + host->aside[0].lastError;
    for (const Intent& intent : intentsOf(won))
      if (host->recordsIn(DatabaseName::agents, compensationOperationId(intent.id())) != 0)
        return "the winner is undone";
    for (const Intent& intent : intentsOf(lost)) {
      const OperationId compensation = compensationOperationId(intent.id());
      if (host->recordsIn(DatabaseName::agents, compensation) == 0) return "an effect of the loser was not undone";
    }
    // Three operations lost; each is undone under one id on every device.
    if (host->operationsIn(DatabaseName::agents).size() != 2 + 3 + 3) return "undone under several ids";
  }
  if (!cluster.equal()) return "the stores differ";
  // The call and its compensation: receivers treat equal ids as one.
  return cluster.world.calls.size() == 2 ? "" : "called under " + std::to_string(cluster.world.calls.size()) + " ids";
}

inline PlanAction put(const std::string& key, const std::string& text) { return action("put", key, '"' + text + '"'); }

// b and c have both planned, and written, what a's plan does not want. b learns of a's plan first, and undoes; what c
// wrote comes after that.
inline std::string repeatAfterUndoing() {
  TestCluster cluster(3);
  enum { a, b, c };
  cluster.host(a).plan("t", {put("brief", "x")});
  const PlanBody lost = cluster.host(b).plan("t", {put("long", "y")});
  cluster.host(c).plan("t", {put("long", "y")});
  for (std::size_t i = 0; i < 3; ++i)
    if (!cluster.host(i).run()) return "a store failed";
  cluster.sync(a, b);
  cluster.reconcile(b);
  if (cluster.host(b).says("long") != "-") return "it was not undone";
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    if (cluster.host(i).says("long") != "-")
      return "what came after its compensation says " + cluster.host(i).says("long");
    if (cluster.host(i).says("brief") != "\"x\"") return "the winner's effect is gone";
    if (!cluster.host(i).aside.empty()) return "put aside: " + cluster.host(i).aside[0].lastError;
  }
  const OperationId first = compensationOperationId(intentsOf(lost)[0].id()), second = nextCompensation(first);
  if (cluster.host(a).recordsIn(DatabaseName::journal, first) != 1) return "the first compensation was made twice";
  if (cluster.host(a).recordsIn(DatabaseName::journal, second) == 0) return "there is no second compensation";
  return cluster.host(a).recordsIn(DatabaseName::journal, nextCompensation(second)) == 0
             ? ""
             : "there is a third compensation";
}

// Of two writes of a losing plan the second is undone elsewhere, and here the entity still shows it. The first one
// waits: to undo it now would ask a person what only this plan has written.
inline std::string undoingOnItsWay() {
  unsigned found = 0;
  for (std::size_t frames = 1; frames < 40; ++frames) {
    TestCluster cluster(3);
    enum { a, b, c };
    const PlanBody lost = cluster.host(b).plan("t", {put("long", "y"), put("long", "z")});
    if (!cluster.host(b).run()) return "a store failed";
    cluster.host(a).plan("t", {put("brief", "x")});
    if (!cluster.host(a).run()) return "a store failed";
    cluster.sync(a, c), cluster.sync(b, c);
    const OperationId one = intentsOf(lost)[0].id(), two = intentsOf(lost)[1].id();
    if (!cluster.host(b).engine.compensate(two, cluster.host(b).now).ok() || !cluster.host(b).run())
      return "the second was not undone";
    cluster.syncUntil(b, c, frames);
    if (cluster.host(c).recordsIn(DatabaseName::agents, compensationOperationId(two)) == 0) continue;
    if (cluster.host(c).recordsIn(DatabaseName::journal, compensationOperationId(two)) > 0) continue;
    ++found;
    cluster.reconcile(c);
    if (cluster.host(c).recordsIn(DatabaseName::agents, compensationOperationId(one)) != 0) return "it did not wait";
    for (int i = 0; i < 3; ++i) cluster.meetAll();
    for (std::size_t i = 0; i < 3; ++i) {
      if (cluster.host(i).says("long") != "-") return "long says " + cluster.host(i).says("long");
      if (!cluster.host(i).aside.empty()) return "put aside: " + cluster.host(i).aside[0].lastError;
    }
  }
  return found > 0 ? "" : "no cut lies between the two databases";
}

}  // namespace witan::saga::test
