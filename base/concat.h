// concat("at most ", most, " of ", name): one text of several parts: texts, characters, and whole numbers in decimal
// digits. Pure, any thread. O(bytes).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace witan {

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  const auto append = [&out]<class T>(const T& part) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>)
      out += std::to_string(part);
    else if constexpr (std::is_same_v<T, char>)
      out += part;
    else
      out += std::string_view(part);
  };
  (append(parts), ...);
  return out;
}

}  // namespace witan
