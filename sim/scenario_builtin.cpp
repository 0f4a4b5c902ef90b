// The files of sim/scenarios/, compiled in: cmake/embed.cmake writes the list.
#include <array>

#include "base/quote.h"
#include "sim/scenario.h"

namespace witan::sim {

namespace {

constexpr BuiltinScenario kScenarios[] = {
#include "sim/scenarios.inc"
};

}  // namespace

std::span<const BuiltinScenario> builtinScenarios() { return kScenarios; }

Result<std::string> builtinScenarioText(std::string_view name, std::string_view) {
  for (const BuiltinScenario& scenario : kScenarios)
    if (scenario.name == name) return std::string(scenario.text);
  return Error{ErrorCode::notFound, "there is no scenario " + inQuotes(name),
               "witan sim list names them; a file's name ends in .toml"};
}

Result<Scenario> builtinScenario(std::string_view name) {
  WITAN_TRY(text, builtinScenarioText(name));
  return parseScenario(text, std::string(name), builtinScenarioText);
}

}  // namespace witan::sim
