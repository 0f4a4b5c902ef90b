// The engine of owners by etcd against the model of etcd, message by message: what is lost, late or unknown is chosen
// by the test.
#include "replica/ownership/etcd_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "sim/etcd_model.h"

namespace witan::sim::etcd_engine_test {
namespace {

using namespace node;

const std::string kPartition = "udt/0";
const std::string kOwner = "witan/c/owner/udt/0";
const EtcdKeys kLog{"witan/c/log/udt/0/", "witan/c/log/udt/00"};

// One device: its copy of one partition, and its engine.
class Device final : EtcdCopies {
 public:
  Device(EtcdModel& etcd, const std::string& name, EtcdOptions options = {})
      : etcd_(etcd), engine(options, "c", name + "@00000001", name, {kPartition}, *this) {}

  // Carries everything to etcd and back, time after time, until nothing is said any more. `drop` takes what is not to
  // arrive.
  void talk(std::int64_t nowMs, const std::function<bool(const EtcdRequest&)>& drop = {}) {
    if (!connected_) engine.connected(nowMs);
    connected_ = true;
    engine.tick(nowMs);
    for (bool more = true; more;) {
      more = false;
      for (EtcdRequest& request : engine.take(nowMs)) {
        more = true;
        if (drop && drop(request)) continue;
        if (request.call == EtcdCall::watch)
          watch_ = request;
        else
          engine.received(etcd_.apply(request, nowMs * 1000), nowMs);
      }
      more = tellWatch(nowMs) || more;
      if (granted) granted = false, commit("epoch of " + std::to_string(log.size()), nowMs), more = true;
    }
  }
  void commit(const std::string& value, std::int64_t nowMs) {
    std::size_t n = log.size();
    for (const std::string& before : pending) n += before.empty() ? 0 : 1;
    pending.push_back(value);
    engine.commit(kPartition, n, value, nowMs);
  }
  void breakConnection() {
    engine.disconnected();
    connected_ = false;
    watch_ = {};
  }
  bool serves() const { return engine.serves(kPartition); }

 private:
  std::uint64_t batches(const std::string&) const override { return log.size(); }
  std::uint64_t durableBatches(const std::string&) const override { return log.size(); }
  bool follow(const std::string&, const std::string& value) override {
    log.push_back(value);
    return true;
  }
  void onGranted(const std::string&) override { granted = true; }
  void onCommitted(const std::string&) override {
    if (!pending.front().empty()) log.push_back(pending.front());
    pending.pop_front();
    ++committed;
  }
  void onLost(const std::string&, bool discard) override {
    (discard ? discarded : lost)++;
    pending.clear();
  }
  void onTooLarge(const std::string&, std::size_t bytes) override {
    tooLarge.push_back(bytes);
    pending.clear();
  }

  bool tellWatch(std::int64_t nowMs) {
    if (watch_.id == 0 || watch_.from > etcd_.revision()) return false;
    EtcdAnswer answer;
    answer.id = watch_.id;
    answer.revision = etcd_.revision();
    auto changes = etcd_.changes(watch_.keys, watch_.from);
    if (changes)
      answer.changes = *changes;
    else
      answer.error = EtcdError::compacted;
    watch_.from = etcd_.revision() + 1;
    if (!changes) watch_ = {};
    engine.received(answer, nowMs);
    return true;
  }

  EtcdModel& etcd_;
  EtcdRequest watch_;
  bool connected_ = false;

