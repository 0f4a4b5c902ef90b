// Checker "episodes" (sim/check/episode_rules.h): a transcript in which it passes, and those in which it fires.
#include "sim/check/episode_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace witan::sim::episode_rules_test {
namespace {

using ::testing::HasSubstr;

const RunKey kRun{sha256("run")};

MeantAgent clerk() {
  MeantAgent meant{.tokens = 100};
  meant.tools = {{"read", {}},
                 {"ask", {.tokens = 10}},
                 {"put", {.action = true, .uses = 1, .folders = {"done/"}}},
                 {"mail", {.action = true, .fields = {"text"}, .confirmed = true}},
                 {"pay", {.action = true, .asked = true}}};
  return meant;
}

// The run reads, asks (which costs more than it thought), puts, mails and pays.
class Episodes : public ::testing::Test {
 protected:
  Episodes() {
    add(R"({"entry":"begin","agent":"clerk","device":"a","run":"@run","seed":0,"input":{"mood":1},
        "grant":{"budget":{"steps":20,"tokens":100,"seconds":3600},"locale":["here"]},
        "tools":[{"name":"ask"},{"name":"mail"},{"name":"pay"},{"name":"put"},{"name":"read"}]})");
    at(0)["run"] = kRun.hex();
    const Hash digest = sha256("v1|seed|" + kRun.hex());
    std::int64_t seed = 0;
    for (std::size_t i = 0; i < 6; ++i) seed = seed * 256 + digest[i];
    at(0)["seed"] = seed;
    add(R"({"entry":"look","span":"1","tool":"read","tokens":0,"verdict":{"kind":"allow"}})");
    add(R"({"entry":"look","span":"2","tool":"ask","tokens":10,"verdict":{"kind":"allow"}})");
    add(R"({"entry":"observation","span":"1","ok":true,"content":{"id":"e"}})");
    add(R"({"entry":"observation","span":"2","ok":true,"content":"long","tokens":30})");
    add(R"({"entry":"plan","actions":[
        {"tool":"put","targets":["done/1"],"arguments":{"id":"done/1"}},
        {"tool":"mail","targets":[],"arguments":{"text":"t","private":"p"}},
        {"tool":"pay","targets":[],"arguments":{"to":"x"}}]})");
    add(R"({"entry":"intended","action":0,"span":"p","tool":"put","arguments":{"id":"done/1"},
        "verdict":{"kind":"allow"}})");
    add(R"({"entry":"intended","action":1,"span":"m","tool":"mail","arguments":{"text":"t","private":"p"},
        "verdict":{"kind":"redact","arguments":{"text":"t"}}})");
    add(R"({"entry":"intended","action":2,"span":"q","tool":"pay","arguments":{"to":"x"},
        "verdict":{"kind":"requireHuman"}})");
    add(R"({"entry":"outcome","span":"p","outcome":"applied"})");
    add(R"({"entry":"answer","span":"q","approved":true,"by":"ann","digest":"d1","verdict":{"kind":"allow"}})");
    add(R"({"entry":"outcome","span":"m","outcome":"applied","seconds":4})");
    add(R"({"entry":"outcome","span":"q","outcome":"applied"})");
    add(R"({"entry":"end","status":"completed","cause":"","spent":{"steps":2,"tokens":30,"seconds":4}})");
    seen_.outside["2"] = {1, {{json::value("long"), 30, true}}};
  }

  void add(const char* text) { seen_.entries.push_back(json::parse(text).as_object()); }
  json::object& at(std::size_t n) { return seen_.entries[n]; }
  json::object& verdict(std::size_t n) { return at(n)["verdict"].as_object(); }
  void deny(std::size_t n, const char* token) { at(n)["verdict"] = json::object{{"kind", "deny"}, {"token", token}}; }

  std::string check(const MeantAgent& meant = clerk()) {
    Hash chain{};
    for (json::object& entry : seen_.entries) {
      if (entry.at("entry") == "end" && !forged_) entry["transcript"] = toHex(chain);
      chain = sha256(concat(asView(chain), canonicalJson(entry)));
    }
    return checkEpisode(seen_, meant);
  }

  enum Entry : std::size_t {
    kBegin,
    kRead,
    kAsk,
    kRead2,
    kHeard,
    kPlan,
    kPut,
    kMail,
    kPay,
    kPutDone,
    kYes,
    kMailDone,
    kPayDone,
    kEnd
  };
  TranscriptSeen seen_{.name = "run/a", .agent = "clerk", .device = "a", .run = kRun};
  bool forged_ = false;
};

