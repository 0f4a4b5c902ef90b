// What the control API cannot do without, and the times of what it is fed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::control_needed_test {
namespace {

using test::Finished;
using test::Node;
using test::Scratch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ControlNeeded : ::testing::Test {
  void SetUp() override {
    ASSERT_EQ(node.init(1).exitCode, 0);
    ASSERT_TRUE(node.up()) << node.log();
  }
  std::string refusal(const std::string& path, const json::object& body) {
    const auto answer = node.post(path, body);
    if (answer.ok()) return "taken: " + canonicalJson(*answer);
    return std::string(toString(answer.error().code)) + " " + answer.error().message;
  }
  json::object entry(const char* id, const char* at) {
    return {{"at", at}, {"id", id}, {"type", "note"}, {"payload", json::object{{"n", 1}}}};
  }
  Scratch scratch;
  Node node{scratch, "a"};
};

// A role that was left out would be rejected on record, as one that the domain does not have.
TEST_F(ControlNeeded, WhatIsLeftOutIsNamedAndNothingIsDecided) {
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  const auto entries = [&] { return node.get("/v1/ledger?limit=100").at("entries").as_array().size(); };
  const std::size_t before = entries();
  const json::object whole{
      {"domain", "budget"}, {"entity", "team"}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", 3}}}};
  for (const char* member : {"domain", "entity", "role", "action"}) {
    json::object body = whole;
    body.erase(member);
    EXPECT_EQ(refusal("/v1/propose", body), "invalidInput body: \"" + std::string(member) + "\" is missing");
  }
  EXPECT_EQ(refusal("/v1/propose", {}), "invalidInput body: \"domain\" is missing");
  EXPECT_EQ(refusal("/v1/entities", {{"domain", "budget"}}), "invalidInput body: \"entity\" is missing");
  for (const char* path : {"/v1/peers/cut", "/v1/peers/heal", "/v1/devices/deny", "/v1/devices/revoke"})
    EXPECT_EQ(refusal(path, {}), "invalidInput body: \"device\" is missing") << path;
  EXPECT_EQ(entries(), before);
  EXPECT_THAT(refusal("/v1/propose", whole), HasSubstr("approved"));
}

TEST_F(ControlNeeded, TheHintNamesTheOperationWhoseSchemaSaysWhatIsNeeded) {
  EXPECT_THAT(node.post("/v1/peers/cut", {{"device", 5}}).error().hint, HasSubstr("cutPeer"));
  EXPECT_THAT(node.post("/v1/propose", {{"operationId", 5}}).error().hint, HasSubstr("proposeAction"));
  const json::value api = node.get("/v1/openapi.json");
  EXPECT_EQ(api.at("paths").at("/v1/propose").at("post").at("requestBody").at("required"), true);
  EXPECT_EQ(canonicalJson(api.at("components").at("schemas").at("ProposeRequest").at("required")),
            R"(["domain","entity","role","action"])");
  EXPECT_EQ(api.at("paths").at("/v1/feed").at("post").at("requestBody").at("required"), false);
  EXPECT_FALSE(api.at("components").at("schemas").at("FeedRequest").as_object().contains("required"));
}

// Without a list it would lose every right in silence.
TEST_F(ControlNeeded, WhoGetsOtherRolesIsToldWhich) {
  const json::value before = node.get("/v1/devices");
  const std::string self(before.at("devices").at(0).at("device").as_string());
  EXPECT_EQ(refusal("/v1/devices/roles", {{"device", self}}), "invalidInput body: \"roles\" is missing");
  const Finished bare = node.run({"device", "roles", self});
  EXPECT_EQ(bare.exitCode, 2);
  EXPECT_THAT(bare.err, HasSubstr("--role is required"));
  EXPECT_EQ(node.get("/v1/devices"), before);
  EXPECT_EQ(
      canonicalJson(node.get("/v1/openapi.json").at("components").at("schemas").at("RolesRequest").at("required")),
      R"(["device","roles"])");
  EXPECT_EQ(node.run({"device", "roles", self, "--role", "ledger", "--role", "*"}).exitCode, 0);
}

TEST_F(ControlNeeded, AFedEntryBearsTheTimeThatItsLineSays) {
  for (const char* at : {"yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:60Z", "1969-12-31T23:59:59Z", ""})
    EXPECT_THAT(refusal("/v1/feed", entry("never", at)), HasSubstr("invalidInput ")) << at;
  EXPECT_THAT(refusal("/v1/feed", entry("never", "yesterday")), HasSubstr("at: "));
  EXPECT_NE(node.run({"journal", "get", "never"}).exitCode, 0);
  ASSERT_TRUE(node.post("/v1/feed", entry("then", "2001-01-01T00:00:00Z")).ok());
  const json::value shown = node.runJson({"journal", "get", "then"});
  EXPECT_EQ(shown.at("siblings").at(0).at("editedAtMs").to_number<std::int64_t>(), 978'307'200'000) << shown;
}

TEST_F(ControlNeeded, NoNumberOfAJournalLosesDigits) {
  const std::string line = R"({"id":"n","type":"note","payload":123456789012345678901234567890})";
  scratch.write("day.jsonl", line + "\n");
  const Finished fed = node.run({"feed", scratch / "day.jsonl"});
  EXPECT_EQ(fed.exitCode, 3);
  EXPECT_THAT(fed.err, HasSubstr("line 1: byte 34: the number 123456789012345678901234567890 exceeds 64 bits"));
  ASSERT_EQ(node.stop(), 0);  // these two read files, and work on a directory at rest
  scratch.write("n.json", "{\"n\":123456789012345678901234567890}");
  const Finished put = node.run({"journal", "put", "n", "--type", "note", "--json-payload", scratch / "n.json"});
  EXPECT_NE(put.exitCode, 0);
  EXPECT_THAT(put.err, HasSubstr("byte 5: the number 123456789012345678901234567890 exceeds 64 bits"));
  const Finished imported = node.run({"journal", "import", scratch / "day.jsonl"});
  EXPECT_NE(imported.exitCode, 0);
  EXPECT_THAT(imported.err, HasSubstr("exceeds 64 bits"));
}

// Who joins without a token needs it, long after `init` printed it.
TEST_F(ControlNeeded, TheFingerprintIsShownByStatusAndDoctor) {
  const std::string fingerprint(node.get("/v1/status").at("fingerprint").as_string());
  EXPECT_EQ(fingerprint.size(), 64U + 15U);
  EXPECT_THAT(node.run({"status"}).out, HasSubstr(fingerprint));
  EXPECT_THAT(node.run({"doctor"}).out, HasSubstr(fingerprint));
  Node other(scratch, "b");
  const Finished joins = other.run({"join", "--address", node.address(), "--fingerprint", std::string(64, '0')});
  EXPECT_NE(joins.exitCode, 0);
  EXPECT_THAT(joins.err, HasSubstr("witan status"));
}

}  // namespace
}  // namespace witan::node::control_needed_test
