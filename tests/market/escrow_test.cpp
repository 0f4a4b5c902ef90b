// The domain `escrow`: the histories of the specification with their final balances, and what a beginning may set.
#include <gtest/gtest.h>

#include "market/testing/market_toy.h"
#include "tests/market/vectors.h"

namespace witan::market {
namespace {

using tests::EscrowRun;

TEST(EscrowVectors, EachLineComesOutAsTheSpecificationSaysAndSoDoTheBalances) {
  const auto vectors = tests::vectorsOf("histories.jsonl");
  EXPECT_EQ(vectors.size(), 41u);
  for (const json::object& vector : vectors) {
    EscrowRun run;
    for (const json::value& line : vector.at("lines").as_array())
      EXPECT_EQ(run.feed(line.as_object()), std::string_view(line.at("expect").as_string()))
          << vector.at("name") << ": " << line.at("at");
    EXPECT_EQ(json::value(run.finals()), vector.at("final")) << vector.at("name");
  }
}

TEST(Escrow, ABeginningNamesThePartiesAndNothingElse) {
  const MarketToy toy;
  const auto begins = [&](json::object more) {
    json::object fields = toy.partyFields();
    for (const auto& [name, value] : more) fields[name] = value;
    EscrowRun run;
    return run.feed({{"at", "2026-03-02T00:00:00Z"}, {"entity", "K"}, {"init", fields}});
  };
  EXPECT_EQ(begins({}), "initialised");
  EXPECT_EQ(begins({{"money.deposited", 0}}), "refused");
  EXPECT_EQ(begins({{"contract.openedAt", "2026-03-02T00:00:00Z"}}), "refused");
  EXPECT_EQ(begins({{"terms.total", 5}}), "refused");
}

// What an unsafe commit leaves behind is named in each decision after it, and damages nothing else.
TEST(Escrow, DamagedTermsFaultAndDoNotCrash) {
  const MarketToy toy;
  EscrowRun run;
  const auto say = [&](const char* role, json::object action) {
    return run.feed({{"at", "2026-03-03T09:00:00Z"}, {"entity", "K"}, {"role", role}, {"action", std::move(action)}});
  };
  run.feed({{"at", "2026-03-03T09:00:00Z"}, {"entity", "K"}, {"init", toy.partyFields()}});
  EXPECT_EQ(say("Buyer", {{"type", "OpenContract"}, {"envelope", toy.contractEnvelope()}}), "approved");
  EXPECT_EQ(say("Holder", {{"type", "Deposit"}, {"reference", "r"}, {"amount", 1'000}}), "approved");
  const Order order = toy.order("C1");
  const auto reserve = [&](const char* call) {
    return say("Buyer", {{"type", "Reserve"},
                         {"call", call},
                         {"amount", 300},
                         {"input", order.input},
                         {"order", toHex(sha256(toJson(order)))}});
  };
  EXPECT_EQ(reserve("C1"), "approved");
  EXPECT_EQ(reserve("C2"), "approved");
  Statement made = toy.statement(order, toy.transcript());
  made.predicate.startedAt = made.predicate.endedAt = momentAt("2026-03-03T09:00:00Z");
  const std::string evidence = toy.evidenceEnvelope(made);
  EXPECT_EQ(say("Seller", {{"type", "Deliver"}, {"call", "C1"}, {"evidence", evidence}}), "approved");
  EXPECT_EQ(say("Buyer", {{"type", "Dispute"}, {"call", "C1"}, {"reason", "r"}}), "approved");
  EXPECT_EQ(say("Holder", {{"type", "RequestRuling"}, {"call", "C1"}}), "escalated:ESCROW_DISPUTE_RULED");
  EXPECT_EQ(run.feed({{"at", "2026-03-03T09:00:00Z"},
                      {"entity", "K"},
                      {"counselor", "human.arbiter"},
                      {"decision", "commit"},
                      {"edit", {{"call.ruling", {{"C1", 0}}}, {"terms.evidenceKey", "xyz"}}},
                      {"reason", "r"}}),
            "cCommitted:safe");
  EXPECT_EQ(say("Seller", {{"type", "Deliver"}, {"call", "C2"}, {"evidence", evidence}}), "rejected:KERNEL_INTEGRITY");
  EXPECT_EQ(run.feed({{"at", "2026-03-03T09:00:01Z"},
                      {"entity", "K"},
                      {"role", "Seller"},
                      {"action", {{"type", "Claim"}, {"call", "C1"}}}}),
            "approved");
}

}  // namespace
}  // namespace witan::market
