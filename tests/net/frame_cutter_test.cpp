// Cutting a stream of bytes into frames, without a stream.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "net/link_frames.h"
#include "tests/net/device.h"

namespace witan::frame_cutter_test {
namespace {

using namespace witan::net;
using net::test::frameOf;

// Feeds `bytes` in pieces of the given sizes, again and again; gives the frames, or the error.
Result<std::vector<std::string>> cut(FrameCutter& cutter, std::string_view bytes,
                                     const std::vector<std::size_t>& sizes) {
  std::vector<std::string> frames;
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    const auto space = cutter.space();
    const std::size_t size = std::min({bytes.size(), space.size(), sizes[turn % sizes.size()]});
    std::memcpy(space.data(), bytes.data(), size);
    cutter.filled(size);
    bytes.remove_prefix(size);
    while (true) {
      WITAN_TRY(frame, cutter.next());
      if (!frame) break;
      frames.emplace_back(frame->bytes);
    }
  }
  return frames;
}

RC_GTEST_PROP(FrameCutterTest, AnyCutOfTheBytesGivesTheSameFrames, ()) {
  std::vector<std::string> sent;
  std::string bytes;
  for (const std::size_t words :
       *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 6000))) {
    sent.push_back(frameOf(static_cast<std::uint8_t>(words % 100), words));
    bytes += sent.back();
  }
  const auto sizes = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(
      rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 20), rc::gen::inRange<std::size_t>(1, 100'000))));
  FrameCutter cutter(48'000);
  const auto got = cut(cutter, bytes, sizes);
  RC_ASSERT(got.ok());
  RC_ASSERT(*got == sent);
}

std::string header(std::uint32_t length, std::uint8_t type, std::uint8_t version) {
  std::string out(8, '\0');
  for (unsigned i = 0; i < 4; ++i) out[i] = static_cast<char>(length >> (8 * i));
  out[4] = static_cast<char>(type);
  out[5] = static_cast<char>(version);
  return out;
}

TEST(FrameCutterTest, ABadHeaderIsRefusedBeforeMemoryIsMadeForItsMessage) {
  const std::vector<std::string> bad{header(0, 1, 1),          header(7, 1, 1),      header(1'000'008, 1, 1),
                                     header(0xfffffff8, 1, 1), header(8, 1, 0),      header(16, 120, 1),
                                     header(16, 121, 1),       header(1032, 122, 1), header(2048, 126, 1)};
  for (const std::string& bytes : bad) {
    FrameCutter cutter(1'000'000);
    const auto got = cut(cutter, bytes, {8});
    EXPECT_FALSE(got.ok());
    EXPECT_LE(cutter.capacity(), 16u * 1024);
  }
}

TEST(FrameCutterTest, ALargerLimitCountsFromTheNextHeader) {
  FrameCutter cutter(64);
  EXPECT_FALSE(cut(cutter, frameOf(1, 100), {8}).ok());
  FrameCutter trusting(64);
  trusting.setMaxFrame(800);
  EXPECT_TRUE(cut(trusting, frameOf(1, 100), {8}).ok());
}

TEST(FrameCutterTest, ALargeFramesMemoryIsGivenBack) {
  FrameCutter cutter(1 << 21);
  EXPECT_TRUE(cut(cutter, frameOf(1, 1 << 17), {1 << 20}).ok());
  EXPECT_TRUE(cut(cutter, frameOf(1, 1), {1 << 20}).ok());
  EXPECT_LE(cutter.capacity(), 64u * 1024);
}

TEST(LinkFramesTest, AGoodbyesReasonIsFitToBeShown) {
  const auto said = [](std::string_view reason) { return reasonOf(std::string_view(goodbyeFrame(reason)).substr(8)); };
  EXPECT_EQ(said("revoked"), "revoked");
  EXPECT_EQ(said("exactly8"), "exactly8");
  EXPECT_EQ(said(""), "no reason given");
  EXPECT_EQ(said("Gerät widerrufen"), "Gerät widerrufen");
  EXPECT_EQ(said("line\nbreak\x1b[31m"), "\"line\\x0abreak\\x1b[31m\"");
  EXPECT_EQ(said(std::string(2000, 'x')), std::string(512, 'x'));
  EXPECT_EQ(said("bad\xff"), "\"bad\\xff\"");
  EXPECT_EQ(stampOf(std::string_view(pingFrame(0x0123456789abcdef)).substr(8)), 0x0123456789abcdefu);
}

}  // namespace
}  // namespace witan::frame_cutter_test
