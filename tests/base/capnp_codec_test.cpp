// The Cap'n Proto forms of reflected structs: golden bytes of the capnp tool, layout, round trips, hostile bytes.
// tests/kernel/entry_codec_test.cpp compares with the library on generated code.
#include "base/capnp_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"

namespace witan::capnp_codec_test {
namespace {

WITAN_ENUM(Colour, red, green, blue)

struct Mixed {
  bool a = false;
  std::uint16_t b = 0;
  std::int64_t c = 0;
  bool d = false;
  std::uint32_t e = 0;
  std::string f;
  Colour g = Colour::red;
  bool h = false;
  Date i;
  std::vector<std::uint8_t> j;
  std::uint16_t k = 0;
  std::uint64_t l = 0;
  bool m = false;
  std::uint16_t n = 0;
  std::uint16_t o = 0;
  WITAN_MEMBERS(Mixed, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
};

std::string hexOf(std::string_view bytes) {
  return toHex(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string bytesOf(const Mixed& value) {
  WordWriter writer;
  return std::string(writer.message(value));
}

// The offsets that capnp 0.9.2 gives the same struct (`capnp compile -ocapnp`), in units of each member's size.
TEST(CapnpCodec, LayoutIsTheCompilers) {
  static constexpr auto layout = capnpLayout<Mixed>();
  const std::array<std::uint32_t, 15> expected{0, 1, 1, 1, 1, 0, 8, 2, 5, 1, 9, 3, 3, 16, 17};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(layout.slots[i].offset, expected[i]) << "member " << i;
  EXPECT_EQ(layout.dataWords, 5u);
  EXPECT_EQ(layout.pointers, 2u);
}

// `capnp convert text:canonical` of (a = true, b = 513, c = -2, ..., o = 6).
TEST(CapnpCodec, GoldenBytes) {
  const Mixed value{true, 513, -2, true, 7, "hi", static_cast<Colour>(2), true, Date{-1}, {1, 2}, 9, 1, true, 5, 6};
  EXPECT_EQ(hexOf(bytesOf(value)),
            "00000000050002000f00010207000000feffffffffffffff02000900ffffffff0100000000000000"
            "0500060000000000050000001a000000050000001200000068690000000000000102000000000000");
  EXPECT_EQ(hexOf(bytesOf(Mixed{})), "fcffffff00000000");
}

Mixed anyMixed() {
  using namespace rc;
  Mixed v;
  v.a = *gen::arbitrary<bool>();
  v.b = *gen::arbitrary<std::uint16_t>();
  v.c = *gen::arbitrary<std::int64_t>();
  v.d = *gen::arbitrary<bool>();
  v.e = *gen::arbitrary<std::uint32_t>();
  v.f = *gen::container<std::string>(gen::inRange<char>(1, 127));
  v.g = static_cast<Colour>(*gen::inRange(0, 3));
  v.h = *gen::arbitrary<bool>();
  v.i.days = *gen::inRange(-719'162, 2'932'897);  // the years 0001 to 9999
  v.j = *gen::arbitrary<std::vector<std::uint8_t>>();
  v.k = *gen::arbitrary<std::uint16_t>();
  v.l = *gen::arbitrary<std::uint64_t>();
  v.m = *gen::arbitrary<bool>();
  v.n = *gen::arbitrary<std::uint16_t>();
  v.o = *gen::arbitrary<std::uint16_t>();
  return v;
}

RC_GTEST_PROP(CapnpCodec, RoundTrip, ()) {
  const Mixed v = anyMixed();
  const std::string bytes = bytesOf(v);
  Mixed back;
  RC_ASSERT(readMessage(bytes, back, "mixed").ok());
  RC_ASSERT(bytesOf(back) == bytes);
  RC_ASSERT(std::tuple(back.a, back.b, back.c, back.d, back.e, back.f, back.g, back.h, back.i.days, back.j, back.k,
                       back.l, back.m, back.n, back.o) ==
            std::tuple(v.a, v.b, v.c, v.d, v.e, v.f, v.g, v.h, v.i.days, v.j, v.k, v.l, v.m, v.n, v.o));
}

struct Inner {
  std::int64_t n = 0;
  std::string text;
  WITAN_MEMBERS(Inner, n, text)
};
struct Outer {
  std::optional<std::string> maybeText;
  std::optional<std::int64_t> maybeNumber;
  std::optional<Date> maybeDate;
  std::vector<std::string> texts;
  std::vector<Inner> list;
  Inner inner;
  WITAN_MEMBERS(Outer, maybeText, maybeNumber, maybeDate, texts, list, inner)
};

RC_GTEST_PROP(CapnpCodec, OptionalsListsAndNestedStructsRoundTrip, ()) {
  using namespace rc;
  const auto text = [] { return *gen::container<std::string>(gen::inRange<char>(32, 127)); };
  Outer v;
  if (*gen::arbitrary<bool>()) v.maybeText = text();
  if (*gen::arbitrary<bool>()) v.maybeNumber = *gen::arbitrary<std::int64_t>();
  if (*gen::arbitrary<bool>()) v.maybeDate = Date{*gen::inRange(-20000, 40000)};
  for (int i = *gen::inRange(0, 4); i > 0; --i) v.texts.push_back(text());
  for (int i = *gen::inRange(0, 4); i > 0; --i) v.list.push_back({*gen::arbitrary<std::int64_t>(), text()});
  v.inner = {*gen::element<std::int64_t>(0, -1), text()};
  WordWriter writer;
  const std::string bytes(writer.message(v));
  Outer back;
  const Status read = readMessage(bytes, back, "outer");
  if (!read.ok()) RC_FAIL(read.error().message);
  RC_ASSERT(toJson(back) == toJson(v));
  RC_ASSERT(std::string(writer.message(back)) == bytes);
}

RC_GTEST_PROP(CapnpCodec, AnyWordsGiveAValueOrAnError, (std::vector<std::uint64_t> words)) {
  Outer out;
  (void)readMessage({reinterpret_cast<const char*>(words.data()), words.size() * 8}, out, "outer");
}

RC_GTEST_PROP(CapnpCodec, AnyAlteredByteGivesAValueOrAnError, (std::uint16_t at, std::uint8_t value)) {
  Outer v;
  v.maybeText = "text";
  v.texts = {"a", "b"};
  v.list = {{1, "x"}, {2, "y"}};
  WordWriter writer;
  std::string bytes(writer.message(v));
  bytes[at % bytes.size()] = static_cast<char>(value);
  Outer out;
  (void)readMessage(bytes, out, "outer");
}

TEST(CapnpCodec, ErrorsNameThePlace) {
  Mixed out;
  EXPECT_EQ(readMessage("abc", out, "mixed").error().message, "a message of 3 bytes (not whole 8-byte words)");
  EXPECT_EQ(readMessage("", out, "mixed").error().message, "a message of 0 bytes (not whole 8-byte words)");
  Mixed wrong;
  wrong.g = static_cast<Colour>(7);
  EXPECT_EQ(readMessage(bytesOf(wrong), out, "mixed").error().message, "mixed.g: no such enumerant 7");
}

// A newer writer's struct is longer, an older one's shorter: both can be read (ordinals are only appended).
struct Older {
  bool a = false;
  std::uint16_t b = 0;
  std::int64_t c = 0;
  WITAN_MEMBERS(Older, a, b, c)
};
TEST(CapnpCodec, OlderAndNewerStructsCanBeRead) {
  const Mixed value{true, 513, -2, true, 7, "hi", Colour::blue, true, Date{-1}, {1, 2}, 9, 1, true, 5, 6};
  Older older;
  ASSERT_TRUE(readMessage(bytesOf(value), older, "older").ok());
  EXPECT_EQ(older.c, -2);
  WordWriter writer;
  Mixed newer;
  ASSERT_TRUE(readMessage(writer.message(older), newer, "newer").ok());
  EXPECT_EQ(newer.b, 513);
  EXPECT_EQ(newer.f, "");
}

TEST(CapnpCodec, SchemaIsWhatAnAuthorWouldWrite) {
  EXPECT_EQ(capnpSchema<Older>("Older"), "struct Older {\n  a @0 :Bool;\n  b @1 :UInt16;\n  c @2 :Int64;\n}\n");
}

}  // namespace
}  // namespace witan::capnp_codec_test
