// Which subscriptions a batch wakes (003, 3.5).
#include "replication/records/subscription_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/replication/record_history.h"

namespace witan::replication::subscription_index_test {
namespace {

NotificationToken entityToken(std::string id) { return {TokenClass::entityId, std::nullopt, std::move(id)}; }
NotificationToken semanticToken(std::string key) { return {TokenClass::semanticKey, std::nullopt, std::move(key)}; }

NotificationBatch batchWith(std::vector<NotificationToken> tokens) {
  return *batchOf({{"hostA", 1},
                   {},
                   *encodeRecord(*batchBodyOf({"b", {{"t", "x", ChangeOrigin::local}}, std::move(tokens), {}, ""})),
                   false});
}

// Counts what it is asked for.
struct Fetcher {
  std::vector<std::string> asked;
  EntityFetch function() {
    return [this](const std::string& id) -> Result<std::optional<Entity>> {
      asked.push_back(id);
      if (id == "gone") return std::optional<Entity>{};
      return std::optional<Entity>(Entity{id, "task", "{}"});
    };
  }
};

const Eligibility kAll = [](const Subscription&) { return true; };

std::vector<std::string> idsOf(const std::vector<Wake>& wakes) {
  std::vector<std::string> out;
  for (const Wake& w : wakes) out.push_back(w.subscriptionId);
  return out;
}

TEST(SubscriptionIndex, AllThreePredicatesMustHold) {
  SubscriptionIndex index;
  ASSERT_TRUE(index.add({"tokens", "agent-1", "", {{semanticToken("k")}, {}}, {}}).ok());
  ASSERT_TRUE(index.add({"noEntity", "agent-1", "", {{semanticToken("k")}, {}}, [](auto) { return false; }}).ok());
  ASSERT_TRUE(index.add({"asleep", "agent-2", "", {{semanticToken("k")}, {}}, {}}).ok());
  ASSERT_TRUE(index.add({"other", "agent-1", "", {{semanticToken("k2")}, {}}, {}}).ok());
  ASSERT_TRUE(index.add({"both", "agent-1", "", {{}, {semanticToken("k"), semanticToken("k3")}}, {}}).ok());
  ASSERT_TRUE(index.add({"elsewhere", "agent-1", "work", {{semanticToken("k")}, {}}, {}}).ok());
  Fetcher fetcher;
  const Eligibility awake = [](const Subscription& s) { return s.agentId != "agent-2"; };
  const auto batch = batchWith({semanticToken("k"), entityToken("e1")});
  EXPECT_THAT(idsOf(*index.match(batch, "home", fetcher.function(), awake)), testing::ElementsAre("tokens"));
  EXPECT_THAT(idsOf(*index.match(batch, "work", fetcher.function(), awake)),
              testing::ElementsAre("elsewhere", "tokens"));
  const auto more = batchWith({semanticToken("k"), semanticToken("k3")});
  EXPECT_THAT(idsOf(*index.match(more, "home", fetcher.function(), kAll)),
              testing::ElementsAre("both", "tokens", "asleep"));
}

// 003, 3.5: "Only entityId tokens trigger entity fetches", here also only when somebody asks, and once a batch.
TEST(SubscriptionIndex, OnlyEntityIdTokensTriggerFetches) {
  SubscriptionIndex index;
  const EntityPredicate hasEntity = [](std::span<const Entity> e) { return !e.empty(); };
  ASSERT_TRUE(index.add({"s1", "agent-1", "", {{semanticToken("k")}, {}}, {}}).ok());
  Fetcher fetcher;
  const auto batch = batchWith({semanticToken("k"),
                                {TokenClass::subtypeToken, "task", "done"},
                                entityToken("e1"),
                                entityToken("e2"),
                                entityToken("gone")});
  EXPECT_EQ(index.match(batch, "", fetcher.function(), kAll)->size(), 1u);
  EXPECT_TRUE(fetcher.asked.empty());

  ASSERT_TRUE(index.add({"s2", "agent-1", "", {{semanticToken("k")}, {}}, hasEntity}).ok());
  ASSERT_TRUE(index.add({"s3", "agent-1", "", {{semanticToken("k")}, {}}, hasEntity}).ok());
  EXPECT_EQ(index.match(batch, "", fetcher.function(), kAll)->size(), 3u);
  EXPECT_THAT(fetcher.asked, testing::ElementsAre("e1", "e2", "gone"));

  fetcher.asked.clear();
  EXPECT_EQ(index.match(batchWith({semanticToken("k")}), "", fetcher.function(), kAll)->size(), 1u);
  EXPECT_TRUE(fetcher.asked.empty());
}

TEST(SubscriptionIndex, AFailedFetchIsTheCallersError) {
  SubscriptionIndex index;
  ASSERT_TRUE(index.add({"s", "a", "", {{entityToken("e")}, {}}, [](auto) { return true; }}).ok());
  const EntityFetch broken = [](const std::string&) -> Result<std::optional<Entity>> { return ioFailed("disk"); };
  EXPECT_EQ(index.match(batchWith({entityToken("e")}), "", broken, kAll).error().code, ErrorCode::ioFailed);
}

TEST(SubscriptionIndex, RefusesWhatItCannotIndex) {
  SubscriptionIndex index;
  EXPECT_FALSE(index.add({"s", "agent|1", "", {{semanticToken("k")}, {}}, {}}).ok());
  EXPECT_FALSE(index.add({"s", "a", "", {}, {}}).ok());
  EXPECT_FALSE(index.add({"s", "a", "", {{{TokenClass::subtypeToken, std::nullopt, "x"}}, {}}, {}}).ok());
  EXPECT_FALSE(index.add({"s", "a", "", {std::vector(kMaxPredicateTokens + 1, semanticToken("k")), {}}, {}}).ok());
  EXPECT_TRUE(index.add({"s", "a", "", {{semanticToken("k")}, {}}, {}}).ok());
  EXPECT_EQ(index.add({"s", "a", "", {{semanticToken("k")}, {}}, {}}).error().code, ErrorCode::conflict);
  EXPECT_TRUE(index.remove("a", "s"));
  EXPECT_FALSE(index.remove("a", "s"));
  EXPECT_TRUE(index.add({"s", "a", "", {{semanticToken("k")}, {}}, {}}).ok());
}

// A hundred thousand subscriptions to other things cost nothing: only those that share a token are looked at.
TEST(SubscriptionIndex, CostIsTheTokensAndTheCandidates) {
  SubscriptionIndex index;
  for (int i = 0; i < 100'000; ++i)
    ASSERT_TRUE(
        index.add({"s" + std::to_string(i), "a", "", {{entityToken("e" + std::to_string(i / 2))}, {}}, {}}).ok());
  Fetcher fetcher;
  EXPECT_EQ(index.match(batchWith({entityToken("e7"), entityToken("x")}), "", fetcher.function(), kAll)->size(), 2u);
  EXPECT_EQ(index.lastCandidates(), 2u);
}

NotificationToken someToken() { return semanticToken(std::string(1, test::uniform('a', 'g'))); }
std::vector<NotificationToken> someTokens(int most) {
  std::vector<NotificationToken> out;
  for (int i = test::uniform(0, most); i > 0; --i) out.push_back(someToken());
  return out;
}
bool contains(const std::vector<NotificationToken>& all, const NotificationToken& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Against the definition, evaluated for every subscription; also the same for any order of adding.
RC_GTEST_PROP(SubscriptionIndex, EqualsTheDefinitionInAnyOrderOfAdding, ()) {
  test::onManyHistories([] {
    std::vector<Subscription> all;
    for (int i = test::uniform(0, 12); i > 0; --i)
      all.push_back({"s" + std::to_string(i), "a" + std::to_string(i % 3), "", {someTokens(4), someTokens(3)}, {}});
    SubscriptionIndex forth, back;
    for (auto s = all.begin(); s != all.end(); ++s) (void)forth.add(*s);
    for (auto s = all.rbegin(); s != all.rend(); ++s) (void)back.add(*s);
    const auto batch = batchWith(someTokens(5));
    Fetcher fetcher;
    const auto wakes = *forth.match(batch, "", fetcher.function(), kAll);
    RC_ASSERT(wakes == *back.match(batch, "", fetcher.function(), kAll));

    std::vector<std::pair<std::string, std::string>> expected, found;
    for (const Subscription& s : all) {
      const auto has = [&](const NotificationToken& t) { return contains(batch.tokens, t); };
      const bool any = s.tokens.anyOf.empty() || std::any_of(s.tokens.anyOf.begin(), s.tokens.anyOf.end(), has);
      const bool every = std::all_of(s.tokens.allOf.begin(), s.tokens.allOf.end(), has);
      if (any && every && s.tokens.anyOf.size() + s.tokens.allOf.size() > 0) expected.emplace_back(s.agentId, s.id);
    }
    std::sort(expected.begin(), expected.end());
    for (const Wake& w : wakes) found.emplace_back(w.agentId, w.subscriptionId);
    RC_ASSERT(found == expected);
  });
}

// 003, section 11: "5. replay idempotency for runKey and operationId": matching a batch again, on any device, asks for
// the same runs.
TEST(Obligation5, MatchingABatchAgainGivesTheSameRunKeys) {
  SubscriptionIndex index;
  ASSERT_TRUE(index.add({"sub-1", "agent-1", "", {{entityToken("e")}, {}}, {}}).ok());
  Fetcher fetcher;
  const auto batch = batchWith({entityToken("e")});
  const auto first = *index.match(batch, "", fetcher.function(), kAll);
  EXPECT_EQ(first, *index.match(batch, "", fetcher.function(), kAll));
  EXPECT_EQ(first[0].runKey, *subscriptionRunKey("agent-1", "sub-1", batch.logicalChangeKey));
}

}  // namespace
}  // namespace witan::replication::subscription_index_test
