// Agenda: what is to happen next in simulated time. Steps of one moment keep the order in which they were put in.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "sim/plan.h"

namespace witan::sim {

enum class StepKind : std::uint8_t {
  plan,      // event `n` of the plan
  faultEnd,  // of fault `n`
  work,      // device `a` takes what lies in its inbox
  release,   // what device `a` has made durable leaves it
  tick,      // device `a`'s timer
  start,     // device `a` is switched on
  resume,    // device `a` goes on after a pause
  arrive,    // chunk `n` arrives
  dial,      // pair `n` may connect
  endDown,   // one end (`a`) of connection `n` notices that it is dead
  stall,     // connection `n` has waited too long for an acknowledgement from `a`
  etcd,      // parcel `n` of etcd
  tool,      // answer `n` of a tool reaches device `a`
  alarm,     // device `a` takes a step, if it is idle
  market,    // the organisations of the market go on
  look,      // the operators, counselors and checkers of the settling phase look
  mesh,      // device `a` looks which links it wants
};

struct Step {
  Micros at = 0;
  std::uint64_t order = 0;
  StepKind kind = StepKind::plan;
  std::uint32_t a = 0;
  std::uint64_t n = 0;
};

class Agenda {
 public:
  void add(Micros at, StepKind kind, std::uint32_t a, std::uint64_t n = 0) {
    steps_.push({at < now_ ? now_ : at, order_++, kind, a, n});
  }
  bool empty() const { return steps_.empty(); }
  const Step& next() const { return steps_.top(); }
  // Time goes on to it.
  Step take() {
    Step step = steps_.top();
    steps_.pop();
    now_ = step.at;
    return step;
  }
  Micros now() const { return now_; }
  std::size_t size() const { return steps_.size(); }

 private:
  struct Later {
    bool operator()(const Step& x, const Step& y) const { return x.at != y.at ? x.at > y.at : x.order > y.order; }
  };
  std::priority_queue<Step, std::vector<Step>, Later> steps_;
  std::uint64_t order_ = 0;
  Micros now_ = 0;
};

}  // namespace witan::sim
