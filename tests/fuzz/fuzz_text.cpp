// Any bytes into the small readers of base/: times, days, durations, hex, base64 and ids. Whatever is accepted reads
// back from its canonical text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/identity.h"
#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = witan::parseTime(text); time.ok()) {
    WITAN_CHECK(*witan::parseTime(witan::formatTime(*time)) == *time, "a time reads back");
  }
  if (const auto date = witan::parseDate(text); date.ok()) {
    WITAN_CHECK(witan::formatDate(*date) == text, "a day has one text");
  }
  if (const auto duration = witan::parseDurationMicros(text); duration.ok()) {
    WITAN_CHECK(*duration >= 0, "a duration is not negative");
  }
  if (const auto bytes = witan::fromHex(text); bytes.ok()) {
    WITAN_CHECK(witan::toHex(witan::asBytes(*bytes)) == text, "bytes have one hex text");
  }
  if (const auto bytes = witan::fromBase64(text); bytes.ok()) {
    WITAN_CHECK(witan::toBase64(*bytes) == text, "bytes have one base64 text");
  }
  if (witan::validateId("id", text).ok()) {
    WITAN_CHECK(text.find_first_of("|,#") == std::string_view::npos, "an id holds no separator");
  }
  return 0;
}
