// Range repair at equal vectors (replication/anti_entropy.h): rows that a disk lost are noticed, noted and brought
// back.
#include "tests/replication/cluster.h"

namespace witan::replication::test::repair_test {
namespace {

void fill(Device& device, int from, int to) {
  std::vector<Write> writes;
  const auto flush = [&] {
    if (writes.empty()) return;
    ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", writes).ok());
    writes.clear();
  };
  for (int i = from; i < to; ++i) {
    AgentState state;
    state.consecutiveFailureCount = static_cast<std::uint64_t>(i + 1);
    writes.push_back(
        {Kind::agentState, "agent-" + std::to_string(i), encodeAgentState(state, device.replica().writer()), false});
    if (writes.size() == 500) flush();
  }
  flush();
  device.flush();
}

// What a failing disk does: rows of records are gone, everything else is as it was. `which`: of the keys in order.
std::size_t lose(Device& device, const std::function<bool(std::size_t)>& which) {
  std::vector<std::string> rows;
  std::size_t n = 0;
  const std::string prefix = std::string("smain") + '\0' + "r";
  EXPECT_TRUE(device.agentStore()
                  .scan(prefix, {},
                        [&](std::string_view key, std::string_view) {
                          if (which(n++)) rows.emplace_back(key);
                          return true;
                        })
                  .ok());
  store::WriteBatch batch;
  for (const std::string& row : rows) batch.erase(row);
  EXPECT_TRUE(device.agentStore().writeSynced(batch).ok());
  device.open();
  return rows.size();
}

bool noted(Device& device, std::string_view kind) {
  for (const Incident& incident : device.incidents())
    if (incident.kind == kind) return true;
  return false;
}

struct Cost {
  std::size_t steps = 0, bytes = 0;
};

Cost repair(Device& a, Device& b) {
  Link link(a, b);
  Cost cost;
  cost.steps = link.run();
  cost.bytes = link.bytes();
  EXPECT_NE(link.ofA().state(), SessionState::closed) << link.ofA().closeReason();
  EXPECT_EQ(link.ofA().stats().repairs + link.ofB().stats().repairs, 1u);
  EXPECT_TRUE(link.ofA().quiet() && link.ofB().quiet());
  return cost;
}

// All that the vectors said before stays true; both sides know of the alarm.
void expectRepaired(Device& a, Device& b) {
  expectEqual(a, b);
  EXPECT_TRUE(noted(a, "digestAlarm"));
  EXPECT_TRUE(noted(b, "digestAlarm"));
  Link again(a, b);
  again.run();
  EXPECT_EQ(again.ofA().stats().repairs + again.ofB().stats().repairs, 0u) << "it holds";
  EXPECT_EQ(again.ofA().stats().segmentsOut, 0u);
}

TEST(Repair, OneLostRecordOfFiveThousand) {
  for (const bool atA : {true, false}) {
    Device a("a"), b("b");
    fill(a, 0, 2500), fill(b, 2500, 5000);
    sync(a, b);
    ASSERT_EQ(lose(atA ? a : b, [](std::size_t n) { return n == 1234; }), 1u);
    const Cost cost = repair(a, b);
    expectRepaired(a, b);
    // Greeting, 16 parts, 16 of one of them (20 records are left there: a list), the list, the record; half a round
    // trip each, and the acknowledgement.
    EXPECT_LE(cost.steps, 9u);
    EXPECT_LT(cost.bytes, 8000u);
    RecordProperty("bytes", static_cast<int>(cost.bytes));
  }
}

// On both sides, the same and different ones, from few to all of one side.
TEST(Repair, FromOneToFiveThousandLostRecords) {
  for (const std::size_t every : {2500u, 500u, 50u, 7u, 2u, 1u}) {
    SCOPED_TRACE("every " + std::to_string(every) + "th");
    Device a("a"), b("b");
    fill(a, 0, 5000);
    sync(a, b);
    const std::size_t lost = lose(b, [&](std::size_t n) { return n % every == 0; });
    const Cost cost = repair(a, b);
    expectRepaired(a, b);
    EXPECT_EQ(b.agents().keys(Kind::agentState).size(), 5000u);
    EXPECT_LE(cost.steps, 12u);
    // Ranges, lists of neighbours, and the records themselves, of 40 bytes.
    EXPECT_LT(cost.bytes, 8000 + lost * 2000 + (lost > 50 ? 400'000u : 0u));
    RecordProperty("lost" + std::to_string(lost), static_cast<int>(cost.bytes));
  }
}

TEST(Repair, BothSidesLostDifferentRows) {
  Device a("a"), b("b"), c("c");
  fill(a, 0, 1000), fill(b, 1000, 2000);
  sync(a, b);
  sync(b, c);
  sync(a, b);
  lose(a, [](std::size_t n) { return n % 10 == 3; });
  lose(b, [](std::size_t n) { return n % 10 == 7; });
  repair(a, b);
  expectRepaired(a, b);
  sync(a, c);
  expectEqual(a, c);
  EXPECT_TRUE(c.incidents().empty());
}

// Large records: what a repair has to move is more than an outbox holds, and a single one is larger than an ITEMS frame
// aims at.
TEST(Repair, LargeRecordsAreMovedPieceByPiece) {
  Device a("a"), b("b");
  const std::string payload = "\"" + std::string(700'000, 'x') + "\"";
  for (int i = 0; i < 24; ++i) {
    JournalBody body;
    body.type = "task";
    body.payload = payload;
    body.lamport = 1;
    body.author = a.replica().writer();
    const Write write{Kind::journal, "note-" + std::to_string(i), encodeRecord(body).value(), false};
    ASSERT_TRUE(a.replica().commit(DatabaseName::journal, "main", {&write, 1}).ok());
  }
  a.flush();
  sync(a, b);
  for (Device* loser : {&a, &b}) {
    std::vector<std::string> rows;
    ASSERT_TRUE(loser->journalStore()
                    .scan(std::string("smain") + '\0' + "r", {},
                          [&](std::string_view key, std::string_view) {
                            rows.emplace_back(key);
                            return true;
                          })
                    .ok());
    store::WriteBatch batch;
    for (const std::string& row : rows) batch.erase(row);
    ASSERT_TRUE(loser->journalStore().writeSynced(batch).ok());
    loser->open();
    repair(a, b);
    expectEqual(a, b);
    EXPECT_EQ(loser->journal().keys(Kind::journal).size(), 24u);
  }
}

// Writes go on during a repair, on both sides.
TEST(Repair, WritesDuringARepair) {
  Device a("a"), b("b");
  fill(a, 0, 600);
  sync(a, b);
  lose(b, [](std::size_t n) { return n % 3 == 0; });
  Link link(a, b);
  for (int n = 0; link.step() || n < 40; ++n) {
    if (n < 40) {
      a.write("agent-" + std::to_string(n), [&](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
      b.write("agent-" + std::to_string(2 * n), [&](AgentState& s, const std::string&) { s.schedule.sleepUntil = 5; });
    }
    ASSERT_LT(n, 1000);
  }
  sync(a, b);
  expectEqual(a, b);
  EXPECT_EQ(b.agents().keys(Kind::agentState).size(), 600u);
}

// What was superseded is not brought back by a repair, nor is what was deleted.
TEST(Repair, BringsNothingBackThatIsGone) {
  Device a("a"), b("b");
  fill(a, 0, 100);
  sync(a, b);
  const Write gone{Kind::agentState, "agent-5", "", true};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
  b.write("agent-6", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 77; });
  sync(a, b);
  lose(b, [](std::size_t n) { return n >= 50; });
  repair(a, b);
  expectEqual(a, b);
  EXPECT_EQ(b.antichain("agent-6").size(), 1u);
  EXPECT_EQ(b.view("agent-6").consecutiveFailureCount, 77u);
  auto versions = b.agents().versions(Kind::agentState, "agent-5");
  ASSERT_TRUE(versions.ok());
  for (const Version& version : *versions) EXPECT_TRUE(version.tombstone);
}

// A repair raises no vector. Who was told of the contents before hears of them again, and is repaired too, whichever of
// the two has the smaller id (seeds 4430 and 4980 of everything).
TEST(Repair, TheNextDeviceHearsOfIt) {
  for (const bool smaller : {true, false}) {
    Device a("a"), b("b"), c("c");
    fill(a, 0, 50);
    b.write("ofB", failures(1)), c.write("ofC", failures(1));
    for (int round = 0; round < 2; ++round) sync(a, b), sync(b, c), sync(a, c);
    Device &repaired = smaller ? b : c, &next = smaller ? c : b;
    for (Device* device : {&b, &c}) ASSERT_EQ(lose(*device, [](std::size_t n) { return n == 20; }), 1u);
    Link between(next, repaired);
    between.run();
    EXPECT_EQ(between.ofA().stats().repairs + between.ofB().stats().repairs, 0u) << "they are equal";
    repair(a, repaired);
    between.run();
    expectEqual(a, repaired);
    expectEqual(a, next);
  }
}

}  // namespace
}  // namespace witan::replication::test::repair_test
