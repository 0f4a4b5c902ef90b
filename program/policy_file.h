// Reads a policy (TOML with comments, or JSON) into the JSON object that a domain's policy is made from.
#pragma once

#include <string>

#include "base/json.h"

namespace witan::node {

// Errors name the file and, for TOML, the line. At most 1 MiB; nested at most 32 deep.
// `name` decides the form: JSON if it ends in .json, else TOML.
Result<json::object> parsePolicy(std::string_view text, const std::string& name);
Result<json::object> readPolicyFile(const std::string& path);

}  // namespace witan::node
