// The bytes of an agent's state: one state, one byte string; field deltas; nothing from outside is trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/json.h"
#include "replication/records/agent_state.h"
#include "tests/replication/agent_histories.h"

namespace witan::replication::agent_state_codec_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

const std::string kSelf = "laptop@1a2b3c4d";

std::string hexOf(std::string_view bytes) { return toHex(asBytes(bytes)); }

std::string bytesOf(std::string_view hex) { return fromHex(hex).value(); }

// --- states of every shape

const std::vector<std::string>& someHosts() {
  static const std::vector<std::string> hosts = {kSelf, "A", "b@00ff00ff", "0123456789abcdef", std::string(256, 'h')};
  return hosts;
}

std::uint64_t someCounter(Choices& choose) {
  static constexpr std::uint64_t counters[] = {0, 1, 2, 30, 31, 32, 127, 128, 1'764'000'000'000, kMaxStateCounter};
  return counters[choose.below(std::size(counters))];
}

std::string someValue(Choices& choose) {
  static const char* values[] = {"null",
                                 "[]",
                                 "{}",
                                 "\"\"",
                                 "\"v-0123456789abcdef\"",
                                 "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"",
                                 "\"a\\\"b\\\\c\\n\\u0001\"",
                                 "true",
                                 "-1.5e-7",
                                 "18446744073709551615",
                                 "[1,[2,{\"k\":null}]]",
                                 "{\"a\":\"b\",\"b\":[]}"};
  return values[choose.below(std::size(values))];
}

Slot someSlot(Choices& choose) {
  Slot slot{someValue(choose), someCounter(choose), ""};
  if (slot.version > 0 || choose.below(2) == 1) slot.host = someHosts()[choose.below(someHosts().size())];
  return slot;
}

// A state like `s` in which some fields differ.
AgentState someState(Choices& choose, AgentState s = {}) {
  if (choose.below(2) == 1) s.lifecycle = static_cast<Lifecycle>(choose.below(4));
  if (choose.below(2) == 1) s.schedule.sleepUntil = someCounter(choose);
  if (choose.below(2) == 1) s.schedule.firedThrough = someCounter(choose);
  if (choose.below(2) == 1) s.schedule.nextWakeAt = someCounter(choose);
  if (choose.below(4) == 1) s.schedule.nextWakeAt.reset();
  if (choose.below(2) == 1) s.pointers.recentHeadMessageId = someHosts()[choose.below(5)];
  if (choose.below(4) == 1) s.pointers.recentHeadMessageId.reset();
  if (choose.below(2) == 1) s.pointers.latestSummaryMessageId = "m-1";
  for (std::size_t i = 0; i < kSlots; ++i) {
    const std::size_t what = choose.below(4);
    if (what == 1) s.slots[i] = AgentState().slots[i];
    if (what > 1) s.slots[i] = someSlot(choose);
  }
  for (std::size_t n = choose.below(4); n > 0; --n)
    s.processedCounterByHost.set(someHosts()[choose.below(5)], someCounter(choose));
  if (choose.below(2) == 1) s.consecutiveFailureCount = someCounter(choose);
  if (choose.below(4) == 1) s.mode = static_cast<AgentMode>(choose.below(2));
  if (choose.below(4) == 1) s.schedule.timers.clear();
  for (std::size_t n = choose.below(3); n > 0; --n) {
    TimerState& timer = s.schedule.timers[someHosts()[choose.below(5)]];
    timer = {someCounter(choose), 0, someCounter(choose), {}};
    if (timer.version > 0) timer.everyMs = someCounter(choose), timer.host = someHosts()[choose.below(5)];
  }
  return s;
}

// --- one state, one byte string

RC_GTEST_PROP(AgentStateCodec, RoundTrip, (const std::vector<std::uint8_t>& script)) {
  Choices choose(script);
  const AgentState state = someState(choose);
  const std::string bytes = encodeAgentState(state, kSelf);
  const auto back = decodeAgentState(bytes, kSelf);
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == state);
  RC_ASSERT(encodeAgentState(*back, kSelf) == bytes);
}

RC_GTEST_PROP(AgentStateCodec, EveryTruncationIsAnError, (const std::vector<std::uint8_t>& script)) {
  Choices choose(script);
  const std::string bytes = encodeAgentState(someState(choose), kSelf);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RC_ASSERT(!decodeAgentState(std::string_view(bytes).substr(0, size), kSelf).ok());
    RC_ASSERT(!applyFieldDelta(std::string_view(bytes).substr(0, size), std::string_view("\0", 1)).ok());
    RC_ASSERT(!applyFieldDelta(std::string_view("\0", 1), std::string_view(bytes).substr(0, size)).ok());
  }
  RC_ASSERT(!decodeAgentState(bytes + '\0', kSelf).ok());
}

