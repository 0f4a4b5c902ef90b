// Agents at work by the program itself: what README.md shows, and what people get wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/replica.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::agent_work_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDay = std::string(witan::tests::kSourceDir) + "/docs/examples/clinic-day.jsonl";

Finished work(const std::string& dir, const std::string& feed) {
  return runWitan({"agent", "run", "--dir", dir, "--feed", feed});
}

TEST(AgentWork, TheReadmesDay) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic";
  const Finished ran = work(dir, kDay);
  EXPECT_EQ(ran.exitCode, 3) << "the second claim fails: " << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("order O1 has two live claims: C1 and C2"));
  EXPECT_THAT(ran.out, HasSubstr("started 11, completed 10, failed 1, plans 6, looks 18, actions 7, proposals 6"));
  const Finished check = runWitan({"agent", "check", "--dir", dir});
  EXPECT_EQ(
      check.out,
      "ok: 7 operations, one effect each (1 in the journal); 11 runs ended; the ledgers verify, with 5 entries\n");
  // Fed again: nothing is left to do.
  EXPECT_EQ(work(dir, kDay).exitCode, 0);
  EXPECT_EQ(runWitan({"agent", "check", "--dir", dir}).out, check.out);
}

TEST(AgentWork, EveryRunReplaysByteForByte) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic";
  ASSERT_EQ(work(dir, kDay).exitCode, 3);
  const Finished listed = runWitan({"wake", "list", "--all", "--json", "--dir", dir});
  std::size_t runs = 0;
  const json::value wakes = *parseJson(listed.out);
  for (const json::value& run : wakes.at("wakes").as_array()) {
    const std::string key(run.at("run").as_string());
    const Finished replayed = runWitan({"episode", "replay", key, "--dir", dir});
    EXPECT_EQ(replayed.exitCode, 0) << replayed.out << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("reproduced byte for byte"));
    ++runs;
  }
  EXPECT_EQ(runs, 11u);
}

// From the order in the journal to the decision in the ledger, and what a stricter policy would have stopped of it.
TEST(AgentWork, WhyADecisionWasMade) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic";
  ASSERT_EQ(work(dir, kDay).exitCode, 3);
  const Finished told = runWitan({"why", "udt/David", "--json", "--dir", dir});
  ASSERT_EQ(told.exitCode, 0) << told.err;
  const json::value why = *parseJson(told.out, {.bytes = 4 << 20, .depth = 64});
  std::vector<std::string> kinds;
  std::string operation;
  for (const json::value& link : why.at("links").as_array()) {
    kinds.emplace_back(link.at("kind").as_string());
    for (const json::value& cause : link.at("causes").as_array())
      EXPECT_LT(cause.to_number<std::size_t>(), kinds.size() - 1) << "a cause comes before what follows from it";
    if (kinds.back() == "operation") operation = std::string(link.at("id").as_string());
    if (kinds.back() == "change") {
      EXPECT_EQ(link.at("detail").at("changeKey").as_string().size(), 64u);
    }
  }
  for (const char* kind : {"person", "version", "change", "wake", "look", "plan", "verdict", "operation", "decision"})
    EXPECT_THAT(kinds, ::testing::Contains(kind));
  EXPECT_EQ(kinds.back(), "decision");
  // The same from the operation.
  EXPECT_THAT(runWitan({"why", operation, "--dir", dir}).out, HasSubstr("proof: witan ledger proof "));
  EXPECT_THAT(runWitan({"why", "udt/David", "--svg", "--dir", dir}).out, HasSubstr("</svg>"));
  EXPECT_THAT(runWitan({"why", "nothing", "--dir", dir}).err, HasSubstr("nothing here is called \"nothing\""));
  const std::string policy = std::string(witan::tests::kSourceDir) + "/docs/examples/clinic-policy.toml";
  const Finished same = runWitan({"policy", "simulate", policy, "--dir", dir});
  EXPECT_THAT(same.out, HasSubstr("25 calls judged again: all as they were")) << same.err;
  scratch.write("strict.toml", "name = \"strict\"\nversion = 1\n");
  const Finished strict = runWitan({"policy", "simulate", scratch / "strict.toml", "--dir", dir});
  EXPECT_EQ(strict.exitCode, 3) << strict.err;
  EXPECT_THAT(strict.out, HasSubstr("udt-lab  propose  allow -> deny out_of_scope"));
  EXPECT_EQ(runWitan({"policy", "simulate", scratch / "strict.toml", "--since", "2099-01-01T00:00:00Z", "--dir", dir})
                .exitCode,
            0);
}

