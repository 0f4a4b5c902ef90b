// A portfolio that runs by itself, by the program and on its disks: the built-in agents of disclosure, fed what people
// would enter; a human is needed only where something escalates. And a finding that goes from verification to
// disclosure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/seams.h"
#include "domains/disclosure/disclosure.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_reader.h"
#include "program/error_report.h"
#include "tests/node/node_process.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::disclosure_agents_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

// How many vulnerabilities of a data directory's portfolio are where.
std::map<std::string, int> phasesIn(const std::string& dir, const std::string& portfolio) {
  const Time wall = SystemClock().now();
  const auto opened = NodeDir::open(dir, NodeSetup(), {wall, wall.micros / 1000});
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

// What was decided of a portfolio, in order.
std::string decidedIn(const std::string& dir, const std::string& portfolio) {
  const Time wall = SystemClock().now();
  const auto opened = NodeDir::open(dir, NodeSetup(), {wall, wall.micros / 1000});
  if (!opened.ok()) return opened.error().message;
  Replica& replica = (*opened)->replica();
  std::string all;
  const Status read =
      forEachEntry(replica.host(replica.partitionFor("disclosure", portfolio))->rows(), [&](const StoredEntry& e) {
        all += entryStory(e.entry) + "\n";
        return true;
      });
  EXPECT_TRUE(read.ok());
  return all;
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

  // Its ledgers are read by the flag that made them.
  const Finished verified = runWitan({"ledger", "verify", "--dir", dir, "--replay"});
  EXPECT_EQ(verified.exitCode, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("ok "));
  const Finished tail = runWitan({"ledger", "tail", "--dir", dir, "-n", "1", "--domain", "disclosure"});
  EXPECT_THAT(tail.out, HasSubstr("Disclosure proposes ExecuteDisclosure")) << tail.err;
  const std::string partition = tail.out.substr(0, tail.out.find(' '));
  const Finished shown = runWitan({"ledger", "show", "1", "--dir", dir, "--partition", partition});
  EXPECT_THAT(shown.out, HasSubstr("leaf hash ")) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr(partition + "     1  "));
  EXPECT_THAT(runWitan({"ledger", "show", "99999", "--dir", dir}).err, HasSubstr("no entry 99999"));
  EXPECT_THAT(runWitan({"ledger", "tail", "--dir", scratch / "nowhere"}).err, HasSubstr("no device lives in"));
  const Finished exported = runWitan({"domain", "export", "disclosure", "--to", "csaf", "--dir", dir});
  EXPECT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 6) << exported.err;
  EXPECT_EQ(runWitan({"domain", "export", "disclosure", "--to", "csaf"}).exitCode, kExitUsage);
  EXPECT_EQ(runWitan({"state", "show", "disclosure-reports", "--dir", dir}).exitCode, 0);
}

// An exploited vulnerability: the lab asks to disclose it at once, and waits for its lead; then work goes on.
TEST(DisclosureAgents, AHumanIsAskedWhereItEscalates) {
  const Scratch scratch;
  const std::string known = R"("portfolio":"p","v":"V-1","orgs":["o"],"maintainer":"m@o.org","credits":["Lab"])";
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

const std::string kBegins =
    R"({"at":"2026-01-01T09:00:00Z","id":"disclosure/p/portfolio","type":"disclosure.portfolio","payload":{"portfolio":"p"}})"
    "\n";

// A portfolio that waits for its lead holds up the others in it: they wait too, and that is no failure. What the
// ledger says does not depend on what the device happens to be called.
TEST(DisclosureAgents, WaitingForACounselorIsNoFailure) {
  const Scratch scratch;
  std::string feed = kBegins;
  const auto known = [&](const std::string& v, const std::string& day, const std::string& more) {
    feed += R"({"at":"2026-)" + day + R"(T09:00:00Z","id":"disclosure/p/)" + v +
            R"(/case","type":"disclosure.case","payload":{"portfolio":"p","orgs":["o"],"maintainer":"m@o.org","v":")" +
            v + "\"" + more + "}}\n";
  };
  known("V-1", "01-02", "");
  known("V-1", "01-05", R"(,"acknowledged":true)");
  known("V-1", "01-20", R"(,"acknowledged":true,"exploited":true)");
  for (const char* v : {"V-2", "V-3", "V-4"}) known(v, "01-21", R"(,"severity":"HIGH","patch":"IN_DEVELOPMENT")");
  scratch.write("feed.jsonl", feed);
  const Finished first = runWitan(working(scratch / "one", scratch / "feed.jsonl"));
  EXPECT_EQ(first.exitCode, 0) << first.out << first.err;
  EXPECT_THAT(first.out, Not(HasSubstr("agent failed")));
  const std::string answers =
      R"({"at":"2026-01-22T09:00:00Z","counselor":"psirt.lead","domain":"disclosure","entity":"p","decision":"commit",)"
      R"("edit":{"waivers":{"add":[["EMBARGO_ENFORCEMENT","V-1"],["PATCH_BEFORE_DISCLOSURE","V-1"]]}}})"
      "\n";
  scratch.write("feed.jsonl", feed + answers);
  std::set<std::string> told;
  for (const char* dir : {"two", "three", "four"}) {
    const Finished ran = runWitan(working(scratch / dir, scratch / "feed.jsonl"));
    EXPECT_EQ(ran.exitCode, 0) << ran.out << ran.err;
    told.insert(ran.out.substr(ran.out.rfind('\n', ran.out.size() - 2) + 1) + decidedIn(scratch / dir, "p"));
  }
  EXPECT_EQ(told.size(), 1u) << ::testing::PrintToString(told);
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
  test::Node lab(scratch, "lab", "[agents]\nrun = [\"verified-intake\"]\n");
  ASSERT_TRUE(lab.init(2).exitCode == 0);
  ASSERT_TRUE(lab.up());
  ASSERT_EQ(lab.run({"begin", "disclosure", "parsers"}).exitCode, 0);
  ASSERT_EQ(lab.run({"begin", "verification", "parsers"}).exitCode, 0);
  const auto propose = [&](const char* role, const char* action) {
    return lab.run({"propose", "verification", "parsers", role, action}).out;
  };
  for (
      const auto& [role, action] : std::vector<std::pair<const char*, const char*>>{
          {"StaticAnalysis", R"({"type":"SubmitFinding","f":"F1","loc":"src/parse.c:7","cwe":"CWE-787"})"},
          {"Triage", R"({"type":"TriageFinding","f":"F1","component":"decoder"})"},
          {"Reproduction", R"({"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"t1"})"},
          {"Reproduction", R"({"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"t2"})"},
          {"SeverityAssessment",
           R"({"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H","score":9.8,"b":"CRITICAL"})"}})
    ASSERT_THAT(propose(role, action), HasSubstr("approved"));
  ASSERT_THAT(propose("SeverityAssessment", R"({"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"})"),
              HasSubstr("escalated"));
  const Finished queue = lab.run({"queue", "list", "--json"});
  const json::value pending = parseJson(queue.out)->at("queue").at(0);
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
  EXPECT_TRUE(test::until([&] { return intakes() > 0; }));
  lab.kill();
  ASSERT_TRUE(lab.up());
  EXPECT_TRUE(test::until([&] { return lab.run({"agent", "check"}).exitCode == 0; }));
  EXPECT_EQ(intakes(), 1u);
  EXPECT_EQ(lab.stop(), 0);
}

}  // namespace
}  // namespace witan::node::disclosure_agents_test
