// Graph: the processes. People deploy, cancel, send again and answer; all else is written by the runtime of the graph
// (replica/graph_runtime.h), whose every step the laws judge.
#pragma once

#include <array>
#include <optional>

#include "domains/graph/state.h"

namespace witan::domains::graph {

struct Send {
  std::string edge, message, node, key, digest;
  std::vector<Measure> measures;
  std::optional<std::string> dedup;  // the value that the edge deduplicates by
  bool duplicate = false;            // it was left out, and counts against the bound
  static constexpr std::size_t required = 5;
  WITAN_MEMBERS(Send, edge, message, node, key, digest, measures, dedup, duplicate)
};
struct Lost {
  std::string message, node, key, reason;
  WITAN_MEMBERS(Lost, message, node, key, reason)
};

#define WITAN_GRAPH_ACTION(Name, Required)          \
  static constexpr std::string_view name = #Name;   \
  static constexpr std::size_t required = Required; \
  using Reads = All;                                \
  using Writes = All;                               \
  void apply(Mutator<Fields>& m, Time) const;

struct Deploy {
  WITAN_GRAPH_ACTION(Deploy, 3)
  std::int64_t version = 0;
  std::string digest;  // of the document
  std::int64_t deliveries = 0;
  std::vector<Bound> edges;
  std::vector<Gate> gates;
  std::int64_t horizonMs = 604'800'000;  // after its end a run is forgotten
  WITAN_MEMBERS(Deploy, version, digest, deliveries, edges, gates, horizonMs)

  Version said() const { return {version, digest, deliveries, edges, gates, horizonMs}; }
};
struct Cancel {
  WITAN_GRAPH_ACTION(Cancel, 2)
  std::string run, why;
  WITAN_MEMBERS(Cancel, run, why)
};
// A dead message again, under an id of its own.
struct Redrive {
  WITAN_GRAPH_ACTION(Redrive, 2)
  std::string run, message;
  WITAN_MEMBERS(Redrive, run, message)
};

// What one run may take and where it may work, within what its document says: a fork of that (Law 4).
struct Limits {
  std::int64_t steps = 0, tokens = 0, seconds = 0;
  std::vector<std::string> locales;
  WITAN_MEMBERS(Limits, steps, tokens, seconds, locales)
};

struct Begin {
  WITAN_GRAPH_ACTION(Begin, 7)
  std::string run;
  std::int64_t version = 0;
  std::string node, external, message, key, digest;
  std::optional<Limits> limits;
  std::uint64_t hops = 0;  // runs between what somebody outside did and this one
  WITAN_MEMBERS(Begin, run, version, node, external, message, key, digest, limits, hops)
};
// What a device says with a message to an ingress.
struct Entering {
  std::optional<Limits> limits;
  std::uint64_t hops = 0;
  WITAN_MEMBERS(Entering, limits, hops)
};
// `digest`: of what may cross; empty: nothing.
struct Verdict {
  WITAN_GRAPH_ACTION(Verdict, 8)
  std::string run, node, span, boundary, operation, verdict, token, policy, digest;
  WITAN_MEMBERS(Verdict, run, node, span, boundary, operation, verdict, token, policy, digest)
};
struct Deliver {
  WITAN_GRAPH_ACTION(Deliver, 5)
  std::string run, node, message, span;
  std::int64_t attempt = 0;
  WITAN_MEMBERS(Deliver, run, node, message, span, attempt)
};
struct Resume {
  WITAN_GRAPH_ACTION(Resume, 4)
  std::string run, node, span;
  std::int64_t attempt = 0;
  WITAN_MEMBERS(Resume, run, node, span, attempt)
};
struct Finish {
  WITAN_GRAPH_ACTION(Finish, 3)
  std::string run, node, span, model, output;
  std::int64_t tokens = 0;
  std::vector<Send> sends;
  std::vector<Lost> dead;
  std::int64_t steps = 0, seconds = 0;  // that its episode spent, as the tokens
  WITAN_MEMBERS(Finish, run, node, span, model, output, tokens, sends, dead, steps, seconds)
};
// Without retryAtMs the message is dead, and what else is in `dead`. Attempt 0: it was never delivered.
struct Fail {
  WITAN_GRAPH_ACTION(Fail, 5)
  std::string run, node, span;
  std::int64_t attempt = 0;
  std::string why;
  std::optional<std::int64_t> retryAtMs;
  std::vector<Lost> dead;
  std::string cause;                                // of a terminal failure, in words
  std::int64_t tokens = 0, steps = 0, seconds = 0;  // that its episode spent
  WITAN_MEMBERS(Fail, run, node, span, attempt, why, retryAtMs, dead, cause, tokens, steps, seconds)
};
struct Effect {
  WITAN_GRAPH_ACTION(Effect, 6)
  std::string run, node, span, tool;
  bool found = false;
  std::string operation;
  WITAN_MEMBERS(Effect, run, node, span, tool, found, operation)
};
struct Ask {
  WITAN_GRAPH_ACTION(Ask, 5)
  std::string run, node, span, digest, why;
  WITAN_MEMBERS(Ask, run, node, span, digest, why)
};
struct Compensate {
  WITAN_GRAPH_ACTION(Compensate, 5)
  std::string run, node, span, operation, tool;
  WITAN_MEMBERS(Compensate, run, node, span, operation, tool)
};
struct End {
  WITAN_GRAPH_ACTION(End, 4)
  std::string run, status;
  std::int64_t deliveries = 0, lost = 0;
  std::vector<Lost> dead;
  WITAN_MEMBERS(End, run, status, deliveries, lost, dead)
};
// The row of a run that ended a horizon ago: only then may its id begin again. Of one that has left much, some of that:
// it takes several.
struct Forget {
  WITAN_GRAPH_ACTION(Forget, 1)
  std::string run;
  WITAN_MEMBERS(Forget, run)
};

struct Answer {
  WITAN_GRAPH_ACTION(Answer, 6)
  std::string run, node, span, digest, by;
  bool approve = false;
  std::string signature;  // key and signature of the person, in hex (kernel/record/statement.h); empty: none
  WITAN_MEMBERS(Answer, run, node, span, digest, by, approve, signature)
};

struct OperatorRole : Role<"Operator", Deploy, Cancel, Redrive> {};
struct RuntimeRole
    : Role<"Runtime", Begin, Verdict, Deliver, Resume, Finish, Fail, Effect, Ask, Compensate, End, Forget> {};
struct PersonRole : Role<"Person", Answer> {};

// The id under which a dead message is sent again.
std::string redrivenId(std::string_view dead);

}  // namespace witan::domains::graph
