// Replicas two and three at a time: who owns a partition, and what becomes of what was decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::owners_test {
namespace {

using kernel::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void submit(Device& device, Request request) {
  const Status accepted = device.replica().submit(std::move(request), at(device.ms));
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
}
Status move(Device& from, Device& to) {
  return from.replica().transferOwnership(kPartition, to.name(), "", at(from.ms));
}
Status seize(Device& device) { return device.replica().forceTakeover(kPartition, "the owner is gone", at(device.ms)); }

void expectOneLog(std::initializer_list<Device*> devices) {
  Device& first = **devices.begin();
  for (Device* device : devices) {
    EXPECT_EQ(device->host().ledger().batches(), first.host().ledger().batches()) << device->name();
    EXPECT_EQ(device->host().partition().tree().root(), first.host().partition().tree().root()) << device->name();
    EXPECT_EQ(device->host().lineage().epochs, first.host().lineage().epochs) << device->name();
  }
}

TEST(Owners, ARequestFindsItsOwnerAndTheAnswerItsProposer) {
  TestCluster cluster(2);
  cluster.found();
  submit(cluster.b(), spend("op-1", 60'000));
  submit(cluster.b(), spend("op-2", 60'000, "B"));
  cluster.run();
  ASSERT_NE(cluster.b().answered("op-1"), nullptr);
  EXPECT_EQ(cluster.b().answered("op-1")->outcome, Outcome::approved);
  EXPECT_EQ(cluster.b().answered("op-2")->outcome, Outcome::rejected);
  EXPECT_EQ(cluster.b().answered("op-2")->invariant, "BUDGET_CAP");
  EXPECT_EQ(cluster.b().replica().outbox().size(), 0u);
  expectOneLog({&cluster.a(), &cluster.b()});
}

// It decides, hears of a later epoch, and takes the partition back, all before it writes anything.
TEST(Owners, WhatWasDecidedInTheRoundOfASeizureIsNotForgottenInIt) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  ASSERT_TRUE(seize(cluster.b()).ok());
  submit(cluster.a(), spend("op-1", 10));
  while (cluster.a().owns()) {
    for (Device* device : {&cluster.b(), &cluster.c()}) {
      ASSERT_TRUE(device->drain().ok());
      for (const Outgoing& out : std::exchange(device->sends, {}))
        for (const std::string& frame : framesOf(out.frames))
          if (out.peer != "b" && (out.peer != "a" || device != &cluster.b()))
            cluster.hand({device->name(), out.peer, frame});
    }
  }
  ASSERT_TRUE(seize(cluster.a()).ok());
  submit(cluster.a(), spend("op-1", 10));
  ASSERT_TRUE(cluster.a().drain().ok());
  ASSERT_EQ(cluster.a().answers.size(), 3u) << "its beginning, and op-1 twice";
  EXPECT_EQ(cluster.a().answers[1].outcome, Outcome::approved);
  EXPECT_EQ(cluster.a().answers[2].outcome, Outcome::duplicate);
  EXPECT_EQ(cluster.a().answers[2].recorded, Outcome::approved);
}

// An owner that answers at once costs the proposer no disk; one that does not finds the request again after a crash.
TEST(Owners, WhatIsAnsweredSoonIsNeverWrittenAndTheRestIsKept) {
  TestCluster cluster(2);
  cluster.found();
  const auto rows = [&] {
    std::vector<std::string> ids;
    EXPECT_TRUE(cluster.b()
                    .stores[2]
                    .scan("o/", {},
                          [&](std::string_view key, std::string_view) {
                            ids.emplace_back(key.substr(2));
                            return true;
                          })
                    .ok());
    return ids;
  };
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.from == "b" && typeOf(frame.bytes) == AdjudicationFrame::request;
  };
  submit(cluster.b(), spend("soon", 10));
  submit(cluster.b(), spend("never", 10));
  ASSERT_TRUE(cluster.b().drain().ok());
  EXPECT_THAT(rows(), IsEmpty());
  cluster.losePower(cluster.b());
  EXPECT_EQ(cluster.b().replica().outbox().size(), 0u) << "nobody was told that they wait";
  cluster.connect(cluster.a(), cluster.b());
  cluster.lose = {};
  submit(cluster.b(), spend("soon", 10));
  cluster.run();
  ASSERT_NE(cluster.b().answered("soon"), nullptr);
  EXPECT_THAT(rows(), IsEmpty());
  cluster.cut(cluster.a(), cluster.b());
  submit(cluster.b(), spend("late", 20));
  ASSERT_TRUE(cluster.b().drain().ok());
  EXPECT_LE(cluster.b().replica().nextTickMs(), cluster.b().ms + kUnsavedMs);
  cluster.b().passTime(kUnsavedMs);
  ASSERT_TRUE(cluster.b().drain().ok());
  EXPECT_THAT(rows(), ElementsAre("late"));
  cluster.b().losePower();
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  ASSERT_NE(cluster.b().answered("late"), nullptr);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST(Owners, WhoStopsKeepsWhatItHasTakenOn) {
  TestCluster cluster(2);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  submit(cluster.b(), spend("one", 10));
  cluster.b().replica().keepRequests();
  ASSERT_TRUE(cluster.b().drain().ok());
  cluster.b().losePower();
  EXPECT_TRUE(cluster.b().replica().outbox().all().contains("one"));
}

TEST(Owners, AHandoverLosesNothingAndTheOldOwnerRedirects) {
  TestCluster cluster(3);
  cluster.found();
  submit(cluster.a(), spend("op-1", 10));
  ASSERT_TRUE(move(cluster.a(), cluster.b()).ok());
  EXPECT_FALSE(cluster.a().owns());
  submit(cluster.a(), spend("op-2", 20));  // between two owners
  submit(cluster.c(), spend("op-3", 30));
  cluster.run();
  EXPECT_TRUE(cluster.b().owns());
  EXPECT_TRUE(cluster.b().noticed("owner"));
  for (Device* device : {&cluster.a(), &cluster.c()}) {
    device->passTime(kLastRetryMs);
    cluster.run();
  }
  EXPECT_EQ(cluster.a().answered("op-2")->outcome, Outcome::approved);
  EXPECT_EQ(cluster.c().answered("op-3")->outcome, Outcome::approved);
  expectOneLog({&cluster.a(), &cluster.b(), &cluster.c()});
  // The old owner's last word is an epoch of its own, and the new one begins its epoch after it.
  EXPECT_EQ(cluster.b().host().epoch(), (kernel::Epoch{3, cluster.b().replica().ownerName()}));
}

// F3: a run is bound by the owner of the partition, and stays bound when it is handed over.
TEST(Owners, F3_ARunIsBoundToOnePlanAlsoAfterAHandover) {
  TestCluster cluster(3);
  cluster.found();
  const auto ofRun = [](const std::string& id, std::string_view plan) {
    Request request = spend(id, 10);
    request.runKey = sha256("run");
    request.planDigest = sha256(plan);
    return request;
  };
  submit(cluster.b(), ofRun("op-1", "plan"));
  cluster.run();
  submit(cluster.c(), ofRun("op-2", "other plan"));
  cluster.run();
  EXPECT_EQ(cluster.b().answered("op-1")->outcome, Outcome::approved);
  EXPECT_EQ(cluster.c().answered("op-2")->outcome, Outcome::rejected);
  EXPECT_EQ(cluster.c().answered("op-2")->invariant, "KERNEL_INTEGRITY");
  EXPECT_THAT(cluster.c().answered("op-2")->message, HasSubstr("is bound to the plan"));
  EXPECT_EQ(cluster.a().replica().counters().boundElsewhere, 1u);

  ASSERT_TRUE(move(cluster.a(), cluster.b()).ok());
  cluster.run();
  ASSERT_TRUE(cluster.b().owns());
  submit(cluster.b(), ofRun("op-3", "other plan"));
  submit(cluster.b(), ofRun("op-4", "plan"));
  cluster.run();
  EXPECT_EQ(cluster.b().answered("op-3")->outcome, Outcome::rejected);
  EXPECT_EQ(cluster.b().answered("op-4")->outcome, Outcome::approved);
  EXPECT_EQ(cluster.b().replica().counters().boundElsewhere, 1u);
  expectOneLog({&cluster.a(), &cluster.b(), &cluster.c()});
}

TEST(Owners, MovesThatCannotBe) {
  TestCluster cluster(3);
  cluster.found();
  EXPECT_THAT(move(cluster.b(), cluster.c()).error().message, HasSubstr("does not own"));
  EXPECT_THAT(cluster.a().replica().transferOwnership("budget/9", "b", "", at(0)).error().message,
              HasSubstr("does not own"));
  EXPECT_THAT(cluster.a().replica().transferOwnership(kPartition, "z", "", at(0)).error().message,
              HasSubstr("not connected"));
  cluster.cut(cluster.a(), cluster.c());
  EXPECT_EQ(move(cluster.a(), cluster.c()).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(cluster.a().owns());
}

// That is no reason to say that it keeps no copy.
TEST(Owners, AHandoverWaitsUntilASuccessorHasSaidWhatItHas) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.c());
  cluster.connect(cluster.a(), cluster.c());
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.from == "c" && typeOf(frame.bytes) == AdjudicationFrame::standing;
  };
  cluster.run();
  const Status early = move(cluster.a(), cluster.c());
  EXPECT_EQ(early.error().code, ErrorCode::conflict);
  EXPECT_THAT(early.error().message, HasSubstr("not yet said"));
  EXPECT_TRUE(cluster.a().owns());
  cluster.lose = {};
  cluster.cut(cluster.a(), cluster.c());
  cluster.connect(cluster.a(), cluster.c());
  cluster.run();
  EXPECT_TRUE(move(cluster.a(), cluster.c()).ok());
}

TEST(Owners, SeizuresThatCannotBe) {
  TestCluster cluster(3);
  cluster.found();
  EXPECT_THAT(seize(cluster.a()).error().message, HasSubstr("owns partition"));
  EXPECT_THAT(seize(cluster.b()).error().message, HasSubstr("is connected"));
  EXPECT_THAT(cluster.b().replica().forceTakeover("budget/9", "", at(0)).error().message, HasSubstr("no copy"));
  // c has more of the log than b: it is the one to seize.
  cluster.cut(cluster.a(), cluster.b());
  submit(cluster.a(), spend("op-1", 10));
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "b" && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cluster.run();
  cluster.c().passTime(60'000);
  cluster.run();
  EXPECT_THAT(seize(cluster.b()).error().message, HasSubstr("c has more"));
  Device fresh("z");
  EXPECT_THAT(fresh.replica().forceTakeover(kPartition, "", at(0)).error().message, HasSubstr("nothing of partition"));
}

TEST(Owners, ASeizureSetsAsideWhatNobodyHadAndSaysSo) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  cluster.cut(cluster.a(), cluster.c());
  submit(cluster.a(), spend("op-1", 10));  // acknowledged, and copied to nobody
  cluster.run();
  ASSERT_EQ(cluster.a().answered("op-1")->outcome, Outcome::approved);
  ASSERT_TRUE(seize(cluster.b()).ok());
  submit(cluster.b(), spend("op-2", 20));
  cluster.run();
  EXPECT_TRUE(cluster.a().owns());  // it cannot know: the embedded mode has no third party
  EXPECT_TRUE(cluster.b().owns());

  cluster.connect(cluster.a(), cluster.b());
  cluster.connect(cluster.a(), cluster.c());
  cluster.run();
  EXPECT_FALSE(cluster.a().owns());
  expectOneLog({&cluster.a(), &cluster.b(), &cluster.c()});
  EXPECT_THAT(cluster.b().decided(), ElementsAre("op-2"));
  EXPECT_EQ(cluster.a().aside(), 1u);
  EXPECT_TRUE(cluster.a().noticed("surplus"));
  EXPECT_TRUE(cluster.a().hasIncident("surplus"));
  EXPECT_EQ(cluster.a().replica().counters().surplusEntries, 1u);
}

// The fence: an owner that hears of a later epoch decides nothing more, also before it has seen the log.
TEST(Owners, AZombieIsFencedByTheClaimAlone) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  ASSERT_TRUE(seize(cluster.b()).ok());
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "a" && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cluster.run();  // through c
  EXPECT_EQ(cluster.a().host().epoch().number, 1u);
  EXPECT_FALSE(cluster.a().owns());
  submit(cluster.a(), spend("op-1", 10));
  cluster.run();
  EXPECT_EQ(cluster.a().answered("op-1"), nullptr);
  EXPECT_EQ(cluster.a().replica().outbox().size(), 1u);
  cluster.lose = {};
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_EQ(cluster.a().answered("op-1")->outcome, Outcome::approved);
  expectOneLog({&cluster.a(), &cluster.b(), &cluster.c()});
  EXPECT_FALSE(cluster.a().hasIncident("wentBack"));
}

// One id, asked for before and after the device hears that its epoch is over, in one step: what was decided here
// answers the first request, and not the second, which waits for the later owner.
TEST(Owners, AnAnswerSettlesTheRequestThatItIsOf) {
  TestCluster cluster(3, withoutKeys);  // with keys a request is decided at the end of its round
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  ASSERT_TRUE(seize(cluster.b()).ok());
  cluster.collect();  // b tells c
  while (!cluster.underWay.empty()) {
    const TestCluster::Frame frame = cluster.underWay.front();
    cluster.underWay.pop_front();
    cluster.hand(frame);
  }
  cluster.collect();  // and c tells a
  Request again = spend("op-1", 10);
  submit(cluster.a(), again);
  again.runKey = sha256("run"), again.planDigest = sha256("plan");
  ASSERT_TRUE(cluster.a().owns());
  for (const TestCluster::Frame& frame : std::exchange(cluster.underWay, {})) cluster.hand(frame);
  ASSERT_FALSE(cluster.a().owns());
  submit(cluster.a(), again);
  cluster.a().answers.clear();
  ASSERT_TRUE(cluster.a().drain().ok());
  ASSERT_EQ(cluster.a().answers.size(), 1u);
  EXPECT_EQ(cluster.a().answers[0].outcome, Outcome::approved);
  EXPECT_TRUE(cluster.a().replica().outbox().all().contains("op-1"));
}

// Entries of an owner whose epoch is over are not followed.
TEST(Owners, FollowersRefuseAZombiesEntries) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  submit(cluster.a(), spend("op-1", 10));
  cluster.collect();  // to c, under way
  std::deque<TestCluster::Frame> late;
  late.swap(cluster.underWay);
  ASSERT_TRUE(seize(cluster.b()).ok());
  cluster.run();
  ASSERT_EQ(cluster.c().host().epoch().number, 2u);
  for (const TestCluster::Frame& frame : late) cluster.hand(frame);
  cluster.run();
  EXPECT_GE(cluster.c().replica().counters().zombieRefused, 1u);
  EXPECT_THAT(cluster.c().decided(), IsEmpty());
  expectOneLog({&cluster.b(), &cluster.c()});
}

