// `witan coordinate` and `witan conformance ix2` as people and scripts run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "coordination/setup.h"
#include "tests/node/program.h"

namespace witan::coordinate_command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using witan::json::value;
using witan::node::test::runWitan;

std::string vectorText(std::string_view name) {
  for (const auto& vector : witan::kernel::joint::shippedVectors())
    if (vector.name == name) return std::string(vector.text);
  return "";
}

TEST(CoordinateCommand, PrintsOneCanonicalObject) {
  const auto run = runWitan({"coordinate", "run", "-", "--json"}, vectorText("G"));
  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(run.err, "");
  ASSERT_TRUE(run.out.ends_with("}\n"));
  const auto parsed = witan::parseJson(run.out);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(witan::canonicalJson(*parsed) + "\n", run.out);
  std::string names;
  for (const auto& member : parsed->as_object()) names += std::string(member.key()) + " ";
  EXPECT_EQ(names,
            "authority_artifacts condition epochs experiment_result final_state initial_state kernel_classification "
            "terminal_classification ");
  EXPECT_EQ(parsed->at("terminal_classification"), "ORPHANING");
  EXPECT_EQ(runWitan({"coordinate", "run", "-", "--json"}, vectorText("G")).out, run.out);
}

TEST(CoordinateCommand, TellsInWords) {
  const auto run = runWitan({"coordinate", "run", "-"}, vectorText("E"));
  EXPECT_EQ(run.exitCode, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("kernel      IX2_FAIL / IMPLICIT_ARBITRATION\nresult      PASS\n"));
  EXPECT_THAT(run.out, HasSubstr("agent_1:0:0 executed although it collides with another action"));
}

TEST(CoordinateCommand, WhatTheVectorExpectsDecidesTheExitCode) {
  std::string text = vectorText("B");
  EXPECT_EQ(runWitan({"coordinate", "run", "-"}, text).exitCode, 0);
  text.replace(text.find("STATE_LIVELOCK"), 14, "STATE_DEADLOCK");
  const auto run = runWitan({"coordinate", "run", "-"}, text);
  EXPECT_EQ(run.exitCode, 1);
  EXPECT_THAT(run.out, HasSubstr("result      FAIL: terminal_classification is \"STATE_LIVELOCK\", expected is"));
}

TEST(CoordinateCommand, AuditsALogFromNothingButTheLog) {
  std::string log = runWitan({"coordinate", "run", "-", "--json"}, vectorText("B")).out;
  EXPECT_EQ(runWitan({"coordinate", "audit", "-"}, log).exitCode, 0);
  const auto at = log.find("JOINT_ADMISSIBILITY_FAILURE");
  log.replace(at, std::string("JOINT_ADMISSIBILITY_FAILURE").size(), "EXECUTED");
  const auto found = runWitan({"coordinate", "audit", "-", "--json"}, log);
  EXPECT_EQ(found.exitCode, 1);
  const auto parsed = witan::parseJson(found.out);
  ASSERT_TRUE(parsed.ok()) << found.out << found.err;
  EXPECT_NE(parsed->at("kernel_classification"), nullptr);
  EXPECT_EQ(runWitan({"coordinate", "audit", "-"}, "{}").exitCode, 1);
}

TEST(CoordinateCommand, BadVectorsAreRefusedWithTheirPlace) {
  std::string text = vectorText("A");
  text.replace(text.find("\"max_epochs\": 1"), 15, "\"max_epochs\": true");
  const auto run = runWitan({"coordinate", "run", "-", "--json"}, text);
  EXPECT_EQ(run.exitCode, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("{\"error\":{\"code\":"));
  EXPECT_THAT(run.err, HasSubstr("$.max_epochs: expected an integer, found a bool"));
  EXPECT_EQ(runWitan({"coordinate", "run", "no-such-file.json"}).exitCode, 1);
  EXPECT_EQ(runWitan({"coordinate", "run"}).exitCode, 2);
  EXPECT_EQ(runWitan({"coordinate"}).exitCode, 2);
}

TEST(ConformanceCommand, Ix2HasTenConditionsAndATwinForEach) {
  const auto run = runWitan({"conformance", "ix2", "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.out << run.err;
  const auto rows = witan::parseJson(run.out);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->as_array().size(), 10u);
  for (const value& row : rows->as_array()) {
    EXPECT_EQ(row.at("result"), "pass") << row;
    EXPECT_THAT(std::string(row.at("detail").as_string()), ::testing::EndsWith(" twice"));
  }
  const auto proven = runWitan({"conformance", "ix2", "--prove-it", "--json"});
  EXPECT_EQ(proven.exitCode, 0) << proven.out;
  const auto twins = witan::parseJson(proven.out);
  ASSERT_TRUE(twins.ok());
  EXPECT_EQ(twins->as_array().size(), 20u);
  EXPECT_EQ(witan::parseJson(runWitan({"conformance", "ix2", "--only", "I.", "--json"}).out)->as_array().size(), 2u);
}

}  // namespace
}  // namespace witan::coordinate_command_test
