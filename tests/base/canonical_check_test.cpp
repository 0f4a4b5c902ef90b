#include "base/json.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace witan::canonical_check_test {
namespace {

bool canonical(std::string_view text, JsonLimits limits = {}) {
  const auto value = parseJson(text, limits);
  return value.ok() && canonicalJson(*value) == text;
}

// What records hold nearly always: it has to be found out, not only not to be wrong.
TEST(CanonicalCheck, IsSureOfPlainTexts) {
  for (const char* text : {"null", "true", "false", "0", "-1", "123456789012345", R"("")", R"("plain")", "\"\xc3\xa9\"",
                           "[]", "{}", R"([1,[2,{}],"x"])", R"({"":1,"a":{"b":[null]},"aa":"y","b":-7})",
                           "{\"\xf0\x9f\x98\x80\":1,\"\xee\x80\x80\":2}"})
    EXPECT_TRUE(surelyCanonicalJson(text)) << text;
}

TEST(CanonicalCheck, IsNotSureOfWhatIsNot) {
  for (const char* text : {"",
                           " 1",
                           "1 ",
                           "1,2",
                           "[1,]",
                           "[,1]",
                           "{\"a\":1,}",
                           "{\"b\":1,\"a\":2}",
                           "{\"a\":1,\"a\":1}",
                           "{a:1}",
                           "{\"a\"}",
                           "01",
                           "-0",
                           "-",
                           "00",
                           "1.0",
                           "1e2",
                           "1E2",
                           "1.",
                           "tru",
                           "nullx",
                           "\"",
                           "\"\\u0041\"",
                           "\"\\n\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "[",
                           "{",
                           "]",
                           "[1}",
                           "{\"\xee\x80\x80\":2,\"\xf0\x9f\x98\x80\":1}",
                           "12345678901234567890"})
    EXPECT_FALSE(surelyCanonicalJson(text)) << text;
}

TEST(CanonicalCheck, KeepsTheLimits) {
  EXPECT_TRUE(surelyCanonicalJson("[[1]]", {.depth = 2}));
  EXPECT_FALSE(surelyCanonicalJson("[[1]]", {.depth = 1}));
  EXPECT_FALSE(surelyCanonicalJson("12345", {.bytes = 4}));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(surelyCanonicalJson(deep));
}

// Texts near canonical ones: pieces of JSON in any order, and canonical texts with one byte changed.
TEST(CanonicalCheck, IsNeverWrong) {
  const std::vector<std::string> pieces{"{",         "}",      "[",
                                        "]",         ",",      ":",
                                        "\"a\"",     "\"\"",   "\"b\"",
                                        "0",         "-0",     "7",
                                        "01",        "-5",     "1e3",
                                        "1.5",       "true",   "null",
                                        "\"\\u00\"", " ",      "\"\xc3\xa9\"",
                                        "\x01",      "\"a\":", "\"b\":",
                                        "\"A\":",    "\xff",   "[{\"a\":[1,2]}]"};
  rc::check([&] {
    std::string text;
    for (const std::string& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)))
      text += piece;
    if (surelyCanonicalJson(text)) RC_ASSERT(canonical(text));
  });
  rc::check([] {
    std::string text = R"({"a":[1,-20,"x",{"k":null,"l":"\u00e9"}],"b":{"":false,"c":"yz"},"d":123456})";
    const auto changes = *rc::gen::inRange(0, 3);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const char byte = *rc::gen::element<char>('"', ',', ':', '0', '9', '-', '.', 'e', '{', '}', '[', ']', 'a', 'z',
                                                '\\', '\x7f', '\x1f', ' ', '\xc3');
      *rc::gen::arbitrary<bool>() ? text.insert(at, 1, byte) : text.replace(at, 1, 1, byte);
    }
    if (surelyCanonicalJson(text)) RC_ASSERT(canonical(text));
  });
}

}  // namespace
}  // namespace witan::canonical_check_test
