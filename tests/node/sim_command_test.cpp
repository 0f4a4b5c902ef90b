// `witan sim` as people and scripts use it: the contract of its JSON, that it is deterministic, and what it says about
// input that cannot be.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::sim_command_test {
namespace {

using node::test::Finished;
using node::test::runWitan;
using node::test::Scratch;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

// The words after `witan sim`.
Finished sim(std::vector<std::string> words) {
  words.insert(words.begin(), "sim");
  return runWitan(words);
}

json::object jsonOf(const std::string& text) {
  auto value = parseJson(text, {.bytes = 64 << 20, .depth = 16});
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() && value->is_object() ? value->as_object() : json::object();
}

// A run too short for anything to go wrong in it, but for what a test asks for.
const std::vector<std::string> kShort{"--time", "20s"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Nothing can settle in no time: a failure on purpose.
std::vector<std::string> impossible(std::vector<std::string> words) {
  return with(with(std::move(words), kShort), {"--set", "time.settleSeconds=1", "--set",
                                               "network.delayMinMicros=\"30m\"", "--set", "cluster.devices=3"});
}

void expectUsage(const Finished& done, const std::vector<std::string>& said) {
  EXPECT_EQ(done.exitCode, 2) << done.out << done.err;
  EXPECT_TRUE(done.out.empty()) << done.out;
  for (const std::string& words : said) EXPECT_NE(done.err.find(words), std::string::npos) << words << "\n" << done.err;
}

// ---- run

TEST(SimRun, JsonHasWhatScriptsRelyOn) {
  const Finished done = sim(with({"run", "calm", "--seeds", "3..6", "--jobs", "2", "--json"}, kShort));
  ASSERT_EQ(done.exitCode, 0) << done.out << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1);
  const json::object report = jsonOf(done.out);
  EXPECT_EQ(report.at("scenario").as_string(), "calm");
  EXPECT_EQ(report.at("seeds").as_int64(), 4);
  EXPECT_EQ(report.at("passed").as_int64(), 4);
  EXPECT_TRUE(report.at("failed").as_array().empty());
  EXPECT_GE(report.at("simulatedSeconds").as_double(), 80);
  EXPECT_GT(report.at("wallSeconds").as_double(), 0);
  EXPECT_EQ(report.at("traceDigest").as_string().size(), 64u);
  EXPECT_GT(report.at("steps").as_int64(), 0);
}

TEST(SimRun, TheSameCommandGivesTheSameDigestWhateverTheJobs) {
  const auto digest = [](const char* jobs, const char* seeds) {
    const Finished done = sim(with({"run", "canary", "--seeds", seeds, "--jobs", jobs, "--json"}, kShort));
    return std::string(jsonOf(done.out).at("traceDigest").as_string());
  };
  const std::string one = digest("1", "1..8");
  EXPECT_EQ(one, digest("3", "1..8"));
  EXPECT_NE(one, digest("3", "2..8"));
}

TEST(SimRun, AFailureIsToldWithEverythingThatRepeatsIt) {
  const Finished done = sim(impossible({"run", "calm", "--seed", "5"}));
  ASSERT_EQ(done.exitCode, 1) << done.out << done.err;
  const std::string again = "calm --seed 5 --time 20s --set time.settleSeconds=1";
  for (const std::string& words :
       {std::string("liveness"), std::string("cluster.devices = 3  (5)"), std::string("faults.crashes 0"),
        "witan sim replay " + again, "witan sim shrink " + again, std::string("failures by checker")})
    EXPECT_NE(done.out.find(words), std::string::npos) << words << "\n" << done.out;
  EXPECT_LT(done.out.find("witan sim replay"), done.out.find("cluster.devices = 3")) << "the cause comes first";
  const Finished machine = sim(impossible({"run", "calm", "--seeds", "5..6", "--json"}));
  EXPECT_EQ(machine.exitCode, 1);
  const json::object report = jsonOf(machine.out);
  EXPECT_EQ(report.at("passed").as_int64(), 0);
  ASSERT_EQ(report.at("failed").as_array().size(), 2u);
  const json::object& first = report.at("failed").as_array()[0].as_object();
  EXPECT_EQ(first.at("seed").as_int64(), 5);
  EXPECT_EQ(first.at("checker").as_string(), "liveness");
  EXPECT_FALSE(first.at("reason").as_string().empty());
}

TEST(SimRun, StopsAtAFailureIfAsked) {
  const Finished done = sim(impossible({"run", "calm", "--seeds", "1..50", "--jobs", "1", "--fail-fast", "--json"}));
  EXPECT_EQ(done.exitCode, 1);
  EXPECT_EQ(jsonOf(done.out).at("seeds").as_int64(), 1);
}

TEST(SimRun, ExpectedProbesThatWereNotReachedAreNamedAndFail) {
  const Scratch dir;
  const std::string path = dir / "mine.toml";
  write(path, "extends = \"calm\"\n[time]\nseconds = \"2s\"\n[expect]\nprobes = [\"forks\", \"batchesSent\"]\n");
  const Finished done = sim({"run", path, "--seeds", "1..20", "--json"});
  EXPECT_EQ(done.exitCode, 1);
  EXPECT_EQ(json::serialize(jsonOf(done.out).at("missedProbes")), "[\"forks\"]");
  // Too few seeds prove nothing.
  const Finished few = sim({"run", path, "--seeds", "1..19", "--json"});
  EXPECT_EQ(few.exitCode, 0);
  EXPECT_TRUE(jsonOf(few.out).at("missedProbes").as_array().empty());
}

// Two of three replicas lose their disks, become whole, and are off later while the third decides on: what etcd lets go
// of then, only one disk has.
TEST(SimRun, ADiskThatWasLostOnceExcusesNoLaterTrim) {
  const Scratch dir;
  const std::string path = dir / "mine.toml";
  std::string text =
      "extends = \"calm\"\n[cluster]\nengine = \"etcd\"\ndevices = 3\npartitions = 1\ndomains = \"budget\"\n"
      "[work]\nproposals = 6_000\n";
  for (const char* event : {"at = \"90s\"\nkind = \"loseDisk\"\ndevice = 1\nlasts = \"10s\"\n",
                            "at = \"3m\"\nkind = \"loseDisk\"\ndevice = 2\nlasts = \"10s\"\n",
                            "at = \"5m\"\nkind = \"crash\"\ndevice = 1\nlasts = \"4m\"\n",
                            "at = \"5m\"\nkind = \"crash\"\ndevice = 2\nlasts = \"4m\"\n"})
    text += std::string("[[event]]\n") + event;
  write(path, text);
  const Finished sound = sim({"run", path, "--seeds", "1..3", "--json"});
  EXPECT_EQ(sound.exitCode, 0) << sound.out;
  EXPECT_GT(jsonOf(sound.out).at("probes").at("etcd lets go of batches").as_int64(), 0);
  const Finished broken = sim({"run", path, "--seeds", "1..3", "--mutant", "letGoEarly", "--json"});
  const json::object report = jsonOf(broken.out);
  ASSERT_EQ(report.at("failed").as_array().size(), 3u) << broken.out;
  for (const json::value& failed : report.at("failed").as_array())
    EXPECT_EQ(failed.at("checker").as_string(), "no-decision-lost") << broken.out;
}

TEST(SimRun, SetOverridesAlsoWhatASeedSwitchesOff) {
  const std::vector<std::string> words{"plan", "everything", "--time", "10m", "--set", "faults.crashes=120"};
  for (const char* seed : {"1", "2", "3", "4"}) {
    const Finished done = sim(with(words, {"--seed", seed}));
    EXPECT_NE(done.out.find("\"crashes\":120"), std::string::npos) << seed;
    EXPECT_NE(done.out.find("\"kind\":\"crash\""), std::string::npos) << seed;
  }
}

TEST(SimRun, KeepsThePlansOfFailedSeeds) {
  const Scratch dir;
  const std::string folder = dir / "kept";
  EXPECT_EQ(sim(impossible({"run", "calm", "--seeds", "1..3", "--keep", folder})).exitCode, 1);
  for (const char* seed : {"1", "2", "3"}) {
    const std::string path = folder + "/seed-" + seed + ".plan";
    const Finished again = sim({"run", "--plan", path, "--json"});
    EXPECT_EQ(again.exitCode, 1) << again.err;
    EXPECT_EQ(jsonOf(again.out).at("failed").as_array()[0].as_object().at("checker").as_string(), "liveness");
  }
}

// ---- what cannot be

TEST(SimUsage, WrongInputNamesItsPlace) {
  const Scratch dir;
  const std::string path = dir / "bad.toml";
  expectUsage(sim({"run", "no-such"}), {"no scenario", "no-such", "witan sim list"});
  expectUsage(sim({"run"}), {"no scenario"});
  expectUsage(sim({"run", "calm", "--seeds", "9..2"}), {"9..2"});
  expectUsage(sim({"run", "calm", "--seeds", "1-5"}), {"1-5", "1..1000"});
  expectUsage(sim({"run", "calm", "--seeds", "1..99999999999999999999999"}), {"no range"});
  expectUsage(sim({"run", "calm", "--seeds", "0..18446744073709551615"}), {"too many"});
  expectUsage(sim({"run", "calm", "--seed", "1", "--seeds", "1..2"}), {"--seeds"});
  expectUsage(sim({"run", "calm", "--seed", "-1"}), {});
  expectUsage(sim({"run", "calm", "--time", "11y"}), {"--time"});
  expectUsage(sim({"run", "calm", "--time", "4000d"}), {"ten years"});
  expectUsage(sim({"run", "calm", "--jobs", "0"}), {"--jobs"});
  expectUsage(sim({"run", "calm", "--set", "crashes=3"}), {"crashes=3"});
  expectUsage(sim({"run", "calm", "--set", "faults.crashs=3"}), {"faults.crashs", "clockJumps"});
  expectUsage(sim({"run", "calm", "--set", "faults.crashes=many"}), {"faults.crashes", "number"});
  expectUsage(sim({"run", "calm", "--set", "cluster.devices=1001"}), {"cluster.devices"});
  expectUsage(sim({"run", "calm", "--set", "cluster.domains=golf"}), {"golf", "budget"});
  expectUsage(sim({"run", "calm", "--set", "work.proposals=1000000", "--time", "3000d"}), {"events"});
  expectUsage(sim({"run", "calm", "--mutant", "noSuch"}), {"noSuch"});
  write(path, "title = \"x\"\n[faults]\ncrashs = 3\n");
  expectUsage(sim({"run", path}), {"bad.toml:3", "crashs"});
  write(path, "extends = \"nowhere\"\n");
  expectUsage(sim({"run", path}), {"bad.toml:1", "nowhere"});
  write(path, "[[event]\n");
  expectUsage(sim({"run", path}), {"bad.toml:1"});
  write(path, std::string((1 << 20) + 1, '#'));
  expectUsage(sim({"run", path}), {"bad.toml", "1048576"});
  write(path, "{\"plan\":1,\"options\":{}}\n{\"at\":1}\n");
  expectUsage(sim({"replay", "--plan", path}), {"bad.toml", "line 2", "kind"});
  write(path, "{\"plan\":1}\n{\"at\":1,\"kind\":\"crash\"}\n");
  expectUsage(sim({"replay", "--plan", path}), {"bad.toml", "line 1", "options"});
  expectUsage(sim({"run", "calm", "--limit", "1ms"}), {"--limit 1ms", "whole number of seconds"});
  write(path, "");
  expectUsage(sim({"run", "--plan", path}), {"empty plan"});
  expectUsage(sim({"run", "calm", "--plan", path}), {"--plan"});
  expectUsage(sim({"replay", "calm"}), {"--seed"});
  expectUsage(sim({"replay", "calm", "--seed", "1", "--only", "device-x"}), {"device-x", "ledger"});
  expectUsage(sim({"shrink", "calm"}), {"--seed"});
  expectUsage(sim({"list", "no-such"}), {"no-such"});
}

TEST(SimUsage, FilesThatAreNotThere) {
  const Finished plan = sim({"replay", "--plan", "/nowhere/x.plan"});
  EXPECT_EQ(plan.exitCode, 1);
  EXPECT_NE(plan.err.find("/nowhere/x.plan"), std::string::npos);
  EXPECT_NE(plan.err.find("or - for standard input"), std::string::npos) << plan.err;
  EXPECT_NE(sim({"run", "/nowhere/x.toml"}).err.find("witan sim list"), std::string::npos);
  const Finished scenario = sim({"run", "/nowhere/x.toml", "--json"});
  EXPECT_EQ(scenario.exitCode, 1);
  EXPECT_NE(jsonOf(scenario.err).at("error").as_object().at("message").as_string().find("/nowhere/x.toml"),
            std::string::npos);
  for (const char* verb : {"plan", "shrink"}) {
    const Finished out = sim({verb, "calm", "--seed", "1", "--out", "/nowhere/x.plan"});
    EXPECT_EQ(out.exitCode, 1);
    EXPECT_NE(out.err.find("/nowhere/x.plan"), std::string::npos);
  }
  // What is no file stays what it is.
  EXPECT_EQ(sim({"plan", "calm", "--seed", "1", "--out", "/dev/null"}).exitCode, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Finished trace = sim({"replay", "calm", "--seed", "1", "--trace", "/nowhere/trace.json"});
  EXPECT_EQ(trace.exitCode, 1);
  EXPECT_NE(trace.err.find("/nowhere/trace.json"), std::string::npos);
}

// ---- plan, replay

TEST(SimPlan, APlanThatWasKeptReplaysTheSameRun) {
  const Scratch dir;
  const std::string path = dir / "p.plan";
  ASSERT_EQ(sim(with({"plan", "canary", "--seed", "7", "--out", path}, kShort)).exitCode, 0);
  EXPECT_EQ(sim(with({"plan", "canary", "--seed", "7"}, kShort)).out, read(path));
  const json::object bySeed = jsonOf(sim(with({"replay", "canary", "--seed", "7", "--json"}, kShort)).out);
  const json::object byPlan = jsonOf(sim({"replay", "--plan", path, "--json"}).out);
  EXPECT_EQ(bySeed.at("digest"), byPlan.at("digest"));
  const auto digest = [](const Finished& done) { return jsonOf(done.out).at("traceDigest"); };
  EXPECT_EQ(digest(sim(with({"run", "canary", "--seed", "7", "--json"}, kShort))),
            digest(sim({"run", "--plan", path, "--json"})));
}

TEST(SimReplay, TheTextIsTheSameEveryTime) {
  const auto words = with({"replay", "canary", "--seed", "7", "--verbose"}, kShort);
  const Finished one = sim(words), two = sim(words);
  EXPECT_EQ(one.out, two.out);
  EXPECT_NE(one.out.find(" net    sends "), std::string::npos);
  const Finished text = sim(with({"replay", "canary", "--seed", "7", "--text"}, kShort));
  EXPECT_EQ(text.out.find(" net    sends "), std::string::npos);
  const Finished some =
      sim(with({"replay", "canary", "--seed", "7", "--only", "device-1,work", "--to", "10s"}, kShort));
  std::istringstream lines(some.out);
  std::size_t told = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("00:00:")) {
      EXPECT_NE(line.find("device-1   work"), std::string::npos) << line;
      ++told;
    }
  EXPECT_GT(told, 0u);
}

TEST(SimReplay, TheTextSaysWhenADeviceHearsOfALaterEpoch) {
  const Finished done = sim({"replay", "handovers", "--seed", "1", "--time", "10m", "--text", "--only", "ledger"});
  EXPECT_EQ(done.exitCode, 0) << done.err;
  EXPECT_NE(done.out.find("ledger hears"), std::string::npos) << done.out.substr(0, 4000);
}

TEST(SimReplay, AFailureEndsWithWhatLedToIt) {
  const Finished done = sim(impossible({"replay", "calm", "--seed", "5"}));
  EXPECT_EQ(done.exitCode, 1);
  for (const char* words :
       {"the last lines", "settling begins", "expected: Once faults have ended", "witan sim shrink"})
    EXPECT_NE(done.out.find(words), std::string::npos) << words << "\n" << done.out;
}

TEST(SimReplay, TheTraceIsWholeJson) {
  const Scratch dir;
  const std::string path = dir / "trace.json";
  ASSERT_EQ(sim(with({"replay", "calm", "--seed", "7", "--trace", path}, kShort)).exitCode, 0);
  EXPECT_GT(jsonOf(read(path)).at("traceEvents").as_array().size(), 100u);
}

// ---- shrink, list

TEST(SimShrink, TheSmallestPlanFailsTheSameWay) {
  const Scratch dir;
  const std::string path = dir / "s.plan";
  const Finished done = sim(impossible({"shrink", "calm", "--seed", "5", "--out", path, "--json"}));
  ASSERT_EQ(done.exitCode, 0) << done.err;
  const json::object shrunk = jsonOf(done.out);
  EXPECT_EQ(shrunk.at("checker").as_string(), "liveness");
  EXPECT_EQ(shrunk.at("plan").as_string(), read(path));
  EXPECT_LT(shrunk.at("events").as_int64(), shrunk.at("from").as_int64());
  const Finished again = sim({"replay", "--plan", path, "--json"});
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_EQ(jsonOf(again.out).at("failure").as_object().at("checker").as_string(), "liveness");
}

TEST(SimShrink, WhatPassesCannotBeShrunk) {
  const Finished done = sim(with({"shrink", "calm", "--seed", "5"}, kShort));
  EXPECT_EQ(done.exitCode, 2);
  EXPECT_NE(done.err.find("does not fail"), std::string::npos);
}

TEST(SimList, NamesEverythingThatScenariosMayName) {
  const Finished done = sim({"list"});
  EXPECT_EQ(done.exitCode, 0);
  for (const char* word : {"split-brain", "writeCrash", "linearizability", "agentWrite"})
    EXPECT_NE(done.out.find(word), std::string::npos) << word;
  const json::object all = jsonOf(sim({"list", "--json"}).out);
  EXPECT_GT(all.at("scenarios").as_array().size(), 10u);
  EXPECT_EQ(all.at("options").as_object().at("cluster").as_object().at("devices").as_int64(), 5);
  EXPECT_NE(sim({"list", "--options"}).out.find("crashes = 0"), std::string::npos);
}

// What `list` prints of a scenario can be changed and run.
TEST(SimList, AScenarioIsAFileToStartFrom) {
  const Scratch dir;
  const std::string path = dir / "mine.toml";
  write(path, sim({"list", "calm"}).out);
  EXPECT_EQ(sim(with({"run", path, "--seeds", "1..2"}, kShort)).exitCode, 0);
  const std::string child = dir / "child.toml";
  write(child, "extends = \"mine.toml\"\n[cluster]\ndevices = 2\nledgerReplicas = 2\n");
  const Finished plan = sim(with({"plan", child, "--seed", "1"}, kShort));
  EXPECT_NE(plan.out.find("\"devices\":2"), std::string::npos) << plan.err;
}

}  // namespace
}  // namespace witan::sim_command_test
