// Memory: threads, folds, what an agent is reminded of, and what may be taken away (003, 0.6 and section 8; F4).
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "agents/memory/compactor.h"
#include "agents/memory/memory_context.h"
#include "agents/memory/retention.h"
#include "tests/replication/cluster.h"

namespace witan::agents::memory_test {
namespace {

using replication::DatabaseName;
using replication::Kind;
using replication::MessageBody;
using replication::MessageKind;
using replication::test::Device;
using replication::test::sync;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Now at(std::int64_t ms) { return {{ms * 1000}, ms}; }

CompactionOptions small() {
  CompactionOptions options;
  options.triggerBytes = 40;
  options.keepBytes = 20;
  return options;
}

void say(Device& device, const std::string& id, std::vector<std::string> parents, const std::string& content) {
  const MessageBody body{id, "lab", "main", MessageKind::thought, std::move(parents), content, 7, {}};
  const replication::Write write{Kind::message, id, *replication::encodeRecord(body), false};
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  device.flush();
}
// m1 <- m2 <- ..., ten bytes each.
void chain(Device& device, int from, int to) {
  for (int i = from; i <= to; ++i)
    say(device, "m" + std::to_string(i), i > 1 ? std::vector{"m" + std::to_string(i - 1)} : std::vector<std::string>{},
        "message-" + std::string(i < 10 ? "0" : "") + std::to_string(i));
}
Planned fold(Device& device, const Summariser& summariser, CompactionOptions options = small()) {
  Compactor compactor(device.replica(), options);
  const auto planned = compactor.plan("lab", "main", summariser, at(1));
  EXPECT_TRUE(planned.ok());
  EXPECT_TRUE(compactor.run(summariser, at(1)).ok());
  EXPECT_TRUE(compactor.jobs().empty());
  device.flush();
  return *planned;
}
MemoryContext remember(Device& device, MemoryLimits limits = {}) {
  return *memoryContext(device.agents(), *agentGraph(device.agents(), "lab"), "lab", "main", limits);
}
std::vector<std::string> idsOf(const MemoryContext& context) {
  std::vector<std::string> out;
  for (const Remembered& one : context.messages) out.push_back(one.id);
  return out;
}
std::size_t dangling(Device& device) { return danglingParents(*agentGraph(device.agents(), "lab")).size(); }

// Two devices whose models answer differently.
class Model final : public Summariser {
 public:
  explicit Model(std::string says) : says_(std::move(says)) {}
  std::string version() const override { return "model-1"; }
  Result<std::string> summarise(const SummaryRequest&) const override { return says_; }

 private:
  std::string says_;
};
class Broken final : public Summariser {
 public:
  std::string version() const override { return "model-1"; }
  Result<std::string> summarise(const SummaryRequest&) const override {
    return Error{ErrorCode::unavailable, "the model is away", ""};
  }
};

// peers.md 1.5, "Compaction plan".
TEST(FoldCount, GoldenCases) {
  const auto count = [](std::vector<std::int64_t> sizes, std::int64_t budget) { return foldCount(sizes, budget); };
  EXPECT_EQ(*count({40, 40, 15, 30}, 50), 2u);
  EXPECT_EQ(*count({10, 999}, 50), 1u);
  EXPECT_EQ(*count({10, 20, 30}, 100), 0u);
  EXPECT_EQ(*count({}, 0), 0u);
  EXPECT_FALSE(count({10}, -1).ok());
  EXPECT_FALSE(count({-10}, 1).ok());
}

RC_GTEST_PROP(FoldCount, ALargerBudgetNeverFoldsMoreAndTheRestFits, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 100));
  const auto budget = *rc::gen::inRange<std::int64_t>(0, 500);
  const auto more = *rc::gen::inRange<std::int64_t>(0, 500);
  const std::size_t folded = *foldCount(sizes, budget);
  RC_ASSERT(*foldCount(sizes, budget + more) <= folded);
  std::int64_t kept = 0;
  for (std::size_t i = folded; i < sizes.size(); ++i) kept += sizes[i];
  RC_ASSERT(kept <= budget || folded + 1 == sizes.size());
}

