// The MCP server's rules, line by line: both eras, limits, bad input; and what the tools ask of the node.
#include "mcp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/catalogue.h"
#include "tests/mcp/node_document.h"

namespace witan::mcp_server_test {
namespace {

using namespace witan;
using namespace witan::mcp;
using namespace witan::mcp_test;

json::value budget() {
  return fromText(
      R"({"name":"budget","roles":[{"name":"A"},{"name":"B"}],"processes":[{"name":"SpendA","role":"A","schema":{"type":"object","additionalProperties":false,)"
      R"("properties":{"n":{"type":"integer"},"type":{"const":"SpendA"}},"required":["type","n"]}},)"
      R"({"name":"SpendB","role":"B","schema":{"type":"object"}},{"name":"Close","role":null,"schema":{"type":"object"}}]})");
}

json::value other() {
  return fromText(R"({"name":"other","roles":[{"name":"B"}],"processes":[{"name":"SpendB","role":"B","schema":{}}]})");
}

Result<Catalogue> made(Authority authority) { return Catalogue::make(document(), {budget(), other()}, authority); }
Catalogue catalogue(const char* token) { return Catalogue::make(document(), {budget()}, {token, "", ""}).value(); }

constexpr const char* kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string modern(const std::string& method, const std::string& params = "") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + kMeta +
         (params.empty() ? "" : "," + params) + "}}";
}

class McpServer : public testing::Test {
 protected:
  json::value ask(const std::string& line) {
    const Turn turn = server_.receive(line, 0);
    EXPECT_FALSE(turn.call.has_value()) << line;
    EXPECT_LE(turn.out.size(), 1u) << line;
    return turn.out.empty() ? json::value() : fromText(turn.out.front());
  }
  std::int64_t codeOf(const std::string& line) {
    const json::value answer = ask(line);
    return answer.is_object() && answer.get_object().contains("error") ? answer.at("error").at("code").as_int64() : 0;
  }
  void initialize(const char* version = "2025-11-25") {
    (void)ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + std::string(version) +
              R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
  }

