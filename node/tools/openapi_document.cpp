#include "node/tools/openapi_document.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/bytes.h"
#include "base/quote.h"

namespace witan::node {

namespace {

constexpr JsonLimits kDocument{.bytes = 4 << 20, .depth = 64};
constexpr std::size_t kMostOperations = 1'000, kMostParameters = 64, kMostDepth = 48, kMostNodes = 50'000;
constexpr std::string_view kSchemas = "#/components/schemas/";
constexpr std::array<std::string_view, 5> kMethods{"delete", "get", "patch", "post", "put"};
// Of OpenAPI's own, which say nothing about a value.
constexpr std::array<std::string_view, 4> kNotes{"discriminator", "example", "externalDocs", "xml"};
// Keywords whose members are schemas, and those whose values are none.
constexpr std::array<std::string_view, 4> kMaps{"properties", "patternProperties", "dependentSchemas", "$defs"};
constexpr std::array<std::string_view, 4> kPlain{"const", "default", "enum", "examples"};
// Headers that no argument sets: those are ignored, and these make the operation unusable.
constexpr std::array<std::string_view, 3> kOurs{"accept", "authorization", "content-type"};
constexpr std::array<std::string_view, 7> kNever{"connection", "content-length", "cookie",           "host",
                                                 "te",         "upgrade",        "transfer-encoding"};

bool isOneOf(const auto& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

std::string lowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

const json::object* objectAt(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

std::string textAt(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool trueAt(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// Schemas of the document, each made one that stands alone.
class Schemas {
 public:
  explicit Schemas(const json::object& document) : document_(document) {}

  // With the schemas that it refers to as its $defs.
  Result<JsonValidator> compile(json::value schema) {
    used_.clear(), nodes_ = 0;
    json::object defs;
    WITAN_DO(take(schema, 0));
    for (std::set<std::string> done; done.size() < used_.size();) {
      const std::string name = *std::ranges::find_if(used_, [&](const auto& one) { return !done.contains(one); });
      const json::object* components = objectAt(document_, "components");
      const json::object* all = components != nullptr ? objectAt(*components, "schemas") : nullptr;
      const json::value* found = all != nullptr ? all->if_contains(name) : nullptr;
      if (found == nullptr) return invalid("there is no schema " + inQuotes(name));
      json::value copy = *found;
      WITAN_DO(take(copy, 0));
      defs[name] = std::move(copy);
      done.insert(name);
    }
    if (!defs.empty()) {
      if (!schema.is_object()) return invalid("a schema is no object");
      schema.get_object()["$defs"] = std::move(defs);
    }
    return JsonValidator::compile(std::move(schema));
  }

  // A part of the document, perhaps by reference.
  const json::object* resolved(const json::value& part) const {
    const json::object* object = part.if_object();
    for (int hops = 0; object != nullptr && object->contains("$ref"); ++hops) {
      std::string path = textAt(*object, "$ref");
      if (hops > 8 || !path.starts_with("#/")) return nullptr;
      const json::value* at = nullptr;
      const json::object* in = &document_;
      for (path.erase(0, 2); in != nullptr && !path.empty();) {
        const std::string step = path.substr(0, path.find('/'));
        path.erase(0, std::min(path.size(), step.size() + 1));
        at = in->if_contains(step);
        in = at != nullptr ? at->if_object() : nullptr;
      }
      object = in;
    }
    return object;
  }

 private:
  // References become those of a schema that stands alone.
  Status take(json::value& schema, std::size_t depth) {
    if (depth > kMostDepth || ++nodes_ > kMostNodes) return invalid("a schema is too large");
    if (json::array* list = schema.if_array()) {
      for (json::value& one : *list) WITAN_DO(take(one, depth + 1));
      return okStatus();
    }
    json::object* object = schema.if_object();
    if (object == nullptr) return okStatus();
    for (const std::string_view note : kNotes) object->erase(note);
    if (json::value* reference = object->if_contains("$ref"); reference != nullptr && reference->is_string()) {
      const std::string target(reference->get_string());
      if (!target.starts_with(kSchemas) || target.find('/', kSchemas.size()) != target.npos)
        return invalid("a reference to " + inQuotes(target) + " cannot be followed");
      used_.insert(target.substr(kSchemas.size()));
      *reference = "#/$defs/" + target.substr(kSchemas.size());
    }
    for (auto& member : *object) {
      if (isOneOf(kPlain, member.key())) continue;
      json::object* map = isOneOf(kMaps, member.key()) ? member.value().if_object() : nullptr;
      if (map == nullptr) {
        WITAN_DO(take(member.value(), depth + 1));
        continue;
      }
      for (auto& one : *map) WITAN_DO(take(one.value(), depth + 1));
    }
    return okStatus();
  }

  const json::object& document_;
  std::set<std::string> used_;
  std::size_t nodes_ = 0;
};

// Of the JSON that a request body or an answer may have. Null: it has none.
const json::value* jsonSchemaIn(const json::object& of) {
  const json::object* content = objectAt(of, "content");
  const json::object* media = content != nullptr ? objectAt(*content, "application/json") : nullptr;
  return media != nullptr ? media->if_contains("schema") : nullptr;
}

class OperationReader {
 public:
  OperationReader(Schemas& schemas, const json::object& shared, const json::object& own)
      : schemas_(schemas), shared_(shared), own_(own) {}

  Status read(OpenApiDocument::Operation& into) {
    const bool plain = std::ranges::all_of(into.path, [](char c) { return c > ' ' && c <= '~'; });
    if (!plain || !into.path.starts_with('/')) return invalid("its path is none: " + inQuotes(into.path));
    for (const json::object* of : {&shared_, &own_}) {
      const json::value* list = of->if_contains("parameters");
      if (list == nullptr || !list->is_array()) continue;
      for (const json::value& one : list->get_array()) WITAN_DO(parameter(into, one));
    }
    WITAN_DO(body());
    for (std::size_t at = into.path.find('{'); at != into.path.npos; at = into.path.find('{', at + 1)) {
      const std::string name = into.path.substr(at + 1, into.path.find('}', at) - at - 1);
      const bool known = std::ranges::any_of(into.parameters, [&](const OpenApiDocument::Parameter& one) {
        return one.name == name && one.place == OpenApiDocument::Parameter::Place::path;
      });
      if (!known) return invalid("its path has " + inQuotes(name) + ", which is no parameter");
    }
    json::object arguments{{"additionalProperties", false},
                           {"properties", std::move(properties_)},
                           {"required", std::move(required_)},
                           {"type", "object"}};
    WITAN_SET(into.arguments, schemas_.compile(std::move(arguments)));
    return answers(into);
  }

 private:
  Status parameter(OpenApiDocument::Operation& into, const json::value& part) {
    using Place = OpenApiDocument::Parameter::Place;
    const json::object* of = schemas_.resolved(part);
    if (of == nullptr) return invalid("a parameter of it cannot be found");
    const std::string name = textAt(*of, "name"), place = textAt(*of, "in");
    const json::value* schema = of->if_contains("schema");
    const bool known = place == "path" || place == "query" || place == "header";
    if (!known && !trueAt(*of, "required")) return okStatus();  // a cookie that may be missing
    if (place == "header" && isOneOf(kOurs, lowerCase(name))) return okStatus();
    constexpr std::string_view kToken = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    if (place == "header" &&
        (isOneOf(kNever, lowerCase(name)) || lowerCase(name).find_first_not_of(kToken) != std::string::npos))
      return invalid("no argument may set the header " + inQuotes(name));
    if (!known || name.empty() || schema == nullptr || into.parameters.size() >= kMostParameters || name == "body")
      return invalid("its parameter " + inQuotes(name) + " cannot be given");
    std::erase_if(into.parameters, [&](const auto& one) { return one.name == name; });  // the operation's own counts
    into.parameters.push_back({name, place == "path" ? Place::path : place == "query" ? Place::query : Place::header});
    properties_[name] = *schema;
    if (place == "path" || trueAt(*of, "required")) required_.emplace_back(name);
    return okStatus();
  }

  Status body() {
    const json::value* part = own_.if_contains("requestBody");
    if (part == nullptr) return okStatus();
    const json::object* of = schemas_.resolved(*part);
    const json::value* schema = of != nullptr ? jsonSchemaIn(*of) : nullptr;
    if (schema == nullptr) return invalid("its body is no JSON");
    properties_["body"] = *schema;
    if (trueAt(*of, "required")) required_.emplace_back("body");
    return okStatus();
  }

  Status answers(OpenApiDocument::Operation& into) {
    const json::object* responses = objectAt(own_, "responses");
    if (responses == nullptr) return okStatus();
    for (const auto& [status, part] : *responses) {
      const json::object* of = schemas_.resolved(part);
      const json::value* schema = of != nullptr ? jsonSchemaIn(*of) : nullptr;
      if (schema == nullptr || (!status.starts_with('2') && status != "default")) continue;
      WITAN_TRY(validator, schemas_.compile(*schema));
      into.answers.emplace(status, std::move(validator));
    }
    return okStatus();
  }

  Schemas& schemas_;
  const json::object &shared_, &own_;
  json::object properties_;
  json::array required_;
};

// A scalar as it stands in a path, a query or a header.
Result<std::string> scalarText(const std::string& name, const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_object() || value.is_array() || value.is_null())
    return invalid("the argument " + inQuotes(name) + " is no text, number or boolean");
  return canonicalJson(value);
}

}  // namespace

Result<OpenApiDocument> OpenApiDocument::read(std::string_view text) {
  WITAN_TRY(value, parseJson(text, kDocument));
  const json::object* document = value.if_object();
  const json::object* paths = document != nullptr ? objectAt(*document, "paths") : nullptr;
  if (paths == nullptr || !textAt(*document, "openapi").starts_with("3."))
    return invalid("it is no OpenAPI document of version 3 in JSON");
  OpenApiDocument out;
  if (const json::object* info = objectAt(*document, "info")) out.title_ = textAt(*info, "title");
  Schemas schemas(*document);
  for (const auto& [path, part] : *paths) {
    const json::object* shared = schemas.resolved(part);
    if (shared == nullptr) continue;
    for (const std::string_view method : kMethods) {
      const json::object* own = objectAt(*shared, method);
      const std::string id = own != nullptr ? textAt(*own, "operationId") : "";
      if (id.empty()) continue;  // it has no name
      if (out.operations_.size() >= kMostOperations) return invalid("it has too many operations");
      Operation operation{.path = std::string(path), .what = textAt(*own, "summary")};
      operation.method = method;
      std::ranges::transform(operation.method, operation.method.begin(),
                             [](unsigned char c) { return std::toupper(c); });
      if (const Status good = OperationReader(schemas, *shared, *own).read(operation); !good.ok())
        operation.problem = good.error().message;
      if (!out.operations_.emplace(id, std::move(operation)).second)
        return invalid("it has two operations " + inQuotes(id));
    }
  }
  return out;
}

Result<net::HttpRequest> OpenApiDocument::request(std::string_view name, const json::object& arguments) const {
  using Place = Parameter::Place;
  const auto found = operations_.find(name);
  if (found == operations_.end()) return invalid("the document has no operation " + inQuotes(name));
  const Operation& operation = found->second;
  if (!operation.problem.empty()) return invalid(operation.problem);
  if (const Status good = operation.arguments->check(arguments); !good.ok())
    return invalid("the arguments break the document: " + good.error().message);
  net::HttpRequest request{.method = operation.method, .target = operation.path};
  request.headers["accept"] = "application/json";
  std::string query;
  for (const Parameter& parameter : operation.parameters) {
    const json::value* value = arguments.if_contains(parameter.name);
    if (value == nullptr) continue;
    if (parameter.place == Place::query && value->is_array()) {
      for (const json::value& one : value->get_array()) {
        WITAN_TRY(part, scalarText(parameter.name, one));
        query += concat(query.empty() ? "?" : "&", net::percentEncoded(parameter.name), "=", net::percentEncoded(part));
      }
      continue;
    }
    WITAN_TRY(part, scalarText(parameter.name, *value));
    if (parameter.place == Place::query) {
      query += concat(query.empty() ? "?" : "&", net::percentEncoded(parameter.name), "=", net::percentEncoded(part));
    } else if (parameter.place == Place::header) {
      if (std::ranges::any_of(part, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }))
        return invalid("the argument " + inQuotes(parameter.name) + " cannot stand in a header");
      request.headers[lowerCase(parameter.name)] = part;
    } else {
      if (part.empty() || part == "." || part == "..")
        return invalid("the argument " + inQuotes(parameter.name) + " is no part of a path");
      const std::string mark = "{" + parameter.name + "}";
      for (std::size_t at = request.target.find(mark); at != request.target.npos; at = request.target.find(mark, at))
        request.target.replace(at, mark.size(), net::percentEncoded(part));
    }
  }
  request.target += query;
  if (const json::value* body = arguments.if_contains("body")) {
    request.headers["content-type"] = "application/json";
    request.body = canonicalJson(*body);
  }
  return request;
}

Status OpenApiDocument::check(std::string_view name, int status, const json::value& body) const {
  const auto found = operations_.find(name);
  if (found == operations_.end()) return okStatus();
  const auto& answers = found->second.answers;
  for (const std::string& key : {std::to_string(status), std::string("2XX"), std::string("default")})
    if (const auto at = answers.find(key); at != answers.end()) {
      const Status good = at->second.check(body);
      return good.ok() ? good : Status(invalid("the result breaks the document: " + good.error().message));
    }
  return okStatus();
}

}  // namespace witan::node