// 003, 0.6: "summarize an old span, persist ..., advance pointers only after successful summary commit".
TEST(Compaction, FoldsTheOldestAndRemindsOfTheRest) {
  Device a("a");
  chain(a, 1, 4);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::nothing);
  chain(a, 5, 6);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::job);
  MemoryContext context = remember(a);
  EXPECT_THAT(idsOf(context), ElementsAre("m5", "m6"));
  EXPECT_EQ(context.summary, "thought: message-01\nthought: message-02\nthought: message-03\nthought: message-04");
  const SummaryId id = *summaryId({"lab", "main", "m1", "m4", ExtractSummariser().version()});
  EXPECT_EQ(context.summaryId, id);
  EXPECT_EQ(a.view("lab").pointers.latestSummaryMessageId, summaryMessageId(id));
  EXPECT_EQ(a.agents().keys(Kind::message).size(), 7u) << "nothing is destroyed";
  // The next fold begins after it and takes it along.
  chain(a, 7, 9);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::job);
  context = remember(a);
  EXPECT_THAT(idsOf(context), ElementsAre("m8", "m9"));
  EXPECT_THAT(context.summary, HasSubstr("message-01"));
  EXPECT_THAT(context.summary, HasSubstr("message-07"));
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::nothing);
  EXPECT_EQ(canonicalJson(contextJson(context)).substr(0, 66),
            R"({"leftOut":0,"messages":[{"content":"message-08","kind":"thought"})");
}

// Cut off, another device wrote beside messages that are folded by now. The next summary takes the place of the one
// before, so it has to cover all that this one covers.
TEST(Compaction, WhatComesLateBesideAFoldIsRememberedOnceAndSoIsTheFold) {
  Device a("a"), b("b");
  chain(b, 1, 2);
  sync(a, b);
  chain(b, 3, 6);
  ASSERT_EQ(fold(b, ExtractSummariser()), Planned::job);
  say(a, "a1", {"m2"}, "besides-01");  // in the thread's order before what b wrote
  say(a, "a2", {"a1"}, "besides-02");
  say(a, "a3", {"a2"}, "besides-03");
  sync(a, b);
  for (int i = 0; i < 4; ++i) fold(b, ExtractSummariser());
  const MemoryContext context = remember(b);
  std::string all = context.summary;
  for (const Remembered& one : context.messages) all += "\n" + one.content;
  for (const char* words : {"message-01", "message-02", "message-03", "message-04", "message-05", "message-06",
                            "besides-01", "besides-02", "besides-03"}) {
    const std::size_t first = all.find(words);
    EXPECT_NE(first, std::string::npos) << words << " of " << all;
    EXPECT_EQ(all.find(words, first + 1), std::string::npos) << words << " twice in " << all;
  }
}

// 003, section 8: replaying a fold changes nothing.
TEST(Compaction, IsIdempotent) {
  Device a("a"), b("b");
  chain(a, 1, 6);
  sync(a, b);
  fold(a, ExtractSummariser());
  fold(b, ExtractSummariser());
  sync(a, b);
  EXPECT_EQ(a.agents().keys(Kind::summary).size(), 1u);
  EXPECT_EQ(remember(a), remember(b));
  EXPECT_THAT(remember(a).conflicts, IsEmpty());
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::nothing);
}

// F4: of two texts under one id the causally first stands, ties by smallest dot; no pointer moves.
TEST(F4, TwoTextsOfOneSpanAreOneSummaryAndAReportedConflict) {
  Device a("a"), b("b");
  chain(a, 1, 6);
  sync(a, b);
  fold(a, Model("what a's model says"));
  fold(b, Model("what b's model says"));
  const auto pointer = b.view("lab").pointers.latestSummaryMessageId;
  EXPECT_EQ(remember(b).summary, "what b's model says");
  sync(a, b);
  for (Device* device : {&a, &b}) {
    const MemoryContext context = remember(*device);
    EXPECT_EQ(context.summary, "what a's model says");
    ASSERT_EQ(context.conflicts.size(), 1u);
    EXPECT_EQ(context.conflicts[0].body.text, "what b's model says");
    EXPECT_THAT(idsOf(context), ElementsAre("m5", "m6"));
  }
  EXPECT_EQ(b.view("lab").pointers.latestSummaryMessageId, pointer);
}

