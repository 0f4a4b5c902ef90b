// Checkers that look at a cluster at work, each over a small one at rest to which something is done that no device
// does: what makes it fire, and what must not.
#include "sim/checkers/checker.h"

#include <gtest/gtest.h>

#include "agents/host/agent_host.h"
#include "agents/wake/wake_job.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_views.h"
#include "replication/statement.h"
#include "sim/scenario.h"

namespace witan::sim {

std::unique_ptr<Checker> makeAbsurdChecker(Cluster& cluster);
std::unique_ptr<Checker> makeAgentChecker(Cluster& cluster);
std::unique_ptr<Checker> makeKeepersChecker(Cluster& cluster);
std::unique_ptr<Checker> makePeopleChecker(Cluster& cluster);
std::unique_ptr<Checker> makeRestartChecker(Cluster& cluster);
std::unique_ptr<Checker> makeRestraintChecker(Cluster& cluster);
std::unique_ptr<Checker> makeReturnChecker(Cluster& cluster);
std::unique_ptr<Checker> makeTakeoverChecker(Cluster& cluster);

namespace checkers_test {
namespace {

Plan quietPlan(const std::function<void(ClusterOptions&)>& with = nullptr) {
  Scenario scenario = *builtinScenario("calm");
  auto options = *drawOptions(scenario, 1);
  if (with) with(options.cluster);
  return {options, {}};
}

// A cluster that has come together. Its checker stands beside it, and hears only what a test tells it.
struct World {
  explicit World(std::unique_ptr<Checker> (*make)(Cluster&), Plan its = quietPlan())
      : plan(std::move(its)), cluster(plan, options), checker(make(cluster)) {
    cluster.found();
    goOn(20 * kSecond);
  }

  void goOn(Micros span) {
    const Micros until = cluster.agenda().now() + span;
    while (!cluster.agenda().empty() && cluster.agenda().next().at <= until) cluster.step(cluster.agenda().take());
  }

  // The checker that has failed the run, or "".
  std::string fired() {
    const auto failure = cluster.finish().failure;
    return failure ? failure->checker : "";
  }

  Seat& seat(std::uint32_t device) { return cluster.seat(device); }

  RunOptions options;
  Plan plan;
  Cluster cluster;
  std::unique_ptr<Checker> checker;
};

// --- absurd

constexpr std::string_view kFrame = "a frame of an epoch that cannot be";

struct Absurd : World {
  Absurd() : World(makeAbsurdChecker) { seat(0).absurd[1].emplace(kFrame); }
  void hear(std::string_view frame) { checker->onFrame(seat(0), 1, frame); }
};

TEST(AbsurdChecker, FiresForADeviceThatGoesOnWithWhoToldIt) {
  Absurd world;
  world.hear(kFrame);
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "absurd");
}

TEST(AbsurdChecker, IsQuietWhereTheConnectionEnds) {
  Absurd world;
  world.hear(kFrame);
  world.seat(0).held.sends.push_back({world.seat(1).name(), "", true});
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "");
}

TEST(AbsurdChecker, IsQuietAboutAnyOtherFrame) {
  Absurd world;
  world.hear("a frame of an epoch that can be");
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "");
}

// By the roster, which devices with keys have, the last device has no ledgers: what it says of logs is not read.
struct AbsurdGuest : World {
  explicit AbsurdGuest(std::int64_t keepEntries)
      : World(makeAbsurdChecker, quietPlan([&](ClusterOptions& of) { of.keepEntries = keepEntries; })) {}
  std::string told(const node::PeerAdvertisement& standing) {
    std::string frame;
    WordWriter words;
    appendFrame(frame, words, standing);
    seat(0).absurd[4].insert(frame);
    checker->onFrame(seat(0), 4, frame);
    checker->onDurable(seat(0));
    return fired();
  }
};