// A handover that is still under way, and the seizure by the device that it would have reached, are two epochs.
TEST(Owners, AHandoverUnderWayAndASeizureByItsReceiver) {
  TestCluster cluster(2);
  cluster.found();
  submit(cluster.a(), spend("op-1", 10));
  cluster.collect();
  cluster.underWay.clear();  // b does not hear of it
  ASSERT_TRUE(move(cluster.a(), cluster.b()).ok());
  cluster.collect();
  cluster.cut(cluster.a(), cluster.b());
  ASSERT_TRUE(seize(cluster.b()).ok());
  submit(cluster.b(), spend("op-2", 20));
  cluster.run();
  EXPECT_NE(cluster.a().host().epoch(), cluster.b().host().epoch());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_TRUE(cluster.b().owns());
  expectOneLog({&cluster.a(), &cluster.b()});
  EXPECT_THAT(cluster.a().decided(), ElementsAre("op-2"));
  EXPECT_TRUE(cluster.a().hasIncident("surplus"));  // op-1 was answered
}

TEST(Owners, TwoSeizuresOfOneNumberAndTheGreaterOwnerStays) {
  TestCluster cluster(3);
  cluster.found();
  for (Device* device : {&cluster.b(), &cluster.c()}) cluster.cut(cluster.a(), *device);
  cluster.cut(cluster.b(), cluster.c());
  ASSERT_TRUE(seize(cluster.b()).ok());
  ASSERT_TRUE(seize(cluster.c()).ok());
  submit(cluster.b(), spend("op-b", 10));
  submit(cluster.c(), spend("op-c", 10));
  cluster.run();
  EXPECT_EQ(cluster.b().host().epoch().number, cluster.c().host().epoch().number);
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  cluster.connect(cluster.b(), cluster.c());
  cluster.connect(cluster.a(), cluster.c());
  cluster.run();
  EXPECT_TRUE(cluster.c().owns());
  EXPECT_FALSE(cluster.b().owns());
  expectOneLog({&cluster.a(), &cluster.b(), &cluster.c()});
  EXPECT_THAT(cluster.a().decided(), ElementsAre("op-c"));
  EXPECT_TRUE(cluster.b().hasIncident("surplus"));
}

