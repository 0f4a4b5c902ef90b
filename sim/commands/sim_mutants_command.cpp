// `witan sim mutants`: does the simulator notice deliberately broken variants, and after how many seeds?
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include "program/command_line.h"

#include "base/json.h"
#include "base/quote.h"
#include "program/option_checks.h"
#include "sim/commands/sim_command.h"
#include "sim/mutants.h"

namespace witan::node {

namespace {

struct MutantsArguments {
  std::vector<std::string> only;
  std::string scenario;
  std::uint64_t budget = 0;
  unsigned jobs = 0;
  bool list = false, json = false;
};

std::string jsonOf(const sim::MutantCase& one, const sim::MutantRun* run) {
  json::object out;
  out["mutant"] = one.name;
  out["checker"] = run == nullptr ? one.checkers : std::string_view(run->checker);
  if (run != nullptr) out["caughtAtSeed"] = run->caught() ? json::value(run->caughtAtSeed) : json::value(nullptr);
  out["expected"] = one.checkers;
  out["scenario"] = one.scenario;
  out["budget"] = one.budget;
  out["what"] = one.what;
  if (run != nullptr) {
    out["reason"] = run->failure.reason;
    out["note"] = run->note;
  }
  return canonicalJson(out);
}

void printArray(const std::vector<std::string>& lines) {
  std::string out = "[";
  for (const std::string& line : lines) out += (out.size() > 1 ? ",\n " : "") + line;
  std::fputs((out + "]\n").c_str(), stdout);
}

int list(std::span<const sim::MutantCase> cases, bool json) {
  std::vector<std::string> lines;
  for (const sim::MutantCase& one : cases) {
    lines.push_back(jsonOf(one, nullptr));
    if (!json)
      std::printf("%-20s %-12s %5llu seeds  %s\n", std::string(one.name).c_str(), std::string(one.scenario).c_str(),
                  static_cast<unsigned long long>(one.budget), std::string(one.what).c_str());
  }
  if (json) printArray(lines);
  return kExitOk;
}

void printRun(const sim::MutantRun& run) {
  const std::string seed = run.caught() ? concat("seed ", run.caughtAtSeed) : "NOT CAUGHT";
  std::printf("%-20s %-12s %-10s of %4llu  %-16s %s\n", std::string(run.mutant.name).c_str(),
              std::string(run.mutant.scenario).c_str(), seed.c_str(),
              static_cast<unsigned long long>(run.mutant.budget), run.caught() ? run.checker.c_str() : "",
              run.caught() ? run.failure.reason.c_str() : run.note.c_str());
  std::fflush(stdout);
}

Result<std::vector<sim::MutantCase>> chosen(const MutantsArguments& arguments) {
  std::vector<sim::MutantCase> cases;
  for (const std::string& name : arguments.only) {
    const sim::MutantCase* one = sim::findMutantCase(name);
    if (one == nullptr) return invalid("there is no mutant " + inQuotes(name), "witan sim mutants --list names them");
    cases.push_back(*one);
  }
  if (cases.empty()) cases.assign(sim::mutantCases().begin(), sim::mutantCases().end());
  return cases;
}

int mutants(const MutantsArguments& arguments) {
  const auto cases = chosen(arguments);
  if (!cases.ok()) return reportUsage(cases.error(), arguments.json);
  if (arguments.list) return list(*cases, arguments.json);
  if (!sim::mutantsCompiledIn()) return reportError(sim::activateMutant(cases->front().name).error(), arguments.json);
  sim::HuntOptions options{
      .jobs = arguments.jobs != 0 ? arguments.jobs : std::max(1U, std::thread::hardware_concurrency()),
      .scenario = arguments.scenario,
      .budget = arguments.budget};
  if (!arguments.json) options.finished = printRun;
  const auto runs = sim::huntMutants(*cases, options);
  if (!runs.ok()) return reportError(runs.error(), arguments.json);
  const auto caught = static_cast<std::size_t>(
      std::count_if(runs->begin(), runs->end(), [](const sim::MutantRun& run) { return run.caught(); }));
  if (arguments.json) {
    std::vector<std::string> lines;
    for (const sim::MutantRun& run : *runs) lines.push_back(jsonOf(run.mutant, &run));
    printArray(lines);
  } else {
    std::printf("%zu of %zu broken variants were noticed\n", caught, runs->size());
  }
  return caught == runs->size() ? kExitOk : kExitFailed;
}

}  // namespace

void addSimMutants(Command& sim) {
  const auto arguments = std::make_shared<MutantsArguments>();
  Command* command =
      sim.command("mutants", "Does the simulator notice deliberately broken variants, and after how many seeds?");
  command->option("--only", arguments->only, "These variants alone; may be repeated")->oneWordEach();
  command->option("--scenario", arguments->scenario, "A built-in scenario instead of each one's own");
  command->option("--budget", arguments->budget, "So many seeds instead of each one's own budget")
      ->check(wholeNumber(1, 1'000'000));
  command->option("--jobs", arguments->jobs, "Worker processes; default: one a core")->check(wholeNumber(1, 256));
  command->flag("--list", arguments->list, "Which there are, and where they must be noticed");
  command->flag("--json", arguments->json, "JSON output");
  command->footer(
      "Exit code 0: every one was caught within its budget.\nExample: witan sim mutants --only ignoreEpoch");
  command->callback([arguments] { return mutants(*arguments); });
}

}  // namespace witan::node
