#include "agents/json_members.h"

namespace witan::agents {

namespace {

Error wrong(std::string message) { return {ErrorCode::invalidInput, std::move(message), ""}; }

std::string named(std::string_view member) { return concat("\"", member, "\""); }

}  // namespace

Result<std::string> textOf(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  if (value == nullptr) return wrong("it has no " + named(member));
  if (!value->is_string() || value->get_string().empty()) return wrong(named(member) + " is no text");
  return std::string(value->get_string());
}

Result<std::string> textOf(const json::object& object, std::string_view member, std::string_view otherwise) {
  const json::value* value = object.if_contains(member);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) return wrong(named(member) + " is no text");
  return std::string(value->get_string());
}

std::string_view stringOf(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::optional<std::int64_t> integerOf(const json::value& value, std::string_view member) {
  const json::object* object = value.if_object();
  const json::value* number = object != nullptr ? object->if_contains(member) : nullptr;
  if (number == nullptr || !number->is_int64()) return std::nullopt;
  return number->get_int64();
}

const json::array* arrayOf(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value != nullptr ? value->if_array() : nullptr;
}

namespace {

// The content of the n-th observation; null: nothing, or no object.
const json::object* contentIn(const json::value& observations, std::size_t n) {
  const json::array* list = observations.if_array();
  const json::object* one = list != nullptr && n < list->size() ? (*list)[n].if_object() : nullptr;
  const json::value* content = one != nullptr ? one->if_contains("content") : nullptr;
  return content != nullptr ? content->if_object() : nullptr;
}

}  // namespace

const json::array* entriesIn(const json::value& observations, std::size_t n) {
  const json::object* content = contentIn(observations, n);
  return content != nullptr ? arrayOf(*content, "entries") : nullptr;
}

bool moreIn(const json::value& observations, std::size_t n) {
  const json::object* content = contentIn(observations, n);
  const json::value* more = content != nullptr ? content->if_contains("more") : nullptr;
  return (more != nullptr && more->is_bool() && more->get_bool()) ||
         (content != nullptr && content->contains("tooLarge"));
}

}  // namespace witan::agents
