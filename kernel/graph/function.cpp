#include "kernel/graph/function.h"

namespace witan::graph {

std::string keyText(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return canonicalJson(value);
}

namespace {

json::value* placeIn(json::value& body, std::string_view path) {
  return const_cast<json::value*>(valueAt(body, path));  // of a body that is ours to change
}

std::optional<std::vector<Output>> decremented(const std::string& type, const json::value& body,
                                               std::string_view path) {
  json::value copy = body;
  json::value* field = placeIn(copy, path);
  const auto number = field != nullptr ? integerOf(*field) : std::nullopt;
  if (!number) return std::nullopt;
  if (*number <= 0) return std::vector<Output>();
  *field = *number - 1;
  return std::vector<Output>{{type, std::move(copy)}};
}

std::vector<Output> picked(const Node& node, const std::string& type, const json::value& body) {
  json::object out;
  for (const json::value& name : node.args.at("fields").as_array())
    if (const json::value* field = valueAt(body, name.as_string())) out[name.as_string()] = *field;
  return {{type, std::move(out)}};
}

std::vector<Output> switched(const Node& node, const json::value& body, const json::value& field) {
  const json::object& cases = node.args.at("cases").as_object();
  const json::value* type = cases.if_contains(keyText(field));
  if (type == nullptr) type = cases.if_contains("default");
  if (type == nullptr) return {};
  return {{std::string(type->as_string()), body}};
}

}  // namespace

std::optional<std::vector<Output>> evaluate(const Node& node, const std::string& type, const json::value& body) {
  const std::string first = node.out.empty() ? std::string() : node.out[0];
  if (node.name == "identity") return std::vector<Output>{{node.emits(type) ? type : first, body}};
  if (node.name == "pick") return picked(node, first, body);
  const std::string path(node.args.at("field").as_string());
  if (node.name == "decrement") return decremented(first, body, path);
  const json::value* field = valueAt(body, path);
  if (field == nullptr) return std::nullopt;
  if (node.name == "filter")
    return *field == node.args.at("equals") ? std::vector<Output>{{first, body}} : std::vector<Output>();
  if (node.name == "switch") return switched(node, body, *field);
  if (!field->is_array()) return std::nullopt;
  std::vector<Output> items;
  for (const json::value& item : field->get_array()) items.push_back({first, item});
  return items;
}

}  // namespace witan::graph
