// Lines of a file or of standard input, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::node {

// Nothing that ends lines has lines like this.
inline constexpr std::size_t kEndlessLine = std::size_t{1} << 30;

struct InputLine {
  std::size_t number = 1;
  std::string_view text;  // without its end; empty if it was too long
  bool overlong = false;
};

// Visits every line of a path, or of standard input for "-"; what follows the last line end counts if it is not empty.
// Lines longer than `most` bytes are passed over and reported as such. Stops at the visitor's first error and returns
// it. Errors: cannot be opened or read; a line goes on for more than kEndlessLine bytes.
Status forEachLine(const std::string& path, std::size_t most, const std::function<Status(const InputLine&)>& visit);

// All of a file, or of standard input for "-". Errors: as above; a path that is no regular file; more than `most`
// bytes.
Result<std::string> readInput(const std::string& path, std::size_t most);

// How messages call it.
std::string inputName(const std::string& path);

}  // namespace witan::node