// An owner whose disk went back knows less of its own epoch than others do: it decides nothing more in it.
TEST(Owners, AnOwnerThatWentBackStopsUntilItIsSeized) {
  TestCluster cluster(2);
  cluster.found();
  const auto image = cluster.a().stores[2].image();
  submit(cluster.a(), spend("op-1", 10));
  cluster.run();
  cluster.cut(cluster.a(), cluster.b());
  cluster.a().stores[2].restoreImage(*image);
  cluster.a().start();
  EXPECT_TRUE(cluster.a().owns());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_FALSE(cluster.a().owns());
  EXPECT_TRUE(cluster.a().hasIncident("wentBack"));
  EXPECT_TRUE(cluster.a().noticed("wentBack"));
  submit(cluster.a(), spend("op-2", 10));
  cluster.run();
  EXPECT_EQ(cluster.a().answered("op-2"), nullptr);
}

// Its disk does not know that epoch at all: it learns of it from others, batch by batch, and is not its owner again.
TEST(Owners, AnOwnerWhoseDiskIsFromBeforeItsEpochStopsUntilItIsSeized) {
  for (const bool seizes : {false, true})
    for (const bool power : {false, true}) {
      SCOPED_TRACE(::testing::Message() << (seizes ? "seized" : "handed over") << (power ? ", power loss" : ""));
      TestCluster cluster(3);
      cluster.found();
      const auto image = cluster.b().stores[2].image();
      if (seizes) cluster.cut(cluster.a(), cluster.b());
      if (seizes)
        ASSERT_TRUE(seize(cluster.b()).ok());
      else
        ASSERT_TRUE(cluster.a().replica().transferOwnership(kPartition, "b", "", at(cluster.a().ms)).ok());
      cluster.run();
      if (seizes) cluster.connect(cluster.a(), cluster.b());
      cluster.run();
      for (const char* id : {"op-1", "op-2", "op-3"}) submit(cluster.b(), spend(id, 10)), cluster.run();
      ASSERT_TRUE(cluster.b().owns());
      for (Device* other : {&cluster.a(), &cluster.c()}) cluster.cut(cluster.b(), *other);
      cluster.b().stores[2].restoreImage(*image);
      cluster.b().start();
      EXPECT_FALSE(cluster.b().owns());
      cluster.connect(cluster.a(), cluster.b());
      cluster.run();
      if (power) {
        cluster.cut(cluster.a(), cluster.b());
        cluster.b().losePower();
        EXPECT_FALSE(cluster.b().owns());
        cluster.connect(cluster.a(), cluster.b());
        cluster.run();
      }
      EXPECT_FALSE(cluster.b().owns());
      EXPECT_TRUE(cluster.b().hasIncident("wentBack"));
      submit(cluster.b(), spend("op-4", 10));
      cluster.run();
      EXPECT_EQ(cluster.b().answered("op-4"), nullptr);
      EXPECT_THAT(cluster.b().decided(), ElementsAre("op-1", "op-2", "op-3"));
      // Another one takes over, and it goes on.
      const Status seized = seize(cluster.a());
      ASSERT_TRUE(seized.ok()) << seized.error().message;
      cluster.run();
      EXPECT_NE(cluster.b().answered("op-4"), nullptr);
      expectOneLog({&cluster.a(), &cluster.b()});
    }
}

