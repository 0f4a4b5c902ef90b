// Golden vectors of the identities (computed independently of this code) and what the boundary refuses.
#include "base/identity.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <sstream>
#include <unordered_set>

namespace witan::identity_test {
namespace {

const ChangeUnit kTask1{ChangeOrigin::local, "hostA", 1, "journalEntity", "task-1"};
const ChangeUnit kTask2{ChangeOrigin::local, "hostA", 2, "journalEntity", "task-2"};

LogicalChangeKey changeOfBoth() {
  const std::vector<ChangeUnitKey> keys = {*changeUnitKey(kTask1), *changeUnitKey(kTask2)};
  return *logicalChangeKey(keys);
}

RunKey subscriptionRun() { return *subscriptionRunKey("agent-1", "sub-1", changeOfBoth()); }

ArgsHash vectorArgs() { return argsHash(*parseJson(R"({"b":"x","a":1})")); }

ActionStableId vectorAction() {
  const std::vector<std::string> scope = {"category:work"};
  const std::vector<std::string> targets = {"task-1"};
  return *actionStableId("journal.setStatus", vectorArgs(), scope, targets);
}

TEST(Identity, VectorChangeUnitKeys) {
  EXPECT_EQ(changeUnitKey(kTask1)->hex(), "4931e8bf354039fc629b65076fa0ab08455db94de52fd53d9c56c5b14f53ce11");
  EXPECT_EQ(changeUnitKey(kTask2)->hex(), "47070d88cdcef1fe59a5850032c09518a3206a89e69fb015c09feff408bf5b14");
}

TEST(Identity, VectorLogicalChangeKey) {
  EXPECT_EQ(changeOfBoth().hex(), "40b1047f3d9adab54c0d6bf8a578c827f8c98a8c9284ea3e41e35588370517b6");
}

TEST(Identity, VectorRunKeySubscription) {
  EXPECT_EQ(subscriptionRun().hex(), "a7ef5d9c058a0012ee9b242bfe59e1741fb14709bd6f37fa6cb7119f530d9831");
}

TEST(Identity, VectorRunKeyTimer) {
  EXPECT_EQ(timerRunKey("agent-1", "timer-1", 1767225600000)->hex(),
            "5d6c7a4af554d25cad98763e3c37a55a0e0eaaf943dbe3c0dff826f16e272006");
}

TEST(Identity, VectorRunKeyUser) {
  EXPECT_EQ(userRunKey("agent-1", "session-1", "turn-1")->hex(),
            "2214b1244a83b1803b34663f3de6b9b862c87392887cf51fc89e367b27e5145c");
}

TEST(Identity, VectorArgsHash) {
  EXPECT_EQ(vectorArgs().hex(), "ecf9e98ec0641e23113ff3ce8bdc78d0ddd249886517fd4a7f68cc83d4e65667");
}

TEST(Identity, VectorActionStableId) {
  EXPECT_EQ(vectorAction().hex(), "a40ade36bf1ec60e00863df1dc7d94cb128ccda82fef5f3832248db1b4602ce8");
}

TEST(Identity, VectorOperationId) {
  EXPECT_EQ(operationId(subscriptionRun(), vectorAction()).hex(),
            "789f65a6a0f59b783b8d801cd2db5cf6e4e1d7c5df35dbcaf9966353c5f8f232");
}

TEST(Identity, VectorOperationIdSecondOccurrence) {
  EXPECT_EQ(operationId(subscriptionRun(), vectorAction(), 1).hex(),
            "425ea913c7663edeb066e348fe0b160f7515a86e366ca567bdc0515d1af504c4");
}

TEST(Identity, VectorCompensationOperationId) {
  EXPECT_EQ(compensationOperationId(operationId(subscriptionRun(), vectorAction())).hex(),
            "18a449a49c9b7d90a541f9c3587122d668cb656e049f275aa1b84d16736d17e0");
}

TEST(Identity, VectorSummaryId) {
  EXPECT_EQ(summaryId({"agent-1", "thread-1", "m1", "m9", "summarizer-1"})->hex(),
            "d7313f4c73bd3c110d09ee4e036bb108738886faf1476efe51be722dac086cdb");
}

TEST(Identity, PlanDigestIsTheHashOfTheCanonicalArray) {
  const std::vector<ActionStableId> actions = {vectorAction(), vectorAction()};
  const auto operations = planOperationIds(subscriptionRun(), actions);
  json::array ids;
  for (const OperationId& id : operations) ids.emplace_back(id.hex());
  EXPECT_EQ(planDigest(operations).value, sha256(canonicalJson(ids)));
  EXPECT_EQ(planDigest({}).value, sha256("[]"));
}

TEST(Identity, PlanDigestDependsOnTheOrder) {
  std::vector<OperationId> operations = {operationId(subscriptionRun(), vectorAction()),
                                         operationId(subscriptionRun(), vectorAction(), 1)};
  const PlanDigest forward = planDigest(operations);
  std::swap(operations[0], operations[1]);
  EXPECT_NE(forward, planDigest(operations));
}

TEST(Identity, RepeatedActionsOfAPlanGetDifferentOperationIds) {
  const ActionStableId other = *actionStableId("journal.setStatus", vectorArgs(), {}, {});
  const std::vector<ActionStableId> actions = {vectorAction(), other, vectorAction(), vectorAction()};
  const auto ids = planOperationIds(subscriptionRun(), actions);
  EXPECT_EQ(ids[0], operationId(subscriptionRun(), vectorAction()));
  EXPECT_EQ(ids[1], operationId(subscriptionRun(), other));
  EXPECT_EQ(ids[2], operationId(subscriptionRun(), vectorAction(), 1));
  EXPECT_EQ(ids[3], operationId(subscriptionRun(), vectorAction(), 2));
  EXPECT_EQ(std::unordered_set<OperationId>(ids.begin(), ids.end()).size(), 4u);
}

// F15. Device B learns of A's edit through replication: it holds the unit that A wrote, origin included.
TEST(Identity, TwoDevicesDeriveEqualLckAndRunKeyForOneEditOriginIsTheAuthors) {
  const ChangeUnit authoredOnA = kTask1;
  const ChangeUnit receivedByB = authoredOnA;
  const auto wake = [](const ChangeUnit& unit) {
    const std::vector<ChangeUnitKey> batch = {*changeUnitKey(unit)};
    return *subscriptionRunKey("agent-1", "sub-1", *logicalChangeKey(batch));
  };
  EXPECT_EQ(wake(authoredOnA), wake(receivedByB));

  // The literal reading (origin is how *this* device learned of it) wakes the agent twice for one edit.
  ChangeUnit asSeenByB = authoredOnA;
  asSeenByB.origin = ChangeOrigin::sync;
  EXPECT_NE(wake(authoredOnA), wake(asSeenByB));
}

TEST(Identity, LogicalChangeKeyIgnoresOrderAndRepetition) {
  const ChangeUnitKey one = *changeUnitKey(kTask1);
  const ChangeUnitKey two = *changeUnitKey(kTask2);
  const std::vector<ChangeUnitKey> shuffled = {two, one, two, one};
  EXPECT_EQ(*logicalChangeKey(shuffled), changeOfBoth());
}

TEST(Identity, LogicalChangeKeyOfNothingIsRefused) { EXPECT_FALSE(logicalChangeKey({}).ok()); }

TEST(Identity, OrderOfScopeAndTargetsDoesNotMatter) {
  const std::vector<std::string> ab = {"a", "b"};
  const std::vector<std::string> ba = {"b", "a"};
  EXPECT_EQ(*actionStableId("t", vectorArgs(), ab, ba), *actionStableId("t", vectorArgs(), ba, ab));
  EXPECT_NE(*actionStableId("t", vectorArgs(), ab, {}), *actionStableId("t", vectorArgs(), {}, ab));
}

// F13. Joined with '|' these two tuples are one string; so neither may pass.
TEST(Identity, TuplesThatWouldCollideUnderPlainJoiningAreRefused) {
  const auto joined = [](const std::string& a, const std::string& b, const std::string& c) {
    return "v1|run|user|" + a + "|" + b + "|" + c;
  };
  ASSERT_EQ(joined("agent", "x|y", "z"), joined("agent|x", "y", "z"));

  const auto first = userRunKey("agent", "x|y", "z");
  const auto second = userRunKey("agent|x", "y", "z");
  ASSERT_FALSE(first.ok());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(first.error().message, R"(sessionId "x|y" has the character "|" at byte 1)");
  EXPECT_EQ(second.error().message, R"(agentId "agent|x" has the character "|" at byte 5)");
}

// The same with ',' inside a list: ["a,b"] and ["a","b"].
TEST(Identity, ListsThatWouldCollideUnderPlainJoiningAreRefused) {
  const std::vector<std::string> oneEntry = {"a,b"};
  const std::vector<std::string> twoEntries = {"a", "b"};
  const auto refused = actionStableId("t", vectorArgs(), oneEntry, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, R"(scope "a,b" has the character "," at byte 1)");
  EXPECT_TRUE(actionStableId("t", vectorArgs(), twoEntries, {}).ok());
}

TEST(Identity, EveryComponentOfEveryIdentityIsValidated) {
  const std::string bad = "a b";
  const std::vector<std::string> badList = {"fine", bad};
  const LogicalChangeKey change = changeOfBoth();
  EXPECT_FALSE(changeUnitKey({ChangeOrigin::local, bad, 1, "t", "i"}).ok());
  EXPECT_FALSE(changeUnitKey({ChangeOrigin::local, "h", 1, bad, "i"}).ok());
  EXPECT_FALSE(changeUnitKey({ChangeOrigin::local, "h", 1, "t", bad}).ok());
  EXPECT_FALSE(subscriptionRunKey(bad, "s", change).ok());
  EXPECT_FALSE(subscriptionRunKey("a", bad, change).ok());
  EXPECT_FALSE(timerRunKey(bad, "t", 1).ok());
  EXPECT_FALSE(timerRunKey("a", bad, 1).ok());
  EXPECT_FALSE(timerRunKey("a", "t", -1).ok());
  EXPECT_FALSE(userRunKey("a", "s", bad).ok());
  EXPECT_FALSE(actionStableId(bad, vectorArgs(), {}, {}).ok());
  EXPECT_FALSE(actionStableId("t", vectorArgs(), badList, {}).ok());
  EXPECT_FALSE(actionStableId("t", vectorArgs(), {}, badList).ok());
  EXPECT_FALSE(summaryId({bad, "t", "m", "n", "v"}).ok());
  EXPECT_FALSE(summaryId({"a", bad, "m", "n", "v"}).ok());
  EXPECT_FALSE(summaryId({"a", "t", bad, "n", "v"}).ok());
  EXPECT_FALSE(summaryId({"a", "t", "m", bad, "v"}).ok());
  EXPECT_FALSE(summaryId({"a", "t", "m", "n", bad}).ok());
}

TEST(Identity, TheFirstWrongComponentIsNamed) {
  EXPECT_EQ(userRunKey("", "b|", "c|").error().message, "agentId is empty");
}

TEST(Identity, ValidateIdNamesComponentAndCharacter) {
  EXPECT_TRUE(validateId("agentId", "AZaz09._:@/+-").ok());
  EXPECT_TRUE(validateId("agentId", std::string(256, 'x')).ok());
  EXPECT_EQ(validateId("agentId", "").error().message, "agentId is empty");
  EXPECT_EQ(validateId("agentId", std::string(257, 'x')).error().message, "agentId has 257 characters, more than 256");
  EXPECT_EQ(validateId("hostId", "a\xc3\xa9").error().message,
            R"(hostId "a\xc3\xa9" has the character "\xc3" at byte 1)");
  EXPECT_EQ(validateId("hostId", std::string_view("a\0b", 3)).error().message,
            R"(hostId "a\x00b" has the character "\x00" at byte 1)");
}

TEST(Identity, OnlyTheNamedCharactersPass) {
  const std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@/+-";
  for (int c = 0; c < 256; ++c) {
    const std::string id(1, static_cast<char>(c));
    EXPECT_EQ(validateId("id", id).ok(), allowed.find(id) != std::string_view::npos) << c;
  }
}

TEST(Identity, TooLongListsAreRefused) {
  const std::vector<std::string> scope(kMaxIdList + 1, "a");
  const auto refused = actionStableId("t", vectorArgs(), scope, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "scope has 65537 entries, more than 65536");
  const std::vector<ChangeUnitKey> keys(kMaxIdList + 1);
  EXPECT_FALSE(logicalChangeKey(keys).ok());
}

TEST(Identity, TokenKeyIsTyped) {
  EXPECT_EQ(tokenKey({TokenClass::entityId, std::nullopt, "task-1"})->str(), "entityId|-|task-1");
  EXPECT_EQ(tokenKey({TokenClass::semanticKey, std::nullopt, "due"})->str(), "semanticKey|-|due");
  EXPECT_EQ(tokenKey({TokenClass::subtypeToken, "journal", "task"})->str(), "subtypeToken|journal|task");
}

TEST(Identity, TokenNamespaceIsRequiredForSubtypeTokenAndRefusedForTheOthers) {
  EXPECT_FALSE(tokenKey({TokenClass::subtypeToken, std::nullopt, "task"}).ok());
  EXPECT_FALSE(tokenKey({TokenClass::entityId, "journal", "task"}).ok());
  EXPECT_FALSE(tokenKey({TokenClass::semanticKey, "journal", "task"}).ok());
  EXPECT_FALSE(tokenKey({TokenClass::subtypeToken, "a|b", "task"}).ok());
  EXPECT_FALSE(tokenKey({TokenClass::entityId, std::nullopt, "a|b"}).ok());
}

TEST(Identity, EnumerationsReadBack) {
  for (const auto origin : {ChangeOrigin::local, ChangeOrigin::sync}) {
    EXPECT_EQ(*parseChangeOrigin(toString(origin)), origin);
  }
  for (const auto c : {TokenClass::semanticKey, TokenClass::subtypeToken, TokenClass::entityId}) {
    EXPECT_EQ(*parseTokenClass(toString(c)), c);
  }
  EXPECT_FALSE(parseChangeOrigin("Local").ok());
  EXPECT_FALSE(parseTokenClass("").ok());
}

RC_GTEST_PROP(Identity, TuplesOfValidIdsNeverShareARunKey, ()) {
  const auto id = rc::gen::container<std::string>(rc::gen::element('a', 'b', ':', '-', '.', '/'));
  const auto tuple = *rc::gen::tuple(id, id, id);
  const auto other = *rc::gen::tuple(id, id, id);
  const auto key = [](const auto& t) { return userRunKey(std::get<0>(t), std::get<1>(t), std::get<2>(t)); };
  const auto a = key(tuple);
  const auto b = key(other);
  RC_PRE(a.ok() && b.ok());
  RC_ASSERT((tuple == other) == (*a == *b));
}

TEST(StrongId, DigestIdsReadBackAndPrint) {
  const RunKey run = subscriptionRun();
  EXPECT_EQ(*RunKey::parse(run.hex()), run);
  EXPECT_FALSE(RunKey::parse(run.hex().substr(1)).ok());
  EXPECT_FALSE(RunKey::parse("G" + run.hex().substr(1)).ok());
  std::ostringstream out;
  out << run << ' ' << TokenKey("x");
  EXPECT_EQ(out.str(), run.hex() + " x");
}

TEST(StrongId, KindsDoNotMix) {
  static_assert(!std::is_convertible_v<RunKey, OperationId>);
  static_assert(!std::is_convertible_v<std::string, TokenKey>);
  using Agent = StrongId<struct AgentTag>;
  static_assert(!std::is_convertible_v<TokenKey, Agent>);
  EXPECT_LT(Agent("a"), Agent("b"));
  EXPECT_TRUE(Agent().empty());
  EXPECT_EQ(std::unordered_set<Agent>({Agent("a"), Agent("a"), Agent("b")}).size(), 2u);
}

}  // namespace
}  // namespace witan::identity_test
