// The kernel under the calculus: a calculus::Architecture over a real Partition with one entity, agents that are
// samplers over their role's slice, and random well-typed programs with the domain's constants.
#pragma once

#include "lab/redux/calculus/calculus.h"
#include "lab/redux/calculus/calculus_text.h"
#include "lab/redux/history.h"

namespace witan::kernel::redux {

// Oracle elements:
//   "<role> <seed>"         the arbitration picks the role, whose agent draws with that seed
//   "hang"                  the agent does not come back
//   "commit <who> <seed>", "reject <who> 0"   counselor directives; the seed makes the edit
class KernelArchitecture final : public calculus::Architecture {
 public:
  KernelArchitecture(const DomainModule& module, std::uint64_t seed, bool unsafeEdits)
      : history(module, seed), unsafeEdits_(unsafeEdits) {
    history.init("e");
  }

  History history;

  bool isRole(std::string_view role) const override {
    const auto& roles = history_().signature().roles;
    return std::any_of(roles.begin(), roles.end(), [&](const RoleInfo& r) { return r.name == role; });
  }
  bool isAction(std::string_view text) const override {
    auto value = parseJson(text);
    return value.ok() && history_().parseAction(*value).ok();
  }
  std::size_t queueLength() const override { return const_cast<History&>(history).partition().queue().size(); }

  // pi (A.34): arbitration, slice, agent.
  std::optional<calculus::Proposal> coordinate(calculus::Oracle& oracle) override {
    const std::string* element = oracle.next();
    if (element == nullptr) return std::nullopt;
    const std::size_t space = element->find(' ');
    if (space == std::string::npos) return std::nullopt;
    const std::string role = element->substr(0, space);
    const std::optional<std::string> action =
        agent(history_(), *history.partition().state("e"), role, seedOf(*element, space), history.now());
    if (!action) return std::nullopt;
    return calculus::Proposal{role, *action};
  }

  // alpha_r: a function of the slice project_D(s, r) and the oracle, by construction.
  static std::optional<std::string> agent(const DomainModule& module, const EntityState& state, std::string_view role,
                                          std::uint64_t seed, Time now) {
    for (const RoleInfo& known : module.signature().roles) {
      if (known.name != role) continue;
      const EntityPtr slice = module.readState(objectOf(stateJson(module, &state, known.footprint))).value();
      SeededRandom random(seed);
      for (int tries = 0; tries < 60; ++tries)
        if (ActionPtr action = module.sample(*slice, random, now);
            action != nullptr && module.signature().processes[action->process].role == role)
          return jsonOf(module, *action);
    }
    return std::nullopt;
  }

  std::optional<calculus::Outcome> adjudicate(const calculus::Proposal& proposal, Time time) override {
    const ActionPtr action = actionOf(history_(), proposal.action);
    const Step& step = history.propose("e", proposal.role, *action, time, "calculus-" + std::to_string(++operations_));
    switch (step.decision.outcome) {
      case Outcome::approved: return calculus::Outcome::approved;
      case Outcome::rejected: return calculus::Outcome::rejected;
      case Outcome::escalated: return calculus::Outcome::escalated;
      default: return std::nullopt;
    }
  }

  calculus::CounselorAnswer awaitCounselor(calculus::Oracle& oracle) override {
    using Answer = calculus::CounselorAnswer;
    const std::string* element = oracle.next();
    if (element == nullptr || !(element->starts_with("commit ") || element->starts_with("reject ")))
      return Answer::undefined;
    const bool commit = element->starts_with("commit ");
    const std::size_t space = element->rfind(' ');
    const std::string who = element->substr(7, space - 7);
    const std::uint64_t seed = seedOf(*element, space);
    json::object edit;
    if (unsafeEdits_ && commit) edit = History(history_(), seed).anyEdit(*history.partition().state("e"));
    // A counselor decides now; programs may have proposed at any time.
    const Time at = std::max(history.now(), history.partition().state("e")->shared.clock);
    const Step& step = history.decide("e", who, commit, seed % 2 == 0 ? CommitBase::candidate : CommitBase::current,
                                      edit, at, "counsel-" + std::to_string(++operations_));
    if (step.decision.outcome == Outcome::cCommitted) return Answer::cCommitted;
    if (step.decision.outcome == Outcome::cRejected) return Answer::cRejected;
    return history_().authorised(who) ? Answer::undefined : Answer::unauthorised;
  }

 private:
  const DomainModule& history_() const { return const_cast<History&>(history).module(); }
  static std::uint64_t seedOf(const std::string& element, std::size_t space) {
    return std::strtoull(element.c_str() + space, nullptr, 10);
  }

