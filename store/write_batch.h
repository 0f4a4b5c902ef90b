// WriteBatch: puts and erases that a store applies together or not at all.
//
// A value: copyable, not thread-safe, refers to nothing outside itself. Operations keep their order, so a later one on
// the same key wins. Keys and values are any bytes; the empty key and the empty value are ordinary.
// All operations share one buffer: a batch that is cleared and filled again allocates nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace witan::store {

class WriteBatch {
 public:
  enum class Kind : unsigned char { put, erase };

  // Valid until the batch is next changed.
  struct Op {
    Kind kind = Kind::put;
    std::string_view key;
    std::string_view value;  // empty for an erase
  };

  void put(std::string_view key, std::string_view value) { append(Kind::put, key, value); }
  void erase(std::string_view key) { append(Kind::erase, key, {}); }
  void clear() {
    buffer_.clear();
    entries_.clear();
  }

  bool empty() const { return entries_.empty(); }
  // Number of operations.
  std::size_t size() const { return entries_.size(); }
  // Bytes of all keys and values.
  std::size_t bytes() const { return buffer_.size(); }

  // Operation number i, from 0. Requires: i < size().
  Op op(std::size_t i) const {
    WITAN_CHECK(i < entries_.size(), "the batch has an operation with this number");
    const Entry& entry = entries_[i];
    std::string_view all(buffer_);
    return {entry.kind, all.substr(entry.offset, entry.keyBytes),
            all.substr(entry.offset + entry.keyBytes, entry.valueBytes)};
  }

  friend bool operator==(const WriteBatch&, const WriteBatch&) = default;

 private:
  struct Entry {
    Kind kind;
    std::size_t offset, keyBytes, valueBytes;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void append(Kind kind, std::string_view key, std::string_view value) {
    entries_.push_back({kind, buffer_.size(), key.size(), value.size()});
    buffer_.append(key);
    buffer_.append(value);
  }

  std::string buffer_;
  std::vector<Entry> entries_;
};

}  // namespace witan::store
