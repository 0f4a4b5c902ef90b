// Any bytes into the JSON reader. Whatever it accepts has one canonical text: reading that text and writing it again
// gives the same bytes, and that text has no duplicate keys, so it is accepted too.
#pragma once

#include <string_view>

#include "base/check.h"
#include "base/json.h"

namespace witan::fuzz {

inline void fuzzJson(std::string_view text) {
  const auto value = parseJson(text);
  if (!value.ok()) {
    WITAN_CHECK(!value.error().message.empty(), "a refusal says why");
    return;
  }
  const std::string canonical = canonicalJson(*value);
  // Escapes and exponents written out can make the canonical text longer than the original.
  const auto again = parseJson(canonical, {.bytes = canonical.size()});
  WITAN_CHECK(again.ok(), "a canonical text is JSON");
  WITAN_CHECK(canonicalJson(*again) == canonical, "a canonical text is a fixed point");
}

}  // namespace witan::fuzz
