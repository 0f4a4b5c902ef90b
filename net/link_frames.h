// What the transport says for itself, in frames of base/frame.h that never leave net/. Types 120 to 127 are its own; an
// unknown one of them is passed over, so that a later version may say more.
//
//   welcome  123    the key is admitted; sent once, first. The link is up when it was sent and received.
//   ping     120    8 bytes that come back in a pong. A sign of life, and a measure of the round trip.
//   pong     121    the same 8 bytes
//   goodbye  122    nothing comes after it. UTF-8 text, why; filled up with zeros to whole words.
//   padding  124    up to 1,024 bytes that mean nothing: does the path carry more than small packets? A pong after
//                   it says so. Versions without it pass over it.
//
// The functions are pure, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct CutFrame {
  FrameHeader header;
  std::string_view bytes;  // header included; until the next call of space()
  std::string_view message() const { return bytes.substr(kFrameHeaderBytes); }
};

// Cuts a stream of bytes into frames (base/frame.h), without a stream: bytes in, frames or an error out. A frame's
// memory is made only after its header was found good. Belongs to one thread.
class FrameCutter {
 public:
  explicit FrameCutter(std::size_t maxFrame) : maxFrame_(maxFrame) {}

  void setMaxFrame(std::size_t maxFrame) { maxFrame_ = maxFrame; }  // for frames whose header was not read yet

  // Where the next bytes go, never empty; filled() says how many came.
  std::span<char> space();
  void filled(std::size_t bytes);

  // The next whole frame; nullopt: more bytes are needed. After an error the stream is lost.
  Result<std::optional<CutFrame>> next();

  void clear() { begin_ = end_ = wanted_ = 0; }  // what came and was not given out is forgotten

  std::size_t capacity() const { return buffer_.size(); }

 private:
  std::size_t maxFrame_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what came and was not given out
  std::size_t wanted_ = 0;           // size of the frame at begin_, once its header was found good
};

}  // namespace witan::net
