// Any bytes as the stream of a link: the frames that come out are those bytes, in order, and do not depend on where the
// stream was cut; memory follows the limit.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/link_frames.h"

namespace witan::fuzz {

struct CutResult {
  std::vector<std::string> frames;
  std::string error;
};

inline CutResult cutInto(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kMost = 100'000;
  net::FrameCutter cutter(kMost);
  CutResult result;
  while (!bytes.empty() && result.error.empty()) {
    const auto space = cutter.space();
    WITAN_CHECK(!space.empty(), "there is always space");
    const std::size_t size = std::min({bytes.size(), space.size(), piece});
    std::memcpy(space.data(), bytes.data(), size);
    cutter.filled(size);
    bytes.remove_prefix(size);
    WITAN_CHECK(cutter.capacity() <= 2 * kMost, "memory follows the limit");
    while (true) {
      auto frame = cutter.next();
      if (!frame.ok()) result.error = frame.error().message;
      if (!frame.ok() || !*frame) break;
      result.frames.emplace_back((*frame)->bytes);
      if ((*frame)->header.type == static_cast<std::uint8_t>(net::LinkFrame::goodbye))
        WITAN_CHECK(net::reasonOf((*frame)->message()).size() <= 4 * 512 + 8, "a reason is bounded");
    }
  }
  return result;
}

inline void fuzzFrameStream(std::string_view bytes) {
  if (bytes.size() > 1 << 20) return;
  const CutResult whole = cutInto(bytes, bytes.size());
  for (const std::size_t piece : {1u, 7u, 4096u}) {
    const CutResult cut = cutInto(bytes, piece);
    WITAN_CHECK(cut.frames == whole.frames && cut.error == whole.error, "where it is cut changes nothing");
  }
  std::string joined;
  for (const std::string& frame : whole.frames) joined += frame;
  WITAN_CHECK(bytes.starts_with(joined), "frames are the bytes that came");
}

}  // namespace witan::fuzz
