// What the readers of OSV and CVE records share: dates, names that must serve as keys. For this folder only.
#pragma once

#include <algorithm>

#include "domains/disclosure/records/json_place.h"

namespace witan::domains::disclosure {

// Keys of a portfolio have at most 256 bytes, and ids in canonical strings these characters (finding F13).
inline constexpr std::size_t kNameMax = 200;
inline bool isPlainId(std::string_view id) {
  return !id.empty() && id.size() <= kNameMax && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
           std::string_view("._:@/+-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// No registry of vulnerabilities is older.
inline constexpr std::string_view kFirstRecord = "1988-01-01T00:00:00Z";

// A date of a record; nothing where it is missing, or is the year 1, which is how Go writes that there is none.
// Errors: not a date, before there were records, after `asOf`.
inline Result<std::optional<Time>> readDate(const JsonPlace& record, std::string_view name, Time asOf) {
  WITAN_TRY(place, record.member(name));
  if (place.isNull()) return std::optional<Time>();
  WITAN_TRY(text, place.text());
  auto time = parseTime(text);
  if (!time) return place.error("\"" + std::string(clip(text, 40)) + "\" is no date (" + time.error().message + ")");
  if (*time == kFirstTime) return std::optional<Time>();
  if (*time < parseTime(kFirstRecord).value())
    return place.error(formatTime(*time) + " lies before there were records of vulnerabilities");
  if (*time > asOf)
    return place.error(formatTime(*time) + " lies after the import, " + formatTime(asOf),
                       "is the clock right? see --at");
  return std::optional<Time>(*time);
}

template <class Texts>
void addOnce(Texts& texts, std::string text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

}  // namespace witan::domains::disclosure
