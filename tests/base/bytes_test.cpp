#include "base/bytes.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "base/quote.h"

namespace witan::bytes_test {
namespace {

TEST(Bytes, HexIsLowerCaseAndStrict) {
  EXPECT_EQ(toHex(asBytes(std::string_view("\x00\x7f\xff", 3))), "007fff");
  EXPECT_EQ(*fromHex("007fff"), std::string("\x00\x7f\xff", 3));
  EXPECT_EQ(*fromHex(""), "");
  EXPECT_EQ(fromHex("abc").error().message, "hex has an odd number of digits (3)");
  EXPECT_EQ(fromHex("00FF").error().message, R"(lower-case hex has "F" at byte 2)");
  EXPECT_EQ(fromHex("0g").error().message, R"(lower-case hex has "g" at byte 1)");
  EXPECT_FALSE(hashFromHex("00").ok());
}

// RFC 4648 section 10.
TEST(Bytes, Base64Vectors) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xfb\xff", "+/8="}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(toBase64(bytes), text);
    EXPECT_EQ(*fromBase64(text), bytes);
  }
}

TEST(Bytes, Base64IsStrict) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg==\n",
                          "Zh==", "Zm9=", "====", "=g==", "Zg==Zg==", "Z=g=", "-_8=", "Zm 9", "A===", "Zm9v===="}) {
    EXPECT_FALSE(fromBase64(bad).ok()) << bad;
  }
}

RC_GTEST_PROP(Bytes, EncodingsReadBack, (const std::string& bytes)) {
  RC_ASSERT(*fromBase64(toBase64(bytes)) == bytes);
  RC_ASSERT(*fromHex(toHex(asBytes(bytes))) == bytes);
}

// Strictness: whatever decodes is the one encoding of its bytes.
RC_GTEST_PROP(Bytes, Base64HasOneTextPerByteString, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('A', 'B', 'Q', 'g', 'w', '/', '='));
  const auto bytes = fromBase64(text);
  if (bytes.ok()) RC_ASSERT(toBase64(*bytes) == text);
}

TEST(Bytes, QuotedIsPrintableAndBounded) {
  EXPECT_EQ(inQuotes("plain text"), R"("plain text")");
  EXPECT_EQ(inQuotes("\x1b[31m\"\\\n"), R"("\x1b[31m\x22\x5c\x0a")");
  EXPECT_EQ(inQuotes("abcdef", 3), R"("abc"...)");
}

}  // namespace
}  // namespace witan::bytes_test