  Catalogue tools_ = catalogue("operator");
  Offer offer_ = tools_.offer();
  RateLimit calls_{100, 50};
  Server server_{offer_, calls_};
};

std::vector<std::string> namesOf(const Catalogue& made) {
  std::vector<std::string> names;
  for (const Tool& tool : made.tools()) names.push_back(tool.name);
  return names;
}

TEST(McpCatalogue, HasWhatTheRoleMay) {
  EXPECT_THAT(namesOf(catalogue("observer")), testing::ElementsAre("domain.list", "domain.show", "inbox", "journal.get",
                                                                   "journal.list", "preview", "slice", "why"));
  EXPECT_THAT(
      namesOf(catalogue("operator")),
      testing::AllOf(testing::Contains("budget.SpendA"), testing::Contains("propose"),
                     testing::Not(testing::Contains("answer")), testing::Not(testing::Contains("budget.Close"))));
  EXPECT_THAT(namesOf(catalogue("counselor")),
              testing::AllOf(testing::Contains("answer"), testing::Not(testing::Contains("propose")),
                             testing::Not(testing::Contains("budget.SpendA"))));
  EXPECT_EQ(namesOf(catalogue("admin")).size(), 14u);
}

TEST(McpCatalogue, AParticipantHasItsSliceItsActsAndTheirFate) {
  for (const char* token : {"operator", "admin"})
    EXPECT_THAT(namesOf(made({token, "budget", "B"}).value()), testing::ElementsAre("budget.SpendB", "slice", "why"));
  for (const char* token : {"observer", "counselor"})
    EXPECT_THAT(namesOf(made({token, "budget", "B"}).value()), testing::ElementsAre("slice", "why"));
  EXPECT_EQ(made({"operator", "budget", "C"}).error().code, ErrorCode::notFound);
  EXPECT_EQ(made({"operator", "nowhere", "B"}).error().code, ErrorCode::notFound);
}

TEST(McpCatalogue, DomainAndRoleAreSeparatedByADot) {
  Authority authority;
  ASSERT_TRUE(narrow(authority, "budget.A").ok());
  EXPECT_EQ(authority.domain, "budget");
  EXPECT_EQ(authority.role, "A");
  for (const char* bad : {"", ".", "budget", "budget.", ".A", "budget.A:", "budget.A/c:acme"})
    EXPECT_FALSE(narrow(authority, bad).ok()) << bad;
}

// A key that the client cannot leave out, and no ledger, which tells of others' rows.
TEST(McpCatalogue, AKeyIsFixed) {
  Authority authority{"operator"};
  ASSERT_TRUE(narrow(authority, "budget.B:acme").ok());
  EXPECT_EQ(authority.words(), "budget.B:acme");
  const Catalogue mine = made(authority).value();
  EXPECT_THAT(namesOf(mine), testing::ElementsAre("budget.SpendB", "slice"));
  const auto asked = requestOf(*mine.find("slice"), {{"entity", "team"}});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(canonicalJson(asked->body), R"({"domain":"budget","entity":"team","key":"acme","role":"B"})");
  EXPECT_FALSE(requestOf(*mine.find("slice"), {{"entity", "team"}, {"key", "rival"}}).ok());
}

TEST(McpCatalogue, AParticipantNamesNoOtherRoleAndNoOtherDomain) {
  const Catalogue mine = made({"operator", "budget", "B"}).value();
  const auto asked = requestOf(*mine.find("slice"), {{"entity", "team"}});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(canonicalJson(asked->body), R"({"domain":"budget","entity":"team","role":"B"})");
  for (const char* tool : {"slice", "why", "budget.SpendB"})
    for (const char* argument : {"role", "domain", "partition", "after"}) {
      json::object arguments{{"entity", "team"}, {"action", json::object()}, {argument, "A"}};
      if (tool != std::string_view("budget.SpendB")) arguments.erase("action");
      EXPECT_FALSE(requestOf(*mine.find(tool), arguments).ok()) << tool << " " << argument;
    }
}

TEST(McpCatalogue, AParticipantSeesTheFateOfItsOwnProposalsAlone) {
  const Catalogue mine = made({"operator", "budget", "B"}).value();
  const Outcome outcome = outcomeOf(*mine.find("why"), fromText(R"({"entries":[
      {"partition":"budget/0","seq":1,"leafHash":"secret","story":"secret","entry":{"seq":1,"tag":"approved","role":"A","action":{"n":"secret"}}},
      {"partition":"budget/0","seq":2,"story":"secret","entry":{"seq":2,"tag":"escalated","role":"B","action":{"n":2},"message":"m",
        "agent":"secret","writes":{"spentA":"secret"},"findings":["secret"],"verdicts":{"secret":1},"genesis":"secret","stateDigest":"secret"}},
      {"partition":"budget/1","seq":2,"entry":{"seq":2,"tag":"escalated","role":"A","action":"secret"}},
      {"partition":"budget/1","seq":3,"entry":{"seq":3,"tag":"cCommitted","escalation":2,"reason":"secret"}},
      {"partition":"budget/0","seq":3,"entry":{"seq":3,"tag":"cCommitted","escalation":2,"reason":"seen","decision":"secret","writes":"secret"}},
      {"partition":"budget/0","seq":4,"entry":null}]})"));
  EXPECT_EQ(canonicalJson(outcome.result.at("structuredContent")),
            R"({"entries":[{"action":{"n":2},"message":"m","seq":2,"tag":"escalated"},)"
            R"({"escalation":2,"reason":"seen","seq":3,"tag":"cCommitted"}]})");
}

TEST(McpCatalogue, AnUnknownDocumentIsRefused) {
  for (const char* text : {"null", "[]", "{}", R"({"paths":[]})", R"({"paths":{"/v1/slice":{"get":7}}})"})
    EXPECT_FALSE(Catalogue::make(fromText(text), {}, {"admin", "", ""}).ok()) << text;
}

