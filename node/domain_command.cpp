// `witan domain`: what the domains of this build are, whether they are sound, and workloads of them.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "domains/registry.h"
#include "node/cli.h"
#include "node/domain_show.h"
#include "node/event_generator.h"
#include "node/policy_file.h"

namespace witan::node {

using namespace kernel;

namespace {

struct DomainArguments {
  std::string name;
  std::string policyFile;
  bool json = false;
  bool capnp = false;
  SkewOptions skew;
  HistoryOptions histories;
  GenerateOptions generate;
};

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Result<std::unique_ptr<DomainModule>> moduleOf(const DomainArguments& a) {
  json::object policy;
  if (!a.policyFile.empty()) {
    WITAN_TRY(read, readPolicyFile(a.policyFile));
    policy = std::move(read);
  }
  return domains::makeDomain(a.name, policy);
}

Result<int> list(const DomainArguments& a) {
  json::array all;
  for (std::string_view name : domains::domainNames()) {
    WITAN_TRY(module, domains::makeDomain(name));
    const Signature& s = module->signature();
    if (a.json)
      all.push_back(json::object{{"name", s.domain}, {"title", s.title}});
    else
      std::printf("%-14s %s\n", s.domain.c_str(), s.title.c_str());
  }
  if (a.json) print(json::serialize(all) + "\n");
  return kExitOk;
}

Result<int> show(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  if (a.capnp && a.json)
    print(json::serialize(json::object{{"capnp", module->actionSchema()}}) + "\n");
  else if (a.capnp)
    print(module->actionSchema());
  else
    print(a.json ? showDomainJson(*module) + "\n" : showDomain(*module));
  return kExitOk;
}

// Write skew is a finding, not a fault: it says that the domain needs coordination. Problems are faults.
Result<int> lint(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  const SignatureLint found = lintSignature(module->signature());
  const SkewReport skew = findWriteSkew(*module, a.skew);
  print(a.json ? lintJson(module->signature(), found, skew) + "\n"
               : lintText(module->signature(), found) + skewText(skew));
  return found.problems.empty() ? kExitOk : kExitFailed;
}

Result<int> test(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  std::vector<PropertyResult> checks = checkScenarios(*module);
  for (PropertyResult& check : checkHistories(*module, a.histories)) checks.push_back(std::move(check));
  print(a.json ? checksJson(a.name, checks) + "\n" : checksText(checks));
  return allHeld(checks) ? kExitOk : kExitFailed;
}

Result<int> generate(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  WITAN_TRY(lines, generateEvents(*module, a.generate));
  print(lines);
  return kExitOk;
}

}  // namespace

void addDomainCommand(CLI::App& app, int& exitCode) {
  auto a = std::make_shared<DomainArguments>();
  CLI::App* domain = app.add_subcommand("domain", "The domains of this build: declarations, lint, tests, workloads");
  domain->require_subcommand(1);
  domain->footer("Example: witan domain show udt");
  const auto verb = [&](const char* name, const char* what, const char* example, bool named, auto run) {
    CLI::App* command = domain->add_subcommand(name, what);
    if (named) {
      command->add_option("name", a->name, "Domain (see: witan domain list)")->required();
      command->add_option("--policy", a->policyFile, "TOML or JSON file with the domain's policy");
    }
    command->add_flag("--json", a->json, "JSON output");
    command->footer(std::string("Example: ") + example);
    command->callback([a, run, &exitCode] {
      auto code = run(*a);
      exitCode = code ? *code : reportError(code.error(), a->json);
    });
    return command;
  };
  verb("list", "Names and titles", "witan domain list", false, list);
  verb("show", "Fields, roles, processes, invariants, counselors, policy", "witan domain show budget --json", true,
       show)
      ->add_flag("--capnp", a->capnp, "Print the Cap'n Proto schema of the actions instead");
  CLI::App* l = verb("lint", "Classify invariants, find orphan fields and excess privilege, search for write skew",
                     "witan domain lint budget --seed 7 --steps 1000", true, lint);
  l->add_option("--seed", a->skew.seed, "Seed of the search")->capture_default_str();
  l->add_option("--steps", a->skew.steps, "States to visit")->capture_default_str()->check(CLI::Range(1, 10'000'000));
  CLI::App* t = verb("test", "Run the shipped scenarios and property checks on random histories; exit 1 if one fails",
                     "witan domain test udt --histories 500", true, test);
  t->add_option("--histories", a->histories.histories, "Random histories")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  t->add_option("--seed", a->histories.seed, "Seed of the histories")->capture_default_str();
  CLI::App* g =
      verb("generate", "Print a plausible workload as events (JSON Lines), counselors' answers included",
           "witan domain generate udt --entities 200 --days 30 | witan run --domain udt --events -", true, generate);
  g->add_option("--entities", a->generate.entities, "How many")->capture_default_str()->check(CLI::Range(1, 10'000));
  g->add_option("--days", a->generate.days, "How long")->capture_default_str()->check(CLI::Range(1, 3'660));
  g->add_option("--seed", a->generate.seed, "Seed of the workload")->capture_default_str();
}

}  // namespace witan::node
