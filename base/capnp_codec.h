// Cap'n Proto forms of reflected structs, in canonical bytes, without a builder.
//
// Plain Cap'n Proto messages are not canonical and canonicalising one costs several times its encoding. Here the words
// are written in canonical order at once: one segment, pre-order, trailing zeros of every section cut off, no segment
// table (https://capnproto.org/encoding.html#canonicalization). Any Cap'n Proto implementation can read them with the
// schema that capnpSchema prints; a test compares with the library's own canonicalisation.
//
// Reading goes through the library's bounds-checked AnyStruct reader. WordWriter is reusable and not thread-safe.
#pragma once

#include <capnp/any.h>
#include <capnp/message.h>
#include <kj/exception.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_codec.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace witan {

// Where the Cap'n Proto compiler would put each member, computed at compile time: each field takes the first hole that
// fits, else a new word; unused parts of a word become holes. The order of the members is the order of the ordinals.
template <class T>
inline constexpr bool isOptional = false;
template <class T>
inline constexpr bool isOptional<std::optional<T>> = true;

// log2 of the bits that a member takes in the data section, or kPointer.
inline constexpr int kPointer = -1;
template <class T>
constexpr int capnpSize() {
  if constexpr (std::is_same_v<T, bool>)
    return 0;
  else if constexpr (std::is_same_v<T, std::uint16_t> || NamedEnum<T>)
    return 4;
  else if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, Date>)
    return 5;
  else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> || std::is_same_v<T, Time>)
    return 6;
  else
    return kPointer;
}

struct CapnpSlot {
  int size = kPointer;       // as capnpSize
  std::uint32_t offset = 0;  // in units of its size, or pointer index
};

template <std::size_t N>
struct CapnpLayout {
  std::array<CapnpSlot, N> slots{};
  std::uint32_t dataWords = 0;
  std::uint32_t pointers = 0;
};

class CapnpHoles {
 public:
  constexpr std::uint32_t place(int size, std::uint32_t& dataWords) {
    std::uint32_t at = 0;
    if (take(size, at)) return at;
    at = dataWords++ << (6 - size);
    std::uint32_t hole = at + 1;
    for (int s = size; s < 6; ++s) {
      holes_[s] = hole;
      hole = (hole + 1) / 2;
    }
    return at;
  }

 private:
  constexpr bool take(int size, std::uint32_t& at) {
    if (size >= 6) return false;
    if (holes_[size] != 0) {
      at = holes_[size];
      holes_[size] = 0;
      return true;
    }
    if (!take(size + 1, at)) return false;
    at *= 2;
    holes_[size] = at + 1;
    return true;
  }
  std::array<std::uint32_t, 6> holes_{};  // 0: none, since offset 0 is never a hole
};

// An optional scalar travels as a Text pointer (null or decimal/ISO text), so that "none" needs no second field.
template <Reflected T>
constexpr auto capnpLayout() {
  CapnpLayout<memberCount<T>> layout;
  CapnpHoles holes;
  forEachMember<T>([&](auto member, auto index) {
    constexpr int size = capnpSize<typename decltype(member)::Type>();
    if constexpr (size == kPointer)
      layout.slots[index] = {kPointer, layout.pointers++};
    else
      layout.slots[index] = {size, holes.place(size, layout.dataWords)};
  });
  return layout;
}

class WordWriter {
 public:
  WordWriter() { words_.reserve(256); }

