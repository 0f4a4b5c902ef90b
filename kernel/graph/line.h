// The lines of a graph's ledger: facts from which the state of its runs is folded.
//
// Values. Lines of one Entry become durable together. A line is complete: a fold of all lines, in order, gives the
// state that wrote them (runtime.h, apply()). toJson() is the projection for people, without bodies.
#pragma once

#include <boost/container/flat_map.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernel/graph/document.h"

namespace witan::graph {

using Body = std::shared_ptr<const json::value>;
// Per guarded edge with a measure: the value of the last traversal in the ancestry of a message.
using Measures = boost::container::flat_map<std::string, std::int64_t>;

// Runs in one chain of cause and effect: what a run does may begin others by triggers, and those others again.
inline constexpr std::uint64_t kMostHops = 8;

// Each kind has its name in the projection.
struct Deployed {
  static constexpr const char* kName = "deployed";
  std::shared_ptr<const Document> document;
};
struct Begun {
  static constexpr const char* kName = "begun";
  std::string run, node, external;
  std::int64_t version = 0;
  std::string message, key, type;
  Body body;
  std::uint64_t hops = 0;  // runs between what somebody outside did and this one
};
struct Sent {
  static constexpr const char* kName = "sent";
  std::string run, node, edge, message, key, type;
  Body body;
  Measures measures;
  std::int64_t sequence = 0;
  std::optional<std::string> dedup;  // the value of the field that the edge deduplicates by
  bool counts = false;               // against the bound of the edge
};
struct Delivered {
  static constexpr const char* kName = "delivered";
  std::string run, node, message, key, span;
  std::int64_t attempt = 0;
};
struct Resumed {
  static constexpr const char* kName = "resumed";
  std::string run, node, span;
  std::int64_t attempt = 0;
};
// A dead message again, under an id of its own; a run that has ended goes on.
struct Redriven {
  static constexpr const char* kName = "redriven";
  std::string run, node, message, key, dead;  // dead: the message that died
};
struct Judged {
  static constexpr const char* kName = "verdict";
  std::string run, node, span, verdict, token;
  bool passes = false;
  Body redacted;  // what goes on; null: all of it
  Body crosses;   // what may cross, if it passes; a fold does not need it
};
struct Asked {
  static constexpr const char* kName = "asked";
  std::string run, node, span, key;
  Body body;
  std::string why;
};
struct Answered {
  static constexpr const char* kName = "answered";
  std::string run, node, span, by;
  bool approve = false;
};
struct Effected {
  static constexpr const char* kName = "effect";
  static constexpr const char* kFoundName = "effectFound";
  std::string run, node, span, tool;
  bool found = false;  // the operation's record was there already
};
struct Emitted {
  static constexpr const char* kName = "emitted";
  std::string run, node, message;
  Body body;
};
struct Finished {
  static constexpr const char* kName = "finished";
  std::string run, node, span;
  std::int64_t sends = 0;
};
struct Failed {
  static constexpr const char* kName = "failed";
  std::string run, node, span;
  std::int64_t attempt = 0;
  std::string why;
  std::optional<std::int64_t> retryAtMs;
  std::string cause;  // of a terminal failure of its work, in words
};
struct Dead {
  static constexpr const char* kName = "dead";
  std::string run, node, message, key, reason;
  bool poisons = false;  // the lane, for later messages of the run
};
struct Duplicate {
  static constexpr const char* kName = "duplicate";
  std::string run, node, edge, message, key;
  bool counts = false;  // against the bound of the edge
};
struct DuplicateArrival {
  static constexpr const char* kName = "duplicate";
  std::string node, external;
};
struct Refused {
  static constexpr const char* kName = "refused";
  std::string node, external, why;
};
struct Compensated {
  static constexpr const char* kName = "compensated";
  std::string run, node, span, operation, tool;
};
struct Ended {
  static constexpr const char* kName = "ended";
  std::string run, status;
  std::int64_t deliveries = 0, dead = 0;
};

using Fact = std::variant<Deployed, Begun, Sent, Delivered, Resumed, Redriven, Judged, Asked, Answered, Effected,
                          Emitted, Finished, Failed, Dead, Duplicate, DuplicateArrival, Refused, Compensated, Ended>;

struct Line {
  std::int64_t atMs = 0;
  Fact fact;
};
const char* nameOf(const Line& line);

using Entry = std::vector<Line>;

// `n` numbers the printed lines from 1. Requires: the fact is not Deployed.
json::object toJson(const Line& line, std::int64_t n);

std::string digestOf(const json::value& body);
std::string identityOf(const std::string& canonical);  // SHA-256, in hex

}  // namespace witan::graph
