#include "node/peers/dialer.h"

#include <algorithm>

#include "node/cluster/device_key.h"

namespace witan::node {

namespace {

constexpr std::string_view kConfigured = "config/";  // names of dials of the configuration: so, and the address

}  // namespace

DialStart Dialer::configured(const std::string& address) {
  return {std::string(kConfigured) + address, address, std::nullopt};
}

bool Dialer::isConfigured(std::string_view dial) { return dial.starts_with(kConfigured); }

DialChanges Dialer::start(const RosterDevice& device) {
  DialChanges changes;
  auto key = publicKeyFromHex(device.keys.back(), "key");
  if (!key.ok()) return changes;
  for (const std::string& address : device.addresses) {
    const std::string name = device.device + "/" + address;
    if (dialling_[device.device].insert(name).second) changes.start.push_back({name, address, *key});
  }
  if (const auto known = configured_.find(device.device); known != configured_.end())
    for (const std::string& name : known->second)
      if (dialling_[device.device].insert(name).second)
        changes.start.push_back(configured(name.substr(kConfigured.size())));
  return changes;
}

DialChanges Dialer::stop(const std::string& device, std::string_view except) {
  DialChanges changes;
  const auto at = dialling_.find(device);
  if (at == dialling_.end()) return changes;
  std::erase_if(at->second, [&](const std::string& name) {
    if (name != except) changes.stop.push_back(name);
    return name != except;
  });
  if (at->second.empty()) dialling_.erase(at);
  return changes;
}

DialChanges Dialer::linked(const std::string& device, const std::string& dial) {
  if (isConfigured(dial)) {
    configured_[device].insert(dial);
    dialling_[device].insert(dial);
  }
  return stop(device, dial);
}

DialChanges Dialer::forget(const std::string& device) {
  DialChanges changes;
  if (const auto known = configured_.extract(device))
    for (const std::string& name : known.mapped()) changes.start.push_back(configured(name.substr(kConfigured.size())));
  return changes;
}

DialChanges Dialer::pause(const std::string& device) {
  paused_.insert(device);
  return stop(device);
}

bool Dialer::allFailed(std::string_view device, std::span<const net::DialInfo> dials) const {
  const auto own = dialling_.find(device);
  if (own == dialling_.end()) return true;
  const auto failing = [&](const net::DialInfo& dial) { return dial.failures > 0 && own->second.contains(dial.name); };
  return std::count_if(dials.begin(), dials.end(), failing) >= std::ssize(own->second);
}

}  // namespace witan::node