  // Starts a message whose root is `value`; the bytes stay valid until the next call.
  template <Reflected T>
  std::string_view message(const T& value) {
    words_.clear();
    words_.push_back(0);
    writeStruct(0, value);
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * 8};
  }

 private:
  template <Reflected T>
  void writeStruct(std::size_t pointerAt, const T& value) {
    const Shape shape = shapeOf(value);
    const std::size_t at = words_.size();
    words_.resize(at + shape.data + shape.pointers);
    // An empty struct is a pointer with offset -1.
    const std::int64_t offset = shape.data + shape.pointers == 0 ? -1 : static_cast<std::int64_t>(at - pointerAt) - 1;
    words_[pointerAt] = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(offset) << 2)) |
                        static_cast<std::uint64_t>(shape.data) << 32 | static_cast<std::uint64_t>(shape.pointers) << 48;
    fill(at, shape, value);
  }

  struct Shape {
    std::uint32_t data = 0;
    std::uint32_t pointers = 0;
  };

  template <Reflected T>
  static Shape shapeOf(const T& value) {
    [[maybe_unused]] static constexpr auto layout = capnpLayout<T>();
    std::array<std::uint64_t, layout.dataWords + 1> data{};
    packData(value, data.data());
    Shape shape{layout.dataWords, 0};
    while (shape.data > 0 && data[shape.data - 1] == 0) --shape.data;
    forEachMember<T>([&](auto member, auto index) {
      if constexpr (capnpSize<typename decltype(member)::Type>() == kPointer) {
        if (present(value.*member.pointer)) shape.pointers = layout.slots[index].offset + 1;
      }
    });
    return shape;
  }

  template <Reflected T>
  static void packData(const T& value, std::uint64_t* data) {
    [[maybe_unused]] static constexpr auto layout = capnpLayout<T>();
    forEachMember<T>([&](auto member, auto index) {
      constexpr CapnpSlot slot = layout.slots[decltype(index)::value];
      if constexpr (slot.size != kPointer) {
        const std::uint64_t bits = toBits(value.*member.pointer);
        constexpr std::uint32_t bitAt = slot.offset << slot.size;
        data[bitAt / 64] |= bits << (bitAt % 64);
      }
    });
  }

  template <Reflected T>
  void fill(std::size_t at, Shape shape, const T& value) {
    [[maybe_unused]] static constexpr auto layout = capnpLayout<T>();
    std::array<std::uint64_t, layout.dataWords + 1> data{};
    packData(value, data.data());
    std::memcpy(words_.data() + at, data.data(), shape.data * 8);
    forEachMember<T>([&](auto member, auto index) {
      constexpr CapnpSlot slot = layout.slots[decltype(index)::value];
      if constexpr (slot.size == kPointer) {
        if (present(value.*member.pointer)) writePointer(at + shape.data + slot.offset, value.*member.pointer);
      }
    });
  }

  template <class V>
  static std::uint64_t toBits(const V& v) {
    if constexpr (std::is_same_v<V, Time>)
      return static_cast<std::uint64_t>(v.micros);
    else if constexpr (std::is_same_v<V, Date>)
      return static_cast<std::uint32_t>(v.days);
    else
      return static_cast<std::uint64_t>(v);
  }

  static bool present(std::string_view v) { return !v.empty(); }
  static bool present(const Hash&) { return true; }
  template <class V>
  static bool present(const std::optional<V>& v) {
    return v.has_value();
  }
  template <class V>
  static bool present(const std::vector<V>& v) {
    return !v.empty();
  }
  template <class V>
  static bool present(std::span<const V> v) {
    return !v.empty();
  }
  template <Reflected V>
  static bool present(const V&) {
    return true;
  }

  void writePointer(std::size_t at, std::string_view text) { writeBytes(at, text, true); }
  void writePointer(std::size_t at, const Hash& hash) {
    writeBytes(at, {reinterpret_cast<const char*>(hash.data()), hash.size()}, false);
  }
  void writePointer(std::size_t at, const std::vector<std::uint8_t>& data) {
    writeBytes(at, {reinterpret_cast<const char*>(data.data()), data.size()}, false);
  }
  void writePointer(std::size_t at, std::span<const std::uint8_t> data) {
    writeBytes(at, {reinterpret_cast<const char*>(data.data()), data.size()}, false);
  }
  template <class V>
  void writePointer(std::size_t at, const std::optional<V>& v) {
    if constexpr (capnpSize<V>() == kPointer) {
      // A present but empty text differs from none: it is one NUL byte.
      if constexpr (std::is_convertible_v<V, std::string_view>)
        writeBytes(at, std::string_view(*v), true);
      else
        writePointer(at, *v);
    } else {
      std::string text = toJson(*v);
      if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
      writeBytes(at, text, true);
    }
  }
  template <Reflected V>
  void writePointer(std::size_t at, const V& v) {
    writeStruct(at, v);
  }
  template <Reflected V>
  void writePointer(std::size_t at, const std::vector<V>& list) {
    writePointer(at, std::span<const V>(list));
  }

  template <Reflected V>
  void writePointer(std::size_t at, std::span<const V> list) {
    Shape shape;
    for (const V& v : list) {
      const Shape one = shapeOf(v);
      shape.data = std::max(shape.data, one.data);
      shape.pointers = std::max(shape.pointers, one.pointers);
    }
    const std::uint64_t elementWords = shape.data + shape.pointers;
    const std::size_t tag = startList(at, 7, elementWords * list.size(), 1 + elementWords * list.size());
    words_[tag] = list.size() << 2 | static_cast<std::uint64_t>(shape.data) << 32 |
                  static_cast<std::uint64_t>(shape.pointers) << 48;
    for (std::size_t i = 0; i < list.size(); ++i) fill(tag + 1 + i * elementWords, shape, list[i]);
  }

  void writePointer(std::size_t at, const std::vector<std::string>& list) {
    const std::size_t first = startList(at, 6, list.size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i) writeBytes(first + i, list[i], true);
  }

  // A list pointer at `at` to fresh zero words; returns where they start.
  std::size_t startList(std::size_t at, unsigned elementSize, std::uint64_t count, std::size_t words) {
    const std::size_t start = words_.size();
    words_.resize(start + words);
    const std::int64_t offset = static_cast<std::int64_t>(start - at) - 1;
    words_[at] = 1 | static_cast<std::uint64_t>(static_cast<std::uint32_t>(offset) << 2) |
                 (static_cast<std::uint64_t>(elementSize) | count << 3) << 32;
    return start;
  }
  void writeBytes(std::size_t at, std::string_view bytes, bool nulTerminated) {
    const std::size_t count = bytes.size() + (nulTerminated ? 1 : 0);
    const std::size_t start = startList(at, 2, count, (count + 7) / 8);
    std::memcpy(words_.data() + start, bytes.data(), bytes.size());
  }

  std::vector<std::uint64_t> words_;
};

