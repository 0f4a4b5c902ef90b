// Stories of two devices that were cut off and planned one run differently (docs/FINDINGS.md, F3), for the tests and
// for the broken variants. Each returns "" or what is wrong.
#pragma once

#include "tests/replication/cluster.h"
#include "tests/saga/host.h"

namespace witan::saga::test {

using replication::test::Device;

struct Pair {
  Device a{"a"}, b{"b"};
  World world;
  std::unique_ptr<Host> onA = std::make_unique<Host>(a.replica(), world);
  std::unique_ptr<Host> onB = std::make_unique<Host>(b.replica(), world);

  // One exchange, then both look at their plans and carry out what follows.
  void meet() {
    replication::test::sync(a, b);
    for (Host* host : {onA.get(), onB.get()}) {
      EXPECT_TRUE(host->engine.reconcileAll(host->now).ok());
      EXPECT_TRUE(host->run());
    }
  }
  bool equal() {
    for (const std::string& id : a.replica().spaceIds())
      if (b.replica().findSpace(id) == nullptr ||
          a.replica().findSpace(id)->digest() != b.replica().findSpace(id)->digest())
        return false;
    return true;
  }
};

// a's plan has the smaller dot: it survives. Both were carried out, and wrote the same entity and others.
inline std::string twoPlansForOneRun() {
  Pair pair;
  pair.onA->write("shared", "\"before\"");
  replication::test::sync(pair.a, pair.b);
  const PlanBody won = pair.onA->plan("t", {action("put", "shared", "\"of a\""), action("put", "only-a", "\"x\"")});
  const PlanBody lost =
      pair.onB->plan("t", {action("put", "shared", "\"of b\""), action("put", "only-b", "\"y\""), action("call", "x")});
  if (!pair.onA->run() || !pair.onB->run()) return "a store failed";
  for (int i = 0; i < 4; ++i) pair.meet();
  for (Host* host : {pair.onA.get(), pair.onB.get()}) {
    if (host->says("shared") != "\"of a\"") return "shared says " + host->says("shared");
    if (host->says("only-a") != "\"x\"") return "the winner's effect is gone";
    if (host->says("only-b") != "-") return "the loser's effect stays";
    if (!host->aside.empty()) return "put aside: " + host->aside[0].lastError;
    for (const Intent& intent : intentsOf(won))
      if (host->recordsIn(DatabaseName::agents, compensationOperationId(intent.id())) != 0)
        return "the winner is undone";
    for (const Intent& intent : intentsOf(lost)) {
      const OperationId undoing = compensationOperationId(intent.id());
      if (host->recordsIn(DatabaseName::agents, undoing) == 0) return "an effect of the loser was not undone";
    }
    // Three operations lost; each is undone under one id on every device.
    if (host->operationsIn(DatabaseName::agents).size() != 2 + 3 + 3) return "undone under several ids";
  }
  if (!pair.equal()) return "the stores differ";
  // The call and its undoing: receivers treat equal ids as one.
  return pair.world.calls.size() == 2 ? "" : "called under " + std::to_string(pair.world.calls.size()) + " ids";
}

}  // namespace witan::saga::test
