// Attacks on the desks (docs/market.md): each gets a clear refusal, and what proves it is kept.
#include <gtest/gtest.h>

#include "base/identity.h"
#include "lab/conformance/market_toy.h"
#include "market/buyer_desk.h"
#include "market/holder_desk.h"
#include "market/seller_desk.h"
#include "tests/market/vectors.h"

namespace witan::market {
namespace {

json::value valueOf(const std::string& text) { return parseJson(text, kBundleLimits).value(); }

class Desks : public ::testing::Test {
 protected:
  Desks()
      : grants_(toy_.bundle().at("grants").as_array()),
        seller_({"lab",
                 toy_.lab,
                 toy_.evidence,
                 toy_.contract.seller.log,
                 {sealedDocument(toy_.offer, {&toy_.lab, 1})},
                 json::array(grants_.begin() + 1, grants_.end()),
                 toy_.roots(),
                 {"notary"}}),
        buyer_("clinic", toy_.clinic, toy_.roots()),
        holder_("notary", [this](const std::string& entity) { return run_.partition().state(entity); }) {}

  Letter proposal(const Contract& contract, const SigningKey& key) const {
    return {"clinic",
            "lab",
            "p",
            "propose",
            {{"contract", valueOf(sealedDocument(contract, {&key, 1}))},
             {"entity", "K"},
             {"grants", json::array{grants_.front()}}}};
  }
  Out propose(const Contract& contract) { return seller_.onLetter(proposal(contract, toy_.clinic), contract.signedAt); }
  Letter ordering(const Order& order) const {
    const auto given = toy_.disclosures();
    return {"clinic",
            "lab",
            "o",
            "order",
            {{"order", valueOf(sealedDocument(order, {&toy_.clinic, 1}))},
             {"disclosures", json::array(given.begin(), given.end())}}};
  }
  Out order(const Order& order) { return seller_.onLetter(ordering(order), order.issuedAt); }
  // The holder says that the money is held.
  Out holds(const Order& order) {
    const std::string id = stepId(externalId(order.contract, order.call), "check", 0);
    return seller_.onLetter({"notary",
                             "lab",
                             id,
                             "answer",
                             {{"state", "RESERVED"},
                              {"order", toHex(sha256(toJson(order)))},
                              {"input", order.input},
                              {"amount", std::int64_t(order.amount)}}},
                            order.issuedAt);
  }
  static std::string declined(const Out& out) { return textOf(out.letters.at(0).body, "declined"); }

