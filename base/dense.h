// Dense bytes: variable-length integers and texts without padding, for rows that are sent and stored by the million.
//
// Everything else goes through Cap'n Proto (base/capnp_codec.h), whose pointers and padding such rows cannot afford.
// Integers are LEB128 in their shortest form (a longer one is an error: one value, one byte string). A text is its
// length, then its bytes; an "id text" ends in lower-case hex more often than not (digests, device ids), so its
// trailing hex digits are packed two to a byte.
//
// DenseWriter appends to a string it borrows. DenseReader borrows the bytes, never reads past them, and remembers the
// first error: after it every read returns an empty value, so a caller checks once, at the end. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

class DenseWriter {
 public:
  explicit DenseWriter(std::string& out) : out_(out) {}

  void byte(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      byte(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  // Small negative numbers stay short: 0, -1, 1, -2 become 0, 1, 2, 3.
  void signedVarint(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void raw(std::string_view bytes) { out_.append(bytes); }
  void text(std::string_view bytes) {
    varint(bytes.size());
    raw(bytes);
  }
  // Length of the plain part and number of packed hex bytes, then both.
  void idText(std::string_view text);

 private:
  std::string& out_;
};

class DenseReader {
 public:
  explicit DenseReader(std::string_view bytes) : all_(bytes) {}

  std::uint8_t byte();
  std::uint64_t varint();
  std::int64_t signedVarint();
  std::string_view raw(std::size_t size);
  std::string_view text(std::size_t max);  // `max` bytes at most
  std::string idText(std::size_t max);     // `max` bytes of text at most
  void skipIdText(std::size_t max);

  // A varint that must be at most `max`: a count checked before anything is allocated for it.
  std::uint64_t count(std::uint64_t max);

  bool atEnd() const { return at_ == all_.size(); }
  std::size_t position() const { return at_; }
  std::string_view from(std::size_t start) const { return all_.substr(start, at_ - start); }

  bool ok() const { return problem_ == nullptr; }
  // ok, or invalidInput naming `where`, the byte and the cause.
  Status status(std::string_view where) const;
  // As status, and nothing may be left over.
  Status finish(std::string_view where) const;
  void fail(const char* problem);

 private:
  std::string_view all_;
  std::size_t at_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace witan
