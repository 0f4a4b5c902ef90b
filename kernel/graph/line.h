// The lines of a graph's ledger: facts from which the state of its runs is folded.
//
// Values. Lines of one Entry become durable together. A line is complete: a fold of all lines, in order, gives the
// state that wrote them (runtime.h, apply()). toJson() is the projection for people, without bodies.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/graph/document.h"

namespace witan::graph {

enum class LineKind {
  deployed,
  begun,
  sent,
  delivered,
  resumed,
  verdict,
  asked,
  answered,
  effect,
  effectFound,
  emitted,
  finished,
  failed,
  dead,
  duplicate,
  refused,
  compensated,
  ended
};
const char* toString(LineKind kind);

using Body = std::shared_ptr<const json::value>;
// Per guarded edge with a measure: the value of the last traversal in the ancestry of a message.
using Measures = std::map<std::string, std::int64_t>;

struct Line {
  LineKind kind = LineKind::refused;
  std::int64_t atMs = 0;
  std::string run;
  std::string node;
  std::string external;
  std::string edge;
  std::string message;
  std::string key;
  std::string span;
  std::string type;   // of the body
  std::string why;    // reason, status, verdict or why, as the kind has it
  std::string token;  // of a verdict; tool of an effect
  std::string by;
  std::string operation;
  std::string dedup;          // the key text of the field that the edge deduplicates by
  std::int64_t number = 0;    // attempt, version, count of sends or deliveries
  std::int64_t sequence = 0;  // of a message; count of dead letters at an end
  std::optional<std::int64_t> retryAtMs;
  bool flag = false;  // approve; passes; poisons; counts against the bound
  Body body;
  Measures measures;
  std::shared_ptr<const Document> document;  // of a deployment
};

using Entry = std::vector<Line>;

// `n` numbers the printed lines from 1. Requires: the kind is not deployed.
json::object toJson(const Line& line, std::int64_t n);

std::string digestOf(const json::value& body);
std::string identityOf(const std::string& canonical);  // SHA-256, in hex

}  // namespace witan::graph
