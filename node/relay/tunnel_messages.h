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
  std::uint64_t tunnel = 0;
  std::string device;
  WITAN_MEMBERS(TunnelOpen, tunnel, device)
};

struct TunnelOffer {
  static constexpr auto kFrame = TunnelFrame::offer;
  static constexpr std::size_t textMax = 512;
  std::uint64_t tunnel = 0;
  std::string device;
  WITAN_MEMBERS(TunnelOffer, tunnel, device)
};

struct TunnelOpened {
  static constexpr auto kFrame = TunnelFrame::opened;
  std::uint64_t tunnel = 0;
  WITAN_MEMBERS(TunnelOpened, tunnel)
};

struct TunnelData {
  static constexpr auto kFrame = TunnelFrame::data;
  std::uint64_t tunnel = 0;
  std::vector<std::uint8_t> bytes;
  WITAN_MEMBERS(TunnelData, tunnel, bytes)
};

struct TunnelCredit {
  static constexpr auto kFrame = TunnelFrame::credit;
  std::uint64_t tunnel = 0;
  std::uint32_t bytes = 0;
  WITAN_MEMBERS(TunnelCredit, tunnel, bytes)
};

struct TunnelClose {
  static constexpr auto kFrame = TunnelFrame::close;
  static constexpr std::size_t textMax = 512;
  std::uint64_t tunnel = 0;
  TunnelWhy why = TunnelWhy::closed;
  std::string reason;
  WITAN_MEMBERS(TunnelClose, tunnel, why, reason)
};

}  // namespace witan::node
