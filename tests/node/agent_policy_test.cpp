// Agents under the policy of their data directory, by the program itself: what it grants goes as before, all else is
// blocked; people are asked, and what they confirmed is kept as receipts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/node/node_process.h"
#include "tests/node/program.h"
#include "tests/node/replica.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::agent_policy_test {
namespace {

namespace fs = std::filesystem;
using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kExamples = std::string(witan::tests::kSourceDir) + "/docs/examples/";
const std::string kDay = kExamples + "clinic-day.jsonl";

std::string clinicPolicy() { return test::contentOf(kExamples + "clinic-policy.toml"); }

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), instead);
}

const std::string kProposals = "name = \"propose\"";

// A data directory under a policy.
class Clinic {
 public:
  explicit Clinic(const std::string& policy) : dir_(scratch_ / "clinic") {
    fs::create_directory(dir_);
    setPolicy(policy);
    std::ifstream day(kDay);
    for (std::string line; std::getline(day, line);) lines_.push_back(line);
  }
  void setPolicy(const std::string& text) const { std::ofstream(dir_ + "/policy.toml") << text; }
  Finished run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--dir", dir_});
    return runWitan(words);
  }
  // Lines of the day, from 0.
  Finished feed(std::initializer_list<std::size_t> numbers) const {
    std::string text;
    for (const std::size_t number : numbers) text += lines_.at(number) + "\n";
    return feedLine(text);
  }
  Finished feedLine(const std::string& text) const {
    scratch_.write("feed.jsonl", text);
    return run({"agent", "run", "--feed", scratch_ / "feed.jsonl"});
  }
  // Transcripts of an agent, one after the other.
  std::string transcripts(const std::string& agent) const {
    std::string all;
    std::istringstream list(run({"episode", "list"}).out);
    for (std::string line; std::getline(list, line);)
      if (line.find("  " + agent + "  ") != std::string::npos)
        all += run({"episode", "show", line.substr(0, line.find(' '))}).out;
    return all;
  }
  std::string entries() const {
    const json::value report = *parseJson(run({"agent", "check", "--json"}).out);
    return canonicalJson(report.at("entries"));
  }
  json::value question() const {
    const Finished listed = run({"approval", "list", "--json"});
    auto parsed = parseJson(listed.out);
    EXPECT_TRUE(parsed.ok()) << listed.out << listed.err;
    return parsed.ok() ? parsed->at("approvals").at(0) : json::value(nullptr);
  }
  const std::string& dir() const { return dir_; }

 private:
  Scratch scratch_;
  std::string dir_;
  std::vector<std::string> lines_;
};

std::string textOf(const json::value& object, const char* member) { return std::string(object.at(member).as_string()); }

TEST(AgentPolicy, UnderTheClinicsPolicyTheDayGoesAsWithout) {
  const Clinic clinic(clinicPolicy());
  const Finished ran = clinic.run({"agent", "run", "--feed", kDay});
  EXPECT_THAT(ran.out, HasSubstr("started 11, completed 10, failed 1, plans 6, looks 18, actions 7, proposals 6"));
  EXPECT_EQ(
      clinic.run({"agent", "check"}).out,
      "ok: 7 operations, one effect each (1 in the journal); 11 runs ended; the ledgers verify, with 5 entries\n");
  EXPECT_THAT(clinic.transcripts("udt-lab"), HasSubstr("\"policy\":\"clinic 1 "));
}

TEST(AgentPolicy, WhatItDoesNotGrantIsBlockedAndSaid) {
  const Clinic clinic("name = \"closed\"\nversion = 1\n");
  (void)clinic.run({"agent", "run", "--feed", kDay});
  EXPECT_EQ(clinic.entries(), "0");
  EXPECT_THAT(clinic.transcripts("udt-lab"), HasSubstr("out_of_scope"));
  EXPECT_EQ(clinic.run({"journal", "get", "digest/2026-03-23"}).exitCode, 1);
}

TEST(AgentPolicy, AFieldThatMayNotCrossBlocksTheCall) {
  const Clinic clinic(with(clinicPolicy(), "\"action.code\", ", ""));
  (void)clinic.feed({0, 1});
  EXPECT_EQ(clinic.entries(), "1");  // the rationale; not the order
  const std::string transcripts = clinic.transcripts("udt-lab");
  EXPECT_THAT(transcripts, HasSubstr("overshared_payload_blocked"));
  EXPECT_THAT(transcripts, HasSubstr("action.code"));
}

