// JsonPlace: a value in a record from outside and the JSON path that leads to it ($.affected[0].package.name), so that
// every complaint names its place. Borrows the parsed record. Used by the readers in this folder.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_codec.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"

namespace witan::domains::disclosure {

class JsonPlace {
 public:
  explicit JsonPlace(const json::value& root) : value_(&root), path_("$") {}

  const std::string& path() const { return path_; }
  bool isNull() const { return value_ == nullptr || value_->is_null(); }

  // A member; a missing one is a null place, which only the optional readers accept. Errors: this is no object.
  Result<JsonPlace> member(std::string_view name) const {
    JsonPlace found(nullptr, path_ + "." + std::string(name));
    if (isNull()) return found;
    if (!value_->is_object()) return wrongJsonType(path_, "an object", *value_);
    found.value_ = value_->get_object().if_contains(name);
    return found;
  }

  // The elements; none of a null place.
  Result<std::vector<JsonPlace>> elements() const {
    std::vector<JsonPlace> all;
    if (isNull()) return all;
    if (!value_->is_array()) return wrongJsonType(path_, "a list", *value_);
    const json::array& list = value_->get_array();
    if (list.size() > kListMax)
      return Error{ErrorCode::invalidInput, path_ + ": more than " + std::to_string(kListMax) + " elements", {}};
    for (std::size_t i = 0; i < list.size(); ++i)
      all.push_back(JsonPlace(&list[i], path_ + "[" + std::to_string(i) + "]"));
    return all;
  }
  Result<std::vector<JsonPlace>> elements(std::string_view name) const {
    WITAN_TRY(list, member(name));
    return list.elements();
  }

  // The text; "" of a null place.
  Result<std::string> text() const {
    if (isNull()) return std::string();
    if (!value_->is_string()) return wrongJsonType(path_, "text", *value_);
    std::string out;
    WITAN_DO(readText(*value_, out, path_));
    return out;
  }
  Result<std::string> text(std::string_view name) const {
    WITAN_TRY(place, member(name));
    return place.text();
  }
  // The same where the format demands one.
  Result<std::string> requiredText(std::string_view name) const {
    WITAN_TRY(place, member(name));
    if (place.isNull()) return place.error("is missing");
    WITAN_TRY(text, place.text());
    if (text.empty()) return place.error("is empty");
    return text;
  }

  Error error(const std::string& what, std::string hint = {}) const {
    return Error{ErrorCode::invalidInput, path_ + ": " + what, std::move(hint)};
  }

 private:
  JsonPlace(const json::value* value, std::string path) : value_(value), path_(std::move(path)) {}

  const json::value* value_;
  std::string path_;
};

}  // namespace witan::domains::disclosure
