// Wakes: who is woken by what, under which run key, on which device, and how often (003, sections 0.2 to 0.4, 3, 6.1).
#include <gmock/gmock.h>

#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "replication/writer.h"
#include "tests/agents/wake_world.h"

namespace witan::agents::test::wake_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const AgentSpec kLab = agentFor("lab", "lab-result");
const AgentSpec kClinic = agentFor("clinic", "visit");
const std::vector<const AgentSpec*> kBoth{&kLab, &kClinic};

std::string entityOf(const WakeJob& job) {
  return parseJson(job.input)->at("changes").at(0).at("id").as_string().c_str();
}

// 003, 0.2: m -> emit -> match -> enqueue; 0.4: one run, its end on record.
TEST(Wakes, AChangeWakesWhoSubscribedOnce) {
  Host a("a", kBoth);
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.round(at(1)));
  ASSERT_EQ(a.running().size(), 1u);
  const WakeJob job = a.running()[0];
  EXPECT_EQ(job.agentId, "lab");
  EXPECT_EQ(job.subject, "entries");
  EXPECT_EQ(job.enqueuedAtMs, at(1).wallMs());
  EXPECT_EQ(job.input, R"({"changes":[{"id":"e1","type":"journalEntity"}],"tokens":["entityId|-|e1",)"
                       R"("subtypeToken|journal|lab-result"]})");
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::started));
  ASSERT_TRUE(a.endAll(at(2)));
  ASSERT_TRUE(a.settle(at(3)));
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::completed));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
  // Seed 003, 2.1: how far the writer's batches have been processed.
  EXPECT_EQ(a.device().view("lab").processedCounterByHost.at(job.batchHost), job.batchCounter);
}

// Obligation 5 (003, 11): run keys are the same wherever they are derived, so one edit is one run.
TEST(Obligation5, TwoDevicesDeriveEqualRunKeysForOneEdit) {
  Host a("a", kBoth), b("b", kBoth);
  a.edit("e1", "lab-result");
  replication::test::sync(a.device(), b.device());
  ASSERT_TRUE(a.round(at(1)) && b.round(at(1)));
  ASSERT_EQ(a.running().size(), 1u);
  ASSERT_EQ(b.running().size(), 1u);
  EXPECT_EQ(a.running()[0].runKey, b.running()[0].runKey);
  EXPECT_EQ(a.running()[0].input, b.running()[0].input);
}

// Obligation 2 (003, 11; 3.4): different logical change keys stay different wakes, however close together they are.
TEST(Obligation2, OnlyEqualLogicalChangeKeysAreOneWake) {
  Host a("a", kBoth);
  for (int i = 0; i < 5; ++i) a.edit("e1", "lab-result");
  ASSERT_TRUE(a.settle(at(1)));
  EXPECT_EQ(a.runs().size(), 5u);
  // The same batches once more, as after a crash before their end was marked.
  std::vector<replication::BatchEvent> again;
  for (const std::string& key : a.device().journal().keys(replication::Kind::batch)) {
    const auto version = (*a.device().journal().versions(replication::Kind::batch, key))[0];
    again.push_back({version.dot, version.body});
  }
  ASSERT_TRUE(a.center().batchEvents("journal/main", again, at(2)).ok());
  ASSERT_TRUE(a.settle(at(3)));
  EXPECT_EQ(a.runs().size(), 5u);
  EXPECT_EQ(a.starts(), 5u);
}

// Obligation 3 (003, 11): what is no typed batch wakes nobody, is reported, and holds nothing up.
TEST(Obligation3, AMalformedBatchWakesNobodyAndIsReported) {
  Host a("a", kBoth);
  ASSERT_TRUE(a.center().batchEvents("journal/main", {{{"b@00000001", 1}, "nonsense"}}, at(1)).ok());
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.settle(at(2)));
  EXPECT_EQ(a.starts(), 1u);
  const auto incidents = a.device().incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].kind, "badBatch");
  EXPECT_THAT(incidents[0].what, HasSubstr("b@00000001:1 of journal/main wakes nobody"));
}

