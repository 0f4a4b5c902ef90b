// What runs leave goes after the horizon, on every device, and not before; a year of an agent on four devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

#include "agents/episode/transcript.h"
#include "agents/host/run_retention.h"
#include "agents/wake/wake_checks.h"
#include "base/time.h"
#include "domains/agents.h"
#include "replication/records/record_write.h"
#include "replication/statement.h"
#include "tests/agents/clerk.h"

namespace witan::agents::retention_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::int64_t kDayMs = 86'400'000;

struct Counts {
  std::size_t entries = 0, plans = 0, runs = 0, operations = 0, batches = 0;
};

std::size_t held(Space& space, Kind kind, std::string_view end = {}) {
  std::size_t n = 0;
  for (const std::string& key : space.keys(kind))
    n += key.ends_with(end) &&
         std::ranges::any_of(space.table().find(kind, key)->versions, [](const Held* one) { return !one->tombstone; });
  return n;
}

Counts countsOf(HostRig& rig) {
  Space &agents = rig.device().agents(), &journal = rig.device().journal();
  return {held(agents, Kind::message), held(agents, Kind::plan), held(agents, Kind::wakeRun),
          held(agents, Kind::operation) + held(journal, Kind::operation), held(journal, Kind::batch)};
}

class Cluster {
 public:
  explicit Cluster(std::size_t devices, const Agent& agent, std::int64_t horizonMs,
                   const std::vector<episode::ToolInfo>& tools = {}) {
    for (std::size_t i = 0; i < devices; ++i) {
      rigs.push_back(
          std::make_unique<HostRig>(std::string(1, static_cast<char>('a' + i)), std::vector<const Agent*>{&agent}));
      rigs.back()->options.retentionMs = rigs.back()->options.saga.retryMs = horizonMs;
      rigs.back()->options.tools = tools;
      EXPECT_TRUE(rigs.back()->open().ok());
      names.push_back(rigs.back()->device().name());
    }
    LocalReplica& first = rigs.front()->device().replica();
    for (const std::string& name : names) {
      const auto members = first.membership();
      EXPECT_TRUE(
          first.addStatement(admit(*first.statements(), first.writer(), name, members->nextAdmission(name), name))
              .ok());
    }
    rigs.front()->device().flush();
  }

  // Those of a group reach each other and nobody else.
  void day(const std::vector<std::vector<std::size_t>>& groups, int rounds) {
    for (const auto& group : groups) {
      std::set<std::string> live;
      for (const std::size_t i : group) live.insert(names[i]);
      for (const std::size_t i : group) rigs[i]->host().setDevices(names, live, rigs[i]->now());
    }
    for (int n = 0; n < rounds; ++n)
      for (const auto& group : groups) {
        for (std::size_t i = 1; i < group.size(); ++i) {
          replication::test::Link link(rigs[group[0]]->device(), rigs[group[i]]->device());
          link.run();
        }
        for (const std::size_t i : group) {
          ASSERT_TRUE(rigs[i]->round().ok());
          rigs[i]->ms += 1'500;
        }
      }
    for (auto& rig : rigs) ASSERT_TRUE(rig->device().replica().stabilise().ok());
  }
  void moveTo(std::int64_t ms) {
    for (auto& rig : rigs) rig->ms = std::max(rig->ms, ms);
  }

  // Days on which nothing is written.
  void quiet(const std::vector<std::vector<std::size_t>>& groups, int days) {
    for (int n = 0; n < days; ++n) {
      for (auto& rig : rigs) rig->ms += kDayMs;
      day(groups, 4);
    }
  }

  std::vector<std::unique_ptr<HostRig>> rigs;
  std::vector<std::string> names;
};

const std::vector<std::vector<std::size_t>> kTogether{{0, 1, 2, 3}}, kCut{{0, 1}, {2, 3}};

