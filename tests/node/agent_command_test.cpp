// `witan agent` and `witan state show`: two devices' snapshots merge to what both see after a sync.
#include <gmock/gmock.h>

#include "program/error_report.h"
#include "tests/node/replica.h"

namespace witan::node::agent_command_test {
namespace {

using test::Finished;
using test::Garden;
using test::meet;
using test::Replica;
using test::runWitan;
using ::testing::HasSubstr;

TEST(AgentCommand, CreateSetShowList) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  laptop.ok({"agent", "create", "agent-1", "--goal", "say \"hi\""});
  const Finished twice = laptop.run({"agent", "create", "agent-1"});
  EXPECT_EQ(twice.exitCode, kExitFailed);
  EXPECT_THAT(twice.err, HasSubstr("agent set agent-1"));
  laptop.ok({"agent", "set", "agent-1", "--lifecycle", "active", "--slot", "openLoopIds=[\"t1\"]", "--slot",
             "extension={ \"b\":1, \"a\":2 }", "--sleep-until", "1970-01-01T00:00:02Z", "--next-wake", "5000",
             "--failures", "2"});
  const json::value shown = laptop.asJson({"agent", "show", "agent-1", "--history"});
  const json::value& view = shown.at("view");
  EXPECT_EQ(view.at("lifecycle").as_string(), "active");
  EXPECT_EQ(canonicalJson(view.at("schedule")), R"({"firedThrough":0,"nextWakeAt":5000,"sleepUntil":2000})");
  EXPECT_EQ(canonicalJson(view.at("slots").at("primaryGoal").at("value")), R"("say \"hi\"")");
  EXPECT_EQ(canonicalJson(view.at("slots").at("extension").at("value")), R"({"a":2,"b":1})");
  EXPECT_EQ(view.at("consecutiveFailureCount").to_number<int>(), 2);
  EXPECT_EQ(shown.at("antichain").as_array().size(), 1u);
  EXPECT_EQ(shown.at("snapshots").as_array().size(), 1u);
  laptop.ok({"agent", "set", "agent-1", "--next-wake", "none", "--goal", ""});
  EXPECT_THAT(laptop.ok({"agent", "list"}), HasSubstr("agent-1  active  \"\""));
  EXPECT_THAT(laptop.ok({"agent", "list", "--json"}),
              HasSubstr(R"({"agentId":"agent-1","lifecycle":"active","primaryGoal":"","versions":1})"));
}

TEST(AgentCommand, ModeAndTimersAreSetAndShown) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  laptop.ok({"agent", "create", "agent-1"});
  EXPECT_FALSE(laptop.asJson({"agent", "show", "agent-1"}).at("view").as_object().contains("mode"));
  laptop.ok({"agent", "set", "agent-1", "--mode", "interactive", "--timer", "daily=86400000", "--timer", "old=off"});
  const json::value shown = laptop.asJson({"agent", "show", "agent-1"});
  const json::value& view = shown.at("view");
  EXPECT_EQ(view.at("mode").as_string(), "interactive");
  const json::value& timers = view.at("schedule").at("timers");
  EXPECT_EQ(timers.at("daily").at("everyMs").to_number<int>(), 86'400'000);
  EXPECT_EQ(timers.at("old").at("everyMs").to_number<int>(), 0);
  const std::string words = laptop.ok({"agent", "show", "agent-1"});
  EXPECT_THAT(words, HasSubstr("timer daily"));
  EXPECT_THAT(words, HasSubstr("off, fired through 0"));
  laptop.ok({"agent", "set", "agent-1", "--mode", "autonomous"});
  EXPECT_FALSE(laptop.asJson({"agent", "show", "agent-1"}).at("view").as_object().contains("mode"));
  for (const char* timer : {"daily", "daily=", "daily=0", "daily=soon"})
    EXPECT_EQ(laptop.run({"agent", "set", "agent-1", "--timer", timer}).exitCode, kExitUsage) << timer;
  EXPECT_EQ(laptop.run({"agent", "set", "agent-1", "--timer", "daily=5"}).exitCode, kExitFailed) << "too short";
}

