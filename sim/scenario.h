// Scenario: what a simulated run may be like, as a TOML file that people write. A seed draws the options from it.
//
//   extends = "lossy"            # a built-in scenario, or a file beside this one: everything not said here is as there
//   title = "Owner dies"         # for `witan sim list`
//   about = "..."
//   [cluster]                    # the tables are those of sim/options.h
//   devices = 5                  # a value,
//   agents = [2, 20]             # or a range (two numbers), drawn for each seed,
//   engine = ["embedded", "etcd"]  # or words or three and more numbers, one of which is drawn
//   [faults]
//   sometimes = 0.5              # each rate of this table is 0 in the other half of the seeds
//   crashes = [0, 60]
//   cutSeconds = "2m"            # a length may have a unit; without, it is in the unit of its name
//   [[event]]                    # happens in every seed, besides what is drawn
//   at = "2m30s"
//   kind = "isolate"
//   device = 0
//   lasts = "1m"
//   every = "7d"                 # again and again; what it does not say is drawn each time
//   [expect]
//   probes = ["zombieRefused"]  # reached at least once over all seeds of a run; sim/catalog.h
//
// Nothing is read from disk here: whoever has files hands in how to get one. Values and pure functions.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sim/plan.h"

namespace witan::sim {

using OptionValue = std::variant<std::int64_t, bool, std::string>;

// How one option is found for a seed: uniformly from a range of numbers, or one of a list.
struct OptionDraw {
  std::int64_t low = 0, high = 0;    // when `choices` is empty
  std::vector<OptionValue> choices;  // one: no draw
  std::string where;                 // file:line, for errors
};

struct Scenario {
  std::string name;  // as it was asked for
  std::string title;
  std::string about;
  std::map<std::string, OptionDraw> draws;           // by path: "faults.crashes"
  std::map<std::string, std::int64_t> onPerMillion;  // by table: what `sometimes` says
  std::set<std::string> always;                      // by path: those that `sometimes` leaves alone
  std::vector<Event> events;                         // fixed ones
  std::vector<std::pair<Event, Micros>> repeated;    // those that come again, and how often: repeated(), sim/plan.h
  std::vector<std::string> expectedProbes;
};

// The text of the scenario `name` that a file extends. `from` is the name of the extending one.
using ScenarioSource = std::function<Result<std::string>(std::string_view name, std::string_view from)>;

// Errors name the file and the line. `name` stands in errors and in the options. At most 1 MiB, 8 files deep.
Result<Scenario> parseScenario(std::string_view text, const std::string& name, const ScenarioSource& source);

// The options and the plan of a seed. Each option is drawn from a stream of its own. Errors: what was drawn cannot be.
Result<Options> drawOptions(const Scenario& scenario, std::uint64_t seed);
Result<Plan> drawPlan(const Scenario& scenario, std::uint64_t seed);

// --- the scenarios that are compiled in: the files of sim/scenarios/
struct BuiltinScenario {
  std::string_view name, text;
};
std::span<const BuiltinScenario> builtinScenarios();
Result<std::string> builtinScenarioText(std::string_view name, std::string_view from = {});
Result<Scenario> builtinScenario(std::string_view name);

}  // namespace witan::sim
