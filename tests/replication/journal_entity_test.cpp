// Journal entities: a multi-value register that only a person settles.
#include "replication/records/journal_entity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/replication/record_history.h"

namespace witan::replication::journal_entity_test {
namespace {

JournalEdit editOf(std::string payload, std::string author = "person-1") {
  return {"task", std::move(payload), std::move(author), 5, std::nullopt};
}

// As a device would write: on top of what it sees, resolving if it must.
std::string bodyOn(const std::vector<Version>& seen, const std::string& payload) {
  const JournalView view = journalViewOf(seen);
  if (!view.inConflict()) return *encodeRecord(*journalEdit(view, editOf(payload)));
  std::vector<Dot> shown;
  for (const Sibling& s : view.siblings) shown.push_back(s.dot);
  return *encodeRecord(*journalResolution(view, editOf(payload), shown));
}

std::vector<Version> someHistory() {
  int n = 0;
  auto all = test::generatedHistory(
      12, [&](const std::vector<Version>& seen) { return bodyOn(seen, R"({"n":)" + std::to_string(++n) + "}"); });
  for (Version& v : all)
    if (test::uniform(0, 8) == 0) v.tombstone = true, v.body.clear();
  return all;
}

RC_GTEST_PROP(JournalEntity, ViewIndependentOfPermutationAndOfWhatWasSuperseded, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    const JournalView view = journalViewOf(all);
    RC_ASSERT(journalViewOf(test::shuffled(all)) == view);
    std::vector<Version> held;
    for (const Version* v : maximalVersions(all)) held.push_back(*v);
    RC_ASSERT(journalViewOf(held) == view);
  });
}

// No edit is lost that nobody had seen, and the one that readers see is the largest by (lamport, host, counter).
RC_GTEST_PROP(JournalEntity, EveryUnseenEditIsASiblingAndTheLargestIsShown, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    const JournalView view = journalViewOf(all);
    for (const Version& v : all) {
      const bool seen = std::any_of(all.begin(), all.end(), [&](const Version& other) {
        return other.dot != v.dot && other.context.covers(v.dot);
      });
      const bool there =
          std::any_of(view.siblings.begin(), view.siblings.end(), [&](const Sibling& s) { return s.dot == v.dot; });
      RC_ASSERT(there == !seen);
    }
    for (const Sibling& s : view.siblings) {
      if (!s.body) continue;
      RC_ASSERT(view.shown.has_value());
      const Sibling& best = view.siblings[*view.shown];
      RC_ASSERT(std::tie(s.body->lamport, s.dot.host, s.dot.counter) <=
                std::tie(best.body->lamport, best.dot.host, best.dot.counter));
    }
  });
}

// A later edit has a larger lamport than all that its author saw.
RC_GTEST_PROP(JournalEntity, LamportFollowsCausality, ()) {
  test::onManyHistories([] {
    const auto all = test::generatedHistory(10, [](const std::vector<Version>& seen) { return bodyOn(seen, "1"); });
    for (const Version& a : all)
      for (const Version& b : all)
        if (a.dot != b.dot && b.context.covers(a.dot))
          RC_ASSERT(decodeRecord<JournalBody>(a.body)->lamport < decodeRecord<JournalBody>(b.body)->lamport);
  });
}

Version versionOf(Dot dot, VectorClock context, const JournalBody& body) {
  context.set(dot.host, dot.counter);
  return {dot, context, *encodeRecord(body), false};
}

struct Fork {
  Version a = versionOf({"A", 1}, {}, *journalEdit({}, editOf(R"({"title":"milk"})")));
  Version b = versionOf({"B", 1}, {}, *journalEdit({}, editOf(R"({"title":"bread"})")));
  JournalView view = journalViewOf(std::vector{a, b});
};