// The same where that disk had stopped in an earlier epoch of its own: the next start does not permit what this one
// forbade.
TEST(Owners, AStopOfAnEarlierEpochDoesNotHideThatOfALaterOne) {
  TestCluster cluster(2);
  Device &a = cluster.a(), &b = cluster.b();
  cluster.found();
  const auto goesBack = [&](const auto& image) {
    cluster.cut(a, b);
    a.stores[2].restoreImage(*image);
    a.start();
    cluster.connect(a, b);
    cluster.run();
  };
  const auto first = a.stores[2].image();
  submit(a, spend("op-1", 10));
  cluster.run();
  goesBack(first);
  ASSERT_FALSE(a.owns());
  const auto stopped = a.stores[2].image();
  ASSERT_TRUE(seize(b).ok());
  cluster.run();
  cluster.cut(a, b), a.start(), cluster.connect(a, b);
  cluster.run();
  ASSERT_TRUE(b.replica().transferOwnership(kPartition, "a", "", at(b.ms)).ok());
  cluster.run();
  ASSERT_TRUE(a.owns());
  for (const char* id : {"op-2", "op-3"}) submit(a, spend(id, 10)), cluster.run();
  goesBack(stopped);
  EXPECT_FALSE(a.owns());
  cluster.cut(a, b), a.start();
  EXPECT_FALSE(a.owns());
}

