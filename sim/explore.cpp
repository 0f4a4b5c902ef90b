#include "sim/explore.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "base/concat.h"
#include "replication/fingerprint.h"

namespace witan::sim {

namespace {

using Fingerprint = replication::Uint128;

struct FingerprintHash {
  std::size_t operator()(Fingerprint f) const { return static_cast<std::size_t>(f); }
};

class Search {
 public:
  Search(ExploreModel& model, const ExploreBounds& bounds, const std::function<void(const ExploreResult&)>& progress)
      : model_(model), bounds_(bounds), progress_(progress) {}

  ExploreResult run() {
    reach(model_.start(), 0, 0);
    while (!next_.empty() && !done_ && result_.depth < bounds_.depth) {
      std::vector<Explored> now;
      now.swap(next_);
      const std::size_t first = known_.size() - now.size();
      ++result_.depth;
      for (std::size_t i = 0; i < now.size() && !done_; ++i) expand(now[i], first + i);
      if (next_.empty() && !done_) --result_.depth;
      if (progress_ && !next_.empty()) progress_(result_);
    }
    result_.exhausted = next_.empty() && !done_;
    return std::move(result_);
  }

 private:
  struct Known {
    std::size_t parent;
    std::uint32_t step;
  };

  void expand(const Explored& from, std::size_t number) {
    std::uint32_t step = 0;
    model_.steps(from, [&](Explored to) {
      if (done_) return;
      ++result_.transitions;
      reach(std::move(to), number, step++);
    });
  }

  void reach(Explored state, std::size_t parent, std::uint32_t step) {
    const std::string_view bytes(reinterpret_cast<const char*>(state.data()), state.size() * sizeof(state[0]));
    if (!seen_.insert(key_.hash128(bytes)).second) return;
    known_.push_back({parent, step});
    ++result_.states;
    if (std::string problem = model_.problem(state); !problem.empty()) {
      done_ = true;
      return tell(std::move(problem));
    }
    if (result_.states >= bounds_.states) done_ = true;
    next_.push_back(std::move(state));
  }

  // The way to the state that was reached last, walked once more from the start.
  void tell(std::string problem) {
    std::vector<std::uint32_t> way;
    for (std::size_t at = known_.size() - 1; at != 0; at = known_[at].parent) way.push_back(known_[at].step);
    std::ranges::reverse(way);
    Explored at = model_.start();
    ExploreResult::Counterexample found{std::move(problem), model_.describe(at), {}};
    for (const std::uint32_t step : way) {
      std::uint32_t n = 0;
      std::optional<Explored> to;
      model_.steps(at, [&](Explored next) {
        if (n++ == step) to = std::move(next);
      });
      WITAN_CHECK(to.has_value(), "a model's steps depend on the state alone");
      found.steps.push_back({model_.nameOf(at, step), model_.describe(*to)});
      at = *std::move(to);
    }
    result_.counterexample = std::move(found);
  }

  ExploreModel& model_;
  const ExploreBounds& bounds_;
  const std::function<void(const ExploreResult&)>& progress_;
  const replication::FingerprintKey key_{"explore"};
  std::unordered_set<Fingerprint, FingerprintHash> seen_;  // never walked
  std::vector<Known> known_;
  std::vector<Explored> next_;
  ExploreResult result_;
  bool done_ = false;
};

}  // namespace

ExploreResult explore(ExploreModel& model, const ExploreBounds& bounds,
                      const std::function<void(const ExploreResult&)>& progress) {
  return Search(model, bounds, progress).run();
}

std::string counterexampleText(const ExploreResult& result) {
  if (!result.counterexample) return {};
  const auto indented = [](std::string_view text) {
    std::string out = "       ";
    for (const char c : text) c == '\n' ? out += "\n       " : out += c;
    return out + "\n";
  };
  std::string out = result.counterexample->problem + "\n  at first\n" + indented(result.counterexample->start);
  std::size_t n = 0;
  for (const auto& [what, state] : result.counterexample->steps)
    out += concat("  ", ++n, ". ", what, "\n", indented(state));
  return out;
}

}  // namespace witan::sim
