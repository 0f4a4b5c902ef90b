#include "program/json_file.h"

#include "program/line_reader.h"

namespace witan::node {

Error named(const std::string& path, Error error) {
  error.message = inputName(path) + ": " + error.message;
  return error;
}

Result<json::value> readJsonFile(const std::string& path, JsonLimits limits) {
  WITAN_TRY(text, readInput(path, limits.bytes));
  auto parsed = parseJson(text, limits);
  return parsed.ok() ? std::move(parsed) : named(path, parsed.error());
}

}  // namespace witan::node
