// Suites of `witan conformance`: each holds this build against a published statement, row by row.
//
// A new suite is a function here and a line in lab/commands/conformance_command.cpp.
#pragma once

#include <functional>
#include <string>

namespace witan::node {

struct ConformanceOptions {
  std::string only;      // rows whose id begins so
  bool proveIt = false;  // also what must fail: each row's counter-check, as a row of its own
};

struct ConformanceRow {
  std::string id, title;
  bool pass = false;
  std::string detail;
};

// Emits the chosen rows in the suite's order.
using EmitRow = std::function<void(const ConformanceRow&)>;

// Seed 002: every theorem of the decision logic, proven by Z3 for all inputs; counter-checks are the broken twins.
void runDecisionSuite(const ConformanceOptions& options, const EmitRow& emit);

// Seed 004: K-01 to K-04 of its appendix and its experiments on single episodes, on the real kernel with toy agents;
// counter-checks are histories that break the law.
void runKernelsSuite(const ConformanceOptions& options, const EmitRow& emit);

// Seed 001: the ten conditions of IX-2, each run twice; counter-checks are kernels with a fault each.
void runIx2Suite(const ConformanceOptions& options, const EmitRow& emit);

}  // namespace witan::node