// The day is months ago: what its runs left can go, and nothing is done again.
TEST(AgentWork, WhatRunsLeftGoes) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic";
  ASSERT_EQ(work(dir, kDay).exitCode, 3);
  EXPECT_THAT(runWitan({"agent", "usage", "--dir", dir}).out, HasSubstr("udt-lab"));
  EXPECT_THAT(runWitan({"agent", "prune", "--days", "36500", "--dir", dir}).out, HasSubstr("went: 0 runs"));
  EXPECT_THAT(runWitan({"agent", "prune", "--days", "1", "--dir", dir}).out, HasSubstr("went: 11 runs"));
  EXPECT_EQ(runWitan({"wake", "list", "--all", "--dir", dir}).out, "no runs\n");
  EXPECT_EQ(runWitan({"episode", "list", "--dir", dir}).out, "no transcripts\n");
  EXPECT_EQ(runWitan({"agent", "check", "--dir", dir}).exitCode, 0);
  const std::string before = runWitan({"ledger", "tail", "-n", "0", "--dir", dir}).out;
  EXPECT_EQ(work(dir, kDay).out, "nothing to do\n") << "until every device has let go of it";
  EXPECT_EQ(runWitan({"ledger", "tail", "-n", "0", "--dir", dir}).out, before);
  EXPECT_THAT(runWitan({"agent", "reset", "udt-lab", "--dir", dir}).out, HasSubstr("reset udt-lab"));
}

TEST(AgentWork, BadLinesAreNamed) {
  const Scratch scratch;
  const std::pair<const char*, const char*> lines[] = {
      {"{", "line 1"},
      {"[]", "line 1: no object"},
      {R"({"id":"a","type":"note","payload":1})", "line 1: it has no \"at\""},
      {R"({"at":"yesterday","id":"a","type":"note","payload":1})", "line 1"},
      {R"({"at":"2026-03-23T08:00:00Z","id":"a b","type":"note","payload":1})", "line 1"},
      {R"({"at":"2026-03-23T08:00:00Z","id":"a","type":"note"})", "no \"payload\""},
      {R"({"at":"2026-03-23T08:00:00Z","id":"a","type":"note","payload":1,"author":"ann"})",
       "unknown member \"author\""},
      {R"({"at":"2026-03-23T08:00:00Z","agent":"udt-lab","session":"s","turn":"1","text":"hi","id":"a"})", "\"id\""},
      {R"({"at":"2026-03-23T08:00:00Z","agent":"udt-lab","session":"s","turn":"1"})", "no \"text\""},
      {R"({"at":"1969-12-31T23:59:59Z","id":"a","type":"note","payload":1})", "is before 1970"},
      {R"({"at":"2026-03-23T08:00:00Z","agent":"nobody","session":"s","turn":"1","text":"hi"})", "nobody"},
  };
  for (const auto& [line, cause] : lines) {
    scratch.write("feed.jsonl", std::string(line) + "\n");
    const Finished ran = work(scratch / "dir", scratch / "feed.jsonl");
    EXPECT_EQ(ran.exitCode, 1) << line;
    EXPECT_THAT(ran.err, HasSubstr(cause)) << line;
  }
  scratch.write("feed.jsonl", R"({"at":"2026-03-23T08:00:00Z","id":"a","type":"note","payload":1}
{"at":"2026-03-23T07:00:00Z","id":"b","type":"note","payload":1}
)");
  EXPECT_THAT(work(scratch / "dir", scratch / "feed.jsonl").err,
              HasSubstr("line 2: it is earlier than the line before"));
  // Nothing of it was applied.
  EXPECT_FALSE(std::filesystem::exists(scratch / "dir"));
  const std::string deep = std::string(30, '[') + std::string(30, ']');
  scratch.write("feed.jsonl", R"({"at":"2026-03-23T08:00:00Z","id":"a","type":"note","payload":)" + deep + "}\n");
  EXPECT_THAT(work(scratch / "dir", scratch / "feed.jsonl").err, HasSubstr("line 1"));
}

TEST(AgentWork, LinesThatMeetAConflictAreSaidAndTheOthersGoOn) {
  test::Garden garden;
  const test::Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  test::meet(laptop, phone);
  laptop.ok({"journal", "put", "n1", "--type", "note", "--text", "beans"});
  phone.ok({"journal", "put", "n1", "--type", "note", "--text", "peas"});
  test::meet(laptop, phone);
  garden.scratch().write("feed.jsonl", R"({"at":"2026-03-23T08:00:00Z","id":"n1","type":"note","payload":"maize"}
{"at":"2026-03-23T08:00:00Z","id":"n2","type":"note","payload":"corn"}
)");
  const Finished ran = work(laptop.dir(), garden / "feed.jsonl");
  EXPECT_EQ(ran.exitCode, 3) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("line 1: the entry was edited on several devices at once"));
  EXPECT_THAT(laptop.ok({"journal", "get", "n2"}), HasSubstr("corn"));
}

// A patient and the first order, both at eight o'clock.
TEST(AgentWork, EntriesOfOneMomentAreWorkedInTheirOrder) {
  const Scratch scratch;
  std::ifstream day(kDay);
  std::string patient, order;
  std::getline(day, patient), std::getline(day, order);
  order.replace(order.find("09:00"), 5, "08:00");
  scratch.write("feed.jsonl", patient + "\n" + order + "\n");
  const Finished ran = work(scratch / "dir", scratch / "feed.jsonl");
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("failed")));
}

