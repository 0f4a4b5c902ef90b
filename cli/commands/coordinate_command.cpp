// `witan coordinate run`: one run of joint admissibility from a file. `witan coordinate audit`: is a log what it
// claims?
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "base/bytes.h"
#include "cli/commands/commands.h"
#include "coordination/coordinate.h"
#include "coordination/log_audit.h"
#include "program/line_reader.h"
#include "program/output.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

constexpr std::size_t kMostLogBytes = std::size_t{1} << 30;

struct CoordinateArguments {
  std::string file;
  std::string vector;  // of audit
  bool json = false;
};

Error named(const std::string& file, Error error) {
  error.message = inputName(file) + ": " + error.message;
  return error;
}

std::string orNone(const std::optional<std::string>& word) { return word.value_or("none"); }

void printFindings(const std::vector<Finding>& findings) {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < findings.size() && i < kMost; ++i)
    putWords(concat("epoch ", findings[i].epoch, ": ", findings[i].kernelClass, ": ", findings[i].detail, "\n"));
  if (findings.size() > kMost) putWords(concat("... and ", findings.size() - kMost, " more\n"));
}

Result<int> run(const CoordinateArguments& arguments) {
  WITAN_TRY(text, readInput(arguments.file, SetupLimits{}.bytes));
  const auto setup = readSetup(text);
  if (!setup.ok()) return named(arguments.file, setup.error());
  const Verdict verdict = coordinate(*setup, [&](std::string_view piece) {
    if (arguments.json) std::fwrite(piece.data(), 1, piece.size(), stdout);
  });
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
  command->option("FILE", arguments->file, file)->required();
  command->flag("--json", arguments->json, "JSON output");
  command->footer(footer);
  runs(command, arguments, act);
  return arguments;
}

}  // namespace

void addCoordinateCommand(Command& app) {
  Command* noun = app.noun("coordinate", "Joint admissibility: coordination without arbitration",
                           "witan coordinate run condition.json --json");
  addVerb(*noun, "run", "Run a test vector: simultaneous proposals, two passes, no tie-break",
          "The vector (JSON); - for standard input",
          "With --json the whole log and its classes, as canonical JSON (docs/coordination.md).\n"
          "Exit code 1: the vector has an \"expect\", and something else came of it.\n"
          "Example: witan coordinate run condition.json --json",
          run);
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
