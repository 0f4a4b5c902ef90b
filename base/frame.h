// The header of every frame between devices: 8 bytes before a Cap'n Proto message.
//
//   bytes 0-3  length of the message, little-endian; a multiple of 8, never 0
//   byte  4    type; 1 to 31 replication/sync_messages.h, 32 to 63 replica/core/messages.h, 120 to 127
//              net/link_frames.h
//   byte  5    protocol version, never 0
//   bytes 6-7  zero when written, ignored when read
//
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

inline constexpr std::size_t kFrameHeaderBytes = 8;

struct FrameHeader {
  std::uint32_t length = 0;  // of the message
  std::uint8_t type = 0;
  std::uint8_t version = 0;
};

// Checked before anything is allocated for the message. Errors: length 0, no multiple of 8 or above `maxFrame`; version
// 0. Requires: kFrameHeaderBytes bytes.
Result<FrameHeader> readFrameHeader(std::string_view bytes, std::size_t maxFrame);

// Header and message. Requires: the message has whole 8-byte words, at least one.
void appendFrame(std::string& out, std::uint8_t type, std::uint8_t version, std::string_view message);

}  // namespace witan
