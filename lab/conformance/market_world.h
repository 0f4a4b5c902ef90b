// Three organisations under simulated time: a clinic that orders, a laboratory that runs and a notary that holds the
// money, each with a durable store and a desk (market/), letters between them that are late, doubled or lost. Any of
// them may die before or after any write, be silent, lie, or have a wrong clock. Deterministic by its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "market/letters.h"

namespace witan::market {

enum class SellerHabit { honest, silent, failing, overcharging, forging };

struct WorldOptions {
  std::uint64_t seed = 1;
  int calls = 3;
  int lossPercent = 5, doublePercent = 5;
  SellerHabit seller = SellerHabit::honest;
  bool passiveBuyer = false;                 // compensates nothing
  int holderSilentFor = 0;                   // seconds from the first order on
  std::int64_t clockOff[3] = {0, 0, 0};      // seconds: buyer, seller, holder
  std::optional<std::pair<int, int>> death;  // party; boundary: 2n before its n-th write, 2n + 1 after it
  int seconds = 600;                         // how long it lasts
};

struct WorldResult {
  json::object view;                      // of the escrow, at the end
  std::map<std::string, int> runs;        // by external id
  std::vector<std::string> buyerEnds;     // of each call
  std::vector<std::string> bundles;       // that the buyer has verified
  std::vector<std::int64_t> compensated;  // seconds from a failure to the refund
  std::vector<MarketIncident> incidents;
  int writes[3] = {0, 0, 0};
  Roots roots;
};

WorldResult liveMarket(const WorldOptions& options);

// What no history of honest or lying parties may show: money from nowhere, a call that is not settled, two runs of one
// order, a payment without evidence that verifies.
Status judgeWorld(const WorldResult& result, const WorldOptions& options);

}  // namespace witan::market
