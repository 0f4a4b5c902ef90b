#include "agents/tools/ledger_tool.h"

#include <algorithm>

#include "agents/json_members.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "kernel/record/log_batch.h"

namespace witan::agents {

namespace {

class SliceRead final : public LedgerTool {
 public:
  std::string_view name() const override { return "slice.read"; }
  std::string_view operation() const override { return "read"; }

  std::optional<LedgerEntity> subject(const json::object& arguments) const override {
    const auto domain = textOf(arguments, "domain"), entity = textOf(arguments, "entity");
    if (!domain.ok() || !entity.ok()) return std::nullopt;
    return LedgerEntity{*domain, *entity};
  }

  Result<json::value> look(const FindState& find, const json::object& arguments, const ContentSeals&,
                           Now) const override {
    WITAN_TRY(domain, textOf(arguments, "domain"));
    WITAN_TRY(entity, textOf(arguments, "entity"));
    WITAN_TRY(role, textOf(arguments, "role"));
    WITAN_TRY(key, textOf(arguments, "key"));
    WITAN_TRY(seen, find({domain, entity}));
    const auto& roles = seen.module->signature().roles;
    const auto at = std::ranges::find_if(roles, [&](const auto& one) { return one.name == role; });
    if (at == roles.end()) return invalid("the domain " + domain + " has no role " + inQuotes(role));
    std::string text;
    seen.module->writeState(text, *seen.state, at->footprint);
    WITAN_TRY(slice, parseJson(text, {.bytes = kernel::kRecordMax, .depth = 64}));
    json::object cells;
    for (const auto& [field, column] : slice.as_object())
      if (const json::object* cell = column.if_object(); cell != nullptr && cell->contains(key))
        cells[field] = json::object{{key, cell->at(key)}};
    return json::value(std::move(cells));
  }
};

}  // namespace

const LedgerTool& sliceRead() {
  static const SliceRead tool;
  return tool;
}

}  // namespace witan::agents
