// Replicas two and three at a time: who owns a partition, and what becomes of what was decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/cable.h"

namespace witan::node::test {
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
  Cable cable(2);
  cable.found();
  submit(cable.b(), spend("op-1", 60'000));
  submit(cable.b(), spend("op-2", 60'000, "B"));
  cable.run();
  ASSERT_NE(cable.b().answered("op-1"), nullptr);
  EXPECT_EQ(cable.b().answered("op-1")->outcome, Outcome::approved);
  EXPECT_EQ(cable.b().answered("op-2")->outcome, Outcome::rejected);
  EXPECT_EQ(cable.b().answered("op-2")->invariant, "BUDGET_CAP");
  EXPECT_EQ(cable.b().replica().outbox().size(), 0u);
  expectOneLog({&cable.a(), &cable.b()});
}

// It decides, hears of a later epoch, and takes the partition back, all before it writes anything.
TEST(Owners, WhatWasDecidedInTheRoundOfASeizureIsNotForgottenInIt) {
  Cable cable(3);
  cable.found();
  cable.cut(cable.a(), cable.b());
  ASSERT_TRUE(seize(cable.b()).ok());
  submit(cable.a(), spend("op-1", 10));
  while (cable.a().owns()) {
    for (Device* device : {&cable.b(), &cable.c()}) {
      ASSERT_TRUE(device->drain().ok());
      for (const Outgoing& out : std::exchange(device->sends, {}))
        for (const std::string& frame : framesOf(out.frames))
          if (out.peer != "b" && (out.peer != "a" || device != &cable.b()))
            cable.hand({device->name(), out.peer, frame});
    }
  }
  ASSERT_TRUE(seize(cable.a()).ok());
  submit(cable.a(), spend("op-1", 10));
  ASSERT_TRUE(cable.a().drain().ok());
  ASSERT_EQ(cable.a().answers.size(), 3u) << "its beginning, and op-1 twice";
  EXPECT_EQ(cable.a().answers[1].outcome, Outcome::approved);
  EXPECT_EQ(cable.a().answers[2].outcome, Outcome::duplicate);
  EXPECT_EQ(cable.a().answers[2].recorded, Outcome::approved);
}

// An owner that answers at once costs the proposer no disk; one that does not finds the request again after a crash.
TEST(Owners, WhatIsAnsweredSoonIsNeverWrittenAndTheRestIsKept) {
  Cable cable(2);
  cable.found();
  const auto rows = [&] {
    std::vector<std::string> ids;
    EXPECT_TRUE(cable.b()
                    .stores[2]
                    .scan("o/", {},
                          [&](std::string_view key, std::string_view) {
                            ids.emplace_back(key.substr(2));
                            return true;
                          })
                    .ok());
    return ids;
  };
  cable.lose = [](const Cable::Frame& frame) {
    return frame.from == "b" && typeOf(frame.bytes) == AdjudicationFrame::request;
  };
  submit(cable.b(), spend("soon", 10));
  submit(cable.b(), spend("never", 10));
  ASSERT_TRUE(cable.b().drain().ok());
  EXPECT_THAT(rows(), IsEmpty());
  cable.losePower(cable.b());
  EXPECT_EQ(cable.b().replica().outbox().size(), 0u) << "nobody was told that they wait";
  cable.connect(cable.a(), cable.b());
  cable.lose = {};
  submit(cable.b(), spend("soon", 10));
  cable.run();
  ASSERT_NE(cable.b().answered("soon"), nullptr);
  EXPECT_THAT(rows(), IsEmpty());
  cable.cut(cable.a(), cable.b());
  submit(cable.b(), spend("late", 20));
  ASSERT_TRUE(cable.b().drain().ok());
  EXPECT_LE(cable.b().replica().nextTickMs(), cable.b().ms + kUnsavedMs);
  cable.b().passTime(kUnsavedMs);
  ASSERT_TRUE(cable.b().drain().ok());
  EXPECT_THAT(rows(), ElementsAre("late"));
  cable.b().losePower();
  cable.connect(cable.a(), cable.b());
  cable.run();
  ASSERT_NE(cable.b().answered("late"), nullptr);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST(Owners, WhoStopsKeepsWhatItHasTakenOn) {
  Cable cable(2);
  cable.found();
  cable.cut(cable.a(), cable.b());
  submit(cable.b(), spend("one", 10));
  cable.b().replica().keepRequests();
  ASSERT_TRUE(cable.b().drain().ok());
  cable.b().losePower();
  EXPECT_TRUE(cable.b().replica().outbox().all().contains("one"));
}

TEST(Owners, AHandoverLosesNothingAndTheOldOwnerRedirects) {
  Cable cable(3);
  cable.found();
  submit(cable.a(), spend("op-1", 10));
  ASSERT_TRUE(move(cable.a(), cable.b()).ok());
  EXPECT_FALSE(cable.a().owns());
  submit(cable.a(), spend("op-2", 20));  // between two owners
  submit(cable.c(), spend("op-3", 30));
  cable.run();
  EXPECT_TRUE(cable.b().owns());
  EXPECT_TRUE(cable.b().noticed("owner"));
  for (Device* device : {&cable.a(), &cable.c()}) {
    device->passTime(kLastRetryMs);
    cable.run();
  }
  EXPECT_EQ(cable.a().answered("op-2")->outcome, Outcome::approved);
  EXPECT_EQ(cable.c().answered("op-3")->outcome, Outcome::approved);
  expectOneLog({&cable.a(), &cable.b(), &cable.c()});
  // The old owner's last word is an epoch of its own, and the new one begins its epoch after it.
  EXPECT_EQ(cable.b().host().epoch(), (kernel::Epoch{3, cable.b().replica().ownerName()}));
}

// F3: a run is bound by the owner of the partition, and stays bound when it is handed over.
TEST(Owners, F3_ARunIsBoundToOnePlanAlsoAfterAHandover) {
  Cable cable(3);
  cable.found();
  const auto ofRun = [](const std::string& id, std::string_view plan) {
    Request request = spend(id, 10);
    request.runKey = sha256("run");
    request.planDigest = sha256(plan);
    return request;
  };
  submit(cable.b(), ofRun("op-1", "plan"));
  cable.run();
  submit(cable.c(), ofRun("op-2", "other plan"));
  cable.run();
  EXPECT_EQ(cable.b().answered("op-1")->outcome, Outcome::approved);
  EXPECT_EQ(cable.c().answered("op-2")->outcome, Outcome::rejected);
  EXPECT_EQ(cable.c().answered("op-2")->invariant, "KERNEL_INTEGRITY");
  EXPECT_THAT(cable.c().answered("op-2")->message, HasSubstr("is bound to the plan"));
  EXPECT_EQ(cable.a().replica().counters().boundElsewhere, 1u);

  ASSERT_TRUE(move(cable.a(), cable.b()).ok());
  cable.run();
  ASSERT_TRUE(cable.b().owns());
  submit(cable.b(), ofRun("op-3", "other plan"));
  submit(cable.b(), ofRun("op-4", "plan"));
  cable.run();
  EXPECT_EQ(cable.b().answered("op-3")->outcome, Outcome::rejected);
  EXPECT_EQ(cable.b().answered("op-4")->outcome, Outcome::approved);
  EXPECT_EQ(cable.b().replica().counters().boundElsewhere, 1u);
  expectOneLog({&cable.a(), &cable.b(), &cable.c()});
}

TEST(Owners, MovesThatCannotBe) {
  Cable cable(3);
  cable.found();
  EXPECT_THAT(move(cable.b(), cable.c()).error().message, HasSubstr("does not own"));
  EXPECT_THAT(cable.a().replica().transferOwnership("budget/9", "b", "", at(0)).error().message,
              HasSubstr("does not own"));
  EXPECT_THAT(cable.a().replica().transferOwnership(kPartition, "z", "", at(0)).error().message,
              HasSubstr("not connected"));
  cable.cut(cable.a(), cable.c());
  EXPECT_EQ(move(cable.a(), cable.c()).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(cable.a().owns());
}

TEST(Owners, SeizuresThatCannotBe) {
  Cable cable(3);
  cable.found();
  EXPECT_THAT(seize(cable.a()).error().message, HasSubstr("owns partition"));
  EXPECT_THAT(seize(cable.b()).error().message, HasSubstr("is connected"));
  EXPECT_THAT(cable.b().replica().forceTakeover("budget/9", "", at(0)).error().message, HasSubstr("no copy"));
  // c has more of the log than b: it is the one to seize.
  cable.cut(cable.a(), cable.b());
  submit(cable.a(), spend("op-1", 10));
  cable.lose = [](const Cable::Frame& frame) {
    return frame.to == "b" && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cable.run();
  cable.c().passTime(60'000);
  cable.run();
  EXPECT_THAT(seize(cable.b()).error().message, HasSubstr("c has more"));
  Device fresh("z");
  EXPECT_THAT(fresh.replica().forceTakeover(kPartition, "", at(0)).error().message, HasSubstr("nothing of partition"));
}

TEST(Owners, ASeizureSetsAsideWhatNobodyHadAndSaysSo) {
  Cable cable(3);
  cable.found();
  cable.cut(cable.a(), cable.b());
  cable.cut(cable.a(), cable.c());
  submit(cable.a(), spend("op-1", 10));  // acknowledged, and copied to nobody
  cable.run();
  ASSERT_EQ(cable.a().answered("op-1")->outcome, Outcome::approved);
  ASSERT_TRUE(seize(cable.b()).ok());
  submit(cable.b(), spend("op-2", 20));
  cable.run();
  EXPECT_TRUE(cable.a().owns());  // it cannot know: the embedded mode has no third party
  EXPECT_TRUE(cable.b().owns());

  cable.connect(cable.a(), cable.b());
  cable.connect(cable.a(), cable.c());
  cable.run();
  EXPECT_FALSE(cable.a().owns());
  expectOneLog({&cable.a(), &cable.b(), &cable.c()});
  EXPECT_THAT(cable.b().decided(), ElementsAre("op-2"));
  EXPECT_EQ(cable.a().aside(), 1u);
  EXPECT_TRUE(cable.a().noticed("surplus"));
  EXPECT_TRUE(cable.a().hasIncident("surplus"));
  EXPECT_EQ(cable.a().replica().counters().surplusEntries, 1u);
}

// The fence: an owner that hears of a later epoch decides nothing more, also before it has seen the log.
TEST(Owners, AZombieIsFencedByTheClaimAlone) {
  Cable cable(3);
  cable.found();
  cable.cut(cable.a(), cable.b());
  ASSERT_TRUE(seize(cable.b()).ok());
  cable.lose = [](const Cable::Frame& frame) {
    return frame.to == "a" && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cable.run();  // through c
  EXPECT_EQ(cable.a().host().epoch().number, 1u);
  EXPECT_FALSE(cable.a().owns());
  submit(cable.a(), spend("op-1", 10));
  cable.run();
  EXPECT_EQ(cable.a().answered("op-1"), nullptr);
  EXPECT_EQ(cable.a().replica().outbox().size(), 1u);
  cable.lose = {};
  cable.connect(cable.a(), cable.b());
  cable.run();
  EXPECT_EQ(cable.a().answered("op-1")->outcome, Outcome::approved);
  expectOneLog({&cable.a(), &cable.b(), &cable.c()});
  EXPECT_FALSE(cable.a().hasIncident("wentBack"));
}

// One id, asked for before and after the device hears that its epoch is over, in one step: what was decided here
// answers the first request, and not the second, which waits for the later owner.
TEST(Owners, AnAnswerSettlesTheRequestThatItIsOf) {
  Cable cable(3);
  cable.found();
  cable.cut(cable.a(), cable.b());
  ASSERT_TRUE(seize(cable.b()).ok());
  cable.collect();  // b tells c
  while (!cable.underWay.empty()) {
    const Cable::Frame frame = cable.underWay.front();
    cable.underWay.pop_front();
    cable.hand(frame);
  }
  cable.collect();  // and c tells a
  Request again = spend("op-1", 10);
  submit(cable.a(), again);
  again.runKey = sha256("run"), again.planDigest = sha256("plan");
  ASSERT_TRUE(cable.a().owns());
  for (const Cable::Frame& frame : std::exchange(cable.underWay, {})) cable.hand(frame);
  ASSERT_FALSE(cable.a().owns());
  submit(cable.a(), again);
  cable.a().answers.clear();
  ASSERT_TRUE(cable.a().drain().ok());
  ASSERT_EQ(cable.a().answers.size(), 1u);
  EXPECT_EQ(cable.a().answers[0].outcome, Outcome::approved);
  EXPECT_TRUE(cable.a().replica().outbox().all().contains("op-1"));
}

// Entries of an owner whose epoch is over are not followed.
TEST(Owners, FollowersRefuseAZombiesEntries) {
  Cable cable(3);
  cable.found();
  cable.cut(cable.a(), cable.b());
  submit(cable.a(), spend("op-1", 10));
  cable.collect();  // to c, under way
  std::deque<Cable::Frame> late;
  late.swap(cable.underWay);
  ASSERT_TRUE(seize(cable.b()).ok());
  cable.run();
  ASSERT_EQ(cable.c().host().epoch().number, 2u);
  for (const Cable::Frame& frame : late) cable.hand(frame);
  cable.run();
  EXPECT_GE(cable.c().replica().counters().zombieRefused, 1u);
  EXPECT_THAT(cable.c().decided(), IsEmpty());
  expectOneLog({&cable.b(), &cable.c()});
}

// A handover that is still under way, and the seizure by the device that it would have reached, are two epochs.
TEST(Owners, AHandoverUnderWayAndASeizureByItsReceiver) {
  Cable cable(2);
  cable.found();
  submit(cable.a(), spend("op-1", 10));
  cable.collect();
  cable.underWay.clear();  // b does not hear of it
  ASSERT_TRUE(move(cable.a(), cable.b()).ok());
  cable.collect();
  cable.cut(cable.a(), cable.b());
  ASSERT_TRUE(seize(cable.b()).ok());
  submit(cable.b(), spend("op-2", 20));
  cable.run();
  EXPECT_NE(cable.a().host().epoch(), cable.b().host().epoch());
  cable.connect(cable.a(), cable.b());
  cable.run();
  EXPECT_TRUE(cable.b().owns());
  expectOneLog({&cable.a(), &cable.b()});
  EXPECT_THAT(cable.a().decided(), ElementsAre("op-2"));
  EXPECT_TRUE(cable.a().hasIncident("surplus"));  // op-1 was answered
}

TEST(Owners, TwoSeizuresOfOneNumberAndTheGreaterOwnerStays) {
  Cable cable(3);
  cable.found();
  for (Device* device : {&cable.b(), &cable.c()}) cable.cut(cable.a(), *device);
  cable.cut(cable.b(), cable.c());
  ASSERT_TRUE(seize(cable.b()).ok());
  ASSERT_TRUE(seize(cable.c()).ok());
  submit(cable.b(), spend("op-b", 10));
  submit(cable.c(), spend("op-c", 10));
  cable.run();
  EXPECT_EQ(cable.b().host().epoch().number, cable.c().host().epoch().number);
  cable.connect(cable.a(), cable.b());
  cable.run();
  cable.connect(cable.b(), cable.c());
  cable.connect(cable.a(), cable.c());
  cable.run();
  EXPECT_TRUE(cable.c().owns());
  EXPECT_FALSE(cable.b().owns());
  expectOneLog({&cable.a(), &cable.b(), &cable.c()});
  EXPECT_THAT(cable.a().decided(), ElementsAre("op-c"));
  EXPECT_TRUE(cable.b().hasIncident("surplus"));
}

// An owner whose disk went back knows less of its own epoch than others do: it decides nothing more in it.
TEST(Owners, AnOwnerThatWentBackStopsUntilItIsSeized) {
  Cable cable(2);
  cable.found();
  const auto image = cable.a().stores[2].image();
  submit(cable.a(), spend("op-1", 10));
  cable.run();
  cable.cut(cable.a(), cable.b());
  cable.a().stores[2].restoreImage(*image);
  cable.a().start();
  EXPECT_TRUE(cable.a().owns());
  cable.connect(cable.a(), cable.b());
  cable.run();
  EXPECT_FALSE(cable.a().owns());
  EXPECT_TRUE(cable.a().hasIncident("wentBack"));
  EXPECT_TRUE(cable.a().noticed("wentBack"));
  submit(cable.a(), spend("op-2", 10));
  cable.run();
  EXPECT_EQ(cable.a().answered("op-2"), nullptr);
}

// Two logs under one epoch: a disk went back, and its owner went on before it met anybody.
TEST(Owners, AForkIsSeen) {
  Cable cable(2);
  cable.found();
  const auto image = cable.a().stores[2].image();
  submit(cable.a(), spend("op-1", 10));
  cable.run();
  cable.cut(cable.a(), cable.b());
  cable.a().stores[2].restoreImage(*image);
  cable.a().start();
  submit(cable.a(), spend("op-2", 20));
  cable.run();
  cable.connect(cable.a(), cable.b());
  cable.run();
  EXPECT_TRUE(cable.a().noticed("fork") || cable.b().noticed("fork"));
  EXPECT_TRUE(cable.a().hasIncident("fork") || cable.b().hasIncident("fork"));
}

TEST(Owners, ALostLedgerDiskIsAnotherOwner) {
  Cable cable(2);
  cable.found();
  const std::string before = cable.a().replica().ownerName();
  cable.cut(cable.a(), cable.b());
  cable.a().stores[2].wipe();
  cable.a().start();
  EXPECT_NE(cable.a().replica().ownerName(), before);
  cable.connect(cable.a(), cable.b());
  cable.run();
  EXPECT_FALSE(cable.a().owns());
  expectOneLog({&cable.a(), &cable.b()});
  ASSERT_TRUE(seize(cable.a()).ok());  // connected, but another owner by now
  cable.run();
  EXPECT_TRUE(cable.a().owns());
  expectOneLog({&cable.a(), &cable.b()});
}

TEST(Owners, AClusterIsFoundedOnce) {
  Cable cable(2);
  cable.found();
  EXPECT_EQ(cable.b().replica().bootstrap(at(0)).error().code, ErrorCode::conflict);
  EXPECT_EQ(cable.a().replica().bootstrap(at(0)).error().code, ErrorCode::conflict);
}

// --- entries on a bad line

void expectAllArrive(const std::function<bool(const Cable::Frame&, int)>& lose) {
  Cable cable(2);
  cable.found();
  int n = 0;
  cable.lose = [&](const Cable::Frame& frame) { return isAdjudication(frame.bytes) && lose(frame, n++); };
  for (int i = 0; i < 20; ++i) {
    submit(i % 2 == 0 ? cable.a() : cable.b(), spend("op-" + std::to_string(i), 10, i % 3 == 0 ? "B" : "A"));
    cable.run();
  }
  cable.lose = {};
  for (int i = 0; i < 4; ++i) {
    for (Device* device : {&cable.a(), &cable.b()}) device->passTime(kLastRetryMs);
    cable.run();
  }
  expectOneLog({&cable.a(), &cable.b()});
  EXPECT_EQ(cable.a().host().partition().size(), 20u);
  EXPECT_EQ(cable.a().replica().outbox().size() + cable.b().replica().outbox().size(), 0u);
  EXPECT_TRUE(cable.a().replica().quiet() && cable.b().replica().quiet());
}

TEST(Entries, ThatAreLostComeAgain) {
  expectAllArrive([](const Cable::Frame&, int n) { return (static_cast<unsigned>(n) * 2654435761u >> 16) % 3 == 0; });
  expectAllArrive([](const Cable::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::entries; });
  expectAllArrive([](const Cable::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::followed; });
  expectAllArrive([](const Cable::Frame& frame, int) { return typeOf(frame.bytes) == AdjudicationFrame::answer; });
}

TEST(Entries, RepeatedAndReorderedOnesChangeNothing) {
  Cable cable(2);
  cable.found();
  for (int round = 0; round < 10; ++round) {
    submit(cable.b(), spend("op-" + std::to_string(round), 10));
    cable.collect();
    for (int step = 0; step < 6; ++step) {
      std::deque<Cable::Frame> now;
      now.swap(cable.underWay);
      for (auto frame = now.rbegin(); frame != now.rend(); ++frame) {
        cable.hand(*frame);
        if (isAdjudication(frame->bytes)) cable.hand(*frame);
      }
      cable.collect();
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (Device* device : {&cable.a(), &cable.b()}) device->passTime(kLastRetryMs);
    cable.run();
  }
  expectOneLog({&cable.a(), &cable.b()});
  EXPECT_EQ(cable.a().host().partition().size(), 10u);
  EXPECT_THAT(cable.closed, IsEmpty());
}

// --- power

// Whatever write of whichever step the power goes at: when they have met again there is one owner, one log, and every
// answer is in it, or set aside and reported.
void expectSafe(std::size_t store, std::uint64_t step, bool& struck,
                const std::function<void(Cable&, Device& victim)>& story, bool victimIsA) {
  Cable cable(2);
  cable.found();
  submit(cable.a(), spend("op-1", 10));
  cable.run();
  Device& victim = victimIsA ? cable.a() : cable.b();
  victim.stores[store].crashAt(step);
  story(cable, victim);
  struck = victim.stores[store].struck();
  cable.losePower(victim);
  cable.connect(cable.a(), cable.b());
  cable.run();
  for (int i = 0; i < 3; ++i) {
    for (Device* device : {&cable.a(), &cable.b()}) device->passTime(kLastRetryMs);
    cable.run();
  }
  const std::string where = "store " + std::to_string(store) + ", step " + std::to_string(step);
  SCOPED_TRACE(where);
  EXPECT_NE(cable.a().owns(), cable.b().owns());
  expectOneLog({&cable.a(), &cable.b()});
  const std::vector<std::string> decided = cable.a().decided();
  for (Device* device : {&cable.a(), &cable.b()}) {
    EXPECT_EQ(device->replica().outbox().size(), 0u);
    EXPECT_EQ(device->aside() > 0, device->hasIncident("surplus"));
    for (const Answer& answer : device->answers) {
      if (answer.outcome != Outcome::approved || answer.operationId.starts_with("init")) continue;
      EXPECT_TRUE(std::count(decided.begin(), decided.end(), answer.operationId) == 1 || cable.a().aside() > 0)
          << answer.operationId;
    }
  }
}

void drainOnly(Device& device) { (void)device.drain(); }

void everyStep(bool victimIsA, const std::function<void(Cable&, Device&)>& story) {
  for (const std::size_t store : {std::size_t{1}, std::size_t{2}}) {
    bool struck = true;
    for (std::uint64_t step = 0; struck && step < 40; ++step) expectSafe(store, step, struck, story, victimIsA);
  }
}

// Carries frames while the victim may be dying: its errors are the point.
void carry(Cable& cable, Device& victim) {
  for (int round = 0; round < 8; ++round) {
    for (Device* device : {&cable.a(), &cable.b()}) {
      const Status drained = device->drain();
      if (!drained.ok()) {
        EXPECT_EQ(device, &victim);
        return;
      }
      std::vector<Outgoing> sends;
      sends.swap(device->sends);
      for (const Outgoing& out : sends)
        for (const std::string& frame : framesOf(out.frames)) cable.hand({device->name(), out.peer, frame});
    }
  }
}

TEST(Power, InTheMiddleOfAHandoverAtTheOldOwner) {
  everyStep(true, [](Cable& cable, Device& victim) {
    (void)move(cable.a(), cable.b());
    carry(cable, victim);
  });
}
TEST(Power, InTheMiddleOfAHandoverAtTheNewOwner) {
  everyStep(false, [](Cable& cable, Device& victim) {
    (void)move(cable.a(), cable.b());
    carry(cable, victim);
  });
}
TEST(Power, InTheMiddleOfASeizure) {
  everyStep(false, [](Cable& cable, Device& victim) {
    cable.cut(cable.a(), cable.b());
    (void)seize(victim);
    drainOnly(victim);
  });
}
TEST(Power, InTheMiddleOfSettingAside) {
  everyStep(true, [](Cable& cable, Device& victim) {
    cable.cut(cable.a(), cable.b());
    submit(victim, spend("op-lost", 10));
    drainOnly(victim);
    ASSERT_TRUE(seize(cable.b()).ok());
    drainOnly(cable.b());
    cable.connect(cable.a(), cable.b());
    carry(cable, victim);
  });
}

}  // namespace
}  // namespace witan::node::test
