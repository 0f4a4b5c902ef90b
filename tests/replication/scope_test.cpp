// Scopes: a record outside a peer's scopes never leaves the device, on no way (design: replication, Sync). Every byte
// that is sent is searched.
#include "tests/replication/cluster.h"

namespace witan::replication::test::scope_test {
namespace {

constexpr std::string_view kMark = "zSECRETz";

// In the key, in the body, as the scope's name: each must stay.
void writeIn(Device& device, const std::string& scope, const std::string& key, const std::string& text) {
  AgentState state;
  state.slots[0] = {"\"" + text + "\"", 1, device.replica().writer()};
  const Write agent{Kind::agentState, key, encodeAgentState(state, device.replica().writer()), false};
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, scope, {&agent, 1}).ok());
  JournalBody body;
  body.type = "task";
  body.payload = "\"" + text + "\"";
  body.lamport = 1;
  body.author = device.replica().writer();
  const Write journal{Kind::journal, key, encodeRecord(body).value(), false};
  ASSERT_TRUE(device.replica().commit(DatabaseName::journal, scope, {&journal, 1}).ok());
  device.flush();
}

void writeSecret(Device& device, int n) {
  writeIn(device, std::string(kMark) + "scope", std::string(kMark) + std::to_string(n), std::string(kMark));
}

bool isPublic(DatabaseName, std::string_view scope) { return scope.find(kMark) == std::string_view::npos; }

// A session in which `open` may have everything and `limited` only what is public. Returns how often the mark went over
// the wire from open to limited.
std::size_t marksSent(Device& open, Device& limited, int steps = 1000) {
  SessionOptions towardsLimited;
  towardsLimited.mayHave = isPublic;
  SyncSession from(open.replica(), towardsLimited, 0), to(limited.replica(), {}, 0);
  std::size_t marks = 0;
  for (int step = 0; step < steps; ++step) {
    std::string out, back;
    from.produce(out, std::size_t{1} << 30, 0);
    to.produce(back, std::size_t{1} << 30, 0);
    open.flush(), limited.flush();
    if (out.empty() && back.empty()) break;
    for (std::size_t at = out.find(kMark); at != std::string::npos; at = out.find(kMark, at + 1)) ++marks;
    for (const std::string& frame : framesOf(out)) {
      if (to.state() != SessionState::closed) {
        EXPECT_TRUE(to.receive(frame, 0).ok());
      }
    }
    for (const std::string& frame : framesOf(back)) {
      if (from.state() != SessionState::closed) {
        EXPECT_TRUE(from.receive(frame, 0).ok());
      }
    }
  }
  EXPECT_EQ(from.state(), SessionState::running) << from.closeReason();
  return marks;
}

TEST(Scopes, ARecordOutsideOfThePeersScopesNeverLeaves) {
  Device a("a"), b("b");
  writeIn(a, "main", "open", "shared");
  for (int i = 0; i < 20; ++i) writeSecret(a, i);
  EXPECT_EQ(marksSent(a, b), 0u);
  EXPECT_EQ(b.view("open").slots[0].value, "\"shared\"");
  EXPECT_EQ(b.replica().findSpace("agents/" + std::string(kMark) + "scope"), nullptr);
  writeSecret(a, 99);  // and later, with old acquaintances
  EXPECT_EQ(marksSent(a, b), 0u);
}

// The search finds what is there to be found.
TEST(Scopes, TheSearchFiresWithoutTheLimit) {
  Device a("a"), b("b");
  writeSecret(a, 1);
  std::string all;
  SyncSession from(a.replica(), {}, 0), to(b.replica(), {}, 0);
  for (int step = 0; step < 20; ++step) {
    std::string out, back;
    from.produce(out, std::size_t{1} << 30, 0);
    to.produce(back, std::size_t{1} << 30, 0);
    for (const std::string& frame : framesOf(out)) ASSERT_TRUE(to.receive(frame, 0).ok());
    for (const std::string& frame : framesOf(back)) ASSERT_TRUE(from.receive(frame, 0).ok());
    all += out;
  }
  EXPECT_NE(all.find(kMark), std::string::npos);
}

