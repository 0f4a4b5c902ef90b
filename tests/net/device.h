// A device of the tests: a key, a network on a shared loop, and everything that it was told, in order.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/frame.h"
#include "net/peer_network.h"

namespace witan::net::test {

inline constexpr std::int64_t kPatience = 20'000;  // ms until a test gives up; nothing waits for it to pass

inline SigningKey keyOf(char letter) { return *SigningKey::fromSeed(std::string(32, letter)); }

inline TlsIdentity identityOf(char letter) { return *tlsIdentityOf(keyOf(letter), std::string("device ") + letter); }

// A frame of an application: type, and `words` times 8 bytes that depend on the size.
inline std::string frameOf(std::uint8_t type, std::size_t words) {
  std::string message(8 * words, '\0');
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>(i * 31 + words);
  std::string out;
  appendFrame(out, type, 1, message);
  return out;
}

struct Device {
  struct Down {
    LinkId id;
    std::string reason;
  };

  Device(Loop& itsLoop, char letter, PeerNetworkOptions options = {}) : Device(itsLoop, identityOf(letter), options) {}
  Device(Loop& itsLoop, const TlsIdentity& identity, PeerNetworkOptions options) : loop(itsLoop) {
    PeerEvents events;
    events.admit = [this](const LinkInfo& info) { return admit ? admit(info) : okStatus(); };
    events.up = [this](const LinkInfo& info) {
      up[info.id] = info;
      last = info.id;
      if (trusting) network->trust(info.id);
      if (onUp) onUp(info);
    };
    events.frame = [this](LinkId id, std::string_view bytes) {
      ++frameCount;
      frameBytes += bytes.size();
      if (keepFrames) frames.emplace_back(bytes);
      if (onFrame) onFrame(id, bytes);
    };
    events.down = [this](LinkId id, std::string_view reason) {
      EXPECT_EQ(up.erase(id), 1u) << "down once, and only what was up";
      downs.push_back({id, std::string(reason)});
    };
    events.quiet = [this](LinkId) { ++quiets; };
    events.room = [this](LinkId) { ++rooms; };
    events.log = [this](std::string_view, std::string_view what) { logged.emplace_back(what); };
    options.seed = 7;
    if (options.backoffFirstMs == 100) options.backoffFirstMs = 5;
    network = std::make_unique<PeerNetwork>(loop, identity, options, std::move(events));
  }

  // Runs the shared loop until `done`; fails the test if that never comes. Looks again every few milliseconds: what is
  // waited for may happen in another thread.
  void until(const std::function<bool()>& done, const char* what) {
    const std::int64_t end = Loop::nowMs() + kPatience;
    while (!loop.runUntil(done, 2))
      if (Loop::nowMs() >= end) {
        ADD_FAILURE() << "never: " << what << words();
        return;
      }
  }
  std::string words() const {
    std::string out;
    for (const Down& one : downs) out += "\n  down: " + one.reason;
    for (const std::string& line : logged) out += "\n  log: " + line;
    return out;
  }
  bool loggedWith(const std::string& part) const {
    for (const std::string& line : logged)
      if (line.find(part) != std::string::npos) return true;
    return false;
  }

  Loop& loop;
  std::function<Status(const LinkInfo&)> admit;
  std::function<void(const LinkInfo&)> onUp;
  std::function<void(LinkId, std::string_view)> onFrame;
  bool trusting = true, keepFrames = true;
  std::map<LinkId, LinkInfo> up;
  LinkId last = 0;
  std::vector<Down> downs;
  std::vector<std::string> frames, logged;
  std::size_t frameCount = 0, frameBytes = 0, rooms = 0, quiets = 0;
  std::unique_ptr<PeerNetwork> network;
};

}  // namespace witan::net::test