// Nine weeks, or as many days as $RETENTION_DAYS says; the curve stands in the test's properties.
TEST(Retention, AYearOnFourDevicesWithWeeklyCutsStaysBounded) {
  const char* asked = std::getenv("RETENTION_DAYS");
  const int days = asked == nullptr ? 63 : std::atoi(asked);
  Cluster cluster(4, *domains::findAgent("journal-summariser"), 14 * kDayMs);
  const std::int64_t begin = cluster.rigs[0]->ms;
  std::vector<Counts> curve;
  std::map<std::string, std::size_t> entered;  // notes of a day, by its digest
  for (int day = 0; day < days; ++day) {
    cluster.moveTo(begin + day * kDayMs);
    const bool cut = day % 7 >= 5;
    for (const std::size_t at : cut ? std::vector<std::size_t>{0, 3} : std::vector<std::size_t>(1, day % 4)) {
      ASSERT_TRUE(cluster.rigs[at]->enter(concat("note/", day, "/", at), "note", "\"a note\"").ok());
      ++entered["digest/" + formatDate(dateOf(Time{cluster.rigs[at]->ms * 1000}))];
    }
    cluster.day(cut ? kCut : kTogether, 8);
    if (day % 7 == 6) curve.push_back(countsOf(*cluster.rigs[2]));
  }
  cluster.day(kTogether, 60);
  for (std::size_t i = 0; i < curve.size(); ++i)
    RecordProperty(concat("week_", i + 1), concat(curve[i].entries, " entries, ", curve[i].runs, " runs, ",
                                                  curve[i].operations, " operations, ", curve[i].batches, " batches"));
  // From the fourth week on it is level: nothing grows by more than what a week brings.
  const Counts& early = curve[3];
  for (std::size_t i = 4; i < curve.size(); ++i) {
    EXPECT_LT(curve[i].entries, early.entries * 3 / 2) << "week " << i + 1;
    EXPECT_LT(curve[i].plans, early.plans * 3 / 2) << "week " << i + 1;
    EXPECT_LT(curve[i].runs, early.runs * 3 / 2) << "week " << i + 1;
    EXPECT_LT(curve[i].operations, early.operations * 3 / 2) << "week " << i + 1;
    EXPECT_LT(curve[i].batches, early.batches * 3 / 2) << "week " << i + 1;
  }
  EXPECT_GT(early.runs, 10u);
  for (auto& rig : cluster.rigs) {
    EXPECT_EQ(rig->device().journal().digest(), cluster.rigs[0]->device().journal().digest());
    EXPECT_EQ(rig->device().agents().digest(), cluster.rigs[0]->device().agents().digest());
    EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
    for (const std::string& id : rig->device().journal().keys(Kind::journal))
      ASSERT_FALSE(journalViewIn(rig->device().journal(), id)->inConflict()) << id;
  }
  // A digest has all notes of its day, also on the days of the cuts. (A run that is late writes that of the next day.)
  std::size_t digests = 0;
  for (const std::string& id : cluster.rigs[0]->device().journal().keys(Kind::journal)) {
    if (!id.starts_with("digest/")) continue;
    ++digests;
    EXPECT_EQ(parseJson(cluster.rigs[0]->shown(id))->at("notes").to_number<std::size_t>(), entered[id]) << id;
  }
  EXPECT_GT(digests, entered.size() / 2);
}

TEST(Retention, NothingGoesThatADeviceLacksOrThatIsWithinTheHorizon) {
  Cluster cluster(2, *domains::findAgent("journal-summariser"), 30 * kDayMs);
  cluster.day({{0, 1}}, 10);
  // b is away, and lacks what a does meanwhile.
  ASSERT_TRUE(cluster.rigs[0]->enter("note/1", "note", "\"a note\"").ok());
  cluster.day({{0}, {1}}, 10);
  const Counts before = countsOf(*cluster.rigs[0]);
  ASSERT_GT(before.entries, 0u);
  cluster.quiet({{0}, {1}}, 40);
  EXPECT_EQ(countsOf(*cluster.rigs[0]).entries, before.entries);
  // A run of today is within the horizon; that of the first note is not.
  ASSERT_TRUE(cluster.rigs[1]->enter("note/2", "note", "\"another\"").ok());
  cluster.day({{0, 1}}, 20);
  cluster.quiet({{0, 1}}, 25);
  EXPECT_EQ(held(cluster.rigs[0]->device().agents(), Kind::plan), 1u) << "that of the second note";
  EXPECT_THAT(cluster.rigs[0]->runs(), SizeIs(1));
  EXPECT_EQ(cluster.rigs[0]->device().agents().digest(), cluster.rigs[1]->device().agents().digest());
}

