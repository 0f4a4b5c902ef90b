// JsonValidator: JSON Schema 2020-12 for schemas and values from outside (the tools of others, agents' files): bounded,
// and closed to what it does not know. compile() refuses a schema with a keyword, form or reference that it cannot
// check; check() refuses a value that costs more steps than the limits allow. It never fetches anything: references
// stay within the schema, which is one resource.
//
// Texts are compared as canonical JSON compares them (base/json.h); `format` and the content keywords are annotations;
// `x-...` keywords say nothing; a draft-07 schema is read by the rules of 2020-12, as far as it can be.
//
// kernel/graph/schema.h is another thing: a small closed language whose types can be compared with each other.
// A value; pure functions, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/bounded_regex.h"
#include "base/json.h"

namespace witan {

struct SchemaLimits {
  std::size_t depth = 64;           // schemas inside each other, references followed
  std::size_t schemas = 20'000;     // in one document
  std::uint64_t steps = 1'000'000;  // of one check: schemas applied, characters matched
};

class JsonValidator {
 public:
  // Errors: invalid, naming the place in the schema.
  static Result<JsonValidator> compile(json::value schema, SchemaLimits limits = {});

  // ok: the value conforms. Errors: invalid, naming place and keyword.
  Status check(const json::value& value) const;

 private:
  struct Compiled;
  explicit JsonValidator(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
  friend class SchemaReader;
  friend class SchemaCheck;
};

}  // namespace witan
