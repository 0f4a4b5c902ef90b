// A portfolio that runs by itself, by the program and on its disks: the built-in agents of disclosure, fed what people
// would enter; a human is needed only where something escalates. And a finding that goes from verification to
// disclosure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "domains/disclosure/disclosure.h"
#include "node/node_dir.h"
#include "tests/node/node_process.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node {
namespace {

using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::runWitan;
using testing::Scratch;

// How many vulnerabilities of a data directory's portfolio are where.
std::map<std::string, int> phasesIn(const std::string& dir, const std::string& portfolio) {
  const Time wall = SystemClock().now();
  const auto opened =
      NodeDir::open(dir, {{"disclosure", "verification", "udt", "budget", "joint", "moderation"}, 8, nullptr},
                    {wall, wall.micros / 1000});
  std::map<std::string, int> phases;
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message;
    return phases;
  }
  Replica& replica = (*opened)->replica();
  const PartitionHost* host = replica.host(replica.partitionFor("disclosure", portfolio));
  const kernel::EntityState* state = host->partition().state(portfolio);
  if (state == nullptr) return phases;
  const auto& vulns = domains::disclosure::stateOf(*state).vulns;
  for (const kernel::Slot slot : vulns.byKey()) ++phases[std::string(enumName(*vulns.row(slot).phase))];
  return phases;
}

std::vector<std::string> working(const std::string& dir, const std::string& feed) {
  std::vector<std::string> words{"agent", "run", "--dir", dir, "--feed", feed};
  for (const char* agent :
       {"disclosure-reports", "disclosure-patches", "disclosure-commitments", "disclosure-publisher"})
    words.insert(words.end(), {"--agent", agent});
  return words;
}

TEST(DisclosureAgents, APortfolioRunsToItsEnd) {
  const Scratch scratch;
  const Finished feed =
      runWitan({"agent", "feed", "--domain", "disclosure", "--entities", "6", "--days", "260", "--seed", "4"});
  ASSERT_EQ(feed.exitCode, 0) << feed.err;
  scratch.write("feed.jsonl", feed.out);
  const std::string dir = scratch / "lab";
  const Finished ran = runWitan(working(dir, scratch / "feed.jsonl"));
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("agent failed")));
  EXPECT_EQ(phasesIn(dir, "portfolio"), (std::map<std::string, int>{{"DISCLOSED", 6}}));
  const Finished check = runWitan({"agent", "check", "--dir", dir});
  EXPECT_EQ(check.exitCode, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("ok: "));
}

