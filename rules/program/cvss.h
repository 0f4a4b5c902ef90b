// CVSS 3.0 and 3.1: whether a text is a vector, and its score (first.org, Specification Document, sections 6 and 7).
//
// The score is that of all metrics that the vector has: environmental if one of those is defined, else temporal, else
// base. Pure; the same on every machine, since nothing but products, sums and a rounding to tenths is computed.
#pragma once

#include <optional>
#include <string_view>

namespace witan::rules {

// In tenths, 0 to 100. None: no vector ("CVSS:3.1/", then each metric once, the eight of the base among them). O(n).
std::optional<int> cvssTenths(std::string_view vector);

// NONE, LOW, MEDIUM, HIGH, CRITICAL.
bool isSeverityWord(std::string_view word);

}  // namespace witan::rules
