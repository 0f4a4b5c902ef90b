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
  for (const std::string& name : {std::string(101, 'C'), std::string("C1/x"), std::string("C9\n FORGED"),
                                  std::string("\u00fc"), std::string("--at"), std::string("..")})
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
    taken = std::max(taken, seller_.calls().size());
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
  Contract contract = toy_.contract;
  contract.expiry = momentAt("2028-01-01T00:00:00Z");
  const std::array keys{toy_.clinic, toy_.lab};
  EXPECT_EQ(declined(seller_.onLetter(proposal(toy_.contract, toy_.clinic), later)),
            "no grant of the buyer's root is for its key");
  const Out opened = holder_.onLetter(
      {"clinic", "notary", "o", "open", {{"contract", valueOf(sealedDocument(contract, keys))}, {"grants", grants_}}},
      later);
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
  // There is no ruling but an arbiter's: sent back, or left too long, it is asked for again; calls go on meanwhile.
  const Moment unruled{over.seconds + 5'000};
  holder_.unruled(entity, unruled);
  EXPECT_EQ(ask("C4", unruled).acts.size(), 1u);
  holder_.watch(entity, unruled);
  const auto asksAgain = [&](Moment now) {
    const Out later = holder_.tick(now);
    return std::ranges::any_of(later.acts, [&](const EscrowAct& act) {
      return textOf(act.action, "type") == "RequestRuling" && act.operationId != out.acts[0].operationId;
    });
  };
  EXPECT_FALSE(asksAgain({unruled.seconds + 86'399}));
  EXPECT_TRUE(asksAgain({unruled.seconds + 86'400})) << "under another id, since the first one stands for its answer";
}

// As many as an organisation may have open, over all of its contracts.
TEST_F(Attacks, AThousandOpenCallsAreEnough) {
  MarketToy many;
  many.contract.calls = many.offer.maxCalls = 2'000;
  many.contract.total = 2'000'000;
  many.contract.offer = toHex(sha256(toJson(many.offer)));
  const std::string entity = many.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", many.partyFields()}});
  const auto say = [&](const char* role, const char* type, json::object action) {
    action["type"] = type;
    return run_.feed({{"at", "2026-03-03T09:00:00Z"}, {"entity", entity}, {"role", role}, {"action", action}});
  };
  say("Buyer", "OpenContract", {{"envelope", many.contractEnvelope()}});
  say("Holder", "Deposit", {{"reference", "p"}, {"amount", 1'900'000}});
  const auto reserve = [&](std::size_t n) -> json::object {
    return {{"call", concat("C", n)},
            {"amount", 1},
            {"input", toyDigest(concat("i", n))},
            {"order", toyDigest(concat("o", n))}};
  };
  for (std::size_t n = 1; n < kOpenCalls; ++n) ASSERT_EQ(say("Buyer", "Reserve", reserve(n)), "approved") << n;
  const Moment now = momentAt("2026-03-03T09:00:00Z");
  holder_.watch(entity, now);
  const auto ask = [&](std::size_t n, Moment at) {
    json::object action = reserve(n);
    action["type"] = "Reserve";
    return holder_.onLetter({"clinic", "notary", concat("r", n), "act", {{"entity", entity}, {"action", action}}}, at);
  };
  EXPECT_EQ(ask(kOpenCalls, now).acts.size(), 1u);
  ASSERT_EQ(say("Buyer", "Reserve", reserve(kOpenCalls)), "approved");
  holder_.watch(entity, now);
  const Out refused = ask(kOpenCalls + 1, now);
  EXPECT_TRUE(refused.acts.empty());
  EXPECT_EQ(textOf(refused.letters.at(0).body, "message"), "there are too many open calls");
  EXPECT_EQ(ask(1, now).acts.size(), 1u) << "a repetition";
  // Each of them ends without anybody's goodwill.
  EXPECT_EQ(holder_.tick({now.seconds + 4'000}).acts.size(), kOpenCalls);
}

// Beginnings that an operator of the holder could make, or be talked into.
TEST_F(Attacks, AnEscrowThatBeganForOthersOpensNoContract) {
  const auto begins = [&](const std::string& entity, json::object fields) {
    return run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", std::move(fields)}});
  };
  const json::object right = toy_.partyFields();
  json::object more = right;
  more["money.buyer"] = 1'000;
  begins("more", more);
  EXPECT_EQ(run_.partition().state("more"), nullptr) << "a beginning has no money";
  json::object odd = right;
  odd["party.buyerKey"] = "00";
  odd["party.seller"] = std::string(200'000, 'x');
  begins("odd", odd);
  json::object other = right;
  other["party.sellerKey"] = toHex(toy_.stranger.publicKey());
  const std::string entity = toy_.contractDigest();
  begins(entity, other);
  for (const std::string& at : {std::string("odd"), entity}) {
    if (run_.partition().state(at) == nullptr) continue;
    EXPECT_NE(run_.feed({{"at", "2026-03-02T00:00:00Z"},
                         {"entity", at},
                         {"role", "Buyer"},
                         {"action", json::object{{"type", "OpenContract"}, {"envelope", toy_.contractEnvelope()}}}}),
              "approved")
        << at;
  }
}

// A clinic and a laboratory whose holder says anything at any time.
class LyingHolder {
 public:
  LyingHolder(const MarketToy& toy, std::uint64_t seed)
      : toy_(toy),
        random_(seed),
        now_(toy.order("C1").issuedAt),
        seller_(sellerOf(toy)),
        buyer_("clinic", toy.clinic, toy.roots()),
        back_(toy) {}

  void begin(const Letter& proposal) {
    const Out agreed = seller_.onLetter(proposal, toy_.contract.signedAt);
    back_.take(agreed, false);
    take(buyer_.addContract(canonicalJson(agreed.letters.at(0).body.at("contract"))).value(), true);
    take(buyer_.order({toy_.contractDigest(), "C1", 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, now_)
             .value(),
         true);
  }
  void turn() {
    if (letters_.empty() || random_.below(4) == 0) {
      now_.seconds += std::int64_t(random_.below(90));
      take(buyer_.tick(now_), true), take(seller_.tick(now_), false);
      return;
    }
    const auto at = letters_.begin() + std::ptrdiff_t(random_.below(letters_.size()));
    const Letter letter = std::move(*at);
    letters_.erase(at);
    if (letter.to == "run") return take(seller_.runEnded(letter.id, run(), now_), false);
    if (letter.to == "record") return take(seller_.recorded(letter.id, receiptOf(letter), now_), false);
    if (letter.to == "notary") return hear(lie(letter));
    EXPECT_TRUE(letter.kind != "evidence" || saysRecorded_) << "work for nothing";
    hear(letter);
  }
  const BuyerCall& call() const { return *buyer_.find(toy_.contractDigest(), "C1"); }
  Moment now() const { return now_; }

 private:
  void take(Out out, bool bought) {
    back_.take(out, bought);
    for (Letter& letter : out.letters) letters_.push_back(std::move(letter));
    EXPECT_TRUE(out.runs.empty() || saysHeld_) << "a run without held money";
    for (const RunRequest& run : out.runs) letters_.push_back({"lab", "run", run.externalId, "run", {}});
    for (const RecordRequest& record : out.records)
      letters_.push_back({"lab", "record", record.externalId, "record", {{"statement", record.statement}}});
  }
  void hear(const Letter& letter) {
    take(letter.to == "lab" ? seller_.onLetter(letter, now_) : buyer_.onLetter(letter, now_), letter.to != "lab");
  }
  RunResult run() const {
    RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
    run.startedAt = run.endedAt = now_;
    return run;
  }
  json::object receiptOf(const Letter& letter) const {
    return toy_.receipt(toHex(sha256(openStatement(valueOf(textOf(letter.body, "statement")))->text.body)));
  }
  json::value anything() {
    const json::array all{nullptr,
                          "RESERVED",
                          "DELIVERED",
                          "DECLINED",
                          "approved",
                          "rejected",
                          "frozen",
                          INT64_MAX,
                          INT64_MIN,
                          -1,
                          300,
                          "ESCROW_SETTLED_ONCE",
                          UINT64_MAX,
                          0.5,
                          json::array(),
                          json::object(),
                          std::string(70'000, 'x').c_str()};
    return all[random_.below(all.size())];
  }
  Letter lie(const Letter& asked) {
    json::object body;
    for (const char* member :
         {"outcome", "invariant", "message", "state", "order", "input", "amount", "evidence", "statement", "left"})
      if (random_.below(4) != 0) body[member] = anything();
    if (random_.below(20) == 0) body["busy"] = anything();
    if (const json::value* calls = asked.body.if_contains("calls"); calls != nullptr && random_.below(4) != 0) {
      json::object standings;
      for (const json::value& each : calls->as_array())
        standings[each.as_string()] = random_.below(8) == 0 ? anything() : body;
      body = {{"calls", random_.below(20) == 0 ? anything() : std::move(standings)}};
    }
    if (asked.kind == "view" && asked.from == "lab" && random_.below(3) == 0) {
      const Order order = openEnvelope<Order>(valueOf(call().order))->document;
      body = {{"state", "RESERVED"},
              {"order", toHex(sha256(toJson(order)))},
              {"input", order.input},
              {"amount", std::int64_t(order.amount)},
              {"left", INT64_MAX}};
      saysHeld_ = true;
    }
    if (asked.kind == "view" && asked.from == "clinic" && !call().bundle.empty() && random_.below(3) == 0)
      body["evidence"] = toHex(sha256(openStatement(valueOf(call().bundle).at("evidence"))->text.body));
    if (asked.kind == "act" && random_.below(3) == 0) body = {{"outcome", "approved"}};
    if (asked.id.find("/deliver") != asked.id.npos && textOf(body, "outcome") == "approved") saysRecorded_ = true;
    return answerTo(asked, body);
  }

  const MarketToy& toy_;
  SeededRandom random_;
  Moment now_;
  SellerDesk seller_;
  BuyerDesk buyer_;
  tests::ReadBack back_;
  std::vector<Letter> letters_;
  bool saysHeld_ = false, saysRecorded_ = false;
};

// Nobody falls; nothing runs unheld or is shown unrecorded by its word; what a buyer accepts verifies, and a person has
// the window at most.
TEST_F(Attacks, AHolderThatSaysAnythingIsBelievedInNothingElse) {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    LyingHolder world(toy_, seed);
    world.begin(proposal(toy_.contract, toy_.clinic));
    for (int turn = 0; turn < 120; ++turn) world.turn();
    const BuyerCall& call = world.call();
    accepted += call.end == "accepted" ? 1 : 0;
    EXPECT_TRUE(call.end != "accepted" || verifyBundleText(call.bundle, toy_.roots()).ok());
    const Moment latest{world.now().seconds + std::int64_t(toy_.contract.disputeWindowSeconds)};
    EXPECT_LE(call.reviewUntil.value_or(latest), latest);
  }
  EXPECT_GT(accepted, 0) << "some of what it says is the truth";
}

}  // namespace
}  // namespace witan::market
