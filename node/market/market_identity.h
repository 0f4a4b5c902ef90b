// Who a node is in the market, and whom it trusts: files of the data directory.
//
//   DIR/market.roots   the roots of organisations, compared by people (witan market trust)
//   DIR/market.keys    0600  the seeds of this organisation's keys: contract, evidence, card, log
//   DIR/market.grants  what its root has granted to them
//
// The root is the admin key of the cluster. The device that holds it makes the keys and the grants, at its first start
// in the market, and renews a grant that ends within a month. Values; not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kernel/market/evidence.h"

namespace witan::node {

inline constexpr std::int64_t kDaySeconds = 86'400;

// By organisation: hex, as the file has them. Errors: corrupt.
using RootTexts = std::map<std::string, std::string>;
Result<RootTexts> readMarketRoots(const std::filesystem::path& dir);
Status writeMarketRoots(const std::filesystem::path& dir, const RootTexts& roots);
market::Roots marketRootsOf(const RootTexts& texts);

// That a device speaks for an organisation: shown when a link of the market begins, signed by the root.
struct DevicePass {
  static constexpr std::string_view payloadType = "application/vnd.witan.device+json";
  market::Fixed<"witan.device/v1"> type;
  market::Word org, device;
  market::Hex key;
  market::Moment until;
  WITAN_MEMBERS(DevicePass, type, org, device, key, until)
};

struct MarketIdentity {
  std::string org;
  PublicKey root{};
  SigningKey contract, evidence, card, log;
  json::array grants;          // envelopes
  std::string pass;            // envelope
  std::string logName;         // origin and key name of its ledger of statements
  std::string logKey() const;  // C2SP verifier key
};

struct MarketOrigin {
  std::string org, cluster, device;
  PublicKey deviceKey{};
};

// Errors: this device does not hold the root; corrupt files; ioFailed.
Result<MarketIdentity> openMarketIdentity(const std::filesystem::path& dir, const MarketOrigin& origin,
                                          market::Moment now);

}  // namespace witan::node
