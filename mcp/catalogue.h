// The tools that one control token may use, made from what a node says of itself: its OpenAPI document and the
// descriptions of its domains. A tool is an operation of the control API, or one action of a domain.
//
// Pure functions of their arguments; a Catalogue may be read by any thread. Nothing must outlive it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.h"

namespace witan::mcp {

// What a tool call asks of the control API.
struct ApiRequest {
  bool reads = false;  // GET: `body` has the members of the query
  std::string path;
  json::object body;
  bool counselor = false;  // with the rights of a counselor, whatever the token is
};

// Whom the client acts for. With a domain and a role it is a participant: it sees and does what this role may, whatever
// the token could do besides.
struct Authority {
  std::string token;         // observer, operator, counselor or admin, as control.tokens names it
  std::string domain, role;  // both or neither
  std::string key;           // of a participant: it sees and does what concerns the rows of this key only
  std::string counselor;     // of a participant: the person at the client, who decides what it proposes and escalates
  bool participant() const { return !role.empty(); }
  std::string words() const;  // of a participant, as narrow() takes them
};
// Errors: invalidInput; `words` is neither DOMAIN.ROLE nor DOMAIN.ROLE:KEY nor DOMAIN.ROLE/COUNSELOR. A counselor sees
// all of an entity, so that one with a key has none.
Status narrow(Authority& authority, std::string_view words);

struct Tool {
  std::string name, title;
  json::object inputSchema;
  bool reads = false;
  std::string path;     // of the API; a segment {name} is an argument
  json::object fixed;   // members of each request, which no argument may name
  std::string action;   // of a tool for one action: its type; else empty
  std::string ownRole;  // of a participant's `why`: only what this role proposed is shown
};

class Catalogue {
 public:
  // Tools in the order of their names. Errors: invalidInput, the documents lack an operation or are of no known form;
  // notFound, no domain has the participant's role or its counselor.
  static Result<Catalogue> make(const json::value& openApi, const std::vector<json::value>& domains,
                                const Authority& authority);

  const std::vector<Tool>& tools() const { return tools_; }
  const Authority& authority() const { return authority_; }
  // What a server says of them, and of resources (mcp/resource_uri.h). The catalogue outlives it.
  Offer offer() const;
  // What reads it, and the tool that does the same. None: there is none, or it is not for this authority.
  std::optional<ApiRequest> resource(std::string_view uri, const Tool*& tool) const;
  // Null: there is none.
  const Tool* find(std::string_view name) const;

 private:
  Authority authority_;
  std::vector<Tool> tools_;
  std::map<std::string, std::set<std::string>> roles_;  // by domain
};

// Errors: invalidInput; an argument is unknown, or one that stands in the path, or the action of an action's tool, is
// missing or of another form. The node checks everything else.
Result<ApiRequest> requestOf(const Tool& tool, const json::object& arguments);
// What the client may see of the node's answer. O(answer).
json::value shownBy(const Tool& tool, const json::value& answer);
// The same as the result of a tool; of an error, a failed one.
Outcome outcomeOf(const Tool& tool, const Result<json::value>& answer);

}  // namespace witan::mcp
