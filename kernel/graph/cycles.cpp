#include "kernel/graph/cycles.h"

#include <algorithm>

namespace witan::graph {

namespace {

// Tarjan's algorithm with a stack of its own.
class Components {
 public:
  explicit Components(const Successors& successors)
      : successors_(successors), index_(successors.size()), low_(successors.size()), on_(successors.size()) {}

  std::vector<std::vector<std::size_t>> find() {
    for (std::size_t v = 0; v < successors_.size(); ++v)
      if (index_[v] == 0) visit(v);
    return std::move(found_);
  }

 private:
  struct Frame {
    std::size_t vertex;
    std::size_t next;
  };

  void enter(std::size_t v) {
    index_[v] = low_[v] = ++count_;
    stack_.push_back(v);
    on_[v] = true;
    frames_.push_back({v, 0});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!frames_.empty()) {
      const std::size_t v = frames_.back().vertex;
      if (frames_.back().next < successors_[v].size()) {
        const std::size_t w = successors_[v][frames_.back().next++];
        if (index_[w] == 0)
          enter(w);
        else if (on_[w])
          low_[v] = std::min(low_[v], index_[w]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back().vertex] = std::min(low_[frames_.back().vertex], low_[v]);
      if (low_[v] == index_[v]) close(v);
    }
  }

  void close(std::size_t v) {
    std::vector<std::size_t> component;
    std::size_t w = 0;
    do {
      w = stack_.back();
      stack_.pop_back();
      on_[w] = false;
      component.push_back(w);
    } while (w != v);
    const auto& own = successors_[v];
    if (component.size() == 1 && std::find(own.begin(), own.end(), v) == own.end()) return;
    std::sort(component.begin(), component.end());
    found_.push_back(std::move(component));
  }

  const Successors& successors_;
  std::vector<std::size_t> index_;  // 0: not visited yet
  std::vector<std::size_t> low_;
  std::vector<bool> on_;
  std::vector<std::size_t> stack_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::size_t>> found_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> cyclicComponents(const Successors& successors) {
  return Components(successors).find();
}

}  // namespace witan::graph
