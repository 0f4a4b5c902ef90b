#include "program/output.h"

#include <cstdio>

#include "base/utf8.h"

namespace witan::node {

namespace {

// The one at the front; empty if the bytes there are none.
std::string_view characterAt(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size)
    if (isUtf8(text.substr(0, size))) return text.substr(0, size);
  return {};
}

// How many bytes at the front of `text` a terminal might obey: they are to be escaped. 0: none.
std::size_t unsafeBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first == 0x7f || (first < 0x20 && first != '\n' && first != '\t') ? 1 : 0;
  if (first == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  const bool embeds = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  if (first == 0xe2 && (embeds || isolates)) return 3;
  const std::string_view character = characterAt(text);
  return character.empty() ? 1 : 0;
}

// The number that stands for what is escaped: the character's, or that of a byte that is none.
unsigned numberOf(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() == 3) return (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  return byte(bytes.size() - 1);
}

}  // namespace

void putOut(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

std::string forTerminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (const std::size_t unsafe = unsafeBytes(text); unsafe > 0) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", numberOf(text.substr(0, unsafe)));
      out += escaped;
      text.remove_prefix(unsafe);
    } else {
      const std::string_view character = characterAt(text);
      out += character;
      text.remove_prefix(character.size());
    }
  }
  return out;
}

std::string oneLine(std::string_view text) {
  std::string out;
  for (const char c : text) c == '\n' ? out += "\\n" : c == '\r' ? out += "\\r" : c == '\t' ? out += "\\t" : out += c;
  return out;
}

void putWords(std::string_view text) { putOut(forTerminal(text)); }

void putErr(std::string_view words) {
  const std::string text = forTerminal(words);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace witan::node
