#include "program/policy_file.h"

#include <toml++/toml.h>

#include <cmath>
#include <sstream>

#include "base/toml_text.h"
#include "base/utf8.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

json::value toJsonValue(const toml::node& node);

json::object toJsonObject(const toml::table& table) {
  json::object out;
  for (const auto& [key, value] : table) out[std::string(key.str())] = toJsonValue(value);
  return out;
}

json::value toJsonValue(const toml::node& node) {
  if (const auto* table = node.as_table()) return toJsonObject(*table);
  if (const auto* array = node.as_array()) {
    json::array out;
    for (const auto& item : *array) out.push_back(toJsonValue(item));
    return out;
  }
  if (const auto* text = node.as_string()) return json::value(text->get());
  if (const auto* integer = node.as_integer()) return json::value(integer->get());
  if (const auto* real = node.as_floating_point()) return json::value(real->get());
  if (const auto* flag = node.as_boolean()) return json::value(flag->get());
  std::ostringstream words;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                  toml::is_date_time<decltype(value)>)
      words << value.get();
  });
  return json::value(words.str());
}

constexpr std::size_t kMax = 1 << 20;

// The first date or time, if there shall be none, or number that JSON has no form for; null if there is none.
const toml::node* misfit(const toml::node& node, bool dates) {
  if (!dates && (node.is_date() || node.is_time() || node.is_date_time())) return &node;
  if (const auto* real = node.as_floating_point()) return std::isfinite(real->get()) ? nullptr : &node;
  const auto within = [&](const auto& items, auto&& of) {
    const toml::node* found = nullptr;
    for (const auto& item : items)
      if (found == nullptr) found = misfit(of(item), dates);
    return found;
  };
  if (const auto* table = node.as_table())
    return within(*table, [](const auto& item) -> const toml::node& { return item.second; });
  if (const auto* array = node.as_array())
    return within(*array, [](const toml::node& item) -> const toml::node& { return item; });
  return nullptr;
}

}  // namespace

Result<json::object> readTableFile(const std::string& path, const TableForm& form) {
  WITAN_TRY(text, readSmallFile(path, kMax));
  if (!text) return ioFailed(std::string("cannot open the ") + form.what + " file " + path, "give a TOML or JSON file");
  return parseTable(*text, path, form);
}

Result<json::object> parseTable(std::string_view text, const std::string& name, const TableForm& form) {
  if (text.size() > kMax) return invalid(name + ": a " + form.what + " file of more than 1 MiB");
  if (name.ends_with(".json")) {
    auto parsed = parseJson(text);
    if (!parsed) return invalid(name + ": " + parsed.error().message);
    if (!parsed->is_object()) return invalid(name + ": expected a JSON object");
    return std::move(parsed->get_object());
  }
  // The parser takes any bytes within a string.
  if (!isUtf8(text)) return invalid(name + ": not UTF-8");
  WITAN_DO(checkTomlKeys(text, name));
  try {
    const toml::table table = toml::parse(text);
    if (const toml::node* found = misfit(table, form.dates); found != nullptr) {
      const std::string place = concat(name, ":", found->source().begin.line, ": ");
      if (found->is_floating_point()) return invalid(place + "expected a finite number");
      return invalid(concat(place, "a ", form.what, " has no dates and times"), "write a text in quotes");
    }
    return toJsonObject(table);
  } catch (const toml::parse_error& e) {
    return invalid(concat(name, ":", e.source().begin.line, ": ", e.description()));
  }
}

}  // namespace witan::node
