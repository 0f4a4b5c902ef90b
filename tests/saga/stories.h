// Stories of two devices that were cut off and planned one run differently (docs/FINDINGS.md, F3), for the tests and
// for the broken variants. Each returns "" or what is wrong.
#pragma once

#include "saga/operation_marks.h"
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
      const OperationId compensation = compensationOperationId(intent.id());
      if (host->recordsIn(DatabaseName::agents, compensation) == 0) return "an effect of the loser was not undone";
    }
    // Three operations lost; each is undone under one id on every device.
    if (host->operationsIn(DatabaseName::agents).size() != 2 + 3 + 3) return "undone under several ids";
  }
  if (!pair.equal()) return "the stores differ";
  // The call and its compensation: receivers treat equal ids as one.
  return pair.world.calls.size() == 2 ? "" : "called under " + std::to_string(pair.world.calls.size()) + " ids";
}

// Several devices, which meet as the test says.
class Party {
 public:
  explicit Party(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      devices_.push_back(std::make_unique<Device>(std::string(1, static_cast<char>('a' + i))));
      hosts_.push_back(std::make_unique<Host>(devices_.back()->replica(), world_));
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
    hosts_[i] = std::make_unique<Host>(devices_[i]->replica(), world_);
    ASSERT_TRUE(host(i).engine.load(host(i).now).ok());
  }
  void meetAll() {
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < i; ++j) sync(j, i);
    for (std::size_t i = 0; i < size(); ++i) reconcile(i);
  }

 private:
  World world_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

inline PlanAction put(const std::string& key, const std::string& text) { return action("put", key, '"' + text + '"'); }

// b and c have both planned, and written, what a's plan does not want. b learns of a's plan first, and undoes; what c
// wrote comes after that.
inline std::string repeatAfterUndoing() {
  Party party(3);
  enum { a, b, c };
  party.host(a).plan("t", {put("brief", "x")});
  const PlanBody lost = party.host(b).plan("t", {put("long", "y")});
  party.host(c).plan("t", {put("long", "y")});
  for (std::size_t i = 0; i < 3; ++i)
    if (!party.host(i).run()) return "a store failed";
  party.sync(a, b);
  party.reconcile(b);
  if (party.host(b).says("long") != "-") return "it was not undone";
  for (int i = 0; i < 3; ++i) party.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    if (party.host(i).says("long") != "-") return "what came after its compensation says " + party.host(i).says("long");
    if (party.host(i).says("brief") != "\"x\"") return "the winner's effect is gone";
    if (!party.host(i).aside.empty()) return "put aside: " + party.host(i).aside[0].lastError;
  }
  const OperationId first = compensationOperationId(intentsOf(lost)[0].id()), second = nextCompensation(first);
  if (party.host(a).recordsIn(DatabaseName::journal, first) != 1) return "the first compensation was made twice";
  if (party.host(a).recordsIn(DatabaseName::journal, second) == 0) return "there is no second compensation";
  return party.host(a).recordsIn(DatabaseName::journal, nextCompensation(second)) == 0
             ? ""
             : "there is a third compensation";
}

}  // namespace witan::saga::test
