#include "agents/episode/sparing.h"

#include <string>
#include <string_view>

#include "base/concat.h"

namespace witan::agents::episode {

namespace {

// Members of the input that minds are told of, and that may be long.
constexpr std::string_view kPassedOn[] = {"fold", "knowledge", "memory"};
constexpr std::size_t kLeastBytes = 256;

// Takes one part out of the arguments, wherever it stands.
class Sparing {
 public:
  Sparing(std::string_view of, const json::value& part, std::string text)
      : of_(of), part_(part), text_(std::move(text)) {}

  void take(json::value& from) {
    if (from == part_) {
      note(nullptr);
      from = nullptr;
    } else if (json::string* text = from.if_string()) {
      takeText(*text);
    } else if (json::object* members = from.if_object()) {
      for (auto& [name, value] : *members) at_.emplace_back(name), take(value), at_.pop_back();
    } else if (json::array* list = from.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) at_.emplace_back(i), take((*list)[i]), at_.pop_back();
    }
  }

  json::array places;

 private:
  void takeText(json::string& text) {
    for (std::size_t from = text.find(text_); from != json::string::npos; from = text.find(text_, from)) {
      note(from);
      text.erase(from, text_.size());
    }
  }
  void note(json::value from) {
    json::object& place = places.emplace_back(json::object{{"at", at_}, {"of", of_}}).as_object();
    if (!from.is_null()) place["from"] = std::move(from);
  }

  const std::string_view of_;
  const json::value& part_;
  const std::string text_;
  json::array at_;
};

// The value at a place. Null: there is none.
json::value* valueAt(json::value& root, const json::array& at) {
  json::value* value = &root;
  for (const json::value& step : at) {
    if (const json::string* name = step.if_string()) {
      json::object* members = value->if_object();
      value = members == nullptr ? nullptr : members->if_contains(*name);
    } else {
      json::array* list = value->if_array();
      const auto index = step.is_int64() && step.get_int64() >= 0 ? static_cast<std::size_t>(step.get_int64())
                         : step.is_uint64()                       ? step.get_uint64()
                                                                  : ~std::size_t{0};
      value = list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
    }
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool putBack(json::value& root, const json::object& place, const json::object& input) {
  const json::value *at = place.if_contains("at"), *of = place.if_contains("of"), *from = place.if_contains("from");
  if (at == nullptr || !at->is_array() || of == nullptr || !of->is_string()) return false;
  const json::value* part = input.if_contains(of->get_string());
  json::value* value = valueAt(root, at->get_array());
  if (part == nullptr || value == nullptr) return false;
  if (from == nullptr) return value->is_null() ? (*value = *part, true) : false;
  json::string* text = value->if_string();
  const auto byte = from->is_int64() && from->get_int64() >= 0 ? static_cast<std::size_t>(from->get_int64())
                    : from->is_uint64()                        ? from->get_uint64()
                                                               : ~std::size_t{0};
  if (text == nullptr || byte > text->size()) return false;
  text->insert(byte, canonicalJson(*part));
  return true;
}

}  // namespace

void spare(json::object& body, const json::object& input) {
  json::array places;
  for (const std::string_view name : kPassedOn) {
    const json::value* part = input.if_contains(name);
    if (part == nullptr) continue;
    std::string text = canonicalJson(*part);
    if (text.size() < kLeastBytes) continue;
    Sparing sparing(name, *part, std::move(text));
    sparing.take(body["arguments"]);
    for (json::value& place : sparing.places) places.push_back(std::move(place));
  }
  if (!places.empty()) body["spared"] = std::move(places);
}

Result<json::object> wholeArguments(const json::object& begin, const json::object& call) {
  const json::value* given = call.if_contains("arguments");
  if (given == nullptr || !given->is_object()) return corrupt("a call without arguments");
  json::value arguments = *given;
  const json::value *places = call.if_contains("spared"), *input = begin.if_contains("input");
  if (places == nullptr) return arguments.get_object();
  const bool readable = places->is_array() && input != nullptr && input->is_object();
  // The last that was taken out comes back first.
  for (std::size_t i = readable ? places->get_array().size() : 0; i-- > 0;) {
    const json::value& place = places->get_array()[i];
    if (!place.is_object() || !putBack(arguments, place.get_object(), input->get_object()))
      return corrupt(concat("place ", i, " of what a call was spared is none"));
  }
  if (!readable) return corrupt("what a call was spared is no list");
  return std::move(arguments.get_object());
}

}  // namespace witan::agents::episode