TEST(AgentCommand, BadInputIsNamed) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  laptop.ok({"agent", "create", "agent-1"});
  const auto error = [&](std::vector<std::string> words, int exitCode = kExitFailed) {
    const Finished done = laptop.run(std::move(words));
    EXPECT_EQ(done.exitCode, exitCode);
    return done.err;
  };
  const auto usage = [&](const std::string& option, const std::string& value) {
    return error({"agent", "set", "agent-1", option, value}, kExitUsage);
  };
  EXPECT_THAT(error({"agent", "create", "no spaces"}, kExitUsage), HasSubstr("agent"));
  EXPECT_THAT(error({"agent", "show", "nobody"}), HasSubstr("witan agent list"));
  EXPECT_THAT(error({"agent", "destroy", "nobody"}), HasSubstr("no device hosts it, and it has no state"));
  EXPECT_THAT(usage("--lifecycle", "asleep"), HasSubstr("asleep"));
  EXPECT_THAT(usage("--slot", "mood={}"), HasSubstr("primaryGoal, activeTaskId"));
  EXPECT_THAT(usage("--slot", "extension={"), HasSubstr("extension"));
  EXPECT_THAT(usage("--slot", "extension=" + std::string(40, '[') + std::string(40, ']')), HasSubstr("extension"));
  EXPECT_THAT(usage("--next-wake", "soon"), HasSubstr("milliseconds"));
  EXPECT_THAT(error({"agent", "set", "agent-1"}), HasSubstr("nothing to set"));
  EXPECT_EQ(laptop.run({"agent", "create"}).exitCode, kExitUsage);
  laptop.ok({"agent", "set", "agent-1", "--lifecycle", "destroyed"});
  EXPECT_THAT(error({"agent", "set", "agent-1", "--failures", "1"}), HasSubstr("destroyed"));
}

// `state show` of two devices that are cut off, merged, is the view of both after they met.
TEST(AgentCommand, SnapshotsOfTwoDevicesMergeToWhatBothSeeAfterASync) {
  Garden garden;
  const Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  laptop.ok({"agent", "create", "agent-1", "--goal", "begin"});
  meet(laptop, phone);
  laptop.ok({"agent", "set", "agent-1", "--goal", "from the laptop", "--failures", "3"});
  phone.ok({"agent", "set", "agent-1", "--lifecycle", "dormant"});
  garden.scratch().write("a.jsonl", laptop.ok({"state", "show", "agent-1"}));
  garden.scratch().write("b.jsonl", phone.ok({"state", "show", "agent-1"}));
  const Finished merged = runWitan({"state", "merge", garden / "a.jsonl", garden / "b.jsonl", "--json"});
  ASSERT_EQ(merged.exitCode, kExitOk) << merged.err;
  meet(laptop, phone);
  const json::value expected = *parseJson(merged.out);
  for (const Replica* device : {&laptop, &phone}) {
    const json::value shown = device->asJson({"agent", "show", "agent-1"});
    EXPECT_EQ(canonicalJson(shown.at("view")), canonicalJson(expected.at("view")));
    EXPECT_EQ(canonicalJson(shown.at("antichain")), canonicalJson(expected.at("antichain")));
    EXPECT_EQ(shown.at("antichain").as_array().size(), 2u);
  }
  // An edit on top of both is one version again.
  phone.ok({"agent", "set", "agent-1", "--failures", "0"});
  meet(laptop, phone);
  EXPECT_EQ(laptop.asJson({"agent", "show", "agent-1"}).at("antichain").as_array().size(), 1u);
  EXPECT_EQ(laptop.ok({"state", "show", "agent-1"}), phone.ok({"state", "show", "agent-1"}));
}

}  // namespace
}  // namespace witan::node::agent_command_test
