// Notification batches: their identity is that of one commit, wherever it is computed (F15); legacy tokens.
#include "replication/records/notification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/replication/record_history.h"

namespace witan::replication::notification_test {
namespace {

BatchDraft draftOf(std::vector<BatchChange> changes, std::vector<NotificationToken> tokens = {}) {
  return {"batch-1", std::move(changes), std::move(tokens), {}, ""};
}

Result<std::string> recordOf(const BatchDraft& draft) {
  WITAN_TRY(body, batchBodyOf(draft));
  return encodeRecord(body);
}

NotificationBatch seen(const BatchDraft& draft, const Dot& dot) {
  const auto body = recordOf(draft);
  EXPECT_TRUE(body.ok());
  const auto batch = batchOf({dot, {{dot.host, dot.counter}}, *body, false});
  EXPECT_TRUE(batch.ok());
  return *batch;
}

// identity.md, "Vectors", first line.
TEST(Notification, KeysAreThoseOfTheIdentityVectors) {
  const auto batch = seen(draftOf({{"journalEntity", "task-1", ChangeOrigin::local}}), {"hostA", 1});
  ASSERT_EQ(batch.changeUnitKeys.size(), 1u);
  EXPECT_EQ(batch.changeUnitKeys[0].hex(), "4931e8bf354039fc629b65076fa0ab08455db94de52fd53d9c56c5b14f53ce11");
}

rc::Gen<std::vector<BatchChange>> someChanges() {
  const auto one = rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 3), rc::gen::inRange(0, 20), rc::gen::inRange(0, 2)), [](const auto& t) {
        return BatchChange{"type-" + std::to_string(std::get<0>(t)), "id-" + std::to_string(std::get<1>(t)),
                           static_cast<ChangeOrigin>(std::get<2>(t))};
      });
  return rc::gen::nonEmpty(rc::gen::container<std::vector<BatchChange>>(one));
}

// 003, section 11: "1. deterministic logicalChangeKey from canonical change units".
RC_GTEST_PROP(Obligation1, LogicalChangeKeyIsAFunctionOfTheSetOfChangeUnits, ()) {
  test::onManyHistories([] {
    const auto changes = *someChanges();
    auto other = changes;
    std::reverse(other.begin(), other.end());
    other.push_back(other.front());
    const Dot dot{"hostA", test::uniform<std::uint64_t>(1, 1000)};
    const auto a = seen(draftOf(changes), dot);
    const auto b = seen(draftOf(other), dot);
    RC_ASSERT(a.logicalChangeKey == b.logicalChangeKey);
    RC_ASSERT(a.changeUnitKeys == b.changeUnitKeys);
    RC_ASSERT(std::is_sorted(a.changeUnitKeys.begin(), a.changeUnitKeys.end()));
    RC_ASSERT(std::adjacent_find(a.changeUnitKeys.begin(), a.changeUnitKeys.end()) == a.changeUnitKeys.end());
    RC_ASSERT(*recordOf(draftOf(changes)) == *recordOf(draftOf(other)));
    // Another commit, another change.
    RC_ASSERT(seen(draftOf(changes), {dot.host, dot.counter + 1}).logicalChangeKey != a.logicalChangeKey);
    RC_ASSERT(seen(draftOf(changes), {"hostB", dot.counter}).logicalChangeKey != a.logicalChangeKey);
  });
}

// "A test must show two devices deriving equal run keys for one edit" (identity.md): the author, who committed it, and
// a device that got the record through replication, among others and later.
RC_GTEST_PROP(Obligation1, TwoDevicesDeriveEqualKeysForOneEdit, ()) {
  test::onManyHistories([] {
    const auto draft = draftOf(*someChanges(), {{TokenClass::entityId, std::nullopt, "task-1"}});
    const Dot dot{"laptop@0000002a", test::uniform<std::uint64_t>(1, 1000)};
    const Version authored{dot, {{dot.host, dot.counter}, {"phone@00000007", 5}}, *recordOf(draft), false};
    Version received = authored;
    received.context = {{dot.host, dot.counter}};  // stripped on the way
    const auto here = *batchOf(authored), there = *batchOf(received);
    RC_ASSERT(here.logicalChangeKey == there.logicalChangeKey);
    RC_ASSERT(*subscriptionRunKey("agent-1", "sub-1", here.logicalChangeKey) ==
              *subscriptionRunKey("agent-1", "sub-1", there.logicalChangeKey));
  });
}

