// Plans: what is drawn, what stays within the budget, and their text.
#include "sim/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/draw.h"
#include "sim/plan_budget.h"

namespace witan::sim::plan_test {
namespace {

using ::testing::HasSubstr;

Options busy(std::uint64_t seed) {
  Options o;
  o.seed = seed;
  o.scenario = "test";
  o.time.seconds = 3'600;
  forEachMember<FaultOptions>([&](auto member, auto) {
    if (!member.name.ends_with("Seconds") && !member.name.ends_with("Hours")) o.faults.*member.pointer = 30;
  });
  o.faults.offlines = 24 * 30;
  o.faults.offlineHours = 1;
  o.faults.clockJumpSeconds = 100;
  o.cluster.hosts = 3;
  o.work.requests = o.work.turns = o.work.agentPauses = o.work.confirmations = 30;
  o.work.approvals = o.work.policyChanges = o.work.deskEdits = o.work.clearUps = o.work.remarks = o.work.slips =
      o.work.contradictions = o.work.marketOrders = 30;
  o.work.graphSends = o.work.graphActs = o.work.graphDeploys = 30;
  return o;
}

std::vector<Event> ofKind(const Plan& plan, EventKind kind) {
  std::vector<Event> out;
  std::copy_if(plan.events.begin(), plan.events.end(), std::back_inserter(out),
               [&](const Event& e) { return e.kind == kind; });
  return out;
}

TEST(Draw, ExponentialIsMinusTheLogarithm) {
  SeededRandom random(7);
  std::uint64_t sum = 0, least = ~std::uint64_t{0}, most = 0;
  constexpr std::uint64_t kDraws = 200'000, kMean = 1'000'000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t x = exponential(random, kMean);
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_NEAR(static_cast<double>(sum) / kDraws, kMean, kMean * 0.01);
  EXPECT_LT(least, 100U);
  EXPECT_GT(most, kMean * 9);
  SeededRandom ours(1), theirs(1);
  for (int i = 0; i < 1'000; ++i) {
    const double u = static_cast<double>(theirs.next()) / 18'446'744'073'709'551'616.0;
    ASSERT_NEAR(static_cast<double>(exponential(ours, kMean)), -std::log(u) * kMean, 2) << u;
  }
}

TEST(MakePlan, IsSortedWithinTheTimeAndHeals) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan plan = makePlan(busy(seed));
    ASSERT_GT(plan.events.size(), 1'000U);
    EXPECT_TRUE(std::is_sorted(plan.events.begin(), plan.events.end(),
                               [](const Event& a, const Event& b) { return a.at < b.at; }));
    for (const Event& e : plan.events) {
      EXPECT_LT(e.at, 3'600'000'000);
      EXPECT_LE(e.at + e.lasts, 3'600'000'000);
      EXPECT_LT(e.device, 5U);
      EXPECT_LT(e.other, 5U);
    }
  }
}

TEST(MakePlan, EveryKindComesAtItsRate) {
  std::map<EventKind, int> count;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Event& e : makePlan(busy(seed)).events) ++count[e.kind];
  for (std::size_t i = 0; i < enumNames<EventKind>().size(); ++i)
    EXPECT_GT(count[static_cast<EventKind>(i)], 0) << enumNames<EventKind>()[i];
  EXPECT_NEAR(count[EventKind::propose], 20 * 600, 500);
  EXPECT_NEAR(count[EventKind::cut], 20 * 30, 100);
}

TEST(MakePlan, ARateLeavesTheOtherKindsAsTheyWere) {
  Options options = busy(3);
  const Plan before = makePlan(options);
  options.faults.cuts = 300;
  options.work.messages = 0;
  const Plan after = makePlan(options);
  EXPECT_TRUE(ofKind(after, EventKind::message).empty());
  EXPECT_GT(ofKind(after, EventKind::cut).size(), ofKind(before, EventKind::cut).size());
  for (std::size_t i = 0; i < enumNames<EventKind>().size(); ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::cut || kind == EventKind::message) continue;
    EXPECT_EQ(ofKind(before, kind), ofKind(after, kind)) << enumNames<EventKind>()[i];
  }
}

TEST(MakePlan, NothingActsOnItselfAndNoSideIsEmpty) {
  for (const Event& e : makePlan(busy(5)).events) {
    if (e.kind == EventKind::cut || e.kind == EventKind::retire) {
      EXPECT_NE(e.device, e.other);
    }
    if (e.kind == EventKind::split) {
      EXPECT_NE(e.n, 0U);
      EXPECT_LT(e.n, 31U);
    }
  }
}

TEST(MakePlan, OneDeviceAloneIsACluster) {
  Options options = busy(1);
  options.cluster.devices = 1;
  options.cluster.ledgerReplicas = 1;
  for (const Event& e : makePlan(options).events) EXPECT_EQ(e.device, 0U);
}

// Out, by the words of sim/plan_budget.h, told again.
struct Out {
  std::set<std::uint32_t> devices, replicas, lostReplicas;
};
Out outAt(const Plan& plan, Micros at) {
  Out out;
  for (const Event& e : plan.events) {
    Micros until = e.at + e.lasts;
    bool lost = false;
    std::uint32_t victim = e.device;
    switch (e.kind) {
      case EventKind::retire: victim = e.other, until = Micros{1} << 62, lost = true; break;
      case EventKind::loseDisk: until += kRefill, lost = true; break;
      case EventKind::restore:
      case EventKind::restoreLedgers:
        if (e.m == 1) continue;  // makes the copy only
        until += kRefill, lost = true;
        break;
      case EventKind::writeCrash:
      case EventKind::ioError: until += kStrikeWithin; break;
      case EventKind::crash:
      case EventKind::fullDisk: break;
      default: continue;
    }
    if (e.at > at || until <= at) continue;
    out.devices.insert(victim);
    if (victim >= static_cast<std::uint32_t>(plan.options.cluster.ledgerReplicas)) continue;
    out.replicas.insert(victim);
    if (lost) out.lostReplicas.insert(victim);
  }
  return out;
}

TEST(Budget, AMinorityOfTheLedgerReplicasIsOutAtOnce) {
  for (const std::int64_t replicas : {1, 2, 3, 5}) {
    Options options = busy(static_cast<std::uint64_t>(replicas));
    options.cluster.ledgerReplicas = replicas;
    options.faults.downSeconds = 200;
    const Plan plan = makePlan(options);
    bool someOut = false;
    for (const Event& e : plan.events) {
      const Out out = outAt(plan, e.at);
      someOut = someOut || !out.replicas.empty();
      ASSERT_LT(out.devices.size(), 5U);
      if (out.replicas.size() == 1 && out.lostReplicas.empty()) continue;
      ASSERT_LT(2 * static_cast<std::int64_t>(out.replicas.size()), std::max<std::int64_t>(replicas, 1))
          << replicas << " at " << e.at;
    }
    EXPECT_TRUE(someOut) << replicas;
  }
}

TEST(Budget, ItTakesOutWhatWouldExceedIt) {
  const ClusterOptions cluster;  // five devices, three replicas
  const Event first{.at = kFounding + 1'000, .kind = EventKind::loseDisk, .device = 0, .lasts = 1'000};
  const Event second{.at = kFounding + 1'500, .kind = EventKind::crash, .device = 1, .lasts = 1'000};
  const Event elsewhere{.at = kFounding + 1'600, .kind = EventKind::crash, .device = 4, .lasts = 1'000};
  const Event later{.at = kFounding + 2'000 + kRefill, .kind = EventKind::crash, .device = 1, .lasts = 1'000};
  EXPECT_EQ(withinBudget(cluster, {first, second, elsewhere, later}, {}),
            (std::vector<Event>{first, elsewhere, later}));
  // What a person wrote stays, and counts.
  EXPECT_EQ(withinBudget(cluster, {first}, {second}), (std::vector<Event>{second}));
  EXPECT_EQ(withinBudget(cluster, {}, {first, second}), (std::vector<Event>{first, second}));
  // The only disk is not taken away, but its device may lose power.
  ClusterOptions one{.devices = 1, .ledgerReplicas = 1};
  EXPECT_TRUE(withinBudget(one, {first}, {}).empty());
  EXPECT_EQ(withinBudget(one, {{.at = 5, .kind = EventKind::crash}}, {}).size(), 1U);
  // Nor is any before the others have what the founder made.
  EXPECT_TRUE(withinBudget(cluster, {{.at = kFounding - 1, .kind = EventKind::bitRot}}, {}).empty());
  EXPECT_EQ(withinBudget(cluster, {{.at = kFounding, .kind = EventKind::bitRot}}, {}).size(), 1U);
}

TEST(Budget, NeverAMajorityIsRetired) {
  std::vector<Event> drawn;
  for (std::uint32_t i = 0; i < 20; ++i)
    drawn.push_back({.at = kFounding + 1'000 * i, .kind = EventKind::retire, .device = 0, .other = i % 5});
  EXPECT_EQ(withinBudget({}, drawn, {}).size(), 2U);
}

TEST(PlanText, ReadsBackByteForByte) {
  Plan plan = makePlan(busy(9));
  plan.options.seed = (std::uint64_t{1} << 63) - 1;
  const std::string text = writePlan(plan);
  const auto read = readPlan(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->events, plan.events);
  EXPECT_EQ(writePlan(*read), text);
}

TEST(PlanText, LeavesZerosOut) {
  std::string line;
  appendEvent(line, {.at = 5, .kind = EventKind::crash, .device = 2, .lasts = 7});
  EXPECT_EQ(line, R"({"at":5,"kind":"crash","device":2,"lasts":7})");
}

TEST(PlanText, SortsAndTakesOptionsThatAreMissingAsDefaults) {
  const auto plan = readPlan(
      "{\"plan\":1,\"options\":{\"seed\":4}}\r\n\n{\"at\":9,\"kind\":\"crash\"}\n{\"at\":1,\"kind\":\"pause\"}");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->options.seed, 4U);
  EXPECT_EQ(plan->options.cluster.devices, 5);
  ASSERT_EQ(plan->events.size(), 2U);
  EXPECT_EQ(plan->events[0].kind, EventKind::pause);
}

TEST(PlanText, ErrorsNameTheLineAndTheMember) {
  const std::string head = "{\"plan\":1,\"options\":{}}\n";
  const std::pair<std::string, std::string> bad[] = {
      {"", "an empty plan"},
      {"{\"at\":1,\"kind\":\"crash\"}", "line 1: a plan begins with"},
      {"{\"plan\":1}", "line 1: a plan begins with"},
      {"{\"plan\":2,\"options\":{}}", "line 1: plan: a form of number 2"},
      {"{\"plan\":1,\"options\":{\"cluster\":{\"devices\":1001}}}", "cluster.devices is 1001"},
      {"{\"plan\":1,\"options\":{\"cluster\":{\"cats\":9}}}", "cats"},
      {head + "{\"at\":1}", "line 2: an event without \"kind\""},
      {head + "\n{\"at\":1,\"kind\":\"meteor\"}", "line 3: kind: \"meteor\""},
      {head + "{\"at\":-1,\"kind\":\"crash\"}", "line 2: at: not within twenty years"},
      {head + "{\"at\":\"x\",\"kind\":\"crash\"}", "line 2: at"},
      {head + "{\"at\":1,\"kind\":\"crash\",\"lasts\":9223372036854775807}", "line 2: lasts"},
      {head + "{\"at\":1,\"kind\":\"crash\",\"device\":4294967297}", "line 2: device"},
      {head + "{\"at\":1,\"kind\":\"crash\",\"colour\":1}", "line 2: unknown member \"colour\""},
      {head + "[1]", "line 2: the event"},
      {head + "{\"at\":1,", "line 2: "},
      {head + "{\"at\":600000001,\"kind\":\"crash\"}",
       "line 2: at: crash at 10m1us comes after the end of the run, at 10m"},
  };
  for (const auto& [text, message] : bad) {
    const auto plan = readPlan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(plan.error().message, HasSubstr(message));
  }
}

TEST(CheckOptions, RefusesMoreEventsThanAPlanHolds) {
  Options options;
  EXPECT_TRUE(checkOptions(options).ok());
  options.time.seconds = 3'600 * 24 * 365;
  const auto status = checkOptions(options);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("events are expected"));
  options.time.seconds = 600;
  options.network.lossPerMillion = 1'000'001;
  EXPECT_THAT(checkOptions(options).error().message, HasSubstr("network.lossPerMillion is 1000001"));
}

}  // namespace
}  // namespace witan::sim::plan_test
