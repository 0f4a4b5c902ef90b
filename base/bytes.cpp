#include "base/bytes.h"

#include <openssl/evp.h>

#include <array>

#include "base/quote.h"

namespace witan {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::int8_t i = 0; i < 16; ++i) digits[static_cast<std::uint8_t>(kHex[i])] = i;
  return digits;
}();

int hexDigit(char c) { return kDigits[static_cast<std::uint8_t>(c)]; }

Error wrongCharacter(std::string_view encoding, std::string_view text, std::size_t at) {
  return invalid(concat(encoding, " has ", inQuotes(text.substr(at, 1)), " at byte ", at));
}

Result<Unit> decodeHex(std::string_view text, unsigned char* out) {
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hexDigit(text[i]);
    const int low = hexDigit(text[i + 1]);
    if (high < 0) return wrongCharacter("lower-case hex", text, i);
    if (low < 0) return wrongCharacter("lower-case hex", text, i + 1);
    *out++ = static_cast<unsigned char>(high << 4 | low);
  }
  return Unit{};
}

}  // namespace

void appendHex(std::string& out, std::span<const std::uint8_t> bytes) {
  const std::size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* to = out.data() + start;
  for (const std::uint8_t byte : bytes) {
    *to++ = kHex[byte >> 4];
    *to++ = kHex[byte & 15];
  }
}

std::string toHex(std::span<const std::uint8_t> bytes) {
  std::string out;
  appendHex(out, bytes);
  return out;
}

std::string toHex(const Hash& hash) { return toHex(std::span<const std::uint8_t>(hash)); }

Result<std::string> fromHex(std::string_view text) {
  if (text.size() % 2 != 0) return invalid(concat("hex has an odd number of digits (", text.size(), ")"));
  std::string bytes(text.size() / 2, '\0');
  WITAN_DO(decodeHex(text, reinterpret_cast<unsigned char*>(bytes.data())));
  return bytes;
}

Result<Hash> hashFromHex(std::string_view text) {
  if (text.size() != 64) return invalid(concat("a SHA-256 has 64 hex digits, not ", text.size(), " characters"));
  Hash hash;
  WITAN_DO(decodeHex(text, hash.data()));
  return hash;
}

std::string toBase64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero byte
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), asBytes(bytes).data(), static_cast<int>(bytes.size()));
  out.pop_back();
  return out;
}

namespace {

// Of each of four characters, its bits in their place among 24; above them what is no character of the alphabet.
constexpr std::uint32_t kNoCharacter = 1u << 24;
constexpr auto kBase64Bits = [] {
  std::array<std::array<std::uint32_t, 256>, 4> bits{};
  for (std::size_t place = 0; place < 4; ++place) {
    bits[place].fill(kNoCharacter);
    for (std::size_t i = 0; i < kBase64.size(); ++i)
      bits[place][static_cast<unsigned char>(kBase64[i])] = static_cast<std::uint32_t>(i << (18 - 6 * place));
  }
  return bits;
}();

// `size`: of the characters that are no padding.
std::uint32_t groupOf(const char* four, std::size_t size = 4) {
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < size; ++i) group |= kBase64Bits[i][static_cast<unsigned char>(four[i])];
  return group;
}

}  // namespace

Result<std::string> fromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return invalid(concat("base64 has ", text.size(), " characters, not a multiple of 4"));
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes(text.size() / 4 * 3, '\0');
  std::uint32_t wrong = 0;
  char* to = bytes.data();
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const std::uint32_t group = last ? groupOf(text.data() + at, 4 - padding) : groupOf(text.data() + at);
    wrong |= group & kNoCharacter;
    for (int shift = 16; shift >= 0; shift -= 8) *to++ = static_cast<char>(group >> shift);
  }
  for (std::size_t i = bytes.size() - padding; i < bytes.size(); ++i) wrong |= static_cast<unsigned char>(bytes[i]);
  bytes.resize(bytes.size() - padding);
  if (wrong == 0) return bytes;
  const std::size_t at = text.find_first_not_of(kBase64);
  if (at < text.size() - padding) return wrongCharacter("base64", text, at);
  return invalid("base64 ends in bits that encode nothing");
}

std::string_view asView(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view asView(const Hash& hash) { return asView(std::span<const std::uint8_t>(hash)); }

std::span<const std::uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace witan