TEST(McpCatalogue, AnActionsToolFixesDomainRoleAndType) {
  const Catalogue made = catalogue("operator");
  const Tool& tool = *made.find("budget.SpendA");
  const json::value schema = tool.inputSchema;
  EXPECT_EQ(
      schema.at("properties").at("action"),
      fromText(
          R"({"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer"}},"required":["n"]})"));
  const auto asked = requestOf(tool, fromText(R"({"entity":"team","action":{"n":3}})").as_object());
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(canonicalJson(asked->body),
            R"({"action":{"n":3,"type":"SpendA"},"domain":"budget","entity":"team","role":"A"})");
  for (const char* bad : {"{}", R"({"action":[]})", R"({"action":{"type":"SpendB"}})", R"({"action":{},"role":"B"})",
                          R"({"action":{},"domain":"udt"})"})
    EXPECT_FALSE(requestOf(tool, fromText(bad).as_object()).ok()) << bad;
}

TEST(McpCatalogue, APathTakesANameOnly) {
  const Catalogue made = catalogue("observer");
  const Tool& tool = *made.find("domain.show");
  const auto asked = requestOf(tool, {{"domain", "budget"}});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->path, "/v1/domains/budget");
  EXPECT_FALSE(asked->body.contains("domain"));
  for (const char* bad : {"", "..", "a/b", "a?b", "a b", "a%2fb"})
    EXPECT_FALSE(requestOf(tool, {{"domain", bad}}).ok());
  EXPECT_FALSE(requestOf(tool, {}).ok());
}

TEST_F(McpServer, AnswersAModernClientWithoutAHandshake) {
  const json::value found = ask(modern("server/discover"));
  EXPECT_EQ(found.at("result").at("supportedVersions"), fromText(R"(["2026-07-28"])"));
  EXPECT_EQ(found.at("result").at("resultType"), "complete");
  const json::value list = ask(modern("tools/list"));
  EXPECT_EQ(list.at("result").at("tools").as_array().size(), tools_.tools().size());
  EXPECT_EQ(codeOf(modern("ping")), -32601);
  EXPECT_EQ(codeOf(modern("sampling/createMessage")), -32601);
}

TEST_F(McpServer, ChecksTheVersionOfEachModernRequest) {
  const json::value answer = ask(
      R"({"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(answer.at("error").at("code"), -32022);
  EXPECT_EQ(answer.at("error").at("data"), fromText(R"({"supported":["2026-07-28"],"requested":"2099-01-01"})"));
  EXPECT_EQ(answer.at("id"), "a");
  EXPECT_EQ(
      codeOf(
          R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"),
      -32602);
}

TEST_F(McpServer, AnswersALegacyClientAfterInitialize) {
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), -32602);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})"), -32602);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").at("result"), json::value(json::object()));
  initialize();
  EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").is_null());
  const json::value list = ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_FALSE(list.at("result").as_object().contains("resultType"));
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":3,"method":"server/discover"})"), -32601);
}

TEST_F(McpServer, OffersAVersionThatItKnows) {
  for (const auto& [asked, offered] : {std::pair{"2025-11-25", "2025-11-25"},
                                       {"2025-06-18", "2025-06-18"},
                                       {"2024-11-05", "2025-11-25"},
                                       {"x", "2025-11-25"}}) {
    const json::value answer = ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                                   std::string(asked) + R"("}})");
    EXPECT_EQ(answer.at("result").at("protocolVersion"), offered);
  }
}

