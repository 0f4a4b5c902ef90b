// What the transport says for itself, in frames of base/frame.h that never leave net/. Types 120 to 127 are its own; an
// unknown one of them is passed over, so that a later version may say more.
//
//   welcome  123    the key is admitted; sent once, first. The link is up when it was sent and received.
//   ping     120    8 bytes that come back in a pong. A sign of life, and a measure of the round trip.
//   pong     121    the same 8 bytes
//   goodbye  122    nothing comes after it. UTF-8 text, why; filled up with zeros to whole words.
//   padding  124    up to 1,024 bytes that mean nothing: does the path carry more than small packets? A pong after it
//   says
//                   so. Versions without it pass over it.
//
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/frame.h"

namespace witan::net {

inline constexpr std::uint8_t kLinkVersion = 1;
inline constexpr std::size_t kMaxLinkMessage = 1024;

enum class LinkFrame : std::uint8_t { ping = 120, pong = 121, goodbye = 122, welcome = 123, padding = 124, last = 127 };

inline bool isLinkFrame(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(LinkFrame::ping) && type <= static_cast<std::uint8_t>(LinkFrame::last);
}

std::string welcomeFrame();
std::string pingFrame(std::uint64_t stamp);
std::string pongFrame(std::string_view pingMessage);
std::string goodbyeFrame(std::string_view reason);  // cut to 512 bytes
std::string paddingFrames(std::size_t count);       // as large as they may be

// Of a message of 8 bytes (ping and pong have no other).
std::uint64_t stampOf(std::string_view message);

// A goodbye's text, fit to be shown: control characters and broken UTF-8 become \xNN.
std::string reasonOf(std::string_view message);

}  // namespace witan::net