// design/episodes: "rendezvous hashing picks one; the others hold the wake for a grace time".
TEST(DeviceChoice, OneDeviceRunsAWakeWhenConnected) {
  Host a("a", kBoth), b("b", kBoth);
  std::size_t byA = 0, byB = 0;
  for (int i = 0; i < 20; ++i) {
    Host& author = i % 2 ? a : b;
    author.edit("e" + std::to_string(i), i % 3 ? "lab-result" : "visit");
    meet(a, b, at(100 * i));
    for (int step = 0; step < 6; ++step) {
      ASSERT_TRUE(a.round(at(100 * i + 10 * step)) && b.round(at(100 * i + 10 * step)));
      ASSERT_TRUE(a.endAll(at(100 * i + 10 * step)) && b.endAll(at(100 * i + 10 * step)));
      replication::test::sync(a.device(), b.device());
    }
  }
  byA = a.starts(), byB = b.starts();
  EXPECT_EQ(byA + byB, 20u);
  ASSERT_TRUE(a.round(at(100'000)) && b.round(at(100'000)));
  EXPECT_EQ(a.starts() + b.starts(), 20u) << "a wake that ended elsewhere ran again after the grace time";
  EXPECT_EQ(a.center().queue().size() + b.center().queue().size(), 0u);
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
  EXPECT_THAT(checkAtRest(b, kBoth), IsEmpty());
}

// design/episodes: "When the choice was wrong because the network was cut, finding F3 settles it": both may run it, and
// the run log has one end for both.
TEST(DeviceChoice, BothMayRunItWhenCutOff) {
  Host a("a", {&kLab}), b("b", {&kLab});
  a.edit("e1", "lab-result");
  meet(a, b, at(0));
  part(a, b, at(1));
  // Whoever is not the first choice waits until the other can be taken for gone.
  ASSERT_TRUE(a.round(at(2)) && b.round(at(2)));
  EXPECT_EQ(a.running().size() + b.running().size(), 1u);
  const std::int64_t later = 2 + WakeOptions{}.graceMs;
  ASSERT_TRUE(a.round(at(later)) && b.round(at(later)));
  ASSERT_EQ(a.running().size() + b.running().size(), 2u);
  EXPECT_EQ(a.running()[0].runKey, b.running()[0].runKey);
  ASSERT_TRUE(a.endAll(at(later), WakeStatus::failedTerminal) && b.endAll(at(later)));
  meet(a, b, at(later + 1));
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::completed));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::completed));
}

