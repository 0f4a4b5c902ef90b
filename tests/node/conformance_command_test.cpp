// `witan conformance decision` as people and scripts run it (the table, --only, --prove-it, --json, exit codes).
#include <gtest/gtest.h>

#include "base/json.h"
#include "lab/proof/theorem.h"
#include "tests/node/program.h"

namespace witan::conformance_command_test {
namespace {

using witan::json::value;
using witan::node::test::runWitan;

TEST(ConformanceCommand, EveryTheoremAndTwinIsAsItMustBe) {
  const auto run = runWitan({"conformance", "decision", "--prove-it", "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.err;
  const auto rows = witan::parseJson(run.out);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->as_array().size(), 2 * witan::agents::proof::theorems().size());
  for (const value& row : rows->as_array()) {
    EXPECT_EQ(row.as_object().size(), 4u);
    EXPECT_EQ(row.at("result"), "pass") << row;
    const bool twin = row.at("id").as_string().ends_with("/twin");
    const auto detail = std::string(row.at("detail").as_string());
    if (!row.at("id").as_string().starts_with("partition-overlap")) {
      EXPECT_EQ(detail.starts_with("counterexample: "), twin) << row;
    }
  }
}

// Theorems 1 to 4, 1+, 3+ and both controls, each with its twin.
TEST(ConformanceCommand, ThePapersTheoremsHoldAndTheirTwinsAreFoundOut) {
  const auto run = runWitan({"conformance", "redux", "--prove-it", "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.out << run.err;
  const auto rows = witan::parseJson(run.out);
  ASSERT_TRUE(rows.ok());
  std::string ids;
  for (const value& row : rows->as_array()) {
    EXPECT_EQ(row.at("result"), "pass") << row;
    ids += std::string(row.at("id").as_string()) + " ";
  }
  EXPECT_EQ(ids, "T1 T1/twin T1+ T1+/twin T2 T2/twin T3 T3/twin T3+ T3+/twin T4 T4/twin C1 C1/twin C2 C2/twin ");
}

TEST(ConformanceCommand, OnlyAPrefix) {
  const auto run = runWitan({"conformance", "decision", "--only", "permission-s"});
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_EQ(run.out,
            "pass  permission-safety                               a tool that can be invoked is permitted\n"
            "      holds for all values (unsat)\n"
            "1 of 1 as they must be\n");
}

TEST(ConformanceCommand, UnknownSuitesAndPrefixesAreWrongUsage) {
  const auto suite = runWitan({"conformance", "kernel5"});
  EXPECT_EQ(suite.exitCode, 2);
  EXPECT_NE(suite.err.find("there is no suite \"kernel5\": there are: decision"), std::string::npos) << suite.err;
  const auto prefix = runWitan({"conformance", "decision", "--only", "K-", "--json"});
  EXPECT_EQ(prefix.exitCode, 2);
  EXPECT_EQ(prefix.out, "");
  EXPECT_NE(prefix.err.find("nothing in decision begins with"), std::string::npos) << prefix.err;
  EXPECT_EQ(runWitan({"conformance"}).exitCode, 2);
}

}  // namespace
}  // namespace witan::conformance_command_test
