// The rules of HTTP: eras, sessions, headers, streams, limits; and what a client cannot reach.
#include "mcp/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace witan::mcp_http_test {
namespace {

using namespace witan;
using namespace witan::mcp;
using EffectKind = HttpEffect::Kind;

json::object object(std::string_view text) { return parseJson(text).value().as_object(); }

Offer offering() {
  Offer offer{object(R"({"tools":{},"resources":{"subscribe":true}})")};
  offer.tools.push_back(object(R"({"name":"act","inputSchema":{"type":"object"}})"));
  offer.resources.push_back(object(R"({"uri":"a:b","name":"b"})"));
  return offer;
}

constexpr const char* kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

class McpHttp : public testing::Test {
 protected:
  using Headers = std::map<std::string, std::string>;

  HttpTurn ask(std::string_view method, const Headers& headers, std::string_view body = {}) {
    return endpoint_.receive(++last_, {method, headers, body}, now_);
  }
  HttpTurn post(const std::string& body, Headers headers = {}) {
    headers.emplace("content-type", "application/json");
    headers.emplace("accept", "application/json, text/event-stream");
    return ask("POST", headers, body);
  }
  static std::string message(const std::string& method, const std::string& params, const std::string& id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" + params + "}}";
  }
  HttpTurn modern(const std::string& method, const std::string& params = "", Headers headers = {}) {
    headers.emplace("mcp-protocol-version", "2026-07-28");
    headers.emplace("mcp-method", method);
    return post(message(method, kMeta + (params.empty() ? "" : "," + params)), std::move(headers));
  }
  // The id of a new session.
  std::string initialize(const std::string& capabilities = "{}") {
    const HttpTurn turn =
        post(message("initialize", R"("protocolVersion":"2025-11-25","capabilities":)" + capabilities));
    EXPECT_EQ(statusOf(turn), 200);
    const auto at = turn.effects.at(0).headers.find("mcp-session-id");
    return at == turn.effects.at(0).headers.end() ? "" : at->second;
  }
  HttpTurn legacy(const std::string& session, const std::string& body) {
    return post(body, {{"mcp-session-id", session}});
  }

  static int statusOf(const HttpTurn& turn) {
    EXPECT_EQ(turn.effects.size(), 1u);
    EXPECT_EQ(turn.effects.at(0).kind, EffectKind::answer);
    return turn.effects.at(0).status;
  }
  static std::int64_t codeOf(const HttpTurn& turn) {
    const json::object answer = object(turn.effects.at(0).text);
    return answer.contains("error") ? answer.at("error").at("code").as_int64() : 0;
  }
  static std::vector<EffectKind> kindsOf(const HttpTurn& turn) {
    std::vector<EffectKind> kinds;
    for (const HttpEffect& effect : turn.effects) kinds.push_back(effect.kind);
    return kinds;
  }

  Offer offer_ = offering();
  RateLimit calls_{1000, 1000};
  SeededRandom random_{1};
  std::int64_t now_ = 0;
  ExchangeId last_ = 0;
  HttpEndpoint endpoint_{offer_, calls_, random_, {.sessions = 3, .exchanges = 8}};
};

TEST_F(McpHttp, AModernRequestStandsAlone) {
  EXPECT_EQ(statusOf(modern("server/discover")), 200);
  EXPECT_EQ(endpoint_.sessions(), 0u);
  const HttpTurn called = modern("tools/call", R"("name":"act")", {{"mcp-name", "act"}});
  ASSERT_EQ(called.calls.size(), 1u);
  EXPECT_TRUE(called.effects.empty());
  const HttpTurn done = endpoint_.finish(called.calls[0].exchange, called.calls[0].call, {object(R"({"content":[]})")});
  EXPECT_EQ(statusOf(done), 200);
  EXPECT_TRUE(endpoint_.finish(called.calls[0].exchange, called.calls[0].call, {}).effects.empty());  // once
}

