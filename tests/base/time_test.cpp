#include "base/time.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <limits>

namespace witan::time_test {
namespace {

std::string refusal(const char* text) {
  const auto time = parseTime(text);
  return time.ok() ? "accepted" : time.error().message;
}

TEST(Time, EpochAndKnownInstants) {
  EXPECT_EQ(parseTime("1970-01-01T00:00:00Z")->micros, 0);
  EXPECT_EQ(parseTime("2026-03-23T08:00:00Z")->micros, 1'774'252'800'000'000);
  EXPECT_EQ(parseTime("1969-12-31T23:59:59.999999Z")->micros, -1);
  EXPECT_EQ(formatTime({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(formatTime({-1}), "1969-12-31T23:59:59.999999Z");
}

// RFC 3339 section 5.8.
TEST(Time, Rfc3339Examples) {
  EXPECT_EQ(formatTime(*parseTime("1985-04-12T23:20:50.52Z")), "1985-04-12T23:20:50.52Z");
  EXPECT_EQ(formatTime(*parseTime("1996-12-19T16:39:57-08:00")), "1996-12-20T00:39:57Z");
  EXPECT_EQ(formatTime(*parseTime("1937-01-01T12:00:27.87+00:20")), "1937-01-01T11:40:27.87Z");
  EXPECT_EQ(refusal("1990-12-31T23:59:60Z"),
            "time \"1990-12-31T23:59:60Z\" at byte 19: a leap second (:60) has no place in POSIX time; use :59");
}

TEST(Time, OffsetIsOptionalAndMeansUtc) {
  EXPECT_EQ(*parseTime("2026-03-26T10:00:00"), *parseTime("2026-03-26T10:00:00Z"));
  EXPECT_EQ(*parseTime("2026-03-26t10:00:00z"), *parseTime("2026-03-26T10:00:00-00:00"));
}

TEST(Time, FractionIsTruncatedToMicroseconds) {
  EXPECT_EQ(parseTime("1970-01-01T00:00:00.1Z")->micros, 100'000);
  EXPECT_EQ(parseTime("1970-01-01T00:00:00.1234567Z")->micros, 123'456);
  EXPECT_EQ(parseTime("1970-01-01T00:00:00.999999999Z")->micros, 999'999);
  EXPECT_NE(refusal("1970-01-01T00:00:00.Z"), "accepted");
  EXPECT_NE(refusal("1970-01-01T00:00:00.1234567890Z"), "accepted");
  EXPECT_EQ(formatTime({1'500'000}), "1970-01-01T00:00:01.5Z");
  EXPECT_EQ(formatTime({10}), "1970-01-01T00:00:00.00001Z");
}

TEST(Time, BadTimesNameTheByteAndTheCause) {
  EXPECT_EQ(refusal("2026-02-29T00:00:00Z"), "time \"2026-02-29T00:00:00Z\" at byte 10: the day 29 is not in 1..28");
  EXPECT_EQ(refusal("2026-03-23 08:00:00Z"),
            "time \"2026-03-23 08:00:00Z\" at byte 10: 'T' and a time of day are missing");
  EXPECT_EQ(refusal("2026-3-23T08:00:00Z"), "time \"2026-3-23T08:00:00Z\" at byte 6: the month needs 2 digits");
  for (const char* bad : {"",
                          "2026-03-23",
                          "2026-03-23T",
                          "2026-03-23T24:00:00Z",
                          "2026-03-23T08:60:00Z",
                          "2026-03-23T08:00Z",
                          "0000-01-01T00:00:00Z",
                          "2026-00-01T00:00:00Z",
                          "2026-13-01T00:00:00Z",
                          "2026-01-00T00:00:00Z",
                          "2026-04-31T00:00:00Z",
                          "2026-03-23T08:00:00ZZ",
                          "2026-03-23T08:00:00+1:00",
                          "2026-03-23T08:00:00+24:00",
                          "2026-03-23T08:00:00+00:60",
                          "2026-03-23T08:00:00+0000",
                          "+2026-03-23T08:00:00Z",
                          "2026-03-23T08:00:61Z",
                          " 2026-03-23T08:00:00Z",
                          "2026-03-23T08:00:00 Z",
                          "20260323T080000Z"}) {
    EXPECT_NE(refusal(bad), "accepted") << bad;
  }
  EXPECT_FALSE(parseTime(std::string_view("2026-03-23T08:00:00\0", 20)).ok());
}

TEST(Time, TheUtcYearStaysInRange) {
  EXPECT_EQ(formatTime(*parseTime("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00Z");
  EXPECT_EQ(formatTime(*parseTime("9999-12-31T23:59:59.999999Z")), "9999-12-31T23:59:59.999999Z");
  EXPECT_NE(refusal("0001-01-01T00:00:00+00:01"), "accepted");
  EXPECT_NE(refusal("9999-12-31T23:59:59-00:01"), "accepted");
  EXPECT_EQ(formatTime(*parseTime("0001-01-01T00:00:00-00:01")), "0001-01-01T00:01:00Z");
}

TEST(Time, EveryValueHasAText) {
  EXPECT_EQ(formatTime({std::numeric_limits<std::int64_t>::max()}), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(formatTime({std::numeric_limits<std::int64_t>::min()}), "-290308-12-21T19:59:05.224192Z");
  EXPECT_EQ(formatDate({std::numeric_limits<std::int32_t>::max()}), "+5881580-07-11");
  EXPECT_EQ(formatDate({std::numeric_limits<std::int32_t>::min()}), "-5877641-06-23");
  EXPECT_EQ(formatDate({-719'162 - 366}), "0000-01-01");
  EXPECT_EQ(formatDate({-719'162 - 367}), "-0001-12-31");
}

TEST(Date, CalendarIsChecked) {
  EXPECT_EQ(parseDate("1970-01-01")->days, 0);
  EXPECT_EQ(parseDate("2025-12-01")->days, 20'423);
  EXPECT_EQ(parseDate("0001-01-01")->days, -719'162);
  EXPECT_TRUE(parseDate("2000-02-29").ok());
  EXPECT_TRUE(parseDate("2024-02-29").ok());
  for (const char* bad : {"1900-02-29", "2023-02-29", "2026-06-31", "2026-06-30T", "2026-06-30T00:00:00Z", "2026/06/30",
                          "26-06-30", "", "2026-06-3", "2026-06-300"}) {
    EXPECT_FALSE(parseDate(bad).ok()) << bad;
  }
}

// Every day of 0001..9999, counted one by one.
TEST(Date, EveryDayReadsBack) {
  constexpr int kFirst = -719'162;
  constexpr int kLast = 2'932'896;
  std::string text;
  for (int days = kFirst; days <= kLast; ++days) {
    text.clear();
    appendDate(text, {days});
    const auto date = parseDate(text);
    ASSERT_TRUE(date.ok()) << text;
    ASSERT_EQ(date->days, days) << text;
  }
  EXPECT_EQ(formatDate({kLast}), "9999-12-31");
}

TEST(Date, OfATimeRoundsDown) {
  EXPECT_EQ(dateOf({0}).days, 0);
  EXPECT_EQ(dateOf({-1}).days, -1);
  EXPECT_EQ(dateOf({kMicrosPerDay - 1}).days, 0);
  EXPECT_EQ(dateOf({-kMicrosPerDay}).days, -1);
  EXPECT_EQ(formatDate(dateOf(*parseTime("2026-03-23T23:59:59.999999Z"))), "2026-03-23");
}

RC_GTEST_PROP(Time, CanonicalTextReadsBack, ()) {
  const auto micros = *rc::gen::inRange<std::int64_t>(-719'162 * kMicrosPerDay, 2'932'897 * kMicrosPerDay);
  RC_ASSERT(*parseTime(formatTime({micros})) == Time{micros});
}

TEST(Duration, Components) {
  EXPECT_EQ(*parseDurationMicros("PT1S"), 1'000'000);
  EXPECT_EQ(*parseDurationMicros("P1DT2H3M4.5S"), kMicrosPerDay + 7'384'500'000);
  EXPECT_EQ(*parseDurationMicros("P30D"), 30 * kMicrosPerDay);
  EXPECT_EQ(*parseDurationMicros("PT36H"), kMicrosPerDay * 3 / 2);
  EXPECT_EQ(*parseDurationMicros("PT0.0000019S"), 1);
  EXPECT_EQ(*parseDurationMicros("PT0S"), 0);
  EXPECT_EQ(*parseDurationMicros("PT007M"), 420'000'000);
}

TEST(Duration, BadOnesAreRefused) {
  for (const char* bad : {"",
                          "P",
                          "PT",
                          "P1",
                          "1D",
                          "P1Y",
                          "P1M",
                          "P1W",
                          "-P1D",
                          "P-1D",
                          "P1DT",
                          "PT1H1D",
                          "PT1M1H",
                          "PT1S1S",
                          "P1D1D",
                          "P1H",
                          "PT1D",
                          "P1.5D",
                          "PT1.5H",
                          "PT1.S",
                          "PT1.0000000000S",
                          "P1DT1H ",
                          "p1d",
                          "PTT1S",
                          "PT1HT1M",
                          "P106751992D",
                          "PT9223372036855S",
                          "PT99999999999999999999S",
                          "PT9223372036854.775808S"}) {
    EXPECT_FALSE(parseDurationMicros(bad).ok()) << bad;
  }
  EXPECT_EQ(*parseDurationMicros("PT9223372036854.775807S"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parseDurationMicros("P1Y").error().message,
            "duration \"P1Y\" at byte 2: expected the units D, then after T: H, M, S, each once and in this order");
}

}  // namespace
}  // namespace witan::time_test
