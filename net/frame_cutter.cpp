#include "net/frame_cutter.h"

#include <algorithm>
#include <cstring>

#include "net/link_frames.h"

namespace witan::net {
namespace {

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
