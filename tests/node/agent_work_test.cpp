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
  const Finished again = runWitan({"agent", "resume", "udt-lab", "--dir", dir});
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_THAT(again.err, HasSubstr("is destroyed"));
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
    EXPECT_EQ(runWitan({"saga", verb, nowhere, "--dir", dir}).exitCode, 1) << verb;
    EXPECT_THAT(runWitan({"saga", verb, "x", "--dir", dir}).err, HasSubstr("is no operation id")) << verb;
  }
  EXPECT_EQ(runWitan({"approval", "approve", nowhere, "--digest", nowhere, "--dir", dir}).exitCode, 1);
  EXPECT_THAT(runWitan({"agent", "run", "--agent", "nobody", "--feed", kDay, "--dir", dir}).err,
              HasSubstr("there is no agent nobody"));
}

}  // namespace
}  // namespace witan::node::agent_work_test
