// Tokens of programs (issue 22, part 7): bound to roles and entities, for a time, until they are revoked.
#include "node/api/program_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "net/http_client.h"
#include "tests/node/node_process.h"

namespace witan::node::program_tokens_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kNow{1'700'000'000'000'000};

struct ProgramTokensTest : ::testing::Test {
  ProgramTokensTest() { std::filesystem::create_directories(dir); }
  static ProgramToken bounds(const std::string& name) {
    ProgramToken token;
    token.name = name, token.roles = {"budget.A"}, token.entities = {"team", "dept-*"};
    return token;
  }
  static Status asks(const ProgramToken& token, const char* role, const char* entity) {
    return mayAsk(token, {{"domain", "budget"}, {"role", role}, {"entity", entity}});
  }

  const Scratch scratch;
  const std::string dir = scratch / "d";
  SeededRandom random{7};
};

TEST_F(ProgramTokensTest, AreGoodForTheirTimeAndUntilTheyAreRevoked) {
  ProgramTokens tokens = *ProgramTokens::open(dir);
  const std::string text = "Bearer " + *tokens.add(bounds("robot"), 2, kNow, random);
  const Time later{kNow.micros + 3 * 86'400'000'000};
  for (int restart = 0; restart < 2; ++restart, tokens = *ProgramTokens::open(dir)) {
    ASSERT_NE(tokens.find(text, kNow), nullptr);
    EXPECT_EQ(tokens.find(text, later), nullptr) << "expired";
    EXPECT_EQ(tokens.find(text.substr(0, text.size() - 1) + "x", kNow), nullptr);
    EXPECT_EQ(tokens.find("Bearer program-", kNow), nullptr);
    EXPECT_EQ(tokens.find(text.substr(0, text.rfind('-')), kNow), nullptr);
  }
  const std::string file = contentOf(dir + "/program.tokens");
  EXPECT_THAT(file, Not(HasSubstr(text.substr(text.rfind('-') + 1)))) << "the file alone is of no use";
  EXPECT_EQ(std::filesystem::status(dir + "/program.tokens").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(tokens.add(bounds("robot"), 1, kNow, random).error().code, ErrorCode::conflict);
  EXPECT_EQ(tokens.revoke("robot")->name, "robot");
  EXPECT_EQ(tokens.find(text, kNow), nullptr);
  EXPECT_EQ(ProgramTokens::open(dir)->find(text, kNow), nullptr) << "also after a restart";
  EXPECT_EQ(tokens.revoke("robot").error().code, ErrorCode::notFound);
}

TEST_F(ProgramTokensTest, AreForTheirRolesAndEntities) {
  ProgramToken token = bounds("robot");
  for (const char* entity : {"team", "dept-", "dept-7"}) EXPECT_TRUE(asks(token, "A", entity).ok()) << entity;
  for (const char* entity : {"tea", "team2", "dept", ""}) EXPECT_FALSE(asks(token, "A", entity).ok()) << entity;
  EXPECT_FALSE(asks(token, "B", "team").ok());
  EXPECT_FALSE(mayAsk(token, {{"role", "budget.A"}, {"entity", "team"}}).ok());
  token.entities = {"*"};
  EXPECT_TRUE(asks(token, "A", "anything").ok());
  EXPECT_TRUE(mayUse(token, "/v1/propose").ok());
  for (const char* path : {"/v1/queue/decide", "/v1/ledger", "/v1/tokens/add", "/v1/status", "/v1/market",
                           "/v1/market/order", "/v1/market/act", "/v1/market/evidence", "/v1/market/stream"})
    EXPECT_FALSE(mayUse(token, path).ok()) << path;
}

TEST_F(ProgramTokensTest, HaveBounds) {
  ProgramTokens tokens = *ProgramTokens::open(dir);
  const auto refused = [&](auto change, std::int64_t days = 1) {
    ProgramToken token = bounds("robot");
    change(token);
    return tokens.add(token, days, kNow, random).error().code == ErrorCode::invalidInput;
  };
  EXPECT_TRUE(refused([](ProgramToken& token) { token.roles.clear(); }));
  EXPECT_TRUE(refused([](ProgramToken& token) { token.entities.clear(); }));
  for (const char* role : {"*", "ledger", "budget"})
    EXPECT_TRUE(refused([&](ProgramToken& token) { token.roles = {role}; })) << role;
  for (const char* entity : {"a*b", "**", ""})
    EXPECT_TRUE(refused([&](ProgramToken& token) { token.entities = {entity}; })) << entity;
  EXPECT_TRUE(refused([](ProgramToken& token) { token.name = "a\nb"; }));
  EXPECT_TRUE(refused([](ProgramToken&) {}, 0));
  EXPECT_TRUE(refused([](ProgramToken&) {}, kMaxTokenDays + 1));
  std::ofstream(dir + "/program.tokens") << "{";
  EXPECT_EQ(ProgramTokens::open(dir).error().code, ErrorCode::corrupt);
}

TEST_F(ProgramTokensTest, HaveARate) {
  ProgramTokens tokens = *ProgramTokens::open(dir);
  ASSERT_TRUE(tokens.add(bounds("robot"), 1, kNow, random).ok());
  const ProgramToken& token = tokens.all().front();
  for (std::int64_t i = 0; i < kTokenRate * kTokenBurstSeconds; ++i)
    EXPECT_TRUE(tokens.count(token, 1'000'000).ok()) << i;
  EXPECT_EQ(tokens.count(token, 1'000'000).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(tokens.count(token, 1'000'100).ok()) << "a tenth of a second later";
  EXPECT_FALSE(tokens.count(token, 1'000'100).ok());
}

TEST(ProgramTokensOfANode, LetAProgramDoItsWorkAndNothingElse) {
  const Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(node.run({"begin", "budget", "other"}).exitCode, 0);
  EXPECT_THAT(node.run({"token", "add", "robot", "--role", "budget.Z", "--entity", "*"}).err,
              HasSubstr("no role budget.Z"));
  std::string token = node.run({"token", "add", "robot", "--role", "budget.A", "--entity", "tea*"}).out;
  ASSERT_TRUE(token.starts_with("program-")) << token;
  token.pop_back();
  EXPECT_THAT(node.run({"token", "list"}).out, HasSubstr("robot  budget.A  tea*  until "));
  const auto call = [&](const char* method, const std::string& target, const std::string& body = {}) {
    net::HttpRequest request{.method = method, .target = target, .body = body};
    request.headers["authorization"] = "Bearer " + token;
    const auto answer = net::httpCall({.address = "unix:" + node.dir() + "/control.sock"}, request, 30'000);
    return answer.ok() ? answer->status : -1;
  };
  const auto propose = [&](const char* entity, const char* role) {
    return call("POST", "/v1/propose",
                std::string(R"({"domain":"budget","entity":")") + entity + R"(","role":")" + role +
                    R"(","action":{"type":"Spend)" + role + R"(","n":1}})");
  };
  EXPECT_EQ(propose("team", "A"), 200);
  EXPECT_EQ(propose("other", "A"), 403);
  EXPECT_EQ(propose("team", "B"), 403);
  EXPECT_EQ(call("GET", "/v1/slice?domain=budget&entity=team&role=A"), 200);
  EXPECT_EQ(call("GET", "/v1/slice?domain=budget&entity=team"), 403) << "all fields";
  for (const char* path : {"/v1/ledger", "/v1/tokens", "/v1/status"}) EXPECT_EQ(call("GET", path), 403) << path;
  for (const char* path : {"/mcp", "/tiles/"}) EXPECT_EQ(call("GET", path), 403) << path << ": the token is good";
  EXPECT_EQ(call("POST", "/mcp", "{}"), 403);
  EXPECT_EQ(call("POST", "/v1/entities", R"({"domain":"budget","entity":"team9"})"), 403);
  EXPECT_EQ(node.run({"token", "revoke", "robot"}).exitCode, 0);
  EXPECT_EQ(propose("team", "A"), 401);
  // What it proposes is recorded for good, also what is rejected: it has a rate.
  EXPECT_EQ(node.run({"token", "add", "slow", "--role", "budget.A", "--entity", "*", "--rate", "0"}).exitCode, 2);
  token = node.run({"token", "add", "slow", "--role", "budget.A", "--entity", "*", "--rate", "1"}).out;
  token.pop_back();
  EXPECT_THAT(node.run({"token", "list"}).out, HasSubstr("1 a second"));
  std::vector<int> statuses;
  for (int i = 0; i < kTokenBurstSeconds + 5; ++i) statuses.push_back(propose("team", "A"));
  EXPECT_EQ(statuses.front(), 200);
  EXPECT_GE(std::ranges::count(statuses, 429), 1);
  EXPECT_EQ(call("GET", "/v1/slice?domain=budget&entity=team&role=A"), 200) << "reading records nothing";
  EXPECT_EQ(node.run({"token", "revoke", "slow"}).exitCode, 0);
  EXPECT_EQ(node.run({"token", "list"}).out, "no program has a token\n");
  EXPECT_EQ(call("GET", "/mcp"), 401);
}

// Its program could propose nothing there. Nor does a person's key come into being where no admin's key is.
TEST(ProgramTokensOfANode, ARoleThatTheDeviceLacksIsWarnedOf) {
  const Scratch scratch;
  Node first(scratch, "first"), limited(scratch, "limited");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_TRUE(test::enrol(first, limited, {"--role", "budget.A"})) << limited.log();
  const auto warnings = [&](const char* role) {
    return limited
        .runJson(
            {"token", "add", std::string("robot-") + role, "--role", std::string("budget.") + role, "--entity", "*"})
        .at("warnings")
        .as_array()
        .size();
  };
  EXPECT_EQ(warnings("A"), 0u);
  EXPECT_EQ(warnings("B"), 1u);
  const Finished refused = limited.run({"person", "add", "lead", "--role", "moderation.counselor"});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("admin's key"));
}

}  // namespace
}  // namespace witan::node::program_tokens_test
