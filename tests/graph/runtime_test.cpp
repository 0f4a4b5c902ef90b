// Runs in virtual time: the ledgers of the vectors, and states that are rebuilt from ledgers.
#include <gtest/gtest.h>

#include "kernel/graph/script.h"
#include "tests/graph/vectors.h"

namespace witan::graph {
namespace {

std::string nameOf(const json::object& vector) { return std::string(vector.at("name").as_string()); }

TEST(GraphRuntime, WritesTheLedgersOfTheVectors) {
  const auto vectors = tests::vectorsOf("runs.jsonl");
  EXPECT_EQ(vectors.size(), 38u);
  for (const json::object& vector : vectors) {
    SCOPED_TRACE(nameOf(vector));
    const auto run = runScript(vector);
    ASSERT_TRUE(run.ok()) << run.error().message;
    const json::object& expected = vector.at("expect").as_object();
    const json::array& lines = expected.at("ledger").as_array();
    const json::array& got = run->result.at("ledger").as_array();
    for (std::size_t i = 0; i < lines.size() && i < got.size(); ++i) {
      EXPECT_EQ(got[i], lines[i]);
      if (got[i] != lines[i]) break;
    }
    EXPECT_EQ(got.size(), lines.size());
    for (const char* member : {"counts", "runs", "world", "waiting"})
      EXPECT_EQ(run->result.at(member), expected.at(member)) << member;
  }
}

TEST(GraphRuntime, IsRebuiltFromItsEntries) {
  for (const json::object& vector : tests::vectorsOf("runs.jsonl")) {
    SCOPED_TRACE(nameOf(vector));
    const auto run = runScript(vector);
    ASSERT_TRUE(run.ok());
    Runtime rebuilt{Monitor()};
    for (const Entry& entry : run->entries) rebuilt.apply(entry);
    EXPECT_EQ(rebuilt.fingerprint(), run->fingerprint);
  }
}

}  // namespace
}  // namespace witan::graph
