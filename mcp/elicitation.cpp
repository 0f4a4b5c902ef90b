#include "mcp/elicitation.h"

#include "base/json_validator.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "mcp/message.h"

namespace witan::mcp {

namespace {

constexpr std::size_t kMostFormBytes = 32 * 1024, kMostFormWords = 4'096;

bool isFlat(const json::value& field) {
  if (!field.is_object()) return false;
  const std::string_view type = textIn(field.get_object(), "type");
  return type == "string" || type == "number" || type == "integer" || type == "boolean" || type == "array";
}

}  // namespace

Result<Form> formOf(const json::object& params) {
  const std::string_view mode = textIn(params, "mode");
  if (!mode.empty() && mode != "form") return invalid("the tool asks in another way than by a form: " + inQuotes(mode));
  const json::object* schema = objectIn(params, "requestedSchema");
  if (schema == nullptr) return invalid("the tool asks without a form");
  Form form{std::string(clip(textIn(params, "message"), kMostFormWords)), *schema};
  const json::object* fields = objectIn(form.schema, "properties");
  if (fields == nullptr || fields->size() > kMostFormFields || canonicalJson(form.schema).size() > kMostFormBytes)
    return invalid("the tool's form has no fields, or too many");
  for (const auto& field : *fields)
    if (!isFlat(field.value())) return invalid(concat("the tool's form has no simple field ", inQuotes(field.key())));
  for (auto& field : form.schema.at("properties").get_object()) field.value().get_object().erase("enumNames");
  WITAN_TRY(validator, JsonValidator::compile(form.schema));
  (void)validator;
  return form;
}

Status checkForm(const Form& form, const json::object& content) {
  WITAN_TRY(validator, JsonValidator::compile(form.schema));
  for (const auto& member : content)
    if (!form.schema.at("properties").get_object().contains(member.key()))
      return invalid("the form has no field " + inQuotes(member.key()));
  return validator.check(content);
}

std::optional<json::object> defaultsOf(const Form& form) {
  json::object content;
  for (const auto& field : form.schema.at("properties").get_object())
    if (const json::value* value = field.value().get_object().if_contains("default")) content[field.key()] = *value;
  if (!checkForm(form, content).ok()) return std::nullopt;
  return content;
}

json::object formAnswer(FormAction action, json::object content) {
  if (action == FormAction::accept) return {{"action", "accept"}, {"content", std::move(content)}};
  return {{"action", action == FormAction::decline ? "decline" : "cancel"}};
}

}  // namespace witan::mcp