TEST(AbsurdChecker, IsQuietAboutLogsThatTheRosterDenies) {
  const node::PeerAdvertisement position{.positions = {{.partition = "budget/0"}}};
  EXPECT_EQ(AbsurdGuest(8).told(position), "");
  EXPECT_EQ(AbsurdGuest(0).told(position), "absurd");
}

TEST(AbsurdChecker, FiresForAClaimOfADeviceWithoutLedgers) {
  EXPECT_EQ(AbsurdGuest(8).told({.claims = {{.partition = "budget/0"}}}), "absurd");
}

TEST(AbsurdChecker, KnowsAConnectionThatIsNew) {
  Absurd world;
  world.checker->onLink(0, 1);
  world.hear(kFrame);
  world.checker->onDurable(world.seat(0));
  world.checker->onStarted(world.seat(0));  // as is one of another life
  world.hear(kFrame);
  world.checker->onStarted(world.seat(0));
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "");
}

// --- keepers

Plan placedPlan() {
  return quietPlan([](ClusterOptions& of) {
    of.devices = of.ledgerReplicas = 5;
    of.ledgerCopies = 3;
  });
}

TEST(KeepersChecker, IsQuietWherePartitionsHaveTheirCopies) {
  World world(makeKeepersChecker, placedPlan());
  world.checker->atEnd();
  EXPECT_EQ(world.fired(), "");
}

TEST(KeepersChecker, FiresForAPartitionThatLacksCopies) {
  World world(makeKeepersChecker, placedPlan());
  const std::string& id = world.cluster.partitions().front().second;
  for (Seat* at : world.cluster.members())
    if (at->replica().host(id) != nullptr) {
      at->retired = true;  // and nobody makes its copy again
      break;
    }
  world.checker->atEnd();
  EXPECT_EQ(world.fired(), "keepers");
}

// --- confinement: retired devices

struct Return : World {
  Return() : World(makeReturnChecker) { seat(1).lingers = true; }
  void retire() {
    auto& data = seat(0).replica().data();
    ASSERT_TRUE(
        data.addStatement(replication::proposeRetire(*data.statements(), data.writer(), seat(1).name(), 1)).ok());
  }
  // A frame of the type that device 1 sends device 0.
  void hear(char type) {
    std::string frame(replication::kFrameHeaderBytes + 8, '\0');
    frame[4] = type;
    checker->onFrame(seat(0), 1, frame);
  }
};

TEST(ReturnChecker, FiresForASessionThatGoesOnWithWhoIsKnownToBeRetired) {
  Return world;
  world.retire();
  world.checker->onDurable(world.seat(0));
  world.hear(4);
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "confinement");
}

TEST(ReturnChecker, IsQuietBeforeTheRetirementIsKnownAndAboutLedgers) {
  Return world;
  world.checker->onDurable(world.seat(0));
  world.hear(4);
  world.retire();
  world.hear(4);  // it is known with the next step
  world.checker->onDurable(world.seat(0));
  world.hear(40);
  world.checker->onStopped(world.seat(0));  // what it knew is read again
  world.hear(4);
  EXPECT_EQ(world.fired(), "");
}

// --- restart: older copies

TEST(RestartChecker, FiresForASpaceThatCountsAsKnownAfterItsDiskWentBack) {
  World world(makeRestartChecker);
  world.seat(0).rolledBack = true;
  world.checker->onStarted(world.seat(0));
  EXPECT_EQ(world.fired(), "restart");
}

TEST(RestartChecker, IsQuietUnderTheNameThatADeviceHadAndWhereItKnows) {
  World world(makeRestartChecker);
  world.checker->onDurable(world.seat(0));
  world.seat(0).rolledBack = true;
  world.checker->onStarted(world.seat(0));
  auto& data = world.seat(1).replica().data();
  for (const std::string& id : data.spaceIds()) data.setRestored(id, true);
  world.seat(1).rolledBack = true;
  world.checker->onStarted(world.seat(1));
  EXPECT_EQ(world.fired(), "");
}

// --- need-to-know: an approval beside a denial

