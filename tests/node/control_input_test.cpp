// What the control API is told in another form than it asks for: refused by name, and nothing is decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::control_input_test {
namespace {

using test::Finished;
using test::Node;
using test::Scratch;
using ::testing::HasSubstr;

json::object spend(const char* member, const json::value& value) {
  json::object body{
      {"domain", "budget"}, {"entity", "team"}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", 3}}}};
  body[member] = value;
  return body;
}

// An operation id that was passed over would be another one each time: the same again would be decided again.
TEST(ControlInput, WhatHasAnotherFormIsRefusedAndNotPassedOver) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  const std::size_t before = node.get("/v1/ledger?limit=100").at("entries").as_array().size();
  const auto refusal = [&](const std::string& path, const json::object& body) {
    const auto answer = node.post(path, body);
    return answer.ok() ? "taken: " + canonicalJson(*answer) : answer.error().message;
  };
  // Each is refused as invalid, at its place.
  const auto place = [&](const std::string& path, const json::object& body) {
    const auto answer = node.post(path, body);
    EXPECT_FALSE(answer.ok()) << canonicalJson(*answer);
    if (answer.ok() || answer.error().code != ErrorCode::invalidInput) return std::string("taken");
    return answer.error().message.substr(0, answer.error().message.find(':'));
  };
  for (const json::value& none : {json::value(4711), json::value(nullptr), json::value(json::array{"op"})})
    EXPECT_EQ(place("/v1/propose", spend("operationId", none)), "body.operationId");
  EXPECT_EQ(place("/v1/propose", spend("operationId", "")), "body.operationId");
  EXPECT_EQ(place("/v1/propose", spend("role", 5)), "body.role");
  EXPECT_EQ(place("/v1/propose", spend("role", "")), "body.role");
  EXPECT_EQ(place("/v1/propose", spend("role", json::value(json::string(65 * 1024, 'r')))), "body.role");
  EXPECT_EQ(place("/v1/propose", spend("domain", json::array{"budget"})), "body.domain");
  EXPECT_EQ(place("/v1/propose", spend("action", "SpendA")), "body.action");
  EXPECT_EQ(place("/v1/propose", spend("waitMs", "1")), "body.waitMs");
  EXPECT_EQ(place("/v1/propose", spend("waitMs", -1)), "body.waitMs");
  EXPECT_EQ(place("/v1/propose", spend("surprise", 1)), "body");
  EXPECT_EQ(place("/v1/propose?entity=nobody", spend("entity", "team")), "parameter \"entity\"");
  EXPECT_EQ(
      place("/v1/queue/decide",
            {{"domain", "budget"}, {"entity", "team"}, {"counselor", "c"}, {"decision", "perhaps"}, {"digest", "00"}}),
      "body.decision");
  EXPECT_EQ(node.get("/v1/ledger?limit=100").at("entries").as_array().size(), before);
  EXPECT_THAT(refusal("/v1/propose", spend("operationId", "one")), HasSubstr("approved"));
  EXPECT_THAT(refusal("/v1/propose", spend("operationId", "one")), HasSubstr("\"duplicate\":true"));
}

// Each level costs stack: what a body may have is what it needs, and a few.
TEST(ControlInput, ADeepBodyIsRefused) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const auto refusal = [&](int depth) {
    json::value payload = 1;
    for (int n = 0; n < depth; ++n) payload = json::array{std::move(payload)};
    const auto answer = node.post("/v1/feed", {{"id", "n"}, {"type", "note"}, {"payload", payload}});
    return answer.ok() ? "taken" : answer.error().message;
  };
  EXPECT_THAT(refusal(32), HasSubstr("deep"));
  EXPECT_EQ(refusal(8), "taken");
}

// What stands before a NUL is another folder, and a relative path one below the node's.
TEST(ControlInput, ABackupGoesToAnAbsolutePathWithoutNul) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const auto refusal = [&](const json::object& order) {
    const auto answer = node.post("/v1/backup", order);
    if (answer.ok()) return "taken: " + canonicalJson(*answer);
    EXPECT_EQ(answer.error().code, ErrorCode::invalidInput) << answer.error().message;
    return answer.error().message;
  };
  const std::string before = scratch / "before";
  EXPECT_EQ(refusal({{"to", before + std::string("\0after", 6)}}), "to: a path has no NUL byte");
  EXPECT_FALSE(std::filesystem::exists(before));
  EXPECT_EQ(refusal({{"to", "somewhere"}}), "to: expected the absolute path of a new folder");
  EXPECT_THAT(refusal({{"to", ""}}), HasSubstr("body.to: "));
  EXPECT_THAT(refusal({{"to", 7}}), HasSubstr("body.to: "));
  EXPECT_EQ(refusal({}), "body: \"to\" is missing");
}

TEST(ControlInput, ANameIsOneLineAndNoId) {
  Scratch scratch;
  for (const char* name : {"b\x1b[31mred", "b\nc", "0d66796d", "b\xe2\x80\xae"}) {
    Node node(scratch, "a");
    const Finished made = node.run({"init", "--name", name, "--listen", node.address()});
    EXPECT_NE(made.exitCode, 0) << name;
    EXPECT_THAT(made.err, HasSubstr("the name"));
    EXPECT_EQ(made.err.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace witan::node::control_input_test
