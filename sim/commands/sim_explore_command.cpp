// `witan sim explore`: every interleaving of a small configuration.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "base/json.h"
#include "program/option_checks.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_source.h"
#include "sim/explore/configurations.h"
#include "sim/mutants.h"

namespace witan::node {

namespace {

struct ExploreArguments {
  std::vector<std::string> names;
  sim::ExploreBounds bounds;
  std::string mutant = "none";
  bool list = false, json = false;
};

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out(indent);
  std::size_t column = indent.size();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + word.size() > 100) out += concat("\n", indent), column = indent.size();
    out += concat(word, text.empty() ? "" : " ");
    column += word.size() + 1;
  }
  return out + "\n";
}

struct Explored {
  sim::ExploreResult result;
  double seconds = 0;
  // Found where it must be, or nothing found where nothing may be.
  bool asItMustBe = false;
};

Explored exploreOne(const sim::ExploreConfiguration& configuration, const sim::ExploreBounds& bounds) {
  const auto from = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count(); };
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const auto model = configuration.make();
  Explored out;
  out.result = sim::explore(*model, bounds, [&](const sim::ExploreResult& so) {
    if (terminal && seconds() > 1)
      std::fprintf(stderr, "\r%.*s: depth %zu, %zu states, %.0f s ", static_cast<int>(configuration.name.size()),
                   configuration.name.data(), so.depth, so.states, seconds());
  });
  out.seconds = seconds();
  if (terminal) std::fputs("\r\033[K", stderr);
  out.asItMustBe = out.result.counterexample.has_value() == configuration.mustFail;
  return out;
}

const char* verdictOf(const sim::ExploreConfiguration& configuration, const Explored& explored) {
  if (explored.result.counterexample)
    return configuration.mustFail ? "counterexample found, as it must be" : "COUNTEREXAMPLE FOUND";
  if (configuration.mustFail) return "NO COUNTEREXAMPLE, and there should be one";
  return explored.result.exhausted ? "every state looked at: no counterexample"
                                   : "no counterexample up to the bounds; not every state was looked at";
}

void print(const sim::ExploreConfiguration& configuration, const Explored& explored) {
  const sim::ExploreResult& result = explored.result;
  std::printf("%.*s\n%s", static_cast<int>(configuration.name.size()), configuration.name.data(),
              wrapped(configuration.stated, "  ").c_str());
  std::fputs(wrapped(concat("checked: ", configuration.checks), "  ").c_str(), stdout);
  std::printf("  %zu states, %zu transitions, depth %zu, %.1f s: %s\n", result.states, result.transitions, result.depth,
              explored.seconds, verdictOf(configuration, explored));
  if (result.counterexample) std::printf("\n%s", sim::counterexampleText(result).c_str());
  std::fputs("\n", stdout);
}

json::object jsonOf(const sim::ExploreConfiguration& configuration, const Explored& explored) {
  const sim::ExploreResult& result = explored.result;
  json::object out{{"configuration", configuration.name},
                   {"stated", configuration.stated},
                   {"states", result.states},
                   {"transitions", result.transitions},
                   {"depth", result.depth},
                   {"exhausted", result.exhausted},
                   {"seconds", explored.seconds},
                   {"mustFail", configuration.mustFail},
                   {"asItMustBe", explored.asItMustBe},
                   {"counterexample", nullptr}};
  if (!result.counterexample) return out;
  json::array steps;
  for (const auto& [what, state] : result.counterexample->steps)
    steps.push_back(json::object{{"step", what}, {"state", state}});
  out["counterexample"] = json::object{{"problem", result.counterexample->problem},
                                       {"start", result.counterexample->start},
                                       {"steps", std::move(steps)}};
  return out;
}

void listConfigurations(bool asJson) {
  json::array all;
  for (const sim::ExploreConfiguration& configuration : sim::exploreConfigurations()) {
    if (asJson)
      all.push_back(json::object{{"configuration", configuration.name},
                                 {"stated", configuration.stated},
                                 {"checks", configuration.checks},
                                 {"mustFail", configuration.mustFail}});
    else
      std::printf("%.*s\n%s", static_cast<int>(configuration.name.size()), configuration.name.data(),
                  wrapped(configuration.stated, "  ").c_str());
  }
  if (asJson) std::printf("%s\n", json::serialize(all).c_str());
}

Result<int> run(const ExploreArguments& a) {
  WITAN_DO(sim::activateMutant(a.mutant));
  if (a.list) {
    listConfigurations(a.json);
    return kExitOk;
  }
  std::vector<const sim::ExploreConfiguration*> chosen;
  for (const std::string& name : a.names) {
    WITAN_TRY(configuration, sim::exploreConfiguration(name));
    chosen.push_back(configuration);
  }
  if (a.names.empty())
    for (const sim::ExploreConfiguration& configuration : sim::exploreConfigurations())
      chosen.push_back(&configuration);
  json::array all;
  int exitCode = kExitOk;
  for (const sim::ExploreConfiguration* configuration : chosen) {
    const Explored explored = exploreOne(*configuration, a.bounds);
    if (!explored.asItMustBe) exitCode = kExitFailed;
    a.json ? void(all.push_back(jsonOf(*configuration, explored))) : print(*configuration, explored);
    std::fflush(stdout);
  }
  if (a.json) std::printf("%s\n", json::serialize(all).c_str());
  return exitCode;
}

}  // namespace

void addSimExplore(Command& sim) {
  const auto arguments = std::make_shared<ExploreArguments>();
  Command* command = sim.command("explore", "Look at every interleaving of a small configuration");
  command->option("CONFIGURATION", arguments->names, "Which; --list names them. Default: all, one after the other");
  command->option("--depth", arguments->bounds.depth, "Steps from the start, at most")
      ->check(wholeNumber(1, 1'000'000));
  command->option("--states", arguments->bounds.states, "States, at most (default 3,000,000)")
      ->check(wholeNumber(1, 100'000'000));
  command->option("--mutant", arguments->mutant, "Explore this broken variant (witan sim mutants --list)");
  command->flag("--list", arguments->list, "Name the configurations");
  command->flag("--json", arguments->json, "JSON output: an array");
  command->footer(
      "Exit code 1 if a configuration has a counterexample. The exception is literal-merge, a rule known to be wrong:\n"
      "there, not finding its counterexample is the failure.\n"
      "Example: witan sim explore literal-merge");
  runs(command, arguments, run, reportSimError);
}

}  // namespace witan::node
