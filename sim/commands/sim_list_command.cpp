// `witan sim list`: what there is to be simulated, to go wrong, and to be checked.
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "base/json_codec.h"
#include "sim/catalog.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_source.h"
#include "sim/options.h"

namespace witan::node {

namespace {

struct ListArguments {
  std::string scenario;
  bool options = false;
  bool json = false;
};

void printRow(std::string_view name, std::string_view text) {
  std::printf("  %-20.*s %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(text.size()),
              text.data());
}

json::object optionsJson() {
  json::object tables;
  const sim::Options fresh;
  sim::forEachOption(fresh, [&](std::string_view table, std::string_view member, const auto& value) {
    if (!tables.contains(table)) tables[table] = json::object();
    tables[table].as_object()[member] = json::parse(toJson(value));
  });
  return tables;
}

void printOptions() {
  for (const auto& [table, members] : optionsJson()) {
    std::printf("[%s]\n", std::string(table).c_str());
    for (const auto& [member, value] : members.as_object())
      std::printf("  %s = %s\n", std::string(member).c_str(), json::serialize(value).c_str());
  }
}

Status printJson() {
  json::array scenarios, events, checkers;
  for (const sim::BuiltinScenario& builtin : sim::builtinScenarios()) {
    WITAN_TRY(scenario, sim::builtinScenario(builtin.name));
    scenarios.push_back(json::object{{"name", builtin.name}, {"title", scenario.title}, {"about", scenario.about}});
  }
  for (std::size_t n = 0; n < enumNames<sim::EventKind>().size(); ++n) {
    const auto kind = static_cast<sim::EventKind>(n);
    const sim::EventInfo& info = sim::eventInfo(kind);
    events.push_back(json::object{
        {"kind", enumName(kind)}, {"fault", sim::isFault(kind)}, {"does", info.does}, {"members", info.members}});
  }
  for (const sim::CheckerInfo& checker : sim::checkers())
    checkers.push_back(json::object{{"name", checker.name}, {"promise", checker.promise}});
  const json::object all{
      {"scenarios", scenarios}, {"events", events}, {"checkers", checkers}, {"options", optionsJson()}};
  std::printf("%s\n", json::serialize(all).c_str());
  return okStatus();
}

Status printAll() {
  std::puts("scenarios (witan sim list NAME shows the file)");
  for (const sim::BuiltinScenario& builtin : sim::builtinScenarios()) {
    WITAN_TRY(scenario, sim::builtinScenario(builtin.name));
    printRow(builtin.name, scenario.about);
  }
  for (const bool faults : {false, true}) {
    std::puts(faults ? "\nfaults, for [[event]]" : "\nwork, for [[event]]");
    for (std::size_t n = 0; n < enumNames<sim::EventKind>().size(); ++n)
      if (const auto kind = static_cast<sim::EventKind>(n); sim::isFault(kind) == faults)
        printRow(enumName(kind), sim::eventInfo(kind).does);
  }
  std::puts("\ncheckers");
  for (const sim::CheckerInfo& checker : sim::checkers()) printRow(checker.name, checker.promise);
  std::puts("\nEvery option of a scenario, with its default: witan sim list --options");
  return okStatus();
}

Status list(const ListArguments& a) {
  if (!a.scenario.empty()) {
    WITAN_TRY(text, sim::builtinScenarioText(a.scenario));
    if (a.json)
      std::printf("%s\n", json::serialize(json::object{{"name", a.scenario}, {"text", text}}).c_str());
    else
      std::fputs(text.c_str(), stdout);
    return okStatus();
  }
  if (a.json) return printJson();
  if (!a.options) return printAll();
  printOptions();
  return okStatus();
}

}  // namespace

void addSimList(Command& sim) {
  const auto arguments = std::make_shared<ListArguments>();
  Command* command = sim.command("list", "Name the scenarios, the kinds of events and the checkers");
  command->option("SCENARIO", arguments->scenario, "Print this built-in scenario's file");
  command->flag("--options", arguments->options, "Every option with its default, as a scenario file has them");
  command->flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sim list split-brain > mine.toml");
  runs(command, arguments, list, reportSimError);
}

}  // namespace witan::node