struct People : World {
  People() : World(makePeopleChecker, quietPlan([](ClusterOptions& of) { of.hosts = 1; })) {
    const replication::Space& space = *seat(0).replica().data().findSpace("agents/main");
    here = {space.selfName(), space.vector().at(space.self())};
    elsewhere = {here.host, here.counter + 1};
    checker->onDurable(seat(0));  // it was looked at in this life
    cluster.history().agents.approved[operation].emplace_back();
  }
  void call() {
    agents::ToolCall call;
    call.operation = operation;
    checker->onToolCall(seat(0), call, operation.hex());
  }

  OperationId operation;
  replication::Dot here, elsewhere;
};

TEST(PeopleChecker, FiresForACallThatOneApprovedWhileAnotherDeniedIt) {
  People world;
  world.seat(0).splits.push_back({world.operation, world.here, world.here});
  world.checker->onDurable(world.seat(0));
  world.call();
  EXPECT_EQ(world.fired(), "need-to-know");
}

TEST(PeopleChecker, IsQuietWhereTheApprovalCameAloneOrOnceMore) {
  People world;
  world.seat(0).splits.push_back({world.operation, world.here, world.elsewhere});
  world.checker->onDurable(world.seat(0));
  world.call();
  world.seat(0).splits.push_back({world.operation, world.here, world.here});
  world.checker->onDurable(world.seat(0));
  world.cluster.history().agents.approved[world.operation].emplace_back();
  world.call();
  EXPECT_EQ(world.fired(), "");
}

// --- runs

// A device whose power goes when the start of a run is durable, and its step is not over.
struct BrokenStep : World {
  BrokenStep() : World(makeAgentChecker, quietPlan([](ClusterOptions& of) { of.hosts = 2; })) {
    agents::WakeJob job = *agents::userJob("sim-sealer", "session", "turn", "text");
    job.startedAtMs = 1, job.attempts = 1, job.state = agents::JobState::running;
    data().database(replication::DatabaseName::agents).putMeta(agents::jobRowName(job.key()), agents::encodeJob(job));
  }
  replication::LocalReplica& data() { return seat(0).replica().data(); }
  void pause() {
    replication::AgentState state;
    state.lifecycle = replication::Lifecycle::dormant;
    const replication::Write write{replication::Kind::agentState, "sim-sealer",
                                   replication::encodeAgentState(state, data().writer()), false};
    ASSERT_TRUE(data().commit(replication::DatabaseName::agents, "main", {&write, 1}).ok());
  }
  void start() {
    ASSERT_TRUE(data().flush().ok());
    checker->onStopped(seat(0));
    checker->onStarted(seat(0));
  }
};

TEST(AgentChecker, FiresForARunThatAPausedAgentBeganInAStepThatBrokeOff) {
  BrokenStep world;
  world.pause();
  world.start();
  EXPECT_EQ(world.fired(), "runs");
}

TEST(AgentChecker, IsQuietAboutAPauseAfterTheStepThatBrokeOff) {
  BrokenStep world;
  world.start();
  world.pause();
  world.start();
  EXPECT_EQ(world.fired(), "");
}

// --- no-decision-lost: takeovers

// The owner, device 0, is gone, and device 1 takes its partition.
struct Takeover : World {
  Takeover() : World(makeTakeoverChecker), id(cluster.partitions().front().second) {
    cluster.switchOff(0, false, -1);
    goOn(5 * 60 * kSecond);
    last = seat(1).replica().host(id)->epoch();
    had = seat(1).replica().host(id)->ledger().batches();
  }
  // Device 2 says that it has so many batches more than there were, in an epoch that begins there.
  void tell(std::uint64_t more, std::uint64_t start = 0) {
    const std::uint64_t batches = had + more;
    node::PeerAdvertisement standing{.owner = seat(2).replica().ownerName()};
    standing.positions.push_back({.partition = id, .follow = true, .batches = batches, .entries = batches});
    standing.positions.back().epochs.push_back({last.number, last.owner, start});
    std::string frame;
    WordWriter words;
    appendFrame(frame, words, standing);
    if (taken) seat(1).replica().received(seat(2).name(), frame, now());
    checker->onFrame(seat(1), 2, frame);
  }
  void seize() {
    const Status done = seat(1).replica().forceTakeover(id, "its owner is gone", now());
    ASSERT_TRUE(done.ok()) << done.error().message;
    seat(1).seized.push_back(id);
  }
  Now now() { return seat(1).device->now(cluster.agenda().now()); }