 public:
  std::vector<std::string> log;
  std::deque<std::string> pending;
  std::vector<std::size_t> tooLarge;
  bool granted = false;
  int committed = 0, discarded = 0, lost = 0;
  EtcdEngine engine;
};

std::vector<std::string> logIn(const EtcdModel& etcd) {
  std::vector<std::string> values;
  for (const EtcdKeyValue& batch : etcd.range(kLog)) values.push_back(batch.value);
  return values;
}

bool puts(const EtcdRequest& request, const std::string& value) {
  return request.call == EtcdCall::txn && !request.then.empty() && request.then[0].value == value;
}

// Talks every second.
void pass(std::vector<Device*> devices, EtcdModel& etcd, std::int64_t fromMs, std::int64_t toMs) {
  for (std::int64_t ms = fromMs; ms <= toMs; ms += 1'000) {
    etcd.expire(ms * 1000);
    for (Device* device : devices) device->talk(ms);
  }
}

TEST(EtcdEngine, OneOfThoseWhoTryServesAndTheOthersFollow) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a, &b}, etcd, 0, 5'000);
  ASSERT_NE(a.serves(), b.serves());
  Device& owner = a.serves() ? a : b;
  owner.commit("one", 6'000);
  pass({&a, &b}, etcd, 6'000, 7'000);
  EXPECT_EQ(a.log, (std::vector<std::string>{"epoch of 0", "one"}));
  EXPECT_EQ(b.log, a.log);
  EXPECT_EQ(logIn(etcd), a.log);
  pass({&a, &b}, etcd, 8'000, 100'000);
  EXPECT_TRUE(owner.serves()) << "it keeps its lease alive";
}

TEST(EtcdEngine, AnOutcomeThatWasLostIsAskedForAgain) {
  EtcdModel etcd;
  Device a(etcd, "a");
  pass({&a}, etcd, 0, 5'000);
  ASSERT_TRUE(a.serves());
  // Done, but nobody said so.
  a.commit("one", 6'000);
  a.talk(6'000, [&](const EtcdRequest& request) {
    if (puts(request, "one")) (void)etcd.apply(request, 6'000'000);
    return puts(request, "one");
  });
  EXPECT_EQ(a.committed, 1) << "the epoch alone";
  EXPECT_EQ(a.engine.committing(kPartition), 1u);
  pass({&a}, etcd, 7'000, 9'000);
  EXPECT_EQ(a.committed, 2);
  EXPECT_EQ(a.engine.counters().foundCommitted, 1u);
  // Not done: the request was lost.
  a.commit("two", 10'000);
  a.talk(10'000, [](const EtcdRequest& request) { return puts(request, "two"); });
  a.breakConnection();
  pass({&a}, etcd, 11'000, 13'000);
  EXPECT_EQ(logIn(etcd), (std::vector<std::string>{"epoch of 0", "one", "two"}));
  EXPECT_EQ(a.committed, 3);
  EXPECT_TRUE(a.serves());
}

TEST(EtcdEngine, AnOwnerWhoseLeaseRanOutCommitsNothingMore) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a}, etcd, 0, 5'000);
  ASSERT_TRUE(a.serves());
  pass({&b}, etcd, 6'000, 30'000);  // a is frozen
  ASSERT_TRUE(b.serves());
  EXPECT_TRUE(a.serves()) << "it does not know better yet";
  a.commit("zombie", 31'000);
  a.talk(31'000);
  EXPECT_EQ(a.discarded, 1);
  EXPECT_FALSE(a.serves());
  EXPECT_EQ(logIn(etcd), (std::vector<std::string>{"epoch of 0", "epoch of 1"}));
  pass({&a, &b}, etcd, 32'000, 34'000);
  EXPECT_EQ(a.log, b.log);
}

TEST(EtcdEngine, ARequestOfAFormerOwnerThatArrivesLateDoesNothing) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a}, etcd, 0, 5'000);
  std::vector<EtcdRequest> onItsWay;
  a.commit("late", 6'000);
  a.talk(6'000, [&](const EtcdRequest& request) {
    if (puts(request, "late")) onItsWay.push_back(request);
    return puts(request, "late");
  });
  ASSERT_EQ(onItsWay.size(), 1u);
  // Whoever is free to try, before the new owner's epoch: the token does not fit any more.
  etcd.expire(60'000'000);
  EXPECT_FALSE(etcd.apply(onItsWay[0], 60'000'000).succeeded);
  pass({&b}, etcd, 61'000, 64'000);
  ASSERT_TRUE(b.serves());
  EXPECT_FALSE(etcd.apply(onItsWay[0], 65'000'000).succeeded);
  a.talk(66'000);
  EXPECT_EQ(a.discarded, 1);
  EXPECT_EQ(logIn(etcd), b.log);
}

// What only reads the owner's state is as old as the state: it waits for the same comparison.
TEST(EtcdEngine, AnAnswerWithoutABatchNeedsTheKeyAsWell) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a}, etcd, 0, 5'000);
  a.commit("", 6'000);
  a.talk(6'000);
  EXPECT_EQ(a.committed, 2);
  EXPECT_EQ(logIn(etcd).size(), 1u);
  pass({&b}, etcd, 7'000, 30'000);
  ASSERT_TRUE(b.serves());
  a.commit("", 31'000);
  a.talk(31'000);
  EXPECT_EQ(a.committed, 2);
  EXPECT_EQ(a.discarded, 1);
}

TEST(EtcdEngine, ANewOwnerReadsTheLogToItsEndFirst) {
  EtcdModel etcd;
  Device a(etcd, "a");
  pass({&a}, etcd, 0, 5'000);
  for (int i = 0; i < 200; ++i) a.commit("batch " + std::to_string(i), 6'000), a.talk(6'000);
  Device b(etcd, "b");
  pass({&b}, etcd, 20'000, 25'000);
  ASSERT_TRUE(b.serves());
  EXPECT_EQ(b.log.size(), 202u);
  EXPECT_EQ(b.log.back(), "epoch of 201");
  EXPECT_EQ(logIn(etcd), b.log);
}

TEST(EtcdEngine, WhatEnoughDevicesHoldIsTrimmedAndAReplicaThatLacksItLeavesThePartitionToOthers) {
  EtcdModel etcd;
  Device a(etcd, "a", {.keepBatches = 8}), b(etcd, "b", {.keepBatches = 8});
  pass({&a, &b}, etcd, 0, 5'000);
  Device& owner = a.serves() ? a : b;
  Device& other = a.serves() ? b : a;
  ASSERT_TRUE(owner.serves());
  for (int i = 0; i < 100; ++i) owner.commit("batch " + std::to_string(i), 6'000), owner.talk(6'000);
  other.talk(6'000);
  pass({&a, &b}, etcd, 7'000, 40'000);
  EXPECT_EQ(logIn(etcd).size(), 8u);
  const std::vector<std::string> whole = owner.log;

  Device fresh(etcd, "c");  // both others are gone
  pass({&fresh}, etcd, 41'000, 90'000);
  EXPECT_FALSE(fresh.serves());
  EXPECT_TRUE(fresh.engine.needsPeers(kPartition));
  EXPECT_TRUE(etcd.range({kOwner, ""}).empty() || etcd.range({kOwner, ""})[0].value.starts_with("c@"));
  fresh.log = whole;  // a peer gave it
  pass({&fresh}, etcd, 91'000, 110'000);
  EXPECT_FALSE(fresh.engine.needsPeers(kPartition));
  EXPECT_TRUE(fresh.serves());
}

TEST(EtcdEngine, ACampaignWhoseAnswerWasLostIsFoundAndWhatAFormerLifeHeldIsGivenBack) {
  EtcdModel etcd;
  Device a(etcd, "a");
  bool lostOne = false;
  for (std::int64_t ms = 0; ms <= 10'000; ms += 1'000)
    a.talk(ms, [&](const EtcdRequest& request) {
      if (lostOne || !puts(request, "a@00000001")) return false;
      (void)etcd.apply(request, ms * 1000);
      return lostOne = true;
    });
  EXPECT_TRUE(lostOne);
  EXPECT_TRUE(a.serves());
  const std::uint64_t token = etcd.range({kOwner, ""}).at(0).created;
  Device again(etcd, "a");  // the same device after a crash, within its lease
  again.log = a.log;
  pass({&again}, etcd, 11'000, 15'000);
  EXPECT_TRUE(again.serves());
  EXPECT_GT(etcd.range({kOwner, ""}).at(0).created, token);
}

TEST(EtcdEngine, AWatchThatIsCompactedAwayBeginsAnew) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a, &b}, etcd, 0, 5'000);
  Device& owner = a.serves() ? a : b;
  Device& other = a.serves() ? b : a;
  for (int i = 0; i < 10; ++i) owner.commit("batch " + std::to_string(i), 6'000), owner.talk(6'000);
  etcd.compact(etcd.revision());
  other.talk(7'000);
  EXPECT_EQ(other.engine.counters().compacted, 1u);
  other.talk(8'000);
  EXPECT_EQ(other.log, owner.log);
}

// --- several batches under way

// Commits these values at once and hands out the requests that carry them, by value.
std::map<std::string, EtcdRequest> underWay(Device& device, const std::vector<std::string>& values,
                                            std::int64_t nowMs) {
  std::map<std::string, EtcdRequest> requests;
  for (const std::string& value : values) device.commit(value, nowMs);
  device.talk(nowMs, [&](const EtcdRequest& request) {
    for (const std::string& value : values)
      if (puts(request, value)) return requests.emplace(value, request).second;
    return false;
  });
  return requests;
}

TEST(EtcdEngine, BatchesUnderWayKeepTheirOrderWhicheverArrivesFirst) {
  std::vector<std::string> order{"1", "2", "3"};
  do {
    EtcdModel etcd;
    Device a(etcd, "a");
    pass({&a}, etcd, 0, 5'000);
    auto requests = underWay(a, {"1", "2", "3"}, 6'000);
    ASSERT_EQ(requests.size(), 3u) << "all three are under way";
    for (const std::string& value : order) {
      a.engine.received(etcd.apply(requests[value], 6'001'000), 6'001);
      EXPECT_EQ(a.log, logIn(etcd));
    }
    a.talk(6'002);
    EXPECT_EQ(a.log, (std::vector<std::string>{"epoch of 0", "1", "2", "3"}));
    EXPECT_EQ(logIn(etcd), a.log);
    EXPECT_EQ(a.engine.counters().discarded, 0u);
    EXPECT_EQ(a.engine.counters().outOfOrder > 0, order.front() != "1" || order[1] != "2");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(EtcdEngine, ABatchThatIsThereShowsThatThoseBeforeItAre) {
  EtcdModel etcd;
  Device a(etcd, "a");
  pass({&a}, etcd, 0, 5'000);
  auto requests = underWay(a, {"1", "2"}, 6'000);
  (void)etcd.apply(requests["1"], 6'001'000);  // its answer is lost
  a.engine.received(etcd.apply(requests["2"], 6'001'000), 6'001);
  EXPECT_EQ(a.log, (std::vector<std::string>{"epoch of 0", "1", "2"}));
  EXPECT_EQ(a.engine.counters().askedAgain, 0u);
}

TEST(EtcdEngine, WhatFollowsALostRequestWaitsForIt) {
  EtcdModel etcd;
  Device a(etcd, "a");
  pass({&a}, etcd, 0, 5'000);
  auto requests = underWay(a, {"1", "2", "3"}, 6'000);
  for (const char* value : {"2", "3"}) a.engine.received(etcd.apply(requests[value], 6'001'000), 6'001);
  EXPECT_TRUE(a.engine.take(6'002).empty()) << "they cannot be put before the first";
  EXPECT_EQ(a.engine.committing(kPartition), 3u);
  a.talk(8'000);  // the first counts as unanswered
  EXPECT_EQ(a.log, (std::vector<std::string>{"epoch of 0", "1", "2", "3"}));
  EXPECT_EQ(logIn(etcd), a.log);
  EXPECT_FALSE(etcd.apply(requests["1"], 9'000'000).succeeded) << "and comes too late";
}

TEST(EtcdEngine, AnOwnerThatIsReplacedAmongItsBatchesLosesTheLaterOnesAlone) {
  EtcdModel etcd;
  Device a(etcd, "a"), b(etcd, "b");
  pass({&a}, etcd, 0, 5'000);
  auto requests = underWay(a, {"1", "2", "3"}, 6'000);
  (void)etcd.apply(requests["1"], 6'001'000);  // its answer is lost
  pass({&b}, etcd, 7'000, 30'000);             // a is frozen
  ASSERT_TRUE(b.serves());
  EXPECT_EQ(b.log, (std::vector<std::string>{"epoch of 0", "1", "epoch of 2"}));
  for (const char* value : {"3", "2"}) a.engine.received(etcd.apply(requests[value], 31'000'000), 31'000);
  EXPECT_EQ(a.discarded, 0) << "the first may be there";
  EXPECT_FALSE(a.serves());
  a.talk(32'000);
  EXPECT_EQ(a.committed, 2) << "its epoch and the first";
  EXPECT_EQ(a.discarded, 1);
  EXPECT_EQ(a.engine.counters().discarded, 2u) << "late writes that were refused";
  EXPECT_EQ(logIn(etcd), b.log);
  pass({&a, &b}, etcd, 33'000, 35'000);
  EXPECT_EQ(a.log, b.log);
}

TEST(EtcdEngine, ABatchThatEtcdDoesNotTakeGoesAndThePartitionStays) {
  EtcdModel etcd;
  Device a(etcd, "a");
  pass({&a}, etcd, 0, 5'000);
  auto requests = underWay(a, {"1", "too large", "3"}, 6'000);
  EtcdAnswer no;
  no.id = requests["too large"].id;
  no.error = EtcdError::tooLarge;
  a.engine.received(no, 6'001);
  EXPECT_FALSE(a.serves()) << "what follows it cannot be committed";
  EXPECT_TRUE(a.tooLarge.empty()) << "the one before it is under way";
  a.engine.received(etcd.apply(requests["1"], 6'001'000), 6'001);
  EXPECT_EQ(a.tooLarge, (std::vector<std::size_t>{9}));
  EXPECT_FALSE(a.serves()) << "what was sent behind it may come to etcd yet: this token is not used again";
  pass({&a}, etcd, 7'000, 20'000);
  ASSERT_TRUE(a.serves()) << "under another token";
  EXPECT_FALSE(etcd.apply(requests["3"], 20'500'000).succeeded) << "what it was decided on is not there";
  a.commit("smaller", 21'000);
  a.talk(21'000);
  EXPECT_FALSE(etcd.apply(requests["3"], 21'000'000).succeeded) << "it was decided on top of what was discarded";
  EXPECT_EQ(logIn(etcd), (std::vector<std::string>{"epoch of 0", "1", "epoch of 2", "smaller"}));
  EXPECT_EQ(a.log, logIn(etcd));
}

// --- several partitions

class ManyPartitions final : EtcdCopies {
 public:
  explicit ManyPartitions(EtcdModel& etcd) : engine({}, "c", "a@00000001", "a", {"udt/0", "udt/1"}, *this) {
    engine.connected(0);
    for (std::int64_t ms = 0; ms < 5'000; ms += 1'000) {
      engine.tick(ms);
      for (bool more = true; more;) {
        const auto requests = engine.take(ms);
        more = !requests.empty();
        for (const EtcdRequest& request : requests)
          if (request.call != EtcdCall::watch) engine.received(etcd.apply(request, ms * 1000), ms);
        for (const std::string& id : std::exchange(granted, {})) commit(id, "epoch", ms), more = true;
      }
    }
  }
  void commit(const std::string& id, const std::string& value, std::int64_t nowMs) {
    engine.commit(id, logs[id].size() + pending[id].size(), value, nowMs);
    pending[id].push_back(value);
  }

  std::map<std::string, std::vector<std::string>> logs;
  std::map<std::string, std::deque<std::string>> pending;
  std::vector<std::string> granted, lost;
  EtcdEngine engine;

 private:
  std::uint64_t batches(const std::string& id) const override {
    const auto at = logs.find(id);
    return at == logs.end() ? 0 : at->second.size();
  }
  std::uint64_t durableBatches(const std::string& id) const override { return batches(id); }
  bool follow(const std::string&, const std::string&) override { return false; }
  void onGranted(const std::string& id) override { granted.push_back(id); }
  void onCommitted(const std::string& id) override {
    logs[id].push_back(pending[id].front());
    pending[id].pop_front();
  }
  void onLost(const std::string& id, bool) override { lost.push_back(id); }
  void onTooLarge(const std::string&, std::size_t) override {}
};

TEST(EtcdEngine, BatchesOfSeveralPartitionsShareATransactionAndOneThatIsRefusedDoesNotHoldUpTheOthers) {
  EtcdModel etcd;
  ManyPartitions a(etcd);
  ASSERT_TRUE(a.engine.serves("udt/0") && a.engine.serves("udt/1"));
  for (const char* id : {"udt/0", "udt/1"}) a.commit(id, "1", 6'000);
  auto requests = a.engine.take(6'000);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].then.size(), 2u);
  a.engine.received(etcd.apply(requests[0], 6'000'000), 6'000);
  EXPECT_EQ(a.logs["udt/0"], a.logs["udt/1"]);
  // Somebody takes one of them away.
  EtcdRequest away;
  away.then = {{EtcdAct::remove, {kOwner, ""}, "", 0, 0}};
  (void)etcd.apply(away, 6'000'000);
  for (const char* id : {"udt/0", "udt/1"}) a.commit(id, "2", 7'000);
  for (int round = 0; round < 2; ++round)
    for (const EtcdRequest& request : a.engine.take(7'000)) a.engine.received(etcd.apply(request, 7'000'000), 7'000);
  EXPECT_EQ(a.lost, (std::vector<std::string>{"udt/0"}));
  EXPECT_EQ(a.logs["udt/1"], (std::vector<std::string>{"epoch", "1", "2"}));
  EXPECT_EQ(a.logs["udt/0"], (std::vector<std::string>{"epoch", "1"}));
}

}  // namespace
}  // namespace witan::sim::etcd_engine_test
