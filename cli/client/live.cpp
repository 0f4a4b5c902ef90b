#include "cli/client/live.h"

namespace witan::node {

void addLiveOptions(Command* command, LiveArguments& arguments, const char* example) {
  command->option("--dir", arguments.dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->flag("--json", arguments.json, "JSON output");
  command->footer(std::string("Example: ") + example);
}

std::string shown(const json::value& object, const char* member) {
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return value->get_string().empty() ? "-" : std::string(value->get_string());
  return canonicalJson(*value);
}

bool isTrue(const json::value& object, const char* member) {
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::array& rowsOf(const json::value& object, const char* member) {
  static const json::array none;
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

int print(const json::value& answer, bool asJson, const std::function<std::string(const json::value&)>& words) {
  asJson ? putOut(canonicalJson(answer) + "\n") : putWords(words(answer));
  return kExitOk;
}

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + row[i] + (i + 1 < row.size() ? std::string(widths[i] - row[i].size(), ' ') : "");
    out += line + "\n";
  }
  return out;
}

}  // namespace witan::node