// The crash cases of section 8: a summary without its pointer, or a pointer without its summary, is never durable.
TEST(Compaction, AtEveryWriteBoundaryThePointerNamesASummaryThatIsThere) {
  std::size_t crashes = 0;
  for (const auto moment : {store::Moment::before, store::Moment::after})
    for (std::uint64_t step = 0;; ++step) {
      Device a("a");
      chain(a, 1, 6);
      a.agentStore().crashAt(step, moment);
      bool failed = false;
      {
        Compactor compactor(a.replica(), small());
        ASSERT_TRUE(compactor.plan("lab", "main", Model("s"), at(1)).ok());
        failed = !a.replica().flush().ok();
        if (!failed) {
          ASSERT_TRUE(compactor.run(Model("s"), at(2)).ok());
          failed = !a.replica().flush().ok();
        }
      }
      if (!failed) break;
      ++crashes;
      a.crash();
      const auto pointer = a.view("lab").pointers.latestSummaryMessageId;
      EXPECT_EQ(pointer.has_value(), !a.agents().keys(Kind::summary).empty());
      Compactor again(a.replica(), small());
      ASSERT_TRUE(again.load(at(3)).ok());
      ASSERT_TRUE(again.plan("lab", "main", Model("s"), at(3)).ok() && again.run(Model("s"), at(3)).ok());
      EXPECT_THAT(idsOf(remember(a)), ElementsAre("m5", "m6"));
      EXPECT_EQ(a.agents().keys(Kind::summary).size(), 1u);
    }
  EXPECT_GE(crashes, 6u);
}

