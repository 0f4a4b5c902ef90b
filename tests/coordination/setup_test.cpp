// What readSetup refuses, and in which words: each error names the place.
#include "coordination/setup.h"

#include <gmock/gmock.h>

#include "tests/coordination/scene.h"

namespace witan::kernel::joint::setup_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Scene plain() {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"})};
  scene.script("a", {write({"A"}, R"("A":1)", {"CUD-001"})});
  return scene;
}

std::string problem(const std::string& text, SetupLimits limits = {}) {
  const auto setup = readSetup(text, limits);
  return setup.ok() ? "none" : setup.error().message;
}

std::string with(const std::string& from, const std::string& to, std::string text = plain().text()) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Setup, APlainOneIsRead) { EXPECT_EQ(problem(plain().text()), "none"); }

TEST(Setup, WhatWouldTakeTooMuchMemoryIsRefused) {
  EXPECT_EQ(problem(plain().text(), {.values = 20}), "$: more than 20 values");
}

TEST(Setup, UnknownMembersAreRefusedWhereTheyAre) {
  EXPECT_EQ(problem(with("\"condition\":", "\"extra\":1,\"condition\":")), "$.extra: unknown member");
  EXPECT_EQ(problem(with("\"status\":", "\"applies_to\":\"a\",\"status\":")),
            "$.authority_artifacts[0].applies_to: unknown member");
  EXPECT_EQ(problem(with("\"operation\":", "\"x y\":1,\"operation\":")),
            "$.authority_artifacts[0].scope[0][\"x y\"]: unknown member");
  EXPECT_EQ(problem(with("\"action_type\":", "\"agent_id\":\"a\",\"action_type\":")),
            "$.agents.a.epochs[0].agent_id: unknown member");
  EXPECT_EQ(problem(with("\"strategy\":", "\"seed\":1,\"strategy\":")), "$.agents.a.seed: unknown member");
}

TEST(Setup, MissingMembersAreNamed) {
  EXPECT_EQ(problem(with("\"condition\":\"T\",", "")), "$.condition: is missing");
  EXPECT_EQ(problem(with("\"declared_scope\":[\"A\"],", "")), "$.agents.a.epochs[0].declared_scope: is missing");
  EXPECT_EQ(problem(with(",\"authorities_cited\":[\"CUD-001\"]", "")),
            "$.agents.a.epochs[0].authorities_cited: is missing");
  EXPECT_EQ(problem(with(",\"status\":\"ACTIVE\"", "")), "$.authority_artifacts[0].status: is missing");
  EXPECT_EQ(problem(with(",\"injection\":null", "")), "none") << "no fault is the default";
}

TEST(Setup, WrongTypesAreNamed) {
  EXPECT_EQ(problem("[]"), "$: expected an object, found a list");
  EXPECT_EQ(problem(with("\"max_epochs\":1", "\"max_epochs\":\"1\"")), "$.max_epochs: expected an integer, found text");
  EXPECT_EQ(problem(with("\"B\":0", "\"B\":[0]")),
            "$.initial_state.B: expected text, a number, true, false or null (the world is flat), found a list");
  EXPECT_EQ(problem(with("\"A\":1}", "\"A\":{}}")),
            "$.agents.a.epochs[0].proposed_delta.A: expected text, a number, true, false or null (the world is flat), "
            "found an object");
  EXPECT_EQ(problem(with("[\"A\"]", "\"A\"")), "$.agents.a.epochs[0].declared_scope: expected a list, found text");
  EXPECT_EQ(problem(with("[\"A\"]", "[\"A\",7]")),
            "$.agents.a.epochs[0].declared_scope[1]: expected text, found an integer");
  EXPECT_EQ(problem(with("\"communication_enabled\":false", "\"communication_enabled\":0")),
            "$.communication_enabled: expected true or false, found an integer");
  EXPECT_EQ(problem(with("\"WRITE\",\"declared", "\"DELETE\",\"declared")),
            "$.agents.a.epochs[0].action_type: \"DELETE\" is not one of READ, WRITE");
  EXPECT_EQ(problem(with("\"scripted\"", "\"clever\"")),
            "$.agents.a.strategy: \"clever\" is not one of scripted, hash_partition, external");
  EXPECT_THAT(problem(with("\"injection\":null", "\"injection\":\"bribe\"")),
              StartsWith("$.injection: \"bribe\" is not one of none, tie_break, "));
}