TEST_F(Episodes, MayDoWhatTheirAgentsMean) { EXPECT_EQ(check(), ""); }

TEST_F(Episodes, HearWhatPeopleSaid) {
  const SaidByPeople said{{"ann", "d1", true}}, other{{"ann", "d2", true}, {"ann", "d1", false}, {"bob", "d1", true}};
  seen_.said = &said;
  EXPECT_EQ(check(), "");
  seen_.said = &other;
  EXPECT_THAT(check(), HasSubstr("ann approved something by it, and never said so"));
  at(kYes)["by"] = "system";
  EXPECT_EQ(check(), "") << "nobody answered in time";
}

TEST_F(Episodes, AreNotCutShort) {
  deny(kPut, "out_of_scope");
  EXPECT_THAT(check(), HasSubstr("the verdict on put is deny (out_of_scope), and should be allow"));
}

TEST_F(Episodes, LookOnlyAsFarAsTheyAreMeantTo) {
  deny(kAsk, "budget_exhausted");
  EXPECT_THAT(check(), HasSubstr("verdict on ask"));
  MeantAgent poor = clerk();
  poor.tokens = 5, at(kBegin)["grant"].as_object()["budget"].as_object()["tokens"] = 5;
  at(kHeard) = json::parse(R"({"entry":"observation","span":"2","ok":false,"error":"budget_exhausted"})").as_object();
  at(kEnd)["spent"].as_object()["tokens"] = 0;
  EXPECT_EQ(check(poor), "");
  verdict(kAsk)["kind"] = "allow";
  EXPECT_THAT(check(poor), HasSubstr("should be deny (budget_exhausted)"));
}

TEST_F(Episodes, TouchOnlyWhatTheyMay) {
  at(kPlan)["actions"].as_array()[0].as_object()["targets"] = json::array{"other/1"};
  EXPECT_THAT(check(), HasSubstr("should be deny (beyond_context)"));
}

TEST_F(Episodes, ActOnlySoOften) {
  MeantAgent never = clerk();
  never.tools["put"].uses = 0;
  EXPECT_THAT(check(never), HasSubstr("should be deny (beyond_context)"));
}

TEST_F(Episodes, UseOnlyTheirTools) {
  MeantAgent less = clerk();
  less.tools.erase("pay");
  EXPECT_THAT(check(less), HasSubstr("it holds the tool pay"));
  MeantAgent more = clerk();
  more.tools["shout"] = {};
  EXPECT_THAT(check(more), HasSubstr("it does not hold the tool shout"));
  less.tools["pay"] = {};
  EXPECT_THAT(check(less), HasSubstr("should be deny (wrong_kind)"));
}

TEST_F(Episodes, SendWhatMayGoOutside) {
  verdict(kMail)["arguments"] = json::object{{"private", "p"}, {"text", "t"}};
  EXPECT_THAT(check(), HasSubstr("what goes outside"));
  verdict(kMail)["arguments"] = json::object{};
  EXPECT_THAT(check(), HasSubstr("what goes outside"));
}

TEST_F(Episodes, MailWhereThatIsConfirmed) {
  deny(kMail, "privacy_confirmation_required");
  EXPECT_THAT(check(), HasSubstr("verdict on mail"));
  seen_.unconfirmed = true;
  EXPECT_EQ(check(), "");
}

