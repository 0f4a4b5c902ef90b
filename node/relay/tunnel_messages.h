// The messages of node/relay/tunnel.capnp as plain structs, and their frames.
//
// Pure functions, any thread. What was read owns its bytes. Structs have the members of the schema in the order of its
// ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/capnp_codec.h"
#include "base/frame.h"
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
  static constexpr std::size_t textMax = 512;
  std::uint64_t tunnel = 0;
  std::string device;
  WITAN_MEMBERS(TunnelOpen, tunnel, device)
};

struct TunnelOffer {
  static constexpr std::size_t textMax = 512;
  std::uint64_t tunnel = 0;
  std::string device;
  WITAN_MEMBERS(TunnelOffer, tunnel, device)
};

struct TunnelOpened {
  std::uint64_t tunnel = 0;
  WITAN_MEMBERS(TunnelOpened, tunnel)
};

struct TunnelData {
  std::uint64_t tunnel = 0;
  std::vector<std::uint8_t> bytes;
  WITAN_MEMBERS(TunnelData, tunnel, bytes)
};

struct TunnelCredit {
  std::uint64_t tunnel = 0;
  std::uint32_t bytes = 0;
  WITAN_MEMBERS(TunnelCredit, tunnel, bytes)
};

struct TunnelClose {
  static constexpr std::size_t textMax = 512;
  std::uint64_t tunnel = 0;
  TunnelWhy why = TunnelWhy::closed;
  std::string reason;
  WITAN_MEMBERS(TunnelClose, tunnel, why, reason)
};

template <class T>
constexpr TunnelFrame tunnelFrameOf() {
  if constexpr (std::is_same_v<T, TunnelOpen>)
    return TunnelFrame::open;
  else if constexpr (std::is_same_v<T, TunnelOffer>)
    return TunnelFrame::offer;
  else if constexpr (std::is_same_v<T, TunnelOpened>)
    return TunnelFrame::opened;
  else if constexpr (std::is_same_v<T, TunnelData>)
    return TunnelFrame::data;
  else if constexpr (std::is_same_v<T, TunnelCredit>)
    return TunnelFrame::credit;
  else
    return TunnelFrame::close;
}

// One frame, header included.
template <class T>
std::string tunnelFrame(const T& message) {
  WordWriter words;
  std::string out;
  replication::appendFrameBytes(out, static_cast<replication::FrameType>(tunnelFrameOf<T>()), words.message(message));
  return out;
}

// Requires: a whole frame of this type, as the transport hands them over. Errors: unreadable, beyond a limit.
template <class T>
Status readTunnelFrame(std::string_view frame, T& into) {
  return readMessage(frame.substr(kFrameHeaderBytes), into, "frame");
}

}  // namespace witan::node
