// Seed 000: theorems 1 to 4, 1+ and 3+ on random histories of every shipped domain, and its two control experiments.
#include <algorithm>
#include <array>

#include "domains/registry.h"
#include "kernel/fingerprint.h"
#include "lab/commands/lab_commands.h"
#include "lab/redux/calculus_kernel.h"
#include "lab/redux/theorem_checks.h"

namespace witan::node {

using namespace kernel;
using namespace kernel::redux;

namespace {

constexpr std::uint64_t kTraces = 6, kPrograms = 12;  // a domain
constexpr std::uint64_t kSearched = 300;              // programs for a fault; few wait for a counselor
constexpr int kSteps = 100;

struct Found {
  bool pass = false;
  std::string detail;
};

std::unique_ptr<DomainModule> moduleOf(std::string_view name) {
  auto module = domains::makeDomain(name).value();
  if (module->signature().counselors.empty()) module = domains::makeDomain(name, {}, {"somebody"}).value();
  return module;
}

// "" or what broke on one history.
using Check = std::string (*)(const DomainModule&, const Steps&);

std::string everything(const DomainModule& module, const Steps& steps) {
  for (const NamedCheck& check : everyCheck())
    if (std::string broken = check.run(module, steps); !broken.empty()) return concat(check.name, ", ", broken);
  return {};
}
// Theorem 1 with every state counted, the premise of safe commits ignored.
std::string neverViolated(const DomainModule&, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const std::string broken = firstNonPass(steps[i].onStateAfter); !broken.empty()) return at(i, broken);
  return {};
}

Steps historyOf(const DomainModule& module, std::uint64_t seed, const History::Options& options) {
  History history(module, seed, options);
  history.init("e1");
  if (seed % 2 != 0) history.init("e2");
  history.run(kSteps);
  return std::move(history.steps);
}

Found onHistories(Check check, const History::Options& options) {
  std::size_t steps = 0, domains = 0;
  for (const std::string_view name : domains::domainNames()) {
    const auto module = moduleOf(name);
    ++domains;
    for (std::uint64_t seed = 1; seed <= kTraces; ++seed) {
      const Steps history = historyOf(*module, seed, options);
      steps += history.size();
      if (std::string broken = check(*module, history); !broken.empty())
        return {false, concat(name, ", history ", seed, ", ", broken)};
    }
  }
  return {true, concat(steps, " steps of ", domains * kTraces, " histories of ", domains, " domains")};
}

bool keepsBroken(Step& step) {
  if (ruleOf(step) != StepRule::reject) return false;
  step.onStateAfter.assign(1, Verdict::reject("committed all the same"));
  return true;
}
bool losesAnEntry(Step& step) {
  if (ruleOf(step) != StepRule::approve) return false;
  step.auditAfter.pop_back();
  return true;
}
bool namesAnother(Step& step) {
  if (ruleOf(step) != StepRule::counselorCommit) return false;
  step.appended[0].counselor = "mallory";
  return true;
}

// Of each history of every domain the first step that `change` can change is altered: the check must see each.
Found doctored(Check check, bool (*change)(Step& step)) {
  std::size_t altered = 0;
  std::string first;
  for (const std::string_view name : domains::domainNames()) {
    const auto module = moduleOf(name);
    for (std::uint64_t seed = 1; seed <= kTraces; ++seed) {
      Steps history = historyOf(*module, seed, {.counselors = change == namesAnother});
      if (std::ranges::find_if(history, change) == history.end()) continue;
      const std::string broken = check(*module, history);
      if (broken.empty()) return {false, concat("not found: ", name, ", history ", seed)};
      if (first.empty()) first = concat(name, ", ", broken);
      ++altered;
    }
  }
  return {altered > 0, altered > 0 ? concat("found in all ", altered, ", as ", first) : "no history has such a step"};
}

Found unsafeCommitsBreak() {
  const Found strict = onHistories(neverViolated, {.unsafeEdits = true});
  return {!strict.pass, strict.pass ? "not found" : "found: " + strict.detail};
}

// ---- the calculus over the kernel

// A meta-agent that writes while it only coordinates; a counselor of whose decision there is no entry.
class Broken final : public calculus::Architecture {
 public:
  Broken(KernelArchitecture& inner, bool silentCounselor) : inner_(inner), silentCounselor_(silentCounselor) {}
  bool isRole(std::string_view role) const override { return inner_.isRole(role); }
  bool isAction(std::string_view action) const override { return inner_.isAction(action); }
  std::size_t queueLength() const override { return inner_.queueLength(); }
  std::optional<calculus::Proposal> coordinate(calculus::Oracle& oracle) override {
    auto proposal = inner_.coordinate(oracle);
    if (proposal && !silentCounselor_) (void)inner_.adjudicate(*proposal, inner_.history.now());
    return proposal;
  }
  std::optional<calculus::Outcome> adjudicate(const calculus::Proposal& p, Time t) override {
    return inner_.adjudicate(p, t);
  }
  calculus::CounselorAnswer awaitCounselor(calculus::Oracle& oracle) override {
    if (!silentCounselor_) return inner_.awaitCounselor(oracle);
    (void)oracle.next();
    return calculus::CounselorAnswer::cRejected;
  }

