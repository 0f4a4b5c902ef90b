// Snapshots as JSON: the form of other people's scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "replication/records/agent_state_json.h"
#include "tests/replication/agent_histories.h"

namespace witan::replication::agent_state_json_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

// As the interface shows it.
constexpr std::string_view kExample =
    R"({"agentId":"agent-1","dot":{"host":"A","counter":2},"vc":{"A":2},
 "lifecycle":"active","schedule":{"sleepUntil":0,"nextWakeAt":10,"firedThrough":0},
 "pointers":{"recentHeadMessageId":null,"latestSummaryMessageId":null},
 "slots":{"primaryGoal":{"value":"g","version":1,"host":"A"},"activeTaskId":{"value":null,"version":0,"host":""},
          "openLoopIds":{"value":[],"version":0,"host":""},"preferenceByKey":{"value":{},"version":0,"host":""},)"
    R"("extension":{"value":{},"version":0,"host":""}},
 "processedCounterByHost":{"A":1},"consecutiveFailureCount":0})";

std::string with(std::string_view part, std::string_view instead) {
  std::string text(kExample);
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), instead);
}

std::string errorOf(const std::string& text) {
  const auto snapshot = readSnapshot(text);
  return snapshot.ok() ? "" : snapshot.error().message;
}

TEST(AgentStateJson, ReadsTheExample) {
  const auto s = readSnapshot(kExample);
  ASSERT_TRUE(s.ok()) << s.error().message;
  EXPECT_EQ(s->agentId, "agent-1");
  EXPECT_EQ(s->dot, (Dot{"A", 2}));
  EXPECT_EQ(s->vc, (VectorClock{{"A", 2}}));
  AgentState expected;
  expected.lifecycle = Lifecycle::active;
  expected.schedule.nextWakeAt = 10;
  expected.slot(SlotName::primaryGoal) = {"\"g\"", 1, "A"};
  expected.processedCounterByHost = {{"A", 1}};
  EXPECT_EQ(s->state, expected);
}

// What is written is canonical JSON and is read back as the same.
TEST(AgentStateJson, WritesCanonicalJsonThatReadsBack) {
  const auto example = readSnapshot(kExample).value();
  EXPECT_EQ(toJson(snapshotRow(example)), canonicalJson(parseJson(kExample).value()));
  EXPECT_EQ(firstFailure(200, 120,
                         [](const History& history, std::mt19937_64&) -> std::string {
                           for (const AgentSnapshot& s : history.snapshots) {
                             const std::string text = toJson(snapshotRow(s));
                             if (canonicalJson(parseJson(text).value()) != text) return text;
                             if (readSnapshot(text).value() != s) return text;
                           }
                           return "";
                         }),
            "");
}

TEST(AgentStateJson, TheViewIsTheSnapshotWithoutItsDot) {
  const auto example = readSnapshot(kExample).value();
  json::value expected = parseJson(kExample).value();
  expected.as_object().erase("dot");
  EXPECT_EQ(toJson(viewRow("agent-1", viewOf(std::vector{example}, nullptr))), canonicalJson(expected));
}

// The double 8.611594247095819e16 is 86115942470958192; RFC 8785 alone would print ...190, another integer.
TEST(AgentStateJson, ASlotGivesLargeNumbersBackAsTheyWere) {
  const auto spelled = readSnapshot(with(R"("value":"g")", R"("value":[8.611594247095819e16])"));
  ASSERT_TRUE(spelled.ok()) << spelled.error().message;
  EXPECT_EQ(spelled->state.slot(SlotName::primaryGoal).value, "[86115942470958192]");
  EXPECT_EQ(*spelled, readSnapshot(with(R"("value":"g")", R"("value":[86115942470958192])")).value());
  EXPECT_EQ(*spelled, readSnapshot(toJson(snapshotRow(*spelled))).value());
}

TEST(AgentStateJson, CountersUpTo2To63) {
  const auto s = readSnapshot(with(R"("version":1)", R"("version":9223372036854775807)"));
  ASSERT_TRUE(s.ok());
  EXPECT_THAT(toJson(snapshotRow(*s)), HasSubstr("9223372036854775807"));
  EXPECT_THAT(errorOf(with(R"("version":1)", R"("version":9223372036854775808)")),
              HasSubstr("slots.primaryGoal.version: larger than 2^63-1"));
}

