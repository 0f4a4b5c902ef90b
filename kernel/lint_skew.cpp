// The search for write skew (kernel/lint.h, findWriteSkew).
#include <algorithm>
#include <map>

#include "kernel/lint.h"

namespace witan::kernel {

namespace {

constexpr std::size_t kWalkLength = 80;  // steps before a new beginning

// An action that keeps every invariant from the state at hand.
struct Lawful {
  ActionPtr action;
  Time at;
  std::string role;
  json::object writes;
  std::string text;
};

class SkewSearch {
 public:
  SkewSearch(const DomainModule& module, const SkewOptions& options)
      : module_(module), options_(options), random_(options.seed) {}

  SkewReport run() {
    for (std::size_t step = 0; step < options_.steps; ++step) {
      if (step % kWalkLength == 0 && !begin()) return finish();
      collect();
      for (std::size_t i = 0; i < lawful_.size(); ++i)
        for (std::size_t j = i + 1; j < lawful_.size(); ++j)
          if (lawful_[i].role != lawful_[j].role) tryPair(lawful_[i], lawful_[j]);
      ++report_.states;
      report_.severalRoles +=
          std::any_of(lawful_.begin(), lawful_.end(), [&](const Lawful& l) { return l.role != lawful_.front().role; });
      advance();
    }
    return finish();
  }

 private:
  bool begin() {
    now_ = kSampleStart;
    for (int attempt = 0; attempt < 20; ++attempt) {
      auto init = parseJson(module_.sampleInit(random_, now_), kOwnJson);
      if (!init || !init->is_object()) continue;
      auto created = module_.create(init->get_object(), now_);
      if (created) state_ = std::move(*created);
      if (created) return true;
    }
    return false;
  }

  void collect() {
    lawful_.clear();
    escalating_.reset();
    for (std::size_t i = 0; i < options_.actionsPerState; ++i) {
      // Def. A.11 lets the two have times of their own.
      const Time at{now_.micros + static_cast<std::int64_t>(random_.below(2)) * 1'000'000};
      ActionPtr action = module_.sample(*state_, random_, at);
      if (!action) return;
      report_.searched = true;
      const std::string& role = module_.signature().processes[action->process].role;
      EntityPtr candidate = module_.clone(*state_);
      module_.evaluate(*candidate, role, *action, at, evaluation_);
      if (evaluation_.tag == Evaluation::Tag::escalated) escalating_ = std::move(action);
      if (evaluation_.tag != Evaluation::Tag::approved) continue;
      ++report_.actions;
      json::object writes = parseJson(evaluation_.writes, kOwnJson).value().as_object();
      lawful_.push_back({std::move(action), at, role, std::move(writes), evaluation_.writes});
    }
  }

  // The first cell that both write.
  static std::optional<std::string> sharedCell(const json::object& a, const json::object& b) {
    for (const auto& [field, value] : a) {
      const json::value* other = b.if_contains(field);
      if (other == nullptr) continue;
      // A scalar's value may be an object in JSON too, but then both hold the same members.
      if (!value.is_object() || !other->is_object()) return std::string(field);
      for (const auto& [key, cell] : value.get_object())
        if (other->get_object().contains(key)) return std::string(field) + "[" + std::string(key) + "]";
    }
    return std::nullopt;
  }

  SkewAction describe(const Lawful& lawful) const {
    SkewAction action{lawful.role, lawful.at, {}, lawful.text};
    module_.writeAction(action.action, *lawful.action);
    return action;
  }

  void tryPair(const Lawful& a, const Lawful& b) {
    if (auto cell = sharedCell(a.writes, b.writes)) {
      if (report_.lostUpdate) return;
      report_.lostUpdate = LostUpdate{{}, describe(a), describe(b), std::move(*cell)};
      module_.writeState(report_.lostUpdate->state, *state_);
      return;
    }
    ++report_.pairs;
    EntityPtr merged = module_.clone(*state_);
    const bool folded = module_.applyWrites(*merged, a.writes).ok() && module_.applyWrites(*merged, b.writes).ok();
    WITAN_CHECK(folded, "a write set of our own can be folded");
    merged->shared.clock = std::max(a.at, b.at);
    const std::vector<Verdict> verdicts = module_.walk(*merged);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      if (!verdicts[i].passed()) keep(i, a, b, *merged, verdicts[i].message());
  }

  void keep(std::size_t invariant, const Lawful& a, const Lawful& b, const EntityState& merged,
            const std::string& message) {
    SkewWitness witness{{}, {}, describe(a), describe(b), module_.signature().invariants[invariant].id, message};
    module_.writeState(witness.state, *state_);
    module_.writeState(witness.merged, merged);
    const auto known = found_.find(invariant);
    if (known != found_.end() && known->second.state.size() <= witness.state.size()) return;
    found_.insert_or_assign(invariant, std::move(witness));
  }

  // One lawful action, or a counselor's safe commit of one that escalated; then time passes, at times much of it.
  void advance() {
    if (escalating_ && (lawful_.empty() || random_.below(2) == 0))
      commitSafely(*escalating_);
    else if (!lawful_.empty()) {
      const Lawful& chosen = lawful_[random_.below(lawful_.size())];
      module_.evaluate(*state_, chosen.role, *chosen.action, chosen.at, evaluation_);
    }
    const std::int64_t days = random_.below(8) == 0 ? static_cast<std::int64_t>(random_.below(40)) : 0;
    now_ = Time{std::max(now_, state_->shared.clock).micros + days * kMicrosPerDay +
                static_cast<std::int64_t>(random_.below(86'400)) * kMicrosPerSecond};
  }

  void commitSafely(const Action& pending) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return;
    const Time at{now_.micros + 2'000'000};
    auto edit = parseJson(module_.sampleEdit(*state_, pending, counselors.front(), random_, at), kOwnJson);
    if (!edit || !edit->is_object()) return;
    EntityPtr candidate = module_.clone(*state_);
    if (!module_.counselorCommit(*candidate, CommitBase::candidate, &pending, edit->get_object(), at, evaluation_).ok())
      return;
    if (evaluation_.findings.empty()) state_ = std::move(candidate);
  }

  SkewReport finish() {
    for (auto& [invariant, witness] : found_) report_.witnesses.push_back(std::move(witness));
    return std::move(report_);
  }

  const DomainModule& module_;
  const SkewOptions options_;
  SeededRandom random_;
  Time now_;
  EntityPtr state_;
  std::vector<Lawful> lawful_;
  ActionPtr escalating_;
  Evaluation evaluation_;
  std::map<std::size_t, SkewWitness> found_;  // by place in the list
  SkewReport report_;
};

}  // namespace

SkewReport findWriteSkew(const DomainModule& module, const SkewOptions& options) {
  return SkewSearch(module, options).run();
}

}  // namespace witan::kernel
