// Attacks on the desks (docs/market.md): each gets a clear refusal, and what proves it is kept.
#include "base/identity.h"
#include "kernel/market/equivocation.h"
#include "tests/market/desks.h"

namespace witan::market {
namespace {

using tests::Desks;

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
  EXPECT_EQ(seller_.find(toy_.contractDigest(), "C1"), nullptr) << "no money, no memory of it";
}

// An order under whose money there is no time left costs nobody a run.
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

TEST_F(Desks, TheHolderOpensWhatBothSignedUnderTrustedRoots) {
  const auto ask = [&](const std::string& envelope, json::value grants, const char* from = "clinic") {
    return holder_.onLetter(
        {from, "notary", "o", "open", {{"contract", valueOf(envelope)}, {"grants", std::move(grants)}}},
        toy_.contract.signedAt);
  };
  const auto refusal = [](const Out& out) { return textOf(out.letters.at(0).body, "message"); };
  const std::string both = toy_.contractEnvelope();
  EXPECT_EQ(refusal(ask(both, json::array())), "no grant of the root of clinic is for its key");
  EXPECT_EQ(refusal(ask(both, grants_, "evil")), "the contract is of others");
  EXPECT_EQ(refusal(ask(sealedDocument(toy_.contract, {&toy_.clinic, 1}), grants_)), "lab has not signed the contract");
  Contract elsewhere = toy_.contract;
  elsewhere.escrow = "bank";
  EXPECT_EQ(refusal(ask(sealedDocument(elsewhere, {&toy_.clinic, 1}), grants_)), "the contract names another escrow");
  holder_.trust({{"clinic", toy_.clinicRoot.publicKey()}});
  EXPECT_EQ(refusal(ask(both, grants_)), "the root of lab is not trusted here");
  holder_.trust(toy_.roots());

  const Out begun = ask(both, grants_);
  ASSERT_EQ(begun.acts.size(), 1u);
  EXPECT_EQ(begun.acts[0].entity, toy_.contractDigest());
  EXPECT_EQ(begun.acts[0].action.at("fields"), json::value(toy_.partyFields()));
  kernel::Decision done;
  done.outcome = kernel::Outcome::initialised;
  const Out opened = holder_.decided(begun.acts[0], done, toy_.contract.signedAt);
  ASSERT_EQ(opened.acts.size(), 1u);
  EXPECT_TRUE(opened.letters.empty()) << "the answer comes when the contract stands";
  EXPECT_EQ(textOf(opened.acts[0].action, "envelope"), both);

  const std::string entity = toy_.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  run_.feed({{"at", "2026-03-02T01:00:00Z"}, {"entity", entity}, {"role", "Buyer"}, {"action", opened.acts[0].action}});
  const Out again = ask(both, grants_, "lab");
  EXPECT_TRUE(again.acts.empty());
  EXPECT_EQ(textOf(again.letters.at(0).body, "outcome"), "approved") << "it is open already";
}

// A pending ruling freezes the entity while the time of its other calls runs on.
class Proposals : public Desks {
 protected:
  Proposals() : desk_("clinic", toy_.clinic, {grants_.front()}) {}
  Out propose() { return desk_.propose(toy_.contract, {grants_[1]}, at_).value(); }
  Out answer(ContractDesk& desk, const char* from, const std::string& id, json::object body) {
    return desk.onLetter({from, "clinic", id, "answer", std::move(body)}, at_);
  }
  Out proposeUnder(const Contract& contract, json::value quote) {
    Letter letter = proposal(contract, toy_.clinic);
    if (!quote.is_null()) letter.body["offer"] = std::move(quote);
    return seller_.onLetter(letter, at_);
  }
  ProposalStep step() const { return desk_.find(std::string(toy_.contract.id))->proposal.step; }

