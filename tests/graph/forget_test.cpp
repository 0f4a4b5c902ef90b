// What a runtime forgets, and what it never does: an id is not given twice.
#include <gtest/gtest.h>

#include "kernel/graph/script.h"

namespace witan::graph {
namespace {

constexpr std::int64_t kHorizonMs = 1000;

std::shared_ptr<const Document> documentOf(std::int64_t version, const std::string& middle) {
  const json::value from =
      parseJson(R"({"graph":{"id":"g","version":)" + std::to_string(version) +
                R"(,"format":1,"horizonMs":1000,"timeoutMs":900},"monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":")" +
                middle + R"(","kind":"function","function":"identity","in":["T"],"out":["T"]}],
    "edge":[{"from":"in","to":")" +
                middle + R"(","type":"T"}]})")
          .value();
  const ReadDocument read = readDocument(from);
  EXPECT_TRUE(read.document) << read.findings.at(0).message;
  return read.document;
}

class Forgetting : public ::testing::Test {
 protected:
  Forgetting() : runtime([](const Crossing&, const json::value& body) { return Decision{"allow", "", body}; }) {
    EXPECT_TRUE(runtime.deploy(documentOf(1, "a"), 0).ok());
  }
  void arrive(const std::string& external, std::int64_t at) {
    runtime.admit("in", external, json::object(), at);
    runtime.dispatch(at);
  }
  std::vector<std::string> idsOfRuns() {
    std::vector<std::string> ids;
    for (const RunView& run : runtime.runs()) ids.push_back(run.run);
    return ids;
  }
  Runtime runtime;
};

std::string runId(const std::string& rest) { return identityOf("v1|graph-run|g|in|" + rest); }

TEST_F(Forgetting, EndedRunsGoAfterAHorizon) {
  arrive("x", 0);
  arrive("y", kHorizonMs);
  EXPECT_EQ(idsOfRuns(), (std::vector<std::string>{runId("x"), runId("y")}));
  arrive("z", kHorizonMs + 1);
  EXPECT_EQ(idsOfRuns(), (std::vector<std::string>{runId("y"), runId("z")}));
}

// Its id would be that of the forgotten run, and its effects would pass for made.
TEST_F(Forgetting, ARecurrenceHasAnIdOfItsOwn) {
  arrive("x", 0);
  arrive("x", kHorizonMs);
  EXPECT_EQ(idsOfRuns().size(), 1u) << "within the horizon it is a duplicate";
  arrive("x", kHorizonMs + 1);
  EXPECT_EQ(idsOfRuns(), std::vector<std::string>{runId("x#1")});
  arrive("x", 3 * kHorizonMs);
  EXPECT_EQ(idsOfRuns(), std::vector<std::string>{runId("x#2")});
}

TEST_F(Forgetting, AStrangerCannotTakeTheIdOfARecurrence) {
  arrive("x#1", 0);
  EXPECT_TRUE(idsOfRuns().empty());
  const Taken taken = runtime.take();
  ASSERT_EQ(taken.notices.size(), 1u);
  EXPECT_EQ(std::get<Refused>(taken.notices[0].fact).why, "external_id");
}

TEST_F(Forgetting, AMessageComesAgainWithinTheHorizonOnly) {
  arrive("x", 0);
  std::string message;
  for (const Entry& entry : runtime.take().entries)
    for (const Line& line : entry)
      if (const auto* sent = std::get_if<Sent>(&line.fact)) message = sent->message;
  EXPECT_TRUE(runtime.redeliver(runId("x"), message, kHorizonMs).ok());
  EXPECT_FALSE(runtime.redeliver(runId("x"), message, kHorizonMs + 1).ok());
  arrive("y", 2 * kHorizonMs);
  EXPECT_FALSE(runtime.redeliver(runId("x"), message, kHorizonMs).ok()) << "it is forgotten";
}

// What died in the hands of an agent can be sent again, once.
TEST(Redriven, AMessageThatAnAgentFailed) {
  const json::value from = parseJson(R"({"graph":{"id":"g","version":1,"format":1},"monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":"a","kind":"agent","agent":"a","version":"1","in":["T"],"out":["T"]}],
    "edge":[{"from":"in","to":"a","type":"T"}]})")
                               .value();
  const ReadDocument read = readDocument(from);
  ASSERT_TRUE(read.document) << read.findings.at(0).message;
  Runtime runtime([](const Crossing&, const json::value& body) { return Decision{"allow", "", body}; });
  ASSERT_TRUE(runtime.deploy(read.document, 0).ok());
  runtime.admit("in", "x", json::object(), 0);
  runtime.dispatch(0);
  std::optional<Delivered> given;
  for (const Entry& entry : runtime.take().entries)
    for (const Line& line : entry)
      if (const auto* delivered = std::get_if<Delivered>(&line.fact)) given = *delivered;
  ASSERT_TRUE(given);
  EXPECT_FALSE(runtime.redrive(runId("x"), given->message, "again", 1).ok()) << "it lives";
  runtime.fail(given->span, given->attempt, "cannot", true, 1);
  EXPECT_EQ(runtime.runs().at(0).dead, 1);
  ASSERT_TRUE(runtime.redrive(runId("x"), given->message, "again", 2).ok());
  runtime.dispatch(2);
  EXPECT_EQ(runtime.runs().at(0).open, 1);
  EXPECT_FALSE(runtime.redrive(runId("x"), given->message, "once more", 3).ok());
}

// Each version brings another node; the state holds no more of them than the runs need.
TEST_F(Forgetting, NodesOfOldVersionsGo) {
  for (int version = 2; version < 50; ++version) {
    ASSERT_TRUE(runtime.deploy(documentOf(version, "n" + std::to_string(version)), version).ok());
    arrive("x" + std::to_string(version), version);
  }
  const std::string state = runtime.fingerprint();
  Runtime rebuilt{Monitor()};
  for (const Entry& entry : runtime.take().entries) rebuilt.apply(entry);
  EXPECT_EQ(rebuilt.fingerprint(), state);
  EXPECT_LE(runtime.nodes(), 4u);
}

}  // namespace
}  // namespace witan::graph
