// The messages of node/relay/tunnel.capnp as plain structs; clusterFrame() makes their frames.
//
// Pure functions, any thread. What was read owns its bytes. Structs have the members of the schema in the order of its
// ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/cluster/messages.h"

namespace witan::node {

enum class TunnelFrame : std::uint8_t { open = 71, offer = 72, opened = 73, data = 74, credit = 75, close = 76 };

inline bool isTunnelFrame(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(TunnelFrame::open) && type <= static_cast<std::uint8_t>(TunnelFrame::close);
}

inline constexpr std::size_t kTunnelWindow = 256 * 1024;
inline constexpr std::size_t kTunnelChunk = 32 * 1024;  // bytes of one TunnelData
inline constexpr std::size_t kTunnelChunkCost = 256;    // besides its bytes
inline constexpr std::size_t kTunnelLeastCredit = kTunnelWindow / 8;

WITAN_ENUM(TunnelWhy, closed, noLink, doesNotCarry, notWanted, tooMany, noAnswer, linkEnded)

struct TunnelOpen {
  static constexpr auto kFrame = TunnelFrame::open;
  static constexpr std::size_t textMax = 512;
  WITAN_DECLARED(TunnelOpen, (std::uint64_t, tunnel), (std::string, device))
};

struct TunnelOffer {
  static constexpr auto kFrame = TunnelFrame::offer;
  static constexpr std::size_t textMax = 512;
  WITAN_DECLARED(TunnelOffer, (std::uint64_t, tunnel), (std::string, device))
};

struct TunnelOpened {
  static constexpr auto kFrame = TunnelFrame::opened;
  WITAN_DECLARED(TunnelOpened, (std::uint64_t, tunnel))
};

struct TunnelData {
  static constexpr auto kFrame = TunnelFrame::data;
  WITAN_DECLARED(TunnelData, (std::uint64_t, tunnel), (std::vector<std::uint8_t>, bytes))
};

struct TunnelCredit {
  static constexpr auto kFrame = TunnelFrame::credit;
  WITAN_DECLARED(TunnelCredit, (std::uint64_t, tunnel), (std::uint32_t, bytes))
};

struct TunnelClose {
  static constexpr auto kFrame = TunnelFrame::close;
  static constexpr std::size_t textMax = 512;
  WITAN_DECLARED(TunnelClose, (std::uint64_t, tunnel), (TunnelWhy, why, TunnelWhy::closed), (std::string, reason))
};

}  // namespace witan::node
