// Forms of what is given on the command line, as checks for CLI11's options: called while the line is parsed, before
// any command begins. What a check refuses is wrong usage, which cli/main.cpp answers in one place, with exit
// code 2. CLI11's own reading of numbers is not enough: it takes -1 for the largest number there is, and 010 for eight.
//
// All but reportUsage are pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/result.h"
#include "program/command_line.h"

namespace witan::node {

// 30 days: nobody waits longer at a prompt, and no clock overflows.
inline constexpr std::uint64_t kMostWaitSeconds = 30 * 86'400;

// Decimal digits alone.
OptionCheck wholeNumber(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
OptionCheck notEmpty();
// An id (base/identity.h); `what` names it.
OptionCheck idText(const std::string& what);
// An id of 64 hexadecimal digits, or the first of them. `what` names it; `where` it can be seen: a command.
OptionCheck firstDigits(const std::string& what, const std::string& where);
// A JSON text; `object`: of an object.
OptionCheck jsonText(bool object = false);

// Whatever `read` takes: it makes a Result of a text.
template <class Read>
OptionCheck readBy(Read read) {
  return [read](const std::string& text) {
    const auto value = read(text);
    if (value.ok()) return std::string();
    const Error& why = value.error();
    return why.message + (why.hint.empty() ? "" : " (" + why.hint + ")");
  };
}

}  // namespace witan::node
