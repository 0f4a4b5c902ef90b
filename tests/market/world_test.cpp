// Three organisations under simulated time (market/testing/market_world.h): every seed ends as it must, also when a
// party dies before or after any of its writes, lies, is silent or has a wrong clock.
#include <gtest/gtest.h>

#include <cstdlib>

#include "market/testing/market_toy.h"
#include "market/testing/market_world.h"

namespace witan::market {
namespace {

class MarketWorld : public ::testing::Test {
 protected:
  static WorldResult judged(const WorldOptions& options) {
    WorldResult result = liveMarket(options);
    const Status status = judgeWorld(result, options.seller == SellerHabit::forging ? kSeller : -1);
    EXPECT_TRUE(status.ok()) << "seed " << options.seed << ": " << status.error().message << " "
                             << canonicalJson(result.view);
    return result;
  }
  static bool tells(const WorldResult& result, std::string_view kind) {
    return std::any_of(result.incidents.begin(), result.incidents.end(),
                       [&](const MarketIncident& each) { return each.kind == kind; });
  }
  static std::int64_t money(const WorldResult& result, const char* member) { return result.view.at(member).as_int64(); }
};

TEST_F(MarketWorld, HonestPartiesSettleEveryCall) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WorldResult result = judged({.seed = seed});
    EXPECT_EQ(money(result, "seller"), 3 * 250) << seed;
    EXPECT_EQ(money(result, "buyer"), 2'000 - 3 * 250) << seed;
    EXPECT_EQ(result.runs.size(), 3u);
    for (const auto& [name, call] : result.calls)
      EXPECT_TRUE(call.buyerEnd == "accepted" || call.buyerEnd == "settled") << name << " " << call.buyerEnd;
    EXPECT_TRUE(result.incidents.empty()) << result.incidents.front().what;
  }
}

// Each party, before and after each of its writes, with and without a loss of power: one run, one settlement, the same
// balances.
TEST_F(MarketWorld, ADeathAtAnyWriteChangesNothing) {
  const WorldOptions calm{.seed = 3, .calls = 1, .seconds = 300};
  const WorldResult undisturbed = judged(calm);
  for (int party = 0; party < 3; ++party) {
    ASSERT_GT(undisturbed.writes[party], 2);
    for (int boundary = 0; boundary < 4 * undisturbed.writes[party]; ++boundary) {
      WorldOptions options = calm;
      options.death = {party, boundary / 2};
      options.losesPower = boundary % 2 == 1;
      const WorldResult result = judged(options);
      EXPECT_EQ(result.view, undisturbed.view) << "party " << party << ", boundary " << boundary;
      EXPECT_EQ(result.runs, undisturbed.runs);
    }
  }
}

TEST_F(MarketWorld, ASilentSellerCostsNothing) {
  const WorldResult result = judged({.seed = 4, .seller = SellerHabit::silent});
  EXPECT_EQ(money(result, "buyer"), 2'000);
  EXPECT_EQ(money(result, "seller"), 0);
  EXPECT_FALSE(result.compensated.empty());
}

TEST_F(MarketWorld, AFailedRunIsFree) {
  const WorldResult result = judged({.seed = 5, .seller = SellerHabit::failing});
  EXPECT_EQ(money(result, "buyer"), 2'000);
  EXPECT_FALSE(tells(result, "evidence")) << "evidence of a failed run is evidence";
}

// Its own desk does not send what does not verify; what is forged on the way to the holder is refused there.
TEST_F(MarketWorld, AnOverchargeIsNotSentAndAForgeryNotTaken) {
  for (const SellerHabit habit : {SellerHabit::overcharging, SellerHabit::forging}) {
    const WorldResult result = judged({.seed = 6, .seller = habit});
    EXPECT_EQ(money(result, "buyer"), 2'000);
    EXPECT_EQ(money(result, "seller"), 0);
    EXPECT_TRUE(tells(result, "evidence"));
  }
}

TEST_F(MarketWorld, ASilentHolderDelaysAndLosesNothing) {
  const WorldResult result = judged({.seed = 7, .holderSilentFor = 40});
  EXPECT_EQ(money(result, "seller") + money(result, "buyer"), 2'000);
}

// Within what the rules allow for nothing is noticed; hours off nothing is lost.
TEST_F(MarketWorld, WrongClocks) {
  for (int party = 0; party < 3; ++party)
    for (const std::int64_t off : {-250, 250}) {
      WorldOptions options{.seed = 8, .seconds = 1'000};
      options.clockOff[party] = off;
      const WorldResult result = judged(options);
      EXPECT_EQ(money(result, "held"), 0) << party << " " << off;
    }
  for (int party = 0; party < 3; ++party)
    for (const std::int64_t off : {-7'200, 7'200}) {
      WorldOptions options{.seed = 9, .seconds = 9'000};
      options.clockOff[party] = off;
      const WorldResult result = liveMarket(options);
      EXPECT_EQ(money(result, "held"), 0) << party << " " << off << " " << canonicalJson(result.view);
      EXPECT_EQ(money(result, "buyer") + money(result, "seller"), 2'000) << party << " " << off;
    }
}

// Each lie reaches its party, costs nobody else anything, and leaves proof against the liar alone.
TEST_F(MarketWorld, ALieLeavesProofAndNothingElse) {
  for (const std::string_view name : enumNames<MarketLie>()) {
    const MarketLie lie = *parseEnum<MarketLie>(name);
    if (lie >= kFirstHolderLie) continue;
    const WorldOptions options{.seed = 11, .calls = 2, .lossPercent = 0, .arbiterSeconds = 90};
    market::MarketWorld world(options);
    world.runUntil(1'000);
    if (lie >= kFirstSellerLie) world.lie(lie);
    world.order();
    world.runUntil(12'000);
    if (lie < kFirstSellerLie) world.lie(lie);
    world.runUntil(15'000);
    world.order();
    world.runUntil(900'000);
    const WorldResult result = world.result();
    const Status judged = judgeWorld(result, lie < kFirstSellerLie ? kBuyer : kSeller);
    EXPECT_TRUE(judged.ok()) << name << ": " << judged.error().message;
    EXPECT_EQ(result.lies.count(lie), 1u) << name << " did not arrive";
    EXPECT_EQ(world.unsettled(), "") << name;
    EXPECT_EQ(result.calls.at("C2").share, 250) << name << ": the call without a lie is paid";
    EXPECT_EQ(result.calls.at("C1").share, lie < kFirstSellerLie ? 250 : 0) << name;
    // The lying buyer has lost the money of what was done for it, and nothing was done that is not paid.
    for (const auto& [id, count] : result.runs) {
      const CallResult& call = result.calls.at(id.substr(id.find('/') + 1));
      const bool disputed = lie == MarketLie::frozenCall && id.ends_with("a");
      EXPECT_TRUE(lie >= kFirstSellerLie || disputed || call.share == 250) << name << ": " << id;
    }
  }
}

// A call before the lie, one that it is about, one behind it.
TEST_F(MarketWorld, AHolderThatLiesIsNamedAndNobodyElse) {
  for (auto n = std::uint64_t(kFirstHolderLie); n <= std::uint64_t(kLastLie); ++n) {
    const auto lie = MarketLie(n);
    int arrived = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(concat(enumName(lie), " ", seed));
      market::MarketWorld world({.seed = seed, .calls = 3, .lossPercent = 0, .window = 20});
      for (int call = 0; call < 3; ++call) {
        world.runUntil(1'500 + call * 20'000);
        if (call == 1) world.lie(lie);
        world.order();
      }
      world.runUntil(900'000);
      const WorldResult result = world.result();
      EXPECT_TRUE(judgeWorld(result, kHolder).ok()) << judgeWorld(result, kHolder).error().message;
      EXPECT_EQ(world.unsettled(), "");
      EXPECT_EQ(result.calls.at("C1").share, 250);
      if (!result.lies.contains(lie)) continue;
      ++arrived;
      EXPECT_TRUE(lie == MarketLie::falseDecline || result.calls.at("C2").share * result.calls.at("C3").share == 0);
      for (const ToldIncident& told : result.incidents) EXPECT_EQ(told.org, "notary") << told.what;
    }
    EXPECT_GT(arrived, 0) << enumName(lie);
  }
}

// People accept and dispute what verifies; the arbiter gives parts.
TEST_F(MarketWorld, WhatAPersonDisputesIsForTheArbiter) {
  int disputed = 0, parts = 0;
  std::vector<std::uint64_t> seeds{294};  // the holder finds a dispute too late, and refuses the refund too
  for (std::uint64_t seed = 1; seed <= 12; ++seed) seeds.push_back(seed);
  for (const std::uint64_t seed : seeds) {
    market::MarketWorld world({.seed = seed, .calls = 6, .people = true});
    for (int call = 0; call < 6; ++call) {
      world.runUntil(1'000 + call * 9'000);
      world.order();
    }
    world.runUntil(1'200'000);
    const WorldResult result = world.result();
    EXPECT_TRUE(judgeWorld(result).ok()) << seed << ": " << judgeWorld(result).error().message;
    EXPECT_EQ(world.unsettled(), "") << seed;
    for (const auto& [name, call] : result.calls) {
      disputed += call.word == "dispute" ? 1 : 0;
      parts += call.share == 125 ? 1 : 0;
    }
  }
  EXPECT_GT(disputed, 6);
  EXPECT_GT(parts, 0);
}

// Behind its buyer's back: found out in time, and never paid.
TEST_F(MarketWorld, AWithheldBundleIsDisputedWhateverTheOrderOfTimes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    market::MarketWorld world({.seed = seed, .lossPercent = 10});
    world.runUntil(1'000);
    world.lie(MarketLie::withheldBundle);
    world.order();
    world.runUntil(600'000);
    const WorldResult result = world.result();
    EXPECT_TRUE(judgeWorld(result, kSeller).ok()) << seed << judgeWorld(result, kSeller).error().message;
    EXPECT_EQ(result.calls.at("C1").share, 0) << seed;
    EXPECT_EQ(result.calls.at("C1").buyerEnd, "disputed") << seed;
  }
}

// All are ordered in one second, and delivered to the holder alone: as many are open as can be disputed in time.
TEST_F(MarketWorld, MoreCallsThanAHolderHearsInTheirWindowAreNotOpenAtOnce) {
  constexpr int kCalls = 100;
  market::MarketWorld world(
      {.seed = 5, .calls = kCalls, .lossPercent = 0, .seller = SellerHabit::hiding, .window = 20});
  world.runUntil(1'000);
  for (int n = 0; n < kCalls; ++n) world.order();
  std::int64_t ms = 1'000;
  while ((ms < 300'000 || !world.unsettled().empty()) && ms < 7'200'000) world.runUntil(ms += 10'000);
  EXPECT_EQ(world.unsettled(), "");
  const WorldResult result = world.result();
  EXPECT_TRUE(judgeWorld(result, kSeller).ok()) << judgeWorld(result, kSeller).error().message;
  EXPECT_EQ(result.calls.size(), std::size_t(kCalls));
  for (const auto& [name, call] : result.calls) EXPECT_EQ(call.share, 0) << name;
}

// Orders, deaths, silences, wrong clocks and lies as they come; MARKET_SEEDS=N draws more.
TEST_F(MarketWorld, HistoriesOfFaultsAndLies) {
  const char* wanted = std::getenv("MARKET_SEEDS");
  const std::uint64_t seeds = wanted == nullptr ? 12 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SeededRandom random(seed);
    const int liar = int(seed % 4) - 1;  // nobody, the buyer, the seller, the holder
    const bool faults = random.below(2) == 0;
    market::MarketWorld world({.seed = seed,
                               .lossPercent = random.below(2) == 0 ? 10 : 0,
                               .arbiterSeconds = random.below(3) == 0 ? 90 : 5,
                               .people = random.below(2) == 0});
    std::int64_t ms = 1'000;
    for (int n = 0; n < 40; ++n, ms += 1'000 + std::int64_t(random.below(12'000))) {
      world.runUntil(ms);
      const int party = int(random.below(3));
      switch (random.below(faults ? 7 : 4)) {
        case 0:
        case 1: world.order(); break;
        case 2:
        case 3:
          if (liar == kBuyer) world.lie(MarketLie(random.below(std::uint64_t(kFirstSellerLie))));
          if (liar == kSeller)
            world.lie(MarketLie(std::uint64_t(kFirstSellerLie) +
                                random.below(std::uint64_t(kFirstHolderLie) - std::uint64_t(kFirstSellerLie))));
          if (liar == kHolder)
            world.lie(MarketLie(std::uint64_t(kFirstHolderLie) +
                                random.below(std::uint64_t(kLastLie) - std::uint64_t(kFirstHolderLie) + 1)));
          break;
        case 4: world.die(party, int(random.below(20)), random.below(2) == 0); break;
        case 5: world.silence(party, 5'000 + std::int64_t(random.below(85'000))); break;
        default: world.setClock(party, std::int64_t(random.below(400)) - 200); break;
      }
    }
    while (!world.unsettled().empty() && ms < 3'600'000) world.runUntil(ms += 10'000);
    EXPECT_EQ(world.unsettled(), "") << "seed " << seed;
    world.runUntil(ms + 300'000);
    const Status judged = judgeWorld(world.result(), liar);
    EXPECT_TRUE(judged.ok()) << "seed " << seed << ": " << judged.error().message;
  }
}

// The judge sees what it must see.
TEST_F(MarketWorld, JudgeFires) {
  const WorldOptions options{.seed = 3, .calls = 1, .seconds = 300};
  const WorldResult right = judged(options);
  const auto finds = [&](auto change) {
    WorldResult wrong = right;
    change(wrong);
    return !judgeWorld(wrong).ok();
  };
  EXPECT_TRUE(finds([](WorldResult& r) { r.view["seller"] = 7; }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].state = "DELIVERED"; }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].settlements = 2; }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].charge = 249; })) << "paid beyond the charge";
  EXPECT_TRUE(finds([](WorldResult& r) { r.deliveries.clear(); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].ruling = 125; })) << "paid otherwise than ruled";
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].word = "dispute"; })) << "accepted, whatever a person says";
  EXPECT_TRUE(finds([](WorldResult& r) {
    r.calls["C1"].disputedInTime = true;
    r.calls["C1"].settledBy = "Claim";
  })) << "disputed, and paid without a ruling";
  EXPECT_FALSE(finds([](WorldResult& r) { r.calls["C1"].disputedInTime = true; })) << "the buyer has accepted";
  EXPECT_TRUE(finds([](WorldResult& r) { r.unheld.push_back("C1"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.keptInputs.push_back("C1"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].order = toyDigest("other"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.runs.begin()->second = 2; }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.runs["x/C9"] = 1; })) << "a run without held money";
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].bundle.clear(); }));
  EXPECT_TRUE(finds([](WorldResult& r) {
    r.calls["C1"].bundle.clear();
    r.calls["C1"].buyerEnd = "settled";
  })) << "paid without work";
  EXPECT_TRUE(finds([](WorldResult& r) { r.shown.push_back({"C2", toyDigest("shown")}); })) << "work without money";
  EXPECT_TRUE(finds([](WorldResult& r) { r.lateRuns.push_back("C1"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.frozen.push_back("C1"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.unreadable.push_back("call/x"); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.calls["C1"].buyerEnd.clear(); }));
  EXPECT_TRUE(finds([](WorldResult& r) { r.incidents.push_back({{"wider", "clinic", "made up", {"{}"}}, kSeller}); }));
  for (const MarketLie lie :
       {MarketLie::widerOrder, MarketLie::secondOrder, MarketLie::secondContract, MarketLie::forgedEvidence,
        MarketLie::otherEvidence, MarketLie::alteredBundle, MarketLie::withheldOutput, MarketLie::otherTime,
        MarketLie::otherStatement, MarketLie::refusedDelivery}) {
    EXPECT_TRUE(finds([&](WorldResult& r) { r.lies[lie] = 1; })) << enumName(lie);
  }
}

}  // namespace
}  // namespace witan::market
