// Random documents, environments and cases, for comparison with a model. Pure functions of the random numbers.
#pragma once

#include <random>

#include "base/json.h"

namespace witan::graph::tests {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  int number(int least, int most) { return least + int(random_() % std::uint32_t(most - least + 1)); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <class List>
  auto& oneOf(List& list) {
    return list[std::size_t(number(0, int(list.size()) - 1))];
  }
  std::string word(std::initializer_list<const char*> words) {
    return *(words.begin() + number(0, int(words.size()) - 1));
  }

 private:
  std::mt19937 random_;
};

// A document with one to three changes, most of which some check must notice.
json::value changedDocument(Draw& draw, json::value document);
// An environment that lacks something.
json::value changedEnvironment(Draw& draw, json::value environment);
// A case that runs: loops, lanes, full queues, failures, questions, crashes, new versions.
json::object drawCase(Draw& draw);

}  // namespace witan::graph::tests
