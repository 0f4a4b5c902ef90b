// What a seller or a holder that lies sends in place of a letter of its desk (market_world.h): of a call always the
// same, and never of one of which it has told the truth. What a buyer that lies sends stands beside its letters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "market/buyer_desk.h"
#include "market/seller_desk.h"
#include "market/testing/market_toy.h"
#include "market/testing/market_world.h"

namespace witan::market {

class SellerLies {
 public:
  SellerLies(const MarketToy& toy, std::string entity) : toy_(toy), entity_(std::move(entity)) {}

  void next(MarketLie lie) { next_ = lie; }
  // The lie that the letter has become; none: it is not changed, or lies about nothing where it arrives.
  std::optional<MarketLie> twist(Letter& letter);
  const std::map<std::string, MarketLie>& calls() const { return calls_; }

 private:
  std::optional<MarketLie> decline(Letter& letter);
  std::string twistedEvidence(MarketLie lie, const std::string& call, const std::string& evidence) const;

  const MarketToy& toy_;
  std::string entity_;
  std::optional<MarketLie> next_;
  std::map<std::string, MarketLie> calls_;
  std::set<std::string> honest_;  // calls of which it has delivered the truth
};

class HolderLies {
 public:
  explicit HolderLies(std::string entity) : entity_(std::move(entity)) {}

  void next(MarketLie lie) { next_ = lie; }
  // A letter to the holder that its desk never sees, and what is said to it.
  std::optional<Letter> answerInstead(const Letter& asked);
  std::optional<MarketLie> twist(Letter& answer);
  // Whether it is a lie where it arrives: who has gone on has heard the truth before.
  bool matters(MarketLie lie, const Letter& letter, const BuyerDesk& buyer, const SellerDesk& seller) const;
  // By call.
  const std::map<std::string, MarketLie>& calls() const { return calls_; }

 private:
  std::string callOf(const std::string& letterId) const;
  bool lies(const std::string& call, std::initializer_list<MarketLie> about);
  std::optional<MarketLie> twistHold(const std::string& call, json::object& body);
  std::optional<MarketLie> twistStanding(const std::string& call, json::object& body);

  std::string entity_;
  std::optional<MarketLie> next_;
  std::map<std::string, MarketLie> calls_;
  std::map<std::string, std::set<MarketLie>> honest_;  // what it did not say of a call when it could have
  std::map<std::string, std::string> statements_;      // that were delivered, by call
};

}  // namespace witan::market