  const std::string id;
  kernel::Epoch last;
  std::uint64_t had = 0;
  bool taken = false;  // what is told reaches the device, too
};

const Event kSeizes{.kind = EventKind::seizePartition, .device = 1};

TEST(TakeoverChecker, FiresBesideACopyThatHasToldOfMore) {
  Takeover world;
  world.tell(1);
  world.seize();
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "no-decision-lost");
}

TEST(TakeoverChecker, IsQuietBesideACopyThatHasAsMuch) {
  Takeover world;
  world.tell(0);
  world.seize();
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "");
}

// Device 2 has begun an epoch, and was connected too late to say so.
struct Unheard : Takeover {
  void begin() {
    seize();
    ASSERT_TRUE(seat(2).replica().forceTakeover(id, "its owner is gone", now()).ok());
    node::Effects out;
    Micros cost = 0;
    ASSERT_TRUE(seat(2).device->drain(cluster.agenda().now(), out, cost).ok());
    ASSERT_GT(seat(2).replica().host(id)->durableBatches(), had);
  }
};

TEST(TakeoverChecker, FiresBesideACopyThatHasMoreAndHadNoTimeToTell) {
  Unheard world;
  world.checker->onLink(1, 2);
  world.begin();
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "no-decision-lost");
}

TEST(TakeoverChecker, IsQuietBesideACopyThatHadTheTimeAndToldNothing) {
  Unheard world;
  world.checker->onLink(1, 2);
  world.goOn(60 * kSecond);
  world.begin();
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "");
}

TEST(TakeoverChecker, IsQuietBesideALinkThatADeviceHasNotTakenUpYet) {
  Unheard world;
  world.checker->onLink(1, 2);
  world.begin();
  world.seat(1).inbox.push_back({.kind = Arrival::Kind::connected, .peer = 2});
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "");
}

// It was no order that took the partition, but one at an earlier moment of the same step.
TEST(TakeoverChecker, JudgesATakeoverByWhatWasToldBeforeIt) {
  Takeover world;
  world.seize();
  world.tell(0);
  world.tell(1);
  world.checker->onEvent(world.seat(1), kSeizes);  // refused
  EXPECT_EQ(world.fired(), "");
}

TEST(TakeoverChecker, KnowsWhatADeviceRefusesToHear) {
  Takeover world;
  world.checker->onDurable(world.seat(1));
  world.taken = true;
  world.tell(1, ~std::uint64_t{0});  // an epoch that begins behind its end
  world.tell(1);                     // over a link that is to end
  EXPECT_GT(world.seat(1).replica().counters().badFrames, 0u);
  world.seize();
  world.checker->onEvent(world.seat(1), kSeizes);
  EXPECT_EQ(world.fired(), "");
}

// --- operations, sagas: what is decided, or done with, is not begun again

struct Restraint : World {
  Restraint() : World(makeRestraintChecker, quietPlan([](ClusterOptions& of) { of.hosts = 2; })) {
    checker->onStarted(seat(0));
  }
  // Device `at` plans to send this; the others hear of it.
  OperationId plan(std::uint32_t at, const std::string& text) {
    const std::string arguments = canonicalJson(json::object{{"text", text}});
    const replication::PlanBody body{run.value, "sim-clerk", {{"sim.mail", arguments, {}, {}}}};
    const replication::Write write{replication::Kind::plan, run.hex(), *replication::encodeRecord(body), false};
    EXPECT_TRUE(seat(at).replica().commit(replication::DatabaseName::agents, "main", {&write, 1}).ok());
    cluster.put(at, {});
    return replication::operationsOf(body)->front();
  }
  void steps() {
    for (int n = 0; n < 4; ++n) {
      checker->onDurable(seat(0));
      goOn(kSecond);
    }
  }
  void call(const OperationId& operation) {
    agents::ToolCall call;
    call.run = run, call.tool = "sim.mail", call.operation = operation;
    checker->onToolCall(seat(0), call, operation.hex());
  }
  agents::ToolCall look() const {
    agents::ToolCall call;
    call.run = run, call.tool = "sim.ask", call.span = "look-1";
    return call;
  }