// Neither does a relay pass it on, who may have it itself.
TEST(Scopes, NotThroughARelayEither) {
  Device a("a"), relay("relay"), b("b");
  writeIn(a, "main", "open", "shared");
  for (int i = 0; i < 20; ++i) writeSecret(a, i);
  sync(a, relay);
  ASSERT_NE(relay.replica().findSpace("agents/" + std::string(kMark) + "scope"), nullptr);
  EXPECT_EQ(marksSent(relay, b), 0u);
  EXPECT_EQ(b.view("open").slots[0].value, "\"shared\"");
}

// A peer that names the space itself (it had it once, or guesses) is told nothing of it: no segment, no digest, no
// list.
TEST(Scopes, NorToAPeerThatAsksForIt) {
  Device a("a"), b("b");
  for (int i = 0; i < 5; ++i) writeSecret(a, i);
  writeIn(b, std::string(kMark) + "scope", "own", "own");
  EXPECT_EQ(marksSent(a, b), 0u);
  // Every question by the number that b gave the space: the session ends, with words that do not tell.
  SessionOptions limited;
  limited.mayHave = isPublic;
  for (const int kind : {0, 1, 2, 3}) {
    SyncSession ofA(a.replica(), limited, 0);
    std::string greeting;
    ofA.produce(greeting, std::size_t{1} << 30, 0);
    WordWriter words;
    std::string out;
    Hello hello;
    hello.window = 1 << 20;
    hello.cluster = "test";
    hello.device = "b";
    appendFrame(out, words, hello);
    Spaces spaces;
    spaces.spaces.emplace_back();
    spaces.spaces[0].database = 1;
    const std::string scope = std::string(kMark) + "scope";
    spaces.spaces[0].scope = scope;
    appendFrame(out, words, spaces);
    const std::string hashes(64, '\1');
    if (kind == 0) appendFrame(out, words, Ranges{0, true, {{0, ~std::uint64_t{0}, 7, 1, 1}}});
    if (kind == 1) appendFrame(out, words, Need{0, asData(hashes)});
    if (kind == 2) appendFrame(out, words, Writers{0, {}});
    if (kind == 3) appendFrame(out, words, Acks{0, {}});
    for (const std::string& frame : framesOf(out)) (void)ofA.receive(frame, 0);
    EXPECT_EQ(ofA.state(), SessionState::closed);
    std::string answer;
    ofA.produce(answer, std::size_t{1} << 30, 0);
    EXPECT_EQ(answer.find(kMark), std::string::npos);
  }
}

// Repair moves nothing out of scope: the public space is repaired beside a secret one.
TEST(Scopes, NorByRepair) {
  Device a("a"), b("b");
  for (int i = 0; i < 40; ++i) {
    writeIn(a, "main", "open-" + std::to_string(i), "shared");
    writeSecret(a, i);
  }
  EXPECT_EQ(marksSent(a, b), 0u);
  std::vector<std::string> rows;
  ASSERT_TRUE(b.agentStore()
                  .scan(std::string("smain") + '\0' + "r", {},
                        [&](std::string_view key, std::string_view) {
                          rows.emplace_back(key);
                          return rows.size() < 10;
                        })
                  .ok());
  store::WriteBatch batch;
  for (const std::string& row : rows) batch.erase(row);
  ASSERT_TRUE(b.agentStore().writeSynced(batch).ok());
  b.open();
  EXPECT_EQ(marksSent(a, b), 0u);
  EXPECT_EQ(b.agents().keys(Kind::agentState).size(), 40u);
}

// A device that is no member gets the statements about membership, nothing else.
TEST(Scopes, AStrangerGetsMembershipOnly) {
  Device a("a"), b("b");
  ASSERT_TRUE(a.replica().addStatement(admit({}, a.replica().writer(), "a", 1, "first")).ok());
  writeIn(a, "main", std::string(kMark), std::string(kMark));
  a.flush();
  EXPECT_EQ(marksSent(a, b), 0u);
  EXPECT_EQ(b.replica().membership()->standing("a"), Standing::active);
  EXPECT_TRUE(b.agents().keys(Kind::agentState).empty());
  // Once admitted it gets the rest.
  auto known = a.replica().statements().value();
  ASSERT_TRUE(a.replica().addStatement(admit(known, a.replica().writer(), "b", 1, "second")).ok());
  a.flush();
  EXPECT_GT(marksSent(a, b), 0u);
  EXPECT_EQ(b.agents().keys(Kind::agentState).size(), 1u);
}

}  // namespace
}  // namespace witan::replication::test::scope_test
