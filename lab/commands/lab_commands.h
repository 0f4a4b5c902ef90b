// The commands of witan-lab. `app` must outlive the parse.
#pragma once

#include <functional>
#include <string>

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

void addCompareCommand(Command& app);
void addConformanceCommand(Command& app);
void addOntologyCommand(Command& app);
void addProveCommand(Command& app);

// ---- suites of `witan conformance`: each holds this build against a published statement, row by row. A new one is a
// function here and a line in lab/commands/conformance_command.cpp.

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

// Seed 001: the ten conditions of IX-2, each run twice; counter-checks are kernels with a fault each.
void runIx2Suite(const ConformanceOptions& options, const EmitRow& emit);
// Seed 000: its theorems on random histories of every shipped domain, and its two control experiments; counter-checks
// are broken histories and architectures.
void runReduxSuite(const ConformanceOptions& options, const EmitRow& emit);

}  // namespace witan::node
