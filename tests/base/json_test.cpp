#include "base/json.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace witan::json_test {
namespace {

std::string canonical(std::string_view text) {
  const auto value = parseJson(text);
  return value.ok() ? canonicalJson(*value) : value.error().message;
}

std::string refusal(std::string_view text, JsonLimits limits = {}) {
  const auto value = parseJson(text, limits);
  return value.ok() ? "accepted" : value.error().message;
}

std::string number(double value) {
  std::string out;
  appendJsonNumber(out, value);
  return out;
}

// RFC 8785 section 3.2.2 (the input) and 3.2.3 (the output).
TEST(CanonicalJson, Rfc8785Section322) {
  EXPECT_EQ(canonical(R"({
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      })"),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

// RFC 8785 section 3.2.3: the order of keys that a sort by bytes gets wrong (U+1F600 before U+FB33).
TEST(CanonicalJson, Rfc8785Section323) {
  const std::string out = canonical(R"({
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
      })");
  std::size_t at = 0;
  for (const char* value : {"Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
                            "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh"}) {
    const std::size_t found = out.find(value);
    ASSERT_NE(found, std::string::npos) << value;
    EXPECT_GE(found, at) << value;
    at = found;
  }
}

// RFC 8785 appendix B.
TEST(CanonicalJson, Rfc8785AppendixB) {
  const std::pair<std::uint64_t, const char*> samples[] = {{0x0000000000000000, "0"},
                                                           {0x8000000000000000, "0"},
                                                           {0x0000000000000001, "5e-324"},
                                                           {0x8000000000000001, "-5e-324"},
                                                           {0x7fefffffffffffff, "1.7976931348623157e+308"},
                                                           {0xffefffffffffffff, "-1.7976931348623157e+308"},
                                                           {0x4340000000000000, "9007199254740992"},
                                                           {0xc340000000000000, "-9007199254740992"},
                                                           {0x4430000000000000, "295147905179352830000"},
                                                           {0x44b52d02c7e14af5, "9.999999999999997e+22"},
                                                           {0x44b52d02c7e14af6, "1e+23"},
                                                           {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
                                                           {0x444b1ae4d6e2ef4e, "999999999999999700000"},
                                                           {0x444b1ae4d6e2ef4f, "999999999999999900000"},
                                                           {0x444b1ae4d6e2ef50, "1e+21"},
                                                           {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
                                                           {0x3eb0c6f7a0b5ed8d, "0.000001"},
                                                           {0x41b3de4355555553, "333333333.3333332"},
                                                           {0x41b3de4355555554, "333333333.33333325"},
                                                           {0x41b3de4355555555, "333333333.3333333"},
                                                           {0x41b3de4355555556, "333333333.3333334"},
                                                           {0x41b3de4355555557, "333333333.33333343"},
                                                           {0xbecbf647612f3696, "-0.0000033333333333333333"},
                                                           {0x43143ff3c1cb0959, "1424953923781206.2"}};
  for (const auto& [bits, text] : samples) EXPECT_EQ(number(std::bit_cast<double>(bits)), text);
}

TEST(CanonicalJson, NotANumberIsABug) {
  EXPECT_DEATH(number(std::numeric_limits<double>::quiet_NaN()), "JSON numbers are finite");
  EXPECT_DEATH(number(std::numeric_limits<double>::infinity()), "JSON numbers are finite");
}

RC_GTEST_PROP(CanonicalJson, NumbersReadBackExactly, (std::uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  const std::string text = number(value);
  const auto read = parseJson(text);
  RC_ASSERT(read.ok());
  RC_ASSERT(read->to_number<double>() == value);
  RC_ASSERT(canonicalJson(*read) == text);
}

// The deliberate departure from JCS: integers are never rounded.
TEST(CanonicalJson, IntegersAreExact) {
  EXPECT_EQ(canonical("9007199254740993"), "9007199254740993");
  EXPECT_EQ(canonical("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(canonical("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(canonical("18446744073709551616"), "18446744073709552000");  // no longer an int64 or uint64: a double
  EXPECT_EQ(canonical("[-0,-0.0,1.0,1e2,10e-1]"), "[0,0,1,100,1]");
}

// RFC 8785 pads the shortest digits of a large double with zeros, and the text reads back as another integer.
TEST(CanonicalJson, KeptIntegersAreExact) {
  EXPECT_EQ(canonical("8.611594247095819e16"), "86115942470958190");
  const auto kept = [](std::string_view text) {
    json::value value = parseJson(text).value();
    makeIntegersExact(value);
    return canonicalJson(value);
  };
  EXPECT_EQ(kept("8.611594247095819e16"), "86115942470958192");
  EXPECT_EQ(kept(R"({"a":[-8.611594247095819e16,0.5,-0.0,9007199254740992.0]})"),
            R"({"a":[-86115942470958192,0.5,0,9007199254740992]})");
  EXPECT_EQ(kept("[-9.223372036854775808e18,9.223372036854775808e18,1.8446744073709549568e19]"),
            "[-9223372036854775808,9223372036854775808,18446744073709549568]");
  // No 64-bit integer: as RFC 8785 has them.
  EXPECT_EQ(kept("[18446744073709551616,-9.3e18,-1e19,1e21]"),
            "[18446744073709552000,-9300000000000000000,-10000000000000000000,1e+21]");
}

RC_GTEST_PROP(CanonicalJson, KeptNumbersReadBackAsTheSameValue, (std::uint64_t bits)) {
  const double value = std::bit_cast<double>((bits & ~(0x7ffull << 52)) | ((1023 + 40 + bits % 24) << 52));
  json::value kept = value;
  makeIntegersExact(kept);
  const std::string text = canonicalJson(kept);
  const json::value read = parseJson(text).value();
  RC_ASSERT(read.to_number<double>() == value);
  if (read.is_int64()) RC_ASSERT(static_cast<long double>(read.get_int64()) == static_cast<long double>(value));
  if (read.is_uint64()) RC_ASSERT(static_cast<long double>(read.get_uint64()) == static_cast<long double>(value));
}

TEST(CanonicalJson, StringsEscapeOnlyWhatTheyMust) {
  std::string out;
  appendJsonString(out, std::string_view("\0\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xc3\xa9", 16));
  EXPECT_EQ(out, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xc3\xa9\"");
  out.clear();
  appendJsonString(out, "");
  EXPECT_EQ(out, "\"\"");
}

TEST(CanonicalJson, EmptyContainersAndNesting) {
  EXPECT_EQ(canonical(R"( { "b" : [ ] , "a" : { } , "" : [ { "z" : 1 , "y" : [ [ ] ] } ] } )"),
            R"({"":[{"y":[[]],"z":1}],"a":{},"b":[]})");
}

TEST(ParseJson, DuplicateKeysAreRefused) {
  EXPECT_EQ(refusal(R"({"a":1,"a":2})"), R"(JSON at byte 9: the key "a" occurs twice in one object)");
  EXPECT_NE(refusal(R"({"a":1,"\u0061":2})"), "accepted");
  EXPECT_NE(refusal(R"([{"x":{"b":{},"c":1,"b":2}}])"), "accepted");
  EXPECT_EQ(refusal(R"({"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}})"), "accepted");
  // "caf\u00e9" composed and decomposed are different keys.
  EXPECT_EQ(refusal("{\"caf\xc3\xa9\":1,\"cafe\xcc\x81\":2}"), "accepted");
}

TEST(ParseJson, DuplicateKeysAreFoundInLargeObjects) {
  for (const int duplicate : {0, 15, 16, 17, 4999}) {
    std::string text = "{";
    for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\":{\"key0\":0},";
    EXPECT_EQ(refusal(text + "\"last\":0}"), "accepted");
    EXPECT_NE(refusal(text + "\"key" + std::to_string(duplicate) + "\":0}"), "accepted") << duplicate;
  }
}

TEST(ParseJson, LongKeysWithEscapesAreCompared) {
  const std::string key = std::string(5000, 'k') + "\\n" + std::string(5000, 'k');
  EXPECT_EQ(refusal("{\"" + key + "\":1,\"" + key + "x\":2}"), "accepted");
  EXPECT_NE(refusal("{\"" + key + "\":1,\"" + key + "\":2}"), "accepted");
}

TEST(ParseJson, InvalidUtf8IsRefused) {
  EXPECT_EQ(refusal("\"\xff\""), R"(JSON at byte 1: invalid UTF-8 or unexpected "\xff")");
  for (const char* bad : {"\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "\"\x80\"",
                          R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")", "{\"\xff\":1}"}) {
    EXPECT_NE(refusal(bad), "accepted") << bad;
  }
  EXPECT_EQ(refusal("\"\xf0\x9f\x98\x80\xe2\x82\xac\""), "accepted");
}

TEST(ParseJson, ErrorsNameTheByteAndTheCause) {
  EXPECT_EQ(refusal(""), "JSON at byte 0: the text ends too early");
  EXPECT_EQ(refusal("{\"a\":"), "JSON at byte 5: the text ends too early");
  EXPECT_EQ(refusal("{} {}"), "JSON at byte 3: there is text after the value");
  EXPECT_EQ(refusal("[1,]"), R"(JSON at byte 3: unexpected "]")");
  EXPECT_EQ(refusal("{'a':1}"), R"(JSON at byte 1: unexpected "'")");
}

TEST(ParseJson, OnlyStrictJson) {
  for (const char* bad : {"// c\n1",  "/* c */1",
                          "[1,]",     "{\"a\":1,}",
                          "{a:1}",    "NaN",
                          "Infinity", "-",
                          "01",       "1.",
                          ".5",       "+1",
                          "0x1",      "1e",
                          "\"\t\"",   "\"\\x41\"",
                          "tru",      "nul",
                          "[",        "]",
                          "{\"a\"}",  "\xef\xbb\xbf{}",
                          "1 2",      "\"a"}) {
    EXPECT_NE(refusal(bad), "accepted") << bad;
  }
  EXPECT_NE(refusal(std::string_view("1\0", 2)), "accepted");
  EXPECT_EQ(refusal(" \t\r\n1 \t\r\n"), "accepted");
}

TEST(ParseJson, NumbersAreTheNearestDouble) {
  EXPECT_EQ(parseJson("0.1")->get_double(), 0.1);
  // Boost 1.81 by itself is a few units in the last place off here.
  EXPECT_EQ(parseJson("9.999999999999997e-7")->get_double(), 9.999999999999997e-7);
  EXPECT_EQ(parseJson("1.7976931348623157e308")->get_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(parseJson("5e-324")->get_double(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parseJson("123456789012345678901234567890")->get_double(), 123456789012345678901234567890.0);
  EXPECT_EQ(canonical("0e-999"), "0");
  EXPECT_EQ(parseJson("0." + std::string(5000, '0') + "1e5000")->get_double(), 0.1);
}

TEST(ParseJson, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(refusal("[1e400]"), "JSON at byte 6: the number is out of the range of a double");
  EXPECT_NE(refusal("-1e309"), "accepted");
  EXPECT_NE(refusal("1e-400"), "accepted");
  EXPECT_NE(refusal("1e99999999999999999999"), "accepted");
}

TEST(ParseJson, LimitsHold) {
  EXPECT_EQ(refusal("[[[]]]", {.depth = 3}), "accepted");
  EXPECT_EQ(refusal("[[[[]]]]", {.depth = 3}), "JSON at byte 3: nested deeper than 3");
  EXPECT_EQ(refusal("[{\"a\":[{}]}]", {.depth = 3}), "JSON at byte 7: nested deeper than 3");
  EXPECT_EQ(refusal("1", {.depth = 0}), "accepted");
  EXPECT_EQ(refusal("[]", {.depth = 0}), "JSON at byte 0: nested deeper than 0");
  EXPECT_EQ(refusal("12345", {.bytes = 5}), "accepted");
  EXPECT_EQ(refusal("123456", {.bytes = 5}), "JSON of 6 bytes is larger than the limit of 5");
  EXPECT_NE(refusal(std::string(1 << 20, '[')), "accepted");
}

rc::Gen<json::value> anyJson(int depth) {
  const auto scalar =
      rc::gen::oneOf(rc::gen::map<std::int64_t>([](std::int64_t i) { return json::value(i); }),
                     rc::gen::map<std::uint64_t>([](std::uint64_t i) { return json::value(i); }),
                     rc::gen::map<double>([](double d) { return json::value(d); }),
                     rc::gen::map<bool>([](bool b) { return json::value(b); }), rc::gen::just(json::value(nullptr)),
                     rc::gen::map(rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127)),
                                  [](const std::string& s) { return json::value(s); }));
  if (depth == 0) return scalar;
  const auto inner = anyJson(depth - 1);
  return rc::gen::oneOf(
      scalar,
      rc::gen::map(rc::gen::container<std::vector<json::value>>(inner),
                   [](const std::vector<json::value>& v) { return json::value(json::array(v.begin(), v.end())); }),
      rc::gen::map(
          rc::gen::container<std::map<std::string, json::value>>(
              rc::gen::element<std::string>("a", "b", "\xee\x80\x80", "\xf0\x9f\x98\x80", "\xc3\xa9", ""), inner),
          [](const std::map<std::string, json::value>& m) {
            json::object object;
            for (auto it = m.rbegin(); it != m.rend(); ++it) object[it->first] = it->second;
            return json::value(object);
          }));
}

// canonical(parse(canonical(x))) == canonical(x), and the reading is the value that was written.
TEST(CanonicalJson, IsAFixedPoint) {
  rc::check([] {
    const json::value value = *anyJson(3);
    const std::string text = canonicalJson(value);
    const auto read = parseJson(text);
    RC_ASSERT(read.ok());
    RC_ASSERT(canonicalJson(*read) == text);
  });
}

}  // namespace
}  // namespace witan::json_test
