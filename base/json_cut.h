// The parts of a large JSON text, one after the other, without values made of them: only where each part lies. So a
// text is read part by part, in the memory of its largest part. Whoever takes a part parses it (base/json.h), strictly.
//
// Borrows the text. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

struct JsonPart {
  std::string_view key;    // with its quotes, as written; empty in a list
  std::string_view text;   // the value as written; its strings and brackets end, and nothing else is checked
  std::size_t values = 1;  // values and keys within, itself included, at most: what a parser would have to make
};

class JsonCut {
 public:
  // An object or a list, perhaps with white space around. `offset` is where it begins, for messages.
  explicit JsonCut(std::string_view container, std::size_t offset = 0) : text_(container), offset_(offset) {}

  // None after the last. Errors: it is no object or list, or it does not end; with the byte.
  Result<std::optional<JsonPart>> next();
  // How many parts were given.
  std::size_t count() const { return count_; }

 private:
  Error wrong(const char* what) const;
  void skipSpace();
  bool takeString();
  bool takeValue(std::size_t& values);
  Status open();
  Status finish();

  std::string_view text_;
  std::size_t offset_ = 0, at_ = 0, count_ = 0;
  char close_ = 0;  // of the container; 0 before the first part
  bool done_ = false;
};

// Values and keys in a JSON text, at most. O(bytes), no memory.
std::size_t jsonValuesAtMost(std::string_view text);

}  // namespace witan