TEST(AgentPolicy, APolicyThatCannotBeReadStopsTheAgentsAndNamesTheLine) {
  const Clinic clinic(clinicPolicy());
  const std::pair<std::string, const char*> wrong[] = {
      {"name = \"clinic\"\nversion = 1\n[[boundery]]\n", "policy.toml:3:"},
      {"name = \"clinic\"\nversion = 0\n", "policy.toml:2:"},
      {"name = \"clinic\nversion = 1\n", "policy.toml:1:"},
      {"", "policy.toml"},
  };
  for (const auto& [text, place] : wrong) {
    clinic.setPolicy(text);
    const Finished ran = clinic.run({"agent", "run", "--feed", kDay});
    EXPECT_EQ(ran.exitCode, 1) << text;
    EXPECT_THAT(ran.err, HasSubstr(place)) << text;
    EXPECT_EQ(clinic.run({"policy", "check"}).err, ran.err) << "one reader, one message";
  }
  // A policy that is there in name only must not open everything either.
  fs::remove(clinic.dir() + "/policy.toml");
  fs::create_symlink("nowhere", clinic.dir() + "/policy.toml");
  EXPECT_EQ(clinic.run({"agent", "run", "--feed", kDay}).exitCode, 1);
  EXPECT_FALSE(fs::exists(clinic.dir() + "/replica.json")) << "nothing was begun";
}

// F17, by the program: an approval of a changed proposal is refused.
TEST(AgentPolicy, WhatNeedsAPersonWaitsForOneAndIsDoneAsShown) {
  const Clinic clinic(with(clinicPolicy(), kProposals, kProposals + "\nrequire-human = true"));
  const Finished asked = clinic.feed({0, 1});
  EXPECT_EQ(asked.exitCode, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("agent question  udt-lab asks to propose"));
  EXPECT_EQ(clinic.entries(), "0");
  const json::value questions = *parseJson(clinic.run({"approval", "list", "--json"}).out);
  std::size_t count = 0;
  for (const json::value& question : questions.at("approvals").as_array()) {
    ++count;
    const std::string operation = textOf(question, "operation");
    const Finished stale =
        clinic.run({"approval", "approve", operation, "--digest", std::string(64, 'a'), "--by", "ann"});
    EXPECT_EQ(stale.exitCode, 1);
    EXPECT_THAT(stale.err, HasSubstr("another one by now"));
    EXPECT_EQ(
        clinic.run({"approval", "approve", operation, "--digest", textOf(question, "digest"), "--by", "ann"}).exitCode,
        0);
  }
  EXPECT_EQ(count, 2u);  // the rationale and the order
  const Finished done = clinic.feed({0, 1});
  EXPECT_EQ(done.exitCode, 0) << done.out << done.err;
  EXPECT_EQ(clinic.entries(), "2");
  EXPECT_THAT(clinic.transcripts("udt-lab"), HasSubstr("\"by\":\"ann\""));
}

// Each feed is a process of its own.
TEST(AgentPolicy, WhatIsApprovedWhileItsAgentIsPausedIsDoneWhenItIsResumed) {
  const Clinic clinic(with(clinicPolicy(), kProposals, kProposals + "\nrequire-human = true"));
  (void)clinic.feed({0, 1});
  ASSERT_EQ(clinic.run({"agent", "pause", "udt-lab"}).exitCode, 0);
  (void)clinic.feed({0, 1});
  const json::value questions = *parseJson(clinic.run({"approval", "list", "--json"}).out);
  ASSERT_EQ(questions.at("approvals").as_array().size(), 2u);
  for (const json::value& question : questions.at("approvals").as_array())
    ASSERT_EQ(clinic
                  .run({"approval", "approve", textOf(question, "operation"), "--digest", textOf(question, "digest"),
                        "--by", "ann"})
                  .exitCode,
              0);
  EXPECT_EQ(clinic.feed({0, 1}).exitCode, 0);
  EXPECT_EQ(clinic.entries(), "0");
  ASSERT_EQ(clinic.run({"agent", "resume", "udt-lab"}).exitCode, 0);
  EXPECT_EQ(clinic.feed({0, 1}).exitCode, 0);
  EXPECT_EQ(clinic.entries(), "2");
}

