#include "mcp/catalogue.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json_codec.h"
#include "base/quote.h"
#include "mcp/resource_uri.h"

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
// As node/api/control_tokens.h says.
bool includes(std::string_view held, std::string_view needed) {
  return held == "admin" || held == needed || needed == "observer";
}

std::string roleNeeded(const json::value& operation) {
  for (const json::value& scheme : rowsIn(operation, "security"))
    for (const json::value& role : rowsIn(scheme, "bearer"))
      if (role.is_string()) return std::string(role.get_string());
  return "admin";
}

json::object querySchema(const json::value& operation) {
  json::object properties;
  json::array required;
  for (const json::value& parameter : rowsIn(operation, "parameters")) {
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
      return Tool{wanted.tool, textOf(*operation, "summary"), std::move(*schema), reads, std::string(path), {}, {}, {}};
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
              {{"domain", domain}, {"role", role}},
              name,
              {}};
}

// The tools of a participant: its slice, its own acts and what became of them. The arguments are what is left to say.
Tool narrowed(Tool tool, json::object fixed, std::initializer_list<std::string_view> arguments, std::string ownRole) {
  const json::value given = std::exchange(tool.inputSchema["properties"], json::object());
  json::object& properties = tool.inputSchema["properties"].get_object();
  for (const std::string_view name : arguments)
    if (const json::value* schema = memberOf(given, name)) properties[name] = *schema;
  tool.inputSchema["required"] = json::array{"entity"};
  tool.title = ownRole.empty() ? "The fields of an entity that this role sees" : "What became of this role's proposals";
  tool.fixed = std::move(fixed);
  tool.ownRole = std::move(ownRole);
  return tool;
}

// Of an entry that tells how the role's own proposal went: what it asked, how that was decided and why. No field.
json::object fateOf(const json::value& entry) {
  json::object fate;
  for (const char* name :
       {"seq", "time", "tag", "operationId", "action", "invariant", "message", "escalation", "reason"})
    if (const json::value* member = memberOf(entry, name)) fate[name] = *member;
  return fate;
}

Status checkParticipant(const std::map<std::string, std::set<std::string>>& roles,
                        const std::vector<json::value>& domains, const Authority& authority) {
  const auto known = roles.find(authority.domain);
  if (known == roles.end() || !known->second.contains(authority.role))
    return Error{ErrorCode::notFound, "no domain has the role " + authority.domain + "." + authority.role,
                 "witan domain list names the roles"};
  if (authority.counselor.empty()) return okStatus();
  for (const json::value& domain : domains) {
    const json::array& names = rowsIn(domain, "counselors");
    const bool here = textOf(domain, "name") == authority.domain;
    if (here && std::find(names.begin(), names.end(), json::value(authority.counselor)) != names.end())
      return okStatus();
  }
  return Error{ErrorCode::notFound,
               "the domain " + authority.domain + " has no counselor " + inQuotes(authority.counselor),
               "witan domain show " + authority.domain};
}

}  // namespace

std::string Authority::words() const {
  return domain + "." + role + (key.empty() ? "" : ":" + key) + (counselor.empty() ? "" : "/" + counselor);
}

Status narrow(Authority& authority, std::string_view words) {
  const std::size_t dot = words.find('.'), colon = words.find(':');
  if (colon != std::string_view::npos) {
    authority.key = words.substr(colon + 1);
    if (authority.key.empty()) return invalid(inQuotes(words) + " has an empty key");
    words = words.substr(0, colon);
  }
  const std::size_t slash = std::min(words.find('/'), words.size());
  if (!authority.key.empty() && slash < words.size())
    return invalid(inQuotes(words) + ": a participant with a key has no counselor");
  if (dot == 0 || dot == std::string_view::npos || dot + 1 >= slash || slash + 1 == words.size())
    return invalid(inQuotes(words) + " is not DOMAIN.ROLE", "witan domain list names the roles");
  authority.domain = words.substr(0, dot);
  authority.role = words.substr(dot + 1, slash - dot - 1);
  if (slash < words.size()) authority.counselor = words.substr(slash + 1);
  return okStatus();
}

Result<Catalogue> Catalogue::make(const json::value& openApi, const std::vector<json::value>& domains,
                                  const Authority& authority) {
  Catalogue made;
  made.authority_ = authority;
  for (const Operation& operation : kOperations) {
    bool found = false;
    if (auto tool = toolOf(openApi, operation, authority.token, found)) made.tools_.push_back(std::move(*tool));
    if (!found) return invalid(std::string("the node's OpenAPI document has no operation ") + operation.operationId);
  }
  for (const json::value& domain : domains)
    for (const json::value& role : rowsIn(domain, "roles"))
      made.roles_[textOf(domain, "name")].insert(textOf(role, "name"));
  const bool proposes = made.find("propose") != nullptr;
  if (authority.participant()) {
    WITAN_DO(checkParticipant(made.roles_, domains, authority));
    Tool slice =
        narrowed(*made.find("slice"), {{"domain", authority.domain}, {"role", authority.role}}, {"entity"}, {});
    Tool why = narrowed(*made.find("why"), {{"domain", authority.domain}}, {"entity", "limit"}, authority.role);
    made.tools_ = {std::move(slice)};
    if (authority.key.empty())
      made.tools_.push_back(std::move(why));  // it would tell of proposals about other rows
    else
      made.tools_[0].fixed["key"] = authority.key;
  }
  const auto own = [&](const json::value& object, const char* member, const std::string& wanted) {
    return !authority.participant() || textOf(object, member) == wanted;
  };
  for (const json::value& domain : domains)
    for (const json::value& process : rowsIn(domain, "processes"))
      if (proposes && own(domain, "name", authority.domain) && own(process, "role", authority.role))
        if (auto tool = actionTool(textOf(domain, "name"), process)) {
          if (!authority.key.empty()) tool->fixed["key"] = authority.key;
          made.tools_.push_back(std::move(*tool));
        }
  std::sort(made.tools_.begin(), made.tools_.end(), [](const Tool& a, const Tool& b) { return a.name < b.name; });
  return made;
}

