// Any bytes into the JSON reader. Whatever it accepts has one canonical text: reading that text and writing it again
// gives the same bytes, and that text has no duplicate keys, so it is accepted too.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = witan::parseJson(text);
  if (!value.ok()) {
    WITAN_CHECK(!value.error().message.empty(), "a refusal says why");
    return 0;
  }
  const std::string canonical = witan::canonicalJson(*value);
  // Escapes and exponents written out can make the canonical text longer than the original.
  const auto again = witan::parseJson(canonical, {.bytes = canonical.size()});
  WITAN_CHECK(again.ok(), "a canonical text is JSON");
  WITAN_CHECK(witan::canonicalJson(*again) == canonical, "a canonical text is a fixed point");
  return 0;
}
