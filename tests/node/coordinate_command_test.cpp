// `witan coordinate` and `witan conformance ix2` as people and scripts run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "coordination/setup.h"
#include "tests/node/program.h"
#include "tests/paths.h"

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

// Two agents that may write either of two resources; the program decides.
std::string externalVector(const std::string& more = "") {
  const auto agent = [](const char* id) {
    const auto write = [&](const char* key) {
      return std::string(R"({"action_type":"WRITE","declared_scope":[")") + key + R"("],"proposed_delta":{")" + key +
             R"(":")" + id + R"("},"authorities_cited":["CUD-00)" + id[1] + "\"]}";
    };
    return std::string("\"") + id + R"(":{"strategy":"external","choices":[)" + write("k1") + "," + write("k2") +
           R"(,null,"EXIT"]})";
  };
  const auto authority = [](const char* id) {
    return std::string(R"({"authority_id":"CUD-00)") + id[1] +
           R"(","commitment":"ALLOW","created_epoch":0,"holder_agent_id":")" + id +
           R"(","issuer_agent_id":"h","scope":[{"operation":"WRITE","target":"STATE:/k1"},)" +
           R"({"operation":"WRITE","target":"STATE:/k2"}],"status":"ACTIVE"})";
  };
  return R"({"condition":"X","initial_state":{"k1":"free","k2":"free"},"max_epochs":6,)" + more +
         R"("authority_artifacts":[)" + authority("a1") + "," + authority("a2") + R"(],"agents":{)" + agent("a1") +
         "," + agent("a2") + "}}";
}

std::string program(const char* name, const std::string& text) {
  const std::string path = std::string(::testing::TempDir()) + "witan-" + name + ".py";
  std::ofstream(path) << "import json, sys\nme = json.loads(sys.stdin.readline())\n" << text;
  return "python3 " + path;
}

TEST(CoordinateCommand, ExternalAgentsDecideByTheirOwnPrograms) {
  const std::string source = std::string(witan::tests::kSourceDir) + "/docs/examples/backoff.py";
  const auto run = runWitan({"coordinate", "run", "-", "--json", "--program", "python3 " + source}, externalVector());
  ASSERT_EQ(run.exitCode, 0) << run.err;
  const value log = *witan::parseJson(run.out);
  EXPECT_EQ(log.at("kernel_classification"), nullptr);
  EXPECT_NE(log.at("final_state").at("k1"), log.at("final_state").at("k2"));
  EXPECT_NE(log.at("final_state").at("k1"), "free");
}

TEST(CoordinateCommand, ExternalAgentsCollideLeaveAndDisagreeWithThemselves) {
  const std::string stubborn =
      program("stubborn", "for line in sys.stdin: print(json.dumps({'choice': 0}), flush=True)\n");
  const auto livelock = runWitan({"coordinate", "run", "-", "--json", "--program", stubborn}, externalVector());
  ASSERT_EQ(livelock.exitCode, 0) << livelock.err;
  EXPECT_EQ(witan::parseJson(livelock.out)->at("terminal_classification"), "STATE_LIVELOCK");
  const std::string leaving =
      program("leaving", "for line in sys.stdin: print(json.dumps({'exit': True}), flush=True)\n");
  EXPECT_THAT(runWitan({"coordinate", "run", "-", "--program", leaving}, externalVector()).out,
              HasSubstr("terminal    COLLAPSE"));
  const std::string chooses = program("own",
                                      "import random\nfor line in sys.stdin: print(json.dumps({'choice': "
                                      "random.SystemRandom().randrange(2)}), flush=True)\n");
  EXPECT_THAT(runWitan({"coordinate", "run", "-", "--program", chooses}, externalVector()).out,
              HasSubstr("NONDETERMINISTIC_EXECUTION"));
}

TEST(CoordinateCommand, AProgramThatFailsIsNamed) {
  const auto wrong = [&](const char* name, const std::string& text) {
    const auto run = runWitan({"coordinate", "run", "-", "--program", program(name, text)}, externalVector());
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_THAT(wrong("silent", "sys.exit(3)\n"), HasSubstr("the program of a1: it has ended: exit code 3"));
  EXPECT_THAT(wrong("beyond", "for line in sys.stdin: print(json.dumps({'choice': 4}), flush=True)\n"),
              HasSubstr("\"choice\" is no member or has no such value"));
  EXPECT_THAT(wrong("noise", "for line in sys.stdin: print('hello', flush=True)\n"), HasSubstr("the program of a1"));
  const auto none = runWitan({"coordinate", "run", "-"}, externalVector());
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.err, HasSubstr("give --program"));
}

TEST(CoordinateCommand, ScaleCountsEpochsAndRefusals) {
  const auto run = runWitan({"coordinate", "scale", "--agents", "2,5", "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.err;
  const value rows = witan::parseJson(run.out)->at("rows");
  ASSERT_EQ(rows.as_array().size(), 2u);
  EXPECT_EQ(rows.at(1).at("agents"), 5);
  EXPECT_EQ(rows.at(1).at("coordinatedAt"), 2);
  EXPECT_EQ(rows.at(1).at("refusals"), 5);
  EXPECT_THAT(runWitan({"coordinate", "scale", "--agents", "1"}).err, HasSubstr("no number from 2 to 1000"));
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
    EXPECT_THAT(std::string(row.at("detail").as_string()), ::testing::EndsWith(" twice, as preregistered"));
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
