// SIGKILL at random moments of a clinic's day: agents at work on RocksDB, the journal fed in virtual time. Afterwards
// every operation has exactly one effect in each database, every run an end, and the ledgers verify; and whatever was
// decided is what a run that nobody killed decides.
// WITAN_KILLS says how many kills (tests/crash/kill_agents.sh asks for 500), WITAN_KILL_SEED which ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/seams.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::agent_kill_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;
using test::runWitan;

std::uint64_t numberFrom(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

json::object checked(const fs::path& dir) {
  const Finished check = runWitan({"agent", "check", "--dir", dir.string(), "--json"});
  EXPECT_EQ(check.exitCode, 0) << check.out << check.err;
  auto report = parseJson(check.out);
  EXPECT_TRUE(report.ok()) << check.out;
  return report.ok() ? report->as_object() : json::object{};
}

// 3: a run failed, since its proposal was rejected, as it must be.
bool wentThrough(const Finished& finished) { return finished.exitCode == 0 || finished.exitCode == 3; }

TEST(AgentKill, EachOperationHasOneEffectHoweverOftenTheNodeDies) {
  const std::uint64_t kills = numberFrom("WITAN_KILLS", 12), seed = numberFrom("WITAN_KILL_SEED", 1);
  const test::Scratch scratch;
  const fs::path feed = scratch / "clinic.jsonl", dir = scratch / "killed", calm = scratch / "calm";
  const std::string entities = std::to_string(4 + kills / 10);
  const Finished made = runWitan({"agent", "feed", "--entities", entities, "--days", "10", "--seed", "3"});
  ASSERT_EQ(made.exitCode, 0) << made.err;
  std::ofstream(feed) << made.out;
  const std::vector<std::string> run{"agent", "run", "--feed", feed.string(), "--quiet", "--dir"};
  const auto in = [&](const fs::path& place) {
    std::vector<std::string> words = run;
    words.push_back(place.string());
    return words;
  };
  const auto begin = [](const fs::path& place) {
    EXPECT_EQ(runWitan({"device", "init", "--dir", place.string(), "--device", "clinic"}).exitCode, 0);
  };
  begin(dir);
  begin(calm);

  const auto start = std::chrono::steady_clock::now();
  const Finished whole = runWitan(in(calm));
  ASSERT_TRUE(wentThrough(whole)) << whole.err;
  auto window = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  const json::object wanted = checked(calm);
  ASSERT_GT(wanted.at("operations").as_int64(), 0);
  ASSERT_GT(wanted.at("entries").as_int64(), 0);
  const auto isWhole = [&] {
    const json::object found = checked(dir);
    EXPECT_EQ(found.at("operations"), wanted.at("operations"));
    EXPECT_EQ(found.at("entries"), wanted.at("entries"));
  };

  // How long the whole takes says little of how long the next takes on a busy machine. A child that finished before its
  // kill is looked at, the next begins anew, and is killed earlier.
  SeededRandom random(seed);
  for (std::uint64_t died = 0, finished = 0; died < kills;) {
    Child child(in(dir));
    child.pump({}, {}, {}, std::chrono::microseconds(random.below(static_cast<std::uint64_t>(window.count()) + 1)));
    child.kill();
    const Finished end = child.wait();
    if (end.signal == SIGKILL) {
      ++died;
      window += window / 8;
      continue;
    }
    ASSERT_TRUE(wentThrough(end)) << end.err;
    ASSERT_LT(++finished, 4 * kills + 40) << "no child was killed amid its work";
    isWhole();
    fs::remove_all(dir);
    begin(dir);
    window -= window / 4;
  }
  const Finished last = runWitan(in(dir));
  ASSERT_TRUE(wentThrough(last)) << last.err;
  isWhole();
}

}  // namespace
}  // namespace witan::node::agent_kill_test
