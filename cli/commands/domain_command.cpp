// `witan domain`: what the domains of this build are, whether they are sound, and workloads of them.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include "program/command_line.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "cli/commands/commands.h"
#include "cli/events/control_experiment.h"
#include "cli/events/event_generator.h"
#include "cli/format/domain_show.h"
#include "domains/registry.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/published_document.h"
#include "node/data_dir/replica_store.h"
#include "node/events/rule_check.h"
#include "program/durable_file.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/policy_file.h"
#include "program/process.h"
#include "program/progress.h"
#include "rules/attack/attack.h"
#include "rules/domain/versions.h"

namespace witan::node {

using namespace kernel;

namespace {

constexpr std::size_t kScenariosMax = 64 << 20;  // bytes of one file

struct DomainArguments {
  std::string name;
  std::string domain;  // of a file of scenarios, or of the one fingerprint that is asked for
  std::string policyFile;
  std::string ontologyFile, eventsFile, dir, scenariosFile;
  std::uint64_t rows = 2, limitMs = 2'000, proofSeconds = 300;  // of a proof
  bool json = false;
  bool capnp = false;
  bool upgrade = false;
  SkewOptions skew;
  HistoryOptions histories;
  GenerateOptions generate;
  FingerprintOptions fingerprint;
  rules::AttackOptions attack;
  std::int64_t attackSeconds = 0;
};

Result<std::unique_ptr<DomainModule>> moduleOf(const DomainArguments& a) {
  json::object policy;
  if (!a.policyFile.empty()) {
    WITAN_SET(policy, readPolicyFile(a.policyFile));
  }
  return domains::makeDomain(a.name, policy);
}

Result<int> list(const DomainArguments& a) {
  json::array all;
  for (std::string_view name : domains::domainNames()) {
    WITAN_TRY(module, domains::makeDomain(name));
    const kernel::Signature& s = module->signature();
    if (a.json)
      all.push_back(json::object{{"name", s.domain}, {"title", s.title}});
    else
      std::printf("%-14s %s\n", s.domain.c_str(), s.title.c_str());
  }
  if (a.json) putWords(json::serialize(json::object{{"domains", std::move(all)}}) + "\n");
  return kExitOk;
}

Result<int> show(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  if (a.capnp && a.json)
    putWords(json::serialize(json::object{{"capnp", module->actionSchema()}}) + "\n");
  else if (a.capnp)
    putOut(module->actionSchema());
  else
    putWords(a.json ? showDomainJson(*module) + "\n" : showDomain(*module));
  return kExitOk;
}

// Reads a rule file, runs its scenarios. Costs: how the work of an invariant grows with the rows of an entity.
Result<int> check(const DomainArguments& a) {
  if (!domains::isRuleFile(a.name))
    return invalid(inQuotes(a.name) + " is no rule file", "give the path of a NAME.domain.toml");
  WITAN_TRY(module, moduleOf(a));
  const kernel::Signature& s = module->signature();
  std::vector<PropertyResult> checks;
  if (!module->scenarios().empty()) checks = checkScenarios(*module);
  const std::vector<std::string> problems = lintSignature(s).problems;
  if (a.json) {
    putWords(canonicalJson(json::object{{"domain", s.domain},
                                        {"digest", toHex(module->digest())},
                                        {"fields", s.fields.size()},
                                        {"processes", s.processes.size()},
                                        {"invariants", s.invariants.size()},
                                        {"problems", json::array(problems.begin(), problems.end())},
                                        {"checks", parseJson(checksJson(s.domain, checks), kOwnJson).value()}}) +
             "\n");
  } else {
    putWords(checksText(checks));
    for (const std::string& problem : problems) putWords("problem: " + problem + "\n");
    if (const auto begun = module->create({}, kSampleStart); !begun.ok())
      putWords(concat("note: no entity begins with the defaults alone: ", begun.error().message, "\n"));
    putWords(concat(s.domain, ": ", s.fields.size(), " fields, ", s.processes.size(), " processes, ",
                    s.invariants.size(), " invariants, digest ", toHex(module->digest()).substr(0, 16), "\n"));
  }
  return allHeld(checks) && problems.empty() ? kExitOk : kExitFailed;
}

// Into a data directory: its node begins again with it (cli/commands/up_command.cpp). Over a version under which
// something was decided comes only one that continues it: else its ledgers could not be read any more.
Result<int> install(const DomainArguments& a) {
  if (!domains::isRuleFile(a.name))
    return invalid(inQuotes(a.name) + " is no rule file", "give the path of a NAME.domain.toml");
  if (!a.policyFile.empty()) return invalid("--policy is not kept", "write the values into the rule file's [policy]");
  WITAN_TRY(module, moduleOf(a));
  const std::string& name = module->signature().domain;
  if (const Status may = mayInstall(*module); !may.ok())
    return Error{may.error().code, concat(a.name, ": ", may.error().message), may.error().hint};
  WITAN_TRY(dir, replicaDirPath(a.dir));
  const std::filesystem::path path = ruleFilePath(dir, name);
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (a.upgrade && !there)
    return notFound(concat("no version of domain ", inQuotes(name), " is installed in ", dir.string()),
                    "witan domain install " + a.name);
  if (there) {
    WITAN_TRY(installed, domains::makeDomain(path.string()));
    bool entries = false;
    if (!a.upgrade && installed->digest() != module->digest() && std::filesystem::exists(dir / "ledgers")) {
      WITAN_TRY(ledgers, openReplicaStore(dir / "ledgers"));
      WITAN_SET(entries, holdsEntries(*ledgers, name));
    }
    if (entries)
      return conflict(concat("another version of domain ", inQuotes(name), " is installed, and ledgers are of it"),
                      "witan domain upgrade " + a.name + ", or give the new version another name");
    if (a.upgrade)
      if (const Status may = rules::continuesRules(std::string(installed->ruleText()), {}, *module); !may.ok())
        return Error{may.error().code, concat(a.name, ": ", may.error().message), may.error().hint};
  }
  WITAN_DO(makeFolder(path.parent_path()));
  WITAN_DO(replaceFile(path, module->ruleText(), 0644));
  const json::object done{{"domain", name}, {"digest", toHex(module->digest())}, {"path", path.string()}};
  a.json
      ? putWords(canonicalJson(done) + "\n")
      : putWords(concat(name, " is installed; a running node begins again with it, and its peers must have it too\n"));
  return kExitOk;
}

Result<int> upgrade(const DomainArguments& a) {
  DomainArguments newer = a;
  newer.upgrade = true;
  return install(newer);
}

// Decided with Z3, by witan-lab.
Result<int> prove(const DomainArguments& a) {
  std::vector<std::string> words{"prove",      a.name,
                                 "--rows",     std::to_string(a.rows),
                                 "--limit-ms", std::to_string(a.limitMs),
                                 "--seconds",  std::to_string(a.proofSeconds)};
  if (!a.policyFile.empty()) words.insert(words.end(), {"--policy", a.policyFile});
  if (!a.scenariosFile.empty()) words.insert(words.end(), {"--scenarios", a.scenariosFile});
  if (a.json) words.push_back("--json");
  return runSibling("witan-lab", words);
}

// Write skew is a finding, not a fault: it says that the domain needs coordination. Problems are faults.
Result<int> lint(const DomainArguments& a) {
  if (!a.ontologyFile.empty()) {
    std::vector<std::string> words{"ontology", "compare", a.ontologyFile, "--domain", a.name};
    if (!a.policyFile.empty()) words.insert(words.end(), {"--policy", a.policyFile});
    if (a.json) words.push_back("--json");
    return runSibling("witan-lab", words);
  }
  WITAN_TRY(module, moduleOf(a));
  const SignatureLint found = lintSignature(module->signature());
  const SkewReport skew = findWriteSkew(*module, a.skew);
  a.json ? putWords(lintJson(module->signature(), found, skew) + "\n")
         : putWords(lintText(module->signature(), found) + skewText(skew));
  return found.problems.empty() ? kExitOk : kExitFailed;
}

// The scenarios of a file, for the domain that --domain names or the file is called after.
Result<int> testFile(DomainArguments a, const std::filesystem::path& path) {
  WITAN_TRY(lines, readInput(path.string(), kScenariosMax));
  a.name = a.domain.empty() ? path.stem().string() : a.domain;
  if (const auto names = domains::domainNames();
      !domains::isRuleFile(a.name) && std::ranges::find(names, a.name) == names.end())
    return notFound(path.string() + ": there is no domain " + inQuotes(a.name) +
                        (a.domain.empty() ? ", which the file is called after" : ""),
                    "name the domain with --domain; see: witan domain list");
  WITAN_TRY(module, moduleOf(a));
  const std::vector<PropertyResult> checks = checkScenarios(*module, lines, path.filename().string());
  putWords(a.json ? checksJson(a.name, checks) + "\n" : checksText(checks));
  return allHeld(checks) && checks.front().checked > 0 ? kExitOk : kExitFailed;
}

Result<int> test(const DomainArguments& a) {
  if (const std::filesystem::path path(a.name);
      !domains::isRuleFile(a.name) && (path.has_extension() || path.has_parent_path()))
    return testFile(a, path);
  WITAN_TRY(module, moduleOf(a));
  std::vector<PropertyResult> checks = checkScenarios(*module);
  for (PropertyResult& check : checkHistories(*module, a.histories)) checks.push_back(std::move(check));
  putWords(a.json ? checksJson(a.name, checks) + "\n" : checksText(checks));
  return allHeld(checks) ? kExitOk : kExitFailed;
}

Result<int> generate(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  WITAN_TRY(lines, generateEvents(*module, a.generate));
  putOut(lines);
  return kExitOk;
}

// Exit 1 if a gate was passed.
Result<int> attack(const DomainArguments& a) {
  WITAN_TRY(module, moduleOf(a));
  WITAN_TRY(gates, domains::gatesOf(*module));
  if (gates->all().empty())
    return invalid("domain " + inQuotes(module->signature().domain) + " declares no gates",
                   "declare what must not be reached without evidence as [gates.NAME], see docs/RULES.md");
  rules::AttackOptions options = a.attack;
  if (module->scenarios().empty()) options.scenarios = domains::scenariosOf(module->signature().domain);
  if (a.attackSeconds > 0) options.steps = ~std::uint64_t{0};
  SystemClock clock;
  std::string role;
  Time end;
  const auto more = [&](std::string_view now) {
    if (role != now) role = now, end = Time{clock.now().micros + a.attackSeconds * kMicrosPerSecond};
    return a.attackSeconds == 0 || clock.now() < end;
  };
  WITAN_TRY(report, rules::attack(*module, *gates, options, more));
  a.json ? putWords(canonicalJson(rules::attackJson(*module, report)) + "\n")
         : putWords(rules::attackText(*module, report));
  return report.findings.empty() ? kExitOk : kExitFailed;
}

// The given events instead of random ones. Exit 1 if the kernel let a broken state through.
Result<int> control(const DomainArguments& a) {
  if (a.domain.empty())
    return invalid("--events is about one domain", "name it: witan domain fingerprint NAME --events FILE");
  WITAN_TRY(lines, readInput(a.eventsFile, kScenariosMax));
  WITAN_TRY(module, domains::makeDomain(a.domain));
  WITAN_TRY(report, controlExperiment(*module, lines));
  putWords(a.json ? canonicalJson(controlJson(*module, report)) + "\n" : controlText(*module, report));
  return report.kernelViolations == 0 ? kExitOk : kExitFailed;
}

// All domains unless one is named. Exit 1 if the kernel let a broken state through or a ledger does not tell it all.
Result<int> fingerprint(const DomainArguments& a) {
  if (!a.eventsFile.empty()) return control(a);
  std::vector<std::string_view> names = domains::domainNames();
  if (!a.domain.empty()) names = {a.domain};
  json::array all;
  bool sound = true;
  for (std::string_view name : names) {
    WITAN_TRY(module, domains::makeDomain(name));
    const Fingerprint found = fingerprintOf(*module, a.fingerprint);
    sound = sound && found.kernel.tracesViolating == 0 && found.auditable();
    if (a.json)
      all.push_back(fingerprintJson(*module, a.fingerprint, found));
    else
      putWords(fingerprintText(*module, a.fingerprint, found));
  }
  if (a.json) putWords(json::serialize(json::object{{"fingerprints", std::move(all)}}) + "\n");
  return sound ? kExitOk : kExitFailed;
}

}  // namespace

void addDomainCommand(Command& app) {
  auto a = std::make_shared<DomainArguments>();
  Command* domain =
      app.noun("domain", "The domains of this build: declarations, lint, tests, workloads", "witan domain show udt");
  const auto verb = [&](const char* name, const char* what, const char* example, bool named,
                        Result<int> (*run)(const DomainArguments&)) {
    Command* command = domain->command(name, what);
    if (named) {
      command->option("name", a->name, "Domain (see: witan domain list), or a rule file NAME.domain.toml")->required();
      command->option("--policy", a->policyFile, "TOML or JSON file with the domain's policy");
    }
    command->flag("--json", a->json, "JSON output");
    command->footer(concat("Example: ", example));
    const std::string doing = concat("working: domain ", name);
    const auto work = [run, doing](const DomainArguments& args) -> Result<int> {
      const Progress progress(doing);
      return run(args);
    };
    runs(command, a, work);
    return command;
  };
  verb("list", "Names and titles", "witan domain list", false, list);
  verb("show", "Fields, roles, processes, invariants, counselors, policy", "witan domain show budget --json", true,
       show)
      ->flag("--capnp", a->capnp, "Print the Cap'n Proto schema of the actions instead");
  verb("check", "Read a rule file and run its scenarios: errors name line, column and the expected type",
       "witan domain check docs/examples/budget.domain.toml", true, check)
      ->findOption("name")
      ->describe("Rule file NAME.domain.toml");
  Command* i = verb("install", "Install a rule file in a node's data directory; a running node begins again with it",
                    "witan domain install docs/examples/purchase.domain.toml --dir /var/lib/witan", true, install);
  i->findOption("name")->describe("Rule file NAME.domain.toml");
  i->option("--dir", a->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")->typeName("DIR");
  Command* u = verb("upgrade",
                    "Install a later version of a rule file: what was decided stays as it is, what is new counts for "
                    "entities that were moved on",
                    "witan domain upgrade purchase.domain.toml --dir /var/lib/witan", true, upgrade);
  u->findOption("name")->describe("Rule file NAME.domain.toml");
  u->option("--dir", a->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")->typeName("DIR");
  Command* l = verb("lint", "Classify invariants, find orphan fields and excess privilege, search for write skew",
                    "witan domain lint budget --seed 7 --steps 1000", true, lint);
  l->option(
      "--against", a->ontologyFile,
      "Compare fields, processes, roles and invariants with this ontology instead (Turtle); exit 1 if they differ");
  l->option("--seed", a->skew.seed, "Seed of the search")->showDefault()->check(wholeNumber());
  l->option("--steps", a->skew.steps, "States to visit")->showDefault()->check(wholeNumber(1, 10'000'000));
  Command* t = verb("test",
                    "Run the shipped scenarios and property checks on random histories, or a file's scenarios; "
                    "exit 1 if one fails",
                    "witan domain test udt --histories 500", true, test);
  t->option("--histories", a->histories.histories, "Random histories")
      ->showDefault()
      ->check(wholeNumber(0, 10'000'000));
  t->option("--seed", a->histories.seed, "Seed of the histories")->showDefault()->check(wholeNumber());
  t->findOption("name")->describe("Domain, or FILE.jsonl of event lines with expectations");
  t->option("--domain", a->domain, "Domain of a FILE of scenarios; without it the file's name says");
  Command* k = verb("attack",
                    "Search for a way in which one role alone, by lawful actions, passes a gate without its evidence; "
                    "print the shortest; exit 1 if there is one",
                    "witan domain attack disclosure --role Disclosure --steps 500", true, attack);
  k->option("--role", a->attack.role, "One role (default: each)");
  k->option("--seed", a->attack.seed, "Seed of the search")->showDefault()->check(wholeNumber());
  k->option("--steps", a->attack.steps, "Actions to try for each role")
      ->showDefault()
      ->check(wholeNumber(1, 1'000'000'000));
  k->option("--seconds", a->attackSeconds, "Try for so long for each role, instead of --steps")
      ->check(wholeNumber(1, 86'400));
  Command* p = verb("prove",
                    "Decide for all lawful states of a rule file: which rules a process keeps by itself, which need "
                    "coordination of roles, which processes may go in any order",
                    "witan domain prove docs/examples/budget.domain.toml", true, prove);
  p->findOption("name")->describe("Rule file NAME.domain.toml");
  p->option("--rows", a->rows, "Of each table, at most")->showDefault()->check(wholeNumber(1, 6));
  p->option("--limit-ms", a->limitMs, "Of each question to Z3")->showDefault()->check(wholeNumber(1, 600'000));
  p->option("--seconds", a->proofSeconds, "In all; what was not answered by then is unknown")
      ->showDefault()
      ->check(wholeNumber(1, 86'400));
  p->option("--scenarios", a->scenariosFile, "Also write the examples there, for witan domain test")->typeName("FILE");
  Command* f = verb("fingerprint",
                    "Does a domain need adjudication, is it auditable, is it a pipeline: searched for, with the same "
                    "traces through naive services and the kernel",
                    "witan domain fingerprint udt --json", false, fingerprint);
  f->option("name,--domain", a->domain, "One domain (default: all)");
  f->option("--events", a->eventsFile,
            "These events (JSON Lines) through services and the kernel, instead of random ones");
  f->option("--seed", a->fingerprint.seed, "Seed of search and traces")->showDefault()->check(wholeNumber());
  f->option("--steps", a->fingerprint.steps, "States to visit in search of write skew")
      ->showDefault()
      ->check(wholeNumber(1, 10'000'000));
  f->option("--traces", a->fingerprint.traces, "Traces for both architectures")
      ->showDefault()
      ->check(wholeNumber(1, 1'000'000));
  Command* g =
      verb("generate", "Print a plausible workload as events (JSON Lines), counselors' answers included",
           "witan domain generate udt --entities 200 --days 30 | witan run --domain udt --events -", true, generate);
  g->option("--entities", a->generate.entities, "How many")->showDefault()->check(wholeNumber(1, 10'000));
  g->option("--days", a->generate.days, "How long")->showDefault()->check(wholeNumber(1, 3'660));
  g->option("--seed", a->generate.seed, "Seed of the workload")->showDefault()->check(wholeNumber());
  addDomainRecordCommands(*domain);
}

}  // namespace witan::node