// Two logs under one epoch: a disk went back, and its owner went on before it met anybody.
TEST(Owners, AForkIsSeen) {
  TestCluster cluster(2);
  cluster.found();
  const auto image = cluster.a().stores[2].image();
  submit(cluster.a(), spend("op-1", 10));
  cluster.run();
  cluster.cut(cluster.a(), cluster.b());
  cluster.a().stores[2].restoreImage(*image);
  cluster.a().start();
  submit(cluster.a(), spend("op-2", 20));
  cluster.run();
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_TRUE(cluster.a().noticed("fork") || cluster.b().noticed("fork"));
  EXPECT_TRUE(cluster.a().hasIncident("fork") || cluster.b().hasIncident("fork"));
}

TEST(Owners, ALostLedgerDiskIsAnotherOwner) {
  TestCluster cluster(2);
  cluster.found();
  const std::string before = cluster.a().replica().ownerName();
  cluster.cut(cluster.a(), cluster.b());
  cluster.a().stores[2].wipe();
  cluster.a().start();
  EXPECT_NE(cluster.a().replica().ownerName(), before);
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_FALSE(cluster.a().owns());
  expectOneLog({&cluster.a(), &cluster.b()});
  ASSERT_TRUE(seize(cluster.a()).ok());  // connected, but another owner by now
  cluster.run();
  EXPECT_TRUE(cluster.a().owns());
  expectOneLog({&cluster.a(), &cluster.b()});
}