 private:
  KernelArchitecture& inner_;
  bool silentCounselor_;
};

Found programs(calculus::System system) {
  std::size_t rules = 0, domains = 0;
  for (const std::string_view name : domains::domainNames()) {
    const auto module = moduleOf(name);
    ++domains;
    for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
      KernelArchitecture architecture(*module, seed, system == calculus::System::withCounselor && seed % 2 == 0);
      std::vector<calculus::Rule> fired;
      std::string broken = runProgram(architecture, seed, system, &fired);
      if (broken.empty()) broken = everything(*module, architecture.history.steps);
      if (!broken.empty()) return {false, concat(name, ", program ", seed, ": ", broken)};
      rules += fired.size();
    }
  }
  return {true, concat(rules, " reductions of ", domains * kPrograms, " programs over ", domains, " domains")};
}

Found brokenPrograms(bool silentCounselor) {
  for (const std::string_view name : domains::domainNames()) {
    const auto module = moduleOf(name);
    for (std::uint64_t seed = 1; seed <= kSearched; ++seed) {
      KernelArchitecture architecture(*module, seed, false);
      Broken broken(architecture, silentCounselor);
      const std::string what = runProgram(architecture, seed, calculus::System::withCounselor, nullptr, &broken);
      if (!what.empty()) return {true, concat("found: ", name, ", program ", seed, ": ", what)};
    }
  }
  return {false, "not found"};
}

// ---- controls

struct Act {
  const char *role, *action, *at;
  const char* edit = nullptr;  // a counselor commits it so
};

struct Control {
  const char *domain, *init, *start;
  std::size_t together;  // the last acts look before any of them writes
  std::vector<Act> acts;
  const char* broken;
};

const Control& budgetControl() {
  static const Control control{"budget",
                               "{}",
                               "2026-01-01T00:00:00Z",
                               2,
                               {{"A", R"({"type":"SpendA","n":45000})", "2026-01-02T00:00:00Z"},
                                {"B", R"({"type":"SpendB","n":60000})", "2026-01-02T00:00:00Z"}},
                               "BUDGET_CAP"};
  return control;
}

const Control& davidControl() {
  static const Control control{
      "udt",
      R"({"baselinePositiveOn":"2025-12-01"})",
      "2026-03-23T08:00:00Z",
      1,
      {{"LabOrder", R"({"type":"DocumentRationale","order":"O1","text":"treatment plan: random monitoring"})",
        "2026-03-23T09:00:00Z"},
       {"LabOrder",
        R"({"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"})",
        "2026-03-23T09:00:00Z"},
       {"Clinical", R"({"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"})",
        "2026-03-23T15:00:00Z"},
       {"LabOrder", R"({"type":"DocumentRationale","order":"O2","text":"treatment plan: random monitoring"})",
        "2026-03-26T09:00:00Z"},
       {"LabOrder",
        R"({"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"})",
        "2026-03-26T09:00:00Z"},
       {"Clinical", R"({"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"})",
        "2026-03-26T09:20:00Z",
        R"({"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}})"},
       {"LabOrder", R"({"type":"DocumentRationale","order":"O3","text":"confirm the positive screen of today"})",
        "2026-03-26T11:00:00Z"},
       {"LabOrder",
        R"({"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2"})",
        "2026-03-26T11:00:00Z"}},
      "UDT_DEFINITIVE_LIMIT"};
  return control;
}