  ContractDesk desk_;
  const Moment at_ = toy_.contract.signedAt;
};

TEST_F(Proposals, GoOnAfterADeathUnderTheSameIds) {
  const Out asked = propose();
  ASSERT_EQ(asked.letters.size(), 1u);
  EXPECT_EQ(asked.letters[0].kind, "propose");
  ContractDesk reborn("clinic", toy_.clinic, {grants_.front()});
  ASSERT_TRUE(reborn.restore(asked.rows.at(0)).ok());
  const Out again = reborn.tick(at_);
  ASSERT_EQ(again.letters.size(), 1u);
  EXPECT_EQ(again.letters[0].id, asked.letters[0].id);
  EXPECT_EQ(again.letters[0].body, asked.letters[0].body) << "one id is one text";
  EXPECT_TRUE(propose().rows.empty()) << "a repetition";

  EXPECT_TRUE(
      answer(desk_, "evil", asked.letters[0].id, {{"contract", valueOf(toy_.contractEnvelope())}}).rows.empty());
  Contract other = toy_.contract;
  other.total = 1;
  EXPECT_TRUE(answer(desk_, "lab", asked.letters[0].id, {{"contract", valueOf(sealedDocument(other, {&toy_.lab, 1}))}})
                  .rows.empty())
      << "another text is no answer";
  const Out open = answer(desk_, "lab", asked.letters[0].id, {{"contract", valueOf(toy_.contractEnvelope())}});
  ASSERT_EQ(open.letters.size(), 1u);
  EXPECT_EQ(open.letters[0].to, "notary");
  EXPECT_EQ(open.letters[0].body.at("grants").as_array().size(), 2u) << "of both";
  answer(desk_, "notary", open.letters[0].id, {{"outcome", "approved"}});
  EXPECT_EQ(step(), ProposalStep::agreed);
}

TEST_F(Proposals, WhatTheHolderRefusedIsOpenedWhenItIsProposedAgain) {
  const Out asked = propose();
  const Out open = answer(desk_, "lab", asked.letters[0].id, {{"contract", valueOf(toy_.contractEnvelope())}});
  answer(desk_, "notary", open.letters[0].id,
         {{"outcome", "refused"}, {"message", "the root of lab is not trusted here"}});
  EXPECT_EQ(step(), ProposalStep::refused);
  const Out again = propose();
  ASSERT_EQ(again.letters.size(), 1u);
  EXPECT_EQ(again.letters[0].kind, "open");
  EXPECT_NE(again.letters[0].id, open.letters[0].id) << "the first stands for its answer";
}

TEST_F(Proposals, ADeclinedOneIsOver) {
  const Out asked = propose();
  answer(desk_, "lab", asked.letters[0].id, {{"declined", "the offer is not valid now"}});
  EXPECT_EQ(step(), ProposalStep::declined);
  EXPECT_TRUE(propose().letters.empty());
  EXPECT_TRUE(desk_.tick({at_.seconds + 3'600}).letters.empty());
}

// A quote is kept by nobody until a contract under it is agreed; the seller knows it by its own signature.
TEST_F(Proposals, AQuoteNarrowsAnOfferAndComesBackWithTheProposal) {
  const auto ask = [&](json::object body) {
    return seller_.onLetter({"clinic", "lab", "q", "quote", std::move(body)}, at_).letters.at(0).body;
  };
  EXPECT_EQ(textOf(ask({{"capability", "none"}}), "declined"), "no offer of this is valid");
  EXPECT_EQ(textOf(ask({{"capability", "lab.summarise"}, {"locales", json::array{"us"}}}), "declined"),
            "a locale is not offered");
  json::object budget{{"steps", 100'000}, {"tokens", 5'001}, {"seconds", 600}};
  EXPECT_EQ(textOf(ask({{"capability", "lab.summarise"}, {"budget", budget}}), "declined"),
            "a call has at most 5000 tokens");
  budget["tokens"] = 2'000;
  const json::object quoted =
      ask({{"capability", "lab.summarise"}, {"locales", json::array{"eu"}}, {"budget", budget}});
  const auto quote = openEnvelope<Offer>(quoted.at("offer")).value();
  EXPECT_EQ(quote.document.validUntil.seconds, at_.seconds + kQuoteSeconds);
  EXPECT_TRUE(isSignedBy(quote.text, toy_.lab.publicKey()));

  Contract contract = toy_.contract;
  contract.offer = quote.digest;
  EXPECT_EQ(declined(proposeUnder(contract, nullptr)), "it names no offer of ours");
  EXPECT_EQ(declined(proposeUnder(contract, valueOf(sealedDocument(quote.document, {&toy_.stranger, 1})))),
            "it names no offer of ours");
  Contract wide = contract;
  wide.budget.tokens = 2'001;
  EXPECT_NE(declined(proposeUnder(wide, quoted.at("offer"))), "") << "beyond the quote, within the offer";
  const Out agreed = proposeUnder(contract, quoted.at("offer"));
  ASSERT_TRUE(agreed.letters.at(0).body.contains("contract")) << canonicalJson(agreed.letters.at(0).body);
  EXPECT_EQ(agreed.rows.size(), 2u) << "the quote and the contract";
  EXPECT_TRUE(proposeUnder(contract, nullptr).letters.at(0).body.contains("contract")) << "a repetition";
}

class BuyersEvidence : public Desks {
 protected:
  void SetUp() override {
    ASSERT_TRUE(buyer_.addContract(toy_.contractEnvelope()).ok());
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
  std::string delivered(const char* call) const {
    return toHex(sha256(toJson(toy_.statement(toy_.order(call), toy_.transcript()))));
  }
  const BuyerCall& call() const { return *buyer_.find(toy_.contractDigest(), "C1"); }

  const Moment at_ = momentAt("2026-03-03T09:00:00Z");
};

TEST_F(BuyersEvidence, WhatVerifiesAndWasDeliveredIsAccepted) {
  const Out shown = show(toy_.bundle());
  EXPECT_EQ(call().step, BuyerStep::compare);
  EXPECT_EQ(shown.letters.at(1).kind, "view");
  EXPECT_TRUE(answer("compare", {{"state", "RESERVED"}, {"evidence", ""}}).letters.empty()) << "not there yet";
  const Out out = answer("compare", {{"state", "DELIVERED"}, {"evidence", delivered("C1")}});
  EXPECT_EQ(call().step, BuyerStep::accept);
  EXPECT_EQ(textOf(out.letters.at(0).body.at("action").as_object(), "type"), "Accept");
}

// The seller signs one statement for the buyer and a dearer one for the holder: Accept would pay the second.
TEST_F(BuyersEvidence, AnotherStatementThanTheDeliveredOneIsDisputed) {
  show(toy_.bundle());
  Statement dearer = toy_.statement(toy_.order("C1"), toy_.transcript());
  dearer.predicate.charge += 1;
  const std::string text = toy_.evidenceEnvelope(dearer);
  const Out out =
      answer("compare", {{"state", "DELIVERED"}, {"evidence", toHex(sha256(toJson(dearer)))}, {"statement", text}});
  EXPECT_EQ(call().step, BuyerStep::dispute);
  EXPECT_EQ(call().reason, "EB08");
  EXPECT_EQ(out.incidents.at(0).kind, "equivocation");
  EXPECT_EQ(out.incidents.at(0).org, "lab");
  EXPECT_TRUE(findEquivocation(out.incidents.at(0).proof.at(0), out.incidents.at(0).proof.at(1), {}).ok());
}

// The word of the holder is no proof against the seller.
TEST_F(BuyersEvidence, AHolderThatShowsNoOtherStatementAccusesNobody) {
  show(toy_.bundle());
  const Out out = answer("compare", {{"state", "DELIVERED"}, {"evidence", toyDigest("dearer")}, {"statement", ""}});
  EXPECT_EQ(call().step, BuyerStep::dispute);
  EXPECT_EQ(out.incidents.at(0).kind, "silent");
  EXPECT_EQ(out.incidents.at(0).org, "notary");
}

TEST_F(BuyersEvidence, WithoutItsOutputItIsDisputed) {
  json::object bundle = toy_.bundle();
  bundle["output"] = nullptr;
  ASSERT_TRUE(verifyBundle(bundle, toy_.roots()).ok()) << "for others it is a bundle";
  show(bundle);
  EXPECT_EQ(call().reason, "EB15");
  EXPECT_EQ(call().step, BuyerStep::dispute);
}

// The seller shows its evidence to the holder alone: it would be paid after the window.
TEST_F(BuyersEvidence, WhatWasDeliveredAndDoesNotComeIsDisputedInTime) {
  const Out asked = buyer_.tick(at_);
  ASSERT_EQ(asked.letters.size(), 1u);
  EXPECT_EQ(asked.letters[0].kind, "view");
  EXPECT_EQ(asked.letters[0].to, "notary");
  const std::int64_t window = std::int64_t(toy_.contract.disputeWindowSeconds);
  const auto views = [&](json::object standing) {
    const std::string id = externalId(toy_.contractDigest(), "C1");
    return buyer_.onLetter(
        {"notary", "clinic", asked.letters[0].id, "answer", {{"calls", json::object{{id, std::move(standing)}}}}}, at_);
  };
  EXPECT_TRUE(views({{"state", "RESERVED"}, {"evidence", ""}, {"left", 7}}).letters.empty());
  EXPECT_TRUE(views({{"state", "DELIVERED"}, {"evidence", delivered("C1")}, {"left", window}}).letters.empty());
  const std::string statement = toy_.evidenceEnvelope(toy_.statement(toy_.order("C1"), toy_.transcript()));
  const Out out =
      views({{"state", "DELIVERED"}, {"evidence", delivered("C1")}, {"left", window / 2}, {"statement", statement}});
  EXPECT_EQ(textOf(out.letters.at(0).body.at("action").as_object(), "type"), "Dispute");
  EXPECT_EQ(out.incidents.at(0).org, "lab");
  EXPECT_EQ(out.incidents.at(0).proof.at(1), statement) << "without it, it would be the holder's word alone";
  show(toy_.bundle());
  EXPECT_EQ(call().step, BuyerStep::compare) << "late is better than never";
}

TEST_F(BuyersEvidence, TheHolderIsAskedOftenEnoughForEachWindow) {
  const std::int64_t window = std::int64_t(toy_.contract.disputeWindowSeconds);
  std::int64_t last = at_.seconds, longest = 0;
  for (std::int64_t t = at_.seconds; t < at_.seconds + 3'600; ++t)
    for (const Letter& letter : buyer_.tick({t}).letters)
      if (letter.kind == "view") longest = std::max(longest, t - std::exchange(last, t));
  EXPECT_LE(longest, window / 16);
  EXPECT_LE(longest, 600);
}

TEST_F(BuyersEvidence, AClockThatIsSetBackStopsNoQuestion) {
  EXPECT_FALSE(buyer_.tick({at_.seconds + 1}).letters.empty());
  EXPECT_FALSE(buyer_.tick({at_.seconds - 58}).letters.empty());
}

TEST_F(BuyersEvidence, APersonMayDisputeAndReclaimWhileTheHolderIsSilent) {
  show(toy_.bundle());
  ASSERT_EQ(call().step, BuyerStep::compare);
  const std::string contract = toy_.contractDigest();
  EXPECT_FALSE(buyer_.decide(contract, "C1", BuyerStep::reclaim, "", at_).ok()) << "it is not late";
  EXPECT_TRUE(buyer_.decide(contract, "C1", BuyerStep::reclaim, "", {at_.seconds + 3'601}).ok());
  EXPECT_EQ(call().step, BuyerStep::reclaim);
}

TEST_F(BuyersEvidence, APersonsDisputeStandsWhenTheEvidenceComes) {
  ASSERT_TRUE(buyer_.decide(toy_.contractDigest(), "C1", BuyerStep::dispute, "never came", at_).ok());
  show(toy_.bundle());
  EXPECT_EQ(call().step, BuyerStep::dispute);
  EXPECT_FALSE(call().bundle.empty());
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

TEST_F(BuyersEvidence, APersonDecidesInReviewUntilTheWindowEnds) {
  const std::string contract = toy_.contractDigest();
  EXPECT_FALSE(buyer_.decide(contract, "C1", BuyerStep::accept, "", at_).ok()) << "nothing has come yet";
  EXPECT_FALSE(buyer_.decide(contract, "C1", BuyerStep::reclaim, "", at_).ok()) << "it is not late";
  for (const char* name : {"C2", "C3"}) {
    OrderWish reviewed = wish(name);
    reviewed.review = true;
    ASSERT_TRUE(buyer_.order(reviewed, at_).ok());
    const Order order = toy_.order(name);
    const json::array records = toy_.transcript();
    EXPECT_EQ(show(toy_.bundleOf(order, toy_.statement(order, records), records)).letters.size(), 2u)
        << "received, and a look at what was delivered";
    buyer_.onLetter({"notary",
                     "clinic",
                     stepId(externalId(contract, name), "compare", 0),
                     "answer",
                     {{"state", "DELIVERED"}, {"evidence", delivered(name)}}},
                    at_);
    ASSERT_EQ(buyer_.find(contract, name)->step, BuyerStep::review) << buyer_.find(contract, name)->reason;
  }
  const auto said = buyer_.decide(contract, "C2", BuyerStep::dispute, "of another patient", at_);
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(textOf(said->letters.at(0).body.at("action").as_object(), "reason"), "of another patient");
  EXPECT_TRUE(buyer_.decide(contract, "C2", BuyerStep::dispute, "", at_)->letters.empty()) << "said again";
  EXPECT_FALSE(buyer_.decide(contract, "C2", BuyerStep::accept, "", at_).ok());
  const Moment end{at_.seconds + std::int64_t(toy_.contract.disputeWindowSeconds)};
  buyer_.tick({end.seconds - 1});
  EXPECT_EQ(buyer_.find(contract, "C3")->step, BuyerStep::review);
  buyer_.tick(end);
  EXPECT_EQ(buyer_.find(contract, "C3")->step, BuyerStep::accept) << "the window is over";
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
