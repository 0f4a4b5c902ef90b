#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "base/capnp_codec.h"

namespace witan::utf8_test {
namespace {

using namespace std::string_view_literals;

struct Words {
  std::string one;
  std::vector<std::string> many;
  WITAN_MEMBERS(Words, one, many)
};

Status readBack(const Words& words) {
  WordWriter writer;
  Words back;
  return readMessage(std::string(writer.message(words)), back, "words");
}

TEST(Utf8, KnowsTheBoundsOfRfc3629) {
  for (std::string_view good : {""sv, "a"sv, "12345678"sv, "1234567\xc3\xa9"sv, "\x7f\xc2\x80\xdf\xbf"sv,
                                "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"sv, "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"sv, "\0"sv})
    EXPECT_TRUE(isUtf8(good)) << good;
  for (std::string_view bad :
       {"\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2 "sv, "\xe0\x9f\xbf"sv, "\xed\xa0\x80"sv, "\xf0\x8f\xbf\xbf"sv,
        "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "12345678\xff"sv, "1234567\xe2\x82"sv})
    EXPECT_FALSE(isUtf8(bad)) << bad;
}

TEST(Utf8, ClipNeverCutsACharacter) {
  const std::string text = "ab\xe2\x82\xac\xf0\x9f\x98\x80z";
  for (std::size_t limit = 0; limit <= text.size() + 1; ++limit) {
    EXPECT_LE(clip(text, limit).size(), limit);
    EXPECT_TRUE(isUtf8(clip(text, limit))) << limit;
    EXPECT_TRUE(text.starts_with(clip(text, limit)));
  }
  EXPECT_EQ(clip(text, 5), "ab\xe2\x82\xac");
  EXPECT_EQ(clip(text, 4), "ab");
}

TEST(Utf8, CapnpTextMustBeUtf8) {
  EXPECT_TRUE(readBack({"gr\xc3\xbc\xc3\x9f", {"\xe2\x82\xac"}}).ok());
  const Status one = readBack({"half \xe2\x82", {}});
  ASSERT_FALSE(one.ok());
  EXPECT_NE(one.error().message.find("words.one"), std::string::npos) << one.error().message;
  const Status many = readBack({"", {"good", "\xff"}});
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("words.many"), std::string::npos) << many.error().message;
}

// Found by fuzzing a ledger: a record of 12 bytes with a right check.
TEST(Utf8, CapnpMessagesAreWholeWords) {
  alignas(8) const char bytes[16] = {};
  for (std::size_t size : {0, 1, 7, 12, 15})
    EXPECT_FALSE(withMessage({bytes, size}, [](capnp::AnyStruct::Reader) { return okStatus(); }).ok()) << size;
}

}  // namespace
}  // namespace witan::utf8_test
