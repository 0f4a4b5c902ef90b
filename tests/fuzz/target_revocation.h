// Any bytes as the admin's word that a device is revoked, and as changes of a genuine one: only what was signed counts,
// and where admins act together, only with their act.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/json_codec.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"

namespace witan::fuzz {

// Devices c and d; admin x alone acts for the cluster, and has revoked c. Of d its key has said the same without an
// act.
struct RevokedWorld {
  const SigningKey admin = *SigningKey::fromSeed(std::string(32, 'x'));
  node::Roster before, after;
  node::AdminState state;
  std::string genuine, alone;

  RevokedWorld() {
    before.cluster = node::clusterIdOf(admin.publicKey()), before.version = 1;
    for (const char letter : {'c', 'd'}) {
      const PublicKey key = SigningKey::fromSeed(std::string(32, letter))->publicKey();
      node::RosterDevice device{.device = node::deviceIdOf(key), .name = std::string(1, letter)};
      device.keys = {toHex(key)};
      before.devices.push_back(std::move(device));
    }
    node::AdminAct first{1, node::ActKind::admins, ""}, second{2, node::ActKind::revoke, before.devices.front().device};
    first.admins = {{"x", toHex(admin.publicKey())}}, first.approvals = 1;
    for (node::AdminAct* act : {&first, &second}) {
      node::approveAct(before.cluster, *act, admin);
      (before.acts ? *before.acts : before.acts.emplace()).push_back(*act);
    }
    state = *node::stateAfter(before.cluster, admin.publicKey(), before.allActs());
    after = before;
    ++after.version;
    for (node::RosterDevice& device : after.devices) device.state = node::DeviceState::revoked, device.reason = "lost";
    node::signRevocations(after, admin, false);
    before.acts->pop_back();  // as a device knows it that was away
    genuine = node::revocationOf(after, after.devices.front().device);
    alone = node::revocationOf(after, after.devices.back().device);
  }
};

inline void fuzzRevocation(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 1 << 16) return;
  static const RevokedWorld world;
  const auto read = [](std::string_view text) {
    return node::readRevocation(text, world.before, world.admin.publicKey(), world.state);
  };
  WITAN_CHECK(read(world.genuine).ok(), "a genuine word counts");
  for (const std::string& said : {std::string(), world.genuine, world.alone}) {
    std::string text = said.empty() ? std::string(bytes) : said;
    for (std::size_t i = 0; !said.empty() && i < text.size(); ++i)
      text[i] = static_cast<char>(text[i] ^ bytes[i % bytes.size()]);
    const auto taken = read(text);
    if (!taken.ok()) continue;
    WITAN_CHECK(taken->device == world.after.devices.front().device && taken->reason == "lost" &&
                    taken->version == world.after.version,
                "another word does not count");
  }
}

}  // namespace witan::fuzz
