// Devices that lie: an owner that records decisions which the rules do not give, a copy that passes such decisions on,
// a claim of an impossible epoch, an answer of a device that was not asked. The others refuse it, name who sent it, and
// go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::liars_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const kernel::DomainModule& generousBudget() {
  static const auto module = *domains::makeDomain("budget", {{"cap", 1'000'000}});
  return *module;
}

// The first device decides under rules of its own.
class Liars : public ::testing::Test {
 protected:
  Liars()
      : cluster(3, [](std::size_t n, ReplicaConfig& config) {
          if (n == 0) config.domains = {&generousBudget()};
        }) {
    cluster.found();
    decide(b(), "op-1", 10);
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  void decide(Device& device, const std::string& id, std::int64_t n) {
    ASSERT_TRUE(device.replica().submit(spend(id, n), at(device.ms)).ok());
    cluster.run();
  }
  // The device that the one incident of this kind names; "": there is none.
  std::string accused(Device& by, std::string_view kind) {
    std::string device;
    const auto incidents = by.replica().data().incidents();
    for (const replication::Incident& incident : *incidents) {
      if (incident.kind != kind) continue;
      EXPECT_TRUE(device.empty()) << "twice";
      device = incident.peer;
    }
    return device;
  }
  template <class T>
  void send(const std::string& from, const std::string& to, const T& message) {
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    cluster.hand({from, to, bytes});
    cluster.run();
  }
  Entries lastBatchOf(Device& owner) {
    Entries entries;
    entries.partition = kPartition;
    entries.batch = owner.host().ledger().batches() - 1;
    const kernel::Epoch epoch = owner.host().epoch();
    entries.epochNumber = entries.previousNumber = epoch.number;
    entries.epochOwner = entries.previousOwner = epoch.owner;
    const std::string value = *owner.host().ledger().batch(entries.batch);
    entries.value.assign(value.begin(), value.end());
    return entries;
  }

  TestCluster cluster;
};

TEST_F(Liars, AnUnlawfulEntryIsRefusedByEveryCopyAndNamesItsOwner) {
  decide(a(), "op-2", 200'000);
  ASSERT_EQ(a().answered("op-2")->outcome, kernel::Outcome::approved);
  for (Device* device : {&b(), &c()}) {
    EXPECT_THAT(device->decided(), Not(Contains("op-2")));
    EXPECT_EQ(accused(*device, "unlawful"), "a");
    EXPECT_TRUE(device->noticed("unlawful"));
    EXPECT_EQ(device->replica().ownerState(kPartition), OwnerState::lost);
    EXPECT_EQ(device->replica().counters().logsRefused, 1u);
  }
  EXPECT_THAT(cluster.closed, IsEmpty()) << "private data goes on";
}

TEST_F(Liars, NothingMoreOfThatLogIsTakenAlsoAfterARestart) {
  decide(a(), "op-2", 200'000);
  const std::uint64_t batches = b().host().ledger().batches();
  cluster.losePower(b());
  cluster.connect(a(), b()), cluster.connect(b(), c());
  cluster.run();
  decide(a(), "op-3", 10);
  for (Device* device : {&b(), &c()}) {
    device->passTime(3'600'000);
    cluster.run();
    EXPECT_EQ(device->host().ledger().batches(), batches);
    EXPECT_EQ(accused(*device, "unlawful"), "a");
  }
}

TEST_F(Liars, TheRefusedBatchIsKept) {
  decide(a(), "op-2", 200'000);
  const std::string batch = *a().host().ledger().batch(a().host().ledger().batches() - 1);
  const auto row = b().stores[2].get("u/" + std::string(kPartition));
  ASSERT_TRUE(row.ok() && *row);
  EXPECT_THAT(**row, ::testing::EndsWith(a().replica().ownerName() + "\n" + batch));
}

// Its requests wait, since the owner's answers are worth nothing, until a device that keeps the rules owns the
// partition. The owner is connected, which keeps nobody from taking the partition away from it.
TEST_F(Liars, ADeviceThatKeepsTheRulesTakesOver) {
  decide(a(), "op-2", 200'000);
  decide(b(), "op-3", 20);
  EXPECT_EQ(b().answered("op-3"), nullptr);
  ASSERT_TRUE(c().replica().forceTakeover(kPartition, "a breaks the rules", at(c().ms)).ok());
  cluster.run();
  ASSERT_NE(b().answered("op-3"), nullptr);
  EXPECT_EQ(b().answered("op-3")->outcome, kernel::Outcome::approved);
  for (Device* device : {&a(), &b(), &c()}) {
    EXPECT_THAT(device->decided(), Not(Contains("op-2"))) << device->name();
    EXPECT_EQ(device->decided().back(), "op-3") << device->name();
    EXPECT_EQ(device->owns(), device == &c()) << device->name();
  }
  EXPECT_EQ(a().aside(), 1u) << "it keeps what it had decided";
}

// A copy that has more lawful entries is the one that takes over.
TEST_F(Liars, TheTakeoverLosesNoLawfulEntry) {
  cluster.cut(a(), c()), cluster.cut(b(), c());
  decide(a(), "op-2", 20);
  decide(a(), "op-3", 200'000);
  cluster.connect(b(), c()), cluster.connect(a(), c());
  cluster.lose = [](const TestCluster::Frame& frame) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cluster.run();
  EXPECT_EQ(c().replica().forceTakeover(kPartition, "", at(c().ms)).error().code, ErrorCode::conflict);
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  cluster.lose = {};
  cluster.run();
  for (Device* device : {&a(), &b(), &c()}) device->passTime(60'000), cluster.run();
  for (Device* device : {&a(), &b(), &c()}) EXPECT_THAT(device->decided(), ElementsAre("op-1", "op-2"));
}

// What does not bear the owner's seal accuses no owner.
TEST_F(Liars, AnotherDeviceCannotAccuseTheOwner) {
  cluster.cut(a(), b());
  decide(a(), "op-2", 200'000);
  send("c", "b", lastBatchOf(a()));
  EXPECT_EQ(accused(b(), "unlawful"), "");
  EXPECT_EQ(b().replica().counters().batchesUnsealed, 1u);
}

// By its seal the owner is found out also by a device that never meets it.
TEST_F(Liars, TheSealOfAnUnlawfulBatchNamesItsOwner) {
  cluster.cut(a(), b());
  std::string sealed;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (frame.from == "a" && typeOf(frame.bytes) == AdjudicationFrame::entries) sealed = frame.bytes;
    return false;
  };
  decide(a(), "op-2", 200'000);
  cluster.hand({"c", "b", sealed});
  cluster.run();
  EXPECT_EQ(accused(b(), "unlawful"), "a");
  EXPECT_EQ(accused(b(), "badEntries"), "");
  EXPECT_TRUE(b().replica().refusesOwner(kPartition));
}

TEST_F(Liars, AClaimFarBeyondTheLatestEpochIsRefused) {
  for (const std::uint64_t number : {2 + kernel::kMaxEpochStep, kernel::kMaxEpoch + 1, ~std::uint64_t{0}}) {
    PeerAdvertisement claims;
    claims.owner = c().replica().ownerName();
    claims.claims.push_back({std::string(kPartition), number, claims.owner});
    send("c", "a", claims);
    EXPECT_TRUE(a().owns()) << number;
    EXPECT_EQ(a().replica().counters().badFrames, 1u);
    cluster.cut(a(), c()), cluster.connect(a(), c());
    cluster.run();
    PeerAdvertisement position;
    position.owner = claims.owner;
    LogPosition& log = position.positions.emplace_back();
    log.partition = kPartition;
    log.batches = 1;
    log.epochs = {{number, claims.owner, 0}};
    send("c", "a", position);
    EXPECT_TRUE(a().owns()) << number;
    EXPECT_EQ(a().replica().counters().badFrames, 2u);
    a().start();
    cluster.cut(a(), b()), cluster.cut(a(), c()), cluster.connect(a(), b()), cluster.connect(a(), c());
    cluster.run();
  }
}

// A claim that an older version believed is forgotten at the next start.
TEST_F(Liars, AStoredClaimOfTheLastEpochKeepsNobodyFromTakingOver) {
  cluster.losePower(b());
  store::WriteBatch rows;
  OwnerTable poisoned;
  poisoned.learn({std::string(kPartition), ~std::uint64_t{0}, c().replica().ownerName()}, rows);
  ASSERT_TRUE(b().stores[2].writeSynced(rows).ok());
  b().start();
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  EXPECT_EQ(b().host().epoch().number, 2u);
}

TEST_F(Liars, AnAnswerOfADeviceThatWasNotAskedIsNone) {
  cluster.cut(a(), b());
  decide(b(), "op-2", 20);
  const Request& waiting = b().replica().outbox().all().at("op-2").request;
  Answer forged = answerTo(waiting, AnswerKind::decided, "");
  forged.outcome = kernel::Outcome::approved;
  forged.seq = 4242;
  send("c", "b", forged);
  EXPECT_EQ(b().answered("op-2"), nullptr);
  EXPECT_EQ(b().replica().counters().answersUnasked, 1u);
  cluster.connect(a(), b());
  cluster.run();
  ASSERT_NE(b().answered("op-2"), nullptr);
  EXPECT_NE(b().answered("op-2")->seq, 4242u);
}

// Device c keeps no copies, so that it may not see entries. It believes the owner, of an epoch that is the owner's by a
// signed claim: an answer that was sent before its sender owned anything is of none (seed 1477 of everything).
TEST(Routers, AnAnswerIsOfAnEpochThatIsKnownToBeItsSenders) {
  TestCluster cluster(3, [](std::size_t n, ReplicaConfig& config) {
    config.ledgerReplica = n != 2;
    config.keepsLedgers = [](std::string_view device) { return device != "c"; };
  });
  Device &a = cluster.a(), &b = cluster.b(), &c = cluster.c();
  ASSERT_TRUE(a.replica().bootstrap(at(0)).ok());
  a.submit(beginning());
  cluster.connect(a, b), cluster.connect(a, c), cluster.connect(b, c);
  cluster.run();
  cluster.lose = [](const TestCluster::Frame& frame) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::answer;
  };
  c.submit(spend("op-1", 10));
  cluster.run();
  cluster.lose = {};
  Answer answer = answerTo(c.replica().outbox().all().at("op-1").request, AnswerKind::decided, "");
  answer.outcome = kernel::Outcome::approved;
  answer.seq = 4242;
  const auto say = [&](std::uint64_t number, const std::string& owner) {
    answer.epochNumber = number, answer.epochOwner = owner;
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, answer);
    cluster.hand({"a", "c", bytes});
    cluster.run();
  };
  say(7, a.replica().ownerName());
  EXPECT_EQ(c.replica().counters().answersUnproven, 1u);
  EXPECT_FALSE(c.hasIncident("falseAnswer")) << "its claim may be on its way";
  say(1, b.replica().ownerName());
  EXPECT_EQ(c.replica().counters().answersUnproven, 2u);
  EXPECT_TRUE(c.hasIncident("falseAnswer"));
  EXPECT_EQ(c.answered("op-1"), nullptr);
  c.passTime(kLastRetryMs);
  cluster.run();
  ASSERT_NE(c.answered("op-1"), nullptr);
  EXPECT_EQ(c.answered("op-1")->seq, 1u);
  EXPECT_EQ(c.answered("op-1")->epochNumber, 1u);
}

}  // namespace
}  // namespace witan::node::test::liars_test
