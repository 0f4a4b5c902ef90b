// Who a node is in the market, and whom it trusts: files of the data directory.
//
//   DIR/market.roots   the roots of organisations, compared by people (witan market trust)
//   DIR/market.keys    0600  the seeds of this organisation's keys: contract, evidence, card, log
//   DIR/market.grants  what its root has granted to them
//   DIR/market.pass    of a device that does not hold the root: the root's word that it speaks for the organisation
//
//   DIR/market.org     where the root is: the organisation that it has granted for; it grants for no other
//   DIR/market.granted where the root is: devices that it has granted for, whose passes it makes anew until it revokes
//                      them
//
// The root is the admin key of the cluster. The device that holds it makes the keys and the grants, at its first start
// in the market, and renews a grant that ends within a month. Another device makes keys of its own and asks for the
// root's word (witan market enrol, witan market grant): no private key travels. A pass is short, so that a revoked
// device does not speak for its organisation for longer: a day of the device that holds the root, a week
// of another one. Both are made anew: the second kind travels among the records of the cluster (market_passes.h).
// Values; not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kernel/market/evidence.h"
#include "node/cluster/roster.h"

namespace witan::node {

inline constexpr std::int64_t kDaySeconds = 86'400;
// How names of documents end that are passes and no files (market_passes.h).
inline constexpr std::string_view kPassDocuments = ".market-pass";

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
  PublicKey deviceKey{}, root{};
};

// Errors: this device neither holds the root nor has its word, or not for its keys or not any more; corrupt files;
// ioFailed.
Result<MarketIdentity> openMarketIdentity(const std::filesystem::path& dir, const MarketOrigin& origin,
                                          market::Moment now);

// The pass to show from now on: the same, or a newer one, made here or taken from a word of the root that has come
// since. Errors: the root's word has ended; as openMarketIdentity.
Result<std::string> renewedPass(const std::filesystem::path& dir, const MarketOrigin& origin, const std::string& pass,
                                market::Moment now);

// ---- a device that does not hold the root

// What it asks for, in an envelope that its own key has signed. No secret.
struct MarketEnrolment {
  static constexpr std::string_view payloadType = "application/vnd.witan.market-enrolment+json";
  market::Fixed<"witan.market-enrolment/v1"> type;
  market::Word org, device;
  market::Hex key, contract, evidence, card;
  WITAN_MEMBERS(MarketEnrolment, type, org, device, key, contract, evidence, card)
};
// The root's word: envelopes.
struct MarketLicence {
  market::Fixed<"witan.market-licence/v1"> type;
  json::value pass;
  std::vector<json::value> grants;
  WITAN_MEMBERS(MarketLicence, type, pass, grants)
};

// Makes the keys of the market, if there are none. The envelope. Errors: corrupt; ioFailed.
Result<std::string> enrolInMarket(const std::filesystem::path& dir, const MarketOrigin& origin,
                                  const SigningKey& deviceKey);
// Errors: `dir` does not hold the root; the roster has no such device, or it has another key, or has not signed what is
// asked; the root has granted for another organisation before.
Result<MarketLicence> grantInMarket(const std::filesystem::path& dir, const json::value& asked, const Roster& roster,
                                    market::Moment now);
// A licensed pass.
std::string licensedPass(const MarketEnrolment& device, const SigningKey& root, market::Moment now);
// When that is due again: a third of its life has passed. Also for what is no pass.
bool isDue(const json::value& pass, market::Moment now);
// Devices that this root has granted for, and whose end it has not told yet (market_passes.h).
Result<std::vector<MarketEnrolment>> grantedIn(const std::filesystem::path& dir);
Status keepGranted(const std::filesystem::path& dir, const std::vector<MarketEnrolment>& granted);
// Takes a pass that came by itself, if it is for this device, of the root, and later than the one that is here.
Status takePass(const std::filesystem::path& dir, const MarketOrigin& origin, const json::value& pass,
                market::Moment now);
// Errors: of another root, for other keys, ended; ioFailed.
Status takeLicence(const std::filesystem::path& dir, const MarketOrigin& origin, const MarketLicence& licence,
                   market::Moment now);

}  // namespace witan::node
