#include "base/legible.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"

namespace witan {

namespace {

struct Letters {
  char32_t from, to;
};
// Invisible, or another form of something that has a plain one (spaces, full width, letters of mathematics).
constexpr Letters kUnclear[] = {
    {0xa0, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},   {0x17b4, 0x17b5}, {0x180b, 0x180e},   {0x2000, 0x200f},
    {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2100, 0x218f}, {0x2460, 0x24ff}, {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xfb00, 0xfb06}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xff00, 0xffff}, {0x1d400, 0x1d7ff}, {0xe0000, 0xe0fff}};
// Parts of letters (Unicode's form NFD): accents, parts of Korean syllables, sound marks of kana. Whole letters say the
// same, and then one name has one sequence of bytes.
constexpr Letters kParts[] = {{0x300, 0x36f}, {0x1100, 0x11ff}, {0x3099, 0x309a}};
constexpr Letters kGreek{0x370, 0x3ff}, kCyrillic{0x400, 0x52f};
// Small letters of both that look like the Latin one.
constexpr std::pair<char32_t, char> kAlike[] = {
    {0x430, 'a'}, {0x435, 'e'}, {0x43e, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x443, 'y'}, {0x445, 'x'}, {0x455, 's'},
    {0x456, 'i'}, {0x458, 'j'}, {0x501, 'd'}, {0x4bb, 'h'}, {0x51b, 'q'}, {0x51d, 'w'}, {0x3b1, 'a'}, {0x3bf, 'o'},
    {0x3c1, 'p'}, {0x3bd, 'v'}, {0x3b9, 'i'}, {0x3ba, 'k'}, {0x3c5, 'u'}, {0x43a, 'k'}, {0x442, 't'}, {0x43c, 'm'},
    {0x43d, 'h'}, {0x432, 'b'}, {0x3c4, 't'}, {0x3c7, 'x'}, {0x3b7, 'n'}};

bool within(char32_t letter, const Letters& range) { return letter >= range.from && letter <= range.to; }
bool among(char32_t letter, std::span<const Letters> ranges) {
  return std::ranges::any_of(ranges, [&](const Letters& range) { return within(letter, range); });
}

// Requires: valid UTF-8.
std::u32string lettersOf(std::string_view text) {
  std::u32string letters;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t letter = bytes == 1 ? first : first & (0x3fu >> (bytes - 1));
    for (std::size_t n = 1; n < bytes && at + n < text.size(); ++n)
      letter = letter << 6 | (static_cast<unsigned char>(text[at + n]) & 0x3fu);
    letters += letter;
    at += bytes;
  }
  return letters;
}

// Small, of the three alphabets that share shapes.
char32_t smallOf(char32_t letter) {
  if ((letter >= 'A' && letter <= 'Z') || (letter >= 0x391 && letter <= 0x3a9) || (letter >= 0x410 && letter <= 0x42f))
    return letter + 0x20;
  if (letter >= 0x400 && letter <= 0x40f) return letter + 0x50;
  return letter >= 0x460 && within(letter, kCyrillic) ? letter | 1 : letter;
}

}  // namespace

Status checkLegible(std::string_view name) {
  if (!isUtf8(name)) return invalid("the name " + inQuotes(name) + " is no UTF-8", "give one of plain letters");
  bool latin = false, greek = false, cyrillic = false, mixed = false;
  for (const char32_t letter : lettersOf(name)) {
    if (among(letter, kParts))
      return invalid("the name " + inQuotes(name) + " is not in Unicode's form NFC: an accent stands beside its letter",
                     "give it in NFC, in which both are one character");
    if (among(letter, kUnclear))
      return invalid("the name " + inQuotes(name) + " has characters that people cannot see or tell from others",
                     "give one of plain letters, digits and signs");
    const bool isLatin = letter < 0x80 && within(smallOf(letter), {'a', 'z'});
    const bool isDigit = within(letter, {'0', '9'});
    if (letter < 0x80 && !isLatin && !isDigit) latin = greek = cyrillic = false;  // another word begins
    latin = latin || isLatin;
    greek = greek || within(letter, kGreek), cyrillic = cyrillic || within(letter, kCyrillic);
    mixed = mixed || latin + greek + cyrillic > 1;
  }
  if (mixed)
    return invalid("the name " + inQuotes(name) + " mixes letters of several alphabets in a word",
                   "write each word in a single alphabet");
  if (name.starts_with(' ') || name.ends_with(' ') || name.find("  ") != name.npos)
    return invalid("the name " + inQuotes(name) + " has blanks at its ends or in a row", "take them out");
  return okStatus();
}

std::u32string shapeOf(std::string_view name) {
  std::u32string shape = lettersOf(name);
  for (char32_t& letter : shape) {
    letter = smallOf(letter);
    for (const auto& [other, latin] : kAlike)
      if (letter == other) letter = static_cast<char32_t>(latin);
  }
  return shape;
}

}  // namespace witan
