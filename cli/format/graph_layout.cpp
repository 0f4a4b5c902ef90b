#include "cli/format/graph_layout.h"

#include <algorithm>
#include <numeric>

namespace witan::node {

namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// The unguarded edges as pairs of positions, without those that close a cycle: a refused graph is drawn too.
class Forward {
 public:
  explicit Forward(const graph::Document& document) : successors_(document.nodes.size()), state_(successors_.size()) {
    for (const graph::Edge& edge : document.edges)
      if (!edge.guard) successors_[document.positionOf(edge.from)].push_back(document.positionOf(edge.to));
    for (std::size_t v = 0; v < successors_.size(); ++v) visit(v);
    std::reverse(order_.begin(), order_.end());
  }
  const Pairs& edges() const { return edges_; }
  const std::vector<std::size_t>& order() const { return order_; }  // topological

 private:
  enum class State { fresh, open, done };
  struct Frame {
    std::size_t vertex, next;
  };

  void visit(std::size_t root) {
    if (state_[root] != State::fresh) return;
    std::vector<Frame> frames{{root, 0}};
    state_[root] = State::open;
    while (!frames.empty()) {
      const auto [v, next] = frames.back();
      if (next == successors_[v].size()) {
        state_[v] = State::done;
        order_.push_back(v);
        frames.pop_back();
        continue;
      }
      ++frames.back().next;
      const std::size_t w = successors_[v][next];
      if (state_[w] == State::open) continue;  // it closes a cycle
      edges_.emplace_back(v, w);
      if (state_[w] == State::fresh) {
        state_[w] = State::open;
        frames.push_back({w, 0});
      }
    }
  }

  std::vector<std::vector<std::size_t>> successors_;
  std::vector<State> state_;
  Pairs edges_;
  std::vector<std::size_t> order_;
};

// Sorts a layer by the mean column of the neighbours on one side; nodes without neighbours stay where they are.
void sortBy(std::vector<std::size_t>& layer, const std::vector<std::vector<std::size_t>>& neighbours,
            std::vector<Place>& places) {
  std::vector<std::pair<double, std::size_t>> wanted;
  for (const std::size_t v : layer) {
    double sum = 0;
    for (const std::size_t w : neighbours[v]) sum += double(places[w].column);
    wanted.emplace_back(neighbours[v].empty() ? double(places[v].column) : sum / double(neighbours[v].size()), v);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    layer[i] = wanted[i].second;
    places[layer[i]].column = i;
  }
}

}  // namespace

std::vector<Place> layOut(const graph::Document& document) {
  const Forward forward(document);
  std::vector<Place> places(document.nodes.size());
  std::vector<std::vector<std::size_t>> above(places.size()), below(places.size());
  for (const auto& [from, to] : forward.edges()) {
    above[to].push_back(from);
    below[from].push_back(to);
  }
  std::size_t last = 0;
  for (const std::size_t v : forward.order()) {
    for (const std::size_t w : above[v]) places[v].layer = std::max(places[v].layer, places[w].layer + 1);
    last = std::max(last, places[v].layer);
  }
  std::vector<std::vector<std::size_t>> layers(last + 1);
  for (std::size_t v = 0; v < places.size(); ++v) {
    places[v].column = layers[places[v].layer].size();
    layers[places[v].layer].push_back(v);
  }
  constexpr int kSweeps = 4;
  for (int i = 0; i < kSweeps; ++i) {
    for (auto layer = layers.begin(); layer != layers.end(); ++layer) sortBy(*layer, above, places);
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) sortBy(*layer, below, places);
  }
  return places;
}

}  // namespace witan::node