// c hears of the batch when its run ended weeks ago elsewhere: the batch stays for a horizon from then on, and while
// any device has it, all know that the run has ended.
TEST(Retention, ARunIsRememberedWhileADeviceHasTheBatchThatWokeIt) {
  const Agent& agent = *domains::findAgent("journal-summariser");
  const std::array specs{&agent.spec()};
  Cluster cluster(3, agent, 30 * kDayMs);
  cluster.day({{0, 1, 2}}, 10);
  ASSERT_TRUE(cluster.rigs[0]->enter("note/1", "note", "\"a note\"").ok());
  cluster.day({{0, 1}, {2}}, 10);
  ASSERT_THAT(cluster.rigs[0]->runs(), SizeIs(1));
  cluster.quiet({{0, 1}, {2}}, 20);
  bool held = false;
  for (int day = 20; day < 100; ++day) {
    cluster.quiet({{0, 1, 2}}, 1);
    for (auto& rig : cluster.rigs) {
      ASSERT_THAT(wakesWithoutEnd(rig->device().replica(), "main", specs).value(), IsEmpty()) << "day " << day;
      held = held || (day > 35 && !batchesOf(rig->device().journal())->empty());
    }
  }
  EXPECT_TRUE(held) << "no batch outlasted its run";
  for (auto& rig : cluster.rigs) EXPECT_THAT(rig->runs(), IsEmpty()) << rig->device().name();
}

// One begins a run and hears nothing more; another begins it anew when that one is cut off, and what it says of the run
// replaces what the first one said. Both have a transcript, and a third device takes away what is old.
TEST(Retention, TheTranscriptOfADeviceWhoseRunAnotherBeganAnewGoesToo) {
  Cluster cluster(3, kClerk, 6 * kDayMs,
                  {external("model.ask", episode::ToolKind::look), external("mail.send", episode::ToolKind::action)});
  cluster.rigs[2]->mute = true;
  for (const std::size_t other : {0, 1})
    cluster.rigs[other]->looker = [](const ToolCall&) { return episode::Observation{true, "fine", "", 0, 0}; };
  cluster.day({{0, 1, 2}}, 4);
  ASSERT_TRUE(cluster.rigs[2]->enter("r1", "request", "\"please\"").ok());
  cluster.day({{0, 1}, {2}}, 4);
  cluster.day({{0, 1, 2}}, 4);
  Space& records = cluster.rigs[0]->device().agents();
  ASSERT_THAT(episode::listTranscripts(records), SizeIs(1));
  cluster.day({{1}}, 10);
  cluster.day({{0, 1}, {2}}, 4);
  ASSERT_THAT(cluster.rigs[0]->runs(), ElementsAre(Pair(::testing::_, WakeStatus::completed)));
  ASSERT_THAT(episode::listTranscripts(records), SizeIs(2));
  ASSERT_THAT(*records.versions(Kind::wakeRun, records.keys(Kind::wakeRun).front()), SizeIs(1));
  cluster.quiet({{0, 1, 2}}, 20);
  for (auto& rig : cluster.rigs) {
    EXPECT_EQ(held(rig->device().agents(), Kind::wakeRun), 0u);
    EXPECT_EQ(held(rig->device().agents(), Kind::plan), 0u);
    EXPECT_THAT(episode::listTranscripts(rig->device().agents()), IsEmpty());
  }
}

// Two devices that are cut off planned one run, and some of it alike: each record goes once.
TEST(Retention, WhatTwoPlansOfARunShareGoesOnce) {
  Cluster cluster(2, *domains::findAgent("journal-summariser"), 6 * kDayMs);
  cluster.day({{0, 1}}, 4);
  ASSERT_TRUE(cluster.rigs[0]->enter("note/1", "note", "\"a note\"").ok());
  cluster.day({{0}, {1}}, 10);
  Space& records = cluster.rigs[0]->device().agents();
  ASSERT_EQ(held(records, Kind::plan), 1u);
  const std::string key = records.keys(Kind::plan).front();
  auto plan = decodeRecord<PlanBody>(records.versions(Kind::plan, key)->front().body);
  ASSERT_TRUE(plan.ok());
  plan->actions.push_back(plan->actions.front());
  const auto write = recordWrite(key, *plan);
  ASSERT_TRUE(write.ok());
  ASSERT_TRUE(cluster.rigs[1]->device().replica().commit(DatabaseName::agents, "main", {&*write, 1}).ok());
  cluster.day({{0, 1}}, 20);
  ASSERT_THAT(*records.versions(Kind::plan, key), SizeIs(2));
  cluster.quiet({{0, 1}}, 20);
  EXPECT_EQ(held(records, Kind::plan), 0u);
  EXPECT_EQ(held(records, Kind::wakeRun), 0u);
}