// It would be denied as stale when the person had been told that it happens.
TEST(AgentPolicy, NobodyApprovesWhatWasAskedUnderAnotherPolicy) {
  const std::string policy = with(clinicPolicy(), kProposals, kProposals + "\nrequire-human = true");
  const Clinic clinic(policy);
  (void)clinic.feed({0, 1});
  const json::value question = clinic.question();
  const auto answer = [&](const char* how) {
    return clinic.run(
        {"approval", how, textOf(question, "operation"), "--digest", textOf(question, "digest"), "--by", "ann"});
  };
  clinic.setPolicy(with(policy, "version = 1", "version = 2"));
  const Finished refused = answer("approve");
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("an approval would not count"));
  EXPECT_THAT(clinic.question().as_object().at("verdict").as_string(), HasSubstr("waiting"));
  clinic.setPolicy(policy);
  EXPECT_EQ(answer("approve").exitCode, 0);
}

TEST(AgentPolicy, WhatAPersonDeniesIsNotDone) {
  const Clinic clinic(with(clinicPolicy(), kProposals, kProposals + "\nrequire-human = true"));
  (void)clinic.feed({0, 1});
  const json::value questions = *parseJson(clinic.run({"approval", "list", "--json"}).out);
  for (const json::value& question : questions.at("approvals").as_array()) {
    EXPECT_EQ(clinic
                  .run({"approval", "deny", textOf(question, "operation"), "--digest", textOf(question, "digest"),
                        "--by", "ann"})
                  .exitCode,
              0);
  }
  (void)clinic.feed({0, 1});
  EXPECT_EQ(clinic.entries(), "0");
  EXPECT_THAT(clinic.transcripts("udt-lab"), HasSubstr("denied_by_person"));
}

// A confirmation counts for one version of the policy, until it is taken back.
TEST(AgentPolicy, AConfirmationOpensWhatNeedsOne) {
  const std::string policy = with(clinicPolicy(), kProposals, kProposals + "\nconfirm = true");
  const Clinic clinic(policy);
  (void)clinic.feed({0, 1});
  EXPECT_EQ(clinic.entries(), "0");
  EXPECT_THAT(clinic.transcripts("udt-lab"), HasSubstr("privacy_confirmation_required"));

  const std::vector<std::string> use{"receipt", "confirm",        "--boundary", "meta-agent",
                                     "--by",    "dr.supervising", "--agent"};
  const auto confirm = [&](const char* agent) {
    std::vector<std::string> words = use;
    words.emplace_back(agent);
    return clinic.run(words);
  };
  const Finished confirmed = confirm("udt-clinical");
  EXPECT_EQ(confirmed.exitCode, 0) << confirmed.err;
  ASSERT_EQ(confirm("udt-lab").exitCode, 0);
  EXPECT_THAT(confirm("follow-up").err, HasSubstr("does not grant this use to \"follow-up\""));
  // The run that was denied is over; another order is another run.
  const Finished done = clinic.feedLine(
      R"({"at":"2026-03-23T10:00:00Z","id":"o9","type":"udt.order","payload":{"patient":"David","order":"O9",)"
      R"("kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","rationale":"treatment plan"}})");
  EXPECT_EQ(clinic.entries(), "2") << done.out << done.err;

  const std::string key = clinic.run({"receipt", "list"}).out.substr(0, 64);
  const Finished shown = clinic.run({"receipt", "show", key.substr(0, 10), "--json"});
  const json::value receipt = *parseJson(shown.out);
  EXPECT_EQ(textOf(receipt, "key"), key);
  EXPECT_EQ(textOf(receipt, "by"), "dr.supervising");
  EXPECT_EQ(receipt.as_object().size(), 10u) << "names and digests only: " << shown.out;
  EXPECT_EQ(clinic.run({"receipt", "withdraw", key}).exitCode, 0);
  EXPECT_THAT(clinic.run({"receipt", "show", key}).err, HasSubstr("there is no receipt"));

  clinic.setPolicy(with(policy, "version = 1", "version = 2"));
  (void)clinic.feedLine(
      R"({"at":"2026-03-23T15:00:00Z","id":"r9","type":"udt.result","payload":{"patient":"David","order":"O9",)"
      R"("outcome":"NEGATIVE","on":"2026-03-23"}})");
  EXPECT_EQ(clinic.entries(), "2");
}