// Known failure: "a failing job re-ran a full model request every few seconds" (peers.md 1.4).
TEST(Compaction, WhatCannotBeSummarisedIsTriedMoreAndMoreRarelyAndThenWaitsForAPerson) {
  Device a("a");
  chain(a, 1, 6);
  Compactor compactor(a.replica(), small());
  ASSERT_EQ(*compactor.plan("lab", "main", Broken(), at(0)), Planned::job);
  std::vector<std::int64_t> tries;
  for (std::int64_t ms = 0; ms < 200'000; ms += 100) {
    const auto done = compactor.run(Broken(), at(ms));
    ASSERT_TRUE(done.ok());
    if (*done > 0) tries.push_back(ms);
    EXPECT_EQ(*compactor.plan("lab", "main", Broken(), at(ms)), Planned::nothing);
  }
  ASSERT_EQ(tries.size(), small().attempts);
  EXPECT_GE(tries[4] - tries[3], 4'000);
  const SummaryId id = compactor.jobs().begin()->first;
  EXPECT_EQ(compactor.jobs().begin()->second.job.status, FoldStatus::failed);
  EXPECT_EQ(compactor.jobs().begin()->second.job.lastError, "the model is away");
  EXPECT_FALSE(compactor.nextMs().has_value());
  a.flush();
  Compactor restarted(a.replica(), small());
  ASSERT_TRUE(restarted.load(at(0)).ok());
  EXPECT_EQ(*restarted.run(Model("s"), at(1)), 0u);
  ASSERT_TRUE(restarted.retry(id, at(1)).ok());
  EXPECT_EQ(*restarted.run(Model("s"), at(1)), 1u);
  EXPECT_EQ(remember(a).summary, "s");
  EXPECT_FALSE(restarted.answered(id, std::string("x"), at(2)).ok());
  EXPECT_FALSE(restarted.retry(id, at(2)).ok());
}

// Whoever starts again and again does not ask again and again.
TEST(Compaction, TheTimeOfTheNextAttemptOutlivesARestart) {
  Device a("a");
  chain(a, 1, 6);
  {
    Compactor compactor(a.replica(), small());
    ASSERT_EQ(*compactor.plan("lab", "main", Broken(), at(0)), Planned::job);
    ASSERT_EQ(*compactor.run(Broken(), at(0)), 1u);
    ASSERT_EQ(compactor.jobs().begin()->second.job.attempts, 1u);
  }
  a.flush();
  Compactor restarted(a.replica(), small());
  ASSERT_TRUE(restarted.load(at(10)).ok());
  EXPECT_EQ(*restarted.run(Model("s"), at(10)), 0u) << "too early";
  ASSERT_TRUE(restarted.nextMs());
  EXPECT_EQ(*restarted.run(Model("s"), at(*restarted.nextMs())), 1u);
  EXPECT_EQ(remember(a).summary, "s");
}

TEST(Compaction, AClockThatJumpedHoldsNoAttemptForEver) {
  Device a("a");
  chain(a, 1, 6);
  constexpr std::int64_t kYear = 365ll * 24 * 3'600'000;
  {
    Compactor compactor(a.replica(), small());
    ASSERT_EQ(*compactor.plan("lab", "main", Broken(), at(kYear)), Planned::job);
    ASSERT_EQ(*compactor.run(Broken(), at(kYear)), 1u);
  }
  a.flush();
  Compactor restarted(a.replica(), small());
  ASSERT_TRUE(restarted.load(at(0)).ok());
  EXPECT_LE(*restarted.nextMs(), small().lastBackoffMs);
}

TEST(Compaction, AnAnswerThatBreaksTheContractIsAFailure) {
  Device a("a");
  chain(a, 1, 6);
  Compactor compactor(a.replica(), small());
  ASSERT_EQ(*compactor.plan("lab", "main", Model(""), at(0)), Planned::job);
  const SummaryId id = compactor.jobs().begin()->first;
  ASSERT_TRUE(compactor.answered(id, std::string("\xff"), at(0)).ok());
  EXPECT_EQ(compactor.jobs().begin()->second.job.lastError, "a summary that is not UTF-8");
  ASSERT_TRUE(compactor.answered(id, std::string(kMaxSummaryBytes + 1, 'x'), at(0)).ok());
  EXPECT_EQ(compactor.jobs().begin()->second.job.attempts, 2u);
  a.replica().database(DatabaseName::agents).putMeta("fold/x", "garbage");
  EXPECT_FALSE(Compactor(a.replica(), small()).load(at(0)).ok());
}

// A late message from a device that was away belongs to no summary that was written without it.
TEST(Compaction, WhatComesLateIsRemembered) {
  Device a("a"), b("b");
  chain(a, 1, 3);
  sync(a, b);
  say(b, "late", {"m2"}, "said on b");
  chain(a, 4, 6);
  fold(a, ExtractSummariser());
  sync(a, b);
  for (Device* device : {&a, &b}) {
    EXPECT_THAT(idsOf(remember(*device)), testing::UnorderedElementsAre("late", "m5", "m6"));
    EXPECT_THAT(remember(*device).summary, Not(HasSubstr("said on b")));
  }
}

// peers.md 1.5, "Fork heal": one join with a deterministic id; idempotent; deferred when a parent is dangling.
TEST(Join, BranchesAreJoinedAlikeEverywhereAndOnlyWhenComplete) {
  Device a("a"), b("b");
  chain(a, 1, 2);
  sync(a, b);
  say(a, "x", {"m2"}, std::string(30, 'x'));
  say(b, "y1", {"m2"}, std::string(30, 'y'));
  say(b, "y2", {"y1"}, std::string(30, 'y'));
  sync(a, b);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::job) << "what one branch has behind it";
  EXPECT_THAT(idsOf(remember(a)), ElementsAre("y1", "y2"));
  sync(a, b);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::join);
  EXPECT_EQ(fold(b, ExtractSummariser()), Planned::join);
  EXPECT_EQ(a.agents().keys(Kind::message, "join/"), b.agents().keys(Kind::message, "join/"));
  sync(a, b);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::nothing);
  const auto join = a.agents().keys(Kind::message, "join/");
  ASSERT_EQ(join.size(), 1u);
  say(a, "z", {join[0]}, std::string(15, 'z'));
  sync(a, b);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::job);
  sync(a, b);
  EXPECT_THAT(idsOf(remember(a)), ElementsAre("z"));
  EXPECT_EQ(remember(a), remember(b));
  const auto graph = *agentGraph(a.agents(), "lab");
  EXPECT_FALSE(joinOf(graph, threadMessages(graph, "main")).has_value()) << "one head";
  say(a, "v", {"m1"}, "v");
  say(a, "w", {"not-here"}, "w");
  const auto holes = *agentGraph(a.agents(), "lab");
  EXPECT_FALSE(joinOf(holes, threadMessages(holes, "main")).has_value()) << "a parent is missing";
}

