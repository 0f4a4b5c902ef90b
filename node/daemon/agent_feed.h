// AgentFeed: what people enter while agents are at work, read from lines of JSON:
//
//   {"at": TIME, "id", "type", "payload"}            an entry of the journal
//   {"at": TIME, "agent", "session", "turn", "text"}  something said to an agent
//   {"at": TIME, "counselor", "domain", "entity", "decision", "edit", "reason"}
//                                                    a counselor's word on what waits then, if anything does
//
// The form of every line is checked before the first is applied. Each is applied at its time. An entry that stands
// there just so already is passed over, so that a file can be fed again after a crash. Owns its lines.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/content_seal.h"
#include "base/json.h"
#include "base/time.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

inline constexpr std::size_t kMaxFeedLines = 1'000'000;
// Of a line: what an agent is told of an entry lies deeper (agents/episode/turn_check.h).
inline constexpr std::size_t kMaxFeedDepth = 25;

class AgentFeed {
 public:
  // Reads all lines of a path ("-": standard input). `agents`: those that may be spoken to. Errors: invalid, naming
  // line and cause.
  static Result<AgentFeed> read(const std::string& path, const std::set<std::string>& agents);

  bool empty() const { return next_ == lines_.size(); }
  // Of the next line.
  Time at() const { return lines_[next_].at; }
  // Applies the next line. Errors: conflict, the entry was edited on several devices at once; a store that fails.
  Status apply(Replica& replica, const agents::ContentSeals& seals, const std::string& scope, Now now);

 private:
  struct Line {
    std::size_t number = 0;
    Time at;
    json::object object;
  };

  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

// One line by itself, its form checked first; an entry of the journal bears the line's time. False: the entry stood
// there just so. Errors: as of read() and apply(), without a line's number.
Result<bool> feedLine(Replica& replica, const agents::ContentSeals& seals, const std::string& scope,
                      const json::object& line, Now now);

}  // namespace witan::node
