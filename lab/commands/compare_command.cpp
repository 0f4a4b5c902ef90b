// `witan compare DOMAIN`: the same proposals under naive services, a judge that errs, sagas and the kernel.
#include <memory>
#include "program/command_line.h"

#include "base/json_codec.h"
#include "base/quote.h"
#include "domains/registry.h"
#include "lab/commands/lab_commands.h"
#include "lab/compare/comparison.h"
#include "program/durable_file.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/policy_file.h"
#include "rules/domain/rule_module.h"

namespace witan::node {

using namespace compare;

namespace {

struct CompareArguments {
  std::string domain, plot;
  ComparisonOptions options;
  std::uint64_t traces = 40, rounds = 30;
  bool json = false;
};

constexpr std::size_t kRuleFileMax = 1 << 20;

Result<std::unique_ptr<kernel::DomainModule>> moduleOf(const std::string& name) {
  if (!name.ends_with(".toml")) return domains::makeDomain(name);
  WITAN_TRY(text, readSmallFile(name, kRuleFileMax));
  if (!text) return notFound("there is no file " + name, "give the path of a rule file, or the name of a domain");
  return rules::makeRuleModule(*text, name);
}

Result<int> compareOne(const CompareArguments& a) {
  ComparisonOptions options = a.options;
  options.traces = a.traces, options.rounds = a.rounds;
  if (!(options.errorRate >= 0 && options.errorRate <= 1)) return invalid("--error-rate: expected 0 to 1");
  if (!(options.latencies.hopMs >= 0 && options.latencies.judgeMs >= 0))
    return invalid("--hop-ms and --judge-ms: expected no negative time");
  WITAN_TRY(module, moduleOf(a.domain));
  WITAN_TRY(made, compareArchitectures(*module, options));
  const std::string& domain = module->signature().domain;
  if (!a.plot.empty()) WITAN_DO(replaceFile(a.plot, comparisonSvg(domain, made), 0644));
  if (a.json)
    putOut(canonicalJson(json::object{
               {"domain", domain}, {"proposals", made.proposals}, {"rows", parseJson(toJson(made.rows)).value()}}) +
           "\n");
  else
    putWords(comparisonTable(domain, options, made));
  return kExitOk;
}

}  // namespace

void addCompareCommand(Command& app) {
  const auto a = std::make_shared<CompareArguments>();
  Command* command =
      app.command("compare", "The same proposals under naive services, a judge that errs, sagas and the kernel");
  command->option("DOMAIN", a->domain, "Name of a domain, or a rule file")->required();
  command->option("--seed", a->options.seed, "Of the traces")->showDefault();
  command->option("--traces", a->traces, "How many")->showDefault()->check(wholeNumber(1, 100'000));
  command->option("--rounds", a->rounds, "Of each trace")->showDefault()->check(wholeNumber(1, 10'000));
  command->option("--error-rate", a->options.errorRate, "How often the judge decides the wrong way round, 0 to 1")
      ->showDefault();
  command->option("--judge-ms", a->options.latencies.judgeMs, "How long an answer of the judge takes")->showDefault();
  command->option("--hop-ms", a->options.latencies.hopMs, "How long a message between services takes")->showDefault();
  command->option("--plot", a->plot, "Also draw it there (SVG)")->typeName("FILE");
  command->flag("--json", a->json, "JSON output");
  command->footer(
      "Committed and denied proposals; denied although they broke nothing; times that an invariant was broken, and "
      "traces in which one was;\ncommits undone; questions to people; time to an answer: computing is measured, hops "
      "and "
      "the judge are as given.\nExample: witan compare budget --traces 5 --plot budget.svg");
  runs(command, a, compareOne);
}

}  // namespace witan::node
