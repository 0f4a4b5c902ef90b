#include "rules/program/names.h"

#include <algorithm>

namespace witan::rules {

namespace {

// The character at `at`, which moves behind it.
char32_t nextCharacter(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t c = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t k = 1; k < length && at + k < text.size(); ++k)
    c = c << 6 | (static_cast<unsigned char>(text[at + k]) & 0x3Fu);
  at += length;
  return c;
}

constexpr std::string_view kPrefix = "CVE-";
constexpr std::size_t kYearDigits = 4, kLeastDigits = 4, kMostDigits = 19;

bool isDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

std::string upper(std::string text) {
  for (char& c : text) c = 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}
std::string lower(std::string text) {
  for (char& c : text) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool isAlphanumeric(char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z'); }

// Parts between dots, none of which is empty or long, each of the characters that `fits` knows.
template <class Fits>
bool isDotted(std::string_view text, std::size_t least, std::size_t most, Fits fits) {
  for (std::size_t parts = 1;; ++parts) {
    const std::size_t end = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.empty() || part.size() > most || !fits(part)) return false;
    if (end == text.size()) return parts >= least;
    text.remove_prefix(end + 1);
  }
}

bool isAtom(std::string_view part) {
  return std::ranges::all_of(part, [](char c) {
    return isAlphanumeric(c) || std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
  });
}

bool isLabel(std::string_view part) {
  return part.front() != '-' && part.back() != '-' &&
         std::ranges::all_of(part, [](char c) { return isAlphanumeric(c) || c == '-'; });
}

// A URL may have "@" in its path.
bool isAddressLike(std::string_view text) {
  return text.find('@', 1) != std::string_view::npos && !text.starts_with("https://") && !text.starts_with("http://");
}

// Is it one but for the number of its digits?
bool resemblesCveId(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.size() < kYearDigits + 2 || text[kYearDigits] != '-') return false;
  return isDigits(text.substr(0, kYearDigits)) && isDigits(text.substr(kYearDigits + 1));
}

}  // namespace

std::int64_t trimmedLength(std::string_view text) {
  std::int64_t first = -1, last = -1, position = 0;
  for (std::size_t at = 0; at < text.size(); ++position) {
    if (isBlank(nextCharacter(text, at))) continue;
    if (first < 0) first = position;
    last = position;
  }
  return first < 0 ? 0 : last - first + 1;
}

std::string spacedOnce(std::string_view text) {
  std::string out;
  bool due = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (isBlank(nextCharacter(text, at))) {
      due = !out.empty();
      continue;
    }
    if (due) out += ' ';
    due = false;
    out += text.substr(from, at - from);
  }
  return out;
}

bool isCanonicalName(std::string_view name, std::size_t most) {
  if (name.empty() || name.size() > most) return false;
  bool afterBlank = true;  // at the beginning, too
  for (std::size_t at = 0; at < name.size();) {
    const char32_t c = nextCharacter(name, at);
    if (c < 0x20 || c == 0x7F) return false;
    const bool blank = isBlank(c);
    if (blank && (c != ' ' || afterBlank)) return false;
    afterBlank = blank;
  }
  return !afterBlank;
}

bool isCveId(std::string_view text) {
  const std::size_t digits = text.size() - std::min(text.size(), kPrefix.size() + kYearDigits + 1);
  return resemblesCveId(text) && kLeastDigits <= digits && digits <= kMostDigits;
}

std::string canonicalCveId(std::string_view text) {
  std::string id = spacedOnce(text);
  std::string folded = upper(id);
  if (!resemblesCveId(folded)) return id;
  const std::size_t number = kPrefix.size() + kYearDigits + 1;
  if (const std::size_t digits = folded.size() - number; digits < kLeastDigits)
    folded.insert(number, kLeastDigits - digits, '0');
  return folded;
}

std::optional<std::string> canonicalProcedureCode(std::string_view text) {
  std::string code = upper(spacedOnce(text));
  if (code.size() != 5) return std::nullopt;
  const char first = code.front(), last = code.back();
  const bool one = isDigits(std::string_view(code).substr(0, 4)) &&
                   (('0' <= last && last <= '9') || std::string_view("AFMTU").find(last) != std::string_view::npos);
  const bool two = 'A' <= first && first <= 'V' && isDigits(std::string_view(code).substr(1));
  return one || two ? std::optional(std::move(code)) : std::nullopt;
}

std::optional<std::string> canonicalEmail(std::string_view text) {
  constexpr std::size_t kLocalMost = 64, kLabelMost = 63, kMost = 254;
  const std::string address = lower(spacedOnce(text));
  const std::size_t at = address.rfind('@');
  if (at == std::string::npos || address.size() > kMost) return std::nullopt;
  std::string_view local = std::string_view(address).substr(0, at), domain = std::string_view(address).substr(at + 1);
  if (domain.ends_with('.')) domain.remove_suffix(1);
  if (const std::size_t plus = local.find('+'); plus != 0) local = local.substr(0, plus);
  if (local.size() > kLocalMost || !isDotted(local, 1, kLocalMost, isAtom) || !isDotted(domain, 2, kLabelMost, isLabel))
    return std::nullopt;
  return std::string(local) + "@" + std::string(domain);
}

std::string canonicalName(std::string_view text) {
  std::string name = lower(spacedOnce(text));
  if (!isAddressLike(name)) return name;
  return canonicalEmail(name).value_or(std::move(name));
}

bool isPartyName(std::string_view text) {
  return isCanonicalName(text) && canonicalName(text) == text && (!isAddressLike(text) || canonicalEmail(text));
}

}  // namespace witan::rules
