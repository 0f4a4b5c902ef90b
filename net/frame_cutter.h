// Cuts a stream of bytes into frames (base/frame.h), without a stream: bytes in, frames or an error out.
//
// A frame's memory is made only after its header was found good. Belongs to one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/frame.h"

namespace witan::net {

struct CutFrame {
  FrameHeader header;
  std::string_view bytes;  // header included; until the next call of space()
  std::string_view message() const { return bytes.substr(kFrameHeaderBytes); }
};

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
