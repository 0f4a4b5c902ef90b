// JSON files that somebody names on a command line: what is wrong with one is said with its name.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace witan::node {

// The error with the name of the file that it is about.
Error named(const std::string& path, Error error);

// JSON of a file, or of standard input for "-". Errors: as readInput; invalid, named.
Result<json::value> readJsonFile(const std::string& path, JsonLimits limits);

}  // namespace witan::node
