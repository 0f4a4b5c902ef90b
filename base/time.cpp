#include "base/time.h"

#include <array>
#include <chrono>
#include <limits>

#include "base/quote.h"

namespace witan {
namespace {

struct Civil {
  std::int64_t year;
  int month;
  int day;
};

std::int64_t floorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The calendar repeats every 400 years. Within one such era the years of std::chrono suffice, which end at 32767.
Civil civilFromDays(std::int64_t days) {
  constexpr std::int64_t kEraDays = 146'097;
  const std::int64_t era = floorDivide(days, kEraDays);
  const std::chrono::year_month_day civil(std::chrono::sys_days(std::chrono::days(days - era * kEraDays)));
  return {static_cast<int>(civil.year()) + era * 400, static_cast<int>(static_cast<unsigned>(civil.month())),
          static_cast<int>(static_cast<unsigned>(civil.day()))};
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

constexpr std::int64_t kMaxMicros = std::numeric_limits<std::int64_t>::max();

// A place in a text; every refusal names the text, the byte and the cause.
class Cursor {
 public:
  Cursor(const char* what, std::string_view text) : what_(what), text_(text) {}

  bool atEnd() const { return at_ == text_.size(); }
  char peek() const { return atEnd() ? '\0' : text_[at_]; }
  bool digitNext() const { return peek() >= '0' && peek() <= '9'; }
  bool skip(char expected) {
    if (atEnd() || peek() != expected) return false;
    ++at_;
    return true;
  }
  int takeDigit() { return text_[at_++] - '0'; }

  // Exactly `count` digits in [low, high].
  Result<int> number(const char* name, int count, int low, int high) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (!digitNext()) return refuse(concat("the ", name, " needs ", count, " digits"));
      value = value * 10 + takeDigit();
    }
    if (value < low || value > high) return refuse(concat("the ", name, " ", value, " is not in ", low, "..", high));
    return value;
  }

  Status expect(char wanted) {
    if (skip(wanted)) return okStatus();
    return refuse(concat("'", wanted, "' is missing"));
  }
  Status expectEnd() {
    if (atEnd()) return okStatus();
    return refuse("there is text after it");
  }

  // 1 to 9 digits as a fraction of a second, truncated to microseconds.
  Result<std::int64_t> fractionMicros() {
    std::int64_t micros = 0;
    int count = 0;
    for (; digitNext(); ++count) {
      const int digit = takeDigit();
      if (count < 6) micros = micros * 10 + digit;
    }
    if (count < 1 || count > 9) return refuse("the fraction needs 1 to 9 digits");
    for (; count < 6; ++count) micros *= 10;
    return micros;
  }

  Error refuse(const std::string& cause) const {
    return invalid(concat(what_, " ", inQuotes(text_), " at byte ", at_, ": ", cause));
  }

