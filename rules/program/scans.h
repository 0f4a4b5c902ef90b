// Scans: loops over a table's rows whose test says what a cell of the row must be: has(x.f) && x.f == e, or <, <=, >,
// >=. Only the rows between the bounds are visited, since the test is false for all others: `false && error` is false,
// too.
//
// Pure. Called once a program, when it is compiled; marks the columns that need an index (RuleTable::between).
#pragma once

#include "rules/program/program.h"

namespace witan::rules {

// Fills program.scans; with `firstLocal` also program.rootScan, of the row in local 0 if there is one of that table.
void findScans(Program& program, Layout& layout, std::optional<std::uint32_t> firstLocal = {});

}  // namespace witan::rules
