// The laws of graphs of episodes as checks of a ledger (docs/graphs.md; seed 004, appendix G-01 to G-03). They know
// nothing of how the runtime works, so they also judge made-up ledgers, which is how each is shown to be able to fail.
// Pure; the error says what is against the law. O(lines log lines).
#pragma once

#include <vector>

#include "kernel/graph/line.h"

namespace witan::agents::conformance {

using GraphLedger = std::vector<graph::Line>;

// G-01: no guarded edge is passed more often in a run than its bound; each run ends, once.
Status guardsAreKept(const graph::Document& document, const GraphLedger& ledger);

// G-02: in a lane first deliveries come in the order of sending, and one span at a time is open.
Status lanesAreOrdered(const GraphLedger& ledger);

// G-02: a message is delivered once an attempt, and an effect stands once a span.
Status nothingIsDoubled(const GraphLedger& ledger);

// G-03: no span at a boundary finishes or has an effect without a verdict that lets it pass.
Status boundariesAreGuarded(const graph::Document& document, const GraphLedger& ledger);

}  // namespace witan::agents::conformance
