// Where the rows of sagas are: the last few that ended, and what an earlier format left.
#include "saga/saga_rows.h"

#include <gmock/gmock.h>

#include "tests/replication/cluster.h"

namespace witan::saga::rows_test {
namespace {

using replication::Database;
using replication::DatabaseName;
using replication::test::Device;
using testing::ElementsAre;

SagaRow rowOf(int n) {
  SagaRow row;
  row.intent.operation = sha256("operation " + std::to_string(n));
  row.intent.run = sha256("run");
  row.intent.agentId = std::to_string(n);
  row.intent.arguments = "{}";
  row.phase = SagaPhase::done;
  row.status = SagaStatus::completed;
  return row;
}
std::vector<std::string> doneIn(const SagaRows& rows) {
  std::vector<std::string> out;
  EXPECT_TRUE(rows.visitDone([&](SagaRow&& row) { out.push_back(row.intent.agentId); }).ok());
  return out;
}
void end(SagaRows& rows, int n) {
  ASSERT_TRUE(rows.prepare().ok());
  SagaRow row = rowOf(n);
  rows.end(row);
}
std::size_t rowsOf(Database& agents, std::string_view prefix) {
  std::size_t count = 0;
  EXPECT_TRUE(agents.scanMeta(prefix, [&](std::string_view, std::string_view) { return ++count > 0; }).ok());
  return count;
}

TEST(SagaRows, TheLastToEndTakesThePlaceOfTheFirst) {
  Device device("a");
  Database& agents = device.replica().database(DatabaseName::agents);
  SagaRows rows(agents, 3);
  for (int n = 1; n <= 7; ++n) {
    end(rows, n);
    if (n % 2 == 0) device.flush();
  }
  EXPECT_THAT(doneIn(rows), ElementsAre("5", "6", "7"));
  EXPECT_TRUE(rows.find(rowOf(5).id()).ok());
  EXPECT_EQ(rows.find(rowOf(4).id()).error().code, ErrorCode::notFound);
  EXPECT_EQ(rowsOf(agents, "saga/done/"), 3u);
  // Another life, and another number of places.
  for (const std::uint32_t keep : {5u, 2u}) {
    SagaRows again(agents, keep);
    end(again, 100 + static_cast<int>(keep));
    EXPECT_EQ(rowsOf(agents, "saga/done/"), keep == 5 ? 4u : 2u);
    EXPECT_EQ(doneIn(again).back(), std::to_string(100 + keep));
  }
}

// Rows that had no number but their place's.
TEST(SagaRows, RowsOfTheEarlierFormatGoFirst) {
  Device device("a");
  Database& agents = device.replica().database(DatabaseName::agents);
  for (int n = 41; n <= 43; ++n)
    agents.putMeta(std::string("saga/done/") + std::string(7, '\0') + static_cast<char>(n), encodeRow(rowOf(n)));
  device.flush();
  SagaRows rows(agents, 3);
  EXPECT_THAT(doneIn(rows), ElementsAre("41", "42", "43"));
  end(rows, 44);
  EXPECT_THAT(doneIn(rows), ElementsAre("42", "43", "44"));
  EXPECT_TRUE(rows.find(rowOf(42).id()).ok());
  EXPECT_FALSE(rows.find(rowOf(41).id()).ok());
  for (int n = 45; n <= 50; ++n) end(rows, n);
  EXPECT_THAT(doneIn(rows), ElementsAre("48", "49", "50"));
  EXPECT_EQ(rowsOf(agents, "saga/done/"), 3u);
}

TEST(SagaRows, AnIntentNamesAnAgentAToolAndAScope) {
  const auto good = [](const std::string& agent, const std::string& tool, const std::string& scope) {
    Intent intent = rowOf(1).intent;
    intent.agentId = agent, intent.tool = tool, intent.scope = scope;
    return checkIntent(intent).ok();
  };
  EXPECT_TRUE(good("clerk", "mail.send", "main"));
  EXPECT_FALSE(good("", "mail.send", "main"));
  EXPECT_FALSE(good("clerk", "", "main"));
  EXPECT_FALSE(good("clerk", "mail\nsend", "main"));
  EXPECT_FALSE(good("clerk", "mail.send", ""));
}

// That none is held is remembered; a first one is found all the same.
TEST(SagaRows, HeldOnesAreFoundFromTheFirstOn) {
  Device device("a");
  Database& agents = device.replica().database(DatabaseName::agents);
  SagaRows rows(agents, 3);
  EXPECT_FALSE(rows.held(rowOf(1).id())->has_value());
  rows.hold(rowOf(1));
  EXPECT_TRUE(rows.held(rowOf(1).id())->has_value());
  device.flush();
  SagaRows again(agents, 3);
  EXPECT_TRUE(again.held(rowOf(1).id())->has_value());
  EXPECT_FALSE(again.held(rowOf(2).id())->has_value());
  again.release(rowOf(1));
  EXPECT_FALSE(again.held(rowOf(1).id())->has_value());
  EXPECT_FALSE(*agents.hasMeta("saga/held/"));
  device.flush();
  EXPECT_FALSE(*agents.hasMeta("saga/held/"));
  EXPECT_TRUE(*agents.hasMeta("saga/"));
}

}  // namespace
}  // namespace witan::saga::rows_test
