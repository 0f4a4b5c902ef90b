// Guidance: a share of the plans are not drawn, but changed from ones that reached what few runs reach.
//
// A plan is changed in one to three steps: other streams of chance, a part again or left out, events of a kind from
// another plan, faults moved to where something else happens. It keeps its options but their seed, and the fault
// budget, so what a checker expects of a drawn plan it may expect of this one. The same results learnt in the same
// order give the same plans. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/run.h"
#include "sim/scenario.h"

namespace witan::sim {

class Guide {
 public:
  // `percent` of the seeds, from the moment on at which something is known.
  Guide(Scenario scenario, unsigned percent) : scenario_(std::move(scenario)), percent_(percent) {}

  // Whether this seed's plan would be a changed one, by what is known now.
  bool guides(std::uint64_t seed) const;
  // Errors: those of drawPlan().
  Result<Plan> planOf(std::uint64_t seed) const;
  // What came of a plan that planOf() gave. In the order of the seeds.
  void learn(const Plan& plan, const RunResult& result);

 private:
  struct Reached {
    std::uint64_t runs = 0;
    std::vector<std::shared_ptr<const Plan>> plans;  // the last few, while it is rare
  };
  std::vector<const Reached*> rareOnes() const;

  const Scenario scenario_;
  const unsigned percent_;
  std::uint64_t runs_ = 0;
  std::map<std::string, Reached> reached_;  // by probe
};

// A plan changed as above. `other`: one of the same scenario, from which events may come.
Plan changedPlan(const Plan& plan, const Plan& other, std::uint64_t seed);

}  // namespace witan::sim
