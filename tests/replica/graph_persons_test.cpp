// Gates of graphs whose people have keys: an answer counts with the person's signature of exactly what was shown, and
// no copy takes another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kernel/ledger/ledger_verify.h"
#include "kernel/record/statement.h"
#include "replica/core/entry_evidence.h"
#include "tests/replica/graph_stage.h"
#include "tests/replica/person_keys.h"

namespace witan::node::test::graph_persons_test {
namespace {

using kernel::Outcome;
using ::testing::Contains;
using ::testing::HasSubstr;

SigningKey keyOfDoctor() { return PersonKeys::keyOfPerson(); }

class GraphPersons : public ::testing::Test {
 protected:
  GraphPersons()
      : stage_(gateDocument(600'000), std::vector<std::shared_ptr<const AgentSetup>>(2, gateSetup()), {},
               [this](std::size_t n, ReplicaConfig& config) {
                 config.heads = keys_[n];
                 config.signedAnswers = n == 1;  // the owner's own setting binds no copy
               }) {
    stage_.deploy();
    stage_.send(a_, "in", "x", {{"k", "tea"}});
    EXPECT_TRUE(stage_.rounds([&] { return stage_.asks(a_) && stage_.asks(b_); })) << stage_.words(a_);
  }
  static std::string signedBy(const SigningKey& key, json::object action) {
    action.erase("signature");
    const std::string text = canonicalJson(action);
    kernel::Statement statement{"test", "graph", "propose", "gate"};
    statement.role = "Person", statement.action = text;
    return toHex(key.publicKey()) + toHex(key.sign(kernel::personsWord(statement, {})->text));
  }
  Request requestOf(const json::object& action, const std::string& agent = "") {
    Request request = *proposalRequest(graphs(), "gate", "Person", concat("answer-", ++asked_), action);
    request.agent = agent;
    return request;
  }
  // What the owner says.
  Answer ask(Device& device, const Request& request) {
    stage_.submit(device, request);
    stage_.rounds([&] { return device.answered(request.operationId) != nullptr; }, 20);
    const Answer* answer = device.answered(request.operationId);
    return answer == nullptr ? Answer() : *answer;
  }
  int asked_ = 0;
  std::vector<std::shared_ptr<PersonKeys>> keys_{std::make_shared<PersonKeys>("a", "dr", "graph"),
                                                 std::make_shared<PersonKeys>("b", "dr", "graph")};
  Stage stage_;
  Device &a_ = stage_.cluster.a(), &b_ = stage_.cluster.b();
};

TEST_F(GraphPersons, AnAnswerNeedsTheSignatureOfThePerson) {
  json::object answer = stage_.answerOf(b_, "dr", true);
  EXPECT_THAT(ask(b_, requestOf(answer)).message, HasSubstr("bears no signature of dr"));
  answer["signature"] = "no hex";
  EXPECT_THAT(ask(b_, requestOf(answer)).message, HasSubstr("is not one by which dr may answer"));
  answer["signature"] = signedBy(keyOfDevice("b"), answer);
  EXPECT_THAT(ask(b_, requestOf(answer)).message, HasSubstr("is not one by which dr may answer for graph"));
  const std::string good = signedBy(keyOfDoctor(), answer);
  answer["signature"] = good;
  EXPECT_THAT(ask(b_, requestOf(answer, "clerk")).message, HasSubstr("the agent clerk may not answer for dr"));
  // It binds to all that it says: the answer, the question and what was shown.
  const json::object others{{"approve", false}, {"span", std::string(64, 'a')}, {"digest", std::string(64, 'b')}};
  for (const auto& [member, other] : others) {
    json::object changed = answer;
    changed[member] = other;
    EXPECT_THAT(ask(b_, requestOf(changed)).message, HasSubstr("is not of this answer")) << member;
  }
  ASSERT_TRUE(stage_.asks(a_));
  EXPECT_EQ(ask(b_, requestOf(answer)).outcome, Outcome::approved);
  EXPECT_TRUE(stage_.rounds([&] { return stage_.statusOf(b_, "x") == "completed"; })) << stage_.words(a_);
  EXPECT_THAT(accusedBy(b_), ::testing::IsEmpty());
  for (Device* device : {&a_, &b_})
    EXPECT_EQ(kernel::verifyLedger(device->replica().host("graph/0")->rows(), {&graphs(), std::nullopt})->problem, "");
}

// The same as the console's (console/tests/person.test.ts).
TEST_F(GraphPersons, TheTextThatIsSigned) {
  const auto many = [](const char* two) {
    std::string all;
    for (int i = 0; i < 32; ++i) all += two;
    return all;
  };
  const std::string action = canonicalJson(json::object{{"type", "Answer"},
                                                        {"run", many("cd")},
                                                        {"node", "doctor"},
                                                        {"span", many("ef")},
                                                        {"digest", many("ab")},
                                                        {"by", "dr"},
                                                        {"approve", true},
                                                        {"signature", "00"}});
  kernel::Statement statement{"test", "graph", "propose", "gate"};
  statement.role = "Person", statement.action = action;
  EXPECT_EQ(toHex(sha256(kernel::personsWord(statement, {})->text)),
            "2f02ca6a8bbaacf0c6bc878d745e4e81e7fb181f3245bcaf1dcb3fa523946a0a");
}

// Whatever the owner lets pass.
TEST_F(GraphPersons, ACopyTakesNoAnswerThatThePersonDidNotSign) {
  keys_[0]->lax = true;
  json::object answer = stage_.answerOf(a_, "dr", true);
  const std::uint64_t before = b_.replica().host("graph/0")->partition().size();
  EXPECT_EQ(ask(a_, requestOf(answer)).outcome, Outcome::approved);
  stage_.rounds([] { return false; }, 20);
  EXPECT_EQ(b_.replica().host("graph/0")->partition().size(), before);
  EXPECT_THAT(accusedBy(b_), Contains("unsigned a"));
}

TEST_F(GraphPersons, NorOneWithAForgedSignature) {
  json::object answer = stage_.answerOf(a_, "dr", true);
  std::string forged = signedBy(keyOfDoctor(), answer);
  forged.back() = forged.back() == '0' ? '1' : '0';
  answer["signature"] = forged;
  const std::uint64_t before = b_.replica().host("graph/0")->partition().size();
  Request request = requestOf(answer);
  request.device = "a";
  a_.replica().sign({&request, 1});
  // As an owner that does not look.
  ASSERT_EQ(a_.replica().host("graph/0")->decideAs(request, request, at(a_.ms).wall, "").outcome, Outcome::approved);
  stage_.rounds([] { return false; }, 20);
  EXPECT_EQ(b_.replica().host("graph/0")->partition().size(), before);
  EXPECT_THAT(accusedBy(b_), Contains("forgedName a"));
  ASSERT_EQ(b_.replica().evidence().size(), 1u);
  EXPECT_TRUE(verifyEvidence(b_.replica().evidence().begin()->second).ok());
}

}  // namespace
}  // namespace witan::node::test::graph_persons_test