TEST(JournalEntity, EditsThatSayTheSameLeaveNothingToChoose) {
  JournalEdit other = editOf(R"({"title":"milk"})");
  other.author = "person-2";
  other.editedAtMs = 77;
  const Fork fork;
  const Version same = versionOf({"C", 1}, {}, *journalEdit({}, other));
  EXPECT_FALSE(journalViewOf(std::vector{fork.a, same}).inConflict());
  EXPECT_TRUE(journalViewOf(std::vector{fork.a, fork.b, same}).inConflict());
  other.type += "-other";
  const Version typed = versionOf({"C", 1}, {}, *journalEdit({}, other));
  EXPECT_TRUE(journalViewOf(std::vector{fork.a, typed}).inConflict());
}

TEST(JournalEntity, LargeNumbersAreKeptAsTheyWere) {
  const auto body = journalEdit(JournalView{}, editOf(R"({"n": 8.611594247095819e16, "x": 1.50})"));
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_EQ(body->payload, R"({"n":86115942470958192,"x":1.5})");
}

TEST(JournalEntity, AConflictIsShownAndAPersonSettlesIt) {
  const Fork fork;
  ASSERT_TRUE(fork.view.inConflict());
  EXPECT_EQ(fork.view.siblings.size(), 2u);
  EXPECT_EQ(fork.view.siblings[*fork.view.shown].dot, (Dot{"B", 1}));
  EXPECT_EQ(journalEdit(fork.view, editOf("1")).error().code, ErrorCode::conflict);

  const auto body = journalResolution(fork.view, editOf(R"({"title": "milk, bread"})"), {{"B", 1}, {"A", 1}});
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->payload, R"({"title":"milk, bread"})");
  EXPECT_EQ(body->resolves, (std::vector<DotEntry>{{"A", 1}, {"B", 1}}));
  const Version resolved = versionOf({"A", 2}, {{"B", 1}}, *body);
  const JournalView after = journalViewOf(std::vector{fork.a, fork.b, resolved});
  EXPECT_FALSE(after.inConflict());
  EXPECT_EQ(after.siblings[*after.shown].dot, (Dot{"A", 2}));
  EXPECT_EQ(journalResolution(after, editOf("1"), {{"A", 2}}).error().code, ErrorCode::conflict);
}

// A person settles exactly what was shown: an edit that came in since is not silenced.
TEST(JournalEntity, AStaleResolutionIsRefused) {
  const Fork fork;
  const Version c = versionOf({"C", 1}, {}, *journalEdit({}, editOf("3")));
  const auto body = journalResolution(journalViewOf(std::vector{fork.a, fork.b, c}), editOf("1"), {{"A", 1}, {"B", 1}});
  EXPECT_EQ(body.error().code, ErrorCode::conflict);
  EXPECT_THAT(body.error().message, testing::HasSubstr("now: A:1, B:1, C:1"));
}

TEST(JournalEntity, AnEditBesideADeletionIsShownAndADeletionAloneIsNot) {
  const Fork fork;
  const Version deleted{{"C", 1}, {{"C", 1}}, "", true};
  const JournalView both = journalViewOf(std::vector{fork.a, deleted});
  EXPECT_TRUE(both.inConflict());
  EXPECT_EQ(both.siblings[*both.shown].dot, (Dot{"A", 1}));
  const JournalView alone = journalViewOf(std::vector{deleted});
  EXPECT_FALSE(alone.inConflict());
  EXPECT_FALSE(alone.shown.has_value());
}

// A sibling that this build cannot read is not passed over: a newer one may be able to.
TEST(JournalEntity, AnUnreadableSiblingIsAConflict) {
  const Fork fork;
  const Version strange{{"C", 1}, {{"C", 1}}, "strange!", false};
  const JournalView view = journalViewOf(std::vector{fork.a, strange});
  EXPECT_TRUE(view.inConflict());
  EXPECT_EQ(view.unreadable.size(), 1u);
  EXPECT_EQ(journalEdit(view, editOf("1")).error().code, ErrorCode::conflict);
  EXPECT_TRUE(journalResolution(view, editOf("1"), {{"A", 1}, {"C", 1}}).ok());
  EXPECT_FALSE(journalEdit({}, editOf("{")).ok());
}

}  // namespace
}  // namespace witan::replication::journal_entity_test
