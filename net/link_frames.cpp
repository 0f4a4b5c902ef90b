#include "net/link_frames.h"

#include <algorithm>

#include "base/check.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::net {
namespace {

constexpr std::size_t kMaxReasonBytes = 512;

std::string frame(LinkFrame type, std::string_view message) {
  std::string out;
  appendFrame(out, static_cast<std::uint8_t>(type), kLinkVersion, message);
  return out;
}

}  // namespace

std::string welcomeFrame() { return frame(LinkFrame::welcome, std::string(8, '\0')); }

std::string pingFrame(std::uint64_t stamp) {
  std::string message;
  for (unsigned i = 0; i < 8; ++i) message.push_back(static_cast<char>(stamp >> (8 * i)));
  return frame(LinkFrame::ping, message);
}

std::string pongFrame(std::string_view pingMessage) { return frame(LinkFrame::pong, pingMessage); }

std::string goodbyeFrame(std::string_view reason) {
  std::string message(clip(reason, kMaxReasonBytes));
  message.resize(std::max<std::size_t>(8, (message.size() + 7) / 8 * 8), '\0');
  return frame(LinkFrame::goodbye, message);
}

std::string paddingFrames(std::size_t count) {
  const std::string one = frame(LinkFrame::padding, std::string(kMaxLinkMessage, '\0'));
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += one;
  return out;
}

std::uint64_t stampOf(std::string_view message) {
  WITAN_CHECK(message.size() == 8, "a stamp has 8 bytes");
  std::uint64_t stamp = 0;
  for (unsigned i = 0; i < 8; ++i) stamp |= std::uint64_t{static_cast<unsigned char>(message[i])} << (8 * i);
  return stamp;
}

std::string reasonOf(std::string_view message) {
  message = message.substr(0, message.find('\0'));
  if (message.empty()) return "no reason given";
  const bool plain = isUtf8(message) && std::none_of(message.begin(), message.end(), [](char c) {
                       return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                     });
  return plain ? std::string(clip(message, kMaxReasonBytes)) : inQuotes(message, kMaxReasonBytes);
}

}  // namespace witan::net
