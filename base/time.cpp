// Writing points in time and days. Reading them: time_parse.cpp.
#include "base/time.h"

namespace witan {
namespace {

struct Civil {
  std::int64_t year;
  int month;
  int day;
};

std::int64_t floorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years that start in March put the
// leap day last, and 400 of them always have 146097 days.
Civil civilFromDays(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = floorDivide(days, 146'097);
  const std::int64_t dayOfEra = days - era * 146'097;
  const std::int64_t yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
  const std::int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const std::int64_t marchMonth = (5 * dayOfYear + 2) / 153;
  const int day = static_cast<int>(dayOfYear - (153 * marchMonth + 2) / 5 + 1);
  const int month = static_cast<int>(marchMonth < 10 ? marchMonth + 3 : marchMonth - 9);
  return {yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

char* putTwo(char* to, int number) {
  *to++ = static_cast<char>('0' + number / 10);
  *to++ = static_cast<char>('0' + number % 10);
  return to;
}

void appendDays(std::string& out, std::int64_t days) {
  const Civil civil = civilFromDays(days);
  if (civil.year < 0 || civil.year > 9999) {
    const std::string digits = std::to_string(civil.year < 0 ? -civil.year : civil.year);
    out += civil.year < 0 ? '-' : '+';
    if (digits.size() < 4) out.append(4 - digits.size(), '0');
    out += digits;
  } else {
    char year[4];
    putTwo(putTwo(year, static_cast<int>(civil.year / 100)), static_cast<int>(civil.year % 100));
    out.append(year, sizeof year);
  }
  char rest[6] = {'-'};
  char* to = putTwo(rest + 1, civil.month);
  *to++ = '-';
  putTwo(to, civil.day);
  out.append(rest, sizeof rest);
}

void appendFraction(std::string& out, std::int64_t micros) {
  if (micros == 0) return;
  char digits[7] = {'.'};
  std::size_t size = 7;
  for (std::size_t i = 6; i > 0; --i, micros /= 10) digits[i] = static_cast<char>('0' + micros % 10);
  while (digits[size - 1] == '0') --size;
  out.append(digits, size);
}

}  // namespace

void appendDate(std::string& out, Date date) { appendDays(out, date.days); }

void appendTime(std::string& out, Time time) {
  const std::int64_t days = floorDivide(time.micros, kMicrosPerDay);
  // Unsigned: days * kMicrosPerDay can pass the smallest int64 by less than a day; the difference is right again.
  const auto ofDay = static_cast<std::int64_t>(static_cast<std::uint64_t>(time.micros) -
                                               static_cast<std::uint64_t>(days) * kMicrosPerDay);
  const auto seconds = static_cast<int>(ofDay / kMicrosPerSecond);
  appendDays(out, days);
  char clock[9] = {'T'};
  char* to = putTwo(clock + 1, seconds / 3600);
  *to++ = ':';
  to = putTwo(to, seconds / 60 % 60);
  *to++ = ':';
  putTwo(to, seconds % 60);
  out.append(clock, sizeof clock);
  appendFraction(out, ofDay % kMicrosPerSecond);
  out += 'Z';
}

std::string formatTime(Time time) {
  std::string out;
  appendTime(out, time);
  return out;
}

std::string formatDate(Date date) {
  std::string out;
  appendDate(out, date);
  return out;
}

Date dateOf(Time time) { return {static_cast<std::int32_t>(floorDivide(time.micros, kMicrosPerDay))}; }

}  // namespace witan
