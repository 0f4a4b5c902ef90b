// SecretStrike: takes a tool's secret out of what the tool says back, before any record, transcript or log gets it. Its
// exact bytes, and those forms in which programs write them: bytes of it escaped as in JSON, C or a URL, all of it in
// base64 (also inside of a longer text) or hexadecimal. A form that is cut off at the end of a text goes, too.
//
// Immutable; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/secret.h"

namespace witan::node {

class SecretStrike {
 public:
  static constexpr std::size_t kFewest = 4;  // bytes: a shorter one would strike words that say nothing of it
  static constexpr std::string_view kStruck = "[secret]";

  // Null: strikes nothing.
  explicit SecretStrike(const Secret* secret);

  // O(text * (secret + forms)).
  std::string of(std::string_view text) const;
  // Every text and every name of a member.
  json::value ofJson(const json::value& value) const;

 private:
  void add(std::string form);

  Secret value_;
  std::vector<Secret> forms_;  // in base64, the longest first
};

}  // namespace witan::node