TEST(AgentPolicy, ReceiptsReachTheOtherDevices) {
  test::Garden garden;
  const test::Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  std::ofstream(laptop.dir() + "/policy.toml") << with(clinicPolicy(), kProposals, kProposals + "\nconfirm = true");
  laptop.ok({"receipt", "confirm", "--agent", "udt-lab", "--boundary", "meta-agent", "--by", "ann"});
  EXPECT_EQ(phone.ok({"receipt", "list"}), "no use is confirmed\n");
  test::meet(laptop, phone);
  EXPECT_EQ(phone.ok({"receipt", "list"}), laptop.ok({"receipt", "list"}));
  EXPECT_THAT(phone.ok({"receipt", "list"}), HasSubstr("udt-lab  meta-agent  clinic 1  by ann"));
  phone.ok({"receipt", "withdraw", phone.ok({"receipt", "list"}).substr(0, 8)});
  test::meet(laptop, phone);
  EXPECT_EQ(laptop.ok({"receipt", "list"}), "no use is confirmed\n");
}

// The daemon: the same file, and failed runs in its status.
TEST(AgentPolicy, ARunningNodeWorksUnderIt) {
  const Scratch scratch;
  test::Node node(scratch, "clinic");
  ASSERT_EQ(node.init().exitCode, 0);
  std::ofstream(node.dir() + "/policy.toml") << "name = 1\nversion = 1\n";
  EXPECT_FALSE(node.up({"--agent", "udt-lab"}));
  EXPECT_THAT(node.log(), HasSubstr("policy.toml:1:"));
  std::ofstream(node.dir() + "/policy.toml") << "name = \"closed\"\nversion = 1\n";
  ASSERT_TRUE(node.up({"--agent", "udt-lab"})) << node.log();
  EXPECT_THAT(node.log(), HasSubstr("they work under a policy"));
  ASSERT_EQ(node.run({"journal", "put", "o1", "--type", "udt.order", "--text", "x"}).exitCode, 0);
  EXPECT_TRUE(test::until([&] {
    const json::value status = node.runJson({"status"});
    const json::value* runs = status.as_object().if_contains("agentRuns");
    return runs != nullptr && runs->at("started").as_int64() > 0;
  })) << node.log();
}

