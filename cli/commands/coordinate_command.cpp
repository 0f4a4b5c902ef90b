// `witan coordinate run`: one run of joint admissibility from a file. `witan coordinate audit`: is a log what it
// claims?
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sstream>
#include "program/command_line.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "cli/commands/commands.h"
#include "cli/coordinate/agent_processes.h"
#include "cli/coordinate/growth.h"
#include "coordination/coordinate.h"
#include "coordination/log_audit.h"
#include "program/json_file.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

constexpr std::size_t kMostLogBytes = std::size_t{1} << 30;

struct CoordinateArguments {
  std::string file;
  std::string vector;   // of audit
  std::string program;  // of external agents, and its arguments
  std::string agents = "2,4,8,16,32,64";
  std::uint64_t epochs = 40;
  bool json = false;
};

std::string orNone(const std::optional<std::string>& word) { return word.value_or("none"); }

void printFindings(const std::vector<Finding>& findings) {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < findings.size() && i < kMost; ++i)
    putWords(concat("epoch ", findings[i].epoch, ": ", findings[i].kernelClass, ": ", findings[i].detail, "\n"));
  if (findings.size() > kMost) putWords(concat("... and ", findings.size() - kMost, " more\n"));
}

std::vector<std::string> wordsOf(const std::string& text, char between) {
  std::vector<std::string> words;
  std::stringstream rest(text);
  for (std::string word; std::getline(rest, word, between);)
    if (!word.empty()) words.push_back(word);
  return words;
}

Result<int> scale(const CoordinateArguments& arguments) {
  constexpr std::size_t kLeast = 2, kMost = 1'000;
  GrowthOptions options;
  options.program = wordsOf(arguments.program, ' ');
  options.maxEpochs = static_cast<std::uint32_t>(arguments.epochs);
  options.agents.clear();
  for (const std::string& word : wordsOf(arguments.agents, ',')) {
    std::size_t n = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (failure != std::errc{} || end != word.data() + word.size() || n < kLeast || n > kMost)
      return invalid(concat("--agents: ", inQuotes(word), " is no number from ", kLeast, " to ", kMost));
    options.agents.push_back(n);
  }
  json::array rows;
  bool neutral = true;
  if (!arguments.json) putWords("agents  epochs  refusals  messages  terminal\n");
  for (const std::size_t n : options.agents) {
    WITAN_TRY(row, grow(n, options));
    neutral = neutral && !row.kernel;
    rows.push_back(parseJson(toJson(row)).value());
    if (arguments.json) continue;
    const std::string epochs = row.coordinatedAt ? std::to_string(*row.coordinatedAt) : "never";
    std::printf("%6zu  %6s  %8llu  %8llu  %s\n", n, epochs.c_str(), static_cast<unsigned long long>(row.refusals),
                static_cast<unsigned long long>(row.messages), orNone(row.terminal).c_str());
    if (row.kernel) putWords("        the kernel: " + *row.kernel + "\n");
  }
  if (arguments.json) putOut(canonicalJson(json::object{{"rows", rows}}) + "\n");
  return neutral ? kExitOk : kExitFailed;
}

Result<int> run(const CoordinateArguments& arguments) {
  WITAN_TRY(text, readInput(arguments.file, SetupLimits{}.bytes));
  const auto setup = readSetup(text);
  if (!setup.ok()) return named(arguments.file, setup.error());
  const std::vector<std::string> program = wordsOf(arguments.program, ' ');
  const bool external = std::ranges::any_of(
      setup->agents, [](const AgentSetup& agent) { return agent.strategy == StrategyKind::external; });
  if (external == program.empty())
    return named(arguments.file,
                 invalid(external ? "the vector has external agents" : "the vector has no external agents",
                         external ? "give --program" : "leave --program out"));
  AgentProcesses programs(*setup, program);
  std::string log;
  const Verdict verdict = coordinate(
      *setup,
      [&](std::string_view piece) {
        if (external)
          log += piece;  // nothing is said of a run whose agents failed
        else if (arguments.json)
          std::fwrite(piece.data(), 1, piece.size(), stdout);
      },
      0, external ? programs.deciders() : Deciders());
  if (programs.error()) return named(arguments.file, *programs.error());
  if (arguments.json) std::fwrite(log.data(), 1, log.size(), stdout);
  // What the vector itself expects; whatever else comes of a run is its answer.
  const int exitCode = setup->expected && !verdict.pass ? kExitFailed : kExitOk;
  if (arguments.json) {
    std::fputs("\n", stdout);
    return exitCode;
  }
  putWords(concat("condition   ", setup->condition, "\nepochs      ", verdict.epochs, " of ", setup->maxEpochs,
                  "\nfinal state ", verdict.finalState, "\nterminal    ", orNone(verdict.terminal), "\nkernel      ",
                  orNone(verdict.kernel), "\nresult      ", verdict.pass ? "PASS" : "FAIL",
                  verdict.why.empty() ? "" : ": " + verdict.why, "\nlog digest  ", toHex(verdict.digest), "\n"));
  printFindings(verdict.findings);
  return exitCode;
}

