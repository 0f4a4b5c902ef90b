#include "sim/commands/sim_source.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include "program/command_line.h"

#include "base/json.h"
#include "base/quote.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "sim/duration.h"

namespace witan::node {

namespace {

using sim::Scenario;

constexpr std::size_t kMaxScenarioBytes = 1 << 20;
constexpr std::size_t kMaxPlanBytes = std::size_t{512} << 20;
constexpr std::size_t kMaxPlanLine = 64 * 1024;
constexpr sim::Micros kTenYears = 10LL * 366 * 86'400 * 1'000'000;

bool isFile(std::string_view name) { return name.ends_with(".toml") || name.find('/') != std::string_view::npos; }

// Of readInput, with a hint that fits what is asked for.
Result<std::string> fileText(const std::string& path, std::size_t most, const char* hint) {
  auto text = readInput(path, most);
  if (text.ok() || text.error().code != ErrorCode::ioFailed) return text;
  return Error{text.error().code, text.error().message, hint};
}

// What a scenario extends: a built-in one, or a file beside it.
Result<std::string> scenarioText(std::string_view name, std::string_view from) {
  if (!isFile(name)) return sim::builtinScenarioText(name);
  std::filesystem::path path(name);
  if (path.is_relative() && isFile(from)) path = std::filesystem::path(from).parent_path() / path;
  return fileText(path.string(), kMaxScenarioBytes, "give a TOML file, or a name: witan sim list");
}

// A number, true, false, a list and a text in quotes stand as they are; everything else is a text.
std::string tomlValue(const std::string& value) {
  const bool number = !value.empty() && value.find_first_not_of("+-_0123456789") == std::string::npos;
  if (number || value == "true" || value == "false" || value.starts_with("[") || value.starts_with("\"")) return value;
  std::string text;
  appendJsonString(text, value);  // its escapes are TOML's too
  return text;
}

Status applySet(const std::string& set, Scenario& scenario) {
  const std::size_t equals = set.find('=');
  const std::string path = set.substr(0, equals);
  const std::size_t dot = path.find('.');
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (std::ranges::any_of(set, isControl) || equals == std::string::npos || dot == std::string::npos || dot == 0 ||
      dot + 1 == path.size() ||
      path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.") != std::string::npos)
    return invalid("--set " + inQuotes(set) + " names no option", "as in --set faults.crashes=20");
  const std::string text = path + " = " + tomlValue(set.substr(equals + 1));
  const std::string name = "--set " + set;
  auto changed = sim::parseScenario(text, name, scenarioText);
  if (!changed) {  // the line's number says nothing here
    Error error = changed.error();
    if (error.message.starts_with(name + ":1: ")) error.message.replace(0, name.size() + 4, name + ": ");
    return error;
  }
  for (auto& [option, draw] : changed->draws) {
    scenario.draws[option] = draw;
    scenario.always.insert(option);  // "sometimes" does not take away what was asked for by name
  }
  for (auto& [table, share] : changed->onPerMillion) scenario.onPerMillion[table] = share;
  return okStatus();
}

Status applyTime(const std::string& time, Scenario& scenario) {
  auto micros = sim::parseDuration(time);
  if (!micros) return invalid("--time: " + micros.error().message, micros.error().hint);
  if (*micros < 1'000'000 || *micros > kTenYears)
    return invalid("--time " + time + " (it must be 1s to 3660d, ten years)");
  scenario.draws["time.seconds"] = {0, 0, {*micros / 1'000'000}, "--time"};
  return okStatus();
}

// As a shell reads it back.
std::string shellWord(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._-/=,", c);
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

void addSourceOptions(Command& command, SimSource& source) {
  command.option("SCENARIO", source.scenario, "A built-in scenario (witan sim list), or a TOML file's path");
  command.option("--seed", source.seed, "Everything that chance decides follows from it")->check(wholeNumber());
  command.option("--plan", source.planFile, "A plan that was kept, instead of SCENARIO and seed")->typeName("FILE");
  command.option("--time", source.time, "How long work and faults go on, as in 90s, 2h or 30d; at most ten years");
  command.option("--set", source.sets, "Another value for an option, as in faults.crashes=20; may be repeated")
      ->typeName("TABLE.OPTION=VALUE")
      ->oneWordEach();
  command.option("--mutant", source.mutant, "Run a deliberately broken variant (witan sim mutants names them)");
}

Result<Scenario> loadScenario(const SimSource& source) {
  if (source.scenario.empty()) return invalid("no scenario is named", "witan sim list names the built-in ones");
  WITAN_TRY(text, scenarioText(source.scenario, {}));
  WITAN_TRY(scenario, sim::parseScenario(text, source.scenario, scenarioText));
  if (!source.time.empty()) WITAN_DO(applyTime(source.time, scenario));
  for (const std::string& set : source.sets) WITAN_DO(applySet(set, scenario));
  return scenario;
}

Result<sim::Plan> loadPlan(const std::string& file) {
  WITAN_TRY(text, fileText(file, kMaxPlanBytes, "give the file of a plan, or - for standard input"));
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end - at > kMaxPlanLine) return invalid(concat(inputName(file), ": line ", number, " is too long"));
    at = end + 1;
  }
  auto plan = sim::readPlan(text);
  if (!plan) return Error{plan.error().code, inputName(file) + ": " + plan.error().message, plan.error().hint};
  return plan;
}

namespace {

Error cannotWrite(const std::string& file) {
  return ioFailed("cannot write " + file + " (" + std::strerror(errno) + ")");
}

}  // namespace

Status savePlan(const std::string& file, const sim::Plan& plan) {
  const std::string text = sim::writePlan(plan);
  FILE* out = std::fopen(file.c_str(), "we");
  if (out == nullptr) return cannotWrite(file);
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const bool closed = std::fclose(out) == 0;
  return written && closed ? okStatus() : Status(cannotWrite(file));
}

Status makeFolder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  return failure ? Status(ioFailed("cannot make the folder " + folder + " (" + failure.message() + ")")) : okStatus();
}

Status canSavePlan(const std::string& file) {
  FILE* out = std::fopen(file.c_str(), "ae");
  if (out == nullptr) return cannotWrite(file);
  std::fclose(out);
  return okStatus();
}

Result<sim::Plan> loadPlan(const SimSource& source) {
  if (!source.planFile.empty()) {
    if (!source.scenario.empty() || source.seed || !source.time.empty() || !source.sets.empty())
      return invalid("a plan has its scenario, seed and options within", "give --plan without them");
    return loadPlan(source.planFile);
  }
  if (!source.seed) return invalid("no seed is named", "add --seed N, or --plan FILE");
  WITAN_TRY(scenario, loadScenario(source));
  return sim::drawPlan(scenario, *source.seed);
}

std::string simCommandLine(const SimSource& source, std::string_view verb, std::optional<std::uint64_t> seed) {
  std::string out = concat("witan sim ", verb);
  if (!source.planFile.empty()) {
    out += " --plan " + shellWord(source.planFile);
  } else {
    out += " " + shellWord(source.scenario);
    if (seed) out += concat(" --seed ", *seed);
    if (!source.time.empty()) out += " --time " + shellWord(source.time);
    for (const std::string& set : source.sets) out += " --set " + shellWord(set);
  }
  if (source.mutant != "none") out += " --mutant " + shellWord(source.mutant);
  return out;
}

int reportSimError(const Error& error, bool json) {
  const bool usage = error.code == ErrorCode::invalidInput || error.code == ErrorCode::notFound;
  return usage ? reportUsage(error, json) : reportError(error, json);
}

}  // namespace witan::node
