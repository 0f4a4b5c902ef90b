// The tools that one control token may use, made from what a node says of itself: its OpenAPI document and the
// descriptions of its domains. A tool is an operation of the control API, or one action of a domain.
//
// Pure functions of their arguments; a Catalogue may be read by any thread. Nothing must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace witan::mcp {

// What a tool call asks of the control API.
struct ApiRequest {
  bool reads = false;  // GET: `body` has the members of the query
  std::string path;
  json::object body;
};

struct Tool {
  std::string name, title;
  json::object inputSchema;
  bool reads = false;
  std::string path;                  // of the API; a segment {name} is an argument
  std::string domain, role, action;  // of a tool for one action; else empty
};

class Catalogue {
 public:
  // `role`: of the token, as control.tokens names it. Tools in the order of their names. Errors: invalidInput, the
  // documents lack an operation or are of no known form.
  static Result<Catalogue> make(const json::value& openApi, const std::vector<json::value>& domains,
                                std::string_view role);

  const std::vector<Tool>& tools() const { return tools_; }
  // Null: there is none.
  const Tool* find(std::string_view name) const;

 private:
  std::vector<Tool> tools_;
};

// Errors: invalidInput; an argument that stands in the path, or the action of an action's tool, is missing or of
// another form. The node checks everything else.
Result<ApiRequest> requestOf(const Tool& tool, const json::object& arguments);

}  // namespace witan::mcp
