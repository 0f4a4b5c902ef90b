#include "lab/compare/architectures.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "kernel/fingerprint.h"

namespace witan::compare {

using namespace kernel;

namespace {

std::string_view somebody(const DomainModule& module) {
  const auto& counselors = module.signature().counselors;
  return counselors.empty() ? std::string_view("somebody") : std::string_view(counselors.front());
}

std::set<std::size_t> failing(const DomainModule& module, const EntityState& state) {
  std::set<std::size_t> failed;
  const std::vector<Verdict> verdicts = module.walk(state);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) failed.insert(i);
  return failed;
}

// What all rules say of an act on a state: whatever was broken before does not count.
struct Judgement {
  enum class Kind { lawful, unlawful, forPeople };
  Kind kind = Kind::unlawful;
  EntityPtr candidate;  // null: none can be made
};

Judgement judgementOn(const DomainModule& module, const EntityState& state, const Act& act, const json::object& edit) {
  Judgement made{Judgement::Kind::unlawful, module.clone(state)};
  const std::set<std::size_t> before = failing(module, state);
  Evaluation out;
  if (!module.counselorCommit(*made.candidate, CommitBase::candidate, act.action, edit, somebody(module), act.at, out)
           .ok()) {
    made.candidate.reset();
    return made;
  }
  made.kind = Judgement::Kind::lawful;
  for (const Finding& finding : out.findings) {
    if (before.contains(finding.invariant - 1u)) continue;
    if (finding.result != InvResult::escalate) {
      made.kind = Judgement::Kind::unlawful;
      break;
    }
    made.kind = Judgement::Kind::forPeople;
  }
  return made;
}

double msSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

class Naive : public Architecture {
 public:
  Naive(const DomainModule& module, EntityPtr state, Latencies latencies, Person person)
      : Architecture(module, latencies, std::move(person)) {
    services_.emplace(module, std::move(state));
  }
  const EntityState& state() const override { return services_->state(); }
  void round(const std::vector<Act>& acts) override {
    (void)together(acts);
    noteBroken();
  }

 protected:
  // For each act whether it was committed.
  std::vector<bool> together(const std::vector<Act>& acts) {
    std::vector<NaiveServices::Act> typed;
    for (const Act& act : acts) typed.push_back({act.role, act.action, act.at});
    std::vector<bool> lawful, done;
    for (const Act& act : acts) lawful.push_back(wouldBeLawful(act));
    const auto began = std::chrono::steady_clock::now();
    const auto heldBack =
        services_->commitTogether(typed, [&](const EntityState& slice, const NaiveServices::Act& act) {
          ++tally_.escalations;
          return person_(slice, {std::string(act.role), act.action, act.at});
        });
    const double each = acts.empty() ? 0 : msSince(began) / static_cast<double>(acts.size());
    for (std::size_t i = 0; i < acts.size(); ++i) {
      done.push_back(heldBack[i].empty());
      heldBack[i].empty() ? ++tally_.committed : ++tally_.denied;
      tally_.wrongDenials += !heldBack[i].empty() && lawful[i];
      tally_.latencyMs.push_back(each);
    }
    return done;
  }
  std::optional<NaiveServices> services_;
};

class Sagas final : public Naive {
 public:
  using Naive::Naive;
  void round(const std::vector<Act>& acts) override {
    const std::set<std::size_t> before = broken_;
    std::vector<std::pair<std::size_t, EntityPtr>> undo;  // committed acts, with the state before
    for (std::size_t i = 0; i < acts.size(); ++i) {
      EntityPtr old = module_.clone(state());
      if (together({acts[i]}).front()) undo.emplace_back(i, std::move(old));
      tally_.latencyMs.back() += latencies_.hopMs;  // the orchestrator's word
    }
    noteBroken();  // readers saw it
    std::vector<std::size_t> undone;
    while (!undo.empty() && !std::ranges::includes(before, broken_)) {
      services_.emplace(module_, std::move(undo.back().second));
      undone.push_back(undo.back().first);
      undo.pop_back();
      broken_ = failing(module_, state());
      ++tally_.compensations;
      --tally_.committed, ++tally_.denied;
    }
    for (const std::size_t i : undone) {
      tally_.wrongDenials += wouldBeLawful(acts[i]);
      // Two hops more until it is known: the check of the whole, and the compensation.
      tally_.latencyMs[tally_.latencyMs.size() - acts.size() + i] += 2 * latencies_.hopMs;
    }
  }
};

class Judge : public Architecture {
 public:
  Judge(const DomainModule& module, EntityPtr state, Latencies latencies, Person person, double errorRate,
        std::uint64_t seed, double answerMs)
      : Architecture(module, latencies, std::move(person)),
        state_(std::move(state)),
        errorRate_(errorRate),
        random_(seed),
        answerMs_(answerMs) {}
  const EntityState& state() const override { return *state_; }
  void round(const std::vector<Act>& acts) override {
    double waited = 0;  // one after the other
    for (const Act& act : acts) {
      const auto began = std::chrono::steady_clock::now();
      decide(act);
      waited += msSince(began) + answerMs_;
      tally_.latencyMs.push_back(waited + latencies_.hopMs);
    }
  }