TEST_F(McpHttp, HeadersSayWhatTheMessageSays) {
  EXPECT_EQ(codeOf(modern("tools/list", "", {{"mcp-method", "tools/call"}})), kHeaderMismatch);
  EXPECT_EQ(codeOf(modern("tools/list", "", {{"mcp-protocol-version", "2025-11-25"}})), kHeaderMismatch);
  EXPECT_EQ(codeOf(post(message("tools/list", kMeta))), kHeaderMismatch);
  EXPECT_EQ(codeOf(modern("tools/call", R"("name":"act")")), kHeaderMismatch);
  EXPECT_EQ(codeOf(modern("tools/call", R"("name":"act")", {{"mcp-name", "other"}})), kHeaderMismatch);
  EXPECT_EQ(modern("tools/call", R"("name":"act")", {{"mcp-name", "=?base64?YWN0?="}}).calls.size(), 1u);
  EXPECT_EQ(codeOf(modern("tools/call", R"("name":"act")", {{"mcp-name", "=?base64?%%?="}})), kHeaderMismatch);
  const HttpTurn bare = post(message("tools/list", ""), {{"mcp-protocol-version", "2026-07-28"}});
  EXPECT_EQ(codeOf(bare), kInvalidParams);
  EXPECT_EQ(statusOf(bare), 400);
  EXPECT_EQ(statusOf(modern("initialize")), 404);
}

TEST_F(McpHttp, PagesOfOtherSitesAreTurnedAway) {
  for (const char* origin :
       {"http://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://",
        "http://[::1].evil.example", "ftp://localhost", "http://localhost:1@evil.example",
        "http://localhost:", "http://127.0.0.1:7923, http://evil.example", "http://localhost:1234567"})
    EXPECT_EQ(statusOf(modern("server/discover", "", {{"origin", origin}})), 403) << origin;
  for (const char* origin : {"http://localhost", "https://127.0.0.1:7650", "http://[::1]:80"})
    EXPECT_EQ(statusOf(modern("server/discover", "", {{"origin", origin}})), 200) << origin;
}

TEST_F(McpHttp, ALegacyClientHasASession) {
  const std::string list = message("tools/list", "");
  EXPECT_EQ(statusOf(post(list)), 400);
  EXPECT_EQ(statusOf(legacy("unknown", list)), 404);
  const std::string session = initialize();
  EXPECT_EQ(session.size(), 32u);
  EXPECT_EQ(statusOf(legacy(session, R"({"jsonrpc":"2.0","method":"notifications/initialized"})")), 202);
  EXPECT_EQ(statusOf(legacy(session, list)), 200);
  EXPECT_NE(initialize(), session);
  EXPECT_EQ(statusOf(ask("DELETE", {{"mcp-session-id", session}})), 200);
  EXPECT_EQ(statusOf(legacy(session, list)), 404);
  EXPECT_EQ(statusOf(ask("DELETE", {{"mcp-session-id", session}})), 404);
  EXPECT_EQ(statusOf(ask("GET", {})), 405);
  EXPECT_EQ(statusOf(ask("DELETE", {{"mcp-session-id", session}, {"mcp-protocol-version", "2026-07-28"}})), 405);
  EXPECT_EQ(statusOf(ask("PUT", {})), 405);
}

TEST_F(McpHttp, SessionsOfOneTokenAreUnknownToAnother) {
  HttpEndpoint other(offer_, calls_, random_);
  const std::string session = initialize();
  const Headers headers{{"mcp-session-id", session}, {"content-type", "application/json"}};
  EXPECT_EQ(statusOf(other.receive(1, {"POST", headers, message("tools/list", "")}, 0)), 404);
}

TEST_F(McpHttp, ASessionThatIsIdleMakesRoom) {
  const std::string first = initialize();
  now_ = 10;
  const std::string second = initialize(), third = initialize();
  now_ = 20;
  EXPECT_EQ(statusOf(legacy(second, message("ping", ""))), 200);
  (void)initialize();
  EXPECT_EQ(endpoint_.sessions(), 3u);
  EXPECT_EQ(statusOf(legacy(first, message("ping", ""))), 404);
  EXPECT_EQ(statusOf(legacy(third, message("ping", ""))), 200);
  now_ = 10'000'000;
  (void)initialize();
  EXPECT_EQ(endpoint_.sessions(), 1u);
}

