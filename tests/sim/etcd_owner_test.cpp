// A replica whose partitions etcd gives, against the model of etcd: what becomes of requests, whatever etcd does.
#include "node/replica/replica_etcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "domains/registry.h"
#include "node/replica/make_request.h"
#include "node/replica/replica.h"
#include "sim/etcd_model.h"
#include "store/memory_store.h"

namespace witan::sim {
namespace {

using namespace node;
using kernel::Outcome;
using ::testing::HasSubstr;

Now at(std::int64_t ms) { return {Time{1'774'252'800'000'000 + ms * 1000}, ms}; }

class Owner {
 public:
  explicit Owner(EtcdOptions options = {}) : options_(options), module_(*domains::makeDomain("budget")) {
    start();
    pass(5'000);
    EXPECT_TRUE(replica->owns(*replica->host("budget/0")));
    submit(initRequest(*module_, "e", "begin", json::object{}));
    pass(1'000);
    EXPECT_NE(answered("begin"), nullptr);
  }

  void start() {
    ReplicaConfig config;
    config.replication.cluster = "c";
    config.replication.clusterKey = "key";
    config.replication.device = "a";
    config.replication.trustStore = true;
    config.replication.freshTag = [this] { return ++tags_; };
    config.domains = {module_.get()};
    config.partitions = 1;
    config.etcd = options_;
    replica.reset();
    watch_ = {};
    auto opened = Replica::open({stores_[0], stores_[1], stores_[2]}, std::move(config), at(ms));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica = *std::move(opened);
    replica->etcdConnected(at(ms));
  }
  void losePower() {
    replica.reset();
    for (store::MemoryStore& disk : stores_) disk.crash();
    start();
  }

  Request spend(const std::string& id, const std::string& agent = "") {
    Request request = *proposalRequest(*module_, "e", "A", id, json::value{{"type", "SpendA"}, {"n", 1}});
    request.agent = agent;
    return request;
  }
  void submit(Request request) {
    const Status accepted = replica->submit(std::move(request), at(ms));
    EXPECT_TRUE(accepted.ok()) << accepted.error().message;
  }
  std::size_t answersTo(const std::string& id) const {
    return static_cast<std::size_t>(
        std::count_if(answers.begin(), answers.end(), [&](const Answer& answer) { return answer.operationId == id; }));
  }
  // One round, and what it asks of etcd.
  std::vector<EtcdRequest> drain() {
    replica->tick(at(ms));
    Effects effects;
    EXPECT_TRUE(replica->drain(at(ms), effects).ok());
    for (Answered& answer : effects.answers) answers.push_back(std::move(answer.answer));
    for (Notice& notice : effects.notices) notices.push_back(std::move(notice));
    return std::move(effects.etcd);
  }
  // Carries everything to etcd and back, until nothing is said any more.
  void talk() {
    for (bool more = true; more;) {
      const auto requests = drain();
      more = !requests.empty() || replica->nextTickMs() <= ms;
      for (const EtcdRequest& request : requests) {
        if (request.call == EtcdCall::watch) {
          watch_ = request;
          continue;
        }
        EtcdAnswer answer = etcd.apply(tooLarge(request) ? EtcdRequest{} : request, ms * 1000);
        answer.id = request.id;
        if (tooLarge(request)) answer.error = EtcdError::tooLarge;
        replica->etcdReceived(answer, at(ms));
      }
      more = tellWatch() || more;
    }
  }
  void pass(std::int64_t time) {
    for (const std::int64_t end = ms + time; ms < end; ms += 100) talk();
  }
  const Answer* answered(std::string_view id) const {
    for (const Answer& answer : answers)
      if (answer.operationId == id) return &answer;
    return nullptr;
  }

  EtcdModel etcd;
  std::size_t serverTakes = ~std::size_t{0};
  std::int64_t ms = 0;
  std::unique_ptr<Replica> replica;
  std::vector<Answer> answers;
  std::vector<Notice> notices;

 private:
  bool tellWatch() {
    if (watch_.id == 0 || watch_.from > etcd.revision()) return false;
    EtcdAnswer answer;
    answer.id = watch_.id;
    answer.revision = etcd.revision();
    answer.changes = *etcd.changes(watch_.keys, watch_.from);
    watch_.from = etcd.revision() + 1;
    replica->etcdReceived(answer, at(ms));
    return true;
  }
  bool tooLarge(const EtcdRequest& request) const {
    std::size_t bytes = 0;
    for (const EtcdOp& op : request.then) bytes += op.value.size();
    return bytes > serverTakes;
  }

  const EtcdOptions options_;
  EtcdRequest watch_;
  std::unique_ptr<kernel::DomainModule> module_;
  std::uint32_t tags_ = 0;
  store::MemoryStore stores_[3];
};

TEST(EtcdOwner, WhatIsAskedHereIsDecidedWithoutAPlaceInTheOutbox) {
  Owner owner;
  owner.submit(owner.spend("one"));
  EXPECT_EQ(owner.replica->outbox().size(), 0u);
  owner.talk();
  ASSERT_NE(owner.answered("one"), nullptr);
  EXPECT_EQ(owner.answered("one")->outcome, Outcome::approved);
}

TEST(EtcdOwner, WhatEtcdDoesNotAnswerSoonIsTakenOnDurably) {
  Owner owner;
  owner.submit(owner.spend("one"));
  (void)owner.drain();  // to etcd, which says nothing
  EXPECT_EQ(owner.replica->outbox().size(), 0u);
  owner.ms += 300;
  (void)owner.drain();
  EXPECT_EQ(owner.replica->outbox().size(), 1u);
  owner.losePower();
  EXPECT_EQ(owner.replica->outbox().size(), 1u);
  owner.pass(20'000);
  ASSERT_NE(owner.answered("one"), nullptr);
  EXPECT_EQ(owner.replica->outbox().size(), 0u);
}

TEST(EtcdOwner, OneOperationIdIsOneRequest) {
  Owner owner;
  owner.submit(owner.spend("one"));
  owner.submit(owner.spend("one"));
  const Status other = owner.replica->submit(owner.spend("one", "another"), at(owner.ms));
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("names another request"));
  owner.talk();
  EXPECT_EQ(owner.replica->host("budget/0")->partition().size(), 1u);
}

TEST(EtcdOwner, BatchesAreUnderWayWhileOthersAreDecided) {
  EtcdOptions options;
  options.pipeline = options.transactions = 3;
  Owner owner(options);
  std::vector<EtcdRequest> requests;
  for (const char* id : {"1", "2", "3", "4"}) {
    owner.submit(owner.spend(id));
    for (EtcdRequest& request : owner.drain()) requests.push_back(std::move(request));
  }
  ASSERT_EQ(requests.size(), 3u) << "the fourth waits";
  for (std::size_t i = 3; i-- > 0;)  // the last one first
    owner.replica->etcdReceived(owner.etcd.apply(requests[i], owner.ms * 1000), at(owner.ms));
  owner.talk();
  for (const char* id : {"1", "2", "3", "4"}) EXPECT_NE(owner.answered(id), nullptr) << id;
  EXPECT_GT(owner.replica->counters().etcd.outOfOrder, 0u);
  EXPECT_EQ(owner.replica->host("budget/0")->partition().size(), 4u);
}

TEST(EtcdOwner, AnEntryLargerThanEtcdTakesIsRefusedAndHoldsNothingUp) {
  EtcdOptions options;
  options.maxBatchBytes = 500;
  Owner owner(options);
  for (const bool first : {true, false}) {  // with others under way, and alone
    const std::string n = first ? "1" : "2";
    owner.submit(owner.spend("before" + n));
    owner.submit(owner.spend("large" + n, std::string(250, 'x') + n + std::string(4, 'y')));
    owner.submit(owner.spend("after" + n));
    owner.pass(70'000);
    ASSERT_NE(owner.answered("large" + n), nullptr);
    EXPECT_EQ(owner.answered("large" + n)->outcome, Outcome::refused);
    EXPECT_THAT(owner.answered("large" + n)->message, HasSubstr("etcd takes a batch of at most 500"));
    for (const char* id : {"before", "large", "after"})
      EXPECT_EQ(owner.answersTo(id + n), 1u) << id << ": what was undone is told to nobody";
    for (const std::string& id : {"before" + n, "after" + n}) {
      ASSERT_NE(owner.answered(id), nullptr) << id;
      EXPECT_EQ(owner.answered(id)->outcome, Outcome::approved) << id;
    }
  }
  EXPECT_EQ(owner.replica->host("budget/0")->partition().size(), 4u);
  EXPECT_EQ(owner.replica->counters().etcd.tooLarge, 0u) << "etcd was not asked";
}

TEST(EtcdOwner, ARequestLargerThanEtcdTakesIsRefusedAtTheDoor) {
  EtcdOptions options;
  options.maxBatchBytes = 500;
  Owner owner(options);
  Request large = owner.spend("large");
  large.reason = std::string(800, 'x');
  const Status accepted = owner.replica->submit(std::move(large), at(owner.ms));
  ASSERT_FALSE(accepted.ok());
  EXPECT_EQ(accepted.error().code, ErrorCode::invalidInput);
  EXPECT_THAT(accepted.error().message, HasSubstr("at most 500"));
}

// An operator may have lowered its limit.
TEST(EtcdOwner, ALimitThatEtcdHasIsLearned) {
  Owner owner;
  owner.serverTakes = 1'200;
  for (int i = 0; i < 30; ++i) owner.submit(owner.spend("op-" + std::to_string(i)));
  owner.pass(600'000);
  for (int i = 0; i < 30; ++i) {
    ASSERT_NE(owner.answered("op-" + std::to_string(i)), nullptr) << i;
    EXPECT_EQ(owner.answered("op-" + std::to_string(i))->outcome, Outcome::approved);
  }
  EXPECT_GT(owner.replica->counters().etcd.tooLarge, 0u);
  EXPECT_EQ(owner.replica->host("budget/0")->partition().size(), 30u);
}

}  // namespace
}  // namespace witan::sim
