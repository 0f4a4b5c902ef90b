// Values of rule files as JSON: fields, arguments, edits and write sets. Times, days and tuples have the forms of
// base/json_codec.h; a duration is written as CEL has it ("1.5s"). Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "rules/cel/type.h"

namespace witan::rules {

// The value lies in the arena. `where` begins the message of an error.
Result<Value> readValue(Arena& arena, const json::value& from, const Type& type, const std::string& where);
// Canonical.
void writeValue(std::string& out, const Value& value, const Type& type);
json::object schemaOf(const Type& type);
// Without a type: of a policy.
Value valueOfJson(Arena& arena, const json::value& from);
// What a field of this type holds at first: nothing, empty, the first word, 1970-01-01.
Value firstValue(Arena& arena, const Type& type);
// As Signature::fields shows it.
std::string typeName(const Type& type);

}  // namespace witan::rules