// What a run of the vector says otherwise is a finding more.
Status holdAgainst(const std::string& file, const std::string& logFile, std::string_view log, LogAudit& audited) {
  WITAN_TRY(text, readInput(file, SetupLimits{}.bytes));
  const auto vector = readSetup(text, {.logBytes = kMostLogBytes});
  if (!vector.ok()) return named(file, vector.error());
  auto difference = compareWithRun(log, *vector);
  if (!difference.ok()) return named(logFile, difference.error());
  if (!*difference) return okStatus();
  audited.findings.push_back(**std::move(difference));
  if (!audited.kernelClass) audited.kernelClass = kIncomplete;
  return okStatus();
}

Result<int> audit(const CoordinateArguments& arguments) {
  WITAN_TRY(text, readInput(arguments.file, kMostLogBytes));
  auto audited = auditLog(text);
  if (!audited.ok()) return named(arguments.file, audited.error());
  const auto& [kernelClass, findings] = *audited;
  if (!arguments.vector.empty()) WITAN_DO(holdAgainst(arguments.vector, arguments.file, text, *audited));
  if (arguments.json) {
    json::array list;
    for (const Finding& finding : findings)
      list.push_back(
          json::object{{"class", finding.kernelClass}, {"epoch", finding.epoch}, {"detail", finding.detail}});
    const json::value word = kernelClass ? json::value(*kernelClass) : json::value(nullptr);
    const json::object object{{"findings", list}, {"kernel_classification", word}};
    std::fputs((canonicalJson(object) + "\n").c_str(), stdout);
  } else {
    putWords("kernel      " + orNone(kernelClass) + "\n");
    printFindings(findings);
  }
  return findings.empty() ? kExitOk : kExitFailed;
}

using Act = Result<int> (*)(const CoordinateArguments&);

std::shared_ptr<CoordinateArguments> addVerb(Command& noun, const char* verb, const char* about, const char* file,
                                             const char* footer, Act act) {
  const auto arguments = std::make_shared<CoordinateArguments>();
  Command* command = noun.command(verb, about);
  if (file != nullptr) command->option("FILE", arguments->file, file)->required();
  command->flag("--json", arguments->json, "JSON output");
  command->footer(footer);
  runs(command, arguments, act);
  return arguments;
}

}  // namespace

void addCoordinateCommand(Command& app) {
  Command* noun = app.noun("coordinate", "Joint admissibility: coordination without arbitration",
                           "witan coordinate run condition.json --json");
  const auto ran = addVerb(*noun, "run", "Run a test vector: simultaneous proposals, two passes, no tie-break",
                           "The vector (JSON); - for standard input",
                           "With --json the whole log and its classes, as canonical JSON (docs/coordination.md).\n"
                           "Exit code 1: the vector has an \"expect\", and something else came of it.\n"
                           "Example: witan coordinate run condition.json --json",
                           run);
  noun->find("run")
      ->option("--program", ran->program, "Of the external agents, with its arguments: started once an agent and run")
      ->typeName("\"PROGRAM ARG ...\"");
  const auto scaled =
      addVerb(*noun, "scale", "How long agents without an arbiter take to coordinate, by their number", nullptr,
              "As many resources as agents; each may write all; coordinated: all write one each in one "
              "epoch.\nExit code 1: the auditors found something of the kernel.\n"
              "Example: witan coordinate scale --agents 2,4,8",
              scale);
  Command* scaling = noun->find("scale");
  scaling->option("--agents", scaled->agents, "Numbers of agents, 2 to 1000 each")->showDefault();
  scaling->option("--max-epochs", scaled->epochs, "Epochs, at most")->showDefault()->check(wholeNumber(1, 10'000));
  scaling
      ->option("--program", scaled->program,
               "Of the agents, with its arguments (docs/coordination.md); default: the shipped strategy hash_partition")
      ->typeName("\"PROGRAM ARG ...\"");
  const auto audited = addVerb(
      *noun, "audit", "Audit the log of a run, from nothing but the log",
      "What run --json printed, at most 1 GiB; - for standard input",
      "Exit code 0: nothing was found.\nExample: witan coordinate run condition.json --json | witan coordinate audit -",
      audit);
  noun->find("audit")
      ->option("--vector", audited->vector,
               "The vector that was run: it is run again, and the first difference is a finding")
      ->typeName("FILE");
}

}  // namespace witan::node