// F15's failing twins: were the origin the receiver's view, or a batch what a device happened to take together, two
// devices would derive different keys for one edit.
TEST(Notification, F15TheReceiversOriginOrBatchingWouldChangeTheKey) {
  const ChangeUnit unit{ChangeOrigin::local, "hostA", 1, "journalEntity", "task-1"};
  ChangeUnit asReceived = unit;
  asReceived.origin = ChangeOrigin::sync;
  EXPECT_NE(*changeUnitKey(unit), *changeUnitKey(asReceived));

  ChangeUnit next = unit;
  next.counter = 2;
  const std::vector<ChangeUnitKey> one{*changeUnitKey(unit)}, both{*changeUnitKey(unit), *changeUnitKey(next)};
  EXPECT_NE(*logicalChangeKey(one), *logicalChangeKey(both));
}

TEST(Notification, DependenciesAndTokensSurvive) {
  BatchDraft draft =
      draftOf({{"journalEntity", "task-1", ChangeOrigin::local}}, {{TokenClass::subtypeToken, "task", "done"},
                                                                   {TokenClass::entityId, std::nullopt, "task-1"},
                                                                   {TokenClass::entityId, std::nullopt, "task-1"}});
  draft.deps = {{"hostB", 3}, {"hostC", 1}};
  draft.sourceCursor = "calendar:17";
  const auto batch = seen(draft, {"hostA", 1});
  EXPECT_EQ(batch.deps, draft.deps);
  EXPECT_EQ(batch.sourceCursor, "calendar:17");
  EXPECT_THAT(batch.tokenKeys, testing::ElementsAre(TokenKey("entityId|-|task-1"), TokenKey("subtypeToken|task|done")));
  EXPECT_FALSE(batchOf({{"hostA", 1}, {}, "", true}).ok());
  EXPECT_FALSE(recordOf(draftOf({})).ok());
}

// 003, section 11: "3. typed-token namespace validity and rejection of malformed legacy tokens".
TEST(Obligation3, MalformedLegacyTokensAreRefusedWithTheCause) {
  const auto cause = [](std::string_view text) {
    auto token = parseLegacyToken(text);
    return token.ok() ? std::string("accepted") : token.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(cause(""), HasSubstr("no class"));
  EXPECT_THAT(cause("TASK_UPDATED"), HasSubstr("no class"));
  EXPECT_THAT(cause("entityId|task-1"), HasSubstr("two parts"));
  EXPECT_THAT(cause("entityId|-|task|1"), HasSubstr("more than three"));
  EXPECT_THAT(cause("EntityId|-|task-1"), HasSubstr("EntityId"));
  EXPECT_THAT(cause("subtypeToken|-|done"), HasSubstr("amespace"));
  EXPECT_THAT(cause("subtypeToken||done"), HasSubstr("amespace"));
  EXPECT_THAT(cause("entityId|task|task-1"), HasSubstr("amespace"));
  EXPECT_THAT(cause("semanticKey|task|x"), HasSubstr("amespace"));
  EXPECT_NE(cause("entityId|-|"), "accepted");
  EXPECT_NE(cause("entityId|-|a b"), "accepted");
  EXPECT_NE(cause("entityId|-|" + std::string(257, 'a')), "accepted");
  EXPECT_THAT(cause(std::string(1000, '\x1b')), HasSubstr("\\x1b"));
}

// 003, 3.1: a namespace is there exactly for subtypeToken. What is accepted has the very text as its token key.
RC_GTEST_PROP(Obligation3, AcceptedTokensHaveANamespaceExactlyIfTheyAreSubtypes, ()) {
  test::onManyHistories([] {
    const auto part = rc::gen::element<std::string>("semanticKey", "subtypeToken", "entityId", "-", "", "a", "a.b", "|",
                                                    "x y", "entityid");
    const std::string text = *part + "|" + *part + "|" + *part;
    const auto token = parseLegacyToken(text);
    if (!token.ok()) return;
    RC_ASSERT(token->tokenNamespace.has_value() == (token->tokenClass == TokenClass::subtypeToken));
    RC_ASSERT(tokenKey(*token)->str() == text);
  });
}

}  // namespace
}  // namespace witan::replication::notification_test
