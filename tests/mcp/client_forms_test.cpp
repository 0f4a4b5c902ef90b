// A server that asks back amid a call, in both eras: what it hears, and what it cannot make the client do.
#include <gtest/gtest.h>

#include "mcp/client.h"
#include "tests/mcp/node_document.h"

namespace witan::mcp_forms_test {
namespace {

using namespace witan;
using namespace witan::mcp;
using namespace witan::mcp_test;

constexpr const char* kForm =
    R"({"mode":"form","message":"Really?","requestedSchema":{"type":"object","properties":)"
    R"({"sure":{"type":"boolean","default":true},"who":{"type":"string","enum":["a","b"],"enumNames":["A","B"]}}}})";

// A client whose server has one tool, "get".
class McpForms : public testing::Test {
 protected:
  void open(Asks asks, bool modern) {
    client_.emplace(ClientOptions{.asks = asks});
    ClientTurn turn = client_->start(0);
    if (modern) {
      turn = reply(turn, R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
    } else {
      turn = client_->received(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})", 0);
      EXPECT_EQ(sent(turn, 0).at("params").at("capabilities").as_object().contains("elicitation"),
                asks != Asks::refuse);
      turn = reply(turn, R"({"protocolVersion":"2025-11-25","capabilities":{}})");
      turn.out.erase(turn.out.begin());  // initialized
    }
    turn = reply(turn, R"({"tools":[{"name":"get","inputSchema":{"type":"object"}}]})");
    ASSERT_TRUE(turn.ready);
  }
  static json::value sent(const ClientTurn& turn, std::size_t i) { return fromText(turn.out.at(i)); }
  // To the last message of a turn.
  ClientTurn reply(const ClientTurn& turn, const std::string& result) {
    const auto id = fromText(turn.out.back()).at("id").to_number<std::uint64_t>();
    return client_->received(concat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", result, "}"), 0);
  }
  ClientTurn call() { return client_->call(7, "get", {}, ""); }
  static std::string wants(const std::string& requests, const std::string& state = R"(,"requestState":"é\"1")") {
    return concat(R"({"resultType":"input_required","inputRequests":)", requests, state, "}");
  }
  static std::string form() { return concat(R"({"x":{"method":"elicitation/create","params":)", kForm, "}}"); }