 private:
  const char* what_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Result<std::int32_t> readDate(Cursor& cursor) {
  WITAN_TRY(year, cursor.number("year", 4, 1, 9999));
  WITAN_DO(cursor.expect('-'));
  WITAN_TRY(month, cursor.number("month", 2, 1, 12));
  WITAN_DO(cursor.expect('-'));
  const std::chrono::year_month inMonth = std::chrono::year(year) / month;
  const auto lastDay = static_cast<unsigned>((inMonth / std::chrono::last).day());
  WITAN_TRY(day, cursor.number("day", 2, 1, static_cast<int>(lastDay)));
  return static_cast<std::int32_t>(std::chrono::sys_days(inMonth / day).time_since_epoch().count());
}

Result<std::int64_t> readTimeOfDay(Cursor& cursor) {
  WITAN_TRY(hour, cursor.number("hour", 2, 0, 23));
  WITAN_DO(cursor.expect(':'));
  WITAN_TRY(minute, cursor.number("minute", 2, 0, 59));
  WITAN_DO(cursor.expect(':'));
  WITAN_TRY(second, cursor.number("second", 2, 0, 60));
  if (second == 60) return cursor.refuse("a leap second (:60) has no place in POSIX time; use :59");
  std::int64_t micros = (hour * 3600LL + minute * 60LL + second) * kMicrosPerSecond;
  if (cursor.skip('.')) {
    WITAN_TRY(fraction, cursor.fractionMicros());
    micros += fraction;
  }
  return micros;
}

// What to subtract to get UTC.
Result<std::int64_t> readOffset(Cursor& cursor) {
  if (cursor.atEnd() || cursor.skip('Z') || cursor.skip('z')) return std::int64_t{0};
  const bool west = cursor.peek() == '-';
  if (!west && cursor.peek() != '+') return cursor.refuse("expected 'Z', '+hh:mm', '-hh:mm' or the end");
  cursor.skip(cursor.peek());
  WITAN_TRY(hour, cursor.number("offset hour", 2, 0, 23));
  WITAN_DO(cursor.expect(':'));
  WITAN_TRY(minute, cursor.number("offset minute", 2, 0, 59));
  const std::int64_t micros = (hour * 3600LL + minute * 60LL) * kMicrosPerSecond;
  return west ? -micros : micros;
}

// number * unit added to total, or false when it does not fit.
bool accumulate(std::int64_t& total, std::int64_t number, std::int64_t unit) {
  return !__builtin_mul_overflow(number, unit, &number) && !__builtin_add_overflow(total, number, &total);
}

struct DurationUnit {
  char letter;
  bool inTime;  // after the 'T'
  std::int64_t micros;
};
constexpr std::array<DurationUnit, 4> kUnits = {{{'D', false, kMicrosPerDay},
                                                 {'H', true, 3600 * kMicrosPerSecond},
                                                 {'M', true, 60 * kMicrosPerSecond},
                                                 {'S', true, kMicrosPerSecond}}};

// One "<number><letter>", which must be a unit from `next` on. Returns the index after it.
Result<std::size_t> readDurationPart(Cursor& cursor, bool inTime, std::size_t next, std::int64_t& total) {
  if (!cursor.digitNext()) return cursor.refuse("expected a number");
  std::int64_t number = 0;
  while (cursor.digitNext()) {
    if (number > (kMaxMicros - 9) / 10) return cursor.refuse("the number is too large");
    number = number * 10 + cursor.takeDigit();
  }
  std::int64_t fraction = 0;
  const bool fractional = cursor.skip('.');
  if (fractional) {
    WITAN_SET(fraction, cursor.fractionMicros());
  }
  for (std::size_t i = next; i < kUnits.size(); ++i) {
    const DurationUnit& unit = kUnits[i];
    if (unit.inTime != inTime || cursor.peek() != unit.letter) continue;
    if (fractional && unit.letter != 'S') return cursor.refuse("only seconds may have a fraction");
    if (!accumulate(total, number, unit.micros) || !accumulate(total, fraction, 1))
      return cursor.refuse("the duration is too long");
    cursor.skip(unit.letter);
    return i + 1;
  }
  return cursor.refuse("expected the units D, then after T: H, M, S, each once and in this order");
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

Result<Date> parseDate(std::string_view text) {
  Cursor cursor("date", text);
  WITAN_TRY(days, readDate(cursor));
  WITAN_DO(cursor.expectEnd());
  return Date{days};
}

Result<Time> parseTime(std::string_view text) {
  Cursor cursor("time", text);
  WITAN_TRY(days, readDate(cursor));
  if (!cursor.skip('T') && !cursor.skip('t')) return cursor.refuse("'T' and a time of day are missing");
  WITAN_TRY(ofDay, readTimeOfDay(cursor));
  WITAN_TRY(offset, readOffset(cursor));
  WITAN_DO(cursor.expectEnd());
  const Time time{days * kMicrosPerDay + ofDay - offset};
  if (!isCalendarTime(time)) return cursor.refuse("in UTC the year is outside 0001..9999");
  return time;
}

Result<std::int64_t> parseDurationMicros(std::string_view text) {
  Cursor cursor("duration", text);
  WITAN_DO(cursor.expect('P'));
  std::int64_t total = 0;
  std::size_t next = 0;
  bool inTime = false;
  do {
    if (!inTime && cursor.skip('T')) inTime = true;
    WITAN_SET(next, readDurationPart(cursor, inTime, next, total));
  } while (!cursor.atEnd());
  return total;
}

}  // namespace witan
