// Names that the rules of disclosure compare byte by byte, in one form each: CVE ids, organisations, maintainers.
//
// Processes store the canonical form, so that another spelling is no other name; invariants refuse what has none. Only
// ASCII letters have a case here, and letters that merely look alike stay different (docs/FINDINGS.md). Pure.
#pragma once

#include <string>
#include <string_view>

namespace witan::domains::disclosure {

// CVE-<year>-<number of 4 to 19 digits> (CVE_Record_Format.json).
bool isCveId(std::string_view text);

// "CVE-2026-0001" for " cve-2026-1 "; what is no CVE id is only trimmed, and isCveId refuses it.
std::string canonicalCveId(std::string_view text);

// Lower case, without white space around it, and with single spaces within.
std::string canonicalName(std::string_view text);

}  // namespace witan::domains::disclosure
