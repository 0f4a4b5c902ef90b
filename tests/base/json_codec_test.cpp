// JSON forms of reflected structs: strict reading with the place in every error, canonical writing.
#include "base/json_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace witan::json_codec_test {
namespace {

WITAN_ENUM(Shape, round, square)

struct Pair {
  static constexpr bool asTuple = true;
  std::string left;
  std::int64_t right = 0;
  WITAN_MEMBERS(Pair, left, right)
};

struct Thing {
  static constexpr std::size_t required = 2;
  std::string zebra;
  std::int64_t ant = 0;
  std::optional<Date> day;
  std::vector<Pair> pairs;
  Shape shape = Shape::round;
  bool flag = false;
  std::uint64_t count = 0;
  WITAN_MEMBERS(Thing, zebra, ant, day, pairs, shape, flag, count)
};

Result<Thing> parse(std::string_view text, std::string_view extra = {}) {
  Thing thing;
  WITAN_TRY(value, parseJson(text));
  WITAN_DO(JsonCodec<Thing>::read(value, thing, "thing", extra));
  return thing;
}
std::string errorOf(std::string_view text) {
  auto parsed = parse(text);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(JsonCodec, WritesMembersInKeyOrder) {
  EXPECT_EQ(toJson(Thing{"z", -1, Date{0}, {{"l", 2}}, Shape::square, true, 7}),
            R"({"ant":-1,"count":7,"day":"1970-01-01","flag":true,"pairs":[["l",2]],"shape":"square","zebra":"z"})");
  std::string typed;
  JsonCodec<Pair>::write(typed, {"a\"b", 1});
  EXPECT_EQ(typed, R"(["a\"b",1])");
  typed.clear();
  JsonCodec<Thing>::write(typed, Thing{}, "Thing");
  EXPECT_EQ(typed,
            R"({"ant":0,"count":0,"day":null,"flag":false,"pairs":[],"shape":"round","type":"Thing","zebra":""})");
}

TEST(JsonCodec, RequiredMembersAndDefaults) {
  const Thing thing = parse(R"({"zebra":"z","ant":4})").value();
  EXPECT_EQ(thing.ant, 4);
  EXPECT_FALSE(thing.day.has_value());
  EXPECT_EQ(errorOf(R"({"ant":4})"), "thing: \"zebra\" is missing");
  EXPECT_EQ(errorOf(R"({"zebra":"z"})"), "thing: \"ant\" is missing");
  EXPECT_TRUE(parse(R"({"zebra":"z","ant":4,"type":"x"})", "type").ok());
}

TEST(JsonCodec, ErrorsNameThePlace) {
  EXPECT_EQ(errorOf("[]"), "thing: expected an object, found a list");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4,"emu":1})"), "thing: unknown argument \"emu\"");
  EXPECT_EQ(errorOf(R"({"zebra":1,"ant":4})"), "thing.zebra: expected text, found an integer");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4.5})"), "thing.ant: expected an integer, found a number with a fraction");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":9223372036854775808})"), "thing.ant: larger than 2^63-1");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4,"shape":"oval"})"), "thing.shape: \"oval\" is not one of round, square");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4,"pairs":[["l",1],["m"]]})"),
            "thing.pairs[1]: expected a list of 2 elements, found a list");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4,"count":-1})"), "thing.count: must not be negative");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":4,"flag":0})"), "thing.flag: expected true or false, found an integer");
  EXPECT_NE(errorOf(R"({"zebra":"z","ant":4,"day":"2026-02-30"})").find("thing.day: "), std::string::npos);
  EXPECT_NE(
      errorOf(R"({"zebra":")" + std::string(kTextMax + 1, 'x') + R"(","ant":4})").find("thing.zebra: longer than"),
      std::string::npos);
}

struct Loose {
  Omittable<std::string> word;
  json::value any;
  bool this_ = false;
  WITAN_MEMBERS(Loose, word, any, this_)
};

TEST(JsonCodec, AnOmittableMemberIsLeftOutAndNeverNull) {
  EXPECT_EQ(toJson(Loose{}), R"({"any":null,"this":false})");
  EXPECT_EQ(toJson(Loose{std::string("w"), json::array{1}, true}), R"({"any":[1],"this":true,"word":"w"})");
  Loose loose;
  EXPECT_TRUE(readJson(parseJson(R"({"any":{},"this":true})").value(), loose, "loose").ok());
  EXPECT_FALSE(loose.word.has_value());
  EXPECT_TRUE(loose.this_);
  EXPECT_EQ(readJson(parseJson(R"({"any":1,"this":true,"word":null})").value(), loose, "loose").error().message,
            "loose.word: expected text, found null");
}

// 1e3 and 45000.0 are integers in JSON's eyes, up to 2^53.
TEST(JsonCodec, IntegersInAnyNotation) {
  EXPECT_EQ(parse(R"({"zebra":"z","ant":1e3})")->ant, 1000);
  EXPECT_EQ(parse(R"({"zebra":"z","ant":45000.0})")->ant, 45000);
  EXPECT_EQ(parse(R"({"zebra":"z","ant":-9223372036854775808})")->ant, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse(R"({"zebra":"z","ant":9007199254740992.0})")->ant, 9007199254740992);
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":1e300})"), "thing.ant: larger than 2^63-1");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":18446744073709551616})"), "thing.ant: larger than 2^63-1");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":-1e19})"), "thing.ant: smaller than -2^63");
  EXPECT_EQ(errorOf(R"({"zebra":"z","ant":1e17})"), "thing.ant: beyond 2^53 an integer is written with all its digits");
}

RC_GTEST_PROP(JsonCodec, RoundTripIsCanonical, ()) {
  using namespace rc;
  const auto text = [] { return *gen::container<std::string>(gen::inRange<char>(0, 127)); };
  Thing v{text(),
          *gen::arbitrary<std::int64_t>(),
          {},
          {},
          static_cast<Shape>(*gen::inRange(0, 2)),
          *gen::arbitrary<bool>(),
          *gen::inRange<std::uint64_t>(0, 1ull << 62)};
  if (*gen::arbitrary<bool>()) v.day = Date{*gen::inRange(-20000, 40000)};
  for (int i = *gen::inRange(0, 4); i > 0; --i) v.pairs.push_back({text(), *gen::arbitrary<std::int64_t>()});
  const std::string written = toJson(v);
  const auto value = parseJson(written);
  RC_ASSERT(value.ok());
  RC_ASSERT(canonicalJson(*value) == written);
  RC_ASSERT(toJson(parse(written).value()) == written);
}

}  // namespace
}  // namespace witan::json_codec_test