// A single-segment message without segment table, as WordWriter makes it. Borrows `bytes`, which must be 8-aligned
// and outlive it; use AlignedWords for bytes of unknown alignment.
class FlatMessage {
 public:
  explicit FlatMessage(std::string_view bytes);
  capnp::AnyPointer::Reader root();

 private:
  kj::ArrayPtr<const capnp::word> segment_;
  capnp::SegmentArrayMessageReader reader_;
};

// Owned, aligned copy of bytes; sizes that are not whole words are an error.
Result<std::vector<std::uint64_t>> alignedWords(std::string_view bytes);

namespace detail {

template <class V>
Status readPointerMember(capnp::AnyPointer::Reader from, V& into, std::string_view where, std::size_t textMax);

Result<std::string_view> readTextPointer(capnp::AnyPointer::Reader from, std::string_view where, std::size_t textMax);

}  // namespace detail

// Bytes of one text: as in JSON, unless the struct says otherwise with `static constexpr std::size_t textMax`.
template <Reflected T>
constexpr std::size_t capnpTextMax() {
  if constexpr (requires { T::textMax; })
    return T::textMax;
  else
    return kTextMax;
}

// Fills a struct from a message. Sections shorter than the layout read as zero (older writers), longer ones are ignored
// (newer writers). Cap'n Proto's own exceptions are caught by readMessage; call this inside it.
template <Reflected T>
Status readCapnp(capnp::AnyStruct::Reader from, T& into, std::string_view where) {
  [[maybe_unused]] static constexpr auto layout = capnpLayout<T>();
  auto data = from.getDataSection();
  auto pointers = from.getPointerSection();
  Status status = okStatus();
  forEachMember<T>([&](auto member, auto index) {
    if (!status.ok()) return;
    using V = typename decltype(member)::Type;
    constexpr CapnpSlot slot = layout.slots[decltype(index)::value];
    V& out = into.*member.pointer;
    if constexpr (slot.size != kPointer) {
      constexpr std::uint32_t bitAt = slot.offset << slot.size;
      constexpr std::uint32_t width = 1u << slot.size;
      std::uint64_t bits = 0;
      if constexpr (width == 1) {
        if (bitAt / 8 < data.size()) bits = data[bitAt / 8] >> (bitAt % 8) & 1;
      } else {
        if (bitAt / 8 + width / 8 <= data.size()) std::memcpy(&bits, data.begin() + bitAt / 8, width / 8);
      }
      // Only what JSON can carry too: what is read here must read back from a ledger.
      if constexpr (std::is_same_v<V, Time>) {
        out.micros = static_cast<std::int64_t>(bits);
        if (!isCalendarTime(out)) status = invalid(concat(where, ".", member.name, ": outside the years 0001 to 9999"));
      } else if constexpr (std::is_same_v<V, Date>) {
        out.days = static_cast<std::int32_t>(bits);
        if (!isCalendarDate(out)) status = invalid(concat(where, ".", member.name, ": outside the years 0001 to 9999"));
      } else if constexpr (NamedEnum<V>) {
        if (bits >= enumNames<V>().size())
          status = invalid(concat(where, ".", member.name, ": no such enumerant ", bits));
        else
          out = static_cast<V>(bits);
      } else
        out = static_cast<V>(bits);
    } else {
      if (slot.offset >= pointers.size()) return;
      status = detail::readPointerMember(pointers[slot.offset], out, member.name, capnpTextMax<T>());
      // The place is put together only when it is needed.
      if (!status.ok())
        status = Error{status.error().code, concat(where, ".", status.error().message), status.error().hint};
    }
  });
  return status;
}

