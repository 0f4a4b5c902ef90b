// Laws 1 to 5 of seed 004 and its theorem "capability monotonicity", each with attempts to break it.
#include <type_traits>

#include "tests/agents/episode_kit.h"

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace witan::agents::episode::episode_laws_test {
namespace {

const OpenGate kOpen;

// ---- Law 1, effect containment

// Nobody but an episode can make, or double, the permission to do something.
static_assert(!std::is_default_constructible_v<Effect>);
static_assert(!std::is_aggregate_v<Effect>);
static_assert(!std::is_copy_constructible_v<Effect> && !std::is_copy_assignable_v<Effect>);
static_assert(std::is_move_constructible_v<Effect>);
// The agent is given values, and a constant of itself: nothing that reaches the outside.
static_assert(std::is_same_v<decltype(&Agent::step), Turn (Agent::*)(const json::value&, const Input&) const>);

TEST(EpisodeLaw1, AnAnswerThatNothingAnnouncedIsRefused) {
  const ScriptAgent agent({looking({{"look.near", {{"q", 1}}, 0}})});
  Episode episode = begun(agent, kOpen);
  EXPECT_EQ(episode.observed("look-99", {true, 1, {}, 0, 0}).error().code, ErrorCode::notFound);
  EXPECT_EQ(episode.outcome(OperationId{}, OperationOutcome::applied, {}).error().code, ErrorCode::notFound);
  EXPECT_EQ(episode.answered("nothing", {}, true, "p").error().code, ErrorCode::notFound);
  EXPECT_EQ(episode.entries().size(), 2u);
}

TEST(EpisodeLaw1, AMutationIsNoLookAndALookIsNoMutation) {
  const ScriptAgent agent({looking({{"act.put", {{"id", "a1"}}, 0}}), planning({{"look.near", "{}", {}, {}}})});
  Episode episode = begun(agent, kOpen);
  EXPECT_EQ(tokenOf(lastOf(episode, EntryKind::look)), "wrong_kind");
  ASSERT_NE(episode.wantsPlan(), nullptr);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  EXPECT_EQ(tokenOf(lastOf(episode, EntryKind::intended)), "wrong_kind");
  settle(episode);
  EXPECT_TRUE(episode.takeEffects().empty());
  ASSERT_NE(episode.ended(), nullptr);
}

// ---- Law 2, audit before mutation (with F11)

TEST(EpisodeLaw2, NoEffectBeforeItsAnnouncementIsDurable) {
  const ScriptAgent agent({looking({{"look.near", {{"q", 1}}, 0}, {"look.us", {{"q", 2}}, 0}})});
  Episode episode = begun(agent, kOpen);
  EXPECT_TRUE(episode.takeEffects().empty());
  episode.durable(99);  // nothing was taken to be written, so nothing can be durable
  EXPECT_TRUE(episode.takeEffects().empty());
  std::uint64_t first = 7;
  EXPECT_EQ(episode.takeEntries(first).size(), 3u);
  EXPECT_EQ(first, 0u);
  episode.durable(1);
  EXPECT_TRUE(episode.takeEffects().empty());
  episode.durable(2);
  EXPECT_EQ(episode.takeEffects().size(), 1u);
  episode.durable(3);
  EXPECT_EQ(episode.takeEffects().size(), 1u);
  EXPECT_TRUE(episode.takeEffects().empty()) << "one permission, one call";
}

TEST(EpisodeLaw2, NoActionBeforeThePlanAndItsAnnouncementAreDurable) {
  const ScriptAgent agent({planning({put("a1"), put("a2")})});
  Episode episode = begun(agent, kOpen);
  settle(episode);
  EXPECT_TRUE(episode.takeEffects().empty());
  ASSERT_NE(episode.wantsPlan(), nullptr);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  EXPECT_TRUE(episode.takeEffects().empty());
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 2u);
  ASSERT_TRUE(effects[0].operation());
  EXPECT_EQ(effects[0].span(), effects[0].operation()->hex());
}

TEST(EpisodeLaw2, IntendedStandsBeforeAndTheOutcomeAfter) {
  const ScriptAgent agent({planning({put("a1")})});
  Episode episode = begun(agent, kOpen);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 1u);
  const Entry& intended = lastOf(episode, EntryKind::intended);
  // Law 2: id, capability, policy epoch, model identity (with the beginning), digest of the input.
  EXPECT_EQ(intended.body.at("span").as_string(), effects[0].span());
  EXPECT_EQ(intended.body.at("capability").as_string(), "act.*");
  EXPECT_EQ(intended.body.at("policy").as_string(), "open");
  EXPECT_EQ(intended.body.at("input").as_string(), toHex(sha256(canonicalJson(effects[0].arguments()))));
  EXPECT_EQ(episode.entries()[0].body.at("version").as_string(), "1");
  EXPECT_EQ(countOf(episode, EntryKind::outcome), 0u);
  ASSERT_TRUE(episode.outcome(*effects[0].operation(), OperationOutcome::applied, 5).ok());
  EXPECT_EQ(lastOf(episode, EntryKind::outcome).body.at("span").as_string(), effects[0].span());
  ASSERT_TRUE(episode.outcome(*effects[0].operation(), OperationOutcome::failed, 6).ok()) << "told twice";
  EXPECT_EQ(countOf(episode, EntryKind::outcome), 1u);
}