  const MarketToy toy_;
  json::array grants_;
  SellerDesk seller_;
  BuyerDesk buyer_;
  tests::EscrowRun run_;
  HolderDesk holder_;
};

TEST_F(Desks, AContractMustNarrowTheOfferAndHaveOneText) {
  Contract wide = toy_.contract;
  wide.locales = {"eu", "us"};
  EXPECT_EQ(declined(propose(wide)), "the contract has a locale that was not offered");
  Contract dear = toy_.contract;
  dear.perCall = 501;
  EXPECT_EQ(declined(propose(dear)), "perCall exceeds the offer's");
  EXPECT_EQ(declined(seller_.onLetter(proposal(toy_.contract, toy_.stranger), toy_.contract.signedAt)),
            "the buyer has not signed it");
  Letter stranger = proposal(toy_.contract, toy_.clinic);
  stranger.from = "evil";
  EXPECT_EQ(declined(seller_.onLetter(stranger, toy_.contract.signedAt)), "the buyer is another organisation");
  Letter ungranted = proposal(toy_.contract, toy_.clinic);
  ungranted.body["grants"] = json::array();
  EXPECT_EQ(declined(seller_.onLetter(ungranted, toy_.contract.signedAt)),
            "no grant of the buyer's root is for its key");

  const Out signed_ = propose(toy_.contract);
  ASSERT_TRUE(signed_.letters.at(0).body.contains("contract"));
  EXPECT_EQ(signed_.rows.size(), 1u);
  EXPECT_EQ(propose(toy_.contract).letters.at(0).body, signed_.letters.at(0).body) << "a repetition";
  Contract second = toy_.contract;
  second.total = 900;
  const Out lied = propose(second);
  EXPECT_EQ(declined(lied), "another contract has this id");
  ASSERT_EQ(lied.incidents.size(), 1u);
  EXPECT_EQ(lied.incidents[0].kind, "equivocation");
}

TEST_F(Desks, AnOrderRunsOnceAndOnlyWhenTheMoneyIsHeld) {
  propose(toy_.contract);
  const Order first = toy_.order("C1");
  const Out asked = order(first);
  EXPECT_TRUE(asked.runs.empty()) << "nobody has said that the money is held";
  ASSERT_EQ(asked.letters.size(), 2u);
  EXPECT_EQ(asked.letters[0].kind, "view");
  EXPECT_EQ(holds(first).runs.size(), 1u);
  for (int n = 0; n < 3; ++n) {
    const Out replayed = order(first);
    EXPECT_TRUE(replayed.runs.empty());
    EXPECT_TRUE(replayed.letters.at(0).body.contains("accepted"));
  }
  Order other = first;
  other.amount = 299;
  const Out lied = order(other);
  EXPECT_EQ(declined(lied), "another order has this call");
  EXPECT_EQ(lied.incidents.at(0).kind, "equivocation");
  EXPECT_EQ(lied.incidents.at(0).proof.size(), 2u);
}

TEST_F(Desks, AHolderThatHoldsAnotherOrderHoldsNothing) {
  propose(toy_.contract);
  order(toy_.order("C1"));
  Order other = toy_.order("C1");
  other.amount = 1;
  EXPECT_TRUE(holds(other).runs.empty());
  EXPECT_EQ(seller_.find(toy_.contractDigest(), "C1")->end, "declined");
}

TEST_F(Desks, AWiderOrderIsDeclinedAndKept) {
  propose(toy_.contract);
  Order wide = toy_.order("C1");
  wide.locales = {"ch", "eu"};
  const Out out = order(wide);
  EXPECT_EQ(declined(out), "the order has a locale that the contract has not");
  EXPECT_EQ(out.incidents.at(0).kind, "wider");
  Order dear = toy_.order("C1");
  dear.amount = 401;
  EXPECT_EQ(declined(order(dear)), "the amount exceeds perCall");
  Order late = toy_.order("C1");
  late.deliverBy.seconds += 1;
  EXPECT_EQ(declined(order(late)), "deliverBy is later than the contract allows");
  Letter guessed = ordering(toy_.order("C1"));
  guessed.body["disclosures"] = json::array();
  EXPECT_EQ(declined(seller_.onLetter(guessed, toy_.order("C1").issuedAt)),
            "the disclosures are not the order's input");
}

TEST_F(Desks, AFloodIsTurnedAwayAndToldOnce) {
  int busy = 0;
  std::size_t told = 0;
  for (int n = 0; n < 3 * kRequestsPerSecond; ++n) {
    const Out out = propose(toy_.contract);
    busy += out.letters.at(0).body.contains("busy") ? 1 : 0;
    told += out.incidents.size();
  }
  EXPECT_EQ(busy, 2 * kRequestsPerSecond);
  EXPECT_EQ(told, 1u);
  EXPECT_FALSE(seller_.onLetter(proposal(toy_.contract, toy_.clinic), {toy_.contract.signedAt.seconds + 1})
                   .letters.at(0)
                   .body.contains("busy"))
      << "a second later it is heard again";
}

TEST_F(Desks, TheHolderTakesActsOfThePartiesOnly) {
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", "K"}, {"init", toy_.partyFields()}});
  const auto ask = [&](const char* from, const char* type, const char* entity = "K") {
    return holder_.onLetter(
        {from, "notary", "id", "act", {{"entity", entity}, {"action", json::object{{"type", type}, {"call", "C1"}}}}},
        toy_.contract.signedAt);
  };
  EXPECT_EQ(ask("clinic", "Accept").acts.size(), 1u);
  EXPECT_EQ(ask("clinic", "Accept").acts.at(0).role, "Buyer");
  EXPECT_EQ(ask("lab", "Claim").acts.at(0).role, "Seller");
  for (const Out& out : {ask("evil", "Accept"), ask("clinic", "Claim"), ask("lab", "Accept"), ask("clinic", "Deposit"),
                         ask("lab", "Settle"), ask("clinic", "Accept", "K2")}) {
    EXPECT_TRUE(out.acts.empty());
    EXPECT_EQ(textOf(out.letters.at(0).body, "outcome"), "refused");
  }
  EXPECT_NE(ask("clinic", "Accept").acts.at(0).operationId, ask("lab", "Claim").acts.at(0).operationId)
      << "a party cannot take the other's operation id";
  const Out odd = holder_.onLetter({"clinic",
                                    "notary",
                                    "C 1/\u00fc",
                                    "act",
                                    {{"entity", "K"}, {"action", json::object{{"type", "Accept"}, {"call", "C 1"}}}}},
                                   toy_.contract.signedAt);
  EXPECT_TRUE(validateId("operationId", odd.acts.at(0).operationId).ok()) << "whatever the parties call things";
}

class BuyersEvidence : public Desks {
 protected:
  void SetUp() override {
    ASSERT_TRUE(buyer_.addContract(toy_.contractEnvelope(), "K").ok());
    ASSERT_TRUE(buyer_.order(wish("C1"), at_).ok());
    answer("reserve", {{"outcome", "approved"}});
    answer("order", {{"accepted", true}});
    ASSERT_EQ(call().step, BuyerStep::await);
  }
  OrderWish wish(const char* call) const {
    return {toy_.contractDigest(), call, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}};
  }
  Out answer(const char* step, json::object body) {
    const std::string id = stepId(externalId(toy_.contractDigest(), "C1"), step, 0);
    return buyer_.onLetter({std::string(step) == "order" ? "lab" : "notary", "clinic", id, "answer", std::move(body)},
                           at_);
  }
  Out show(const json::object& bundle, const char* from = "lab") {
    return buyer_.onLetter({from, "clinic", "e", "evidence", {{"bundle", bundle}}}, at_);
  }
  const BuyerCall& call() const { return *buyer_.find(toy_.contractDigest(), "C1"); }