// One service a role, and nobody who sees all: the invariant must break.
Found naively(const Control& control) {
  const auto module = moduleOf(control.domain);
  NaiveServices naive(*module, module->create(objectOf(control.init), parseTime(control.start).value()).value());
  std::vector<ActionPtr> actions;
  std::vector<NaiveServices::Act> last;
  for (std::size_t i = 0; i < control.acts.size(); ++i) {
    const Act& act = control.acts[i];
    actions.push_back(actionOf(*module, act.action));
    const NaiveServices::Act typed{act.role, actions.back().get(), parseTime(act.at).value()};
    if (act.edit != nullptr) {
      if (const Status done = naive.commitByHand(typed, objectOf(act.edit)); !done.ok())
        return {false, done.error().message};
    } else if (i + control.together >= control.acts.size()) {
      last.push_back(typed);
    } else if (const auto held = naive.commitTogether({typed}); !held.front().empty()) {
      return {false, concat("act ", i, " was held back by ", held.front())};
    }
  }
  for (const std::string& held : naive.commitTogether(last))
    if (!held.empty()) return {false, "held back by " + held};
  const std::vector<std::string> violated = naive.violated();
  return {violated == std::vector<std::string>{control.broken},
          violated.empty() ? "no invariant broke" : "broke " + violated.front()};
}

// The same acts under the kernel: it must hold.
Found adjudicated(const Control& control) {
  const auto module = moduleOf(control.domain);
  Partition partition(*module);
  partition.init("e", objectOf(control.init), parseTime(control.start).value());
  Decision decision;
  for (std::size_t i = 0; i < control.acts.size(); ++i) {
    const Act& act = control.acts[i];
    const ActionPtr action = actionOf(*module, act.action);
    const std::string id = concat("op", i);
    const Time at = parseTime(act.at).value();
    decision = partition.propose({"e", act.role, id, "", "", action.get(), at, false});
    if (act.edit == nullptr) continue;
    const json::object edit = objectOf(act.edit);
    CounselorDecision made;
    made.entity = "e";
    made.counselor = module->signature().counselors.front();
    const std::string decided = id + ".decided";
    made.operationId = decided;
    made.commit = true;
    made.edit = &edit;
    made.at = Time{at.micros + 1};
    decision = partition.decide(made);
  }
  for (const Verdict& verdict : module->walk(*partition.state("e")))
    if (!verdict.passed()) return {false, verdict.message()};
  return {decision.outcome == Outcome::rejected && decision.invariant == control.broken,
          concat("the last act: ", enumName(decision.outcome), " by ", decision.invariant)};
}

struct Row {
  const char *id, *title;
  Found (*run)();
  const char* twinTitle;
  Found (*twin)();
};

constexpr std::array<Row, 8> kRows{{
    {"T1", "every reachable state keeps all invariants",
     [] { return onHistories(neverViolated, {.counselors = false}); }, "must be found: a state that does not",
     [] { return doctored(theorem1, keepsBroken); }},
    {"T1+", "so with counselors, after safe commits", [] { return onHistories(theorem1, {.unsafeEdits = true}); },
     "must be found: what an unsafe commit breaks, if it counts", unsafeCommitsBreak},
    {"T2", "each decision is one faithful entry, and none changes",
     [] { return onHistories(everything, {.counselors = false}); }, "must be found: a commit without an entry",
     [] { return doctored(everything, losesAnEntry); }},
    {"T3", "the calculus over the kernel: preservation, progress", [] { return programs(calculus::System::base); },
     "must be found: coordination that writes", [] { return brokenPrograms(false); }},
    {"T3+", "so with counselors", [] { return programs(calculus::System::withCounselor); },
     "must be found: a counselor's decision without an entry", [] { return brokenPrograms(true); }},
    {"T4", "the extended log: counselors, references, vectors",
     [] { return onHistories(everything, {.unsafeEdits = true}); }, "must be found: a commit in another's name",
     [] { return doctored(everything, namesAnother); }},
    {"C1", "control: naive services break the budget", [] { return naively(budgetControl()); },
     "must hold: the same acts under the kernel", [] { return adjudicated(budgetControl()); }},
    {"C2", "control: naive workers break David's definitive limit", [] { return naively(davidControl()); },
     "must hold: the same acts under the kernel", [] { return adjudicated(davidControl()); }},
}};

}  // namespace

void runReduxSuite(const ConformanceOptions& options, const EmitRow& emit) {
  for (const Row& row : kRows) {
    if (!std::string_view(row.id).starts_with(options.only)) continue;
    const Found held = row.run();
    emit({row.id, row.title, held.pass, held.detail});
    if (!options.proveIt) continue;
    const Found found = row.twin();
    emit({concat(row.id, "/twin"), row.twinTitle, found.pass, found.detail});
  }
}

}  // namespace witan::node
