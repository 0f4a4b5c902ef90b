#include "node/config/budget_config.h"

#include <algorithm>
#include <array>

#include "base/identity.h"
#include "node/config/config_slots.h"

namespace witan::node {

using agents::StandingLimit;

namespace {

struct BudgetKey {
  std::string_view name;
  ConfigSlot<StandingLimit> slot;
};

const std::array kBudgetKeys{BudgetKey{"agent", &StandingLimit::agent}, BudgetKey{"provider", &StandingLimit::provider},
                             BudgetKey{"calls", &StandingLimit::calls}, BudgetKey{"tokens", &StandingLimit::tokens},
                             BudgetKey{"seconds", &StandingLimit::seconds}};

Result<StandingLimit> readBudget(const std::string& name, const toml::table& keys, const std::string& file) {
  StandingLimit limit{.name = name};
  for (const auto& [key, value] : keys) {
    const std::string called = concat("[budget.", name, "] ", key.str());
    const auto known = std::ranges::find(kBudgetKeys, key.str(), &BudgetKey::name);
    if (known == kBudgetKeys.end())
      return atLine(file, value.source(), called + " is no key", "agent, provider, calls, tokens or seconds");
    std::vector<std::string> places;
    WITAN_DO(setSlot(limit, known->slot, value, called, file, places));
    if (value.is_integer() && value.value<std::int64_t>().value() < 0)
      return atLine(file, value.source(), called + " is negative", "0 or more, for each day");
  }
  return limit;
}

}  // namespace

Status readBudgets(std::vector<StandingLimit>& into, const toml::node& tables, const std::string& file) {
  if (!tables.is_table()) return atLine(file, tables.source(), "budget must be sections: [budget.NAME]");
  for (const auto& [name, node] : *tables.as_table()) {
    if (!node.is_table() || !validateId("name of a budget", name.str()).ok())
      return atLine(file, node.source(), concat("budget.", name.str(), " must be a section with the name of an id"));
    WITAN_TRY(limit, readBudget(std::string(name.str()), *node.as_table(), file));
    if (limit.calls < 0 && limit.tokens < 0 && limit.seconds < 0)
      return atLine(file, node.source(), concat("[budget.", name.str(), "] limits nothing"),
                    "calls, tokens or seconds: so much a day");
    if (into.size() == kMaxBudgets) return atLine(file, node.source(), concat("more than ", kMaxBudgets, " budgets"));
    into.push_back(std::move(limit));
  }
  return okStatus();
}

}  // namespace witan::node
