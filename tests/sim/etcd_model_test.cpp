// The model of etcd against etcd's contract, and the service in front of it: what may be lost, and what may not.
#include "sim/etcd_model.h"

#include <gtest/gtest.h>

#include <deque>

#include "sim/etcd_service.h"
#include "sim/network.h"

namespace witan::sim::etcd_model_test {
namespace {

using namespace node;

EtcdOp put(std::string key, std::string value, std::uint64_t lease = 0) {
  return {EtcdAct::put, {std::move(key), ""}, std::move(value), lease, 0};
}
EtcdOp range(std::string key, std::string end = {}, std::size_t limit = 0) {
  return {EtcdAct::range, {std::move(key), std::move(end)}, "", 0, limit};
}
EtcdOp removal(std::string key, std::string end = {}) { return {EtcdAct::remove, {std::move(key), std::move(end)}}; }

EtcdRequest txn(std::vector<EtcdCompare> compares, std::vector<EtcdOp> then, std::vector<EtcdOp> otherwise = {}) {
  EtcdRequest request;
  request.compares = std::move(compares);
  request.then = std::move(then);
  request.otherwise = std::move(otherwise);
  return request;
}
EtcdRequest grant(std::int64_t ttlMs) {
  EtcdRequest request;
  request.call = EtcdCall::grant;
  request.ttlMs = ttlMs;
  return request;
}
EtcdRequest keepAlive(std::uint64_t lease) {
  EtcdRequest request;
  request.call = EtcdCall::keepAlive;
  request.lease = lease;
  return request;
}

TEST(EtcdModel, ATransactionComparesAndActsAtOneRevision) {
  EtcdModel etcd;
  const EtcdAnswer first = etcd.apply(txn({{"a", 0}}, {put("a", "1"), put("b", "2")}), 0);
  EXPECT_TRUE(first.succeeded);
  EXPECT_EQ(first.revision, 2u);
  const EtcdAnswer second = etcd.apply(txn({{"a", 0}}, {put("a", "3")}, {range("a", "z")}), 0);
  EXPECT_FALSE(second.succeeded);
  EXPECT_EQ(second.revision, 2u) << "a transaction that only reads makes no revision";
  ASSERT_EQ(second.results.at(0).size(), 2u);
  EXPECT_EQ(second.results[0][0], (EtcdKeyValue{"a", "1", 2, 2, 0}));
}

TEST(EtcdModel, AKeyThatComesBackHasAnotherCreateRevision) {
  EtcdModel etcd;
  etcd.apply(txn({}, {put("a", "1")}), 0);
  etcd.apply(txn({}, {put("a", "2")}), 0);
  EXPECT_EQ(etcd.range({"a", ""}).at(0), (EtcdKeyValue{"a", "2", 2, 3, 0})) << "overwriting keeps it";
  etcd.apply(txn({}, {removal("a")}), 0);
  etcd.apply(txn({}, {put("a", "2")}), 0);
  EXPECT_EQ(etcd.range({"a", ""}).at(0).created, 5u);
  EXPECT_FALSE(etcd.apply(txn({{"a", 2}}, {put("b", "fenced")}), 0).succeeded);
}

TEST(EtcdModel, ALeaseLivesAtLeastItsTime) {
  EtcdModel etcd;
  const std::uint64_t lease = etcd.apply(grant(10'000), 0).lease;
  etcd.apply(txn({}, {put("a", "1", lease), put("b", "2", lease), put("c", "3")}), 0);
  etcd.expire(10 * kSecond);
  EXPECT_EQ(etcd.range({"a", "z"}).size(), 3u);
  EXPECT_EQ(etcd.apply(keepAlive(lease), 10 * kSecond).error, EtcdError::none);
  etcd.expire(20 * kSecond);
  EXPECT_EQ(etcd.range({"a", "z"}).size(), 3u);
  const std::uint64_t before = etcd.revision();
  etcd.expire(20 * kSecond + 1);
  EXPECT_EQ(etcd.range({"a", "z"}).size(), 1u);
  EXPECT_EQ(etcd.revision(), before + 1) << "its keys go together";
  EXPECT_EQ(etcd.apply(keepAlive(lease), 20 * kSecond).error, EtcdError::noLease);
  const EtcdAnswer late = etcd.apply(txn({}, {put("d", "4"), put("a", "1", lease)}), 20 * kSecond);
  EXPECT_EQ(late.error, EtcdError::noLease);
  EXPECT_FALSE(late.succeeded);
  EXPECT_TRUE(etcd.range({"d", ""}).empty()) << "nothing of it happened";
}

TEST(EtcdModel, AWatchSeesEveryChangeFromARevisionOnUnlessItIsCompacted) {
  EtcdModel etcd;
  etcd.apply(txn({}, {put("log/1", "x"), put("other", "y")}), 0);
  etcd.apply(txn({}, {put("log/2", "x")}), 0);
  etcd.apply(txn({}, {removal("log/", "log0")}), 0);
  const EtcdKeys log{"log/", etcdPrefixEnd("log/")};
  const auto all = etcd.changes(log, 2);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4u);
  EXPECT_TRUE(all->at(3).removed);
  EXPECT_EQ(all->at(3).at.modified, 4u);
  EXPECT_EQ(etcd.changes(log, 4)->size(), 2u);
  EXPECT_TRUE(etcd.changes(log, 5)->empty());
  etcd.compact(3);
  EXPECT_FALSE(etcd.changes(log, 3));
  EXPECT_EQ(etcd.changes(log, 4)->size(), 2u);
}

// The checker's eye on a log: its batches follow one another, from the first one that was not trimmed.
TEST(EtcdModel, AGapInALogIsSeen) {
  EtcdModel etcd;
  const std::string log = "witan/c/log/budget/0/", n9 = log + "0000000000000009", nA = log + "000000000000000a";
  etcd.apply(txn({}, {put(log + "0000000000000000", "x"), put(nA, "x")}), 0);
  EXPECT_EQ(gapBefore(etcd, log + "0000000000000000"), "");
  EXPECT_EQ(gapBefore(etcd, log + "0000000000000001"), "");
  EXPECT_EQ(gapBefore(etcd, nA), "etcd has batch 10 of budget/0, and the one before it is not there");
  EXPECT_EQ(gapBefore(etcd, "witan/c/owner/budget/0"), "");
  EXPECT_EQ(gapBefore(etcd, "witan/c/held/budget/0/device-3"), "");
  etcd.apply(txn({}, {put(n9, "x")}), 0);
  EXPECT_EQ(gapBefore(etcd, nA), "");
  EXPECT_NE(gapBefore(etcd, n9), "");
  etcd.apply(txn({}, {put("witan/c/trim/budget/0", "9")}), 0);
  EXPECT_EQ(gapBefore(etcd, n9), "") << "those before it were let go of";
}

TEST(EtcdModel, WhatTooFewDisksHoldIsNotLetGoOf) {
  std::string asked;
  const auto wrong = [&](const EtcdOp& op, std::vector<std::uint64_t> disks) {
    return letsGoTooEarly(op, 2, [&](const std::string& partition) {
      asked = partition;
      return disks;
    });
  };
  const EtcdOp trim = put("witan/c/trim/budget/0", "9");
  EXPECT_EQ(wrong(trim, {9, 4, 12}), "");
  EXPECT_EQ(asked, "budget/0");
  EXPECT_EQ(wrong(trim, {8, 4, 12}),
            "etcd lets go of the batches of budget/0 below 9, which 1 of the disks hold, and 2 must");
  EXPECT_NE(wrong(trim, {}), "");
  EXPECT_EQ(wrong(put("witan/c/held/budget/0/device-3", "9"), {}), "");
}

// A client of one device, and a clock.
class Etcd final : EtcdHooks {
 public:
  explicit Etcd(std::uint64_t seed, std::size_t takes = 0) : service_({}, seed, 2, agenda_, *this, takes) {
    runFor(3 * kSecond);
  }

  std::uint64_t ask(EtcdRequest request) {
    request.id = ++asked_;
    service_.send(0, std::move(request), agenda_.now());
    return asked_;
  }
  void runFor(Micros time) {
    const Micros end = agenda_.now() + time;
    while (agenda_.next().at <= end) service_.step(agenda_.take().n);
  }
  const EtcdAnswer* answerTo(std::uint64_t id) const {
    for (const EtcdAnswer& answer : answers_)
      if (answer.id == id) return &answer;
    return nullptr;
  }
  EtcdService& service() { return service_; }
  int connections = 0, applied = 0;

 private:
  bool etcdReachable(std::uint32_t) const override { return true; }
  void onEtcdConnected(std::uint32_t device) override { connections += device == 0 ? 1 : 0; }
  void onEtcdDisconnected(std::uint32_t) override {}
  void onEtcdAnswer(std::uint32_t device, EtcdAnswer answer) override {
    if (device == 0) answers_.push_back(std::move(answer));
  }
  void onEtcdApplied(const EtcdRequest&) override { ++applied; }
  void onEtcd(std::uint32_t, std::string_view, std::string_view) override {}

  Agenda agenda_;
  EtcdService service_;
  std::deque<EtcdAnswer> answers_;
  std::uint64_t asked_ = 0;
};

TEST(EtcdService, AnswersAndTellsWatchers) {
  Etcd etcd(1);
  ASSERT_EQ(etcd.connections, 1);
  EtcdRequest watch;
  watch.call = EtcdCall::watch;
  watch.keys = {"a", "z"};
  watch.from = 2;
  const std::uint64_t watching = etcd.ask(watch);
  const std::uint64_t putting = etcd.ask(txn({}, {put("k", "v")}));
  etcd.runFor(5 * kSecond);
  ASSERT_NE(etcd.answerTo(putting), nullptr);
  EXPECT_TRUE(etcd.answerTo(putting)->succeeded);
  ASSERT_NE(etcd.answerTo(watching), nullptr);
  EXPECT_EQ(etcd.answerTo(watching)->changes.at(0).at.key, "k");
}

TEST(EtcdService, AMajorityGoneAnswersNothingAndForgetsNothing) {
  Etcd etcd(2);
  const std::uint64_t lease = etcd.ask(grant(5'000));
  etcd.runFor(kSecond);
  const std::uint64_t granted = etcd.answerTo(lease)->lease;
  etcd.ask(txn({}, {put("owner", "me", granted)}));
  etcd.runFor(kSecond);
  etcd.service().outage(2, 0, true);
  etcd.runFor(60 * kSecond);
  const std::uint64_t asked = etcd.ask(txn({}, {put("k", "v")}));
  etcd.runFor(10 * kSecond);
  const EtcdAnswer* answer = etcd.answerTo(asked);
  EXPECT_TRUE(answer == nullptr || answer->error == EtcdError::unavailable);
  EXPECT_TRUE(etcd.service().model().range({"k", ""}).empty());
  etcd.service().outage(2, 0, false);
  etcd.runFor(4 * kSecond);
  EXPECT_EQ(etcd.service().model().range({"owner", ""}).size(), 1u) << "a new leader gives leases their whole time";
  etcd.runFor(60 * kSecond);
  EXPECT_TRUE(etcd.service().model().range({"owner", ""}).empty());
}

// Whether what was under way when the leader went was done, its client is not told: both must happen.
TEST(EtcdService, AnOutcomeMayStayUnknown) {
  int done = 0, notDone = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Etcd etcd(seed);
    const std::uint64_t asked = etcd.ask(txn({}, {put("k", "v")}));
    etcd.runFor(6'000);  // it has arrived, most likely, and is being applied
    if (etcd.answerTo(asked) != nullptr || !etcd.service().model().range({"k", ""}).empty()) continue;
    etcd.service().outage(2, 0, true);
    etcd.runFor(kSecond);
    ASSERT_TRUE(etcd.answerTo(asked) == nullptr || etcd.answerTo(asked)->error == EtcdError::unavailable);
    (etcd.service().model().range({"k", ""}).empty() ? notDone : done)++;
  }
  EXPECT_GT(done, 0);
  EXPECT_GT(notDone, 0);
}

TEST(EtcdService, WhatIsTooLargeIsRefusedAndNotDone) {
  Etcd etcd(3, 4);
  const std::uint64_t fits = etcd.ask(txn({}, {put("a", "12"), put("b", "34")}));
  const std::uint64_t large = etcd.ask(txn({}, {put("c", "12"), put("d", "345")}));
  etcd.runFor(kSecond);
  EXPECT_TRUE(etcd.answerTo(fits)->succeeded);
  EXPECT_EQ(etcd.answerTo(large)->error, EtcdError::tooLarge);
  EXPECT_TRUE(etcd.service().model().range({"c", ""}).empty());
}

// What a cut link holds back may come very late.
TEST(EtcdService, ARequestMayBeDoneLongAfterItsConnectionDied) {
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Etcd etcd(seed);
    etcd.service().block(0);
    const std::uint64_t asked = etcd.ask(txn({}, {put("k", "v")}));
    etcd.runFor(30 * kSecond);
    EXPECT_TRUE(etcd.service().model().range({"k", ""}).empty());
    etcd.service().unblock(0);
    etcd.runFor(10 * kSecond);
    EXPECT_EQ(etcd.answerTo(asked), nullptr);
    EXPECT_EQ(etcd.connections, 2);
    late += etcd.service().model().range({"k", ""}).empty() ? 0 : 1;
  }
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 40);
}

}  // namespace
}  // namespace witan::sim::etcd_model_test