// ---- Law 3, monotone quota (as F18 reads it)

TEST(EpisodeLaw3, SpentOnlyGrowsAndNeverExceeds) {
  Quota quota({2, 10, 5});
  EXPECT_TRUE(quota.spend({1, 10, 0}).ok());
  EXPECT_EQ(quota.spend({0, 1, 0}).error().code, ErrorCode::unauthorised);
  EXPECT_EQ(quota.spend({0, -5, 0}).error().code, ErrorCode::invalidInput) << "nothing comes back";
  quota.spendUpTo({-3, -3, -3});
  EXPECT_EQ(quota.spent(), (Budget{1, 10, 0}));
  quota.spendUpTo({9, 9, 9});
  EXPECT_EQ(quota.spent(), (Budget{2, 10, 5}));
  EXPECT_EQ(quota.remaining(), (Budget{0, 0, 0}));
  EXPECT_EQ(Quota({-1, -1, -1}).limit(), (Budget{0, 0, 0}));
}

RC_GTEST_PROP(EpisodeLaw3, NoSequenceOfSpendsUnderflows,
              (std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> amounts)) {
  const Budget limit{std::numeric_limits<std::int64_t>::max(), 100, 7};
  Quota quota(limit);
  for (const auto& [steps, tokens, seconds] : amounts) {
    const Budget before = quota.spent();
    const Budget amount{steps, tokens, seconds};
    const bool fits = quota.affords(amount);
    RC_ASSERT(quota.spend(amount).ok() == fits);
    if (!fits) RC_ASSERT(quota.spent() == before);
    quota.spendUpTo({steps, 0, 0});
    RC_ASSERT(quota.spent().steps >= before.steps && quota.spent().tokens >= before.tokens &&
              quota.spent().seconds >= before.seconds);
    RC_ASSERT(quota.remaining().steps >= 0 && quota.remaining().tokens >= 0 && quota.remaining().seconds >= 0);
  }
}

TEST(EpisodeLaw3, ALookBeyondTheBudgetIsDeniedAndRecorded) {
  ScriptAgent agent(
      {looking({{"look.near", {{"q", 1}}, 11}, {"look.near", {{"q", 2}}, 10}, {"look.near", {{"q", 3}}, 0}})});
  agent.edit().budget = {5, 10, 100};
  Episode episode = begun(agent, kOpen);
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].arguments().at("q").as_int64(), 2);
  EXPECT_EQ(episode.context().quota().remaining().tokens, 0) << "to exactly zero (F10)";
  EXPECT_EQ(tokenOf(lastOf(episode, EntryKind::look)), "budget_exhausted");
  ASSERT_TRUE(episode.observed(effects[0].span(), {true, "x", {}, 0, 0}).ok());
  ASSERT_NE(episode.ended(), nullptr);
  EXPECT_EQ(episode.ended()->status, WakeStatus::completed) << "it must respond, and it did";
}

