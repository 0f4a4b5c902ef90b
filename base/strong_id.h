// Strong ids: an id of one kind cannot be passed where another kind is expected.
//
// StrongId wraps free text (an agent, a device, a subscription); DigestId wraps a SHA-256 value (a run key, an
// operation id) and prints as 64 lower-case hex digits. Values: copyable, ordered, hashable, printable. `Tag` is any
// type, complete or not. Neither validates: see validateId in base/identity.h.
#pragma once

#include <compare>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan {

template <class Tag>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend auto operator<=>(const StrongId&, const StrongId&) = default;
  friend bool operator==(const StrongId&, const StrongId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const StrongId& id) { return out << id.text_; }

 private:
  std::string text_;
};

template <class Tag>
struct DigestId {
  Hash value{};

  std::string hex() const { return toHex(value); }
  static Result<DigestId> parse(std::string_view hex) {
    WITAN_TRY(hash, hashFromHex(hex));
    return DigestId{hash};
  }

  friend auto operator<=>(const DigestId&, const DigestId&) = default;
  friend bool operator==(const DigestId&, const DigestId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const DigestId& id) { return out << id.hex(); }
};

}  // namespace witan

template <class Tag>
struct std::hash<witan::StrongId<Tag>> {
  std::size_t operator()(const witan::StrongId<Tag>& id) const noexcept { return std::hash<std::string>{}(id.str()); }
};

template <class Tag>
struct std::hash<witan::DigestId<Tag>> {
  // The digest is uniform already: eight of its bytes are a hash.
  std::size_t operator()(const witan::DigestId<Tag>& id) const noexcept {
    std::size_t word = 0;
    std::memcpy(&word, id.value.data(), sizeof word);
    return word;
  }
};