Offer Catalogue::offer() const {
  Offer offer{{{"tools", json::object()}, {"resources", json::object{{"subscribe", true}}}}};
  offer.templates = resourceTemplates(authority_);
  offer.knows = [this](std::string_view uri) {
    const Tool* tool = nullptr;
    return resource(uri, tool).has_value();
  };
  for (const Tool& tool : tools_)
    offer.tools.push_back(
        json::object{{"name", tool.name},
                     {"title", tool.title},
                     {"description", tool.title},
                     {"inputSchema", tool.inputSchema},
                     {"annotations", json::object{{"readOnlyHint", tool.reads || tool.name == "preview"},
                                                  {"destructiveHint", false},
                                                  {"openWorldHint", false}}}});
  return offer;
}

std::optional<ApiRequest> Catalogue::resource(std::string_view uri, const Tool*& tool) const {
  const auto asked = parseResource(uri);
  if (!asked) return std::nullopt;
  const auto roles = roles_.find(asked->domain);
  const bool slice = !asked->role.empty();
  if (roles == roles_.end() || (slice && !roles->second.contains(asked->role))) return std::nullopt;
  const bool own = asked->domain == authority_.domain && (!slice || asked->role == authority_.role);
  if (authority_.participant() && !own) return std::nullopt;
  json::object arguments{{"entity", asked->entity}};
  if (!authority_.participant()) {
    arguments["domain"] = asked->domain;
    if (slice) arguments["role"] = asked->role;
  }
  tool = find(slice ? "slice" : "why");
  if (tool == nullptr) return std::nullopt;
  auto request = requestOf(*tool, arguments);
  return request.ok() ? std::optional(std::move(*request)) : std::nullopt;
}

const Tool* Catalogue::find(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools_.end() ? nullptr : &*found;
}

Result<ApiRequest> requestOf(const Tool& tool, const json::object& arguments) {
  const json::value* known = tool.inputSchema.if_contains("properties");
  for (const auto& [name, value] : arguments)
    if (known == nullptr || memberOf(*known, name) == nullptr)
      return invalid("the argument " + inQuotes(name) + " is unknown");
    else if (!value.is_string() && textOf(*memberOf(*known, name), "type") == "string")
      return wrongJsonType(name, "text", value);  // a query would make a text of it
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
  for (const auto& [name, value] : tool.fixed) request.body[name] = value;
  if (tool.action.empty()) return request;
  json::value* action = request.body.if_contains("action");
  if (action == nullptr || !action->is_object()) return invalid("the argument action must be an object");
  if (action->get_object().contains("type")) return invalid("the argument action has a type, which the tool fixes");
  action->get_object()["type"] = tool.action;
  return request;
}

// Its escalated proposals come before the decisions on them: rows are oldest first.
json::value shownBy(const Tool& tool, const json::value& answer) {
  if (tool.ownRole.empty()) return answer;
  json::array fates;
  std::set<std::string> own;  // PARTITION/NUMBER
  for (const json::value& row : rowsIn(answer, "entries")) {
    const json::value* entry = memberOf(row, "entry");
    if (entry == nullptr) continue;
    const auto keyOf = [&](const char* number) {
      const json::value* seq = memberOf(*entry, number);
      return textOf(row, "partition") + "/" + (seq == nullptr ? "" : canonicalJson(*seq));
    };
    const bool proposed = textOf(*entry, "role") == tool.ownRole;
    if (proposed) own.insert(keyOf("seq"));
    const bool decided = memberOf(*entry, "escalation") != nullptr && own.contains(keyOf("escalation"));
    if (proposed || decided) fates.push_back(fateOf(*entry));
  }
  return json::object{{"entries", std::move(fates)}};
}

Outcome outcomeOf(const Tool& tool, const Result<json::value>& answer) {
  if (!answer.ok()) {
    const Error& error = answer.error();
    return failedTool(error.message + (error.hint.empty() ? "" : "\n" + error.hint));
  }
  const json::value shown = shownBy(tool, *answer);
  Outcome outcome{{{"content", json::array{json::object{{"type", "text"}, {"text", canonicalJson(shown)}}}}}};
  if (shown.is_object()) outcome.result["structuredContent"] = shown;
  return outcome;
}

}  // namespace witan::mcp
