// Bytes as text: hexadecimal and base64 (RFC 4648). Pure functions, any thread.
//
// Decoders are strict: one text for one byte string, so that a text can be compared instead of the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"

namespace witan {

// Lower case, two digits per byte.
std::string toHex(std::span<const std::uint8_t> bytes);
std::string toHex(const Hash& hash);
void appendHex(std::string& out, std::span<const std::uint8_t> bytes);

// Lower case only, even length; the error names the offending position.
Result<std::string> fromHex(std::string_view text);

// Exactly 64 lower-case digits.
Result<Hash> hashFromHex(std::string_view text);

// RFC 4648 section 4: the standard alphabet with padding, no line breaks.
std::string toBase64(std::string_view bytes);

// Refuses missing or surplus padding, characters outside the alphabet and non-zero trailing bits (section 3.5).
Result<std::string> fromBase64(std::string_view text);

// The bytes of a hash, key or signature as a view; the argument must outlive it.
std::string_view asView(std::span<const std::uint8_t> bytes);
std::string_view asView(const Hash& hash);

// The bytes of a text; the argument's storage must outlive it.
std::span<const std::uint8_t> asBytes(std::string_view text);

}  // namespace witan
