// Conformance cases of CEL: JSON Lines {"name","expr","vars"?,"unchecked"?}, each answered with {"name","value"} or
// {"name","error":{"code","message","line","column"}}. Values as the cases have them: {"int":"-1"}, {"uint":"1"},
// {"double":"1.5"}, {"bytes":base64}, {"type":"int"}, {"map":[[key,value],...]}; the rest as in JSON. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace witan::rules {

Result<json::object> evaluateCase(std::string_view line);

}  // namespace witan::rules
