// What an outsider tried against the limits of the desks: sizes around each of them, more calls than a holder hears,
// words of contracts, clocks and runs.
#include "tests/market/desks.h"

namespace witan::market {
namespace {

using tests::ReadBack;

class Limits : public tests::Desks {};

// ---- sizes around each limit

// Texts, numbers of signatures and lists just below, at and above what is allowed.
TEST_F(Limits, WhatIsKeptCanBeReadBackWhateverItsSize) {
  ReadBack back(toy_);
  std::size_t signed_ = 0, ordered = 0;
  Moment now = toy_.order("C1").issuedAt;
  back.take(propose(toy_.contract), false);
  for (const std::size_t signatures : {1, 2, 15, 16, 17})
    for (const std::size_t bytes : {0, 30'000, 65'535, 65'536, 65'537, 80'000}) {
      const std::string name = concat("S", signatures, "-", bytes);
      const bool allowed = signatures <= 16 && bytes <= kMostEnvelopeBytes;
      now.seconds += 1;
      Contract contract = toy_.contract;
      contract.id = Word(name);
      Letter letter = proposal(contract, toy_.clinic);
      letter.body["contract"] = filledUp(sealedDocument(contract, {&toy_.clinic, 1}), signatures, bytes);
      const Out out = seller_.onLetter(letter, now);
      back.take(out, false);
      EXPECT_EQ(declined(out).empty(), allowed) << name << declined(out);
      if (out.letters.at(0).body.contains("contract"))
        signed_ += out.letters[0].body.at("contract").at("signatures").as_array().size() == 2;
      const Order order = toy_.order(name);
      Letter asks = ordering(order);
      asks.body["order"] = filledUp(sealedDocument(order, {&toy_.clinic, 1}), signatures, bytes);
      const Out taken = seller_.onLetter(asks, now);
      EXPECT_EQ(declined(taken).empty(), allowed) << name << declined(taken);
      if (!allowed) continue;
      const Out runs = holds(order);
      back.take(runs, false);
      ordered += runs.rows.size();
    }
  EXPECT_EQ(signed_, 4u * 4u);
  EXPECT_EQ(ordered, 4u * 4u);
}

TEST_F(Limits, InputsAndBundlesOfAnySizeStopNobody) {
  ReadBack back(toy_);
  const Moment at = toy_.order("C1").issuedAt;
  back.take(propose(toy_.contract), false);
  back.take(buyer_.addContract(toy_.contractEnvelope()).value(), true);
  for (const std::size_t bytes : {1'000, 49'000, 49'153, 65'536, 100'000, 300'000}) {
    const std::string name = concat("I", bytes);
    const auto wish = buyer_.order({toy_.contractDigest(),
                                    name,
                                    300,
                                    {disclosureOf("s", "text", json::string(bytes, 'x'))},
                                    {"eu"},
                                    {50'000, 1'500, 300}},
                                   at);
    EXPECT_EQ(wish.ok(), bytes < 49'100) << bytes;
    if (wish.ok()) back.take(*wish, true);
  }
  // A bundle of more than 64 KiB, at both.
  for (const std::size_t looks : {3, 190, 250, 2'000}) {
    const std::string name = concat("B", looks);
    ASSERT_TRUE(
        buyer_.order({toy_.contractDigest(), name, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, at).ok());
    const Order order = toy_.order(name);
    json::array records = toy_.transcript(looks);
    const json::object bundle = toy_.bundleOf(order, toy_.statement(order, records), records);
    back.take(buyer_.onLetter({"lab", "clinic", "e", "evidence", {{"bundle", bundle}}}, at), true);
    EXPECT_EQ(buyer_.find(toy_.contractDigest(), name)->bundle.size(), canonicalJson(bundle).size()) << looks;
    RunResult run{toy_.output(), records, {looks + 2, 900, 40}, 250, {"eu"}, toy_.contract.models};
    run.startedAt = run.endedAt = at;
    if (looks == 2'000) run.output = json::string(17 << 20, 'x');
    this->order(order);
    back.take(holds(order), false);
    const std::string id = externalId(toy_.contractDigest(), name);
    const Out ran = seller_.runEnded(id, run, at);
    back.take(ran, false);
    ASSERT_EQ(ran.records.size(), 1u);
    const Out made = seller_.recorded(id, toy_.receipt(ran.records[0].operationId.substr(9)), at);
    back.take(made, false);
    EXPECT_EQ(seller_.find(toy_.contractDigest(), name)->step,
              looks == 2'000 ? SellerStep::decline : SellerStep::deliver)
        << "a bundle has 16 MiB";
  }
}

// A desk's memory of a long refusal is short, and a dispute of a declined call gets through.
TEST_F(Limits, LongRefusalsAreCut) {
  ReadBack back(toy_);
  const Moment at = toy_.order("C1").issuedAt;
  const std::string id = externalId(toy_.contractDigest(), "C1");
  buyer_.addContract(toy_.contractEnvelope()).value();
  ASSERT_TRUE(
      buyer_.order({toy_.contractDigest(), "C1", 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, at).ok());
  buyer_.onLetter({"notary", "clinic", id + "/reserve", "answer", {{"outcome", "approved"}}}, at);
  const Out no =
      buyer_.onLetter({"lab", "clinic", id + "/order", "answer", {{"declined", std::string(1 << 20, 'x')}}}, at);
  EXPECT_LT(no.rows.at(0).value.size(), 5'000u);
  const Statement statement = toy_.statement(toy_.order("C1"), toy_.transcript());
  const auto views = [&](json::object standing) {
    return buyer_.onLetter({"notary", "clinic", "watch/1/0", "answer", {{"calls", json::object{{id, standing}}}}}, at);
  };
  const Out disputed = views({{"state", "DELIVERED"},
                              {"evidence", toHex(sha256(toJson(statement)))},
                              {"statement", toy_.evidenceEnvelope(statement)},
                              {"left", 86'400}});
  EXPECT_EQ(textOf(disputed.letters.at(0).body.at("action").as_object(), "type"), "Dispute") << "at once";
  EXPECT_LT(textOf(disputed.letters[0].body.at("action").as_object(), "reason").size(), 300u);
  EXPECT_EQ(disputed.incidents.at(0).org, "lab") << "it has signed that it delivered what it has declined";

  back.take(propose(toy_.contract), false);
  order(toy_.order("C1"));
  holds(toy_.order("C1"));
  RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
  run.startedAt = run.endedAt = at;
  const Out ran = seller_.runEnded(id, run, at);
  seller_.recorded(id, toy_.receipt(ran.records.at(0).operationId.substr(9)), at);
  const Out refused = seller_.onLetter({"notary",
                                        "lab",
                                        id + "/deliver",
                                        "answer",
                                        {{"outcome", "rejected"}, {"message", std::string((16 << 20) + 3'600, 'y')}}},
                                       at);
  back.take(refused, false);
  ASSERT_EQ(refused.incidents.size(), 1u);
}

// Every kind of letter just below and above its size: an answer, and never more.
TEST_F(Limits, TooLargeALetterIsRefusedWithAWord) {
  propose(toy_.contract);
  const Moment at{toy_.contract.signedAt.seconds + 100};
  for (const auto& [kind, most] : {std::pair{"order", std::size_t{512} << 10},
                                   {"propose", std::size_t{1} << 20},
                                   {"quote", std::size_t{32} << 10},
                                   {"act", std::size_t{68} << 10},
                                   {"view", std::size_t{32} << 10},
                                   {"open", std::size_t{1} << 20},
                                   {"evidence", (std::size_t{16} << 20) + 4'096}})
    for (const int more : {-100, 100}) {
      const std::string text(std::size_t(std::ptrdiff_t(most) + more), 'x');
      const Letter letter{"clinic", "lab", "id", kind, {{"x", text}}};
      const Out out = std::string(kind) == "evidence" ? buyer_.onLetter(letter, at)
                      : letter.kind == "act" || letter.kind == "view" || letter.kind == "open"
                          ? holder_.onLetter(letter, at)
                          : seller_.onLetter(letter, at);
      const bool refused = !out.letters.empty() && declined(out).starts_with("a letter of kind");
      EXPECT_EQ(refused, more > 0) << kind << " " << text.size();
      EXPECT_TRUE(out.rows.empty() && out.acts.empty()) << kind;
    }
}

// ---- a flood of calls beyond what a holder's rate serves

TEST_F(Limits, LookingDoesNotUseUpWhatActingNeeds) {
  const std::string entity = toy_.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  run_.feed({{"at", "2026-03-02T00:00:00Z"},
             {"entity", entity},
             {"role", "Buyer"},
             {"action", json::object{{"type", "OpenContract"}, {"envelope", toy_.contractEnvelope()}}}});
  const Moment at = toy_.contract.signedAt;
  for (int n = 0; n < 100; ++n) holder_.onLetter({"clinic", "notary", "v", "view", {{"entity", entity}}}, at);
  const auto act = [&] {
    return holder_.onLetter(
        {"clinic", "notary", "a", "act", {{"entity", entity}, {"action", json::object{{"type", "BuyerStop"}}}}}, at);
  };
  EXPECT_EQ(act().acts.size(), 1u);
  for (int n = 0; n < 100; ++n) act();
  EXPECT_TRUE(act().letters.at(0).body.contains("busy"));
}

TEST_F(Limits, OneQuestionNamesManyCallsAndOnlyOnesOwn) {
  const std::string entity = toy_.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  const auto say = [&](const char* role, json::object action) {
    return run_.feed({{"at", "2026-03-03T09:00:00Z"}, {"entity", entity}, {"role", role}, {"action", action}});
  };
  say("Buyer", {{"type", "OpenContract"}, {"envelope", toy_.contractEnvelope()}});
  say("Holder", {{"type", "Deposit"}, {"reference", "p"}, {"amount", 900}});
  for (const char* call : {"C1", "C2"})
    ASSERT_EQ(say("Buyer", {{"type", "Reserve"},
                            {"call", call},
                            {"amount", 1},
                            {"input", toyDigest(call)},
                            {"order", toyDigest(call)}}),
              "approved");
  const auto ask = [&](const char* from, json::array named) {
    return holder_.onLetter({from, "notary", "w", "view", {{"calls", std::move(named)}}}, toy_.order("C1").issuedAt)
        .letters.at(0)
        .body.at("calls")
        .as_object();
  };
  const json::array named{entity + "/C1", entity + "/C2", entity + "/C3", entity, "", nullptr, "x/y", 7};
  EXPECT_EQ(ask("clinic", named).size(), 2u);
  EXPECT_EQ(ask("lab", named).size(), 2u);
  EXPECT_EQ(ask("evil", named).size(), 0u);
  json::array many;
  for (std::size_t n = 0; n <= kCallsOfAView; ++n) many.emplace_back(entity + "/C1");
  EXPECT_EQ(ask("clinic", many).size(), 0u);
}

// As many as could all be disputed in half of their window; their looks at the holder are few letters.
TEST_F(Limits, ABuyerOpensNoMoreCallsThanItCanDispute) {
  Contract contract = toy_.contract;
  contract.disputeWindowSeconds = 10;
  const std::array keys{toy_.clinic, toy_.lab};
  buyer_.addContract(sealedDocument(contract, keys)).value();
  const std::string digest = toHex(sha256(toJson(contract)));
  const Moment at = toy_.order("C1").issuedAt;
  int open = 0;
  std::string why;
  std::size_t letters = 0;
  for (int n = 0; n < 120; ++n) {
    const auto out = buyer_.order({digest, concat("C", n), 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, at);
    open += out.ok() ? 1 : 0;
    if (!out.ok()) why = out.error().message;
    if (out.ok()) letters += out->letters.size();
  }
  EXPECT_EQ(open, 30);
  EXPECT_EQ(why, "there are too many open calls to dispute all of them in their windows");
  EXPECT_LT(letters, std::size_t(kRequestsPerSecond)) << "the others wait for the next second";
  for (int n = 0; n < open; ++n) {
    const std::string id = externalId(digest, concat("C", n));
    buyer_.onLetter({"notary", "clinic", id + "/reserve", "answer", {{"outcome", "approved"}}}, at);
    buyer_.onLetter({"lab", "clinic", id + "/order", "answer", {{"accepted", true}}}, at);
  }
  std::size_t views = 0;
  for (int second = 1; second <= 10; ++second)
    for (const Letter& letter : buyer_.tick({at.seconds + second}).letters) views += letter.kind == "view" ? 1 : 0;
  EXPECT_LE(views, 12u) << "one a second for all of them";
  EXPECT_GE(views, 8u);
}

// A seller that has the buyer dispute too early, by a refusal, by a broken bundle or by a person's word, and delivers
// behind its back a minute later.
TEST_F(Limits, ADisputeThatCameTooEarlyComesAgainWithTheDelivery) {
  const Moment at = toy_.order("C1").issuedAt;
  Contract contract = toy_.contract;
  contract.disputeWindowSeconds = 20;
  const std::array keys{toy_.clinic, toy_.lab};
  buyer_.addContract(sealedDocument(contract, keys)).value();
  const std::string digest = toHex(sha256(toJson(contract)));
  const auto say = [&](const std::string& id, const char* from, json::object body, Moment now) {
    return buyer_.onLetter({from, "clinic", id, "answer", std::move(body)}, now);
  };
  for (const std::string call : {"early", "broken", "declined"}) {
    const std::string id = externalId(digest, call);
    ASSERT_TRUE(buyer_.order({digest, call, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, at).ok());
    say(id + "/reserve", "notary", {{"outcome", "approved"}}, at);
    if (call == "declined") say(id + "/order", "lab", {{"declined", "no"}}, at);
    if (call == "early") buyer_.decide(digest, call, BuyerStep::dispute, "of a person", at).value();
    if (call == "broken") {
      Order order = toy_.order(call);
      order.contract = digest;
      json::object bundle = toy_.bundleOf(order, toy_.statement(order, toy_.transcript()), toy_.transcript());
      bundle["order"] = valueOf(sealedDocument(order, {&toy_.clinic, 1}));
      bundle["transcript"] = json::array();
      buyer_.onLetter({"lab", "clinic", "e", "evidence", {{"bundle", bundle}}}, at);
      ASSERT_EQ(buyer_.find(digest, call)->step, BuyerStep::dispute);
    }
    const auto views = [&](json::object standing, Moment now) {
      return say("watch/1/0", "notary", {{"calls", json::object{{id, std::move(standing)}}}}, now);
    };
    int acts = 0;
    bool watched = true;
    for (std::int64_t second = 1; second <= 90; ++second) {
      const Moment now{at.seconds + second};
      bool looks = false;
      for (const Letter& letter : buyer_.tick(now).letters) {
        looks = looks || letter.kind == "view";
        if (letter.kind != "act" || !letter.id.starts_with(id)) continue;
        ++acts;
        say(letter.id, "notary", {{"outcome", "rejected"}, {"invariant", "ESCROW_IN_TIME"}}, now);
      }
      watched = watched && (looks || second % 2 == 0);
      views({{"state", "RESERVED"}, {"evidence", ""}, {"left", 3'000}}, now);
    }
    EXPECT_TRUE(watched) << call << ": it is looked at until it has ended";
    EXPECT_LE(acts, 8) << call << ": what is not delivered is not disputed again and again";
    const Moment late{at.seconds + 91};
    Out out = views({{"state", "DELIVERED"}, {"evidence", toyDigest("x")}, {"left", 19}}, late);
    std::vector<std::string> told;
    for (const MarketIncident& each : out.incidents) told.push_back(each.what);
    const std::vector<std::string> lie{"call declined was declined, and delivered all the same"};
    EXPECT_EQ(told, call == "declined" ? lie : std::vector<std::string>{});
    const Out next = buyer_.tick({late.seconds + 1});
    out.letters.insert(out.letters.end(), next.letters.begin(), next.letters.end());
    EXPECT_TRUE(std::ranges::any_of(out.letters, [&](const Letter& letter) {
      return letter.kind == "act" && letter.id.starts_with(id) &&
             textOf(letter.body.at("action").as_object(), "type") == "Dispute";
    })) << call;
    say(id + "/dispute/9", "notary", {{"outcome", "approved"}}, late);
  }
}

// It wanted its money back, and the holder has settled meanwhile.
TEST_F(Limits, WhoHasTheMoneyOfACallThatIsOverIsSaid) {
  const Moment at = toy_.order("C1").issuedAt;
  buyer_.addContract(toy_.contractEnvelope()).value();
  const auto say = [&](const std::string& id, const char* from, json::object body) {
    return buyer_.onLetter({from, "clinic", id, "answer", std::move(body)}, at);
  };
  for (const auto& [state, end, reason] :
       {std::tuple{"RELEASED", "settled", "declined: no; the money was released all the same"},
        {"REFUNDED", "refunded", "declined: no"}}) {
    const std::string id = externalId(toy_.contractDigest(), state);
    ASSERT_TRUE(
        buyer_.order({toy_.contractDigest(), state, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}}, at).ok());
    say(id + "/reserve", "notary", {{"outcome", "approved"}});
    say(id + "/order", "lab", {{"declined", "no"}});
    say(id + "/reclaim", "notary", {{"outcome", "rejected"}, {"invariant", "ESCROW_SETTLED_ONCE"}});
    EXPECT_TRUE(std::ranges::any_of(buyer_.tick({at.seconds + 1}).letters, [](const Letter& letter) {
      return letter.kind == "view";
    })) << "the look is due at once";
    const Out out = say("watch/1/0", "notary",
                        {{"calls", json::object{{id, json::object{{"state", state}, {"evidence", toyDigest("x")}}}}}});
    EXPECT_TRUE(out.incidents.empty()) << "without the statement nobody is proven to lie";
    const BuyerCall* call = buyer_.find(toy_.contractDigest(), state);
    EXPECT_EQ(call->end, end);
    EXPECT_EQ(call->reason, reason);
  }
}

// A cancellation right behind an order that nobody has paid for leaves nothing; of a paid one the money goes back.
TEST_F(Limits, ACancellationOfWhatNobodyPaidLeavesNothing) {
  propose(toy_.contract);
  for (const char* call : {"C1", "C2"}) {
    order(toy_.order(call));
    const Out out =
        seller_.onLetter({"clinic", "lab", "c", "cancel", {{"contract", toy_.contractDigest()}, {"call", call}}},
                         toy_.order(call).issuedAt);
    EXPECT_TRUE(out.rows.empty());
    EXPECT_EQ(out.letters.at(0).body.at("cancelled"), json::value(true));
  }
  const Out paid = holds(toy_.order("C1"));
  EXPECT_EQ(textOf(paid.letters.at(0).body.at("action").as_object(), "type"), "Decline");
  EXPECT_EQ(paid.rows.at(0).value.find(toy_.disclosures()[0]), std::string::npos) << "what is not run is forgotten";
  seller_.onLetter(
      {"notary", "lab", externalId(toy_.contractDigest(), "C2") + "/check", "answer", {{"state", "UNKNOWN"}}},
      toy_.order("C2").issuedAt);
  EXPECT_EQ(seller_.find(toy_.contractDigest(), "C2"), nullptr);
}

// After a restart the statement comes from the ledger, so a seller's lie is not laid at the holder's door.
TEST_F(Limits, AHolderShowsWhatWasDeliveredAfterARestart) {
  const std::string entity = toy_.contractDigest();
  const auto say = [&](const char* at, const char* role, json::object action) {
    return run_.feed({{"at", at}, {"entity", entity}, {"role", role}, {"action", action}});
  };
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  say("2026-03-02T00:00:00Z", "Buyer", {{"type", "OpenContract"}, {"envelope", toy_.contractEnvelope()}});
  say("2026-03-02T00:00:00Z", "Holder", {{"type", "Deposit"}, {"reference", "p"}, {"amount", 900}});
  const Order order = toy_.order("C1");
  say("2026-03-03T09:00:00Z", "Buyer",
      {{"type", "Reserve"},
       {"call", "C1"},
       {"amount", 300},
       {"input", order.input},
       {"order", toHex(sha256(toJson(order)))}});
  const std::string evidence = toy_.evidenceEnvelope(toy_.statement(order, toy_.transcript()));
  ASSERT_EQ(say("2026-03-03T09:02:00Z", "Seller", {{"type", "Deliver"}, {"call", "C1"}, {"evidence", evidence}}),
            "approved");
  int searched = 0;
  HolderDesk reborn(
      "notary", [this](const std::string& at) { return run_.partition().state(at); }, toy_.roots(),
      [&](const std::string&, const std::string&) { return ++searched, evidence; });
  const Moment now = momentAt("2026-03-03T09:03:00Z");
  reborn.watch(entity, now);
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(textOf(reborn.onLetter({"clinic", "notary", "v", "view", {{"entity", entity}, {"call", "C1"}}}, now)
                         .letters.at(0)
                         .body,
                     "statement"),
              evidence);
  EXPECT_EQ(searched, 1);
}

// ---- what outsiders found in the words of contracts, clocks and runs

TEST_F(Limits, AContractIsOpenedByOpenAloneAndWhereItBelongs) {
  const std::string entity = toy_.contractDigest();
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"init", toy_.partyFields()}});
  Contract other = toy_.contract;
  other.id = "another";
  const std::array keys{toy_.clinic, toy_.lab};
  const std::string envelope = sealedDocument(other, keys);
  json::object opens{{"type", "OpenContract"}, {"envelope", envelope}};
  const Out act =
      holder_.onLetter({"clinic", "notary", "o", "act", {{"entity", entity}, {"action", opens}}}, other.signedAt);
  EXPECT_TRUE(act.acts.empty());
  EXPECT_EQ(textOf(act.letters.at(0).body, "message"), "no act of your role");
  // As an operator of the holder could have done it.
  run_.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", entity}, {"role", "Buyer"}, {"action", opens}});
  const Out open = holder_.onLetter(
      {"clinic", "notary", "o", "open", {{"contract", valueOf(toy_.contractEnvelope())}, {"grants", grants_}}},
      other.signedAt);
  EXPECT_EQ(textOf(open.letters.at(0).body, "outcome"), "refused");
}

TEST_F(Limits, ContractsWithoutADepositAreFew) {
  std::size_t begun = 0;
  for (std::size_t n = 0; n < kUnpaidContracts + 20; ++n) {
    Contract contract = toy_.contract;
    contract.id = Word(concat("unpaid-", n));
    const std::array keys{toy_.clinic, toy_.lab};
    const Out out = holder_.onLetter(
        {"clinic", "notary", "o", "open", {{"contract", valueOf(sealedDocument(contract, keys))}, {"grants", grants_}}},
        {contract.signedAt.seconds + std::int64_t(n)});
    begun += out.acts.size();
  }
  EXPECT_EQ(begun, kUnpaidContracts);
}

// A second text that its buyer has not signed proves nothing, and one a minute is told of a partner.
TEST_F(Limits, OnlyWhatIsSignedIsKeptAsProof) {
  std::size_t told = 0;
  for (int n = 0; n < 10; ++n) {
    Contract contract = toy_.contract;
    contract.id = Word(concat("twice-", n));
    propose(contract);
    contract.total -= 1;
    EXPECT_TRUE(seller_.onLetter(proposal(contract, toy_.stranger), contract.signedAt).incidents.empty());
  }
  for (int n = 0; n < 10; ++n) {
    Contract contract = toy_.contract;
    contract.id = Word(concat("twice-", n));
    contract.total -= 2;
    Letter letter = proposal(contract, toy_.clinic);
    letter.body["contract"] = filledUp(sealedDocument(contract, {&toy_.clinic, 1}), 16, kMostEnvelopeBytes);
    const Out out = seller_.onLetter(letter, {contract.signedAt.seconds + 2});
    told += out.incidents.size();
    for (const MarketIncident& each : out.incidents) EXPECT_LT(each.proof.at(1).size(), 5'000u);
  }
  EXPECT_EQ(told, 1u);
}

// A partner that comes and goes makes nobody flood a third one.
TEST_F(Limits, ASellerAsksAHolderNoMoreThanItHears) {
  propose(toy_.contract);
  std::size_t asked = 0;
  const Moment at = toy_.order("C1").issuedAt;
  for (int n = 0; n < 20; ++n)
    for (const Letter& letter : order(toy_.order(concat("C", n))).letters) asked += letter.to == "notary" ? 1 : 0;
  for (int n = 0; n < 8; ++n) {
    seller_.hurry("clinic");
    for (const Letter& letter : seller_.tick(at).letters) asked += letter.to == "notary" ? 1 : 0;
  }
  EXPECT_LT(asked, std::size_t(kRequestsPerSecond));
}

TEST_F(Limits, TermsThatNobodyShouldHoldMoneyForAreRefused) {
  const auto opens = [&](const Contract& contract, Moment at) {
    const std::array keys{toy_.clinic, toy_.lab};
    const Out out = holder_.onLetter(
        {"clinic", "notary", "o", "open", {{"contract", valueOf(sealedDocument(contract, keys))}, {"grants", grants_}}},
        at);
    return textOf(out.letters.at(0).body, "message");
  };
  EXPECT_EQ(opens(toy_.contract, toy_.contract.expiry), "it has expired");
  Contract odd = toy_.contract;
  odd.perCall = odd.total = (Natural{1} << 63) - 1;
  EXPECT_EQ(opens(odd, odd.signedAt), concat("no contract is of more than ", kMostMoney));
  odd = toy_.contract;
  odd.seller.org = "clinic";
  EXPECT_EQ(opens(odd, odd.signedAt), "buyer and seller are one organisation");
  for (const char* id : {"K/1", "..\n", "K\u202e", "..", ".", "-h", "--at",
                         "c46d9c5e3ff79574e80838852a1ddf20b1c7c94ebc63b72c5393642ebc1874a4"}) {
    odd = toy_.contract;
    odd.id = id;
    EXPECT_TRUE(declined(propose(odd)).starts_with("a contract's id")) << id << declined(propose(odd));
  }
  odd = toy_.contract;
  odd.models.clear();
  EXPECT_EQ(declined(propose(odd)), "no run keeps to it: it allows no model, or no locale");
}

TEST_F(Limits, AHolderWhoseClockDiffersGetsNoWork) {
  propose(toy_.contract);
  for (const auto& [call, off, runs] :
       {std::tuple{"C1", 300, 1u}, {"C2", 301, 0u}, {"C3", -301, 0u}, {"C4", 18'000, 0u}}) {
    const Order asked = toy_.order(call);
    order(asked);
    const Out out = seller_.onLetter({"notary",
                                      "lab",
                                      stepId(externalId(asked.contract, call), "check", 0),
                                      "answer",
                                      {{"state", "RESERVED"},
                                       {"order", toHex(sha256(toJson(asked)))},
                                       {"input", asked.input},
                                       {"amount", std::int64_t(asked.amount)},
                                       {"at", asked.issuedAt.seconds + off},
                                       {"left", 3'600}}},
                                     asked.issuedAt);
    EXPECT_EQ(out.runs.size(), runs) << call;
  }
}

// The seconds of an order pass while its run waits for an agent.
TEST_F(Limits, FewRunsBeginAtOnceAndTheOthersWhileThereIsTime) {
  propose(toy_.contract);
  std::size_t begun = 0;
  for (std::size_t n = 0; n < kRunsAtOnce + 3; ++n) {
    order(toy_.order(concat("C", n)));
    begun += holds(toy_.order(concat("C", n))).runs.size();
  }
  EXPECT_EQ(begun, kRunsAtOnce);
  const Moment at = toy_.order("C0").issuedAt;
  RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
  run.startedAt = run.endedAt = at;
  seller_.runEnded(externalId(toy_.contractDigest(), "C0"), run, at);
  const std::string next = externalId(toy_.contractDigest(), concat("C", kRunsAtOnce));
  const Out later = seller_.tick({at.seconds + 1});
  EXPECT_EQ(std::ranges::count(later.runs, next, &RunRequest::externalId), 1);
  seller_.tick(toy_.order("C0").deliverBy);
  EXPECT_EQ(seller_.find(toy_.contractDigest(), concat("C", kRunsAtOnce + 2))->step, SellerStep::decline);
  EXPECT_EQ(seller_.find(toy_.contractDigest(), concat("C", kRunsAtOnce))->step, SellerStep::run);
}

}  // namespace
}  // namespace witan::market