  bool unsafeEdits_;
  std::uint64_t operations_ = 0;
};

// Random well-typed programs over a domain's constants, and oracle traces for them.
class KernelPrograms {
 public:
  KernelPrograms(const DomainModule& module, Random& random, Time now) : module_(module), random_(random), now_(now) {}

  // A chain of commit cycles and counselor waits, each maybe bound, maybe nested.
  calculus::TermPtr program(int cycles) {
    using namespace calculus;
    TermPtr rest = makeValue(Done{});
    for (int i = 0; i < cycles; ++i)
      rest = makeLet(random_.below(2) == 0 ? "x" : "y", random_.below(4) == 0 ? makeAwaitCounselor() : cycle(),
                     std::move(rest));
    return rest;
  }

  calculus::Oracle oracle(int length) {
    std::vector<std::string> trace;
    const auto& counselors = module_.signature().counselors;
    for (int i = 0; i < length; ++i) {
      const std::uint64_t draw = random_.below(40);
      const std::string seed = std::to_string(random_.below(1'000'000));
      if (draw == 0)
        trace.emplace_back("hang");
      else if (draw == 1)
        trace.push_back("commit stranger " + seed);
      else if (draw < 8 && !counselors.empty())
        trace.push_back((draw < 6 ? "commit " : "reject ") + counselors[0] + " " + seed);
      else
        trace.push_back(role() + " " + seed);
    }
    return calculus::Oracle(std::move(trace));
  }

 private:
  std::string role() { return module_.signature().roles[random_.below(module_.signature().roles.size())].name; }
  Time time() {
    return Time{now_.micros + static_cast<std::int64_t>(random_.below(60)) * 3'600'000'000 - 3'600'000'000};
  }

  calculus::TermPtr cycle() {
    using namespace calculus;
    TermPtr proposal = makeCoordinate();
    if (random_.below(5) == 0) {
      const EntityPtr blank = module_.create(objectOf(module_.sampleInit(random_, now_)), now_).value();
      if (const ActionPtr action = module_.sample(*blank, random_, now_))
        proposal = makeValue(calculus::Proposal{role(), jsonOf(module_, *action)});
    }
    if (random_.below(3) == 0) proposal = makeLet("p", std::move(proposal), makeVariable("p"));
    now_ = time();
    TermPtr when = random_.below(3) == 0 ? makeLet("t", makeValue(now_), makeVariable("t")) : makeValue(now_);
    return makeEntry(makeAdjudicate(std::move(proposal), std::move(when)));
  }

  const DomainModule& module_;
  Random& random_;
  Time now_;
};

// Runs one random program over the kernel and holds it against Theorem 3 (Preservation, Progress) and Proposition 1
// (ii) at every step. Returns "" or what broke; the history is left in `architecture` for the other theorems. `broken`:
// a faulty face of the same architecture that is stepped instead, to see that the checks fire.
inline std::string runProgram(KernelArchitecture& architecture, std::uint64_t seed, calculus::System system,
                              std::vector<calculus::Rule>* rules = nullptr, calculus::Architecture* broken = nullptr) {
  using namespace calculus;
  SeededRandom random(seed);
  KernelPrograms programs(architecture.history.module(), random, architecture.history.now());
  TermPtr term = programs.program(8);
  Oracle oracle = programs.oracle(24);
  const System typing = System::withCounselor;
  const Result<Type> type = typeOf(term, architecture, typing);
  if (!type.ok()) return "the generated program is ill-typed: " + type.error().message;
  for (;;) {
    const auto look = [&] {
      Partition& partition = architecture.history.partition();
      return std::tuple(stateJson(architecture.history.module(), partition.state("e")), partition.size(),
                        partition.queue().size());
    };
    const auto before = look();
    const StepResult result = calculus::step(term, broken != nullptr ? *broken : architecture, oracle, system);
    if (result.kind == StepResult::Kind::value) return {};
    if (result.kind == StepResult::Kind::stuck) {
      if (result.reason == Stuck::illTyped && system == System::base) return {};  // awaitCounselor is not of the base
      const bool allowed = result.reason != Stuck::illTyped && result.reason != Stuck::freeVariable;
      return allowed ? "" : std::string("stuck: ") + toString(result.reason);
    }
    if (rules != nullptr) rules->push_back(result.rule);
    const Result<Type> after = typeOf(result.term, architecture, typing);
    if (!after.ok() || *after != *type)
      return "preservation: " + printProgram(term) + " --> " + printProgram(result.term);
    const bool silent = result.rule == Rule::eCoordinate || result.rule == Rule::eLet || result.rule == Rule::eEntry;
    if (silent && look() != before) return std::string(toString(result.rule)) + " changed the framework state";
    if (!silent && std::get<1>(look()) != std::get<1>(before) + 1)
      return std::string(toString(result.rule)) + " did not append exactly one entry";
    term = result.term;
  }
}

}  // namespace witan::kernel::redux
