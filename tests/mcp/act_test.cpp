// A call against a node, step by step: resources, and an escalation that the person at the client decides.
#include "mcp/act.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/resource_uri.h"
#include "mcp/watch.h"
#include "tests/mcp/node_document.h"

namespace witan::mcp_act_test {
namespace {

using namespace witan;
using namespace witan::mcp;
using namespace witan::mcp_test;

Result<Catalogue> catalogue(const Authority& authority) {
  return Catalogue::make(
      document(),
      {fromText(R"({"name":"d","counselors":["dr.x"],"roles":[{"name":"A"},{"name":"B"}],"processes":[)"
                R"({"name":"Act","role":"A","schema":{"type":"object","properties":{"n":{"type":"integer"}}}}]})")},
      authority);
}

// What the person of these tests is shown would leave a rule violated.
constexpr const char* kCommit = "commit although unsafe";

class McpAct : public testing::Test {
 protected:
  Call call(const char* arguments = R"({"entity":"e","action":{"n":1}})", std::string state = {},
            json::object answers = {}) {
    Call made{1, true, "tools/call", {{"name", "d.Act"}, {"arguments", fromText(arguments)}}};
    made.capabilities["elicitation"] = json::object();
    made.state = std::move(state);
    if (!answers.empty()) made.answers["decision"] = std::move(answers);
    return made;
  }
  static json::object decides(const char* decision, const char* reason = "seen") {
    return {{"action", "accept"}, {"content", json::object{{"decision", decision}, {"reason", reason}}}};
  }
  static json::value escalated() { return fromText(R"({"outcome":"escalated","ledgerSeq":7,"operationId":"o"})"); }
  static json::value queue(const char* counselors = R"(["dr.x"])") {
    return fromText(
        R"({"queue":[{"domain":"d","entity":"e","seq":6,"digest":"other"},)"
        R"({"domain":"d","entity":"e","seq":7,"digest":"shown","role":"A","action":{"n":1,"type":"Act"},"invariant":"RULE",)"
        R"("message":"look at it","state":{"hidden":"secret"},"counselors":)" +
        std::string(counselors) + "}]}");
  }
  // The outcome of a call whose proposal escalates.
  Outcome escalate(const Call& made, const json::value& rows) {
    Act act(mine_, seals_, made);
    const Step proposed = act.begin(now_);
    EXPECT_EQ(std::get<ApiRequest>(proposed).path, "/v1/propose");
    Step next = act.answered(escalated(), now_);
    if (const auto* request = std::get_if<ApiRequest>(&next)) {
      EXPECT_EQ(request->path, "/v1/queue");
      EXPECT_TRUE(request->counselor);
      next = act.answered(rows, now_);
    }
    if (const auto* request = std::get_if<ApiRequest>(&next)) {
      EXPECT_EQ(canonicalJson(request->body),
                R"({"counselor":"dr.x","decision":"commit","digest":"shown","domain":"d","entity":"e"})");
      next = act.answered(
          fromText(
              R"({"safe":false,"findings":[{"invariant":"OTHER","message":"is broken"}],"writes":{"w":"secret"}})"),
          now_);
    }
    return std::get<Outcome>(next);
  }
  std::string askedState() { return escalate(call(), queue()).state; }
  int codeOf(const Call& made) {
    const Step step = Act(mine_, seals_, made).begin(now_);
    const auto* outcome = std::get_if<Outcome>(&step);
    return outcome == nullptr ? 0 : outcome->code;
  }

