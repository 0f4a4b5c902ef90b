#include "base/dense.h"

#include <array>

namespace witan {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr auto kNibbles = [] {
  std::array<std::int8_t, 256> table{};
  for (auto& entry : table) entry = -1;
  for (std::size_t i = 0; i < kHexDigits.size(); ++i)
    table[static_cast<unsigned char>(kHexDigits[i])] = static_cast<std::int8_t>(i);
  return table;
}();

constexpr int nibble(char c) { return kNibbles[static_cast<unsigned char>(c)]; }

// How many characters at the end are lower-case hex digits, rounded down to pairs. Fewer than four are not worth it.
std::size_t hexTail(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && nibble(text[text.size() - 1 - n]) >= 0) ++n;
  n &= ~std::size_t{1};
  return n < 4 ? 0 : n;
}

}  // namespace

void DenseWriter::idText(std::string_view text) {
  const std::size_t hex = hexTail(text);
  const std::size_t plain = text.size() - hex;
  varint(plain);
  varint(hex / 2);
  raw(text.substr(0, plain));
  const std::size_t start = out_.size();
  out_.resize(start + hex / 2);
  for (std::size_t i = 0; i < hex / 2; ++i)
    out_[start + i] = static_cast<char>(nibble(text[plain + 2 * i]) << 4 | nibble(text[plain + 2 * i + 1]));
}

void DenseReader::fail(const char* problem) {
  if (problem_ == nullptr) problem_ = problem;
}

std::uint8_t DenseReader::byte() {
  if (!ok() || at_ == all_.size()) {
    fail("the bytes end too early");
    return 0;
  }
  return static_cast<std::uint8_t>(all_[at_++]);
}

std::uint64_t DenseReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
    if (next < 0x80) {
      if (next == 0 && shift > 0) fail("a number is not in its shortest form");
      if (shift == 63 && next > 1) fail("a number exceeds 64 bits");
      return ok() ? value : 0;
    }
  }
  fail("a number exceeds 64 bits");
  return 0;
}

std::int64_t DenseReader::signedVarint() {
  const std::uint64_t bits = varint();
  return static_cast<std::int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
}

std::string_view DenseReader::raw(std::size_t size) {
  if (!ok() || all_.size() - at_ < size) {
    fail("the bytes end too early");
    return {};
  }
  at_ += size;
  return all_.substr(at_ - size, size);
}

std::uint64_t DenseReader::count(std::uint64_t max) {
  const std::uint64_t n = varint();
  if (n > max) fail("a count exceeds its limit");
  return ok() ? n : 0;
}

std::string_view DenseReader::text(std::size_t max) { return raw(count(max)); }

std::string DenseReader::idText(std::size_t max) {
  const std::size_t plain = count(max);
  const std::size_t packed = count((max - plain) / 2);
  const std::string_view start = raw(plain);
  const std::string_view tail = raw(packed);
  if (!ok()) return {};
  std::string out;
  out.reserve(plain + 2 * packed);
  out.append(start);
  for (const char c : tail) {
    out.push_back(kHexDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kHexDigits[static_cast<unsigned char>(c) & 15]);
  }
  // One text, one byte string: the writer would have packed more, or nothing.
  if (hexTail(out) != 2 * packed) fail("an id is not packed as far as it goes");
  return out;
}

void DenseReader::skipIdText(std::size_t max) {
  const std::size_t plain = count(max);
  const std::size_t packed = count((max - plain) / 2);
  raw(plain + packed);
}

Status DenseReader::status(std::string_view where) const {
  if (ok()) return okStatus();
  return invalid(concat(where, ", byte ", at_, ": ", problem_));
}

Status DenseReader::finish(std::string_view where) const {
  WITAN_DO(status(where));
  if (!atEnd()) return invalid(concat(where, ", byte ", at_, ": bytes are left over"));
  return okStatus();
}

}  // namespace witan
