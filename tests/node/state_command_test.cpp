// `witan state merge`: the same answer for any order and grouping of the lines; words and exit codes for the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error_report.h"
#include "replication/records/agent_state_json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/replication/agent_histories.h"

namespace witan::node::state_command_test {
namespace {

using namespace replication;
using replication::test::History;
using replication::test::makeHistory;
using replication::test::randomScript;
using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;

AgentSnapshot snapshotAt(const std::string& host, std::uint64_t counter, VectorClock vc = {}) {
  AgentSnapshot s{"agent-1", {host, counter}, std::move(vc), {}};
  s.vc.set(host, counter);
  return s;
}

std::string line(const AgentSnapshot& s) { return toJson(snapshotRow(s)) + "\n"; }

Finished merge(const std::string& input) { return runWitan({"state", "merge", "-", "--json"}, input); }

void expectError(const Finished& run, int exitCode, const std::string& words) {
  EXPECT_EQ(run.exitCode, exitCode) << run.err;
  EXPECT_THAT(run.err, HasSubstr(words));
}

TEST(StateMerge, PrintsTheAntichainAndTheView) {
  AgentSnapshot old = snapshotAt("A", 1), mine = snapshotAt("A", 2), other = snapshotAt("B", 1);
  old.state.consecutiveFailureCount = 5;
  other.state.consecutiveFailureCount = 2;
  const Finished run = merge(line(other) + "\n" + line(old) + line(mine));
  EXPECT_EQ(run.exitCode, kExitOk) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            R"({"antichain":[{"counter":2,"host":"A"},{"counter":1,"host":"B"}],"view":{"agentId":"agent-1",)"
            R"("consecutiveFailureCount":2,"lifecycle":"created",)"
            R"("pointers":{"latestSummaryMessageId":null,"recentHeadMessageId":null},"processedCounterByHost":{},)"
            R"("schedule":{"firedThrough":0,"nextWakeAt":null,"sleepUntil":0},"slots":{)"
            R"("activeTaskId":{"host":"","value":null,"version":0},"extension":{"host":"","value":{},"version":0},)"
            R"("openLoopIds":{"host":"","value":[],"version":0},"preferenceByKey":{"host":"","value":{},"version":0},)"
            R"("primaryGoal":{"host":"","value":null,"version":0}},"vc":{"A":2,"B":1}}})"
            "\n");
  const Finished words = runWitan({"state", "merge", "-"}, line(other) + line(mine));
  EXPECT_EQ(words.exitCode, kExitOk);
  EXPECT_THAT(words.out, HasSubstr("agent-1: created, 2 failures in a row"));
  EXPECT_THAT(words.out, HasSubstr("A:2 B:1"));
}

// Done when: byte-identical for any order and grouping of the files.
TEST(StateMerge, AnyOrderAndGroupingOfLinesGivesTheSameBytes) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const History history = makeHistory(randomScript(seed, 120));
    std::vector<std::string> lines;
    for (const AgentSnapshot& s : history.snapshots) lines.push_back(line(s));
    ASSERT_FALSE(lines.empty());
    std::mt19937_64 random(seed);
    std::set<std::string> answers;
    for (int round = 0; round < 5; ++round) {
      std::shuffle(lines.begin(), lines.end(), random);
      std::vector<std::string> files(1 + random() % 3);
      for (const std::string& l : lines) files[random() % files.size()] += l;
      files[0] += lines[0];  // one twice
      const Scratch scratch;
      std::vector<std::string> words = {"state", "merge", "--json"};
      for (std::size_t i = 0; i < files.size(); ++i) {
        if (round % 2 == 0) files[i] = files[i].substr(0, files[i].size() - (files[i].empty() ? 0 : 1));
        scratch.write(std::to_string(i), files[i]);
        words.push_back(scratch / std::to_string(i));
      }
      const Finished run = runWitan(words);
      EXPECT_EQ(run.exitCode, kExitOk) << run.err;
      answers.insert(run.out);
    }
    EXPECT_EQ(answers.size(), 1u);
  }
}

TEST(StateMerge, BadLinesAreRefusedAndTheRestIsMerged) {
  const std::string good = line(snapshotAt("A", 1));
  AgentSnapshot wrong = snapshotAt("B", 1);
  wrong.vc.set("B", 2);
  const Finished run = merge("{\n" + good + line(wrong) + std::string(kMaxSnapshotJson + 1, ' ') + "\n" + good);
  expectError(run, kExitSomeRefused, "standard input, line 1: refused (not JSON");
  EXPECT_THAT(run.err, HasSubstr("standard input, line 3: refused (vc.B is 2, the dot's counter is 1)"));
  EXPECT_THAT(run.err, HasSubstr("standard input, line 4: refused (longer than 1048576 bytes)"));
  EXPECT_EQ(run.out, merge(good).out);
  const Scratch scratch;
  scratch.write("b.jsonl", "7\n");
  const Finished named = runWitan({"state", "merge", "-", scratch / "b.jsonl"}, good);
  expectError(named, kExitSomeRefused, (scratch / "b.jsonl") + ", line 1: refused (snapshot: expected an object");
}

TEST(StateMerge, EquivocationIsNamedWhateverTheOrder) {
  AgentSnapshot a = snapshotAt("A", 1), b = snapshotAt("A", 1), later = snapshotAt("A", 2);
  b.state.consecutiveFailureCount = 1;
  const Finished one = merge(line(a) + line(b) + line(later));
  expectError(one, kExitFailed, "dot A:1 names two different contents (equivocation)");
  EXPECT_EQ(one.out, "");
  EXPECT_EQ(merge(line(later) + line(b) + line(a)).err, one.err);
}

TEST(StateMerge, SnapshotsOfDifferentAgentsAreRefused) {
  AgentSnapshot other = snapshotAt("B", 1), third = snapshotAt("C", 1);
  other.agentId = "agent-0";
  third.agentId = "agent-7";
  const Finished run = merge(line(third) + line(snapshotAt("A", 1)) + line(other));
  expectError(run, kExitFailed, "snapshots of different agents (agent-0 and agent-1)");
  EXPECT_EQ(run.out, "");
}

TEST(StateMerge, InputThatGivesNothing) {
  expectError(merge(""), kExitFailed, "no snapshot in the input");
  expectError(merge("\n \r\n"), kExitFailed, "no snapshot in the input");
  expectError(merge("{}\n"), kExitFailed, "no snapshot in the input");
  expectError(runWitan({"state", "merge", "/nowhere.jsonl"}), kExitFailed, "cannot open /nowhere.jsonl");
  expectError(runWitan({"state", "merge", "/tmp"}), kExitFailed, "/tmp is a folder");
  expectError(runWitan({"state", "merge", "-", "-"}), kExitUsage, "- is given twice");
  expectError(runWitan({"state", "merge"}), kExitUsage, "witan: FILE is required: see witan state merge --help");
  expectError(runWitan({"state", "merge", "--json"}), kExitUsage, R"({"error":{"code":"invalidInput","message":"FILE)");
}

}  // namespace
}  // namespace witan::node::state_command_test
