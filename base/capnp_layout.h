// Where the Cap'n Proto compiler would put each member of a reflected struct: computed at compile time.
//
// The algorithm is the one of the encoding specification's reference compiler: each field takes the first hole that
// fits, else a new word; unused parts of a word become holes. The members' order is the order of the ordinals. So a
// struct's printed schema (capnpSchema) compiles to the very layout that base/capnp_codec.h reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/sha256.h"
#include "base/time.h"

namespace witan {

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

}  // namespace witan