TEST_F(McpHttp, SessionsThatAreAllBusyLeaveNoRoom) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(kindsOf(ask("GET", {{"mcp-session-id", initialize()}})), std::vector{EffectKind::open});
  EXPECT_EQ(statusOf(post(message("initialize", R"("protocolVersion":"2025-11-25")"))), 429);
}

TEST_F(McpHttp, AQuestionGoesDownTheStreamOfTheCallAndItsAnswerCompletesIt) {
  const std::string session = initialize(R"({"elicitation":{}})");
  const HttpTurn called = legacy(session, message("tools/call", R"("name":"act")", "7"));
  ASSERT_EQ(called.calls.size(), 1u);
  const auto& [exchange, call] = called.calls[0];
  Outcome asks;
  asks.questions["who"] = object(R"({"method":"elicitation/create","params":{"message":"m"}})");
  asks.state = "s";
  const HttpTurn asked = endpoint_.finish(exchange, call, asks);
  EXPECT_EQ(kindsOf(asked), (std::vector{EffectKind::open, EffectKind::send}));
  const json::object question = object(asked.effects[1].text);
  EXPECT_EQ(question.at("method"), "elicitation/create");
  EXPECT_EQ(statusOf(legacy(session, message("tools/call", R"("name":"act")", "7"))), 400);  // the id is in use
  const std::string forged = R"({"jsonrpc":"2.0","id":"question-99","result":{"action":"accept"}})";
  EXPECT_TRUE(legacy(session, forged).calls.empty());
  const std::string other = initialize(R"({"elicitation":{}})");
  const std::string reply =
      R"({"jsonrpc":"2.0","id":)" + canonicalJson(question.at("id")) + R"(,"result":{"action":"accept"}})";
  EXPECT_TRUE(legacy(other, reply).calls.empty());  // of another session
  const HttpTurn again = legacy(session, reply);
  ASSERT_EQ(again.calls.size(), 1u);
  EXPECT_EQ(again.calls[0].exchange, exchange);
  EXPECT_EQ(again.calls[0].call.state, "s");
  EXPECT_EQ(again.calls[0].call.answers.at("who"), object(R"({"action":"accept"})"));
  EXPECT_TRUE(legacy(session, reply).calls.empty());  // answered twice
  const HttpTurn done = endpoint_.finish(exchange, again.calls[0].call, {object(R"({"content":[]})")});
  EXPECT_EQ(kindsOf(done), (std::vector{EffectKind::send, EffectKind::close}));
}

TEST_F(McpHttp, AClientThatCannotAnswerIsNotAsked) {
  Outcome asks;
  asks.questions["who"] = object(R"({"method":"elicitation/create","params":{}})");
  const HttpTurn called = modern("tools/call", R"("name":"act")", {{"mcp-name", "act"}});
  const HttpTurn refused = endpoint_.finish(called.calls[0].exchange, called.calls[0].call, asks);
  EXPECT_EQ(codeOf(refused), kMissingCapability);
  EXPECT_EQ(statusOf(refused), 400);
  EXPECT_EQ(object(refused.effects[0].text).at("error").at("data"),
            object(R"({"requiredCapabilities":{"elicitation":{}}})"));
}

