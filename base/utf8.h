// UTF-8 (RFC 3629): is it, and where may it be cut. Pure functions, any thread; views borrow their argument.
#pragma once

#include <cstddef>
#include <string_view>

namespace witan {

// Well formed: no overlong forms, no surrogates, nothing above U+10FFFF. Eight bytes at a time while they are ASCII.
bool isUtf8(std::string_view text);

// At most `limit` bytes from the front, never half a character: what is cut from valid UTF-8 stays valid.
std::string_view clip(std::string_view text, std::size_t limit = 64);

}  // namespace witan
