// OpenApiDocument: an HTTP API as an OpenAPI document (3.0 or 3.1, JSON) describes it: what each operation wants, the
// request that a call becomes, and what its answer has to be. The document is from outside: it is bounded, references
// stay within it, and an operation that is not understood cannot be called.
//
// The arguments of an operation are one object: its parameters by name, and `body`. A value; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_validator.h"
#include "net/http_message.h"

namespace witan::node {

class OpenApiDocument {
 public:
  struct Parameter {
    std::string name;
    enum class Place { path, query, header } place = Place::query;
  };
  struct Operation {
    std::string method, path;  // "POST", "/pets/{id}"
    std::string what;
    std::vector<Parameter> parameters;
    std::optional<JsonValidator> arguments;
    std::map<std::string, JsonValidator> answers;  // by status: "200", "2XX", "default"
    std::string problem;                           // why it cannot be called; empty: it can
  };

  // Errors: it is no such document, or too large.
  static Result<OpenApiDocument> read(std::string_view text);

  // By operationId.
  const std::map<std::string, Operation, std::less<>>& operations() const { return operations_; }
  const std::string& title() const { return title_; }

  // Errors: invalid, the operation or the arguments, in words for the caller.
  Result<net::HttpRequest> request(std::string_view operation, const json::object& arguments) const;
  // A 2xx answer's body. Errors: it breaks the document.
  Status check(std::string_view operation, int status, const json::value& body) const;

 private:
  std::string title_;
  std::map<std::string, Operation, std::less<>> operations_;
};

}  // namespace witan::node
