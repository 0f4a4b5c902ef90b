// `witan conformance SUITE`: does this build do what the published statements say, and would it show if it did not?
#include <array>
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "base/json.h"
#include "base/quote.h"
#include "lab/commands/lab_commands.h"
#include "lab/conformance/kernels.h"
#include "lab/proof/theorem.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

// Seed 002: every theorem of the decision logic, proven by Z3 for all inputs. Counter-checks are the broken twins.
void runDecisionSuite(const ConformanceOptions& options, const EmitRow& emit) {
  using namespace agents::proof;
  for (const Theorem& theorem : theorems()) {
    if (!theorem.id.starts_with(options.only)) continue;
    const Verdict proven = prove(theorem);
    emit({std::string(theorem.id), std::string(theorem.title), proven.asItMustBe, proven.detail});
    if (!options.proveIt) continue;
    const Verdict refuted = refuteTwin(theorem);
    emit({concat(theorem.id, "/twin"), concat("must fail: ", theorem.twinTitle), refuted.asItMustBe, refuted.detail});
  }
}

// Seed 004: K-01 to K-04 of its appendix and its experiments on single episodes, on the real kernel with toy agents.
// Counter-checks are histories that break the law.
void runKernelsSuite(const ConformanceOptions& options, const EmitRow& emit) {
  using namespace agents::conformance;
  for (const KernelCheck& check : kernelChecks()) {
    if (!check.id.starts_with(options.only)) continue;
    const Finding held = check.run();
    emit({std::string(check.id), std::string(check.title), held.pass, held.detail});
    if (!options.proveIt) continue;
    const Finding found = check.twin();
    emit({concat(check.id, "/twin"), concat("must be found out: ", check.twinTitle), found.pass, found.detail});
  }
}

struct Suite {
  const char* name;
  const char* about;
  void (*run)(const ConformanceOptions&, const EmitRow&);
};

constexpr std::array kSuites{
    Suite{"decision", "seed 002, the verified agent: its theorems, by Z3 for all inputs", runDecisionSuite},
    Suite{"ix2", "seed 001, coordination under deadlock: its ten conditions, each run twice", runIx2Suite},
    Suite{"kernels",
          "seeds 003 and 004: F the obligations of agents, K single episodes, E experiments, G graphs, M the market",
          runKernelsSuite},
    Suite{"redux", "seed 000, Agentic Redux: theorems 1 to 4, 1+ and 3+ on random histories, and its two controls",
          runReduxSuite},
};

struct ConformanceArguments {
  std::string suite;
  ConformanceOptions options;
  bool json = false;
};

std::string suiteNames() {
  std::string names;
  for (const Suite& suite : kSuites) names += concat(names.empty() ? "" : ", ", suite.name);
  return names;
}

// What it writes: a table as the rows come, or one JSON array.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const ConformanceRow& row) {
    if (json_) {
      const json::object object{
          {"id", row.id}, {"title", row.title}, {"result", resultOf(row)}, {"detail", row.detail}};
      std::fputs(rows_ == 0 ? "[" : ",\n ", stdout);
      std::fputs(canonicalJson(object).c_str(), stdout);
    } else {
      std::printf("%-4s  %-46s  %s\n      %s\n", resultOf(row), row.id.c_str(), row.title.c_str(), row.detail.c_str());
    }
    std::fflush(stdout);
    ++rows_;
    if (!row.pass) ++failed_;
  }

  int finish() {
    if (json_)
      std::fputs("]\n", stdout);
    else
      std::printf("%zu of %zu as they must be\n", rows_ - failed_, rows_);
    return failed_ == 0 ? kExitOk : kExitFailed;
  }

  std::size_t rows() const { return rows_; }

 private:
  static const char* resultOf(const ConformanceRow& row) { return row.pass ? "pass" : "fail"; }

  bool json_;
  std::size_t rows_ = 0, failed_ = 0;
};

int conformance(const ConformanceArguments& arguments) {
  for (const Suite& suite : kSuites) {
    if (arguments.suite != suite.name) continue;
    Report report(arguments.json);
    suite.run(arguments.options, [&](const ConformanceRow& row) { report.add(row); });
    if (report.rows() == 0)
      return reportUsage(invalid("nothing in " + arguments.suite + " begins with " + inQuotes(arguments.options.only),
                                 "witan conformance " + arguments.suite + " shows the ids"),
                         arguments.json);
    return report.finish();
  }
  return reportUsage(invalid("there is no suite " + inQuotes(arguments.suite), "there are: " + suiteNames()),
                     arguments.json);
}

}  // namespace

void addConformanceCommand(Command& app) {
  const auto arguments = std::make_shared<ConformanceArguments>();
  Command* command = app.command("conformance", "Hold this build against a published statement, row by row");
  std::string suites = "Suites:";
  for (const Suite& suite : kSuites) suites += concat("\n  ", suite.name, ": ", suite.about);
  command->option("suite", arguments->suite, "One of: " + suiteNames())->required();
  command->option("--only", arguments->options.only, "Rows whose id begins so");
  command->flag("--prove-it", arguments->options.proveIt,
                "Also run what must fail, and show how: a broken twin of each row");
  command->flag("--json", arguments->json, "JSON output");
  command->footer(suites +
                  "\nExit code 0: every row is as it must be.\n"
                  "Example: witan conformance decision --only permission --prove-it");
  command->callback([arguments] { return conformance(*arguments); });
}

}  // namespace witan::node