// The same fact must not run twice, however long ago it was.
TEST(Retention, TheRecordOfARunByALedgerStays) {
  class Told final : public EntryAgent {
   public:
    const AgentSpec& spec() const override {
      static const AgentSpec kSpec{.id = "told",
                                   .version = "1",
                                   .what = "writes down what was verified",
                                   .category = "office",
                                   .ledgers = {{"verified", "verification", "finding.phase", "VERIFIED"}},
                                   .capabilities = {{"journal.read"}}};
      return kSpec;
    }

   protected:
    bool concerns(const Entry&) const override { return false; }
    Result<Actions> plan(const Entry&, const Entries&) const override { return Actions{}; }
  };
  const Told agent;
  Cluster cluster(1, agent, 30 * kDayMs);
  HostRig& rig = *cluster.rigs[0];
  const LedgerFact fact{"verification", "proj", "finding.phase", "F1", "VERIFIED"};
  cluster.day({{0}}, 2);
  ASSERT_TRUE(rig.host().ledgerFact("told", "verified", fact, rig.now()).value());
  cluster.day({{0}}, 10);
  ASSERT_THAT(rig.runs(), SizeIs(1));
  cluster.quiet({{0}}, 40);
  EXPECT_EQ(held(rig.device().agents(), Kind::message), 0u);
  ASSERT_THAT(rig.runs(), SizeIs(1));
  ASSERT_TRUE(rig.host().ledgerFact("told", "verified", fact, rig.now()).value());
  cluster.day({{0}}, 10);
  EXPECT_EQ(rig.host().counters().started, 1u);
}

// Ten days of runs, then a clock that says it is ten years on: each pass takes away two days more, so a person who
// mends the clock keeps the rest. A prune that a person asks for goes at once.
TEST(Retention, AClockThatJumpsTakesAwayTwoDaysAPass) {
  Cluster cluster(1, *domains::findAgent("journal-summariser"), 30 * kDayMs);
  HostRig& rig = *cluster.rigs[0];
  for (int day = 0; day < 10; ++day) {
    ASSERT_TRUE(rig.enter(concat("note/", day), "note", "\"a note\"").ok());
    cluster.quiet({{0}}, 1);
  }
  cluster.quiet({{0}}, 6);
  const Counts old = countsOf(rig);
  const std::size_t plans = old.plans;
  ASSERT_GE(plans, 10u);
  const std::size_t answers = held(rig.device().agents(), Kind::message, "/answer");  // no transcript has these
  const Pruned earlier = rig.host().retention().pruned();
  rig.ms += 3'650 * kDayMs;
  std::size_t passes = 0;
  for (std::size_t before = plans; countsOf(rig).plans > 0 && passes < 20; ++passes) {
    cluster.day({{0}}, 4);
    EXPECT_LE(before - countsOf(rig).plans, 4u) << "pass " << passes;
    before = countsOf(rig).plans;
    rig.ms += 3'600'000;
  }
  EXPECT_GE(passes, 4u);
  EXPECT_LT(passes, 20u);
  // What is said to have gone is what has.
  const Counts left = countsOf(rig);
  const Pruned& gone = rig.host().retention().pruned();
  ASSERT_EQ(left.entries, 0u);
  EXPECT_EQ(gone.entries - earlier.entries, old.entries - answers);
  EXPECT_EQ(gone.plans - earlier.plans, old.plans - left.plans);
  EXPECT_EQ(gone.runs - earlier.runs, old.runs - left.runs);
  EXPECT_GT(gone.operations, earlier.operations);
}

