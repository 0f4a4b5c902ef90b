// Policies in TOML and JSON: what is read, and that every mistake is refused with its place.
#include "agents/policy/policy.h"

#include <gtest/gtest.h>

#include "tests/agents/policy/example.h"

namespace witan::agents::policy_reader_test {
namespace {

constexpr std::string_view kSmall = R"(name = "p"
version = 1

[[boundary]]
name = "b"
locales = ["device"]

[[boundary.operation]]
name = "o"
allow = ["x"]

[[grant]]
agent = "a"
category = "c"
locales = ["device"]
tools = ["t"]
boundaries = ["b"]
)";

// kSmall with one piece of it replaced.
std::string with(std::string_view piece, std::string_view by) {
  std::string text(kSmall);
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), by);
}

void expectRefused(const std::string& text, const std::string& message, const std::string& hint = {}) {
  const auto policy = parsePolicyToml(text, "p.toml");
  ASSERT_FALSE(policy.ok()) << text;
  EXPECT_EQ(policy.error().message.substr(0, message.size()), message);
  EXPECT_NE(policy.error().hint.find(hint), std::string::npos) << policy.error().hint;
}

TEST(PolicyReader, ReadsTheExample) {
  const auto policy = parsePolicyToml(test::exampleText(), "agents-policy.toml");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  EXPECT_EQ(policy->name, "clinic");
  EXPECT_EQ(policy->version, 3u);
  ASSERT_EQ(policy->boundary.size(), 4u);
  ASSERT_EQ(policy->grant.size(), 3u);
  const OperationRule& order = policy->boundary[3].operation[0];
  EXPECT_TRUE(order.requireHuman && order.confirm && !order.inference);
  EXPECT_EQ(order.excess, Excess::block);
  EXPECT_EQ(policy->grant[0].models[1], (ModelName{"cloud.example", "large-2"}));
}

// As it travels in a signed document.
TEST(PolicyReader, JsonReadsBackToTheSamePolicyAndDigest) {
  const Policy policy = test::examplePolicy();
  const auto again = policyFromJson(parseJson(toJson(policy)).value());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, policy);
  EXPECT_EQ(policyDigest(*again), policyDigest(policy));
  Policy other = policy;
  other.boundary[0].operation[0].allow.push_back("more");
  EXPECT_NE(policyDigest(other), policyDigest(policy));
}

// Nothing that is left out opens anything.
TEST(PolicyReader, DefaultsAreClosed) {
  const auto policy = parsePolicyToml(std::string(kSmall), "p.toml");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  const OperationRule& rule = policy->boundary[0].operation[0];
  EXPECT_EQ(rule.excess, Excess::block);
  EXPECT_TRUE(rule.secrets.empty() && !rule.inference);
  EXPECT_TRUE(policy->grant[0].models.empty() && policy->grant[0].scopes.empty());
}

TEST(PolicyReader, UnknownKeysAreRefusedWithTheNearestKnownOne) {
  expectRefused(with("version = 1", "version = 1\nversoin = 2"), "p.toml:3:1: unknown key \"versoin\"",
                "did you mean \"version\"?");
  expectRefused(with("allow = [\"x\"]", "alow = [\"x\"]"),
                "p.toml:10:1: unknown key \"alow\" in boundary[0].operation[0]", "did you mean \"allow\"?");
  expectRefused(with("tools = [\"t\"]", "tools = [\"t\"]\nrequireHuman = true"),
                "p.toml:17:1: unknown key \"requireHuman\" in grant[0]",
                "known: agent, category, locales, tools, boundaries, scopes, models");
  expectRefused(with("name = \"o\"", "name = \"o\"\nrequire_human = true"),
                "p.toml:10:1: unknown key \"require_human\"", "did you mean \"require-human\"?");
}

TEST(PolicyReader, FormsAreChecked) {
  expectRefused("name = \"p\n", "p.toml:1:");
  expectRefused("", "p.toml:", "");
  expectRefused(with("version = 1", ""), "p.toml:1:1: \"version\" is missing");
  expectRefused(with("version = 1", "version = -1"), "p.toml:2:11: version: expected a whole number");
  expectRefused(with("version = 1", "version = 1.5"), "p.toml:2:11: version: expected a whole number");
  expectRefused(with("version = 1", "version = \"1\""), "p.toml:2:11: version: expected a whole number");
  expectRefused(with("name = \"p\"", "name = 7"), "p.toml:1:8: name: expected a text");
  expectRefused(with("locales = [\"device\"]", "locales = \"device\""),
                "p.toml:6:11: boundary[0].locales: expected a list");
  expectRefused(with("allow = [\"x\"]", "allow = [7]"),
                "p.toml:10:10: boundary[0].operation[0].allow[0]: expected a text");
  expectRefused(with("allow = [\"x\"]", ""), "p.toml:8:1: \"allow\" is missing in boundary[0].operation[0]");
  expectRefused(with("allow = [\"x\"]", "allow = [\"x\"]\nexcess = \"drop\""),
                "p.toml:11:10: boundary[0].operation[0].excess: expected one of block, redact");
  expectRefused(with("allow = [\"x\"]", "allow = [\"x\"]\ninference = 1"),
                "p.toml:11:13: boundary[0].operation[0].inference: expected true or false");
  expectRefused("name = \"p\"\nversion = 1\nboundary = 3\n",
                "p.toml:3:12: boundary: expected tables, as in [[boundary]]");
  expectRefused("name = \"p\"\nversion = 1\nboundary = [3]\n", "p.toml:3:13: boundary[0]: expected a table");
}