TEST(Owners, AClusterIsFoundedOnce) {
  TestCluster cluster(2);
  cluster.found();
  EXPECT_EQ(cluster.b().replica().bootstrap(at(0)).error().code, ErrorCode::conflict);
  EXPECT_EQ(cluster.a().replica().bootstrap(at(0)).error().code, ErrorCode::conflict);
}

// --- entries on a bad line

void expectAllArrive(const std::function<bool(const TestCluster::Frame&, int)>& lose) {
  TestCluster cluster(2);
  cluster.found();
  int n = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) { return isAdjudication(frame.bytes) && lose(frame, n++); };
  for (int i = 0; i < 20; ++i) {
    submit(i % 2 == 0 ? cluster.a() : cluster.b(), spend("op-" + std::to_string(i), 10, i % 3 == 0 ? "B" : "A"));
    cluster.run();
  }
  cluster.lose = {};
  for (int i = 0; i < 4; ++i) {
    for (Device* device : {&cluster.a(), &cluster.b()}) device->passTime(kLastRetryMs);
    cluster.run();
  }
  expectOneLog({&cluster.a(), &cluster.b()});
  EXPECT_EQ(cluster.a().host().partition().size(), 20u);
  EXPECT_EQ(cluster.a().replica().outbox().size() + cluster.b().replica().outbox().size(), 0u);
  EXPECT_TRUE(cluster.a().replica().quiet() && cluster.b().replica().quiet());
}

TEST(Entries, ThatAreLostComeAgain) {
  expectAllArrive(
      [](const TestCluster::Frame&, int n) { return (static_cast<unsigned>(n) * 2654435761u >> 16) % 3 == 0; });
  expectAllArrive(
      [](const TestCluster::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::entries; });
  expectAllArrive(
      [](const TestCluster::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::followed; });
  expectAllArrive(
      [](const TestCluster::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::answer; });
}