// What can be read is what would have been written: flipped bytes give another state or an error, never a second form.
TEST(AgentStateCodec, GarbageIsRefusedOrCanonical) {
  std::mt19937_64 random(7);
  std::size_t read = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<std::uint8_t> script = randomScript(random(), 80);
    Choices choose(script);
    std::string bytes = encodeAgentState(someState(choose), kSelf);
    if (i % 4 == 0) bytes.assign(random() % 60, '\0');
    for (std::size_t n = 1 + random() % 3; n > 0 && !bytes.empty(); --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 4 == 0) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    const auto state = decodeAgentState(bytes, kSelf);
    if (state.ok()) {
      ++read;
      EXPECT_EQ(hexOf(encodeAgentState(*state, kSelf)), hexOf(bytes));
    }
    const std::string empty("\0", 1);
    for (const auto& merged : {applyFieldDelta(empty, bytes), applyFieldDelta(bytes, empty)})
      if (merged.ok()) changedFields(*merged, bytes);
  }
  EXPECT_GT(read, 10u);
}

AgentState goldenState() {
  AgentState s;
  s.lifecycle = Lifecycle::active;
  s.schedule = {0, 1'764'000'000'000, 1'763'999'990'000};
  s.pointers.recentHeadMessageId = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  s.slot(SlotName::primaryGoal) = {"\"v-00ff\"", 2, kSelf};
  s.slot(SlotName::openLoopIds) = {"[]", 40, "B"};
  s.slot(SlotName::preferenceByKey) = {"{\"tone\":\"dry\"}", 1, "B"};
  s.processedCounterByHost = {{"B", 7}, {kSelf, 300}};
  s.consecutiveFailureCount = 1;
  return s;
}

// Stored, sent and fingerprinted: these bytes must never change.
TEST(AgentStateCodec, GoldenBytes) {
  EXPECT_EQ(hexOf(encodeAgentState(AgentState(), kSelf)), "00");
  EXPECT_EQ(hexOf(encodeAgentState(goldenState(), kSelf)),
            "dd360181d0dfb4ab33f081dfb4ab33"
            "00100f1e2d3c4b5a69788796a5b4c3d2e1f0150202762d00fff809010042"
            "0a0100420e7b22746f6e65223a22647279227d03ac020100420701");
  const AgentSnapshot snapshot{"agent-1", {kSelf, 300}, {{kSelf, 300}, {"B", 7}}, goldenState()};
  EXPECT_EQ(toVersion(snapshot).body, encodeAgentState(goldenState(), kSelf));
  EXPECT_EQ(toSnapshot("agent-1", toVersion(snapshot)).value(), snapshot);
}

std::string errorOf(std::string_view hex, std::string_view self = "A") {
  const auto state = decodeAgentState(bytesOf(hex), self);
  return state.ok() ? "" : state.error().message;
}

TEST(AgentStateCodec, AFieldOfANewerVersionIsNamedAsSuch) {
  EXPECT_THAT(errorOf("808002"), HasSubstr("newer version of Witan"));
  const auto merged = applyFieldDelta(std::string("\0", 1), bytesOf("80800201"));
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(merged.error().message, HasSubstr("newer version of Witan"));
}