TEST(EpisodeLaw3, WhoMustRespondAndLooksAgainHasFailed) {
  ScriptAgent agent(
      {looking({{"look.near", {}, 0}}), looking({{"look.near", {}, 0}}), looking({{"look.near", {}, 0}})});
  agent.edit().budget = {2, 100, 100};
  Episode episode = begun(agent, kOpen);
  while (episode.ended() == nullptr) {
    settle(episode);
    for (const Effect& effect : episode.takeEffects())
      ASSERT_TRUE(episode.observed(effect.span(), {true, 1, {}, 0, 0}).ok());
  }
  EXPECT_EQ(episode.ended()->status, WakeStatus::failedTerminal);
  EXPECT_NE(episode.ended()->cause.find("budget"), std::string::npos);
  EXPECT_EQ(countOf(episode, EntryKind::look), 2u);
}

TEST(EpisodeLaw3, AnAnswerThatCostMoreThanEstimatedIsSpentToo) {
  ScriptAgent agent({looking({{"look.near", {}, 2}}), looking({{"look.near", {}, 5}})});
  agent.edit().budget = {5, 20, 100};
  Episode episode = begun(agent, kOpen);
  settle(episode);
  ASSERT_TRUE(episode.observed(episode.takeEffects()[0].span(), {true, 1, {}, 1'000'000, -5}).ok());
  EXPECT_EQ(episode.context().quota().spent(), (Budget{1, 20, 1}));
  ASSERT_NE(episode.ended(), nullptr) << "it must respond";
  EXPECT_EQ(episode.ended()->status, WakeStatus::failedTerminal);
}

TEST(EpisodeLaw3, UsesOfACapabilityRunOut) {
  ScriptAgent agent({planning({put("a1"), put("a2"), put("a3")})});
  agent.edit().capabilities = {{"act.put", 2, {}, {}}};
  Episode episode = begun(agent, kOpen);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  settle(episode);
  EXPECT_EQ(episode.takeEffects().size(), 2u);
  EXPECT_EQ(tokenOf(lastOf(episode, EntryKind::intended)), "beyond_context");
}

// ---- Law 4, locale narrowing

TEST(EpisodeLaw4, ACallBeyondTheLocaleIsDeniedAtCallTime) {
  const ScriptAgent agent({looking({{"look.us", {}, 0}, {"look.eu", {}, 0}, {"look.near", {}, 0}})});
  Episode episode = begun(agent, kOpen);
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0].tool().name, "look.us");
  EXPECT_EQ(effects[1].tool().name, "look.near");
}

TEST(EpisodeLaw4, WhoHasNoLocaleTakesDataNowhere) {
  ScriptAgent agent({looking({{"look.us", {}, 0}, {"look.near", {}, 0}})});
  agent.edit().locale.clear();
  Episode episode = begun(agent, kOpen);
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].tool().name, "look.near");
}

