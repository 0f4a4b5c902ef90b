// Peers that lie about what a device has written (design: replication, "Dots and clocks").
#include <algorithm>

#include "replication/incidents.h"
#include "replication/records/record_schemas.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test::lie_test {
namespace {

std::string greetingOf(const std::string& device, std::uint64_t counter, Device& victim) {
  WordWriter words;
  std::string out;
  Hello hello;
  hello.window = 1 << 20;
  hello.cluster = "test";
  hello.device = device;
  appendFrame(out, words, hello);
  Spaces spaces;
  SpaceSummary& summary = spaces.spaces.emplace_back();
  summary.database = 1;
  summary.scope = "main";
  appendFrame(out, words, spaces);
  std::string rows;
  appendWriterRow(rows, victim.replica().writer());
  const std::vector<std::pair<std::uint64_t, Seq>> clock{{0, counter}};
  appendClockRow(rows, RowTag::commit, clock);
  appendFrame(out, words, Writers{0, asData(rows)});
  return out;
}

SessionState claim(Device& victim, const std::string& peer, std::uint64_t counter, std::string* reason = nullptr) {
  SyncSession session(victim.replica(), {}, 0);
  for (const std::string& frame : framesOf(greetingOf(peer, counter, victim)))
    if (session.state() != SessionState::closed) (void)session.receive(frame, 0);
  if (reason != nullptr) *reason = session.closeReason();
  victim.flush();
  return session.state();
}

TEST(Incidents, AllOfAKindEndAtOnceAndNoOthers) {
  Device a("a");
  for (const char* what : {"two logs of p", "two logs of q", "another"}) a.replica().note({"fork", "b", what});
  a.replica().note({"fork", "c", "two logs of p"});
  a.replica().note({"digestAlarm", "b", "two logs of p"});
  endIncidents(a.replica(), "fork", "b", "two logs");
  EXPECT_EQ(count(a.incidents(), "fork"), 2u);
  EXPECT_EQ(count(a.incidents(), "digestAlarm"), 1u);
  a.replica().quarantine("liar", "it lied"), a.replica().quarantine("other", "it lied too");
  EXPECT_EQ(a.replica().quarantines().value(),
            (std::map<std::string, std::string>{{"liar", "it lied"}, {"other", "it lied too"}}));
}

// The writer was made by this very process: nobody can know more of it.
TEST(Lie, MoreOfMyWriterThanItEverIssuedIsQuarantinedWithAnExplanation) {
  Device a("a");
  a.write("agent", failures(1));
  std::string reason;
  EXPECT_EQ(claim(a, "liar", 5, &reason), SessionState::closed);
  EXPECT_NE(reason.find("liar says that it has 5 commits of " + a.replica().writer()), std::string::npos) << reason;
  ASSERT_TRUE(a.replica().quarantined("liar"));
  EXPECT_EQ(count(a.incidents(), "quarantine"), 1u);
  // Refused afterwards, also after a restart, with the reason; its words change nothing.
  a.crash();
  EXPECT_EQ(claim(a, "liar", 1, &reason), SessionState::closed);
  EXPECT_EQ(reason, *a.replica().quarantined("liar"));
  SessionOptions known;
  known.peer = "liar";
  SyncSession session(a.replica(), known, 0);
  EXPECT_EQ(session.state(), SessionState::closed);
  EXPECT_EQ(session.closeCode(), "quarantined");
  // Others are not concerned, and pardon lifts it.
  Device b("b"), liar("liar");
  sync(a, b);
  a.replica().pardon("liar");
  a.flush();
  EXPECT_FALSE(a.replica().quarantined("liar"));
  sync(a, liar);
  expectEqual(a, liar);
}

// After a restart an earlier life may have issued more: believed, and a new writer taken, of which that cannot be said.
TEST(Lie, IsBelievedOnceAfterARestart) {
  Device a("a");
  a.write("agent", failures(1));
  a.flush();
  const std::string before = a.replica().writer();
  a.crash();
  EXPECT_EQ(claim(a, "peer", 50), SessionState::running);
  EXPECT_NE(a.replica().writer(), before);
  EXPECT_FALSE(a.replica().quarantined("peer"));
  EXPECT_EQ(count(a.incidents(), "rolledBack"), 1u);
  EXPECT_EQ(claim(a, "peer", 1), SessionState::closed);
  EXPECT_TRUE(a.replica().quarantined("peer"));
}

TEST(Lie, ACounterThatNoDeviceReaches) {
  for (const std::uint64_t counter : {(std::uint64_t{1} << 40) + 2, std::uint64_t{1} << 47}) {
    Device a("a");
    a.write("agent", failures(1));
    a.crash();
    EXPECT_EQ(claim(a, "liar", counter), SessionState::closed);
    EXPECT_TRUE(a.replica().quarantined("liar"));
  }
}

// A context that covers commits to come would bar them from the key for ever.
TEST(Lie, AContextThatHasSeenTheFuture) {
  for (const bool mine : {true, false}) {
    Device a("a");
    a.write("agent", failures(1));
    SyncSession session(a.replica(), {}, 0);
    std::string all = greetingOf("liar", 0, a);
    std::string rows;
    appendWriterRow(rows, "liar@00000001");
    appendWriterRow(rows, "third@00000001");
    VersionRow version;
    version.kind = Kind::agentState;
    version.key = "agent";
    version.writer = 1;
    version.seq = 1;
    version.context = {{mine ? 0u : 2u, mine ? 1000u : std::uint64_t{1} << 45}};
    AgentState state;
    const std::string body = encodeAgentState(state, "liar@00000001");
    version.body = body;
    appendVersionRow(rows, version);
    WordWriter words;
    appendFrame(all, words, Segment{0, 0, asData(rows), {}});
    for (const std::string& frame : framesOf(all))
      if (session.state() != SessionState::closed) (void)session.receive(frame, 0);
    EXPECT_EQ(session.state(), SessionState::closed);
    EXPECT_TRUE(a.replica().quarantined("liar")) << session.closeReason();
    EXPECT_EQ(a.antichain("agent").size(), 1u);
    a.write("agent", failures(2));
    EXPECT_EQ(a.view("agent").consecutiveFailureCount, 2u);
  }
}

// Each time this device must go on as another writer: it may cost a few names, not as many as the peer likes.
TEST(Lie, OtherContentsOfMyOwnCommitsAgainAndAgain) {
  Device a("a");
  for (unsigned n = 0; n <= kMaxRollbacksByPeer; ++n) {
    const std::string before = a.replica().writer(), key = "agent-" + std::to_string(n);
    a.write(key, failures(1));
    a.flush();
    SyncSession session(a.replica(), {}, 0);
    std::string all = greetingOf("liar", 0, a), rows;
    VersionRow version;
    version.kind = Kind::agentState;
    version.key = key;
    version.writer = 0;  // the greeting names a's present one
    version.seq = a.agents().vector().at(a.agents().self());
    AgentState other;
    other.consecutiveFailureCount = 9;
    const std::string body = encodeAgentState(other, before);
    version.body = body;
    appendVersionRow(rows, version);
    WordWriter words;
    appendFrame(all, words, Segment{0, 0, asData(rows), {}});
    for (const std::string& frame : framesOf(all))
      if (session.state() != SessionState::closed) (void)session.receive(frame, 0);
    const bool believed = n < kMaxRollbacksByPeer;
    EXPECT_EQ(a.replica().writer() != before, believed) << n;
    EXPECT_EQ(a.replica().quarantined("liar").has_value(), !believed) << n << ": " << session.closeReason();
  }
}

}  // namespace
}  // namespace witan::replication::test::lie_test