  std::optional<Client> client_;
};

TEST_F(McpForms, DefaultsAreSentAndTheStateComesBackUnderAnotherId) {
  open(Asks::defaults, true);
  const ClientTurn asked = call();
  const ClientTurn again = reply(asked, wants(form()));
  ASSERT_EQ(again.out.size(), 1u);
  EXPECT_TRUE(again.answers.empty());
  const json::value params = sent(again, 0).at("params");
  EXPECT_EQ(canonicalJson(params.at("inputResponses")), R"({"x":{"action":"accept","content":{"sure":true}}})");
  EXPECT_EQ(params.at("requestState").as_string(), "é\"1");
  EXPECT_NE(sent(asked, 0).at("id"), sent(again, 0).at("id"));
  // A second round without a state: none is sent.
  const ClientTurn third = reply(again, wants(form(), ""));
  EXPECT_FALSE(sent(third, 0).at("params").as_object().contains("requestState"));
  const ClientTurn done = reply(third, R"({"content":[{"type":"text","text":"so be it"}]})");
  ASSERT_EQ(done.answers.size(), 1u);
  EXPECT_EQ(done.answers[0].key, 7u);
  EXPECT_EQ(done.answers[0].content, json::value("so be it"));
  EXPECT_FALSE(sent(call(), 0).at("params").as_object().contains("inputResponses"));
}

TEST_F(McpForms, APersonAnswersEachForm) {
  open(Asks::person, true);
  const ClientTurn asked =
      reply(call(), wants(concat(R"({"x":{"method":"elicitation/create","params":)", kForm,
                                 R"(},"y":{"method":"elicitation/create","params":)", kForm, "}}")));
  ASSERT_EQ(asked.forms.size(), 2u);
  EXPECT_TRUE(asked.out.empty());
  EXPECT_EQ(asked.forms[0].key, 7u);
  EXPECT_FALSE(checkForm(asked.forms[0].form, {{"who", "c"}}).ok());
  EXPECT_TRUE(client_->answerForm(asked.forms[0].number, FormAction::accept, {{"who", "a"}}).out.empty());
  const ClientTurn again = client_->answerForm(asked.forms[1].number, FormAction::cancel, {});
  EXPECT_EQ(canonicalJson(sent(again, 0).at("params").at("inputResponses")),
            R"({"x":{"action":"accept","content":{"who":"a"}},"y":{"action":"cancel"}})");
  EXPECT_TRUE(client_->answerForm(asked.forms[1].number, FormAction::accept, {}).out.empty());  // too late
}

TEST_F(McpForms, ACallThatIsGivenUpAsksNobody) {
  open(Asks::person, true);
  const ClientTurn asked = reply(call(), wants(form()));
  ASSERT_EQ(asked.forms.size(), 1u);
  client_->cancel(7);
  EXPECT_FALSE(client_->asks(asked.forms[0].number));
  EXPECT_TRUE(client_->answerForm(asked.forms[0].number, FormAction::accept, {}).out.empty());
}

TEST_F(McpForms, AServerOfTheOldEraIsAnsweredUnderItsOwnId) {
  open(Asks::person, false);
  const ClientTurn call = this->call();
  const json::value id = sent(call, 0).at("id");
  const ClientTurn asked = client_->received(
      concat(R"({"jsonrpc":"2.0","id":)", canonicalJson(id), R"(,"method":"elicitation/create","params":)", kForm, "}"),
      0);
  ASSERT_EQ(asked.forms.size(), 1u);
  EXPECT_EQ(asked.forms[0].key, 0u);
  const ClientTurn answer = client_->answerForm(asked.forms[0].number, FormAction::decline, {});
  EXPECT_EQ(answer.out.at(0), canonicalJson(json::object{
                                  {"id", id}, {"jsonrpc", "2.0"}, {"result", json::object{{"action", "decline"}}}}));
  EXPECT_FALSE(client_->question(answer.out.at(0)));  // it is no question of ours, though it has the id of one
  EXPECT_TRUE(client_->question(call.out.at(0)));
}

TEST_F(McpForms, WhoAsksForeverOrForSomethingElseIsRefused) {
  open(Asks::defaults, true);
  ClientTurn turn = call();
  for (int round = 0; turn.answers.empty(); ++round) {
    ASSERT_LT(round, 20);
    turn = reply(turn, wants(form()));
  }
  EXPECT_EQ(turn.answers[0].kind, CallAnswer::Kind::refused);
  EXPECT_NE(turn.answers[0].error.find("does not stop asking"), std::string::npos);
  for (const char* requests : {R"({"x":{"method":"sampling/createMessage","params":{}}})", "{}",
                               R"({"x":{"method":"elicitation/create","params":{"mode":"url","url":"http://evil"}}})",
                               R"({"x":{"method":"elicitation/create","params":{"requestedSchema":{"type":"object",)"
                               R"("properties":{"deep":{"type":"object"}}}}}})"}) {
    const ClientTurn refused = reply(call(), wants(requests, ""));
    ASSERT_EQ(refused.answers.size(), 1u) << requests;
    EXPECT_EQ(refused.answers[0].kind, CallAnswer::Kind::refused);
    EXPECT_TRUE(refused.out.empty());
  }
  // As long as nothing is said, it is refused too; and the old era hears that there is no such method.
  open(Asks::refuse, true);
  EXPECT_NE(reply(call(), wants(form())).answers.at(0).error.find("asks a person"), std::string::npos);
  open(Asks::refuse, false);
  const ClientTurn none =
      client_->received(concat(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":)", kForm, "}"), 0);
  EXPECT_EQ(sent(none, 0).at("error").at("code"), json::value(-32601));
}

}  // namespace
}  // namespace witan::mcp_forms_test
