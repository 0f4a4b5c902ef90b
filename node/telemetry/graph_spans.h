// GraphSpans: the entries of graphs as spans of OpenTelemetry. A trace is a run, its id the first 16 bytes of the
// run's; the id of a span is the first 8 bytes of the graph's own.
//
//   witan.graph.run        from the begin of a run to its end
//     witan.graph.span     from the first delivery to the end; child of the span that sent the message
//
// Names, numbers and reasons alone: no key and no contents. What began before it looked on is left out, and so is what
// would be more than it holds. A value; one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domains/graph/steps.h"
#include "node/telemetry/tracer.h"

namespace witan::node {

class GraphSpans {
 public:
  // What ends with an approved entry of the domain graph.
  std::vector<Span> ended(const kernel::EntryView& entry);

 private:
  struct Open {
    std::string message, node;
    Time start;
    std::int64_t attempts = 0;
  };
  struct Run {
    std::string graph;
    Time start;
    std::map<std::string, std::string> senders;  // of messages: span ids
    std::map<std::string, Open> open;            // spans
  };
  Span spanOf(const std::string& run, const Run& of, const std::string& id, Time end) const;

  std::map<std::string, Run> runs_;
};

}  // namespace witan::node
