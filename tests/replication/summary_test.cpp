// Summaries: which text stands when several devices summarised one span (F4).
#include "replication/records/record_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/replication/record_history.h"

namespace witan::replication::summary_test {
namespace {

SummaryBody bodyWith(std::string text, std::uint64_t rank = 1) {
  return {"agent-1", "thread-1", "m1", "m9", "summarizer-1", std::move(text), rank};
}
const SummaryId kId = *summaryIdOf(bodyWith(""));

std::vector<Version> someHistory() {
  return test::generatedHistory(8, [](const std::vector<Version>& seen) {
    const auto text = *rc::gen::element<std::string>("one", "two", "three");
    return *encodeRecord(bodyWith(text, nextRank(summaryViewOf(kId, seen))));
  });
}

// The vectors of identity.md, last line.
TEST(Summary, IdIsThatOfTheIdentityVectors) {
  EXPECT_EQ(kId.hex(), "d7313f4c73bd3c110d09ee4e036bb108738886faf1476efe51be722dac086cdb");
}

// F4: a pure function of the set, so replicas that hold the same versions show the same text.
RC_GTEST_PROP(F4, ViewIndependentOfPermutation, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    RC_ASSERT(summaryViewOf(kId, test::shuffled(all)) == summaryViewOf(kId, all));
  });
}

// F4: "the winner is the causally first, ties by smallest dot".
RC_GTEST_PROP(F4, TheWinnerIsTheSmallestDotAmongTheMinimalElements, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    std::vector<Dot> minimal;
    for (const Version& v : all)
      if (std::none_of(all.begin(), all.end(),
                       [&](const Version& other) { return other.dot != v.dot && v.context.covers(other.dot); }))
        minimal.push_back(v.dot);
    const SummaryView view = summaryViewOf(kId, all);
    RC_ASSERT(view.winner->dot == *std::min_element(minimal.begin(), minimal.end()));
    RC_ASSERT(1 + view.conflicts.size() + view.repeats.size() == all.size());
    for (const SummaryVersion& v : view.conflicts) RC_ASSERT(v.body.text != view.winner->body.text);
  });
}

// Each replica shortens contexts when it learns that everybody has a version: that must not show.
RC_GTEST_PROP(F4, ShorteningContextsChangesNothing, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    auto stripped = all;
    for (Version& v : stripped)
      if (test::uniform(0, 2) == 0) v.context = {{v.dot.host, v.dot.counter}};
    RC_ASSERT(summaryViewOf(kId, stripped) == summaryViewOf(kId, all));
  });
}

// The failing twins. Literally, 003 section 8: "keep first committed summary content".
TEST(F4, FirstCommittedDiffersPerReplica) {
  const Version a{{"A", 1}, {{"A", 1}}, *encodeRecord(bodyWith("one")), false};
  const Version b{{"B", 1}, {{"B", 1}}, *encodeRecord(bodyWith("two")), false};
  const auto firstCommitted = [](const std::vector<Version>& arrived) { return arrived.front().body; };
  EXPECT_NE(firstCommitted({a, b}), firstCommitted({b, a}));
  EXPECT_EQ(summaryViewOf(kId, std::vector{a, b}), summaryViewOf(kId, std::vector{b, a}));
  EXPECT_EQ(summaryViewOf(kId, std::vector{a, b}).winner->body.text, "one");
  EXPECT_EQ(summaryViewOf(kId, std::vector{a, b}).conflicts.size(), 1u);
}
// And the causally first by contexts, as long as they are there.
TEST(F4, FirstByContextsAloneDiffersOnceTheyAreShortened) {
  const auto firstByContext = [](const std::vector<Version>& all) {
    std::vector<Dot> minimal;
    for (const Version& v : all)
      if (std::none_of(all.begin(), all.end(),
                       [&](const Version& other) { return other.dot != v.dot && v.context.covers(other.dot); }))
        minimal.push_back(v.dot);
    return *std::min_element(minimal.begin(), minimal.end());
  };
  const Version first{{"B", 1}, {{"B", 1}}, *encodeRecord(bodyWith("one", 1)), false};
  Version second{{"A", 1}, {{"A", 1}, {"B", 1}}, *encodeRecord(bodyWith("two", 2)), false};
  EXPECT_EQ(firstByContext({first, second}), first.dot);
  EXPECT_EQ(summaryViewOf(kId, std::vector{first, second}).winner->dot, first.dot);
  second.context = {{"A", 1}};
  EXPECT_EQ(firstByContext({first, second}), second.dot);
  EXPECT_EQ(summaryViewOf(kId, std::vector{first, second}).winner->dot, first.dot);
}

TEST(Summary, AnotherSpanIsUnreadableHere) {
  SummaryBody other = bodyWith("text");
  other.endMessageId = "m8";
  const auto view =
      summaryViewOf(kId, std::vector<Version>{{{"A", 1}, {}, *encodeRecord(other), false}, {{"B", 1}, {}, "", true}});
  EXPECT_FALSE(view.winner.has_value());
  ASSERT_EQ(view.unreadable.size(), 2u);
  EXPECT_THAT(view.unreadable[0].why, testing::HasSubstr(summaryIdOf(other)->hex()));
}

}  // namespace
}  // namespace witan::replication::summary_test
