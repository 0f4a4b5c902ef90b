// Operations: a running node answers over HTTP what the CLI prints on the same directory without a node, and the CLI
// prints the same with one.
#include <gtest/gtest.h>

#include "node/operations/agent.h"
#include "node/operations/agent_records.h"
#include "node/operations/journal.h"
#include "node/operations/sync.h"
#include "tests/node/node_process.h"

namespace witan::node::operation_route_test {
namespace {

using namespace operations;
using test::Node;
using test::Scratch;

struct Reading {
  std::vector<std::string> words;
  std::string target;
};

TEST(OperationRoutes, AnswerWhatTheCommandLinePrintsWithoutANode) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_EQ(node.run({"journal", "put", "plot-4", "--type", "plot", "--text", "beans"}).exitCode, 0);
  ASSERT_EQ(node.run({"journal", "put", "a/b+c:d@e", "--type", "plot", "--text", "peas"}).exitCode, 0);
  ASSERT_EQ(node.run({"agent", "create", "a1", "--goal", "grow", "--slot", "openLoopIds=[1]"}).exitCode, 0);
  const std::vector<Reading> readings{{{"journal", "list"}, kJournalList.path},
                                      {{"journal", "get", "plot-4"}, kJournalGet.path + std::string("?id=plot-4")},
                                      {{"agent", "list"}, kAgentList.path},
                                      {{"agent", "show", "a1"}, kAgentShow.path + std::string("?id=a1")},
                                      {{"agent", "check"}, kAgentCheck.path},
                                      {{"device", "list"}, kSyncDevices.path},
                                      {{"approval", "list", "--all"}, kApprovalList.path},
                                      {{"episode", "list"}, kEpisodeList.path},
                                      {{"receipt", "list"}, kReceiptList.path},
                                      {{"saga", "list", "--all"}, kSagaList.path + std::string("?all=true")},
                                      {{"wake", "list", "--all"}, kWakeList.path + std::string("?all=true")}};
  const auto print = [&](std::vector<std::string> words) {
    words.emplace_back("--json");
    const test::Finished done = node.run(words);
    EXPECT_EQ(done.exitCode, 0) << done.err;
    return done.out;
  };
  ASSERT_TRUE(node.up()) << node.log();  // its first start admits the device itself
  ASSERT_EQ(node.stop(), 0) << node.log();
  std::vector<std::string> without;
  for (const Reading& one : readings) without.push_back(print(one.words));
  ASSERT_TRUE(node.up()) << node.log();
  for (std::size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(print(readings[i].words), without[i]) << readings[i].target;
    EXPECT_EQ(node.get(readings[i].target), parseJson(without[i]).value()) << readings[i].target;
  }
  EXPECT_EQ(parseJson(print({"journal", "get", "a/b+c:d@e"})).value().at("id"), "a/b+c:d@e");
}

TEST(OperationRoutes, WriteAndRefuse) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const auto put = node.post(kJournalPut.path, {{"id", "plot-4"}, {"type", "plot"}, {"payload", {{"n", 1}}}});
  ASSERT_TRUE(put.ok()) << put.error().message;
  EXPECT_EQ(put->at("id"), "plot-4");
  const auto typeless = node.post(kJournalPut.path, {{"id", "plot-5"}, {"payload", 1}});
  ASSERT_FALSE(typeless.ok());
  EXPECT_EQ(typeless.error().code, ErrorCode::invalidInput);
  const auto resolved = node.post(kJournalResolve.path, {{"id", "plot-4"}, {"payload", 2}, {"seen", {"a@00000001:1"}}});
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().code, ErrorCode::conflict);
  const auto saga = node.post(kSagaRetry.path, {{"operation", "12345678"}, {"by", "ann"}});
  ASSERT_FALSE(saga.ok());
  EXPECT_EQ(saga.error().code, ErrorCode::notFound);
}

// What waits for a person is answered by one who is named; neither by a device nor by leaving the name out.
TEST(OperationRoutes, APersonsAnswerNamesThePerson) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const std::string device(node.get("/v1/sync/status").at("device").as_string());
  for (const char* path : {kApprovalApprove.path, kApprovalDeny.path, kSagaRetry.path, kSagaCompensate.path}) {
    json::object request{{"operation", std::string(64, 'a')}};
    if (std::string_view(path).find("approval") != std::string_view::npos) request["digest"] = std::string(64, 'b');
    for (const json::value& by : {json::value(nullptr), json::value(""), json::value("a b"), json::value(device)}) {
      if (!by.is_null()) request["by"] = by;
      const auto refused = node.post(path, request);
      ASSERT_FALSE(refused.ok()) << path;
      EXPECT_EQ(refused.error().code, ErrorCode::invalidInput) << path << " " << canonicalJson(by);
    }
    request["by"] = "ann";
    EXPECT_EQ(node.post(path, request).error().code, ErrorCode::notFound) << path;
  }
  EXPECT_EQ(node.post("/v1/inbox/seen", {{"item", "incident:00"}}).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(node.post("/v1/inbox/seen", {{"item", "incident:00"}, {"by", "ann"}}).error().code, ErrorCode::notFound);
}

}  // namespace
}  // namespace witan::node::operation_route_test
