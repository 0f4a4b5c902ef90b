// Digest: a SHA-256 in 32 bytes, for states of which there are many. As text it has 64 hex digits.
//
// A value. All zeros are no digest, and its text is empty.
#pragma once

#include "base/bytes.h"
#include "base/json_codec.h"

namespace witan::graph {

class Digest {
 public:
  Digest() = default;
  // None, if the text is no digest. It parses.
  explicit Digest(const std::string& hex) {
    if (auto read = hashFromHex(hex); read.ok()) bytes_ = *read;
  }
  bool isNone() const { return bytes_ == Hash{}; }
  std::string hex() const { return isNone() ? std::string() : toHex(bytes_); }
  std::string_view bytes() const { return asView(bytes_); }
  friend bool operator==(const Digest&, const Digest&) = default;

 private:
  Hash bytes_{};
};

// What has a digest as its id, in a hash table of pointers.
struct ById {
  using is_transparent = void;
  std::size_t operator()(const Digest& id) const { return std::hash<std::string_view>()(id.bytes()); }
  template <class T>
  std::size_t operator()(const T* one) const {
    return (*this)(one->id);
  }
};
struct SameId {
  using is_transparent = void;
  template <class T>
  bool operator()(const T* a, const T* b) const {
    return a->id == b->id;
  }
  template <class T>
  bool operator()(const Digest& id, const T* one) const {
    return one->id == id;
  }
  template <class T>
  bool operator()(const T* one, const Digest& id) const {
    return one->id == id;
  }
};

}  // namespace witan::graph

namespace witan {

template <>
struct JsonCodec<graph::Digest> {
  static Status read(const json::value& v, graph::Digest& out, std::string_view where) {
    std::string text;
    WITAN_DO(readText(v, text, where));
    out = graph::Digest(text);
    return out.isNone() && !text.empty() ? Status(invalid(concat(where, ": must have 64 hex digits"))) : okStatus();
  }
  static void write(std::string& out, const graph::Digest& v) {
    out += '"';
    out += v.hex();
    out += '"';
  }
  static std::string typeName() { return "digest"; }
};

}  // namespace witan