  SeededRandom random_{7};
  Seals seals_{random_, {.lifeMs = 1000, .out = 4}};
  Catalogue mine_ = catalogue({.token = "operator", .domain = "d", .role = "A", .counselor = "dr.x"}).value();
  std::int64_t now_ = 0;
};

TEST_F(McpAct, AnEscalationAsksTheCounselorAtTheClient) {
  const Outcome outcome = escalate(call(), queue());
  const json::value question = outcome.questions.at("decision");
  EXPECT_EQ(question.at("method"), "elicitation/create");
  const std::string shown = canonicalJson(question);
  EXPECT_THAT(shown,
              testing::AllOf(testing::HasSubstr("RULE: look at it"), testing::HasSubstr("dr.x"),
                             testing::HasSubstr("OTHER: is broken"), testing::Not(testing::HasSubstr("secret"))));
  EXPECT_EQ(question.at("params").at("requestedSchema").at("properties").at("decision").at("enum"),
            fromText(R"(["commit although unsafe","reject"])"));
  Act act(mine_, seals_, call(R"({"entity":"e","action":{"n":1}})", outcome.state, decides(kCommit)));
  const Step step = act.begin(now_);
  const auto& request = std::get<ApiRequest>(step);
  EXPECT_EQ(request.path, "/v1/queue/decide");
  EXPECT_TRUE(request.counselor);
  EXPECT_EQ(canonicalJson(request.body),
            R"({"counselor":"dr.x","decision":"commit","digest":"shown","domain":"d","entity":"e","reason":"seen"})");
  const Step done = act.answered(fromText(R"({"outcome":"cCommitted"})"), now_);
  EXPECT_EQ(std::get<Outcome>(done).result.at("structuredContent"), fromText(R"({"outcome":"cCommitted"})"));
}

TEST_F(McpAct, OnlyACounselorWhoMayDecideIsAsked) {
  Call blind = call();
  blind.capabilities.clear();
  EXPECT_TRUE(escalate(blind, queue()).questions.empty());
  EXPECT_TRUE(escalate(call(), queue(R"(["dr.y"])")).questions.empty());
  EXPECT_TRUE(escalate(call(), fromText(R"({"queue":[]})")).questions.empty());
  mine_ = catalogue({"operator", "d", "A"}).value();
  EXPECT_TRUE(escalate(call(), queue()).questions.empty());
  EXPECT_EQ(catalogue({.token = "operator", .domain = "d", .role = "A", .counselor = "dr.y"}).error().code,
            ErrorCode::notFound);
}

TEST_F(McpAct, AStateIsGoodOnceForItsCallAndNotForLong) {
  const char* arguments = R"({"entity":"e","action":{"n":1}})";
  std::string state = askedState();
  EXPECT_EQ(codeOf(call(R"({"entity":"e","action":{"n":2}})", state, decides(kCommit))), kInvalidParams);
  EXPECT_EQ(codeOf(call(R"({"entity":"f","action":{"n":1}})", state, decides(kCommit))), kInvalidParams);
  EXPECT_EQ(codeOf(call(arguments, state, decides(kCommit))), 0);
  EXPECT_EQ(codeOf(call(arguments, state, decides(kCommit))), kInvalidParams);  // used
  state = askedState();
  now_ += 1001;
  EXPECT_EQ(codeOf(call(arguments, state, decides(kCommit))), kInvalidParams);  // expired
  state = askedState();
  for (std::size_t i = 0; i < state.size(); i += 7) {
    std::string forged = state;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(codeOf(call(arguments, forged, decides(kCommit))), kInvalidParams) << i;
  }
  for (const std::string& bad : {std::string("."), std::string("x"), state + "x", state.substr(1), state.substr(0, 20)})
    EXPECT_EQ(codeOf(call(arguments, bad, decides(kCommit))), kInvalidParams);
  SeededRandom other(8);
  Seals elsewhere(other);
  const Step step = Act(mine_, elsewhere, call(arguments, state, decides(kCommit))).begin(now_);
  EXPECT_EQ(std::get<Outcome>(step).code, kInvalidParams);
  mine_ = catalogue({.token = "admin", .domain = "d", .role = "A", .counselor = "dr.x"}).value();  // another token's
  EXPECT_EQ(codeOf(call(arguments, state, decides(kCommit))), kInvalidParams);
}

TEST_F(McpAct, StatesThatAreOutAreFew) {
  const std::string first = askedState();
  for (int i = 0; i < 4; ++i) (void)askedState();
  EXPECT_EQ(codeOf(call(R"({"entity":"e","action":{"n":1}})", first, decides(kCommit))), kInvalidParams);
}

TEST_F(McpAct, AnAnswerThatIsNoneIsAskedForAgain) {
  const char* arguments = R"({"entity":"e","action":{"n":1}})";
  for (const json::object& bad :
       {json::object{}, json::object{{"action", "accept"}}, json::object{{"action", "maybe"}}, decides("approve"),
        decides("commit"), decides("commit", ""), json::object{{"action", "accept"}, {"content", json::array()}},
        decides("commit", std::string(1001, 'x').c_str())}) {
    const Step step = Act(mine_, seals_, call(arguments, askedState(), bad)).begin(now_);
    const auto& outcome = std::get<Outcome>(step);
    EXPECT_FALSE(outcome.questions.empty()) << canonicalJson(bad);
    EXPECT_EQ(codeOf(call(arguments, outcome.state, decides("reject"))), 0);
  }
  const Step declined = Act(mine_, seals_, call(arguments, askedState(), {{"action", "decline"}})).begin(now_);
  EXPECT_EQ(std::get<Outcome>(declined).result.at("structuredContent").at("outcome"), "escalated");
}

TEST_F(McpAct, AResourceIsASliceOrALedger) {
  for (const char* uri : {"witan://d/e/slice/A", "witan://d/e/ledger", "witan://d/a%2Fb%20c/ledger"})
    EXPECT_TRUE(parseResource(uri)) << uri;
  EXPECT_EQ(parseResource("witan://d/a%2Fb%20c/ledger")->entity, "a/b c");
  for (const char* uri : {"", "witan://", "witan://d", "witan://d/e", "witan://d/e/slice", "witan://d/e/slice/",
                          "witan://d//ledger", "witan://d/e/ledger/", "witan://d/e/ledger/x", "witan://d/%/ledger",
                          "witan://d/%2/ledger", "witan://d/%zz/ledger", "http://d/e/ledger", "WITAN://d/e/ledger"})
    EXPECT_FALSE(parseResource(uri)) << uri;
  EXPECT_FALSE(parseResource("witan://d/" + std::string(2000, 'e') + "/ledger"));
}

TEST_F(McpAct, AParticipantReadsNoResourceOfAnother) {
  const Offer offer = mine_.offer();
  EXPECT_TRUE(offer.readable("witan://d/e/slice/A"));
  EXPECT_TRUE(offer.readable("witan://d/e/ledger"));
  for (const char* uri :
       {"witan://d/e/slice/B", "witan://other/e/slice/A", "witan://other/e/ledger", "witan://d/e/slice/C"})
    EXPECT_FALSE(offer.readable(uri)) << uri;
  const Catalogue all = catalogue({"observer"}).value();
  EXPECT_TRUE(all.offer().readable("witan://d/e/slice/B"));
  EXPECT_FALSE(all.offer().readable("witan://other/e/ledger"));
  const Tool* tool = nullptr;
  EXPECT_EQ(canonicalJson(mine_.resource("witan://d/e/slice/A", tool)->body),
            R"({"domain":"d","entity":"e","role":"A"})");
  EXPECT_EQ(canonicalJson(all.resource("witan://d/e/slice/B", tool)->body),
            R"({"domain":"d","entity":"e","role":"B"})");
}

TEST_F(McpAct, AReadingAnswersTheRequestOfItsTool) {
  Act act(mine_, seals_, readingOf("witan://d/e/slice/A"));
  EXPECT_EQ(std::get<ApiRequest>(act.begin(0)).path, "/v1/slice");
  const Step read = act.answered(fromText(R"({"state":{"n":1}})"), 0);
  const json::value part = std::get<Outcome>(read).result.at("contents").at(0);
  EXPECT_EQ(part.at("uri"), "witan://d/e/slice/A");
  EXPECT_EQ(part.at("text"), R"({"state":{"n":1}})");
  Act missing(mine_, seals_, readingOf("witan://d/e/ledger"));
  (void)missing.begin(0);
  EXPECT_EQ(std::get<Outcome>(missing.answered(Error{ErrorCode::notFound, "no", ""}, 0)).code, kInvalidParams);
}

TEST_F(McpAct, AWatchTellsAChangeOfWhatIsSeen) {
  Watch watch;
  const auto reading = [&](const char* text) {
    Act act(mine_, seals_, readingOf("witan://d/e/slice/A"));
    (void)act.begin(0);
    return std::get<Outcome>(act.answered(fromText(text), 0));
  };
  EXPECT_FALSE(watch.changed("u", protocolError(kInvalidParams, "not yet")));
  EXPECT_TRUE(watch.changed("u", reading(R"({"state":{"n":1},"at":"1","ageSeconds":1})")));
  EXPECT_FALSE(watch.changed("u", reading(R"({"state":{"n":1},"at":"2","ageSeconds":2})")));
  EXPECT_TRUE(watch.changed("u", reading(R"({"state":{"n":2},"at":"2","ageSeconds":2})")));
  EXPECT_TRUE(watch.changed("u", reading(R"({"state":{"n":2,"clock":"1"},"frozen":true})")));
  EXPECT_FALSE(watch.changed("u", reading(R"({"state":{"n":2,"clock":"2"},"frozen":true})")));
  watch.keep({});
  EXPECT_FALSE(watch.knows("u"));
}

}  // namespace
}  // namespace witan::mcp_act_test