TEST(PolicyReader, MeaningsAreChecked) {
  expectRefused(with("version = 1", "version = 0"), "p.toml:2:1: version: versions are from 1");
  expectRefused(with("name = \"p\"", "name = \"p q\""), "p.toml:1:1: name: ");
  expectRefused(with("locales = [\"device\"]", "locales = []"), "p.toml:6:1: boundary[0].locales: no residency tag");
  expectRefused(with("allow = [\"x\"]", "allow = [\"x\", \"x\"]"),
                "p.toml:10:1: boundary[0].operation[0].allow: the field x is allowed twice");
  expectRefused(with("allow = [\"x\"]", "allow = [\"x\", \"y.*\"]"),
                "p.toml:10:15: boundary[0].operation[0].allow[1]: field path \"y.*\": expected a name at byte 2");
  expectRefused(with("allow = [\"x\"]", "allow = [\"x\"]\nmask = [\"y\"]"),
                "p.toml:11:1: boundary[0].operation[0].mask: the field y is masked and not allowed");
  expectRefused(with("boundaries = [\"b\"]", "boundaries = [\"bb\"]"),
                "p.toml:17:15: grant[0].boundaries[0]: no boundary \"bb\"", "did you mean \"b\"?");
  expectRefused(with("tools = [\"t\"]", "tools = [\"t\", \"t\"]"),
                "p.toml:16:15: grant[0].tools[1]: \"t\" stands here twice");
  expectRefused(std::string(kSmall) + "[[grant]]\nagent = \"a\"\ncategory = \"c\"\nlocales = []\ntools = []\n",
                "p.toml:18:1: grant[1]: a second grant to \"a\"");
  expectRefused(std::string(kSmall) + "[[boundary]]\nname = \"b\"\nlocales = [\"x\"]\n",
                "p.toml:19:1: boundary[1].name: a second boundary \"b\"");
  expectRefused(with("[[grant]]", "[[boundary.operation]]\nname = \"o\"\nallow = []\n[[grant]]"),
                "p.toml:13:1: boundary[0].operation[1].name: a second operation \"o\" of b");
}

TEST(PolicyReader, LimitsHold) {
  expectRefused(std::string(kMaxPolicyBytes + 1, ' '), "p.toml: a policy of more than 1 MiB");
  expectRefused("name = \"\xff\"\n", "p.toml: not UTF-8");
  std::string many;
  for (std::size_t i = 0; i <= kMaxPolicyList; ++i) many += (i == 0 ? "\"x" : ", \"x") + std::to_string(i) + "\"";
  expectRefused(with("[\"x\"]", "[" + many + "]"),
                "p.toml:10:1: boundary[0].operation[0].allow: 1025 elements (at most 1024)");
  std::string boundaries;
  for (std::size_t i = 0; i < kMaxBoundaries; ++i)
    boundaries += "[[boundary]]\nname = \"n" + std::to_string(i) + "\"\nlocales = [\"device\"]\n";
  expectRefused(std::string(kSmall) + boundaries, "p.toml:4:", "");
  expectRefused("a = " + std::string(10'000, '['), "p.toml:1:");
}

TEST(PolicyReader, JsonIsCheckedTheSameWay) {
  const auto refused = [](std::string_view text, const std::string& message) {
    const auto policy = policyFromJson(parseJson(text).value());
    ASSERT_FALSE(policy.ok()) << text;
    EXPECT_EQ(policy.error().message.substr(0, message.size()), message);
  };
  refused("[]", "policy");
  refused(R"({"name":"p"})", "policy: \"version\" is missing");
  refused(R"({"name":"p","version":1,"allowAll":true})", "policy: unknown argument \"allowAll\"");
  refused(
      R"({"name":"p","version":1,"grant":[{"agent":"a","category":"c","locales":[],"tools":[],"boundaries":["b"]}]})",
      "policy.grant[0].boundaries[0]: no boundary \"b\"");
  const auto model = [&](const char* provider, const char* name, const char* wrong) {
    refused(concat(R"({"name":"p","version":1,"grant":[{"agent":"a","category":"c","locales":[],"tools":[],)",
                   R"("boundaries":[],"models":[{"provider":")", provider, R"(","model":")", name, "\"}]}]}"),
            concat("policy.grant[0].models[0].", wrong, ": "));
  };
  model("p q", "m", "provider");
  model("p", "m n", "model");
}

}  // namespace
}  // namespace witan::agents::policy_reader_test
