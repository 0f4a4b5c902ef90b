#include "domains/disclosure/names.h"

#include <algorithm>

#include "domains/vocabulary.h"

namespace witan::domains::disclosure {

namespace {

constexpr std::string_view kPrefix = "CVE-";
constexpr std::size_t kYearDigits = 4, kLeastDigits = 4, kMostDigits = 19;

bool isDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

char upper(char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Is it one but for the number of its digits?
bool resemblesCveId(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.size() < kYearDigits + 2 || text[kYearDigits] != '-') return false;
  return isDigits(text.substr(0, kYearDigits)) && isDigits(text.substr(kYearDigits + 1));
}

}  // namespace

bool isCveId(std::string_view text) {
  const std::size_t digits = text.size() - std::min(text.size(), kPrefix.size() + kYearDigits + 1);
  return resemblesCveId(text) && kLeastDigits <= digits && digits <= kMostDigits;
}

std::string canonicalCveId(std::string_view text) {
  std::string id = spacedOnce(text);
  std::string folded = id;
  std::transform(folded.begin(), folded.end(), folded.begin(), upper);
  if (!resemblesCveId(folded)) return id;
  const std::size_t number = kPrefix.size() + kYearDigits + 1;
  if (const std::size_t digits = folded.size() - number; digits < kLeastDigits)
    folded.insert(number, kLeastDigits - digits, '0');
  return folded;
}

std::string canonicalName(std::string_view text) {
  std::string name = spacedOnce(text);
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return name;
}

}  // namespace witan::domains::disclosure