namespace detail {

template <class V>
Status readPointerMember(capnp::AnyPointer::Reader from, V& into, std::string_view where, std::size_t textMax) {
  // A view has no default of its own: null reads as empty. Anything else keeps its default.
  if constexpr (!std::is_same_v<V, std::string_view>) {
    if (from.isNull()) return okStatus();
  }
  if constexpr (std::is_same_v<V, std::string> || std::is_same_v<V, std::string_view>) {
    WITAN_TRY(text, readTextPointer(from, where, textMax));
    into = V(text);
  } else if constexpr (std::is_same_v<V, Hash>) {
    auto bytes = from.template getAs<capnp::Data>();
    if (bytes.size() != into.size()) return invalid(concat(where, ": expected 32 bytes, found ", bytes.size()));
    std::memcpy(into.data(), bytes.begin(), into.size());
  } else if constexpr (std::is_same_v<V, std::vector<std::uint8_t>>) {
    auto bytes = from.template getAs<capnp::Data>();
    into.assign(bytes.begin(), bytes.end());
  } else if constexpr (std::is_same_v<V, std::span<const std::uint8_t>>) {
    auto bytes = from.template getAs<capnp::Data>();
    into = {bytes.begin(), bytes.size()};
  } else if constexpr (std::is_same_v<V, std::vector<std::string>>) {
    auto list = from.template getAs<capnp::List<capnp::Text>>();
    if (list.size() > kListMax) return invalid(concat(where, ": too many elements"));
    into.clear();
    for (auto text : list) {
      if (text.size() > textMax) return invalid(concat(where, ": text too long"));
      if (!isUtf8({text.begin(), text.size()})) return invalid(concat(where, ": not UTF-8"));
      into.emplace_back(text.begin(), text.size());
    }
  } else if constexpr (isOptional<V>) {
    using Inner = typename V::value_type;
    if constexpr (capnpSize<Inner>() == kPointer)
      return readPointerMember(from, into.emplace(), where, textMax);
    else {
      WITAN_TRY(text, readTextPointer(from, where, textMax));
      std::string quoted;
      if constexpr (std::is_same_v<Inner, std::int64_t> || std::is_same_v<Inner, std::uint64_t> ||
                    std::is_same_v<Inner, bool>)
        quoted = text;
      else
        appendJsonString(quoted, text);
      WITAN_TRY(parsed, parseJson(quoted));
      return readJson(parsed, into.emplace(), where);
    }
  } else if constexpr (Reflected<V>) {
    return readCapnp(from.template getAs<capnp::AnyStruct>(), into, where);
  } else {
    using Element = typename V::value_type;
    static_assert(Reflected<Element>, "lists of text or of reflected structs only");
    auto list = from.template getAs<capnp::AnyList>().template as<capnp::List<capnp::AnyStruct>>();
    if (list.size() > kListMax) return invalid(concat(where, ": too many elements"));
    into.clear();
    for (auto element : list) WITAN_DO(readCapnp(element, into.emplace_back(), where));
  }
  return okStatus();
}

}  // namespace detail

