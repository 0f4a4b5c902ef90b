// The messages of overlay/overlay.capnp as plain structs.
//
// Pure functions, any thread. What was read owns its bytes. Structs have the members of the schema in the order of its
// ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/capnp_codec.h"

namespace witan::overlay {

enum class OverlayFrame : std::uint8_t { view = 77 };

inline constexpr std::size_t kMostNamed = 16;  // devices in one message

WITAN_ENUM(ViewKind, join, forwardJoin, neighbour, neighbourAnswer, disconnect, shuffle, shuffleAnswer)

struct ViewMessage {
  static constexpr auto kFrame = OverlayFrame::view;
  static constexpr std::size_t textMax = 512;
  WITAN_DECLARED(ViewMessage, (ViewKind, kind, ViewKind::join), (std::string, device), (std::uint16_t, ttl),
                 (bool, urgent), (bool, accepted), (std::uint64_t, nonce), (std::vector<std::string>, devices))
};

}  // namespace witan::overlay