// A counter of 0 and a missing one say the same; so do two spellings of one value.
TEST(AgentStateJson, EqualContentsAreEqual) {
  EXPECT_EQ(readSnapshot(with(R"("A":2})", R"("A":2,"B":0})")).value(), readSnapshot(kExample).value());
  EXPECT_EQ(readSnapshot(with(R"("value":"g")", R"("value":"\u0067")")).value(), readSnapshot(kExample).value());
}

TEST(AgentStateJson, EveryErrorNamesPlaceAndCause) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not JSON"},
      {"[]", "snapshot: expected an object, found"},
      {with(R"("agentId":"agent-1",)", ""), "agentId is missing"},
      {with("agent-1", "agent|1"), "agentId"},
      {with(R"("agent-1")", "7"), "agentId: expected text"},
      {with(R"("consecutiveFailureCount":0)", R"("consecutiveFailureCount":0,"mood":1)"), "unknown member \"mood\""},
      {with(R"("counter":2)", R"("counter":3)"), "vc.A is 2, the dot's counter is 3"},
      {with(R"("counter":2)", R"("counter":0)"), "dot.counter: the first is 1"},
      {with(R"("vc":{"A":2})", R"("vc":{})"), "vc.A is 0"},
      {with(R"("vc":{"A":2})", R"("vc":{"A":2,"":1})"), "vc: host"},
      {with(R"("vc":{"A":2})", R"("vc":{"A":2,"A":2})"), "not JSON"},
      {with(R"("vc":{"A":2})", R"("vc":{"A":-2})"), "vc.A: must not be negative"},
      {with(R"("vc":{"A":2})", R"("vc":[])"), "vc: expected an object"},
      {with(R"("active")", R"("asleep")"), "lifecycle: \"asleep\" is no lifecycle"},
      {with(R"("nextWakeAt":10)", R"("nextWakeAt":"10")"), "schedule.nextWakeAt: expected an integer"},
      {with(R"("nextWakeAt":10)", R"("nextWakeAt":1.5)"), "schedule.nextWakeAt: expected an integer"},
      {with(R"("sleepUntil":0,)", ""), "schedule.sleepUntil is missing"},
      {with(R"("recentHeadMessageId":null)", R"("recentHeadMessageId":"")"), "pointers.recentHeadMessageId"},
      {with(R"("version":1,"host":"A")", R"("version":1,"host":"")"), "slots.primaryGoal.host: a written slot"},
      {with(R"("version":1,)", R"("version":1,"by":"A",)"), "slots.primaryGoal: unknown member \"by\""},
      {with(R"("primaryGoal":)", R"("primaryGoals":)"), "slots.primaryGoal is missing"},
      {with(R"({"A":1})", R"({"A":"1"})"), "processedCounterByHost.A: expected an integer"},
      {with(R"("g")", "\"" + std::string(kMaxSlotBytes, 'g') + "\""), "slots.primaryGoal.value: longer than"},
      {with(R"("g")", std::string(33, '[') + std::string(33, ']')), "not JSON"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(errorOf(text), HasSubstr(words)) << text.substr(0, 300);
  std::string many = R"("vc":{"A":2)";
  for (int i = 0; i < 4096; ++i) many += ",\"h" + std::to_string(i) + "\":1";
  EXPECT_THAT(errorOf(with(R"("vc":{"A":2)", many)), HasSubstr("vc: more than 4096 entries"));
}

// As deep and as long as a slot may be, it is read, kept and written.
TEST(AgentStateJson, ASlotAtItsLimits) {
  const std::string deep = std::string(kMaxSlotDepth, '[') + std::string(kMaxSlotDepth, ']');
  const std::string wide = "\"" + std::string(kMaxSlotBytes - 2, 'g') + "\"";
  for (const std::string& value : {deep, wide}) {
    const auto s = readSnapshot(with(R"("g")", value));
    ASSERT_TRUE(s.ok()) << s.error().message;
    EXPECT_EQ(toSnapshot("agent-1", toVersion(*s)).value(), *s);
    EXPECT_EQ(readSnapshot(toJson(snapshotRow(*s))).value(), *s);
  }
}

}  // namespace
}  // namespace witan::replication::agent_state_json_test