namespace detail {

// Errors: empty, or no whole number of words.
Status wholeWords(std::string_view bytes);

}  // namespace detail

// Runs `read` on the root of `bytes` (8-aligned), turning the library's exceptions into errors.
template <class Read>
requires std::is_invocable_r_v<Status, Read, capnp::AnyStruct::Reader> Status withMessage(std::string_view alignedBytes,
                                                                                          Read&& read) {
  WITAN_DO(detail::wholeWords(alignedBytes));
  try {
    FlatMessage message(alignedBytes);
    auto root = message.root();
    if (root.isNull() || !root.isStruct()) return invalid("the message has no root struct");
    return read(root.getAs<capnp::AnyStruct>());
  } catch (const kj::Exception& e) {
    return invalid(concat("not a readable Cap'n Proto message (", e.getDescription().cStr(), ")"));
  }
}

// Decodes a whole message into `into`. Copies the bytes once if they are not aligned; members of type string_view
// would dangle and are therefore only for readMessageAligned.
template <Reflected T>
Status readMessage(std::string_view bytes, T& into, std::string_view where) {
  WITAN_TRY(words, alignedWords(bytes));
  return withMessage({reinterpret_cast<const char*>(words.data()), words.size() * 8},
                     [&](capnp::AnyStruct::Reader root) { return readCapnp(root, into, where); });
}

template <class T>
std::string capnpTypeName() {
  if constexpr (std::is_same_v<T, bool>)
    return "Bool";
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return "UInt16";
  else if constexpr (NamedEnum<T>)
    return "UInt16";
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return "UInt32";
  else if constexpr (std::is_same_v<T, Date>)
    return "Int32";
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return "UInt64";
  else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, Time>)
    return "Int64";
  else if constexpr (std::is_same_v<T, Hash> || std::is_same_v<T, std::vector<std::uint8_t>>)
    return "Data";
  else if constexpr (std::is_same_v<T, std::vector<std::string>> ||
                     std::is_same_v<T, std::optional<std::vector<std::string>>>)
    return "List(Text)";
  else
    return "Text";
}

// The schema of a flat struct, as a .capnp author would write it.
template <Reflected T>
std::string capnpSchema(std::string_view name) {
  std::string out = concat("struct ", name, " {\n");
  forEachMember<T>([&](auto member, auto index) {
    out += concat("  ", member.name, " @", index(), " :", capnpTypeName<typename decltype(member)::Type>(), ";\n");
  });
  return out + "}\n";
}

}  // namespace witan