  const RunKey run = RunKey{sha256("run")};
};

// The plan with the smaller name of its writer stands: that of device 0.
TEST(RestraintChecker, FiresForACallOfAPlanThatHasLost) {
  Restraint world;
  const OperationId lost = world.plan(1, "lost"), stands = world.plan(0, "stands");
  world.goOn(5 * kSecond);
  world.steps();
  world.call(stands);
  EXPECT_EQ(world.cluster.hasFailed(), false);
  world.call(lost);
  EXPECT_EQ(world.fired(), "operations");
}

TEST(RestraintChecker, IsQuietAboutACallThatHadBegunBeforeTheWinnerWasKnown) {
  Restraint world;
  const OperationId lost = world.plan(1, "lost");
  world.plan(0, "stands");
  world.call(lost);
  world.goOn(5 * kSecond);
  world.steps();
  world.call(lost);
  EXPECT_EQ(world.fired(), "");
}

TEST(RestraintChecker, FiresForAQuestionThatWasAnswered) {
  Restraint world;
  const ToolAnswer answer{0, 1, world.look(), ToolSays::done, "brief"};
  world.checker->onToolCall(world.seat(0), world.look(), ToolService::nameOf(world.look()));
  world.checker->onToolAnswer(world.seat(0), answer);
  world.checker->onDurable(world.seat(0));
  world.checker->onToolCall(world.seat(0), world.look(), ToolService::nameOf(world.look()));
  EXPECT_EQ(world.cluster.hasFailed(), false) << "it may not have been durable";
  world.steps();
  world.checker->onDiskLost(world.seat(0));
  world.checker->onToolCall(world.seat(0), world.look(), ToolService::nameOf(world.look()));
  EXPECT_EQ(world.cluster.hasFailed(), false) << "its disk is gone";
  world.checker->onToolAnswer(world.seat(0), answer);
  world.steps();
  world.checker->onToolCall(world.seat(0), world.look(), ToolService::nameOf(world.look()));
  EXPECT_EQ(world.fired(), "operations");
}

// An operation was put aside, and is under way again.
struct Aside : Restraint {
  Aside() {
    saga::SagaEngine& sagas = seat(0).replica().agents()->sagas();
    saga::SagaRow row;
    row.intent.operation = sha256("operation"), row.intent.run = run.value;
    row.intent.agentId = "sim-clerk", row.intent.tool = "sim.mail", row.intent.scope = "main";
    row.intent.arguments = "{}", row.intent.kind = saga::EffectKind::tool;
    row.phase = saga::SagaPhase::applying;
    sagas.rows().hold(row);
    operation = row.id();
    steps();
    EXPECT_FALSE(cluster.hasFailed()) << "it waits";
    EXPECT_TRUE(sagas.retry(operation, seat(0).device->now(cluster.agenda().now())).ok());
  }
  OperationId operation;
};

TEST(RestraintChecker, FiresForWhatWasPutAsideAndBeginsAgain) {
  Aside world;
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "sagas");
}

TEST(RestraintChecker, IsQuietWhereAPersonTookItUp) {
  Aside world;
  world.seat(0).gaveUp.insert(world.operation);
  world.checker->onDurable(world.seat(0));
  EXPECT_EQ(world.fired(), "");
}

}  // namespace
}  // namespace checkers_test
}  // namespace witan::sim
