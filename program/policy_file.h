// Reads a file of TOML with comments, or of JSON, into one JSON object: policies, graphs.
#pragma once

#include <string>

#include "base/json.h"

namespace witan::node {

struct TableForm {
  const char* what;   // as messages call it
  bool dates = true;  // of TOML; as texts
};
inline constexpr TableForm kPolicyForm{"policy"};

// Errors name the file and, for TOML, the line. At most 1 MiB; JSON nested at most 32 deep, TOML as deep as toml++
// reads. `name` decides the form: JSON if it ends in .json, else TOML.
Result<json::object> parseTable(std::string_view text, const std::string& name, const TableForm& form);
Result<json::object> readTableFile(const std::string& path, const TableForm& form);

inline Result<json::object> parsePolicy(std::string_view text, const std::string& name) {
  return parseTable(text, name, kPolicyForm);
}
inline Result<json::object> readPolicyFile(const std::string& path) { return readTableFile(path, kPolicyForm); }

}  // namespace witan::node
