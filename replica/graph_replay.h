// A run of a graph, made anew from what came from outside: the messages at its ingress, the transcripts of its agents
// (each replayed itself, agents/episode/replay.h), decisions of domains and answers of people. All else follows from
// the document: ids, keys, what functions make of a message, what is sent on which edge. The first entry that says
// something else is the result (`witan graph replay`).
//
// Pure but for what the sources read; one thread. O(entries + transcripts).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "domains/graph/steps.h"

namespace witan::node {

struct GraphReplaySources {
  // Null: it is not here.
  std::function<std::shared_ptr<const graph::Document>(const std::string& digest)> document;
  std::function<graph::Body(const std::string& digest)> body;
  std::function<const agents::Agent*(const std::string& id, const std::string& version)> agent;
  // The contents of its entries; none: it is not here.
  std::function<Result<std::vector<std::string>>(const RunKey&)> transcript;
};

struct GraphReplay {
  std::uint64_t entries = 0, episodes = 0;
  std::vector<std::string> missing;      // what could not be looked at, since it is not here
  std::optional<std::uint64_t> differs;  // number of the first entry that says something else
  std::string why;
};

struct GraphEntry {
  std::uint64_t seq = 0;
  domains::graph::Step step;
};

// Who worked on a span, and the digest of all that it did, as Finish has it; `end`: the last entry of its transcript.
std::string graphModelOf(const graph::Node& node, const json::object& end);

// `entries`: those of one run and the deployments before them, in order. Errors: of the transcripts' store.
Result<GraphReplay> replayGraphRun(const std::string& graph, const std::vector<GraphEntry>& entries,
                                   const GraphReplaySources& sources);

}  // namespace witan::node
