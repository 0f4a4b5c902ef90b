#include "node/tools/secret_strike.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/bytes.h"

namespace witan::node {

namespace {

constexpr std::size_t kCutOff = 6;  // the fewest bytes at the end of a text that count as the start of a form

// Of the characters that a text gives wherever it stands, those that no neighbour has a part in.
std::string base64Inside(std::string_view text, std::size_t before) {
  std::string whole(before, '\0');
  whole += text;
  const std::size_t from = (before * 8 + 5) / 6, to = whole.size() * 8 / 6;
  std::string form = toBase64(whole);
  wipe(whole);
  return form.substr(from, to - from);
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::optional<unsigned> hexNumber(std::string_view text, std::size_t at, std::size_t digits) {
  unsigned value = 0;
  const char* const from = text.data() + at;
  if (at + digits > text.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(from, from + digits, value, 16);
  return error == std::errc() && end == from + digits ? std::optional(value) : std::nullopt;
}

std::string utf8Of(unsigned unit) {
  if (unit < 0x80) return {static_cast<char>(unit)};
  if (unit < 0x800) return {static_cast<char>(0xC0 | unit >> 6), static_cast<char>(0x80 | (unit & 63))};
  return {static_cast<char>(0xE0 | unit >> 12), static_cast<char>(0x80 | (unit >> 6 & 63)),
          static_cast<char>(0x80 | (unit & 63))};
}

struct Spelled {
  std::size_t text = 0, secret = 0;  // bytes
};

// How a text may go on with the next bytes of a secret: as they are, or as JSON, C or a URL escapes them.
std::vector<Spelled> nextSpelled(std::string_view text, std::size_t at, std::string_view rest) {
  std::vector<Spelled> ways;
  const auto add = [&](std::size_t taken, std::string_view says) {
    if (rest.starts_with(says)) ways.push_back({taken, says.size()});
  };
  const char c = text[at];
  add(1, text.substr(at, 1));
  if (c == '+') add(1, " ");
  if (const auto byte = c == '%' ? hexNumber(text, at + 1, 2) : std::nullopt)
    add(3, std::string(1, static_cast<char>(*byte)));
  if (c != '\\' || at + 1 == text.size()) return ways;
  constexpr std::string_view kLetters = "bfnrt", kMeant = "\b\f\n\r\t";
  const char kind = text[at + 1];
  const std::size_t letter = kLetters.find(kind);
  add(2, letter == kLetters.npos ? text.substr(at + 1, 1) : kMeant.substr(letter, 1));
  if (const auto byte = kind == 'x' ? hexNumber(text, at + 2, 2) : std::nullopt)
    add(4, std::string(1, static_cast<char>(*byte)));
  if (const auto unit = kind == 'u' ? hexNumber(text, at + 2, 4) : std::nullopt) add(6, utf8Of(*unit));
  return ways;
}

// The end of a secret that starts at `at`, or of the text if that is cut off within it; npos: none does.
std::size_t endOfSpelled(std::string_view text, std::size_t at, std::string_view secret) {
  if (nextSpelled(text, at, secret).empty()) return text.npos;
  std::vector<std::set<std::size_t>> reached(secret.size() + 1);  // by bytes of the secret, where in the text
  reached[0].insert(at);
  bool cutOff = false;
  for (std::size_t i = 0; i < secret.size(); ++i)
    for (const std::size_t from : reached[i]) {
      // What is left may be the first half of an escape.
      const bool escape = from < text.size() && (text[from] == '\\' || text[from] == '%') && text.size() - from < 6;
      if (from == text.size() || escape) cutOff = cutOff || from - at >= kCutOff;
      if (from == text.size()) continue;
      for (const Spelled& way : nextSpelled(text, from, secret.substr(i)))
        reached[i + way.secret].insert(from + way.text);
    }
  if (!reached.back().empty()) return *reached.back().rbegin();
  return cutOff ? text.size() : text.npos;
}

// Likewise in hexadecimal, of either case, with blanks, colons, commas, 0x or \x between the bytes.
std::size_t endOfHex(std::string_view text, std::size_t at, std::string_view secret) {
  constexpr std::string_view kBetween = " :,-\n";
  std::size_t end = at;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    for (std::size_t most = 2; i > 0 && most > 0 && end < text.size() && kBetween.find(text[end]) != kBetween.npos;
         --most)
      ++end;
    const std::string_view prefix = text.substr(std::min(end, text.size()), 2);
    if (i > 0 && (prefix == "0x" || prefix == "\\x")) end += 2;
    if (end + 1 >= text.size()) return end - at >= kCutOff ? text.size() : text.npos;
    const auto byte = hexNumber(text, end, 2);
    if (!byte || static_cast<char>(*byte) != secret[i]) return text.npos;
    end += 2;
  }
  return end;
}

}  // namespace

SecretStrike::SecretStrike(const Secret* secret) {
  if (secret == nullptr) return;
  std::string value = trimmed(secret->reveal());
  if (value.size() < kFewest) return;
  for (const std::size_t before : {0u, 1u, 2u}) {
    std::string form = base64Inside(value, before);
    add(form);
    std::ranges::replace(form, '+', '-');
    std::ranges::replace(form, '/', '_');
    add(std::move(form));
  }
  value_ = Secret::copyOf(value);
  wipe(value);
  std::ranges::stable_sort(forms_, [](const Secret& a, const Secret& b) { return a.size() > b.size(); });
}

void SecretStrike::add(std::string form) {
  if (form.size() >= kFewest && std::ranges::none_of(forms_, [&](const Secret& one) { return one.sameAs(form); }))
    forms_.push_back(Secret::copyOf(form));
  wipe(form);
}

std::string SecretStrike::of(std::string_view text) const {
  if (forms_.empty()) return std::string(text);
  const std::string_view secret = value_.reveal();
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = endOfSpelled(text, at, secret);
    if (end == text.npos) end = endOfHex(text, at, secret);
    if (end == text.npos) out += text[at++];
    if (end != text.npos) out += kStruck, at = end;
  }
  for (const Secret& form : forms_)
    for (std::size_t at = out.find(form.reveal()); at != out.npos; at = out.find(form.reveal(), at + kStruck.size()))
      out.replace(at, form.size(), kStruck);
  for (const Secret& form : forms_)
    for (std::size_t size = std::min(out.size(), form.size() - 1); size >= kCutOff; --size)
      if (out.ends_with(form.reveal().substr(0, size))) {
        out.replace(out.size() - size, size, kStruck);
        break;
      }
  return out;
}

json::value SecretStrike::ofJson(const json::value& value) const {
  if (forms_.empty()) return value;
  if (value.is_string()) return json::value(of(std::string_view(value.get_string())));
  if (const json::array* list = value.if_array()) {
    json::array out;
    for (const json::value& one : *list) out.push_back(ofJson(one));
    return out;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  json::object out;
  for (const auto& member : *object) out[of(std::string_view(member.key()))] = ofJson(member.value());
  return out;
}

}  // namespace witan::node
