// `witan coordinate run`: one run of joint admissibility from a file. `witan coordinate audit`: is a log what it
// claims?
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/bytes.h"
#include "kernel/joint/coordinate.h"
#include "node/cli.h"
#include "node/line_reader.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

struct CoordinateArguments {
  std::string file;
  bool json = false;
};

Error named(const std::string& file, Error error) {
  error.message = inputName(file) + ": " + error.message;
  return error;
}

std::string orNone(const std::optional<std::string>& word) { return word.value_or("none"); }

void printFindings(const std::vector<Finding>& findings, FILE* to) {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < findings.size() && i < kMost; ++i)
    std::fprintf(to, "epoch %llu: %s: %s\n", static_cast<unsigned long long>(findings[i].epoch),
                 findings[i].kernelClass.c_str(), findings[i].detail.c_str());
  if (findings.size() > kMost) std::fprintf(to, "... and %zu more\n", findings.size() - kMost);
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
  std::printf(
      "condition   %s\nepochs      %llu of %u\nfinal state %s\nterminal    %s\nkernel      %s\nresult      %s%s\n",
      setup->condition.c_str(), static_cast<unsigned long long>(verdict.epochs), setup->maxEpochs,
      verdict.finalState.c_str(), orNone(verdict.terminal).c_str(), orNone(verdict.kernel).c_str(),
      verdict.pass ? "PASS" : "FAIL", verdict.why.empty() ? "" : (": " + verdict.why).c_str());
  std::printf("log digest  %s\n", toHex(verdict.digest).c_str());
  printFindings(verdict.findings, stdout);
  return exitCode;
}

Result<int> audit(const CoordinateArguments& arguments) {
  WITAN_TRY(text, readInput(arguments.file, std::size_t{1} << 30));
  const auto log = parseJson(text, {.bytes = text.size()});
  if (!log.ok()) return named(arguments.file, log.error());
  std::optional<std::string> kernelClass;
  const auto findings = auditLog(*log, kernelClass);
  if (!findings.ok()) return named(arguments.file, findings.error());
  if (arguments.json) {
    json::array list;
    for (const Finding& finding : *findings)
      list.push_back(
          json::object{{"class", finding.kernelClass}, {"epoch", finding.epoch}, {"detail", finding.detail}});
    const json::value word = kernelClass ? json::value(*kernelClass) : json::value(nullptr);
    const json::object object{{"findings", list}, {"kernel_classification", word}};
    std::fputs((canonicalJson(object) + "\n").c_str(), stdout);
  } else {
    std::printf("kernel      %s\n", orNone(kernelClass).c_str());
    printFindings(*findings, stdout);
  }
  return findings->empty() ? kExitOk : kExitFailed;
}

using Act = Result<int> (*)(const CoordinateArguments&);

void addVerb(CLI::App& noun, const char* verb, const char* about, const char* file, const char* footer, Act act,
             int& exitCode) {
  const auto arguments = std::make_shared<CoordinateArguments>();
  CLI::App* command = noun.add_subcommand(verb, about);
  command->add_option("FILE", arguments->file, file)->required();
  command->add_flag("--json", arguments->json, "JSON output");
  command->footer(footer);
  command->callback([arguments, act, &exitCode] {
    const auto code = act(*arguments);
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
}

}  // namespace

void addCoordinateCommand(CLI::App& app, int& exitCode) {
  CLI::App* noun = app.add_subcommand("coordinate", "Joint admissibility: coordination without arbitration");
  noun->require_subcommand(1);
  noun->footer("Example: witan coordinate run condition.json --json");
  addVerb(*noun, "run", "Run a test vector: simultaneous proposals, two passes, no tie-break",
          "The vector (JSON); - for standard input",
          "With --json the whole log and its classes, as canonical JSON (docs/coordination.md).\n"
          "Exit code 1: the vector has an \"expect\", and something else came of it.\n"
          "Example: witan coordinate run condition.json --json",
          run, exitCode);
  addVerb(
      *noun, "audit", "Audit the log of a run, from nothing but the log",
      "What run --json printed; - for standard input",
      "Exit code 0: nothing was found.\nExample: witan coordinate run condition.json --json | witan coordinate audit -",
      audit, exitCode);
}

}  // namespace witan::node
