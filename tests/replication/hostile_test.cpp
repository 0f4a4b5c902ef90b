// A peer that says anything at any time: every bound of replication/sync_session.h, held. (Issue: nothing grows without
// limit when a peer is slow, silent or hostile.)
#include <gmock/gmock.h>

#include <cstring>

#include "tests/replication/cluster.h"

namespace witan::replication::test::hostile_test {
namespace {

template <class T>
std::string frame(const T& message) {
  WordWriter words;
  std::string out;
  appendFrame(out, words, message);
  return out;
}

std::string hello(const std::string& device = "hostile", std::uint32_t window = 4 << 20, bool live = false) {
  Hello hello;
  hello.live = live;
  hello.window = window;
  hello.cluster = "test";
  hello.device = device;
  return frame(hello);
}

// Names agents/main as number 0, with writers of its own, and the cluster's space, without which nothing is sent.
std::string mainSpace() {
  Spaces spaces;
  for (const std::string_view scope : {std::string_view("main"), kClusterScope}) {
    SpaceSummary& summary = spaces.spaces.emplace_back();
    summary.database = 1;
    summary.scope = scope;
  }
  std::string rows;
  appendWriterRow(rows, "hostile@00000001");
  appendClockRow(rows, RowTag::commit, {});
  return frame(spaces) + frame(Writers{0, asData(rows)}) + frame(Writers{1, asData(rows)});
}

std::string segment(const std::string& rows) { return frame(Segment{0, 0, asData(rows), {}}); }

std::string versionRows(const VersionRow& row) {
  std::string rows;
  appendVersionRow(rows, row);
  return rows;
}

// What became of a session with `a` in which the peer said this.
struct Outcome {
  SessionState state;
  std::string reason;
};
Outcome say(Device& a, const std::string& frames, std::size_t* produced = nullptr) {
  SyncSession session(a.replica(), {}, 0);
  std::string out;
  std::string_view rest = frames;
  while (!rest.empty() && session.state() != SessionState::closed) {
    std::uint32_t length = 0;
    if (rest.size() >= 4) std::memcpy(&length, rest.data(), 4);
    const std::size_t size = std::min<std::size_t>(rest.size(), kFrameHeaderBytes + length);
    (void)session.receive(rest.substr(0, size), 0);
    rest.remove_prefix(size);
  }
  session.produce(out, std::size_t{1} << 30, 0);
  if (produced != nullptr) *produced = out.size();
  EXPECT_TRUE(a.replica().flush().ok());
  for (const std::string& id : a.replica().spaceIds())
    EXPECT_TRUE(a.replica().findSpace(id)->checkIntegrity().ok()) << id;
  return {session.state(), session.closeReason()};
}
void expectRefused(const std::string& frames, std::string_view why) {
  Device a("a");
  const Outcome outcome = say(a, hello() + mainSpace() + frames);
  EXPECT_EQ(outcome.state, SessionState::closed) << why;
  EXPECT_NE(outcome.reason.find(why), std::string::npos) << "'" << outcome.reason << "' should say '" << why << "'";
}

std::string bodyBy(const std::string& writer) {
  AgentState state;
  state.consecutiveFailureCount = 1;
  return encodeAgentState(state, writer);
}

TEST(Hostile, HeadersThatLie) {
  const std::string good = hello();
  for (std::size_t n = 0; n < good.size(); ++n) {
    Device a("a");
    SyncSession session(a.replica(), {}, 0);
    EXPECT_FALSE(session.receive(std::string_view(good).substr(0, n), 0).ok()) << n;
    EXPECT_EQ(session.state(), SessionState::closed);
  }
  for (const std::uint32_t length : {0u, 1u, 7u, 16u, 0x7fffffffu, 0xfffffff8u, std::uint32_t{kMaxFrameBytes} + 8}) {
    std::string bad = good;
    std::memcpy(bad.data(), &length, 4);
    EXPECT_FALSE(readFrameHeader(bad, kMaxFrameBytes).ok() && length == bad.size() - kFrameHeaderBytes);
    Device a("a");
    SyncSession session(a.replica(), {}, 0);
    EXPECT_FALSE(session.receive(bad, 0).ok()) << length;
  }
}

TEST(Hostile, BeforeHelloAndTwice) {
  Device a("a");
  EXPECT_NE(say(a, segment("")).reason.find("before HELLO"), std::string::npos);
  EXPECT_NE(say(a, hello() + hello()).reason.find("twice"), std::string::npos);
  EXPECT_NE(say(a, hello() + mainSpace() + mainSpace()).reason.find("twice"), std::string::npos);
  EXPECT_NE(say(a, hello("a b")).reason.find("device"), std::string::npos);
  EXPECT_NE(say(a, hello("a")).reason.find("copy"), std::string::npos);
}

TEST(Hostile, RowsThatNoHonestPeerWrites) {
  VersionRow row;
  row.kind = Kind::agentState;
  row.key = "agent";
  row.seq = 1;
  const std::string body = bodyBy("hostile@00000001");
  row.body = body;
  const auto with = [&](auto change) {
    VersionRow changed = row;
    change(changed);
    return segment(versionRows(changed));
  };
  expectRefused(with([](VersionRow& r) { r.writer = 7; }), "never announced");
  expectRefused(with([](VersionRow& r) { r.context = {{9, 1}}; }), "never announced");
  expectRefused(with([](VersionRow& r) { r.context = {{0, 1}}; }), "names a writer twice");
  expectRefused(with([](VersionRow& r) { r.seq = 0; }), "counter of 0");
  expectRefused(with([](VersionRow& r) { r.seq = std::uint64_t{1} << 60; }), "row");
  expectRefused(with([](VersionRow& r) { r.seq = std::uint64_t{1} << 45; }), "beyond anything known");
  expectRefused(with([](VersionRow& r) { r.key = "with space"; }), "key");
  expectRefused(with([](VersionRow& r) { r.key = std::string("nul\0", 4); }), "key");
  expectRefused(with([](VersionRow& r) { r.key = "\xff\xfe"; }), "key");
  expectRefused(with([](VersionRow& r) { r.key = ""; }), "key");
  expectRefused(with([](VersionRow& r) { r.kind = Kind::journal; }), "do not live in the agents database");
  expectRefused(with([](VersionRow& r) { r.kind = Kind::batch; }), "keyed by its dot");
  expectRefused(with([](VersionRow& r) { r.base = 5, r.seq = 9, r.kind = Kind::wakeRun; }), "field deltas");
  for (unsigned kind = 1; kind <= 13; ++kind) {
    if (static_cast<Kind>(kind) == Kind::journal) continue;
    expectRefused(with([&](VersionRow& r) {
                    r.kind = static_cast<Kind>(kind);
                    r.key = r.kind == Kind::batch ? "hostile@00000001:1" : "key";
                    r.body = "\x7fgarbage";
                  }),
                  "");
  }
}

// A member may say what it likes of others, and under its own name only: else it could acknowledge a retirement for
// those whose last commits it wants to be forgotten.
TEST(Hostile, NobodySpeaksForAnotherDevice) {
  Device hostile("hostile"), b("b");
  const std::string own = hostile.replica().writer();
  const Write forged{Kind::statement, "a@00000001:1", encodeStatement(retireAck({}, "a@00000001", "b", 1, {})), false};
  ASSERT_TRUE(hostile.replica().commit(DatabaseName::agents, kClusterScope, {&forged, 1}).ok());
  ASSERT_TRUE(hostile.replica().addStatement(admit({}, own, "hostile", 1, "hostile")).ok());
  hostile.flush();
  sync(hostile, b);
  for (Device* device : {&hostile, &b}) {
    const auto known = device->replica().statements();
    ASSERT_TRUE(known.ok());
    ASSERT_EQ(known->size(), 1u) << "the forged one is held, and does not count";
    EXPECT_EQ(known->front().writer, own);
  }
  EXPECT_FALSE(b.replica().addStatement(admit({}, "a@00000001", "b", 1, "b")).ok()) << "nor here";
}

// One of the two statements ends up under the dot of whoever held it. That it does not count must part nobody.
TEST(Equivocation, OfStatementsKeepsEverybodyTalking) {
  Device first("a", 7), second("a", 7), b("b"), c("c");
  for (Device* life : {&first, &second}) {
    for (const std::string name : {"a", "b", "c", life == &first ? "x" : "y"}) {
      const auto known = life->replica().statements();
      ASSERT_TRUE(known.ok());
      ASSERT_TRUE(life->replica().addStatement(admit(*known, life->replica().writer(), name, 1, name)).ok());
    }
    life->flush();
  }
  sync(first, b);
  sync(second, c);
  for (int round = 0; round < 3; ++round) sync(b, c);  // no session is closed
  const auto left = b.replica().statements(), right = c.replica().statements();
  ASSERT_TRUE(left.ok() && right.ok());
  EXPECT_EQ(*left, *right);
  EXPECT_EQ(left->size(), 4u) << "one of the two, and what both say";
}

// A delta that makes no state of a good base: refused, and the base stands.
TEST(Hostile, ADeltaThatMakesNoState) {
  Device a("a");
  const std::string writer = "hostile@00000001", body = bodyBy(writer);
  VersionRow row;
  row.kind = Kind::agentState;
  row.key = "agent";
  row.seq = 1;
  row.body = body;
  std::string rows = versionRows(row);
  row.seq = 2;
  row.base = 1;
  const std::string delta("\x01\x63", 2);  // lifecycle 99
  row.body = delta;
  rows += versionRows(row);
  EXPECT_EQ(say(a, hello() + mainSpace() + segment(rows)).state, SessionState::closed);
  EXPECT_EQ(a.antichain("agent").size(), 1u);
  EXPECT_EQ(a.view("agent").consecutiveFailureCount, 1u);
}

std::string live(const std::string& rows, std::uint16_t space = 0) {
  std::string out;
  appendLive(out, {space, 0, asData(rows), {}});
  return out;
}
Outcome sayLive(Device& a, const std::string& frames) {
  return say(a, hello("hostile", 4 << 20, true) + mainSpace() + frames);
}

// By an alias nothing can be said that could not be said by the key: it is the sender's own name for it.
TEST(Hostile, AliasesThatWereNotGiven) {
  const std::string body = bodyBy("hostile@00000001");
  VersionRow row;
  row.alias = 7;
  row.seq = 1;
  row.body = body;
  const std::string update = versionRows(row);
  const auto aliasOf = [](std::string_view key, std::uint8_t alias = 7) {
    std::string rows;
    appendAliasRow(rows, alias, Kind::agentState, key);
    return rows;
  };
  const auto reason = [&](const std::string& frames) {
    Device a("a");
    return sayLive(a, frames).reason;
  };
  EXPECT_THAT(reason(live(update)), testing::HasSubstr("alias 7, never given"));
  EXPECT_THAT(reason(live(aliasOf("agent", 6) + update)), testing::HasSubstr("alias 7, never given"));
  EXPECT_THAT(reason(live(update + aliasOf("agent"))), testing::HasSubstr("alias 7, never given"));
  EXPECT_THAT(reason(live(aliasOf("agent"), 1) + live(update)), testing::HasSubstr("alias 7, never given"));
  EXPECT_THAT(reason(live(aliasOf("with space") + update)), testing::HasSubstr("key"));
  EXPECT_THAT(reason(live(aliasOf(std::string(257, 'k')) + update)), testing::HasSubstr("row"));
  EXPECT_THAT(reason(frame(Items{0, false, asData(aliasOf("agent") + update)})), testing::HasSubstr("none was agreed"));
  EXPECT_THAT(reason(live("", 7)), testing::HasSubstr("was not named"));
  EXPECT_EQ(reason(live(aliasOf("agent") + update)), "");
  EXPECT_EQ(reason(live(aliasOf("agent") + update + "\x0b")), "");
  EXPECT_THAT(reason(live("\x0b")), testing::HasSubstr("the row before it, which is none"));
  EXPECT_THAT(reason(live(aliasOf("agent") + "\x0b" + update)), testing::HasSubstr("the row before it, which is none"));
  EXPECT_THAT(reason(frame(Items{0, false, asData("\x0b")})), testing::HasSubstr("none was agreed"));
  expectRefused(segment("\x0b"), "none was agreed");
  expectRefused(live(aliasOf("agent")), "none was agreed");
  expectRefused(segment(update), "none was agreed");
}

// As many as there are bytes, each with one meaning: the last.
TEST(Hostile, AliasesWithoutEnd) {
  const std::string body = bodyBy("hostile@00000001");
  std::string rows, frames;
  for (int i = 0; i < 50'000; ++i) {
    appendAliasRow(rows, static_cast<std::uint8_t>(i), Kind::agentState, concat(std::string(200, 'k'), i));
    if (rows.size() > 1 << 20) frames += live(std::exchange(rows, {}));
  }
  appendAliasRow(rows, 7, Kind::agentState, "last");
  VersionRow row;
  row.alias = 7;
  row.seq = 1;
  row.body = body;
  Device a("a");
  EXPECT_EQ(sayLive(a, frames + live(rows + versionRows(row))).reason, "");
  EXPECT_EQ(a.agents().keys(Kind::agentState), std::vector<std::string>{"last"});
}

TEST(Hostile, CountsThatAreTooLarge) {
  for (const std::uint64_t n : {std::uint64_t{4097}, std::uint64_t{1} << 31, std::uint64_t{1} << 60}) {
    std::string clock(1, '\3');
    DenseWriter(clock).varint(n);
    expectRefused(segment(clock), "row");
    std::string version("\2\1", 2);
    DenseWriter to(version);
    to.idText("agent");
    to.varint(0), to.varint(1), to.byte(0), to.varint(n);
    expectRefused(segment(version), "row");
    std::string text(1, '\1');
    DenseWriter(text).varint(n);
    expectRefused(segment(text), "row");
  }
  expectRefused(segment("\x0c"), "unknown tag");
  std::string many;
  for (int i = 0; i < 5000; ++i) appendWriterRow(many, "w" + std::to_string(i) + "@00000001");
  expectRefused(segment(many), "4096 writers");
  Spaces spaces;
  std::deque<std::string> scopes;
  for (std::size_t i = 0; i < kMaxSpaces + 1; ++i) {
    SpaceSummary& s = spaces.spaces.emplace_back();
    s.database = static_cast<std::uint16_t>(i % 2);
    s.scope = scopes.emplace_back("scope-" + std::to_string(i / 2));
  }
  expectRefused(frame(spaces), "256 spaces");
}

TEST(Hostile, NumbersOfSpacesAndAcksThatCannotBe) {
  expectRefused(frame(Segment{7, 0, {}, {}}), "was not named");
  expectRefused(frame(Need{65535, {}}), "was not named");
  expectRefused(frame(Ack{1, {}}), "an ACK of 1 bytes");
  expectRefused(frame(Ack{~std::uint64_t{0}, {}}), "an ACK of");
  expectRefused(frame(Items{0, false, asData("\1")}), "");
  expectRefused(frame(Ranges{0, false, {}}), "no question");
  expectRefused(frame(RangeList{0, 0, 1, {}, {}}), "without a question");
  expectRefused(frame(Ranges{0, true, {{5, 4, 0, 0, 0}}}), "ends before it begins");
  expectRefused(frame(Ranges{0, true, {{0, 9, 0, 0, 0}, {9, 12, 0, 0, 0}}}), "overlap");
  const std::string seven(7, 'x');
  expectRefused(frame(Need{0, asData(seven)}), "a NEED of 7 bytes");
  expectRefused(frame(Need{0, {}}), "a NEED of 0 bytes");
}

// Messages of random words, of every type: refused or harmless.
TEST(Hostile, GarbageOfEveryType) {
  std::uint64_t state = 42;
  const auto random = [&] { return state = state * 6364136223846793005u + 1442695040888963407u, state >> 24; };
  Device a("a");
  a.write("agent", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
  a.flush();
  for (int run = 0; run < 4000; ++run) {
    std::string body;
    const std::size_t words = 1 + random() % 12;
    for (std::size_t i = 0; i < words; ++i) {
      // Mostly plausible pointers and small numbers: pure noise dies at the first word.
      std::uint64_t word = random() % 3 == 0 ? random() << 20 ^ random() : random() % 16;
      if (random() % 3 == 0) word = (random() % 4) | (random() % 8) << 2 | (random() % 32) << 32 | (random() % 3) << 48;
      body.append(reinterpret_cast<const char*>(&word), 8);
    }
    std::string bytes;
    appendFrameBytes(bytes, static_cast<FrameType>(1 + run % 14), body);
    say(a, (run % 14 == 0 ? "" : hello() + mainSpace()) + bytes);
    if (HasFailure()) return;
  }
}

// --- questions without end

void fill(Device& device, int n) {
  std::vector<Write> writes;
  for (int i = 0; i < n; ++i) {
    AgentState state;
    state.consecutiveFailureCount = static_cast<std::uint64_t>(i + 1);
    writes.push_back(
        {Kind::agentState, "agent-" + std::to_string(i), encodeAgentState(state, device.replica().writer()), false});
    if (writes.size() < 1000 && i + 1 < n) continue;
    ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", writes).ok());
    writes.clear();
  }
  device.flush();
}

// Whoever asks and never reads is cut off; what it was owed is bounded meanwhile.
TEST(Hostile, QuestionsWithoutEnd) {
  Device a("a");
  fill(a, 20'000);
  std::vector<Range> ranges;
  const std::uint64_t step = ~std::uint64_t{0} / 4096;
  for (std::uint64_t i = 0; i < 4096; ++i) ranges.push_back({i * step, i * step + step - 1, 1, 1, 1});
  const std::string question = frame(Ranges{0, true, ranges});
  SyncSession session(a.replica(), {}, 0);
  for (const std::string& one : framesOf(hello() + mainSpace())) ASSERT_TRUE(session.receive(one, 0).ok());
  int asked = 0;
  while (session.state() == SessionState::running && asked < 1000) (void)session.receive(question, 0), ++asked;
  EXPECT_EQ(session.state(), SessionState::closed);
  EXPECT_LT(asked, 20);
  std::string out;
  session.produce(out, std::size_t{1} << 30, 0);
  EXPECT_LT(out.size(), 1000u) << "only the reason";
}

TEST(Hostile, NeedsWithoutEnd) {
  Device a("a");
  fill(a, 2000);
  std::string hashes;
  a.agents().table().visit([&](Record& record) {
    hashes.append(reinterpret_cast<const char*>(&record.hash), 8);
    return hashes.size() < 8 * 1024;
  });
  const std::string question = frame(Need{0, asData(hashes)});
  SyncSession session(a.replica(), {}, 0);
  for (const std::string& one : framesOf(hello() + mainSpace())) ASSERT_TRUE(session.receive(one, 0).ok());
  int asked = 0;
  while (session.state() == SessionState::running && asked < 100'000) (void)session.receive(question, 0), ++asked;
  EXPECT_EQ(session.state(), SessionState::closed);
  EXPECT_LE(asked, 1025) << "a million records";
}

// One who reads is answered, a megabyte or so at a time.
TEST(Hostile, AnswersComeInPieces) {
  Device a("a");
  fill(a, 20'000);
  SyncSession session(a.replica(), {}, 0);
  for (const std::string& one : framesOf(hello() + mainSpace())) ASSERT_TRUE(session.receive(one, 0).ok());
  std::string out;
  session.produce(out, 0, 0);
  std::vector<std::string> needs(1);
  a.agents().table().visit([&](Record& record) {
    if (needs.back().size() == 8 * 1024) needs.emplace_back();
    needs.back().append(reinterpret_cast<const char*>(&record.hash), 8);
    return true;
  });
  for (const std::string& hashes : needs) ASSERT_TRUE(session.receive(frame(Need{0, asData(hashes)}), 0).ok());
  std::size_t answers = 0, pieces = 0;
  for (out.clear(); session.produce(out, 0, 0); out.clear(), ++pieces) {
    EXPECT_LT(out.size(), 2u << 20);
    for (const std::string& one : framesOf(out)) {
      if (one[4] != static_cast<char>(FrameType::items)) continue;
      const auto words = *alignedWords(std::string_view(one).substr(kFrameHeaderBytes));
      Items items;
      ASSERT_TRUE(readFrame({reinterpret_cast<const char*>(words.data()), words.size() * 8}, items).ok());
      answers += items.more ? 0 : 1;
    }
    ASSERT_LT(pieces, 100u);
  }
  EXPECT_EQ(answers, needs.size());
}

// Devices that nobody knows of get no row in the table of acknowledgements.
TEST(Hostile, AcknowledgementsOfInventedDevices) {
  Device a("a");
  std::string rows;
  for (int i = 0; i < 10'000; ++i) {
    DenseWriter to(rows);
    to.byte(static_cast<std::uint8_t>(RowTag::deviceAck));
    to.idText("invented-" + std::to_string(i));
    to.varint(1), to.varint(0), to.varint(1);
  }
  say(a, hello() + mainSpace() + frame(Acks{0, asData(rows)}));
  for (const auto& [space, devices] : a.replica().acks().entries()) EXPECT_LE(devices.size(), 2u) << space;
}

std::string ackRow(const std::string& device) {
  std::string rows;
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::deviceAck));
  to.idText(device);
  to.varint(1), to.varint(0), to.varint(1);
  return rows;
}
std::string alikeRow(std::initializer_list<std::uint64_t> writers) {
  std::string rows;
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::alike));
  to.varint(writers.size());
  for (const std::uint64_t writer : writers) to.varint(writer);
  return rows;
}

// Devices that acknowledged like another are named by their writers: of none, of unknown ones, of too many.
TEST(Hostile, AcknowledgementsAlike) {
  expectRefused(frame(Acks{0, asData(alikeRow({0}))}), "like none");
  const std::string unknown = ackRow("hostile") + alikeRow({1}), tooMany = ackRow("hostile") + alikeRow({0, 0});
  expectRefused(frame(Acks{0, asData(unknown)}), "never announced");
  expectRefused(frame(Acks{0, asData(tooMany)}), "a row of devices");
  Device a("a");
  const std::string rows = ackRow("hostile") + alikeRow({0});
  EXPECT_EQ(say(a, hello() + mainSpace() + frame(Acks{0, asData(rows)})).state, SessionState::running);
}

TEST(Hostile, AcknowledgementsInRuns) {
  const auto acks = [](const std::string& rows) { return frame(Acks{0, asData(rows)}); };
  const auto row = [](AcksRow of) {
    std::string rows;
    appendAcksRow(rows, of);
    return rows;
  };
  expectRefused(acks(row({{{0, 1}}, {}, {}})), "of no device");
  expectRefused(acks(row({{{1, 1}}, {"b"}, {}})), "a row of acknowledgements");
  expectRefused(acks(row({{{0, 1}}, {}, {1}})), "a row of acknowledgements");
  expectRefused(acks(row({{{0, 1}}, {"b c"}, {}})), "device");
  expectRefused(acks(std::string("\x0a\2\0\1\1\0\1\1\0\1\0\1", 12)), "a row of acknowledgements");  // 0, then 1
  expectRefused(acks(std::string("\x0a\0\xff\xff\xff\xff\x0f", 7)), "a row of acknowledgements");
  Device a("a");
  EXPECT_EQ(say(a, hello() + mainSpace() + acks(row({{{0, 0}}, {"b"}, {0}}))).reason, "");
  // All writers in each of many rows, and of each of them the acknowledgement.
  std::string writers, many;
  for (int i = 1; i < 4'000; ++i) appendWriterRow(writers, concat("device-", i, "@00000001"));
  for (int i = 0; i < 2'000; ++i) many += std::string("\x0a\1\0\xa0\x1f\1\0\1\0\1", 10);
  expectRefused(acks(writers + many), "more acknowledgements than a table of all devices has");
  expectRefused(acks(writers + std::string("\x0a\1\0\xa0\x1f\1\0\1\0\xa0\x1f", 11)),
                "more acknowledgements than a table of all devices has");
}

// --- slow, silent

// A peer that never acknowledges gets a window full, whatever is written here, and is cut off in time.
TEST(Slow, WhoNeverAcknowledgesGetsOneWindow) {
  Device a("a");
  SessionOptions options;
  options.window = 100'000;
  options.segmentBytes = 10'000;
  SyncSession session(a.replica(), options, 0);
  for (const std::string& one : framesOf(hello() + mainSpace())) ASSERT_TRUE(session.receive(one, 0).ok());
  std::size_t sent = 0;
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    a.write("agent-" + std::to_string(i), [&](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
    if (i % 50 != 0) continue;
    std::string out;
    session.produce(out, std::size_t{1} << 30, now);
    a.flush();
    sent += out.size();
    session.tick(now += 10);
  }
  EXPECT_EQ(session.state(), SessionState::running);
  EXPECT_LT(sent, 100'000u + 2 * 10'000u + 5000u);
  EXPECT_GT(sent, 90'000u);
  // It lives, and says so, but it acknowledges nothing.
  std::string ping;
  appendFrameBytes(ping, static_cast<FrameType>(200), std::string(8, '\0'));
  for (int i = 0; i < 300 && session.state() == SessionState::running; ++i) {
    (void)session.receive(ping, now += 1000);
    session.tick(now);
  }
  EXPECT_EQ(session.closeCode(), "silent");
}

TEST(Slow, ASilentPeerIsCutOffBeforeAndAfterHello) {
  Device a("a");
  a.write("agent", [](AgentState&, const std::string&) {});
  SyncSession quiet(a.replica(), {}, 1000);
  quiet.tick(31'000);
  EXPECT_EQ(quiet.state(), SessionState::opening);
  quiet.tick(31'001);
  EXPECT_EQ(quiet.closeCode(), "silent");
  SyncSession session(a.replica(), {}, 0);
  for (const std::string& one : framesOf(hello() + mainSpace())) ASSERT_TRUE(session.receive(one, 0).ok());
  std::string out;
  for (int i = 0; i < 3; ++i) session.produce(out, std::size_t{1} << 30, 5000);
  session.tick(125'000);
  EXPECT_EQ(session.state(), SessionState::running);
  session.tick(125'001);
  EXPECT_EQ(session.closeCode(), "silent");
  // With nothing under way silence is no fault.
  Device idle("idle"), b("b");
  Link link(idle, b);
  link.run();
  link.ofA().tick(1'000'000'000);
  EXPECT_EQ(link.ofA().state(), SessionState::running);
}

// 10^5 writes on 100 agents while the peer takes a frame now and then: what is sent is proportional to what is current,
// not to what was written.
TEST(Slow, ASlowPeerGetsWhatIsCurrent) {
  Device a("a"), b("b");
  SessionOptions options;
  options.window = 8000;
  options.segmentBytes = 2000;
  Link link(a, b, options);
  link.run();
  const std::size_t before = link.ofA().stats().bytesOut;
  std::vector<std::string> bodies;
  std::size_t rounds = 0;
  for (int i = 0; i < 100'000; ++i) {
    AgentState state;
    state.consecutiveFailureCount = static_cast<std::uint64_t>(i);
    const Write write{Kind::agentState, "agent-" + std::to_string(i % 100),
                      encodeAgentState(state, a.replica().writer()), false};
    ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    if (i % 5000 != 4999) continue;
    link.step();
    ++rounds;
  }
  link.run();
  expectEqual(a, b);
  const std::size_t sent = link.ofA().stats().bytesOut - before;
  RecordProperty("bytes", static_cast<int>(sent));
  EXPECT_LT(sent, (rounds + 3) * 100 * 60) << "100 agents a round, 60 bytes each";
}

}  // namespace
}  // namespace witan::replication::test::hostile_test