TEST(Retention, AClockThatWasAheadHoldsNoBatchesUp) {
  Cluster cluster(1, *domains::findAgent("journal-summariser"), 4 * kDayMs);
  HostRig& rig = *cluster.rigs[0];
  const auto days = [&](int from, int to) {
    for (int day = from; day < to; ++day) {
      ASSERT_TRUE(rig.enter(concat("note/", day), "note", "\"a note\"").ok());
      cluster.quiet({{0}}, 1);
    }
  };
  days(0, 10);
  const std::size_t level = countsOf(rig).batches;
  EXPECT_GT(level, 0u);
  EXPECT_LT(level, 20u);
  rig.aheadMs = 30 * kDayMs;
  days(10, 11);
  rig.aheadMs = 0;
  days(11, 21);
  EXPECT_LE(countsOf(rig).batches, level);
}

// The power goes at write `step` of one disk amid the passes: nothing runs again, and all that is old goes later.
bool goesAt(bool journal, std::uint64_t step, store::Moment moment) {
  SCOPED_TRACE(concat(journal ? "journal" : "agents", " step ", step, moment == store::Moment::before ? "" : " after"));
  HostRig rig("a", {domains::findAgent("journal-summariser")});
  rig.options.retentionMs = rig.options.saga.retryMs = 6 * kDayMs;
  const auto live = [&](int days) {
    rig.host().setDevices({"a"}, {}, rig.now());
    for (int n = 0; n < 3 * days; ++n, rig.ms += kDayMs / 3)
      if (!rig.round().ok()) return false;
    return true;
  };
  EXPECT_TRUE(rig.open().ok());
  for (int day = 0; day < 3; ++day) {
    EXPECT_TRUE(rig.enter(concat("note/", day), "note", "\"a note\"").ok());
    EXPECT_TRUE(live(1));
  }
  EXPECT_TRUE(live(2));
  const std::string digest = rig.shown(rig.device().journal().keys(Kind::journal).front());
  const Counts before = countsOf(rig);
  EXPECT_GE(before.plans, 2u);
  (journal ? rig.device().journalStore() : rig.device().agentStore()).crashAt(step, moment);
  const bool lived = live(18);
  if (!lived) {
    rig.crash();
    EXPECT_TRUE(rig.open().ok());
    EXPECT_TRUE(live(18));
    EXPECT_EQ(rig.host().counters().started, 0u);
  }
  const Counts after = countsOf(rig);
  EXPECT_EQ(after.plans + after.runs + after.entries + after.operations, 0u);
  EXPECT_EQ(rig.shown(rig.device().journal().keys(Kind::journal).front()), digest);
  return !lived;
}

TEST(Retention, ThePowerGoesAtEachWriteOfItsPasses) {
  std::size_t boundaries = 0;
  for (const bool journal : {false, true})
    for (const auto moment : {store::Moment::before, store::Moment::after})
      for (std::uint64_t step = 0; goesAt(journal, step, moment); ++step) ++boundaries;
  EXPECT_GE(boundaries, 20u);
}

// A person cannot have an operation tried again whose record may be gone.
TEST(Retention, AnOperationOlderThanTheHorizonIsNotTriedAgain) {
  Cluster cluster(1, kClerk, 30 * kDayMs);
  auto rig = clerkOn("z", "mail it");
  rig->options.saga.retryMs = 30 * kDayMs;
  rig->tool = [](const ToolCall&) -> Result<saga::Outcome> { return Error{ErrorCode::unavailable, "away", ""}; };
  ASSERT_TRUE(rig->open().ok());
  rig->host().setDevices({"z"}, {}, rig->now());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  std::vector<OperationId> ids;
  ASSERT_TRUE(rig->host().sagas().rows().visitHeld([&](saga::SagaRow&& row) { ids.push_back(row.id()); }).ok());
  ASSERT_THAT(ids, SizeIs(1));
  rig->ms += 31 * kDayMs;
  EXPECT_FALSE(rig->host().sagas().retry(ids[0], rig->now()).ok());
  EXPECT_TRUE(rig->host().sagas().compensate(ids[0], rig->now()).ok());
}

}  // namespace
}  // namespace witan::agents::retention_test