TEST(AgentStateCodec, OnlyTheShortestFormIsRead) {
  EXPECT_EQ(errorOf("0102"), "");                                       // dormant
  EXPECT_THAT(errorOf("0100"), HasSubstr("a default is spelled out"));  // created
  EXPECT_THAT(errorOf("0104"), HasSubstr("unknown lifecycle"));
  EXPECT_THAT(errorOf("02ffffffffffffffffff01"), HasSubstr("limit"));  // a time beyond 2^63-1
  EXPECT_EQ(errorOf("02ffffffffffffffff7f"), "");                      // 2^63-1
  EXPECT_EQ(errorOf("4008010042"), "");                                // version 1, by B
  EXPECT_THAT(errorOf("4008010041"), HasSubstr("own name is spelled out"));
  EXPECT_THAT(errorOf("40080000"), HasSubstr("written by nobody"));
  EXPECT_THAT(errorOf("400801007c"), HasSubstr("no id"));  // host |
  EXPECT_EQ(errorOf("400d010078"), "");                    // by itself, "x"
  EXPECT_THAT(errorOf("400d010022"), HasSubstr("needs escapes"));
  EXPECT_THAT(errorOf("400d0100ff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(errorOf("400e03227822"), HasSubstr("shorter form"));    // "x" as JSON
  EXPECT_THAT(errorOf("400e046e756c6c"), HasSubstr("shorter form"));  // the default
  EXPECT_EQ(errorOf("400e025b5d"), "");                               // []
  EXPECT_THAT(errorOf("400e035b205d"), HasSubstr("not in canonical JSON"));
  EXPECT_THAT(errorOf("400e025b31"), HasSubstr("not JSON"));
  EXPECT_THAT(errorOf("400f00"), HasSubstr("unknown kind"));
  EXPECT_EQ(errorOf("804001"), "");  // interactive
  EXPECT_THAT(errorOf("804002"), HasSubstr("unknown mode"));
  EXPECT_EQ(errorOf("80800101010074070000"), "");  // timer t, fired through 7
  EXPECT_THAT(errorOf("80800101010074070100"), HasSubstr("set by nobody"));
  EXPECT_THAT(errorOf("80800102010074000000010074000000"), HasSubstr("out of order"));
  EXPECT_EQ(errorOf("80100201004207"), "");  // one processed counter, of B
  EXPECT_EQ(errorOf("80100107"), "");        // one, its own
  EXPECT_THAT(errorOf("80100100"), HasSubstr("counter of 0"));
  EXPECT_THAT(errorOf("80100201004107"), HasSubstr("own name is spelled out"));
  EXPECT_THAT(errorOf("8010040100430201004202"), HasSubstr("out of order"));
  EXPECT_THAT(errorOf("80108140"), HasSubstr("limit"));  // 4,096 of others and its own
  EXPECT_THAT(errorOf("1001007c"), HasSubstr("message id"));
}

// --- field deltas

// The fields in which two states differ, from the states themselves.
std::uint32_t differing(const AgentState& a, const AgentState& b) {
  std::uint32_t fields = 0;
  const auto note = [&](bool differs, StateField field) { fields |= differs ? bitOf(field) : 0; };
  note(a.lifecycle != b.lifecycle, StateField::lifecycle);
  note(a.schedule.sleepUntil != b.schedule.sleepUntil, StateField::sleepUntil);
  note(a.schedule.nextWakeAt != b.schedule.nextWakeAt, StateField::nextWakeAt);
  note(a.schedule.firedThrough != b.schedule.firedThrough, StateField::firedThrough);
  note(a.pointers.recentHeadMessageId != b.pointers.recentHeadMessageId, StateField::recentHeadMessageId);
  note(a.pointers.latestSummaryMessageId != b.pointers.latestSummaryMessageId, StateField::latestSummaryMessageId);
  for (unsigned i = 0; i < kSlots; ++i)
    note(a.slots[i] != b.slots[i], static_cast<StateField>(static_cast<unsigned>(StateField::primaryGoal) + i));
  note(a.processedCounterByHost != b.processedCounterByHost, StateField::processedCounters);
  note(a.mode != b.mode, StateField::mode);
  note(a.schedule.timers != b.schedule.timers, StateField::timers);
  note(a.consecutiveFailureCount != b.consecutiveFailureCount, StateField::consecutiveFailures);
  return fields;
}

RC_GTEST_PROP(AgentStateDelta, ADeltaMakesTheAuthorsBytes,
              (const std::vector<std::uint8_t>& first, const std::vector<std::uint8_t>& second)) {
  Choices chooseBefore(first), chooseAfter(second);
  const AgentState before = someState(chooseBefore);
  const AgentState after = someState(chooseAfter, before);
  const std::string base = encodeAgentState(before, kSelf);
  const std::string wanted = encodeAgentState(after, kSelf);
  const std::uint32_t fields = changedFields(base, wanted);
  RC_ASSERT(fields == differing(before, after));
  std::string delta;
  appendFieldDelta(delta, wanted, fields);
  RC_ASSERT(applyFieldDelta(base, delta).value() == wanted);
  // Fields that did not change do no harm; all fields make the body from any base.
  std::string all;
  appendFieldDelta(all, wanted, (1u << kStateFields) - 1);
  RC_ASSERT(applyFieldDelta(base, all).value() == wanted);
  RC_ASSERT(applyFieldDelta(encodeAgentState(AgentState(), kSelf), all).value() == wanted);
}

TEST(AgentStateDelta, OfWhatIsNoBodyNothingIsSaid) {
  const std::string body = encodeAgentState(goldenState(), kSelf);
  EXPECT_EQ(changedFields("", body), 0u);
  EXPECT_EQ(changedFields(body, ""), 0u);
  EXPECT_EQ(changedFields(body, body), 0u);
}

// A device id is a UUID; a snapshot of the workload that the peers are measured with.
AgentState workloadState(const std::string& self) {
  const std::string hex = "0123456789abcdef0123456789abcdef";
  AgentState s;
  s.lifecycle = Lifecycle::active;
  s.schedule = {1'764'000'000'000, 1'764'000'060'000, 1'763'999'990'000};
  s.pointers = {hex, hex};
  for (std::size_t i = 0; i < kSlots; ++i) s.slots[i] = {"\"v-" + hex.substr(2) + "\"", 6 + i, self};
  s.processedCounterByHost = {{self, 9'999}, {"device-2", 9'998}, {"device-3", 9'997}};
  return s;
}

TEST(AgentStateCodec, SizeOfAWorkloadSnapshot) {
  EXPECT_LE(encodeAgentState(workloadState("device-1"), "device-1").size(), 185u);
}

TEST(AgentStateDelta, SizeOfOneSlot) {
  AgentState after = workloadState(kSelf);
  after.slot(SlotName::extension) = {"\"0123456789abcdef\"", 1'000'000, kSelf};
  std::string delta;
  appendFieldDelta(delta, encodeAgentState(after, kSelf), bitOf(StateField::extension));
  EXPECT_LE(delta.size(), 20u);
}

}  // namespace
}  // namespace witan::replication::agent_state_codec_test
