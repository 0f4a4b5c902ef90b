#include "sim/check/linearizability.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <limits>
#include <numeric>

namespace witan::sim {

using kernel::Outcome;

namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

std::uint64_t scramble(std::uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A set of operations done, and the state they left.
struct Configuration {
  std::array<std::uint64_t, 4> words{};
  friend bool operator==(const Configuration&, const Configuration&) = default;
};
struct ConfigurationHash {
  std::size_t operator()(const Configuration& c) const { return c.words[0] ^ scramble(c.words[2]); }
};

// The search over one group of operations, which are sorted by when they were asked.
class Search {
 public:
  Search(const AdjudicationModel& model, std::vector<const Operation*> operations, std::uint64_t maxStates)
      : model_(model), operations_(std::move(operations)), done_(operations_.size()), maxStates_(maxStates) {
    for (const Operation* operation : operations_) {
      if (operation->returned) ++open_;
      if (operation->stamp && operation->stamp->seq != 0) numbers_.push_back(operation->stamp->seq);
    }
    std::ranges::sort(numbers_);
  }

  HistoryReport run() {
    push(model_.start());
    while (!frames_.empty()) {
      if (open_ == 0) return {HistoryVerdict::linearizable, {}, states_};
      if (states_ > maxStates_)
        return {HistoryVerdict::undecided, concat("no decision within ", maxStates_, " states"), states_};
      Frame& frame = frames_.back();
      if (frame.next == frame.choices.size()) {
        pop();
        continue;
      }
      const auto [index, state] = frame.choices[frame.next++];
      const std::size_t before = trail_.size();
      mark(index);
      if (seen_.insert(configuration(*state)).second)
        push(state, before);
      else
        unmarkTo(before);
    }
    return {HistoryVerdict::notLinearizable, explanation(), states_};
  }

 private:
  using State = std::shared_ptr<const ModelState>;
  struct Frame {
    State state;
    std::size_t trail = 0;  // what was done before it
    std::vector<std::pair<std::size_t, State>> choices;
    std::size_t next = 0;
  };

  void push(State state, std::size_t trail = 0) {
    ++states_;
    Frame frame{std::move(state), trail, {}, 0};
    settle(*frame.state);
    frame.choices = choicesIn(*frame.state);
    if (frame.choices.empty() || trail_.size() > deepest_) noteDepth(*frame.state);
    frames_.push_back(std::move(frame));
  }
  void pop() {
    unmarkTo(frames_.back().trail);
    frames_.pop_back();
  }

  // The operations that may come next: nobody else had an answer before they were asked.
  std::vector<std::size_t> enabled() {
    while (low_ < operations_.size() && done_[low_]) ++low_;
    std::vector<std::size_t> out;
    std::int64_t horizon = kForever;
    for (std::size_t i = low_; i < operations_.size() && operations_[i]->invoked <= horizon; ++i) {
      if (done_[i]) continue;
      out.push_back(i);
      if (operations_[i]->returned) horizon = std::min(horizon, *operations_[i]->returned);
    }
    return out;
  }

  // An entry whose number is known comes when all smaller numbers of the group have come.
  bool isItsTurn(const ModelState& state, const Operation& operation) const {
    if (!operation.stamp || operation.stamp->seq == 0) return true;
    const auto next = std::ranges::upper_bound(numbers_, state.lastSeq());
    return next != numbers_.end() && *next == operation.stamp->seq;
  }

  static bool fits(const Operation& operation, const Effect& effect) {
    return !operation.returned || difference(effect.answer, operation.answer.decision).empty();
  }

  static bool toldOfNoEntry(const Operation& operation) {
    const Outcome outcome = operation.answer.decision.outcome;
    return outcome == Outcome::refused || outcome == Outcome::frozen || outcome == Outcome::duplicate;
  }

  // Everything that fits and changes nothing: no other order could need it elsewhere.
  void settle(const ModelState& state) {
    for (bool again = true; again;) {
      again = false;
      for (const std::size_t i : enabled()) {
        if (!operations_[i]->returned || !toldOfNoEntry(*operations_[i])) continue;
        for (const Effect& effect : model_.effects(state, *operations_[i]))
          if (effect.next == nullptr && fits(*operations_[i], effect)) {
            mark(i);
            again = true;
            break;
          }
      }
    }
  }

  std::vector<std::pair<std::size_t, State>> choicesIn(const ModelState& state) {
    std::vector<std::pair<std::size_t, State>> out;
    for (const std::size_t i : enabled()) {
      const Operation& operation = *operations_[i];
      const bool noEntry = operation.returned && toldOfNoEntry(operation);
      if (noEntry ? !operation.remember : !isItsTurn(state, operation)) continue;
      for (Effect& effect : model_.effects(state, operation))
        if (effect.next != nullptr && fits(operation, effect)) out.emplace_back(i, std::move(effect.next));
    }
    return out;
  }

  void mark(std::size_t i) {
    done_[i] = true;
    trail_.push_back(i);
    if (operations_[i]->returned) --open_;
    flip(i);
  }
  void unmarkTo(std::size_t size) {
    while (trail_.size() > size) {
      const std::size_t i = trail_.back();
      trail_.pop_back();
      done_[i] = false;
      low_ = std::min(low_, i);
      if (operations_[i]->returned) ++open_;
      flip(i);
    }
  }
  void flip(std::size_t i) {
    set_[0] ^= scramble(2 * i + 1);
    set_[1] ^= scramble(~(2 * i + 1));
  }
  Configuration configuration(const ModelState& state) const {
    return {{set_[0], set_[1] ^ scramble(state.lastSeq()), state.digest()[0], state.digest()[1]}};
  }

  // What stands in the way where the search got furthest.
  void noteDepth(const ModelState& state) {
    if (!stuck_.empty() && trail_.size() <= deepest_) return;
    deepest_ = trail_.size();
    stuck_.clear();
    for (const std::size_t i : enabled()) {
      const Operation& operation = *operations_[i];
      if (!operation.returned || stuck_.size() == 3) continue;
      stuck_.push_back(nameOf(operation) + ": " + objection(state, operation));
    }
  }
  std::string objection(const ModelState& state, const Operation& operation) const {
    const auto effects = model_.effects(state, operation);
    if (effects.empty())
      return "told " + toString(operation.answer.decision) + ", but it would be decided now and has no entry";
    std::string why = difference(effects.back().answer, operation.answer.decision);
    return why.empty() ? concat("its entry ", operation.stamp->seq, " is not the next") : why;
  }
  std::string explanation() const {
    std::string text =
        concat(deepest_, " of ", operations_.size(), " operations fit in some order, then none of these does");
    for (const std::string& line : stuck_) text += "\n  " + line;
    return text;
  }

  const AdjudicationModel& model_;
  const std::vector<const Operation*> operations_;
  std::vector<bool> done_;
  std::vector<std::uint64_t> numbers_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> trail_;
  std::size_t open_ = 0;  // answered, and not yet done
  std::size_t low_ = 0;   // all before are done
  std::array<std::uint64_t, 2> set_{};
  boost::unordered_flat_set<Configuration, ConfigurationHash> seen_;
  std::uint64_t states_ = 0;
  const std::uint64_t maxStates_;
  std::size_t deepest_ = 0;
  std::vector<std::string> stuck_;
};

// Says nothing of what survived: an answer that is lost, or that rests on what may be.
bool restsOnLoss(const Operation& operation, std::span<const LostRange> lost) {
  const Epoch& epoch = operation.answer.epoch;
  const std::uint64_t seq = operation.answer.decision.seq;
  return operation.returned && (seq == 0 ? hasLosses(lost, epoch) : isLost(lost, epoch, seq));
}

// What may be judged, by when it was asked. Without the answers that losses void, and without what was not answered and
// did nothing: such an operation fits everywhere.
std::vector<const Operation*> judgeable(std::span<const Operation> operations, std::span<const LostRange> lost,
                                        std::deque<Operation>& voided) {
  std::vector<const Operation*> out;
  for (const Operation& operation : operations) {
    const Operation* judged = &operation;
    if (restsOnLoss(operation, lost)) {
      judged = &voided.emplace_back(operation);
      voided.back().returned.reset();
    }
    if (judged->returned || judged->stamp) out.push_back(judged);
  }
  std::ranges::stable_sort(out, [](const Operation* a, const Operation* b) { return a->invoked < b->invoked; });
  return out;
}

// Groups of operations that share an entity, an operation id or a run, in order of their first operation.
class Groups {
 public:
  explicit Groups(const std::vector<const Operation*>& operations) : parent_(operations.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    std::map<std::string_view, std::size_t> byEntity, byId, byRun;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      join(i, byEntity.emplace(operations[i]->entity, i).first->second);
      if (operations[i]->kind != OperationKind::init)
        join(i, byId.emplace(operations[i]->operationId, i).first->second);
      if (!operations[i]->run.empty()) join(i, byRun.emplace(operations[i]->run, i).first->second);
    }
  }
  std::vector<std::vector<const Operation*>> of(const std::vector<const Operation*>& operations) {
    std::map<std::size_t, std::vector<const Operation*>> groups;
    for (std::size_t i = 0; i < operations.size(); ++i) groups[root(i)].push_back(operations[i]);
    std::vector<std::vector<const Operation*>> out;
    for (auto& [first, group] : groups) out.push_back(std::move(group));
    return out;
  }

 private:
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::size_t> parent_;
};

}  // namespace

HistoryReport checkLinearizability(const kernel::DomainModule& module, std::span<const Operation> operations,
                                   const HistoryOptions& options) {
  std::deque<Operation> voided;
  const std::vector<const Operation*> judged = judgeable(operations, options.lost, voided);
  std::set<std::string_view> ids, repeated;
  for (const Operation* operation : judged)
    if (!ids.insert(operation->operationId).second) repeated.insert(operation->operationId);

  const AdjudicationModel model(module, options.pendingTtlMicros, repeated);
  HistoryReport total;
  for (auto& group : Groups(judged).of(judged)) {
    const std::string entity = group.front()->entity;
    HistoryReport report = Search(model, std::move(group), options.maxStates).run();
    total.states += report.states;
    if (report.verdict == HistoryVerdict::linearizable || total.verdict == HistoryVerdict::notLinearizable) continue;
    total.verdict = report.verdict;
    total.reason = "entity \"" + entity + "\": " + report.reason;
  }
  return total;
}

}  // namespace witan::sim
