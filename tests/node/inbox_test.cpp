// `witan inbox`: what waits for a person, what each answer would do, and the answer.
#include <gtest/gtest.h>

#include "program/error_report.h"
#include "tests/node/node_process.h"

namespace witan::node::inbox_test {
namespace {

using test::Node;
using test::Scratch;

const char* const kBan = R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"p1","evidence":["L1"]})";

// A ban that waits for a human, on a running node.
class InboxOfANode : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(node_.init(1).exitCode, 0);
    ASSERT_TRUE(node_.up()) << node_.log();
    ASSERT_EQ(node_.run({"begin", "moderation", "L"}).exitCode, 0);
    propose("SignalTriage",
            R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule v2"})");
    propose("UserNotice",
            R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"a post","clause":"4.2","redress":"appeal"})");
    propose("Enforcement", kBan);
  }
  void propose(const char* role, const char* action) {
    ASSERT_EQ(node_.run({"propose", "moderation", "L", role, action}).exitCode, 0);
  }
  json::value only() const {
    const json::value inbox = node_.runJson({"inbox"});
    EXPECT_EQ(inbox.at("waiting"), 1);
    return inbox.at("items").at(0);
  }

  const Scratch scratch_;
  Node node_{scratch_, "a", "\n"};
};

TEST_F(InboxOfANode, SaysWhatEachAnswerWouldDo) {
  const json::value item = only();
  EXPECT_EQ(item.at("kind"), "proposal");
  EXPECT_EQ(item.at("subject"), "L");
  ASSERT_EQ(item.at("choices").as_array().size(), 2u);
  EXPECT_EQ(item.at("choices").at(0).at("choice"), "commit");
  EXPECT_EQ(item.at("choices").at(0).at("unsafe"), true);
  EXPECT_EQ(item.at("choices").at(1).at("unsafe"), false);
  EXPECT_EQ(node_.run({"inbox", std::string(item.at("id").as_string()), "--kind", "approval"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.runJson({"inbox", "--kind", "approval"}).at("waiting"), 0);
}

TEST_F(InboxOfANode, TakesTheAnswerOnceAndWithAName) {
  const std::string id(only().at("id").as_string());
  EXPECT_EQ(node_.run({"inbox", id, "reject"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "commit", "--by", "human.lead"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "shrug", "--by", "human.lead"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "commit", "--by", "a stranger", "--unsafe"}).exitCode, kExitFailed);
  const json::value made =
      node_.runJson({"inbox", id.substr(id.find(':') + 1), "reject", "--by", "human.lead", "--reason", "no evidence"});
  EXPECT_EQ(made.at("outcome"), "cRejected");
  EXPECT_EQ(node_.runJson({"inbox"}).at("waiting"), 0);
  EXPECT_EQ(node_.run({"inbox", id, "reject", "--by", "human.lead"}).exitCode, kExitFailed);
}

}  // namespace
}  // namespace witan::node::inbox_test
