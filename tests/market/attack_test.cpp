// What an outsider tried against the desks: work without money, money without work, memory and records that fill up.
#include "tests/market/desks.h"

namespace witan::market {
namespace {

class Attacks : public tests::Desks {};

TEST_F(Attacks, AnOrderWithoutTimeIsDeclinedAtTheHolder) {
  propose(toy_.contract);
  const Order late = toy_.order("C1");
  order(late);
  const Out out = holds(late, 1'799);
  EXPECT_TRUE(out.runs.empty());
  EXPECT_EQ(textOf(out.letters.at(0).body.at("action").as_object(), "type"), "Decline");
  Order future = toy_.order("C2");
  future.issuedAt.seconds += 301, future.deliverBy.seconds += 301;
  EXPECT_EQ(declined(seller_.onLetter(ordering(future), toy_.order("C2").issuedAt)), "it is issued in the future");
  Order early = toy_.order("C2");
  early.deliverBy = early.issuedAt;
  EXPECT_EQ(declined(order(early)), "deliverBy has passed, or comes too soon");
}

TEST_F(Attacks, WhatIsNamedOddlyOrTooLargeIsDeclined) {
  propose(toy_.contract);
  for (const std::string& name :
       {std::string(101, 'C'), std::string("C1/x"), std::string("C9\n FORGED"), std::string("\u00fc")})
    EXPECT_NE(declined(order(toy_.order(name))), "") << name;
  const auto ask = [&](const std::vector<std::string>& given) {
    Order order = toy_.order("C1");
    order.input = jsonDigest(commitmentTo(given));
    Letter letter = ordering(order);
    letter.body = {{"order", valueOf(sealedDocument(order, {&toy_.clinic, 1}))},
                   {"disclosures", json::array(given.begin(), given.end())}};
    return declined(seller_.onLetter(letter, order.issuedAt));
  };
  EXPECT_EQ(ask({"%%%"}), "a disclosure is not base64url of [salt, name, value]");
  EXPECT_EQ(ask({"W10"}), "a disclosure is not base64url of [salt, name, value]");
  EXPECT_EQ(ask({disclosureOf("s", "a", 1), disclosureOf("t", "a", 2)}), "two disclosures have one name");
  std::vector<std::string> large;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    large.push_back(disclosureOf("s", name, json::string(40'000, 'x')));
  EXPECT_EQ(ask(large), concat("the input has more than ", kMostInputBytes, " bytes"));
  EXPECT_EQ(ask({disclosureOf("s", "a", 1)}), "") << "and this is taken";
}

// The proposal names another escrow as its own; a call is looked for in the contract's own and nowhere else.
TEST_F(Attacks, TheEscrowIsTheContractsOwn) {
  Letter foreign = proposal(toy_.contract, toy_.clinic);
  foreign.body["entity"] = toyDigest("another escrow");
  seller_.onLetter(foreign, toy_.contract.signedAt);
  const Out out = order(toy_.order("C1"));
  EXPECT_EQ(textOf(out.letters.at(0).body, "entity"), toy_.contractDigest());
}

TEST_F(Attacks, OfGrantsOnlyTheOneThatCountsIsKept) {
  Letter many = proposal(toy_.contract, toy_.clinic);
  for (int n = 0; n < 60; ++n) many.body["grants"].as_array().emplace_back(std::string(10'000, 'x'));
  const Out out = seller_.onLetter(many, toy_.contract.signedAt);
  ASSERT_EQ(out.rows.size(), 1u);
  EXPECT_LT(out.rows[0].value.size(), 10'000u);
}

TEST_F(Attacks, UnpaidOrdersAndUnusedContractsLeaveNothing) {
  propose(toy_.contract);
  Moment now = toy_.order("C1").issuedAt;
  std::size_t rows = 0, taken = 0;
  for (std::size_t n = 0; n < 200; ++n, now.seconds += n % kRequestsPerSecond == 0 ? 1 : 0) {
    const Out out = seller_.onLetter(ordering(toy_.order(concat("C", n))), now);
    rows += out.rows.size();
    taken += out.letters.size() > 1 ? 1 : 0;  // it asks the holder
  }
  EXPECT_EQ(rows, 0u) << "nobody has paid";
  EXPECT_EQ(taken, kUncheckedOrders);
  seller_.tick({toy_.order("C1").deliverBy.seconds + 3'600});
  EXPECT_TRUE(seller_.calls().empty()) << "a holder that never answers ends no call, its time does";

  std::string why;
  for (std::size_t n = 0; n <= kUnusedContracts; ++n) {
    Contract one = toy_.contract;
    one.id = Word(concat("unused-", n));
    const Moment at{toy_.contract.signedAt.seconds + std::int64_t(n)};
    why = declined(seller_.onLetter(proposal(one, toy_.clinic), at));
  }
  EXPECT_EQ(why, "there are too many contracts without a call");
}

// What was made leaves when the holder has recorded the delivery, and not before.
TEST_F(Attacks, NothingIsShownBeforeItsDeliveryIsOnRecord) {
  propose(toy_.contract);
  const Order first = toy_.order("C1");
  order(first);
  holds(first);
  RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
  run.startedAt = run.endedAt = first.issuedAt;
  const std::string id = externalId(toy_.contractDigest(), "C1");
  const Out ran = seller_.runEnded(id, run, first.issuedAt);
  ASSERT_EQ(ran.records.size(), 1u);
  const std::string statement = ran.records[0].operationId.substr(std::string("evidence:").size());
  const auto shows = [](const Out& out) {
    return std::ranges::count(out.letters, std::string("evidence"), &Letter::kind);
  };
  Out out = seller_.recorded(id, toy_.receipt(statement), first.issuedAt);
  ASSERT_EQ(out.letters.size(), 1u) << "the delivery";
  for (int n = 1; n < 100; ++n) EXPECT_EQ(shows(seller_.tick({first.issuedAt.seconds + n})), 0);
  const auto answer = [&](json::object body) {
    return seller_.onLetter({"notary", "lab", stepId(id, "deliver", 0), "answer", std::move(body)}, first.issuedAt);
  };
  EXPECT_EQ(shows(answer({{"outcome", "approved"}})), 1);
}

TEST_F(Attacks, WhatIsNotDeliveredIsNeverShownAndTheBuyerIsNotAccusedOfIt) {
  propose(toy_.contract);
  const Order first = toy_.order("C1");
  order(first);
  holds(first);
  RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
  run.startedAt = run.endedAt = first.issuedAt;
  const std::string id = externalId(toy_.contractDigest(), "C1");
  const Out ran = seller_.runEnded(id, run, first.issuedAt);
  seller_.recorded(id, toy_.receipt(ran.records.at(0).operationId.substr(9)), first.issuedAt);
  const Out out =
      seller_.onLetter({"notary",
                        "lab",
                        stepId(id, "deliver", 0),
                        "answer",
                        {{"outcome", "rejected"}, {"invariant", "ESCROW_EVIDENCE_VALID"}, {"message", "EB10"}}},
                       first.issuedAt);
  EXPECT_EQ(out.incidents.at(0).org, "notary") << "it verifies here";
  EXPECT_NE(out.incidents.at(0).what.find("EB10"), std::string::npos);
  for (int n = 0; n < 100; ++n)
    EXPECT_EQ(
        std::ranges::count(seller_.tick({first.issuedAt.seconds + n}).letters, std::string("evidence"), &Letter::kind),
        0);
}

// A seller cannot be made to run below what its runs take, once it knows; nor for nothing at all.
TEST_F(Attacks, AnOrderBelowWhatARunTakesIsDeclined) {
  propose(toy_.contract);
  Order none = toy_.order("C0");
  none.budget = {};
  EXPECT_EQ(declined(order(none)), "no run takes nothing");
  none = toy_.order("C0");
  none.locales.clear();
  EXPECT_EQ(declined(order(none)), "no locale is left for a run");
  const Order first = toy_.order("C1");
  order(first);
  holds(first);
  RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
  run.startedAt = run.endedAt = first.issuedAt;
  seller_.runEnded(externalId(toy_.contractDigest(), "C1"), run, first.issuedAt);
  Order less = toy_.order("C2");
  less.budget.tokens = 899;
  EXPECT_EQ(declined(order(less)), "a run takes up to 900 tokens");
}

// Times for which nobody should sign, or hold money.
TEST_F(Attacks, NobodySignsForCenturiesOrForNoTimeAtAll) {
  for (const auto& [deliver, window] :
       {std::pair<Natural, Natural>{3'600, 9}, {Natural{1} << 40, 3'600}, {3'600, Natural{1} << 40}}) {
    Contract odd = toy_.contract;
    odd.deliverWithinSeconds = deliver, odd.disputeWindowSeconds = window;
    const std::array keys{toy_.clinic, toy_.lab};
    const std::string both = sealedDocument(odd, keys);
    EXPECT_NE(declined(propose(odd)), "");
    EXPECT_FALSE(buyer_.addContract(both).ok());
    EXPECT_FALSE(ContractDesk("clinic", toy_.clinic, {}).propose(odd, {}, odd.signedAt).ok());
    const Out opened = holder_.onLetter(
        {"clinic", "notary", "o", "open", {{"contract", valueOf(both)}, {"grants", grants_}}}, odd.signedAt);
    EXPECT_EQ(textOf(opened.letters.at(0).body, "outcome"), "refused");
    Offer offer = toy_.offer;
    offer.deliverWithinSeconds = deliver, offer.disputeWindowSeconds = window;
    EXPECT_FALSE(seller_.publish(offer).ok());
  }
}

// A key that was lost signs for a time at which it was granted.
TEST_F(Attacks, AGrantMustHoldNowToo) {
  const Moment later = momentAt("2027-01-02T00:00:00Z");
  EXPECT_EQ(declined(seller_.onLetter(proposal(toy_.contract, toy_.clinic), later)),
            "no grant of the buyer's root is for its key");
  const Out opened = holder_.onLetter(
      {"clinic", "notary", "o", "open", {{"contract", valueOf(toy_.contractEnvelope())}, {"grants", grants_}}}, later);
  EXPECT_EQ(textOf(opened.letters.at(0).body, "message"), "no grant of the root of clinic is for its key");
}

// What cannot be read may be about money: it is no reason to forget it.
TEST_F(Attacks, ARowThatCannotBeReadIsAnError) {
  EXPECT_FALSE(buyer_.restore({"call/x", "{}"}).ok());
  EXPECT_FALSE(seller_.restore({"call/x", "{}"}).ok());
  EXPECT_FALSE(seller_.restore({"offer/x", "{}"}).ok());
  EXPECT_TRUE(
      buyer_.restore({"agreed/x", canonicalJson(json::object{{"envelope", toy_.contractEnvelope()}, {"entity", "K"}})})
          .ok())
      << "as older versions wrote it";
}

TEST_F(Attacks, LiesAreToldOnceAMinute) {
  propose(toy_.contract);
  Order wide = toy_.order("C1");
  wide.locales = {"ch", "eu"};
  std::size_t told = 0;
  for (int n = 0; n < 50; ++n) told += seller_.onLetter(ordering(wide), {wide.issuedAt.seconds + n}).incidents.size();
  EXPECT_EQ(told, 1u);
}

TEST_F(Attacks, ARunThatHasBegunIsNotCancelled) {
  propose(toy_.contract);
  const Order first = toy_.order("C1");
  order(first);
  holds(first);
  const Out out = seller_.onLetter(
      {"clinic", "lab", "c", "cancel", {{"contract", toy_.contractDigest()}, {"call", "C1"}}}, first.issuedAt);
  EXPECT_EQ(out.letters.at(0).body.at("cancelled"), json::value(false));
}

TEST_F(Attacks, ARulingWaitsUntilNoOtherCallCanLoseItsTimeByIt) {
  const std::string entity = toy_.contractDigest();
  const auto say = [&](const char* at, const char* role, const char* type, json::object action) {
    action["type"] = type;
    return run_.feed({{"at", at}, {"entity", entity}, {"role", role}, {"action", std::move(action)}});
  };
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  say("2026-03-02T00:00:00Z", "Buyer", "OpenContract", {{"envelope", toy_.contractEnvelope()}});
  say("2026-03-02T00:00:00Z", "Holder", "Deposit", {{"reference", "p"}, {"amount", 1'000}});
  const char* const at = "2026-03-03T09:00:00Z";
  const auto reserve = [&](const char* call) -> json::object {
    const Order order = toy_.order(call);
    return {{"call", call}, {"amount", 300}, {"input", order.input}, {"order", toHex(sha256(toJson(order)))}};
  };
  say(at, "Buyer", "Reserve", reserve("C1"));
  say(at, "Buyer", "Reserve", reserve("C2"));
  const char* const delivered = "2026-03-03T09:02:00Z";
  say(delivered, "Seller", "Deliver",
      {{"call", "C1"}, {"evidence", toy_.evidenceEnvelope(toy_.statement(toy_.order("C1"), toy_.transcript()))}});
  EXPECT_EQ(say("2026-03-03T09:03:00Z", "Buyer", "Dispute", {{"call", "C1"}, {"reason", "r"}}), "approved");
  const Moment disputed = momentAt("2026-03-03T09:03:00Z"), over{momentAt("2026-03-03T10:00:00Z").seconds + 1};
  holder_.watch(entity, disputed);
  const auto ask = [&](const char* call, Moment now) {
    json::object action = reserve(call);
    action["type"] = "Reserve";
    return holder_.onLetter({"clinic", "notary", concat("r", call), "act", {{"entity", entity}, {"action", action}}},
                            now);
  };
  EXPECT_TRUE(holder_.tick(disputed).acts.empty()) << "C2 may still be delivered";
  EXPECT_TRUE(ask("C3", disputed).letters.at(0).body.contains("busy")) << "and it must not be postponed for ever";
  EXPECT_EQ(ask("C2", disputed).acts.size(), 1u) << "a repetition";
  EXPECT_TRUE(holder_.tick({over.seconds - 1}).acts.empty());
  const Out out = holder_.tick(over);
  ASSERT_EQ(out.acts.size(), 1u);
  EXPECT_EQ(textOf(out.acts[0].action, "type"), "RequestRuling");
  kernel::Decision escalated;
  escalated.outcome = kernel::Outcome::escalated;
  holder_.decided(out.acts[0], escalated, over);
  EXPECT_EQ(ask("C3", over).acts.size(), 1u) << "the ledger answers from here on";
  for (const Out& later : {holder_.tick({over.seconds + 30}), holder_.tick({over.seconds + 4'000})})
    for (const EscrowAct& act : later.acts) EXPECT_NE(textOf(act.action, "call"), "C1") << "a person is asked once";
  EXPECT_EQ(holder_.onLetter({"lab", "notary", "v", "view", {{"entity", entity}, {"call", "C2"}}}, disputed)
                .letters.at(0)
                .body.at("left"),
            json::value(3'420));
}

TEST_F(Attacks, TheHolderReservesNoCallThatNobodyCanDeliver) {
  const std::string entity = toy_.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  const auto ask = [&](const std::string& type, const std::string& call, const std::string& id) {
    const json::object action{{"type", type}, {"call", call}};
    return holder_.onLetter({"clinic", "notary", id, "act", {{"entity", entity}, {"action", action}}},
                            toy_.contract.signedAt);
  };
  EXPECT_TRUE(ask("Reserve", std::string(185, 'C'), "r").acts.empty());
  EXPECT_TRUE(ask("Reserve", "C9\n FORGED", "r").acts.empty());
  EXPECT_EQ(ask("Reserve", "C1", std::string(400, 'r')).acts.size(), 1u) << "an id of any length that the door takes";
}

}  // namespace
}  // namespace witan::market
