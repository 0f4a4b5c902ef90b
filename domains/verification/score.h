// Score: a severity score such as 8.1, exact to a millionth. JSON has it as a number, Cap'n Proto as millionths.
//
// A fixed-point value, because bands have sharp edges (7.0 is HIGH, 6.9 is not) and equal states must have equal
// digests. Values; no errors but those of reading.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/capnp_codec.h"
#include "base/json_schema.h"

namespace witan::domains::verification {

struct Score {
  static constexpr std::int64_t kOne = 1'000'000;
  static constexpr std::int64_t kMost = 1'000'000 * kOne;  // either way; what a double still holds exactly

  Score() = default;
  constexpr explicit Score(std::int64_t inMillionths) : millionths(inMillionths) {}
  static constexpr Score ofTenths(std::int64_t tenths) { return Score(tenths * (kOne / 10)); }
  auto operator<=>(const Score&) const = default;

  // Cap'n Proto's 64 bits. What no JSON could have carried becomes the nearest that could.
  explicit Score(std::uint64_t bits) : millionths(std::clamp(static_cast<std::int64_t>(bits), -kMost, kMost)) {}
  explicit operator std::uint64_t() const { return static_cast<std::uint64_t>(millionths); }

  std::int64_t millionths = 0;
};

}  // namespace witan::domains::verification

namespace witan {

template <>
struct JsonCodec<domains::verification::Score> {
  using Score = domains::verification::Score;
  static Status read(const json::value& v, Score& out, std::string_view where) {
    if (!v.is_number()) return wrongJsonType(where, "a number", v);
    const double number = v.to_number<double>();
    constexpr double most = static_cast<double>(Score::kMost / Score::kOne);
    if (!(std::fabs(number) <= most)) return invalid(std::string(where) + ": must lie within a million of 0");
    const Score score(static_cast<std::int64_t>(std::llround(number * static_cast<double>(Score::kOne))));
    if (asDouble(score) != number) return invalid(std::string(where) + ": has more than six decimals");
    out = score;
    return okStatus();
  }
  static void write(std::string& out, Score v) { appendJsonNumber(out, asDouble(v)); }
  static std::string typeName() { return "number"; }

 private:
  static double asDouble(Score v) { return static_cast<double>(v.millionths) / static_cast<double>(Score::kOne); }
};

template <>
struct JsonSchema<domains::verification::Score> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("number"); }
};

template <>
constexpr int capnpSize<domains::verification::Score>() {
  return 6;
}
template <>
inline std::string capnpTypeName<domains::verification::Score>() {
  return "Int64";
}

}  // namespace witan
