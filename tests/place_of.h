// placeOf: the place that a refusal names first, which is a member, a key or a file; its cause is prose.
#pragma once

#include <string>
#include <string_view>

namespace witan::tests {

inline std::string placeOf(std::string_view message) {
  return std::string(message.substr(0, message.find_first_of(" :")));
}

}  // namespace witan::tests