// An exploited vulnerability: the lab asks to disclose it at once, and waits for its lead; then work goes on.
TEST(DisclosureAgents, AHumanIsAskedWhereItEscalates) {
  const Scratch scratch;
  const std::string known = R"("portfolio":"p","v":"V-1","orgs":["o"],"maintainer":"m@o","credits":["Lab"])";
  const auto at = [](const char* day) { return std::string(R"({"at":"2026-)") + day + R"(T09:00:00Z",)"; };
  const std::string begins =
      at("01-01") + R"("id":"disclosure/p/portfolio","type":"disclosure.portfolio","payload":{"portfolio":"p"}})"
                    "\n";
  const auto news = [&](const char* day, const std::string& more) {
    return at(day) + R"("id":"disclosure/p/V-1/case","type":"disclosure.case","payload":{)" + known + more + "}}\n";
  };
  const std::string asks = begins + news("01-02", "") + news("01-05", R"(,"acknowledged":true)") +
                           news("01-20", R"(,"acknowledged":true,"exploited":true)");
  scratch.write("asks.jsonl", asks);
  const std::string dir = scratch / "lab";
  ASSERT_EQ(runWitan(working(dir, scratch / "asks.jsonl")).exitCode, 0);
  EXPECT_EQ(phasesIn(dir, "p"), (std::map<std::string, int>{{"EMBARGOED", 1}}));
  scratch.write("answers.jsonl",
                asks + at("01-21") +
                    R"("counselor":"psirt.lead","domain":"disclosure","entity":"p","decision":"commit",)"
                    R"("edit":{"waivers":{"add":[["EMBARGO_ENFORCEMENT","V-1"],["PATCH_BEFORE_DISCLOSURE","V-1"]]}}})"
                    "\n");
  const Finished answered = runWitan(working(dir, scratch / "answers.jsonl"));
  EXPECT_EQ(answered.exitCode, 0) << answered.err;
  EXPECT_EQ(phasesIn(dir, "p"), (std::map<std::string, int>{{"DISCLOSED", 1}})) << answered.out;
}

TEST(DisclosureAgents, BadCasesAndCounselorsAreNamed) {
  const Scratch scratch;
  scratch.write(
      "feed.jsonl",
      R"({"at":"2026-01-01T09:00:00Z","id":"disclosure/p/portfolio","type":"disclosure.portfolio","payload":{"portfolio":"p"}}
{"at":"2026-01-02T09:00:00Z","id":"disclosure/p/V-1/case","type":"disclosure.case","payload":{"portfolio":"p","v":"V-1","orgs":["o"],"colour":"red"}}
{"at":"2026-01-03T09:00:00Z","id":"disclosure/p/V-2/case","type":"disclosure.case","payload":{"portfolio":"p","v":"V-2","orgs":["o"],"patch":"RELEASED"}}
{"at":"2026-01-04T09:00:00Z","id":"disclosure/p/V-3/case","type":"disclosure.case","payload":{"v":"V-3"}}
)");
  const std::string out = runWitan(working(scratch / "lab", scratch / "feed.jsonl")).out;
  EXPECT_THAT(out, HasSubstr("colour"));
  EXPECT_THAT(out, HasSubstr("fixedAt"));
  EXPECT_THAT(out, HasSubstr("names no portfolio or no vulnerability"));
  for (
      const auto& [line, cause] : std::vector<std::pair<const char*, const char*>>{
          {R"({"at":"2026-01-01T09:00:00Z","counselor":"c","domain":"disclosure","entity":"p","decision":"perhaps"})",
           "neither commit nor reject"},
          {R"({"at":"2026-01-01T09:00:00Z","counselor":"c","domain":"disclosure","entity":"p","decision":"reject","edit":{}})",
           "of a commit"},
          {R"({"at":"2026-01-01T09:00:00Z","counselor":"c","domain":"disclosure","decision":"reject"})", "entity"}}) {
    scratch.write("bad.jsonl", std::string(line) + "\n");
    const Finished ran = runWitan(working(scratch / "other", scratch / "bad.jsonl"));
    EXPECT_EQ(ran.exitCode, 1) << line;
    EXPECT_THAT(ran.err, HasSubstr(cause)) << line;
  }
}

// By the commands of a running node: the finding is proposed, signed by a person, and taken in; also after a kill.
TEST(DisclosureAgents, AVerifiedFindingIsTakenInByARunningNode) {
  const Scratch scratch;
  testing::Node lab(scratch, "lab", "[agents]\nrun = [\"verified-intake\"]\n");
  ASSERT_TRUE(lab.init(2).exitCode == 0);
  ASSERT_TRUE(lab.up());
  ASSERT_EQ(lab.run({"begin", "disclosure", "parsers"}).exitCode, 0);
  ASSERT_EQ(lab.run({"begin", "verification", "parsers"}).exitCode, 0);
  const auto propose = [&](const char* role, const char* action) {
    return lab.run({"propose", "verification", "parsers", role, action}).out;
  };
  for (const auto& [role, action] : std::vector<std::pair<const char*, const char*>>{
           {"StaticAnalysis", R"({"type":"SubmitFinding","f":"F1","loc":"src/parse.c:7","cwe":"CWE-787"})"},
           {"Triage", R"({"type":"TriageFinding","f":"F1","component":"decoder"})"},
           {"Reproduction", R"({"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"t1"})"},
           {"Reproduction", R"({"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"t2"})"},
           {"SeverityAssessment",
            R"({"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N","score":9.8,"b":"CRITICAL"})"}})
    ASSERT_THAT(propose(role, action), HasSubstr("approved"));
  ASSERT_THAT(propose("SeverityAssessment", R"({"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"})"),
              HasSubstr("escalated"));
  const Finished queue = lab.run({"queue", "list", "--json"});
  const json::value pending = *parseJson(queue.out.substr(0, queue.out.find('\n')));
  const std::string digest(pending.at("digest").as_string());
  const Finished signedNow = lab.run({"queue", "approve", "parsers", "--counselor", "human.verifier", "--digest",
                                      digest, "--edit", R"({"verdict.by":{"F1":"human.verifier"}})"});
  ASSERT_EQ(signedNow.exitCode, 0) << signedNow.err;
  const auto intakes = [&] {
    const std::string out = lab.run({"ledger", "tail", "--domain", "disclosure", "-n", "0", "--json"}).out;
    std::size_t found = 0;
    for (std::size_t at = 0; (at = out.find("\"Intake\"", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_TRUE(testing::until([&] { return intakes() > 0; }));
  lab.kill();
  ASSERT_TRUE(lab.up());
  EXPECT_TRUE(testing::until([&] { return lab.run({"agent", "check"}).exitCode == 0; }));
  EXPECT_EQ(intakes(), 1u);
  EXPECT_EQ(lab.stop(), 0);
}

}  // namespace
}  // namespace witan::node