TEST_F(McpServer, ListsInPages) {
  Server small(offer_, calls_, {.page = 5});
  std::size_t seen = 0;
  std::string cursor;
  do {
    const Turn turn = small.receive(modern("tools/list", cursor.empty() ? "" : R"("cursor":")" + cursor + "\""), 0);
    const json::value answer = fromText(turn.out.front());
    seen += answer.at("result").at("tools").as_array().size();
    const json::value* next = answer.at("result").as_object().if_contains("nextCursor");
    cursor = next == nullptr ? "" : std::string(next->as_string());
  } while (!cursor.empty());
  EXPECT_EQ(seen, tools_.tools().size());
  for (const char* bad : {R"("cursor":"99")", R"("cursor":"-1")", R"("cursor":"x")", R"("cursor":7)", R"("cursor":"")"})
    EXPECT_EQ(codeOf(modern("tools/list", bad)), -32602) << bad;
}

TEST_F(McpServer, HandsOutACallAndAnswersIt) {
  const Turn turn = server_.receive(modern("tools/call", R"("name":"slice","arguments":{"domain":"budget"})"), 0);
  EXPECT_TRUE(turn.out.empty());
  ASSERT_TRUE(turn.call.has_value());
  EXPECT_EQ(turn.call->name(), "slice");
  const Tool& slice = *tools_.find("slice");
  EXPECT_EQ(
      server_.finish(*turn.call, outcomeOf(slice, json::value(json::object{{"a", 1}}))).out.front(),
      R"({"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"{\"a\":1}","type":"text"}],"resultType":"complete","structuredContent":{"a":1}}})");
  const Turn failed = server_.finish(*turn.call, outcomeOf(slice, Error{ErrorCode::notFound, "no entity", "begin it"}));
  const json::value result = fromText(failed.out.front()).at("result");
  EXPECT_EQ(result.at("isError"), true);
  EXPECT_EQ(result.at("content").at(0).at("text"), "no entity\nbegin it");
}

TEST_F(McpServer, AToolThatTheRoleMayNotUseIsUnknown) {
  EXPECT_EQ(codeOf(modern("tools/call", R"("name":"answer","arguments":{})")), -32602);
  EXPECT_EQ(codeOf(modern("tools/call", R"("arguments":{})")), -32602);
  EXPECT_EQ(codeOf(modern("tools/call", R"("name":"slice","arguments":[])")), -32602);
}

TEST_F(McpServer, BoundsTheRateOfCallsAndTheSizeOfAnswers) {
  RateLimit few(3, 2);
  Server bounded(offer_, few, {.answerBytes = 200});
  const std::string call = modern("tools/call", R"("name":"journal.list")");
  const auto goes = [&](std::int64_t ms) { return bounded.receive(call, ms).call.has_value(); };
  EXPECT_TRUE(goes(0) && goes(0) && goes(0));
  EXPECT_FALSE(goes(0));
  EXPECT_FALSE(goes(499));
  EXPECT_TRUE(goes(500));
  EXPECT_FALSE(goes(500));
  const Turn turn = bounded.receive(call, 5000);
  ASSERT_TRUE(turn.call.has_value());
  const Turn large = bounded.finish(*turn.call, outcomeOf(*tools_.find("slice"), json::value(std::string(200, 'x'))));
  EXPECT_EQ(fromText(large.out.front()).at("result").at("isError"), true);
}

TEST_F(McpServer, BadLinesGetOneErrorEach) {
  EXPECT_EQ(codeOf(""), -32700);
  EXPECT_EQ(codeOf("{"), -32700);
  EXPECT_EQ(codeOf("\"\xff\""), -32700);
  EXPECT_EQ(codeOf(R"({"id":1,"id":2})"), -32700);
  EXPECT_EQ(codeOf(std::string(40, '[') + std::string(40, ']')), -32700);
  EXPECT_EQ(codeOf(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"), -32600);  // a batch
  EXPECT_EQ(codeOf("7"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"), -32600);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})"), -32602);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}})"), -32602);
  EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","id":1,"result":{}})").is_null());
  EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})").is_null());
  EXPECT_FALSE(ask("{").as_object().contains("id"));
}

}  // namespace
}  // namespace witan::mcp_server_test
