#include "sim/check/ledger_facts.h"

#include <set>

#include "base/json.h"

namespace witan::sim {

namespace {

// The object under this name; null: none.
const json::object* objectIn(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  const json::value* member = object == nullptr ? nullptr : object->if_contains(name);
  return member == nullptr ? nullptr : member->if_object();
}

json::value parsed(const std::string& text) {
  auto value = parseJson(text.empty() ? "null" : text, {.bytes = kernel::kRecordTextMax, .depth = 64});
  return value.ok() ? *std::move(value) : json::value();
}

}  // namespace

std::vector<agents::LedgerFact> factsOf(const PartitionLog& log, const agents::LedgerSpec& spec) {
  std::vector<agents::LedgerFact> facts;
  std::set<std::pair<std::string, std::string>> known;
  const auto collect = [&](const std::string& entity, const json::object* fields) {
    const json::value* column = fields == nullptr ? nullptr : fields->if_contains(spec.field);
    if (column == nullptr || !column->is_object()) return;
    for (const auto& [key, value] : column->get_object())
      if (value.is_string() && value.get_string() == spec.value && known.emplace(entity, key).second)
        facts.push_back({spec.domain, entity, spec.field, std::string(key), spec.value});
  };
  for (const LedgerLine& line : log.lines) {
    const json::value began = parsed(line.entry.genesis), written = parsed(line.entry.writes);
    collect(line.entry.entity, objectIn(began, "state"));
    collect(line.entry.entity, written.if_object());
  }
  return facts;
}

}  // namespace witan::sim