TEST(AgentWork, TheAnswerToWhatWasSaidIsPrinted) {
  const Scratch scratch;
  const std::string line = R"({"at":"2026-03-23T08:00:00Z","agent":"udt-lab","session":"s","turn":"1","text":"hi"})";
  scratch.write("feed.jsonl", line + "\n");
  EXPECT_THAT(work(scratch / "dir", scratch / "feed.jsonl").out, HasSubstr("agent answer  udt-lab: nothing"));
  ASSERT_EQ(runWitan({"agent", "pause", "udt-lab", "--dir", scratch / "quiet"}).exitCode, 0);
  EXPECT_THAT(work(scratch / "quiet", scratch / "feed.jsonl").out,
              HasSubstr("agent unheard  udt-lab does not hear what was said: the agent is dormant"));
}

TEST(AgentWork, APausedAgentIsNotWoken) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic";
  ASSERT_EQ(runWitan({"agent", "pause", "udt-lab", "--dir", dir}).exitCode, 0);
  ASSERT_EQ(work(dir, kDay).exitCode, 3);
  const std::string runs = runWitan({"wake", "list", "--all", "--agent", "udt-lab", "--dir", dir}).out;
  EXPECT_THAT(runs, HasSubstr("skippedSleeping"));
  EXPECT_THAT(runs, Not(HasSubstr("completed")));
  ASSERT_EQ(runWitan({"agent", "resume", "udt-lab", "--dir", dir}).exitCode, 0);
  ASSERT_EQ(runWitan({"agent", "destroy", "udt-lab", "--dir", dir}).exitCode, 0);
  for (const char* verb : {"pause", "resume", "destroy"}) {
    const Finished unknown = runWitan({"agent", verb, "udt-lap", "--dir", dir});
    EXPECT_EQ(unknown.exitCode, 1) << verb;
    EXPECT_THAT(unknown.err, HasSubstr("no agent \"udt-lap\""));
  }
  EXPECT_EQ(runWitan({"wake", "list", "--failed", "--agent", "udt-lab", "--dir", dir}).out, "no run failed\n");
  for (const char* verb : {"resume", "reset"}) {
    const Finished again = runWitan({"agent", verb, "udt-lab", "--dir", dir});
    EXPECT_EQ(again.exitCode, 1) << verb;
    EXPECT_THAT(again.err, HasSubstr("is destroyed"));
  }
}

TEST(AgentWork, WhatIsNotThereIsSaid) {
  const Scratch scratch;
  const std::string dir = scratch / "clinic", nowhere(64, 'a');
  ASSERT_EQ(work(dir, kDay).exitCode, 3);
  EXPECT_EQ(runWitan({"saga", "list", "--dir", dir}).out, "no saga is under way or waits for a person\n");
  EXPECT_EQ(runWitan({"approval", "list", "--dir", dir}).out, "no effect waits for a person\n");
  EXPECT_EQ(runWitan({"wake", "list", "--dir", dir}).out, "no wake waits\n");
  const std::string failed = runWitan({"wake", "list", "--failed", "--dir", dir}).out;
  EXPECT_THAT(failed, HasSubstr("order O1 has two live claims: C1 and C2"));
  EXPECT_THAT(failed, Not(HasSubstr("completed")));
  // By the first digits of an operation id.
  const std::string all = runWitan({"saga", "list", "--all", "--json", "--dir", dir}).out;
  const std::string operation = all.substr(all.find("\"operation\":\"") + 13, 64);
  EXPECT_THAT(runWitan({"saga", "show", operation.substr(0, 12), "--dir", dir}).out, HasSubstr(operation));
  for (const char* verb : {"show", "retry", "compensate"}) {
    std::vector<std::string> words{"saga", verb, nowhere, "--dir", dir};
    if (verb != std::string_view("show")) {
      EXPECT_THAT(runWitan(words).err, HasSubstr("--by")) << verb;
      words.insert(words.end(), {"--by", "ann"});
    }
    EXPECT_EQ(runWitan(words).exitCode, 1) << verb;
    words[2] = "x";
    EXPECT_THAT(runWitan(words).err, HasSubstr("is no operation id")) << verb;
  }
  std::vector<std::string> approve{"approval", "approve", nowhere, "--digest", nowhere, "--dir", dir};
  EXPECT_THAT(runWitan(approve).err, HasSubstr("--by"));
  approve.insert(approve.end(), {"--by", "ann"});
  EXPECT_EQ(runWitan(approve).exitCode, 1);
  EXPECT_THAT(runWitan({"agent", "run", "--agent", "nobody", "--feed", kDay, "--dir", dir}).err,
              HasSubstr("there is no agent nobody"));
}

}  // namespace
}  // namespace witan::node::agent_work_test
