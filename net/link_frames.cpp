#include "net/link_frames.h"

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <cstring>

#include "base/bytes.h"
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

constexpr std::size_t kUsualBuffer = 16 * 1024;  // a TLS record
constexpr std::size_t kMostKept = 64 * 1024;     // a larger buffer goes when its frame has been given out

Status checkLinkFrame(const FrameHeader& header) {
  const std::size_t most = header.type == static_cast<std::uint8_t>(LinkFrame::goodbye) ? kMaxLinkMessage : 8;
  const bool known = header.type <= static_cast<std::uint8_t>(LinkFrame::welcome);
  if (header.length > (known ? most : kMaxLinkMessage))
    return invalid("a frame of type " + std::to_string(header.type) + " with " + std::to_string(header.length) +
                   " bytes");
  return okStatus();
}

}  // namespace

std::string welcomeFrame() { return frame(LinkFrame::welcome, std::string(8, '\0')); }

std::string pingFrame(std::uint64_t stamp) {
  std::array<std::uint8_t, 8> message;
  boost::endian::store_little_u64(message.data(), stamp);
  return frame(LinkFrame::ping, asView(message));
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
  return boost::endian::load_little_u64(asBytes(message).data());
}

std::string reasonOf(std::string_view message) {
  message = message.substr(0, message.find('\0'));
  if (message.empty()) return "no reason given";
  const bool plain = isUtf8(message) && std::none_of(message.begin(), message.end(), [](char c) {
                       return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                     });
  return plain ? std::string(clip(message, kMaxReasonBytes)) : inQuotes(message, kMaxReasonBytes);
}

std::span<char> FrameCutter::space() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > kMostKept) std::vector<char>().swap(buffer_);
  }
  const std::size_t size = std::max(kUsualBuffer, wanted_);
  if (begin_ > 0 && (buffer_.size() - begin_ < size || end_ == buffer_.size())) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < size) buffer_.resize(size);
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void FrameCutter::filled(std::size_t bytes) {
  WITAN_CHECK(bytes <= buffer_.size() - end_, "no more came than there was space for");
  end_ += bytes;
}

Result<std::optional<CutFrame>> FrameCutter::next() {
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  if (rest.size() < kFrameHeaderBytes) return std::optional<CutFrame>();
  WITAN_TRY(header, readFrameHeader(rest, wanted_ > 0 ? wanted_ : maxFrame_));
  if (isLinkFrame(header.type)) WITAN_DO(checkLinkFrame(header));
  wanted_ = kFrameHeaderBytes + header.length;
  if (rest.size() < wanted_) return std::optional<CutFrame>();
  const CutFrame frame{header, rest.substr(0, wanted_)};
  begin_ += wanted_;
  wanted_ = 0;
  return std::optional<CutFrame>(frame);
}

}  // namespace witan::net
