// How a message came to one node of a graph's run, as the graph's ledger has it: which spans sent it on, and which
// people let it pass. For `why` (why.cpp).
//
// Pure functions on a copy of the ledger. O(its entries).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace witan::node {

class PartitionHost;

namespace operations {

// A person's answer to what a span asked.
struct GraphAnswered {
  std::uint64_t seq = 0;  // of the entry, here and below
  std::string by, digest;
  bool approve = false, isSigned = false;
};
// One span.
struct GraphPassage {
  std::string span, node, key, message;
  std::uint64_t sent = 0;  // the entry that sent its message
  std::optional<Time> at;  // of its first delivery
  std::optional<GraphAnswered> answer;
};
struct GraphPath {
  std::string graph, run, external, ingress;
  std::uint64_t begun = 0;  // 0: this copy has no beginning of it
  std::optional<Time> at;
  std::vector<GraphPassage> passages;  // from the ingress on; the last one is the span that was asked for
};

// `span` empty: the run alone. None: the ledger has nothing of such a run. Errors: of the log.
Result<std::optional<GraphPath>> graphPath(const PartitionHost& host, const std::string& graph, const std::string& run,
                                           const std::string& span);

// What an entry of a graph's ledger is about.
struct GraphPlace {
  std::string graph, run, span;  // span, run: empty if it has none
};
GraphPlace placeIn(std::string_view graph, std::string_view action);

// The first entry that names a run or a span with this id, of any graph of the copy. None: there is none.
Result<std::optional<GraphPlace>> graphPlaceOf(const PartitionHost& host, const std::string& id);

}  // namespace operations
}  // namespace witan::node
