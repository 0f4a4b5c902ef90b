// Devices that speak for an organisation no more, whatever passes they still have: its root says so, in a list that
// the organisation and whoever shares a contract with it pass on (MarketHost). A later list takes the place of an
// earlier one, and never the other way round.
//
// Values, by root; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/market/market_identity.h"

namespace witan::node {

// Of one list: what stands in a frame that is read of a link that waits.
inline constexpr std::size_t kMostRevoked = 256;

struct RevokedDevice {
  market::Hex key;
  market::Moment until;  // of its place in the list: its passes have long ended
  WITAN_MEMBERS(RevokedDevice, key, until)
};

struct RevokedDevices {
  static constexpr std::string_view payloadType = "application/vnd.witan.revoked+json";
  market::Fixed<"witan.revoked/v1"> type;
  market::Word org;
  market::Natural serial = 0;
  std::vector<RevokedDevice> devices;
  WITAN_MEMBERS(RevokedDevices, type, org, serial, devices)
};

// The list with these keys in it too, under the root; none if they stand in it already. `before`: the envelope of the
// last one, or null. Of more than kMostRevoked those that end first are left out.
std::optional<std::string> withRevoked(const json::value& before, const std::string& org,
                                       const std::vector<market::Hex>& keys, const SigningKey& root,
                                       market::Moment now);

class RevokedBook {
 public:
  struct Known {
    std::string org, envelope;
    market::Natural serial = 0;
    std::vector<PublicKey> keys;
  };

  // Null: it is no list of a trusted root, or no later one than is known.
  const Known* take(const json::value& envelope, const market::Roots& roots);
  bool has(const PublicKey& root, const PublicKey& device) const;
  const std::map<PublicKey, Known>& byRoot() const { return known_; }

 private:
  std::map<PublicKey, Known> known_;
};

}  // namespace witan::node
