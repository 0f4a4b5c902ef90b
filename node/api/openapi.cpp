#include "node/api/control_routes.h"

#include <set>

namespace witan::node {

// Named as the components of the document shall be.
namespace document {

// As toString(ErrorCode).
WITAN_ENUM(ErrorWord, invalidInput, notFound, conflict, unauthorised, corrupt, ioFailed, unavailable)

WITAN_STRUCT(ErrorBody, (ErrorWord, code, "Kind of the error"), (std::string, message, "What went wrong"),
             (Omittable<std::string>, hint, "What to do; empty: nothing"))

WITAN_STRUCT(Error, (ErrorBody, error, "The error"))

}  // namespace document

namespace {

struct ErrorStatus {
  int status;
  const char *name, *text;
};

constexpr ErrorStatus kErrors[]{{400, "BadRequest", "The request does not have the form that this document describes"},
                                {401, "NoToken", "No valid token was given"},
                                {403, "Forbidden", "The token's role, or this device's role, does not suffice"},
                                {404, "NotFound", "It does not exist"},
                                {408, "TooSlow", "The request did not arrive in time"},
                                {409, "Conflict", "It exists already, is out of date, or is in use"},
                                {413, "TooLarge", "The body is larger than 4 MiB"},
                                {421, "OtherHost", "The request names another host than this machine"},
                                {429, "TooOften", "The program's token has made more proposals than its rate"},
                                {431, "LargeHeader", "The header is larger than 16 KiB"},
                                {500, "Failed", "Stored data is damaged, or the operating system refused"},
                                {503, "Unavailable", "Not possible now, or too many connections; try again"}};

// {operationId: {"request","response"}}, "errors" by status, and "accepted": a request that waits in the outbox.
const json::object& examples() {
  static constexpr std::pair<const char*, const char*> kFiles[]{
#include "node/api/examples.inc"
  };
  static const json::value parsed = parseJson(kFiles[0].second, kOwnJson).value();
  return parsed.get_object();
}

json::value exampleOf(const ControlRoute& route, const char* member) {
  const json::value* example = examples().at(route.info.operationId).get_object().if_contains(member);
  return example == nullptr ? json::value(json::object()) : *example;
}

// A route's own statuses and those of its method and role.
std::set<int> errorsOf(const ControlRoute& route) {
  std::set<int> errors{400, 408, 421, 431, 503};
  errors.insert(route.info.errors.begin(), route.info.errors.end());
  if (route.info.role) errors.insert(401);
  if (route.info.role && *route.info.role != ControlRole::observer) errors.insert(403);
  if (!route.reads()) errors.insert(413);
  return errors;
}

json::object jsonContent(json::object schema, json::value example) {
  return {{"application/json", {{"schema", std::move(schema)}, {"example", std::move(example)}}}};
}

json::object textContent(const ControlRoute& route, JsonSchemas& schemas) {
  json::object schema = typeSchema("string");
  json::object event = route.response(schemas);
  if (event.contains("$ref")) {
    schema["contentMediaType"] = "application/json";
    schema["contentSchema"] = std::move(event);
  }
  return {{route.info.mediaType, {{"schema", std::move(schema)}, {"example", exampleOf(route, "response")}}}};
}

json::object responsesOf(const ControlRoute& route, JsonSchemas& schemas) {
  const bool isJson = route.info.mediaType == std::string_view("application/json");
  json::object responses;
  responses["200"] = {{"description", "Done"},
                      {"content", isJson ? jsonContent(route.response(schemas), exampleOf(route, "response"))
                                         : textContent(route, schemas)}};
  if (route.accepted != nullptr)
    responses["202"] = {{"description", "The request waits in the outbox, durably; ask again with its operationId"},
                        {"content", jsonContent(route.accepted(schemas), examples().at("accepted"))}};
  const std::set<int> errors = errorsOf(route);
  for (const ErrorStatus& error : kErrors)
    if (errors.contains(error.status))
      responses[std::to_string(error.status)] = {{"$ref", std::string("#/components/responses/") + error.name}};
  if (route.info.textStatus != 0)
    responses[std::to_string(route.info.textStatus)] = {{"description", route.info.summary},
                                                        {"content", textContent(route, schemas)}};
  return responses;
}

// The members of a GET request: in the path if they stand there, else in the query.
json::array parametersOf(const ControlRoute& route, JsonSchemas& schemas) {
  const json::object schema = route.request(schemas);
  const json::value example = exampleOf(route, "request");
  json::array parameters;
  for (const auto& [name, member] : schema.at("properties").as_object()) {
    json::object form = member.as_object();
    const bool inPath = std::string_view(route.info.path).find("{" + std::string(name) + "}") != std::string_view::npos;
    const json::value* required = schema.if_contains("required");
    json::object parameter{
        {"name", name},
        {"in", inPath ? "path" : "query"},
        {"required", required != nullptr &&
                         std::ranges::find(required->as_array(), json::value(name)) != required->as_array().end()}};
    if (const json::value* text = form.if_contains("description")) parameter["description"] = *text;
    form.erase("description");
    parameter["schema"] = std::move(form);
    if (const json::value* given = example.as_object().if_contains(name)) parameter["example"] = *given;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

json::object operationOf(const ControlRoute& route, JsonSchemas& schemas) {
  json::object operation{
      {"summary", route.info.summary}, {"operationId", route.info.operationId}, {"tags", json::array{route.info.tag}}};
  if (route.reads())
    operation["parameters"] = parametersOf(route, schemas);
  else
    operation["requestBody"] = {{"required", route.needsRequest},
                                {"content", jsonContent(route.request(schemas), exampleOf(route, "request"))}};
  operation["responses"] = responsesOf(route, schemas);
  operation["security"] =
      route.info.role ? json::array{json::object{{"bearer", json::array{wordOf(*route.info.role)}}}} : json::array{};
  return operation;
}

json::object errorResponses(JsonSchemas& schemas) {
  json::object responses;
  for (const ErrorStatus& error : kErrors)
    responses[error.name] = {
        {"description", error.text},
        {"content", jsonContent(schemas.of<document::Error>(JsonSchemas::Unknown::allowed),
                                json::object{{"error", examples().at("errors").at(std::to_string(error.status))}})}};
  return responses;
}

}  // namespace

json::object openApi() {
  JsonSchemas schemas;
  json::object paths;
  for (const ControlRoute& route : controlRoutes()) {
    if (!paths.contains(route.info.path)) paths[route.info.path] = json::object{};
    paths[route.info.path].as_object()[route.reads() ? "get" : "post"] = operationOf(route, schemas);
  }
  json::object responses = errorResponses(schemas);
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "Witan node"}, {"version", WITAN_VERSION}}},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", schemas.take()},
            {"responses", std::move(responses)},
            {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace witan::node
