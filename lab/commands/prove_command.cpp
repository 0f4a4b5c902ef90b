// `witan domain prove FILE`: what holds for all lawful states of a rule file, decided with Z3.
#include <memory>
#include "program/command_line.h"

#include "base/json_codec.h"
#include "base/quote.h"
#include "lab/commands/lab_commands.h"
#include "lab/proof/rules/prover.h"
#include "program/durable_file.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/policy_file.h"
#include "rules/domain/rule_module.h"

namespace witan::node {

namespace {

struct ProveArguments {
  std::string file, policyFile, scenarios;
  rules::proof::ProofOptions options;
  bool json = false;
};

Result<int> proveFile(const ProveArguments& a) {
  if (!a.file.ends_with(".toml"))
    return invalid(inQuotes(a.file) + " is no rule file: the rules of a compiled domain cannot be read",
                   "give the path of a NAME.domain.toml");
  json::object policy;
  if (!a.policyFile.empty()) WITAN_SET(policy, readPolicyFile(a.policyFile));
  WITAN_TRY(text, readSmallFile(a.file, rules::kFileMax));
  if (!text) return notFound("there is no file " + a.file, "give the path of a NAME.domain.toml");
  WITAN_TRY(domain, rules::readRuleDomain(*text, a.file, policy));
  WITAN_TRY(module, rules::makeRuleModule(*text, a.file, policy));
  const rules::proof::ProofReport report = rules::proof::prove(*domain, *module, a.options);
  if (!a.scenarios.empty()) WITAN_DO(replaceFile(a.scenarios, rules::proof::proofScenarios(report), 0644));
  putWords(a.json ? canonicalJson(rules::proof::proofJson(report)) + "\n" : rules::proof::proofText(report));
  return kExitOk;
}

}  // namespace

void addProveCommand(Command& app) {
  const auto a = std::make_shared<ProveArguments>();
  Command* command = app.command("prove", "What holds for all lawful states of a rule file (witan domain prove)");
  command->option("FILE", a->file, "Rule file NAME.domain.toml")->required();
  command->option("--policy", a->policyFile, "TOML or JSON file with the domain's policy");
  command->option("--rows", a->options.rows, "Of each table, at most")->showDefault()->check(wholeNumber(1, 6));
  command->option("--limit-ms", a->options.milliseconds, "Of each question to Z3")
      ->showDefault()
      ->check(wholeNumber(1, 600'000));
  command->option("--seconds", a->options.seconds, "In all; what was not answered by then is unknown")
      ->showDefault()
      ->check(wholeNumber(1, 86'400));
  command->option("--scenarios", a->scenarios, "Also write the examples there, for witan domain test")
      ->typeName("FILE");
  command->flag("--json", a->json, "JSON output");
  command->footer("Example: witan domain prove docs/examples/budget.domain.toml");
  runs(command, a, proveFile);
}

}  // namespace witan::node
