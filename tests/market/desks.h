// The desks of a clinic, a laboratory and a notary, and letters to them, for tests.
#pragma once

#include <gtest/gtest.h>

#include "market/buyer_desk.h"
#include "market/contract_desk.h"
#include "market/holder_desk.h"
#include "market/seller_desk.h"
#include "market/testing/market_toy.h"
#include "tests/market/vectors.h"

namespace witan::market::tests {

class Desks : public ::testing::Test {
 protected:
  Desks()
      : grants_(toy_.bundle().at("grants").as_array()),
        seller_(sellerOf(toy_)),
        buyer_("clinic", toy_.clinic, toy_.roots()),
        holder_(
            "notary", [this](const std::string& entity) { return run_.partition().state(entity); }, toy_.roots()) {}

  Letter proposal(const Contract& contract, const SigningKey& key) const {
    return {"clinic",
            "lab",
            "p",
            "propose",
            {{"contract", valueOf(sealedDocument(contract, {&key, 1}))}, {"grants", json::array{grants_.front()}}}};
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
  Out holds(const Order& order, std::int64_t left = 3'600) {
    const std::string id = stepId(externalId(order.contract, order.call), "check", 0);
    return seller_.onLetter({"notary",
                             "lab",
                             id,
                             "answer",
                             {{"state", "RESERVED"},
                              {"order", toHex(sha256(toJson(order)))},
                              {"input", order.input},
                              {"amount", std::int64_t(order.amount)},
                              {"left", left}}},
                            order.issuedAt);
  }
  static std::string declined(const Out& out) { return textOf(out.letters.at(0).body, "declined"); }

  const MarketToy toy_;
  json::array grants_;
  SellerDesk seller_;
  BuyerDesk buyer_;
  EscrowRun run_;
  HolderDesk holder_;
};

// Everything that a desk writes can be read by the next process, whatever came before it.
class ReadBack {
 public:
  explicit ReadBack(const MarketToy& toy) : toy_(toy), setup_(sellerOf(toy)) {}
  void take(const Out& out, bool bought) {
    for (const Row& row : out.rows) {
      if (row.key.starts_with(kAgreed)) agreed_[bought][row.key] = row.value;
      const Status read = bought ? restored(BuyerDesk("clinic", toy_.clinic, toy_.roots()), row, bought)
                                 : restored(SellerDesk(setup_), row, bought);
      EXPECT_TRUE(read.ok()) << row.key.substr(0, 80) << " " << row.value.size() << " bytes: " << read.error().message;
    }
    for (const MarketIncident& each : out.incidents) EXPECT_LT(each.what.size() + each.org.size(), 1'000u);
  }

 private:
  template <class Desk>
  Status restored(Desk desk, const Row& row, bool bought) {
    for (const auto& [key, value] : agreed_[bought]) (void)desk.restore({key, value});
    return desk.restore(row);
  }
  const MarketToy& toy_;
  const SellerSetup setup_;
  std::map<std::string, std::string> agreed_[2];
};

}  // namespace witan::market::tests