TEST_F(McpHttp, SubscribersHearOfTheirResourcesAlone) {
  const HttpTurn listening = modern(
      "subscriptions/listen", R"("notifications":{"resourceSubscriptions":["a:b","x:y"],"toolsListChanged":true})");
  EXPECT_EQ(kindsOf(listening), (std::vector{EffectKind::open, EffectKind::send}));
  EXPECT_EQ(object(listening.effects[1].text).at("params").at("notifications"),
            object(R"({"resourceSubscriptions":["a:b"]})"));
  const std::string session = initialize();
  EXPECT_EQ(codeOf(legacy(session, message("resources/subscribe", R"("uri":"x:y")"))), kLegacyNoResource);
  EXPECT_EQ(codeOf(legacy(session, message("resources/subscribe", R"("uri":"a:b")"))), 0);
  EXPECT_EQ(kindsOf(ask("GET", {{"mcp-session-id", session}})), std::vector{EffectKind::open});
  EXPECT_EQ(endpoint_.subscribed(), std::set<std::string>{"a:b"});
  EXPECT_EQ(endpoint_.updated("a:b").effects.size(), 2u);
  EXPECT_TRUE(endpoint_.updated("x:y").effects.empty());
  EXPECT_TRUE(endpoint_.listChanged(Kind::tools).effects.empty());
  endpoint_.gone(listening.effects[0].exchange);
  EXPECT_EQ(endpoint_.updated("a:b").effects.size(), 1u);
  EXPECT_EQ(kindsOf(ask("GET", {{"mcp-session-id", session}})), (std::vector{EffectKind::close, EffectKind::open}));
}

TEST_F(McpHttp, ACallWhoseClientHasGoneIsNotGoneOnWith) {
  const std::string session = initialize(R"({"elicitation":{}})");
  const HttpTurn called = legacy(session, message("tools/call", R"("name":"act")", "7"));
  Outcome asks;
  asks.questions["who"] = object(R"({"method":"elicitation/create","params":{}})");
  const HttpTurn asked = endpoint_.finish(called.calls[0].exchange, called.calls[0].call, asks);
  endpoint_.gone(called.calls[0].exchange);
  const std::string reply = R"({"jsonrpc":"2.0","id":)" + canonicalJson(object(asked.effects[1].text).at("id")) +
                            R"(,"result":{"action":"accept"}})";
  EXPECT_TRUE(legacy(session, reply).calls.empty());
}

TEST_F(McpHttp, QuestionsOfCallsThatHaveGoneTakeNoRoom) {
  const std::string session = initialize(R"({"elicitation":{}})");
  Outcome asks;
  asks.questions["who"] = object(R"({"method":"elicitation/create","params":{}})");
  for (int i = 0; i < 40; ++i) {
    const HttpTurn called = legacy(session, message("tools/call", R"("name":"act")", std::to_string(i)));
    ASSERT_EQ(called.calls.size(), 1u);
    EXPECT_EQ(endpoint_.finish(called.calls[0].exchange, called.calls[0].call, asks).effects.size(), 2u) << i;
    endpoint_.gone(called.calls[0].exchange);
  }
}

TEST_F(McpHttp, RequestsWithoutAnAnswerAreFew) {
  for (int i = 0; i < 8; ++i) (void)modern("tools/call", R"("name":"act")", {{"mcp-name", "act"}});
  EXPECT_EQ(statusOf(modern("server/discover")), 429);
  endpoint_.gone(1);
  EXPECT_EQ(statusOf(modern("server/discover")), 200);
}

TEST_F(McpHttp, BadBodiesGetOneAnswerEach) {
  const std::string session = initialize();
  for (const Headers& headers : {Headers{{"mcp-protocol-version", "2026-07-28"}}, Headers{{"mcp-session-id", session}}})
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("\"\xff\""), std::string(40, '[') + std::string(40, ']'),
          std::string("[") + message("ping", "") + "]", std::string("7"),
          std::string(R"({"jsonrpc":"2.0","id":1,"id":2})"),
          std::string(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), std::string(R"({"jsonrpc":"2.0","id":1})"),
          "\"" + std::string(2 << 20, 'x') + "\""})
      EXPECT_THAT(statusOf(post(body, headers)), testing::AnyOf(400, 202)) << body.substr(0, 60);
  EXPECT_EQ(statusOf(ask("POST", {{"content-type", "text/plain"}}, message("ping", ""))), 415);
  EXPECT_EQ(statusOf(post(message("ping", ""), {{"accept", "text/html"}})), 406);
  EXPECT_EQ(statusOf(ask("GET", {{"mcp-session-id", session}, {"accept", "application/json"}})), 406);
}

}  // namespace
}  // namespace witan::mcp_http_test
