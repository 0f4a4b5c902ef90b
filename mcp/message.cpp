#include "mcp/message.h"

#include <algorithm>

namespace witan::mcp {

namespace {

constexpr std::size_t kMostIdBytes = 256;

std::string messageOf(json::object message, const json::value& id) {
  message["jsonrpc"] = "2.0";
  if (!id.is_null()) message["id"] = id;
  return canonicalJson(message);
}

}  // namespace

bool isLegacy(std::string_view version) { return std::find(kLegacy.begin(), kLegacy.end(), version) != kLegacy.end(); }

bool isId(const json::value& id) {
  return id.is_int64() || id.is_uint64() || (id.is_string() && id.get_string().size() <= kMostIdBytes);
}

std::string resultMessage(const json::value& id, json::object result) {
  return messageOf({{"result", std::move(result)}}, id);
}

std::string errorMessage(const json::value& id, int code, std::string_view text, json::object data) {
  json::object error{{"code", code}, {"message", text}};
  if (!data.empty()) error["data"] = std::move(data);
  return messageOf({{"error", std::move(error)}}, id);
}

std::string requestMessage(std::string_view id, std::string_view method, json::object params) {
  return messageOf({{"method", method}, {"params", std::move(params)}}, json::value(id));
}

std::string notification(std::string_view method, json::object params) {
  json::object message{{"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return messageOf(std::move(message), nullptr);
}

const json::object* objectIn(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

std::string_view textIn(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

const json::array& rowsIn(const json::value& value, std::string_view name) {
  static const json::array none;
  const json::value* rows = value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return rows != nullptr && rows->is_array() ? rows->get_array() : none;
}

std::string_view versionIn(const json::object& message) {
  const json::object* params = objectIn(message, "params");
  const json::object* meta = params == nullptr ? nullptr : objectIn(*params, "_meta");
  return meta == nullptr ? std::string_view() : textIn(*meta, kVersionKey);
}

}  // namespace witan::mcp
