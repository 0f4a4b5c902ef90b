// Dialer: which addresses of which devices are dialled. An address comes from the roster, or from the configuration; of
// the latter the device behind it is known when a link came up.
//
// No I/O: each call returns the dials to start and to stop. Belongs to PeerManager.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/peer_network.h"
#include "node/cluster/roster.h"

namespace witan::node {

struct DialStart {
  std::string name, address;
  std::optional<PublicKey> key;  // none: any member may be there
};

struct DialChanges {
  std::vector<DialStart> start;
  std::vector<std::string> stop;  // names
};

class Dialer {
 public:
  // A dial of the configuration.
  static DialStart configured(const std::string& address);
  // The device that a dial belongs to, by its name; of one of the configuration no device.
  static std::string deviceOf(const std::string& dial) { return dial.substr(0, dial.find('/')); }

  static bool isConfigured(std::string_view dial);

  // Dials the addresses that are not dialled yet.
  DialChanges start(const RosterDevice& device);
  // `except`: the name of a dial that goes on; empty: none.
  DialChanges stop(const std::string& device, std::string_view except = "");
  // A direct link with this device is up. The other addresses stop: their links and this one would replace each other
  // for ever. `dial`: the name of the dial that led to it; empty: the device dialled.
  DialChanges linked(const std::string& device, const std::string& dial);
  // The device was revoked: another one may be at its configured addresses.
  DialChanges forget(const std::string& device);

  // Not before resume().
  DialChanges pause(const std::string& device);
  bool resume(const std::string& device) { return paused_.erase(device) > 0; }
  bool isPaused(std::string_view device) const { return paused_.contains(device); }

  // Whether each dial of this device has failed, or it has none. `dials`: of the network.
  bool allFailed(std::string_view device, std::span<const net::DialInfo> dials) const;

 private:
  using Names = std::map<std::string, std::set<std::string>, std::less<>>;  // of dials, by device
  Names dialling_;
  Names configured_;  // those of the configuration that led to the device
  std::set<std::string, std::less<>> paused_;
};

}  // namespace witan::node
