// The members of a log, cut out of its text (base/json_cut.h). Borrows the text.
#pragma once

#include <map>
#include <string_view>

#include "base/json.h"
#include "base/json_cut.h"

namespace witan::kernel::joint {

class LogParts {
 public:
  // Errors: no object; members that are missing, unknown or there twice; "epochs" is no list; a member (but epochs) of
  // more than `values` values.
  static Result<LogParts> cut(std::string_view log, std::size_t values);

  // The names of the members, in canonical order.
  static const std::vector<std::string_view>& names();

  Result<json::value> read(std::string_view name) const;
  // Its elements; a fresh walk.
  JsonCut epochs() const;
  // One element.
  Result<json::value> readEpoch(const JsonPart& part, std::size_t number) const;

 private:
  std::string_view log_;
  std::size_t values_ = 0;
  std::map<std::string_view, JsonPart> members_;
};

}  // namespace witan::kernel::joint