 private:
  void decide(const Act& act) {
    using Kind = Judgement::Kind;
    Judgement made = judgementOn(module_, *state_, act, {});
    const bool wrong =
        errorRate_ > 0 && static_cast<double>(random_.below(1'000'000)) < errorRate_ * 1'000'000 && made.candidate;
    if (!wrong && made.kind == Kind::forPeople) {
      ++tally_.escalations;
      made = judgementOn(module_, *state_, act, person_(*state_, act));
    }
    const bool lawful = made.kind == Kind::lawful;
    if (lawful == wrong || !made.candidate) {
      ++tally_.denied;
      tally_.wrongDenials += lawful;
      return;
    }
    state_ = std::move(made.candidate);
    ++tally_.committed;
    noteBroken();
  }

  EntityPtr state_;
  const double errorRate_;
  SeededRandom random_;
  const double answerMs_;
};

// As the judge of all rules, but by the kernel's own way, whose time is measured.
class Kernel final : public Architecture {
 public:
  Kernel(const DomainModule& module, EntityPtr state, Latencies latencies, Person person)
      : Architecture(module, latencies, std::move(person)), state_(std::move(state)) {}
  const EntityState& state() const override { return *state_; }
  void round(const std::vector<Act>& acts) override {
    double waited = 0;
    for (const Act& act : acts) {
      const bool lawful = wouldBeLawful(act);
      const auto began = std::chrono::steady_clock::now();
      module_.evaluate(*state_, act.role, *act.action, act.at, out_);
      waited += msSince(began);
      tally_.latencyMs.push_back(waited + latencies_.hopMs);
      bool committed = out_.tag == Evaluation::Tag::approved;
      if (out_.tag == Evaluation::Tag::escalated) committed = ask(act);
      committed ? ++tally_.committed : ++tally_.denied;
      tally_.wrongDenials += !committed && lawful;
      noteBroken();
    }
  }

 private:
  // The counselor commits what is safe and rejects the rest.
  bool ask(const Act& act) {
    ++tally_.escalations;
    Judgement made = judgementOn(module_, *state_, act, person_(*state_, act));
    if (made.kind != Judgement::Kind::lawful) return false;
    state_ = std::move(made.candidate);
    return true;
  }

  EntityPtr state_;
  Evaluation out_;
};

}  // namespace

void Architecture::noteBroken() {
  std::set<std::size_t> now = failing(module_, state());
  for (const std::size_t invariant : now) tally_.violations += !broken_.contains(invariant);
  broken_ = std::move(now);
}

bool Architecture::wouldBeLawful(const Act& act) const {
  return judgementOn(module_, state(), act, {}).kind == Judgement::Kind::lawful;
}

std::unique_ptr<Architecture> naiveServices(const DomainModule& module, EntityPtr state, Latencies latencies,
                                            Person person) {
  return std::make_unique<Naive>(module, std::move(state), latencies, std::move(person));
}
std::unique_ptr<Architecture> judge(const DomainModule& module, EntityPtr state, Latencies latencies, Person person,
                                    double errorRate, std::uint64_t seed) {
  return std::make_unique<Judge>(module, std::move(state), latencies, std::move(person), errorRate, seed,
                                 latencies.judgeMs);
}
std::unique_ptr<Architecture> sagas(const DomainModule& module, EntityPtr state, Latencies latencies, Person person) {
  return std::make_unique<Sagas>(module, std::move(state), latencies, std::move(person));
}
std::unique_ptr<Architecture> adjudication(const DomainModule& module, EntityPtr state, Latencies latencies,
                                           Person person) {
  return std::make_unique<Kernel>(module, std::move(state), latencies, std::move(person));
}

}  // namespace witan::compare
