#include "base/json_schema.h"

namespace witan {

json::object typeSchema(std::string_view type, std::string_view format) {
  json::object schema{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  return schema;
}

}  // namespace witan