TEST(Setup, WhatTheSchemasForbid) {
  EXPECT_EQ(problem(with("[\"A\"]", "[]")), "$.agents.a.epochs[0].declared_scope: must not be empty");
  EXPECT_EQ(problem(with("\"WRITE\",\"declared", "\"READ\",\"declared")),
            "$.agents.a.epochs[0].proposed_delta: must be {} for READ");
  EXPECT_EQ(problem(with("\"max_epochs\":1", "\"max_epochs\":0")),
            "$.max_epochs: must be between 1 and 1000000, not 0");
  EXPECT_EQ(problem(with("CUD-001", "AUTH-1")),
            "$.authority_artifacts[0].authority_id: \"AUTH-1\" is not CUD- and at least three digits");
  EXPECT_EQ(problem(with("STATE:/A", "A")), "$.authority_artifacts[0].scope[0].target: \"A\" is not STATE:/ and a key");
  EXPECT_EQ(problem(with("\"created_epoch\":0", "\"created_epoch\":1")),
            "$.authority_artifacts[0].created_epoch: must be 0 (no authority is made after epoch 0)");
  EXPECT_EQ(problem(with("ACTIVE", "REVOKED")),
            "$.authority_artifacts[0].status: must be ACTIVE (authorities are immutable)");
  Scene twice = plain();
  twice.authorities.push_back(twice.authorities[0]);
  EXPECT_EQ(problem(twice.text()), "$.authority_artifacts[1].authority_id: \"CUD-001\" occurs twice");
  EXPECT_EQ(problem(with(R"({"a":)", R"({"a b":)")).substr(0, 16), "$.agents[\"a b\"] ");
  Scene nobody = plain();
  nobody.agents.clear();
  EXPECT_EQ(problem(nobody.text()), "$.agents: must not be empty");
  Scene leaves = plain();
  leaves.script("b", {"\"QUIT\""});
  EXPECT_EQ(problem(leaves.text()), "$.agents.b.epochs[0]: \"QUIT\" is not \"EXIT\"");
}

TEST(Setup, TextsThatAreNoJsonAreRefusedAtTheirByte) {
  EXPECT_EQ(problem(with("\"B\":0", "\"A\":1")).substr(0, 13), "JSON at byte ");
  EXPECT_THAT(problem(with("\"B\":0", "\"A\":1")), HasSubstr("the key \"A\" occurs twice in one object"));
  std::string deep(40, '[');
  EXPECT_THAT(problem(with("\"B\":0", "\"B\":" + deep)), HasSubstr("nested deeper than 32"));
  EXPECT_THAT(problem(plain().text().substr(0, 50)), HasSubstr("the text ends too early"));
  EXPECT_THAT(problem(with("\"B\":0", "\"B\":1e999")), HasSubstr("out of the range of a double"));
}

TEST(Setup, HugeThingsAreRefused) {
  EXPECT_EQ(problem(with("[\"A\"]", "[\"A\",\"B\",\"C\"]"), {.scope = 2}),
            "$.agents.a.epochs[0].declared_scope: more than 2 elements");
  EXPECT_EQ(problem(plain().text(), {.keys = 1}), "$.initial_state: more than 1 keys");
  EXPECT_EQ(problem(with("STATE:/A", "STATE:/C"), {.keys = 2}), "$: 3 keys are named, more than 2");
  Scene two = plain();
  two.script("b", {"null"});
  EXPECT_EQ(problem(two.text(), {.agents = 1}), "$.agents: more than 1 agents");
  EXPECT_THAT(problem(with("\"max_epochs\":1", "\"max_epochs\":900000"), {.logBytes = 1 << 20}),
              StartsWith("$.max_epochs: the log of 900000 epochs of 1 agents and 2 keys may come to "));
  EXPECT_THAT(problem(plain().text(), {.bytes = 10}), HasSubstr("larger than the limit of 10"));
  EXPECT_THAT(problem(with("\"B\":0", "\"" + std::string(2000, 'k') + "\":0")), HasSubstr("a key has 1 to 1024 bytes"));
}

}  // namespace
}  // namespace witan::kernel::joint::setup_test
