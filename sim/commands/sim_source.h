// What is simulated, as the commands of `witan sim` are told: a scenario and a seed, or a plan that was kept; changed
// by --time and --set; on a broken variant or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/error_report.h"
#include "sim/scenario.h"

namespace witan::node {

struct SimSource {
  std::string scenario;  // a built-in one's name, or a file's
  std::optional<std::uint64_t> seed;
  std::string planFile;
  std::string time;               // of the safety phase
  std::vector<std::string> sets;  // "faults.crashes=20", as in a scenario file
  std::string mutant = "none";
};

// SCENARIO, --seed, --plan, --time, --set and --mutant.
void addSourceOptions(Command& command, SimSource& source);

// The scenario with --time and --set on top. Errors name the file and line, or the option.
Result<sim::Scenario> loadScenario(const SimSource& source);
Result<sim::Plan> loadPlan(const std::string& file);
// Errors name the file. The second one only tries, before work that would be lost.
Status savePlan(const std::string& file, const sim::Plan& plan);
Status makeFolder(const std::string& folder);
Status canSavePlan(const std::string& file);
// The plan file's plan, or the scenario's for the seed.
Result<sim::Plan> loadPlan(const SimSource& source);

// The command that does `verb` with this seed and the same changes.
std::string simCommandLine(const SimSource& source, std::string_view verb, std::optional<std::uint64_t> seed);

// Reports what was wrong with what the command was told; wrong input of the caller's is wrong usage.
int reportSimError(const Error& error, bool json);

}  // namespace witan::node
