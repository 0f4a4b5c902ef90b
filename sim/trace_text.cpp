#include "sim/trace_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/quote.h"
#include "base/utf8.h"

namespace witan::sim {

namespace {

constexpr std::string_view kCategories[] = {"work", "net",    "disk",  "clock", "ledger",
                                            "sync", "agents", "fault", "check"};
constexpr std::size_t kMostNames = 6;

void appendPlain(std::string& out, std::string_view text) {
  const bool clean = isUtf8(text);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < ' ' || byte == 127 || (byte > 127 && !clean) ? '?' : c;
  }
}

void padTo(std::string& out, std::size_t column) { out.resize(std::max(out.size() + 1, column), ' '); }

bool isDevice(std::string_view word) {
  return word.starts_with("device-") && word.size() > 7 &&
         word.find_first_not_of("0123456789", 7) == std::string_view::npos;
}

}  // namespace

std::string traceTime(Micros at) {
  const long long seconds = at / 1'000'000;
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld.%06lld", seconds / 3600, seconds / 60 % 60, seconds % 60,
                static_cast<long long>(at % 1'000'000));
  return text;
}

std::string traceTrack(std::uint32_t device) { return device == kNobody ? "cluster" : concat("device-", device); }

std::string traceText(const TraceLine& line) {
  std::string out = traceTime(line.at);
  padTo(out, 16);
  out += traceTrack(line.device);
  padTo(out, 27);
  out += line.category;
  padTo(out, 34);
  appendPlain(out, line.what);
  if (!line.detail.empty()) {
    padTo(out, 52);
    appendPlain(out, line.detail);
  }
  if (line.lasts > 0) out += " (for " + traceTime(line.lasts) + ")";
  return out;
}

bool TraceFilter::lets(const TraceLine& line) const {
  if (line.at < from || line.at > to) return false;
  if (!frames && line.flow != 0) return false;
  if (!devices.empty() && !devices.contains(line.device)) return false;
  return categories.empty() || categories.contains(std::string(line.category));
}

Status readOnly(std::string_view words, TraceFilter& filter) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    std::uint32_t device = 0;
    if (word == "cluster") {
      filter.devices.insert(kNobody);
    } else if (std::find(std::begin(kCategories), std::end(kCategories), word) != std::end(kCategories)) {
      filter.categories.insert(std::string(word));
    } else if (isDevice(word) &&
               std::from_chars(word.data() + 7, word.data() + word.size(), device).ec == std::errc{}) {
      filter.devices.insert(device);
    } else {
      std::string known = "known: device-0, device-1, ..., cluster";
      for (std::string_view category : kCategories) known += concat(", ", category);
      return invalid("--only: " + inQuotes(word) + " is no device and no category", known);
    }
  }
  return okStatus();
}

std::vector<std::string> namesIn(std::string_view reason) {
  std::vector<std::string> names;
  const auto inName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '/' || c == ':' || c == '@' || c == '_';
  };
  for (std::size_t at = 0; at < reason.size() && names.size() < kMostNames;) {
    std::size_t end = at;
    while (end < reason.size() && inName(reason[end])) ++end;
    std::string name(reason.substr(at, end - at));
    at = std::max(end, at + 1);
    while (!name.empty() && (name.back() == ':' || name.back() == '-' || name.back() == '/')) name.pop_back();
    const bool hasDigit = name.find_first_of("0123456789") != std::string::npos;
    const bool isName = name.find_first_of("-/@_") != std::string::npos;
    if (name.size() < 4 || !hasDigit || !isName || isDevice(name)) continue;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace witan::sim
