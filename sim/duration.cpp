#include "sim/duration.h"

#include <charconv>

#include "base/check.h"
#include "base/quote.h"

namespace witan::sim {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t micros;
};
constexpr Unit kUnits[] = {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
                           {"s", 1'000'000},      {"ms", 1'000},        {"us", 1}};
constexpr std::int64_t kMost = 4'000'000LL * 86'400'000'000;

}  // namespace

Result<std::int64_t> parseDuration(std::string_view text) {
  const Error wrong = invalid(inQuotes(text) + " is no length of time", "as in 10m, 2m30s, 500ms or 30d");
  std::int64_t total = 0;
  std::size_t nextUnit = 0;
  std::string_view rest = text;
  if (rest.empty()) return wrong;
  while (!rest.empty()) {
    std::int64_t count = 0;
    const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (failure != std::errc{} || count < 0) return wrong;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::string_view name = rest.substr(0, rest.find_first_of("0123456789-"));
    rest.remove_prefix(name.size());
    while (nextUnit < std::size(kUnits) && kUnits[nextUnit].name != name) ++nextUnit;
    if (nextUnit == std::size(kUnits)) return wrong;
    const std::int64_t unit = kUnits[nextUnit++].micros;
    if (count > (kMost - total) / unit) return invalid(inQuotes(text) + " is too long", "at most 4000000d");
    total += count * unit;
  }
  return total;
}

std::string formatDuration(std::int64_t micros) {
  WITAN_CHECK(micros >= 0, "lengths are not negative");
  if (micros == 0) return "0s";
  std::string out;
  for (const Unit& unit : kUnits) {
    if (micros >= unit.micros) out += concat(micros / unit.micros, unit.name);
    micros %= unit.micros;
  }
  return out;
}

}  // namespace witan::sim