TEST(Entries, RepeatedAndReorderedOnesChangeNothing) {
  TestCluster cluster(2);
  cluster.found();
  for (int round = 0; round < 10; ++round) {
    submit(cluster.b(), spend("op-" + std::to_string(round), 10));
    cluster.collect();
    for (int step = 0; step < 6; ++step) {
      std::deque<TestCluster::Frame> now;
      now.swap(cluster.underWay);
      for (auto frame = now.rbegin(); frame != now.rend(); ++frame) {
        cluster.hand(*frame);
        if (isAdjudication(frame->bytes)) cluster.hand(*frame);
      }
      cluster.collect();
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (Device* device : {&cluster.a(), &cluster.b()}) device->passTime(kLastRetryMs);
    cluster.run();
  }
  expectOneLog({&cluster.a(), &cluster.b()});
  EXPECT_EQ(cluster.a().host().partition().size(), 10u);
  EXPECT_THAT(cluster.closed, IsEmpty());
}

// --- power

// Whatever write of whichever step the power goes at: when they have met again there is one owner, one log, and every
// answer is in it, or set aside and reported.
void expectSafe(std::size_t store, std::uint64_t step, bool& struck,
                const std::function<void(TestCluster&, Device& victim)>& story, bool victimIsA) {
  TestCluster cluster(2);
  cluster.found();
  submit(cluster.a(), spend("op-1", 10));
  cluster.run();
  Device& victim = victimIsA ? cluster.a() : cluster.b();
  victim.stores[store].crashAt(step);
  story(cluster, victim);
  struck = victim.stores[store].struck();
  cluster.losePower(victim);
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  for (int i = 0; i < 3; ++i) {
    for (Device* device : {&cluster.a(), &cluster.b()}) device->passTime(kLastRetryMs);
    cluster.run();
  }
  const std::string where = "store " + std::to_string(store) + ", step " + std::to_string(step);
  SCOPED_TRACE(where);
  EXPECT_NE(cluster.a().owns(), cluster.b().owns());
  expectOneLog({&cluster.a(), &cluster.b()});
  const std::vector<std::string> decided = cluster.a().decided();
  for (Device* device : {&cluster.a(), &cluster.b()}) {
    EXPECT_EQ(device->replica().outbox().size(), 0u);
    EXPECT_EQ(device->aside() > 0, device->hasIncident("surplus"));
    for (const Answer& answer : device->answers) {
      if (answer.outcome != Outcome::approved || answer.operationId.starts_with("init")) continue;
      EXPECT_TRUE(std::count(decided.begin(), decided.end(), answer.operationId) == 1 || cluster.a().aside() > 0)
          << answer.operationId;
    }
  }
}

void drainOnly(Device& device) { (void)device.drain(); }

void everyStep(bool victimIsA, const std::function<void(TestCluster&, Device&)>& story) {
  for (const std::size_t store : {std::size_t{1}, std::size_t{2}}) {
    bool struck = true;
    for (std::uint64_t step = 0; struck && step < 40; ++step) expectSafe(store, step, struck, story, victimIsA);
  }
}

// Carries frames while the victim may be dying: its errors are the point.
void carry(TestCluster& cluster, Device& victim) {
  for (int round = 0; round < 8; ++round) {
    for (Device* device : {&cluster.a(), &cluster.b()}) {
      const Status drained = device->drain();
      if (!drained.ok()) {
        EXPECT_EQ(device, &victim);
        return;
      }
      std::vector<Outgoing> sends;
      sends.swap(device->sends);
      for (const Outgoing& out : sends)
        for (const std::string& frame : framesOf(out.frames)) cluster.hand({device->name(), out.peer, frame});
    }
  }
}

TEST(Power, InTheMiddleOfAHandoverAtTheOldOwner) {
  everyStep(true, [](TestCluster& cluster, Device& victim) {
    (void)move(cluster.a(), cluster.b());
    carry(cluster, victim);
  });
}
TEST(Power, InTheMiddleOfAHandoverAtTheNewOwner) {
  everyStep(false, [](TestCluster& cluster, Device& victim) {
    (void)move(cluster.a(), cluster.b());
    carry(cluster, victim);
  });
}
TEST(Power, InTheMiddleOfASeizure) {
  everyStep(false, [](TestCluster& cluster, Device& victim) {
    cluster.cut(cluster.a(), cluster.b());
    (void)seize(victim);
    drainOnly(victim);
  });
}
TEST(Power, InTheMiddleOfSettingAside) {
  everyStep(true, [](TestCluster& cluster, Device& victim) {
    cluster.cut(cluster.a(), cluster.b());
    submit(victim, spend("op-lost", 10));
    drainOnly(victim);
    ASSERT_TRUE(seize(cluster.b()).ok());
    drainOnly(cluster.b());
    cluster.connect(cluster.a(), cluster.b());
    carry(cluster, victim);
  });
}

}  // namespace
}  // namespace witan::node::test::owners_test
