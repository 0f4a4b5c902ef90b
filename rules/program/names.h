// Names that rules compare byte by byte, in one form each: CVE ids, procedure codes, e-mail addresses, organisations
// and people; and what a text states.
//
// Processes store the canonical form, so that another spelling is no other name; invariants refuse what has none. Only
// ASCII letters have a case here, and letters that merely look alike stay different (docs/FINDINGS.md). Compiled
// domains and the functions of rule files share it. Pure; texts are valid UTF-8, which every codec ensures. All are
// O(n).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace witan::rules {

// White space as Unicode has it (and as people paste it): it states nothing.
constexpr bool isBlank(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200B) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x2060 ||
         c == 0x3000 || c == 0xFEFF;
}

// Characters from the first to the last that is not white space.
std::int64_t trimmedLength(std::string_view text);

// Says something: a text of white space alone is an empty one.
inline bool isStated(std::string_view text) { return trimmedLength(text) > 0; }

// The text without white space around it, and with a single space for each white space within.
std::string spacedOnce(std::string_view text);

// A name that rules compare byte by byte: stated, at most `most` bytes, no control characters, and no white space but
// single spaces within. So no two of them look alike for their blanks.
bool isCanonicalName(std::string_view name, std::size_t most = 256);

// CVE-<year>-<number of 4 to 19 digits> (CVE_Record_Format.json).
bool isCveId(std::string_view text);

// "CVE-2026-0001" for " cve-2026-1 "; what is no CVE id is only trimmed, and isCveId refuses it.
std::string canonicalCveId(std::string_view text);

// A code of HCPCS: level I is CPT (five digits, or four and one of A, F, M, T, U), level II a letter A to V and four
// digits. Whether such a code was ever assigned is not known here. None: " g0480 " has one, "80307-QW" has none.
std::optional<std::string> canonicalProcedureCode(std::string_view text);

// Lower case, without what stands between "+" and "@" (RFC 5233), which delivers to the same person. The local part is
// a dot-atom (RFC 5322) and the domain of at least two labels in ASCII; quoted local parts and literals are none.
std::optional<std::string> canonicalEmail(std::string_view text);

// Of an organisation or a person: lower case, without white space around it, and with single spaces within; an e-mail
// address in its own form.
std::string canonicalName(std::string_view text);

// Is it in that form? A text with "@" behind its first character must be an address, or a URL.
bool isPartyName(std::string_view text);

}  // namespace witan::rules
