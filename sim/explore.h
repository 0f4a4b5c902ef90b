// Explore: every state that a small configuration can reach, whatever the order in which things happen.
//
// Breadth first, so the counterexample that is found is one of the shortest. A state is a vector of numbers, given out
// by the model: equal numbers must mean equal states, in everything that decides about the future and about the checks.
// A state is visited once; of those visited only 128 bits of hash are kept (of n states two would share theirs with a
// probability of n^2 / 2^129). Models: sim/explore/.
//
// Deterministic; not thread-safe. The model outlives the call.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace witan::sim {

// A number for every different text, by which a model compares its states. References stay valid.
class Interner {
 public:
  std::uint32_t operator()(std::string_view text) {
    if (const auto at = numbers_.find(text); at != numbers_.end()) return at->second;
    texts_.emplace_back(text);
    return numbers_.emplace(texts_.back(), static_cast<std::uint32_t>(texts_.size() - 1)).first->second;
  }
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // never walked
};

using Explored = std::vector<std::uint32_t>;

class ExploreModel {
 public:
  using Visit = std::function<void(Explored)>;
  virtual ~ExploreModel() = default;

  virtual Explored start() = 0;
  // Every state that one step leads to, in an order that depends on the state alone.
  virtual void steps(const Explored& from, const Visit& visit) = 0;
  // The words for the n-th of them: "a writes", "b receives a:1".
  virtual std::string nameOf(const Explored& from, std::size_t n) = 0;
  // What is wrong in a state, or "". Looked at once.
  virtual std::string problem(const Explored& state) = 0;
  // What a person wants to see of a state; lines, without the last newline.
  virtual std::string describe(const Explored& state) = 0;
};

struct ExploreBounds {
  std::size_t depth = ~std::size_t{0};  // steps from the start
  std::size_t states = 3'000'000;       // about 60 bytes each, and those of two depths in full
};

struct ExploreResult {
  std::size_t states = 0, transitions = 0;
  std::size_t depth = 0;   // of the deepest state
  bool exhausted = false;  // every reachable state was looked at
  struct Step {
    std::string what, state;
  };
  struct Counterexample {
    std::string problem;
    std::string start;
    std::vector<Step> steps;
  };
  std::optional<Counterexample> counterexample;
};

// `progress`: after each depth; may be empty.
ExploreResult explore(ExploreModel& model, const ExploreBounds& bounds,
                      const std::function<void(const ExploreResult&)>& progress = {});

// The counterexample as a person reads it: what is wrong, then each step with the state after it. Lines; "" if none.
std::string counterexampleText(const ExploreResult& result);

}  // namespace witan::sim
