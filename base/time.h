// Points in time and calendar days, and their RFC 3339 texts. Values; pure functions, any thread. No clock is read
// here: see base/seams.h.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

// UTC, microseconds since 1970-01-01T00:00:00Z, without leap seconds (as POSIX counts).
struct Time {
  std::int64_t micros = 0;
  auto operator<=>(const Time&) const = default;
};

// Both clocks of a device at one moment: the wall's, for stamps and due times that people set, which may jump; and a
// steady one, for waiting. Cores get it as an argument.
struct Now {
  Time wall;
  std::int64_t ms = 0;  // steady; of this start of the process only
  std::int64_t wallMs() const { return wall.micros / 1000; }
};

// Days since 1970-01-01 in the proleptic Gregorian calendar.
struct Date {
  std::int32_t days = 0;
  auto operator<=>(const Date&) const = default;
};

inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;
inline constexpr std::int64_t kMicrosPerHour = 3'600 * kMicrosPerSecond;
inline constexpr std::int64_t kMicrosPerDay = 24 * kMicrosPerHour;

// The years 0001 to 9999: what parseTime accepts. Differences of two such times fit.
inline constexpr Time kFirstTime{-719'162 * kMicrosPerDay};
inline constexpr Time kLastTime{2'932'897 * kMicrosPerDay - 1};
// 2026-01-01: where generated histories begin.
inline constexpr Time kSampleStart{20'454 * kMicrosPerDay};
inline bool isCalendarTime(Time time) { return kFirstTime <= time && time <= kLastTime; }
inline bool isCalendarDate(Date date) { return -719'162 <= date.days && date.days <= 2'932'896; }

// RFC 3339 section 5.6, years 0001 to 9999, with two liberties: a missing offset means UTC, and 1 to 9 fraction digits
// are read and truncated to microseconds. A leap second (:60) is refused. The instant must lie in 0001..9999 in UTC
// too.
Result<Time> parseTime(std::string_view text);

// YYYY-MM-DD, checked against the calendar.
Result<Date> parseDate(std::string_view text);

// Canonical: 2026-03-23T08:00:00Z; a fraction only if it is not zero, without trailing zeros. Every value of 0001..9999
// parses back to itself. Other years, which only arithmetic can reach, print with a sign as in ISO 8601 4.1.2.4.
std::string formatTime(Time time);
std::string formatDate(Date date);

// The same at the end of `out`; allocates only to grow it.
void appendTime(std::string& out, Time time);
void appendDate(std::string& out, Date date);

// The UTC day that contains the instant (rounds down, also before 1970).
Date dateOf(Time time);

// ISO 8601 duration PnDTnHnMnS in microseconds. At least one component, in that order, each at most once; the seconds
// may have 1 to 9 fraction digits, truncated. No sign, years, months or weeks: their length is not fixed or not needed.
Result<std::int64_t> parseDurationMicros(std::string_view text);

}  // namespace witan