// A device that went away may have run it just before.
TEST(DeviceChoice, AWakeThatTheFirstChoiceLeavesBehindIsTakenOver) {
  Host a("a", {&kLab}), b("b", {&kLab});
  a.edit("e1", "lab-result");
  meet(a, b, at(0));
  ASSERT_TRUE(a.round(at(1)) && b.round(at(1)));
  Host& first = a.running().empty() ? b : a;
  Host& second = a.running().empty() ? a : b;
  replication::test::sync(a.device(), b.device());
  EXPECT_THAT(second.statuses(), ElementsAre(WakeStatus::started));
  // As long as the first is there, nobody else begins.
  ASSERT_TRUE(second.round(at(100'000)));
  EXPECT_THAT(second.running(), IsEmpty());
  second.sees({"a", "b"}, {}, at(100'001));
  ASSERT_TRUE(second.round(at(100'002)));
  EXPECT_THAT(second.running(), IsEmpty());
  const auto next = second.center().nextMs(at(100'002));
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(*next, 100'001 + WakeOptions{}.graceMs);
  ASSERT_TRUE(second.settle(at(*next)));
  meet(a, b, at(200'000));
  EXPECT_THAT(first.statuses(), ElementsAre(WakeStatus::completed));
  // The first comes back with its own end: it stays as it is.
  ASSERT_TRUE(first.endAll(at(200'001), WakeStatus::failedTerminal));
  EXPECT_THAT(first.statuses(), ElementsAre(WakeStatus::completed));
}

// What waits behind a long run of its agent, which the other device knows nothing of.
struct Busy {
  Busy() {
    meet(a, b, at(0));
    a.edit("probe", "lab-result");
    replication::test::sync(a.device(), b.device());
    EXPECT_TRUE(a.round(at(1)) && b.round(at(1)));
    first = a.running().empty() ? &b : &a;
    second = a.running().empty() ? &a : &b;
    EXPECT_TRUE(first->endAll(at(2)));
    EXPECT_TRUE(first->center().userTurn("lab", "s", "1", "a long story", at(2)).ok() && first->round(at(3)));
    first->edit("e1", "lab-result");
    replication::test::sync(a.device(), b.device());
    EXPECT_EQ(first->running().size(), 1u);
  }
  bool until(std::int64_t ms) {
    for (; now < ms; now += 250) {
      if (!a.round(at(now)) || !b.round(at(now))) return false;
      replication::test::sync(a.device(), b.device());
    }
    return true;
  }
  Host a{"a", {&kLab}}, b{"b", {&kLab}};
  Host *first = nullptr, *second = nullptr;
  std::int64_t now = 4;
};

TEST(DeviceChoice, WhatWaitsBehindALongRunIsNotStartedElsewhere) {
  Busy busy;
  ASSERT_TRUE(busy.until(10 * WakeOptions{}.graceMs));
  EXPECT_THAT(busy.second->running(), IsEmpty()) << "its device said that it has it";
  ASSERT_TRUE(busy.first->endAll(at(busy.now)) && busy.first->settle(at(busy.now)));
  replication::test::sync(busy.a.device(), busy.b.device());
  ASSERT_TRUE(busy.until(20 * WakeOptions{}.graceMs));
  EXPECT_EQ(busy.second->starts(), 0u);
  EXPECT_EQ(busy.first->starts(), 3u);
  EXPECT_THAT(checkAtRest(busy.a, {&kLab}), IsEmpty());
  EXPECT_THAT(checkAtRest(busy.b, {&kLab}), IsEmpty());
}

TEST(DeviceChoice, WhatAGoneDeviceHadWaitingIsTakenOver) {
  Busy busy;
  ASSERT_TRUE(busy.until(4 * WakeOptions{}.graceMs));
  part(busy.a, busy.b, at(busy.now));
  ASSERT_TRUE(busy.second->round(at(busy.now + WakeOptions{}.graceMs - 1)));
  EXPECT_THAT(busy.second->running(), IsEmpty());
  ASSERT_TRUE(busy.second->round(at(busy.now + WakeOptions{}.graceMs)));
  ASSERT_EQ(busy.second->running().size(), 1u);
  EXPECT_EQ(entityOf(busy.second->running()[0]), "e1");
}

// The one that has it hosts the agent no more: nobody waits for it.
TEST(DeviceChoice, WhatWaitsOnADeviceThatLostTheAgentIsTakenOver) {
  Busy busy;
  for (Host* host : {&busy.a, &busy.b}) {
    const auto writes = hostingWrites(host->device().agents(), "lab", host->name());
    ASSERT_TRUE(host->device().replica().commit(DatabaseName::agents, "main", *writes).ok());
    host->device().flush();
  }
  replication::test::sync(busy.a.device(), busy.b.device());
  ASSERT_TRUE(busy.until(4 * WakeOptions{}.graceMs));
  EXPECT_THAT(busy.second->running(), IsEmpty());
  const auto writes = unhostingWrites(busy.first->device().agents(), "lab", busy.first->name());
  ASSERT_TRUE(busy.first->device().replica().commit(DatabaseName::agents, "main", writes).ok());
  busy.first->device().flush();
  ASSERT_TRUE(busy.until(6 * WakeOptions{}.graceMs));
  ASSERT_EQ(busy.second->running().size(), 1u);
}

// The device that has it is off for days. One that has no such agent does not end what was never begun.
TEST(DeviceChoice, WhatADeviceThatIsOffHasWaitingIsNotGivenUp) {
  Busy busy;
  ASSERT_TRUE(busy.until(4 * WakeOptions{}.graceMs));
  WakeOptions options;
  options.abandonMs = 1000;
  Host c("c", {}, options);
  replication::test::sync(busy.first->device(), c.device());
  const auto waiting = [&] {
    for (const WakeJob& job : busy.first->running()) EXPECT_EQ(job.reason, WakeReason::user);
    std::vector<WakeStatus> found;
    for (const KnownRun& run : c.runs())
      if (busy.first->center().queue().find(run.key) != nullptr && run.view.run->body.startedAtMs == 0)
        found.push_back(run.view.run->body.status);
    return found;
  };
  c.sees({"c", "b", "a"}, {}, at(0));  // in whatever order
  ASSERT_TRUE(c.round(at(10)) && c.round(at(100'000)));
  EXPECT_THAT(waiting(), ElementsAre(WakeStatus::started));
  // It will not come back.
  c.sees({"c"}, {}, at(100'001));
  ASSERT_TRUE(c.round(at(200'000)) && c.round(at(300'000)));
  EXPECT_THAT(waiting(), ElementsAre(WakeStatus::failedTerminal));
}

TEST(DeviceChoice, RanksAreEqualEverywhereAndMoveLittle) {
  const std::vector<std::string> three{"a", "b", "c"}, shuffled{"c", "a", "b", "a"};
  std::map<std::string, int> firsts;
  for (int i = 0; i < 300; ++i) {
    const std::string agent = "agent-" + std::to_string(i);
    const auto ranked = rankedHosts(agent, three);
    EXPECT_EQ(ranked, rankedHosts(agent, shuffled));
    ++firsts[ranked[0]];
    // Without the last choice the others stay as they are.
    EXPECT_THAT(rankedHosts(agent, std::vector{ranked[0], ranked[1]}), ElementsAre(ranked[0], ranked[1]));
  }
  for (const auto& [device, count] : firsts) EXPECT_GT(count, 70) << device;
}

// design: "Hosting: link record {agentId, from, to=device, relation hosts}".
TEST(DeviceChoice, OnlyHostsRunAnAgent) {
  Host a("a", {&kLab}), b("b", {&kLab});
  const auto host = [&](const std::string& device, bool on) {
    replication::Space& space = a.device().agents();
    const auto writes = on ? *hostingWrites(space, "lab", device) : unhostingWrites(space, "lab", device);
    ASSERT_FALSE(writes.empty());
    ASSERT_TRUE(a.device().replica().commit(DatabaseName::agents, "main", writes).ok());
    a.device().flush();
  };
  host("b", true);
  a.edit("e1", "lab-result");
  a.edit("e2", "lab-result");
  meet(a, b, at(0));
  ASSERT_TRUE(a.round(at(1)) && a.round(at(1'000'000)));
  EXPECT_EQ(a.starts(), 0u);
  ASSERT_TRUE(b.round(at(1)));
  EXPECT_EQ(b.starts(), 1u);
  ASSERT_TRUE(b.endAll(at(2)));
  // The agent moves: what waits moves with it.
  for (int i = 0; i < 3; ++i) host("b", false), host("b", true);
  host("b", false);
  host("a", true);
  meet(a, b, at(3));
  ASSERT_TRUE(a.settle(at(4)) && b.round(at(4)));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_EQ(b.starts(), 1u);
  EXPECT_THAT(checkAtRest(a, {&kLab}), IsEmpty());
}

// Known failure: a storm of changes (peers.md 1.4). The queue is bounded, nothing is dropped, order is kept.
TEST(Storm, AFullQueueTakesNothingInAndLosesNothing) {
  WakeOptions options;
  options.limits = {10, 6};
  Host a("a", kBoth, options);
  std::vector<std::string> order;
  for (int i = 0; i < 40; ++i) {
    a.edit("e" + std::to_string(i), "lab-result");
    order.push_back("e" + std::to_string(i));
  }
  std::vector<std::string> ran;
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.round(at(i)));
    most = std::max(most, a.center().queue().size());
    ASSERT_LE(a.running().size(), 1u) << "one run of an agent at a time";
    for (const WakeJob& job : a.running()) ran.push_back(entityOf(job));
    ASSERT_TRUE(a.endAll(at(i)));
    // A crash on the way forgets neither what was taken in nor what was not.
    if (i == 15) a.crash(at(i));
  }
  EXPECT_EQ(most, 6u);
  EXPECT_EQ(ran, order);
  EXPECT_EQ(a.center().backlog(), 0u);
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
}

TEST(Storm, WhatAPersonSaysToAFullQueueIsRefusedAndHeardLater) {
  WakeOptions options;
  options.limits = {10, 2};
  Host a("a", kBoth, options);
  const auto say = [&](int turn) { return a.center().userTurn("lab", "s", std::to_string(turn), "hello", at(turn)); };
  ASSERT_TRUE(say(1).ok() && say(2).ok());
  const auto third = say(3);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(say(2).ok()) << "it is there already";
  ASSERT_TRUE(a.round(at(4)) && a.endAll(at(4)));
  ASSERT_TRUE(say(3).ok());
  for (int i = 5; i < 10; ++i) ASSERT_TRUE(a.round(at(i)) && a.endAll(at(i)));
  EXPECT_EQ(a.starts(), 3u);
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
}

// Known failure: self-trigger loops (peers.md 1.4).
TEST(Loops, AnAgentsOwnChangeDoesNotWakeItUnlessItAsks) {
  AgentSpec asks = agentFor("asks", "lab-result");
  asks.subscriptions[0].ownChanges = true;
  Host a("a", {&kLab, &asks});
  a.edit("e1", "lab-result", provenanceTokens({"lab", 0}));
  a.edit("e2", "lab-result", provenanceTokens({"asks", 0}));
  ASSERT_TRUE(a.settle(at(1)));
  std::map<std::string, int> runs;
  for (const KnownRun& run : a.runs()) ++runs[run.view.run->body.agentId];
  EXPECT_EQ(runs["lab"], 1);
  EXPECT_EQ(runs["asks"], 2);
  EXPECT_THAT(checkAtRest(a, {&kLab, &asks}), IsEmpty());
}

TEST(Loops, AChainOfAgentsThatWakeEachOtherEnds) {
  const AgentSpec ping = agentFor("ping", "pong"), pong = agentFor("pong", "ping");
  Host a("a", {&ping, &pong});
  a.edit("start", "ping");
  std::size_t runs = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.round(at(i)));
    for (const WakeJob& job : a.running()) {
      ++runs;
      a.edit("by-" + std::to_string(i), job.agentId, provenanceTokens({job.agentId, job.hops}));
    }
    ASSERT_TRUE(a.endAll(at(i)));
  }
  EXPECT_EQ(runs, WakeOptions{}.hops);
  const auto statuses = a.statuses();
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), WakeStatus::failedTerminal), 1);
  EXPECT_THAT(checkAtRest(a, {&ping, &pong}), IsEmpty());
  // What somebody outside does begins a new chain.
  a.edit("again", "ping");
  ASSERT_TRUE(a.round(at(200)));
  EXPECT_EQ(a.running().size(), 1u);
}

TEST(Loops, AMalformedTokenIsTheEndOfAChain) {
  Host a("a", kBoth);
  a.edit("e1", "lab-result", {{TokenClass::subtypeToken, std::string(kRunHopsNamespace), "many"}});
  a.edit("e2", "lab-result", {{TokenClass::subtypeToken, std::string(kRunAgentNamespace), "clinic"}});
  ASSERT_TRUE(a.settle(at(1)));
  EXPECT_EQ(a.starts(), 0u);
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::failedTerminal, WakeStatus::failedTerminal));
}

// --- timers

std::vector<std::int64_t> scheduled(Host& host) {
  std::vector<std::int64_t> out;
  for (const WakeJob& job : host.running()) out.push_back(job.scheduledAtMs);
  return out;
}

// design/episodes: "of several that were missed only the last one runs".
TEST(Timers, OfTheMissedOnlyTheLastRuns) {
  const AgentSpec spec = timed(1000);
  Host a("a", {&spec});
  ASSERT_TRUE(a.round(at(10)));
  EXPECT_THAT(scheduled(a), ElementsAre(kWall));
  EXPECT_EQ(a.center().nextMs(at(10)), 1000);
  // While it runs, others become due and supersede each other.
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(a.round(at(1000 * i + 10)));
  EXPECT_EQ(a.center().queue().size(), 2u);
  ASSERT_TRUE(a.endAll(at(5020)) && a.round(at(5030)));
  EXPECT_THAT(scheduled(a), ElementsAre(kWall + 5000));
  ASSERT_TRUE(a.endAll(at(5040)));
  // Off for a week.
  a.crash(at(0, kWall + 7 * 86'400'000));
  ASSERT_TRUE(a.round(at(1, kWall + 7 * 86'400'000)));
  EXPECT_THAT(scheduled(a), ElementsAre(kWall + 7 * 86'400'000));
}

// Behind a long run its wakes give way to each other: none of them leaves a record that says that it waits.
TEST(Timers, WhatWasSupersededLeavesNoRunWithoutEnd) {
  const AgentSpec spec = timed(20'000);
  Host a("a", {&spec}), b("b", {&spec});
  meet(a, b, at(0));
  ASSERT_TRUE(a.round(at(1)) && b.round(at(1)));
  Host& first = a.running().empty() ? b : a;
  ASSERT_TRUE(first.endAll(at(2)));
  ASSERT_TRUE(first.center().userTurn("timed", "s", "1", "a long story", at(2)).ok());
  for (std::int64_t ms = 3; ms < 100'000; ms += 250) {
    ASSERT_TRUE(a.round(at(ms)) && b.round(at(ms)));
    replication::test::sync(a.device(), b.device());
  }
  ASSERT_EQ(first.running().size(), 1u);
  for (const KnownRun& run : first.runs()) {
    if (replication::isTerminal(run.view.run->body.status)) continue;
    Host& starter = replication::deviceOf(run.view.run->dot.host) == "a" ? a : b;
    EXPECT_NE(starter.center().queue().find(run.key), nullptr) << run.view.run->body.cause;
  }
}

TEST(Timers, AClockThatJumpsRunsNothingTwiceAndSilencesNothing) {
  const AgentSpec spec = timed(60'000);
  Host a("a", {&spec});
  std::int64_t ms = 0;
  const auto settleAt = [&](std::int64_t wallMs) { return a.settle(at(ms += 100, wallMs)); };
  ASSERT_TRUE(settleAt(kWall));
  ASSERT_TRUE(settleAt(kWall + 60'000));
  ASSERT_TRUE(settleAt(kWall + 365LL * 86'400'000));  // a year ahead, by mistake
  ASSERT_TRUE(settleAt(kWall + 60'010));              // and back
  ASSERT_TRUE(settleAt(kWall));
  EXPECT_TRUE(std::all_of(a.startsByRun().begin(), a.startsByRun().end(), [](auto& e) { return e.second == 1; }));
  const std::size_t before = a.starts();
  ASSERT_TRUE(settleAt(kWall + 120'000));
  EXPECT_EQ(a.starts(), before + 1) << "the timer is silent";
  ASSERT_TRUE(settleAt(-5));
}

// F2: nextWakeAt and firedThrough.
TEST(Timers, AnAgentWakesItselfOnce) {
  Host a("a", {&kLab});
  a.state("lab", [](auto& s) { s.schedule.nextWakeAt = kWall + 500; });
  ASSERT_TRUE(a.round(at(1)));
  EXPECT_EQ(a.starts(), 0u);
  EXPECT_EQ(a.center().nextMs(at(1)), 500);
  ASSERT_TRUE(a.round(at(600)));
  ASSERT_EQ(a.running().size(), 1u);
  EXPECT_EQ(a.running()[0].subject, kSelfTimer);
  EXPECT_EQ(a.running()[0].scheduledAtMs, kWall + 500);
  ASSERT_TRUE(a.endAll(at(700)) && a.settle(at(10'000)));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_EQ(a.device().view("lab").schedule.firedThrough, static_cast<std::uint64_t>(kWall + 500));
  EXPECT_FALSE(a.device().view("lab").schedule.nextWakeAt.has_value());
}

// A self-trigger loop by timer: bounded in time.
TEST(Timers, AnAgentThatAlwaysWantsTheNextMomentIsSlowedDown) {
  Host a("a", {&kLab});
  a.state("lab", [](auto& s) { s.schedule.nextWakeAt = kWall; });
  for (int ms = 0; ms < 10'000; ms += 10) {
    ASSERT_TRUE(a.round(at(ms)));
    for (const WakeJob& job : a.running())
      ASSERT_TRUE(a.center()
                      .ended(job.key(), WakeStatus::completed, "", at(ms),
                             [&](auto& s, auto) { s.schedule.nextWakeAt = kWall + ms + 1; })
                      .ok());
    a.forgetRunning();
    a.device().flush();
  }
  EXPECT_LE(a.starts(), 10u);
  EXPECT_GE(a.starts(), 9u);
}

TEST(Timers, BadOnesAreRefused) {
  Host a("a", {});
  for (const std::int64_t every : {std::int64_t{0}, std::int64_t{-1}, kMinTimerMs - 1, kMaxTimerMs + 1}) {
    const AgentSpec spec = timed(every);
    EXPECT_FALSE(a.center().add(spec).ok()) << every;
  }
  AgentSpec self = timed(1000);
  self.timers[0].id = kSelfTimer;
  EXPECT_FALSE(a.center().add(self).ok());
  AgentSpec twice = timed(1000);
  twice.subscriptions.push_back(twice.subscriptions[0]);
  EXPECT_FALSE(a.center().add(twice).ok());
  twice.subscriptions.pop_back();
  EXPECT_TRUE(a.center().add(twice).ok()) << "a refused agent leaves nothing behind";
}

// --- people

TEST(UserTurns, RunOnceOnTheDeviceThatWasAsked) {
  Host a("a", kBoth), b("b", kBoth);
  meet(a, b, at(0));
  const auto key = a.center().userTurn("lab", "session-1", "1", "how is e1?", at(1));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(*key, *userRunKey("lab", "session-1", "1"));
  EXPECT_EQ(*a.center().userTurn("lab", "session-1", "1", "how is e1?", at(1)), *key);
  ASSERT_TRUE(a.round(at(2)));
  ASSERT_EQ(a.running().size(), 1u);
  EXPECT_EQ(a.running()[0].input, R"({"user":"how is e1?"})");
  ASSERT_TRUE(a.endAll(at(3)) && a.center().userTurn("lab", "session-1", "1", "how is e1?", at(4)).ok());
  ASSERT_TRUE(a.settle(at(5)));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_EQ(a.center().userTurn("nobody", "s", "1", "", at(6)).error().code, ErrorCode::notFound);
  EXPECT_FALSE(a.center().userTurn("lab", "a|b", "1", "", at(6)).ok());
  EXPECT_FALSE(a.center().userTurn("lab", "s", "1", std::string(kMaxUserTextBytes + 1, 'x'), at(6)).ok());
  EXPECT_FALSE(a.center().userTurn("lab", "s", "1", "\xff", at(6)).ok());
}

// --- trouble

TEST(Trouble, WhatCannotGoOnWaitsLetsOthersPassAndIsGivenUpInTheEnd) {
  WakeOptions options;
  options.attempts = 3;
  Host a("a", kBoth, options);
  a.edit("e1", "lab-result");
  a.edit("e2", "lab-result");
  std::vector<std::string> ran;
  for (int ms = 0; ms < 200; ms += 10) {
    ASSERT_TRUE(a.round(at(ms)));
    for (const WakeJob& job : a.running()) {
      ran.push_back(entityOf(job));
      const Status status = ran.back() == "e1" ? a.center().postpone(job.key(), 30, "the model is away", at(ms))
                                               : a.center().ended(job.key(), WakeStatus::completed, "", at(ms));
      ASSERT_TRUE(status.ok());
    }
    a.forgetRunning();
    a.device().flush();
  }
  EXPECT_THAT(ran, ElementsAre("e1", "e2", "e1", "e1"));
  for (const KnownRun& run : a.runs())
    if (run.view.run->body.status == WakeStatus::failedTerminal) {
      EXPECT_EQ(run.view.run->body.cause, "given up after 3 starts: the model is away");
    }
  EXPECT_THAT(a.statuses(), testing::UnorderedElementsAre(WakeStatus::completed, WakeStatus::failedTerminal));
  EXPECT_EQ(a.device().view("lab").consecutiveFailureCount, 1u);
}

// A run that takes the process down with it, each time.
TEST(Trouble, ARunThatCrashesTheProcessIsGivenUpInTheEnd) {
  Host a("a", kBoth);
  a.edit("e1", "lab-result");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a.round(at(i)));
    a.crash(at(i));
  }
  EXPECT_EQ(a.starts(), WakeOptions{}.attempts);
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::failedTerminal));
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
}

// A device whose disks went back ends a run under counters that others know for something else. Its end is dropped when
// it meets them. What woke it stands, so it runs again, once; also if the power goes in between.
TEST(Trouble, ARunWhoseEndWasTakenBackRunsAgain) {
  for (const bool crashes : {false, true}) {
    SCOPED_TRACE(crashes);
    Host a("a", kBoth), b("b", {});
    a.edit("e1", "lab-result");
    a.edit("e2", "visit");
    ASSERT_TRUE(a.settle(at(1)));
    a.edit("e3", "visit");
    replication::test::sync(a.device(), b.device());
    const Host::Disks disks = a.disks();
    for (int n = 0; n < 5; ++n) a.state("other", [&](auto& s) { s.consecutiveFailureCount = n + 1; });
    replication::test::sync(a.device(), b.device());
    a.goBack(disks, at(10));
    ASSERT_TRUE(a.settle(at(11)));
    ASSERT_EQ(a.starts(), 3u);
    replication::test::sync(a.device(), b.device());
    ASSERT_EQ(a.runs().size(), 2u) << "the end of the third is gone";
    if (crashes) a.crash(at(12));
    ASSERT_TRUE(a.settle(at(13)));
    EXPECT_EQ(a.starts(), 4u);
    EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::completed, WakeStatus::completed, WakeStatus::completed));
    EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
    EXPECT_EQ(a.center().lookedAgain(), 1u);
    ASSERT_TRUE(a.settle(at(14)));
    EXPECT_EQ(a.starts(), 4u);
  }
}

// Invariant 5, where the device that started a run is gone for good and nobody else had the wake.
TEST(Trouble, ARunThatNobodyWillFinishIsEnded) {
  WakeOptions options;
  options.abandonMs = 1000;
  Host a("a", {&kLab}, options), b("b", {}, options);
  ASSERT_TRUE(a.center().userTurn("lab", "s", "1", "hello", at(0)).ok() && a.round(at(0)));
  meet(a, b, at(1));
  ASSERT_TRUE(b.round(at(10)) && b.round(at(100'000)));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::started)) << "its device is there";
  part(a, b, at(100'000));
  ASSERT_TRUE(b.round(at(101'000)) && b.round(at(101'500)));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::started));
  ASSERT_TRUE(b.round(at(102'100)));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::failedTerminal));
}

// The others see its device, and leave it alone.
TEST(Trouble, ARunThatItsDeviceHasForgottenIsEndedByThatDevice) {
  WakeOptions options;
  options.abandonMs = 1000;
  Host a("a", {}, options), b("b", {&kLab}, options);
  ASSERT_TRUE(b.center().userTurn("lab", "s", "1", "hello", at(0)).ok() && b.round(at(0)));
  meet(a, b, at(1));
  b.wipe(at(2));
  meet(a, b, at(3));
  ASSERT_TRUE(a.round(at(10)) && b.round(at(10)));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::started));
  ASSERT_TRUE(a.round(at(1'100)) && b.round(at(1'100)));
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::started));
  EXPECT_THAT(b.statuses(), ElementsAre(WakeStatus::failedTerminal));
}

// peers.md 1.5: "duplicate run key rejected, still rejected after dequeue; FIFO; requeue keeps key".
TEST(Queue, KeysAreUniqueOrderIsKeptAndARequeuedWakeIsItself) {
  Host a("a", {});
  WakeQueue queue(a.device().replica().database(DatabaseName::agents), {});
  const auto user = [](const char* agent, const char* turn) { return *userJob(agent, "s", turn, "x"); };
  EXPECT_EQ(queue.enqueue(user("lab", "1"), 10), Enqueued::queued);
  EXPECT_EQ(queue.enqueue(user("lab", "1"), 11), Enqueued::duplicate);
  EXPECT_EQ(queue.enqueue(user("lab", "2"), 10), Enqueued::queued);
  EXPECT_EQ(queue.enqueue(user("clinic", "1"), 10), Enqueued::queued);
  const RunKey first = user("lab", "1").key(), second = user("lab", "2").key(), other = user("clinic", "1").key();
  EXPECT_THAT(queue.heads(10), ElementsAre(first, other));
  EXPECT_THAT(queue.heads(9), IsEmpty());
  queue.start(first, kWall);
  EXPECT_EQ(queue.enqueue(user("lab", "1"), 12), Enqueued::duplicate);
  EXPECT_THAT(queue.heads(20), ElementsAre(other));
  queue.requeue(first, 100);
  EXPECT_THAT(queue.heads(20), ElementsAre(second, other));
  EXPECT_EQ(queue.find(first)->job.attempts, 1u);
  EXPECT_TRUE(queue.remove(second));
  EXPECT_FALSE(queue.remove(second));
  EXPECT_THAT(queue.heads(100), ElementsAre(other, first));
  EXPECT_EQ(queue.nextDueMs(20), 100);
}

TEST(Queue, ARowThatIsNotWhatWasWrittenIsCorrupt) {
  Host a("a", {});
  auto& agents = a.device().replica().database(DatabaseName::agents);
  WakeJob job = *userJob("lab", "s", "1", "x");
  job.turn = "2";
  agents.putMeta(jobRowName(job.key()), encodeJob(job));
  WakeQueue queue(agents, {});
  const Status loaded = queue.load(0);
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message, HasSubstr("wake/" + job.key().hex() + ": the run key is not the job's"));
  EXPECT_FALSE(decodeJob("wake/x", "garbage").ok());
}

}  // namespace
}  // namespace witan::agents::test::wake_test
