// Any bytes into the small readers of base/: times, days, durations, hex, base64, UTF-8 and ids. Whatever is accepted
// reads back from its canonical text.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/identity.h"
#include "base/json.h"
#include "base/time.h"
#include "base/utf8.h"

namespace witan::fuzz {

inline void fuzzText(std::string_view text) {
  if (const auto time = parseTime(text); time.ok()) {
    WITAN_CHECK(*parseTime(formatTime(*time)) == *time, "a time reads back");
  }
  if (const auto date = parseDate(text); date.ok()) {
    WITAN_CHECK(formatDate(*date) == text, "a day has one text");
  }
  if (const auto duration = parseDurationMicros(text); duration.ok()) {
    WITAN_CHECK(*duration >= 0, "a duration is not negative");
  }
  if (const auto bytes = fromHex(text); bytes.ok()) {
    WITAN_CHECK(toHex(asBytes(*bytes)) == text, "bytes have one hex text");
  }
  if (const auto bytes = fromBase64(text); bytes.ok()) {
    WITAN_CHECK(toBase64(*bytes) == text, "bytes have one base64 text");
  }
  if (validateId("id", text).ok()) {
    WITAN_CHECK(text.find_first_of("|,#") == std::string_view::npos, "an id holds no separator");
  }
  std::string quoted;
  appendJsonString(quoted, text);
  WITAN_CHECK(isUtf8(text) == parseJson(quoted, {.bytes = quoted.size()}).ok(),
              "UTF-8 is what JSON's reader takes for it");
  for (std::size_t limit : {1, 2, 3, 7, 64})
    WITAN_CHECK(!isUtf8(text) || isUtf8(clip(text, limit)), "a clip of UTF-8 is UTF-8");
}

}  // namespace witan::fuzz
