#include "mcp/catalogue.h"

#include <algorithm>

#include "base/quote.h"

namespace witan::mcp {

namespace {

struct Operation {
  const char* tool;
  const char* operationId;
};
constexpr Operation kOperations[] = {
    {"answer", "decideQueued"},        {"begin", "beginEntity"},      {"domain.list", "listDomains"},
    {"domain.show", "describeDomain"}, {"inbox", "listQueue"},        {"journal.get", "getJournal"},
    {"journal.list", "listJournal"},   {"journal.put", "putJournal"}, {"preview", "previewCommit"},
    {"propose", "proposeAction"},      {"slice", "readSlice"},        {"why", "listLedgerEntries"},
};

// Of a value, never of an object: its conversion would leave a pointer into a copy.
const json::value* memberOf(const json::object&, std::string_view) = delete;
const json::value* memberOf(const json::value& value, std::string_view name) {
  return value.is_object() ? value.get_object().if_contains(name) : nullptr;
}
const json::value* at(const json::value& value, std::initializer_list<std::string_view> names) {
  const json::value* found = &value;
  for (const std::string_view name : names)
    if (found != nullptr) found = memberOf(*found, name);
  return found;
}
std::string textOf(const json::value& value, std::string_view name) {
  const json::value* text = memberOf(value, name);
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : "";
}
const json::array& rowsOf(const json::object&, std::string_view) = delete;
const json::array& rowsOf(const json::value& value, std::string_view name) {
  static const json::array none;
  const json::value* rows = memberOf(value, name);
  return rows != nullptr && rows->is_array() ? rows->get_array() : none;
}

// As node/api/control_tokens.h says.
bool includes(std::string_view held, std::string_view needed) {
  return held == "admin" || held == needed || needed == "observer";
}

std::string roleNeeded(const json::value& operation) {
  for (const json::value& scheme : rowsOf(operation, "security"))
    for (const json::value& role : rowsOf(scheme, "bearer"))
      if (role.is_string()) return std::string(role.get_string());
  return "admin";
}

json::object querySchema(const json::value& operation) {
  json::object properties;
  json::array required;
  for (const json::value& parameter : rowsOf(operation, "parameters")) {
    const std::string name = textOf(parameter, "name");
    const json::value* schema = memberOf(parameter, "schema");
    json::object property = schema != nullptr && schema->is_object() ? schema->get_object() : json::object();
    property["description"] = textOf(parameter, "description");
    properties[name] = std::move(property);
    const json::value* must = memberOf(parameter, "required");
    if (must != nullptr && must->is_bool() && must->get_bool()) required.emplace_back(name);
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

std::optional<json::object> bodySchema(const json::value& openApi, const json::value& operation) {
  const json::value* schema = at(operation, {"requestBody", "content", "application/json", "schema"});
  if (schema == nullptr) return std::nullopt;
  const std::string reference = textOf(*schema, "$ref");
  if (!reference.empty()) schema = at(openApi, {"components", "schemas", reference.substr(reference.rfind('/') + 1)});
  if (schema == nullptr || !schema->is_object()) return std::nullopt;
  return schema->get_object();
}

std::optional<Tool> toolOf(const json::value& openApi, const Operation& wanted, std::string_view held, bool& found) {
  const json::value* paths = memberOf(openApi, "paths");
  if (paths == nullptr || !paths->is_object()) return std::nullopt;
  for (const auto& [path, methods] : paths->get_object())
    for (const char* method : {"get", "post"}) {
      const json::value* operation = memberOf(methods, method);
      if (operation == nullptr || textOf(*operation, "operationId") != wanted.operationId) continue;
      const bool reads = method == std::string_view("get");
      auto schema = reads ? querySchema(*operation) : bodySchema(openApi, *operation);
      found = schema.has_value();
      if (!found || !includes(held, roleNeeded(*operation))) return std::nullopt;
      return Tool{wanted.tool, textOf(*operation, "summary"), std::move(*schema), reads, std::string(path)};
    }
  return std::nullopt;
}

// The action without its type, which the tool's name says.
json::object actionSchema(const json::object& schema) {
  json::object own = schema;
  if (json::value* properties = own.if_contains("properties"); properties != nullptr && properties->is_object())
    properties->get_object().erase("type");
  json::array required;
  if (const json::value* names = schema.if_contains("required"); names != nullptr && names->is_array())
    for (const json::value& name : names->get_array())
      if (name != "type") required.push_back(name);
  own["required"] = std::move(required);
  return own;
}

std::optional<Tool> actionTool(const std::string& domain, const json::value& process) {
  const std::string role = textOf(process, "role"), name = textOf(process, "name");
  const json::value* schema = memberOf(process, "schema");
  if (role.empty() || name.empty() || schema == nullptr || !schema->is_object()) return std::nullopt;
  const auto text = [](const char* about) {
    return json::object{{"type", "string"}, {"minLength", 1}, {"description", about}};
  };
  json::object input{
      {"type", "object"},
      {"properties", json::object{{"entity", text("Id of the entity")},
                                  {"action", actionSchema(schema->get_object())},
                                  {"operationId", text("A repeated id is answered from the ledger; default: a new id")},
                                  {"waitMs", json::object{{"type", "integer"},
                                                          {"minimum", 0},
                                                          {"description",
                                                           "Milliseconds to wait for the decision; default: 10000"}}}}},
      {"required", json::array{"entity", "action"}},
      {"additionalProperties", false}};
  return Tool{domain + "." + name,
              "Proposes " + name + " in " + domain + " as " + role,
              std::move(input),
              false,
              "/v1/propose",
              domain,
              role,
              name};
}

}  // namespace

Result<Catalogue> Catalogue::make(const json::value& openApi, const std::vector<json::value>& domains,
                                  std::string_view role) {
  Catalogue made;
  for (const Operation& operation : kOperations) {
    bool found = false;
    if (auto tool = toolOf(openApi, operation, role, found)) made.tools_.push_back(std::move(*tool));
    if (!found) return invalid(std::string("the node's OpenAPI document has no operation ") + operation.operationId);
  }
  if (made.find("propose") != nullptr)
    for (const json::value& domain : domains)
      for (const json::value& process : rowsOf(domain, "processes"))
        if (auto tool = actionTool(textOf(domain, "name"), process)) made.tools_.push_back(std::move(*tool));
  std::sort(made.tools_.begin(), made.tools_.end(), [](const Tool& a, const Tool& b) { return a.name < b.name; });
  return made;
}

const Tool* Catalogue::find(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools_.end() ? nullptr : &*found;
}

Result<ApiRequest> requestOf(const Tool& tool, const json::object& arguments) {
  ApiRequest request{tool.reads, tool.path, arguments};
  if (const std::size_t begin = tool.path.find('{'); begin != std::string::npos) {
    const std::size_t end = tool.path.find('}', begin);
    const std::string name = tool.path.substr(begin + 1, end - begin - 1);
    const std::string word = textOf(arguments, name);
    const bool plain = std::all_of(word.begin(), word.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
    if (word.empty() || !plain) return invalid("the argument " + name + " must be a name");
    request.path = tool.path.substr(0, begin) + word + tool.path.substr(end + 1);
    request.body.erase(name);
  }
  if (tool.action.empty()) return request;
  json::value* action = request.body.if_contains("action");
  if (action == nullptr || !action->is_object()) return invalid("the argument action must be an object");
  for (const char* fixed : {"domain", "role"})
    if (request.body.contains(fixed)) return invalid("the argument " + inQuotes(fixed) + " is unknown");
  if (action->get_object().contains("type")) return invalid("the argument action has a type, which the tool fixes");
  action->get_object()["type"] = tool.action;
  request.body["domain"] = tool.domain;
  request.body["role"] = tool.role;
  return request;
}

}  // namespace witan::mcp