TEST(EpisodeLaw4, AForkThatWouldWidenIsRefusedAndChangesNothing) {
  const ScriptAgent agent({looking({{"look.near", {}, 0}})});
  Episode episode = begun(agent, kOpen);
  const std::size_t entries = episode.entries().size();
  const Budget spent = episode.context().quota().spent();
  for (const Grant& wish :
       {Grant{{}, {"eu"}, {1, 1, 1}}, Grant{{}, {"eu", "us"}, {1, 1, 1}}, Grant{{{"*"}}, {"us"}, {1, 1, 1}},
        Grant{{{"look.*", 1001, {}, {}}}, {"us"}, {1, 1, 1}}, Grant{{}, {"us"}, {1000, 1, 1}},
        Grant{{}, {"us"}, {1, 10'001, 1}}, Grant{{{"look.*"}, {"look.near"}}, {"us"}, {1, 1, 1}}}) {
    const auto sub = episode.fork("helper", wish);
    ASSERT_FALSE(sub.ok());
    EXPECT_EQ(sub.error().code, ErrorCode::unauthorised);
  }
  EXPECT_NE(episode.fork("helper", {{}, {"eu", "fr"}, {1, 1, 1}}).error().message.find("eu, fr"), std::string::npos);
  EXPECT_FALSE(episode.fork("helper", {{}, {}, {-1, 0, 0}}).ok());
  EXPECT_EQ(episode.entries().size(), entries);
  EXPECT_EQ(episode.context().quota().spent(), spent);
  const auto sub = episode.fork("helper", {{{"look.near", 3, {}, {}}}, {"us"}, {2, 20, 30}});
  ASSERT_TRUE(sub.ok()) << sub.error().message;
  EXPECT_EQ(episode.context().quota().spent(), (Budget{3, 21, 31}));
  const auto again = episode.fork("helper", {{}, {}, {0, 0, 0}});
  ASSERT_TRUE(again.ok());
  EXPECT_NE(sub->run, again->run);
}

// Experiment 3: random trees of forks; each is within its parent, and all the leaves together within the root.
RC_GTEST_PROP(EpisodeLaw4, NoTreeOfForksReachesFurtherThanItsRoot, (std::uint64_t seed)) {
  static const std::vector<std::string> kTags{"at", "de", "eu", "us"};
  const Grant root{
      {{"look.*", 20, {}, {}}, {"act.put", 9, {"a", "b/"}, {"eu", "us"}}}, {"de", "eu", "us"}, {50, 500, 500}};
  std::vector<std::pair<Grant, Context>> tree{{root, Context(root)}};
  std::int64_t leavesTokens = 0;
  std::uint64_t random = seed;
  const auto draw = [&](std::uint64_t bound) { return (random = mix(random, "fork")) % bound; };
  for (int i = 0; i < 30; ++i) {
    const std::size_t at = draw(tree.size());
    Grant wish;
    for (const std::string& tag : kTags)
      if (draw(2) == 0) wish.locale.push_back(tag);
    static const char* const kResources[] = {"look.*", "look.us", "act.put", "act.*", "*"};
    for (std::uint64_t n = draw(3); n > 0; --n) {
      Capability c{kResources[draw(5)], static_cast<std::int64_t>(draw(8)), {}, {}};
      if (draw(2) == 0) c.targets = {draw(2) == 0 ? "a1" : "c"};
      if (draw(2) == 0) c.locales = {kTags[draw(4)]};
      wish.capabilities.push_back(std::move(c));
    }
    wish.budget = {static_cast<std::int64_t>(draw(20)), static_cast<std::int64_t>(draw(200)),
                   static_cast<std::int64_t>(draw(200))};
    auto child = tree[at].second.fork(wish);
    if (!child.ok()) continue;
    RC_ASSERT(isSubset(child->locale, tree[at].first.locale));
    for (const Capability& inner : child->capabilities)
      RC_ASSERT(std::any_of(tree[at].first.capabilities.begin(), tree[at].first.capabilities.end(),
                            [&](const Capability& outer) { return within(inner, outer); }));
    leavesTokens += child->budget.tokens;
    tree.emplace_back(*child, Context(*child));
  }
  std::int64_t spentByRoot = tree[0].second.quota().spent().tokens;
  RC_ASSERT(spentByRoot <= root.budget.tokens);
  RC_ASSERT(leavesTokens >= spentByRoot);
}

// ---- Law 5, least privilege

TEST(EpisodeLaw5, ACallThatNoCapabilityCoversIsDenied) {
  ScriptAgent agent(
      {planning({put("a1"), put("c1"), {"act.us", R"({"id":"a1"})", {}, {"a1"}}, {"no.such.tool", "{}", {}, {}}})});
  agent.edit().capabilities = {{"act.put", 9, {"a"}, {}}};
  Episode episode = begun(agent, kOpen);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  settle(episode);
  const std::vector<Effect> effects = episode.takeEffects();
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].arguments().at("id").as_string(), "a1");
  EXPECT_EQ(countOf(episode, EntryKind::outcome), 3u);
  EXPECT_EQ(lastOf(episode, EntryKind::outcome).body.at("outcome").as_string(), "denied");
}

TEST(EpisodeLaw5, TargetsAreReadFromTheArgumentsToo) {
  // It declares a1 and touches c1; then it declares nothing at all.
  ScriptAgent agent({planning({{"act.put", R"({"id":"c1"})", {}, {"a1"}},
                               {"act.put", R"({"ids":"c1"})", {}, {}},
                               {"act.put", R"({"id":["a1","c1"]})", {}, {}},
                               {"act.put", R"({"id":["a1","a2"]})", {}, {}}})});
  agent.edit().capabilities = {{"act.put", 9, {"a"}, {}}};
  Episode episode = begun(agent, kOpen);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  settle(episode);
  EXPECT_EQ(episode.takeEffects().size(), 1u);
}

TEST(EpisodeLaw5, OnlyToolsThatACapabilityCoversAreSeen) {
  ScriptAgent agent({});
  agent.edit().capabilities = {{"look.near"}, {"act.*"}};
  std::vector<std::string> names;
  for (const ToolInfo& tool : beginningFor(agent).tools) names.push_back(tool.name);
  EXPECT_EQ(names, (std::vector<std::string>{"act.put", "act.us", "look.near"}));
}

TEST(EpisodeLaw5, WithoutAPolicyNothingIsLetPass) {
  const ScriptAgent agent({looking({{"look.near", {}, 0}}), planning({put("a1")})});
  const ClosedGate closed;
  Episode episode = begun(agent, closed);
  ASSERT_NE(episode.wantsPlan(), nullptr);
  ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
  settle(episode);
  EXPECT_TRUE(episode.takeEffects().empty());
  EXPECT_EQ(tokenOf(lastOf(episode, EntryKind::intended)), "out_of_scope");
}

// ---- Theorem "capability monotonicity": C(e') within C(e) and Lambda(e') within Lambda(e), so whatever the fork may
// do the parent could have done.

RC_GTEST_PROP(CapabilityMonotonicity, AForkCannotDoWhatItsParentCouldNot, (std::uint64_t seed)) {
  std::uint64_t random = seed;
  const auto draw = [&](std::uint64_t bound) { return (random = mix(random, "m")) % bound; };
  static const std::vector<std::string> kResources{"*", "look.*", "look.us", "act.*", "act.put", "act"};
  static const std::vector<std::string> kIds{"a", "a1", "b", "b/1"};
  static const std::vector<std::string> kTags{"eu", "us"};
  const auto some = [&](const std::vector<std::string>& from) {
    std::vector<std::string> out;
    for (const std::string& one : from)
      if (draw(2) == 0) out.push_back(one);
    return out;
  };
  const auto capability = [&] {
    return Capability{kResources[draw(kResources.size())], static_cast<std::int64_t>(draw(4)), some(kIds), some(kTags)};
  };
  Grant grant{{capability(), capability()}, some(kTags), {10, 10, 10}};
  Context parent(grant);
  const Context before = parent;
  const auto child = parent.fork({{capability()}, some(kTags), {1, 1, 1}});
  if (!child.ok()) return;
  const Context fork(*child);
  for (const char* tool : {"look.us", "look.near", "act.put", "act.us", "act", "other"})
    for (const auto& targets : {std::vector<std::string>{}, {"a1"}, {"b/1"}, {"c"}, {"a1", "c"}})
      for (const auto& places : {std::vector<std::string>{}, {"eu"}, {"us"}, {"eu", "us"}})
        if (fork.admits({tool, targets, places}).ok()) RC_ASSERT(before.admits({tool, targets, places}).ok());
}

TEST(CapabilityMonotonicity, WithinIsAnOrder) {
  const std::vector<Capability> all{{"*", 9, {}, {}},
                                    {"look.*", 9, {}, {}},
                                    {"look.us", 9, {}, {}},
                                    {"look.us", 3, {"a"}, {}},
                                    {"look.us", 3, {"a1"}, {"us"}},
                                    {"look", 9, {}, {}},
                                    {"look.*", 3, {"a"}, {"eu", "us"}}};
  for (const Capability& a : all) {
    EXPECT_TRUE(within(a, a));
    for (const Capability& b : all)
      for (const Capability& c : all)
        EXPECT_TRUE(!within(a, b) || !within(b, c) || within(a, c)) << a.resource << b.resource << c.resource;
  }
  EXPECT_FALSE(within(all[0], all[1]));
  EXPECT_FALSE(within(all[5], all[1])) << "a family is not what it is named after";
  EXPECT_FALSE(within({"look.us", 3, {}, {}}, all[3])) << "any target is more than some";
  EXPECT_FALSE(within({"look.us", 3, {"a1"}, {}}, all[4])) << "anywhere is more than somewhere";
}

TEST(CapabilityMonotonicity, TwoForksTogetherDoNoMoreThanTheParentCould) {
  Context parent({{{"act.put", 3, {}, {}}}, {}, {10, 10, 10}});
  ASSERT_TRUE(parent.fork({{{"act.put", 2, {}, {}}}, {}, {1, 6, 1}}).ok());
  EXPECT_FALSE(parent.fork({{{"act.put", 2, {}, {}}}, {}, {1, 1, 1}}).ok());
  EXPECT_FALSE(parent.fork({{{"act.put", 1, {}, {}}}, {}, {1, 6, 1}}).ok());
  ASSERT_TRUE(parent.fork({{{"act.put", 1, {}, {}}}, {}, {1, 4, 1}}).ok());
  EXPECT_FALSE(parent.admits({"act.put", {}, {}}).ok()) << "given away is given away";
}

// ---- the policy's verdicts bind

TEST(EpisodePolicy, APersonsAnswerCountsForWhatWasShownOnly) {
  // Draws a policy that asks about this action.
  const ScriptAgent agent({planning({put("a1")})});
  for (std::uint64_t seed = 0;; ++seed) {
    const ToyGate gate(seed);
    Episode episode = begun(agent, gate);
    ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
    settle(episode);
    if (episode.questions().empty()) continue;
    const Question question = episode.questions()[0];
    EXPECT_TRUE(episode.takeEffects().empty());
    Hash other = question.digest;
    other[0] ^= 1;
    EXPECT_EQ(episode.answered(question.span, other, true, "p").error().code, ErrorCode::conflict);
    EXPECT_TRUE(episode.takeEffects().empty());
    ASSERT_TRUE(episode.answered(question.span, question.digest, true, "p").ok());
    EXPECT_TRUE(episode.takeEffects().empty()) << "the answer is not durable yet";
    settle(episode);
    EXPECT_EQ(episode.takeEffects().size(), 1u);
    return;
  }
}

TEST(EpisodePolicy, ADenialByAPersonIsAnOutcome) {
  const ScriptAgent agent({planning({put("a1")})});
  for (std::uint64_t seed = 0;; ++seed) {
    const ToyGate gate(seed);
    Episode episode = begun(agent, gate);
    ASSERT_TRUE(episode.planned(*episode.wantsPlan()).ok());
    if (episode.questions().empty()) continue;
    const Question question = episode.questions()[0];
    ASSERT_TRUE(episode.answered(question.span, question.digest, false, "p").ok());
    EXPECT_EQ(lastOf(episode, EntryKind::outcome).body.at("outcome").as_string(), "denied");
    ASSERT_NE(episode.ended(), nullptr);
    return;
  }
}

}  // namespace
}  // namespace witan::agents::episode::episode_laws_test