// The policy is read again while the node runs: a file with an error changes nothing and is said everywhere, one that
// is gone opens nothing, one that is right counts for the next call.
TEST(AgentPolicy, ARunningNodeReadsItAgain) {
  const Scratch scratch;
  test::Node node(scratch, "clinic");
  ASSERT_EQ(node.init().exitCode, 0);
  const auto set = [&](const std::string& text) { std::ofstream(node.dir() + "/policy.toml") << text; };
  const auto check = [&] {
    const json::value status = node.runJson({"status"});
    for (const json::value& one : status.at("checks").as_array())
      if (one.at("name") == "policy") return one;
    return json::value(nullptr);
  };
  const auto says = [&](const std::string& words) {
    return test::until([&] { return textOf(check(), "what").find(words) != std::string::npos; });
  };
  set("name = \"closed\"\nversion = 1\n");
  ASSERT_TRUE(node.up({"--agent", "udt-lab"})) << node.log();
  EXPECT_TRUE(says("agents work under: closed 1 ")) << check();

  set("name = \"closed\"\nversion = \n");
  node.signal(SIGHUP);
  EXPECT_TRUE(says("policy.toml:2:")) << check();
  EXPECT_THAT(textOf(check(), "what"), HasSubstr("agents work under: closed 1 "));
  EXPECT_THAT(node.log(), HasSubstr("the policy was not taken"));
  EXPECT_TRUE(node.ready()) << "it serves all the same";
  const Finished doctor = node.run({"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("node.policy")) << doctor.err;

  fs::remove(node.dir() + "/policy.toml");
  node.signal(SIGHUP);
  EXPECT_TRUE(says("any more")) << check();
  EXPECT_THAT(textOf(check(), "what"), HasSubstr("agents work under: closed 1 "));

  set(clinicPolicy());
  node.signal(SIGHUP);
  EXPECT_TRUE(says("agents work under: clinic 1 ")) << check();
  EXPECT_EQ(check().at("todo"), nullptr);
  ASSERT_EQ(node.run({"journal", "put", "o1", "--type", "udt.order", "--text", "x"}).exitCode, 0);
  EXPECT_TRUE(test::until([&] {
    return node.run({"episode", "list"}).out.find("udt-lab") != std::string::npos;
  })) << node.log();
  EXPECT_THAT(node.run({"episode", "show", node.run({"episode", "list"}).out.substr(0, 12)}).out,
              HasSubstr("\"policy\":\"clinic 1 "));
}

// Each run would be denied its action and be over, and its wake would not come again.
TEST(AgentPolicy, WakesWaitUntilWhatTheyNeedIsMended) {
  const Scratch scratch;
  test::Node node(scratch, "clinic");
  ASSERT_EQ(node.init().exitCode, 0);
  std::ofstream(node.dir() + "/policy.toml") << with(clinicPolicy(), kProposals, kProposals + "\nconfirm = true");
  ASSERT_TRUE(node.up({"--agent", "udt-lab"})) << node.log();
  ASSERT_EQ(node.run({"journal", "put", "o1", "--type", "udt.order", "--text", "x"}).exitCode, 0);
  const auto incidents = [&] { return node.run({"inbox", "--kind", "incident"}).out; };
  EXPECT_TRUE(test::until([&] { return incidents().find("agentWaits") != std::string::npos; })) << node.log();
  EXPECT_THAT(incidents(), ::testing::AllOf(HasSubstr("udt-lab"), HasSubstr("privacy_confirmation_required")));
  EXPECT_THAT(node.run({"wake", "list"}).out,
              ::testing::AllOf(HasSubstr("waits  udt-lab"), HasSubstr("privacy_confirmation_required")));
  EXPECT_EQ(node.run({"wake", "list", "--failed"}).out, "no run failed\n");
  ASSERT_EQ(node.run({"receipt", "confirm", "--agent", "udt-lab", "--boundary", "meta-agent", "--by", "ann"}).exitCode,
            0);
  EXPECT_TRUE(test::until([&] {
    return node.run({"episode", "list"}).out.find("udt-lab") != std::string::npos;
  })) << node.log();
  EXPECT_TRUE(test::until([&] { return incidents().find("agentWaits") == std::string::npos; })) << incidents();
}

// A receipt names the policy that the person has read and the node works under, or is refused.
TEST(AgentPolicy, AConfirmationIsOfThePolicyThatIsInForce) {
  const Scratch scratch;
  test::Node node(scratch, "clinic");
  ASSERT_EQ(node.init().exitCode, 0);
  const std::string policy = with(clinicPolicy(), kProposals, kProposals + "\nconfirm = true");
  const auto set = [&](const std::string& text) { std::ofstream(node.dir() + "/policy.toml") << text; };
  const auto confirm = [&](const std::string& digest) {
    return node.run(
        {"receipt", "confirm", "--agent", "udt-lab", "--boundary", "meta-agent", "--by", "ann", "--policy", digest});
  };
  const auto digest = [&] { return textOf(*parseJson(node.run({"policy", "check", "--json"}).out), "digest"); };
  set(policy);
  ASSERT_TRUE(node.up({"--agent", "udt-lab"})) << node.log();
  const std::string first = digest();
  set(with(policy, "version = 1", "version = 2"));
  EXPECT_THAT(confirm(first).err, HasSubstr("the policy is another one by now"));
  EXPECT_THAT(confirm(digest()).err, HasSubstr("and the node works under clinic 1 " + first));
  EXPECT_EQ(node.run({"receipt", "list"}).out, "no use is confirmed\n");
  node.signal(SIGHUP);
  EXPECT_TRUE(test::until([&] { return confirm(digest().substr(0, 8)).exitCode == 0; })) << node.log();
  EXPECT_THAT(node.run({"receipt", "list"}).out, HasSubstr("udt-lab  meta-agent  clinic 2  by ann"));
  EXPECT_EQ(confirm("").exitCode, 0);
  EXPECT_THAT(confirm("12345").err, HasSubstr("another one"));
}

}  // namespace
}  // namespace witan::node::agent_policy_test