TEST_F(Episodes, PayWhatPeopleApprove) {
  verdict(kPay)["kind"] = "allow";
  EXPECT_THAT(check(), HasSubstr("should be requireHuman"));
  verdict(kPay)["kind"] = "requireHuman";
  at(kYes)["approved"] = false;
  EXPECT_THAT(check(), HasSubstr("what a person refused goes on"));
  at(kYes)["approved"] = true;
  deny(kYes, "denied_by_person");
  EXPECT_THAT(check(), HasSubstr("what a person approved is denied_by_person"));
  deny(kYes, "approval_is_stale");
  EXPECT_EQ(check(), "");
}

TEST_F(Episodes, HoldTheBudgetThatIsMeant) {
  at(kBegin)["grant"].as_object()["budget"].as_object()["steps"] = 21;
  EXPECT_THAT(check(), HasSubstr("it may spend 21 steps, and 20 are meant"));
  at(kBegin)["grant"].as_object()["budget"].as_object()["steps"] = 19;
  EXPECT_THAT(check(), HasSubstr("it may spend 19 steps"));
  MeantAgent narrowed = clerk();
  narrowed.narrowed = true;
  EXPECT_EQ(check(narrowed), "");
}

TEST_F(Episodes, CountWhatTheySpend) {
  for (const auto& [part, amount] : {std::pair("tokens", 10), {"seconds", 3}, {"steps", 3}, {"steps", 0}}) {
    json::object& spent = at(kEnd)["spent"].as_object();
    const json::value before = std::exchange(spent[part], amount);
    EXPECT_THAT(check(), HasSubstr("should have spent")) << part;
    spent[part] = before;
  }
  EXPECT_EQ(check(), "");
}

TEST_F(Episodes, HearWhatToolsSay) {
  at(kHeard)["content"] = "brief";
  EXPECT_THAT(check(), HasSubstr("hears of ask what that did not say"));
  at(kHeard)["ok"] = false;
  at(kHeard)["error"] = "nothing";
  EXPECT_THAT(check(), HasSubstr("ask answered each time, and it hears: nothing"));
  seen_.outside["2"].answers[0].inTime = false;
  EXPECT_EQ(check(), "");
}

TEST_F(Episodes, AreChargedWhatToolsCost) {
  at(kHeard).erase("tokens");
  at(kEnd)["spent"].as_object()["tokens"] = 10;
  EXPECT_THAT(check(), HasSubstr("ask cost 30 tokens, and 10 are counted"));
}

TEST_F(Episodes, FailForAReason) {
  at(kEnd)["status"] = "failedTerminal";
  EXPECT_THAT(check(), HasSubstr("nothing was in its way"));
  MeantAgent moody = clerk();
  moody.fails = [](const json::object& input) { return input.at("mood") == 1; };
  EXPECT_EQ(check(moody), "");
  at(kMailDone)["outcome"] = "failed";
  EXPECT_EQ(check(), "");
}

TEST_F(Episodes, AreNotWokenByWhatThePolicyBars) {
  MeantAgent deaf = clerk();
  deaf.byPeople = false;
  EXPECT_EQ(check(deaf), "");
  at(kBegin)["input"].as_object()["reason"] = "user";
  EXPECT_EQ(check(), "");
  EXPECT_THAT(check(deaf), HasSubstr("what somebody said has woken it"));
}

TEST_F(Episodes, EndWithTheirDigest) {
  forged_ = true;
  at(kEnd)["transcript"] = toHex(sha256("another"));
  EXPECT_THAT(check(), HasSubstr("its digest is of another transcript"));
}

TEST_F(Episodes, AreOfTheirRun) {
  at(kBegin)["seed"] = 7;
  EXPECT_THAT(check(), HasSubstr("its seed is not that of the run"));
  at(kBegin)["run"] = "another";
  EXPECT_THAT(check(), HasSubstr("it is of another run"));
}

}  // namespace
}  // namespace witan::sim::episode_rules_test
