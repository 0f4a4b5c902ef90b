// JSON form of a std::map with text keys: an object. For configuration such as {"spam":1,"scam":5}. As the rest of
// base/json_codec.h: strict reading, canonical writing (keys in the order of their bytes), pure functions.
#pragma once

#include <map>
#include <string>

#include "base/json_codec.h"

namespace witan {

template <class T>
struct JsonCodec<std::map<std::string, T>> {
  static Status read(const json::value& v, std::map<std::string, T>& out, std::string_view where) {
    if (!v.is_object()) return wrongJsonType(where, "an object", v);
    if (v.get_object().size() > kListMax)
      return invalid(std::string(where) + ": more than " + std::to_string(kListMax) + " members");
    out.clear();
    for (const auto& [key, value] : v.get_object())
      WITAN_DO(readJson(value, out[std::string(key)], std::string(where) + "." + std::string(clip(key))));
    return okStatus();
  }
  static void write(std::string& out, const std::map<std::string, T>& v) {
    char before = '{';
    for (const auto& [key, value] : v) {
      out += before;
      before = ',';
      appendJsonString(out, key);
      out += ':';
      writeJson(out, value);
    }
    out += v.empty() ? "{}" : "}";
  }
  static std::string typeName() { return "map of " + JsonCodec<T>::typeName(); }
};

}  // namespace witan