  const Moment at_ = momentAt("2026-03-03T09:00:00Z");
};

TEST_F(BuyersEvidence, WhatVerifiesIsAccepted) {
  const Out out = show(toy_.bundle());
  EXPECT_EQ(call().step, BuyerStep::accept);
  EXPECT_EQ(textOf(out.letters.at(1).body.at("action").as_object(), "type"), "Accept");
}

TEST_F(BuyersEvidence, WhatFailsACheckIsDisputedWithItsId) {
  json::object forged = toy_.bundle();
  forged["transcript"].as_array().pop_back();
  const Out out = show(forged);
  EXPECT_EQ(call().step, BuyerStep::dispute);
  EXPECT_EQ(call().reason, "EB14");
  EXPECT_EQ(out.incidents.at(0).kind, "evidence");
  EXPECT_EQ(textOf(out.letters.at(1).body.at("action").as_object(), "reason"), "EB14");
}

TEST_F(BuyersEvidence, NobodyElseDelivers) {
  EXPECT_TRUE(show(toy_.bundle(), "evil").letters.empty());
  EXPECT_EQ(call().step, BuyerStep::await);
}

TEST_F(BuyersEvidence, EvidenceOfAnotherOrderDoesNotCount) {
  Order other = toy_.order("C1");
  other.amount = 400;
  const json::array records = toy_.transcript();
  show(toy_.bundleOf(other, toy_.statement(other, records), records));
  EXPECT_EQ(call().reason, "EB08");
}

TEST_F(BuyersEvidence, WithoutHeldMoneyNoOrderIsSent) {
  ASSERT_TRUE(buyer_.order(wish("C2"), at_).ok());
  const std::string id = stepId(externalId(toy_.contractDigest(), "C2"), "reserve", 0);
  const Out out = buyer_.onLetter(
      {"notary", "clinic", id, "answer", {{"outcome", "rejected"}, {"invariant", "ESCROW_NO_OVERDRAFT"}}}, at_);
  EXPECT_TRUE(out.letters.empty());
  EXPECT_EQ(buyer_.find(toy_.contractDigest(), "C2")->end, "refused");
  EXPECT_EQ(buyer_.find(toy_.contractDigest(), "C2")->reason, "ESCROW_NO_OVERDRAFT");
}

TEST_F(BuyersEvidence, AnAnswerCountsFromWhomWasAskedOnly) {
  ASSERT_TRUE(buyer_.order(wish("C2"), at_).ok());
  const std::string id = stepId(externalId(toy_.contractDigest(), "C2"), "reserve", 0);
  buyer_.onLetter({"lab", "clinic", id, "answer", {{"outcome", "approved"}}}, at_);
  EXPECT_EQ(buyer_.find(toy_.contractDigest(), "C2")->step, BuyerStep::reserve);
}

TEST_F(BuyersEvidence, ASilentHolderIsToldAfterADay) {
  EXPECT_TRUE(buyer_.tick({at_.seconds + 3'600 + 86'400}).incidents.empty());
  const Out out = buyer_.tick({at_.seconds + 3'601 + 2 * 86'400});
  ASSERT_EQ(out.incidents.size(), 1u);
  EXPECT_EQ(out.incidents[0].kind, "silent");
  EXPECT_EQ(out.incidents[0].org, "notary");
}

}  // namespace
}  // namespace witan::market
