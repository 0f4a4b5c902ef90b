// A clinic that buys summaries from a laboratory, an escrow house between them: keys that everybody knows, documents,
// evidence bundles of any length, and lines of `witan run --domain escrow`. For conformance rows, tests and benchmarks.
#pragma once

#include <string>
#include <vector>

#include "base/seams.h"
#include "kernel/market/evidence.h"
#include "market/seller_desk.h"

namespace witan::market {

SigningKey toyKey(std::string_view name);
Hex hexOf(const SigningKey& key);
inline Hex toyDigest(std::string_view of) { return toHex(sha256(of)); }
Moment momentAt(std::string_view time);

// Each document is valid as it stands; a caller changes members and signs.
struct MarketToy {
  SigningKey clinicRoot = toyKey("root.clinic"), labRoot = toyKey("root.lab"), clinic = toyKey("clinic.market"),
             lab = toyKey("lab.market"), evidence = toyKey("lab.evidence"), log = toyKey("lab.log"),
             stranger = toyKey("stranger");
  Offer offer;
  Contract contract;
  MarketToy();

  Roots roots() const;
  json::object partyFields() const;  // init of the escrow
  std::string contractEnvelope() const;
  std::string contractDigest() const;
  json::value input() const;  // the commitment
  std::vector<std::string> disclosures() const;
  Order order(std::string_view call) const;
  Statement statement(const Order& order, const json::array& transcript) const;
  std::string evidenceEnvelope(const Statement& statement) const;
  // `looks` records of looks between those that every run has.
  json::array transcript(std::size_t looks = 1) const;
  json::value output() const;
  // The receipt of a statement in a ledger of some entries.
  json::object receipt(std::string_view statementDigest) const;
  json::object bundleOf(const Order& order, const Statement& statement, json::array transcript) const;
  json::object bundle(std::size_t looks = 1) const;
};

// The laboratory's desk.
SellerSetup sellerOf(const MarketToy& toy);
// The same envelope with so many signatures, and filled up to so many bytes.
json::value filledUp(const std::string& envelope, std::size_t signatures, std::size_t bytes);

// A random life of one contract: lines as `witan run` takes them, most of them lawful, with rulings of careless
// arbiters (at most `unsafe` percent of which break a rule).
std::vector<json::object> randomEscrowHistory(std::uint64_t seed, int unsafePercent = 0);

}  // namespace witan::market
