// CVSS 3.0, 3.1 and 4.0: whether a text is a vector, and its score (first.org, Specification Documents: 3.1, sections 6
// and 7; 4.0, section 8).
//
// The score is that of all metrics that the vector has; of 3.0 and 3.1: environmental if one of those is defined, else
// temporal, else base. Pure; the same on every machine, since nothing but products, sums and a rounding to tenths is
// computed.
#pragma once

#include <optional>
#include <string_view>

namespace witan::rules {

// In tenths, 0 to 100. None: no vector ("CVSS:3.1/", then each metric once, the eight of the base among them; of 4.0
// the eleven of the base, then the others, in the order of the specification). O(n).
std::optional<int> cvssTenths(std::string_view vector);
std::optional<int> cvss4Tenths(std::string_view vector);  // of 4.0 alone

// NONE, LOW, MEDIUM, HIGH, CRITICAL.
bool isSeverityWord(std::string_view word);

}  // namespace witan::rules