// design: "Memory context = latest summary + newer messages, bounded in bytes".
TEST(Context, IsBoundedNewestFirstAndCutsAtACharacter) {
  Device a("a");
  chain(a, 1, 50);
  MemoryLimits limits;
  limits.bytes = 35;
  MemoryContext context = remember(a, limits);
  EXPECT_THAT(idsOf(context), ElementsAre("m48", "m49", "m50"));
  EXPECT_EQ(context.leftOut, 47u);
  limits.messages = 1;
  EXPECT_THAT(idsOf(remember(a, limits)), ElementsAre("m50"));
  say(a, "m51", {"m50"}, "\xc3\xa4\xc3\xb6\xc3\xbc");
  limits.messageBytes = 3;
  context = remember(a, limits);
  ASSERT_EQ(context.messages.size(), 1u);
  EXPECT_EQ(context.messages[0].content, "\xc3\xa4");
  EXPECT_TRUE(context.messages[0].cut);
}

// Known failure: "pruning a parent leaves a dangling parent" (peers.md 1.4).
TEST(Retention, TakesAWholeFoldedPrefixOnceEveryoneHasTheSummaryAndLeavesNothingDangling) {
  Device a("a");
  chain(a, 1, 6);
  EXPECT_EQ(retainThread(a.replica(), "main", "lab", "main")->removed, 0u);
  fold(a, ExtractSummariser());
  const MemoryContext before = remember(a);
  const auto gone = *retainThread(a.replica(), "main", "lab", "main");
  EXPECT_EQ(gone.removed, 3u) << gone.held;
  a.flush();
  EXPECT_EQ(dangling(a), 0u);
  EXPECT_EQ(remember(a), before);
  EXPECT_EQ(retainThread(a.replica(), "main", "lab", "main")->removed, 0u);
  // It goes on.
  chain(a, 7, 9);
  EXPECT_EQ(fold(a, ExtractSummariser()), Planned::job);
  EXPECT_EQ(retainThread(a.replica(), "main", "lab", "main")->removed, 3u);
  EXPECT_EQ(dangling(a), 0u);
  EXPECT_THAT(idsOf(remember(a)), ElementsAre("m8", "m9"));
}

TEST(Retention, ABranchThatTheSummaryDoesNotCoverHoldsItsParents) {
  Device a("a"), b("b");
  chain(a, 1, 3);
  sync(a, b);
  say(b, "late", {"m2"}, "said on b");
  chain(a, 4, 6);
  fold(a, ExtractSummariser());
  sync(a, b);
  const auto held = *retainThread(a.replica(), "main", "lab", "main");
  EXPECT_EQ(held.removed, 0u);
  EXPECT_EQ(held.held, "message late follows m2, which is folded");
}

// The check that the tests above rest on can fail (F20).
TEST(Retention, ADanglingParentIsSeen) {
  Device a("a");
  chain(a, 1, 6);
  fold(a, ExtractSummariser());
  const replication::Write write{Kind::message, "m2", {}, true};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  const auto missing = danglingParents(*agentGraph(a.agents(), "lab"));
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].child, "m3");
}

}  // namespace
}  // namespace witan::agents::memory_test
