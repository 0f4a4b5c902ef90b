// The document of a graph: typed nodes, edges and limits, as written in TOML or JSON (docs/graphs.md).
//
// A Document is a value; a run keeps the one that it began under. Pure functions, any thread. Everything read from
// outside is bounded: 1 MiB, 256 types, 512 nodes, 2,048 edges.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/reflect.h"
#include "kernel/graph/schema.h"

namespace witan::graph {

inline constexpr std::size_t kMaxTypes = 256;
inline constexpr std::size_t kMaxNodes = 512;
inline constexpr std::size_t kMaxEdges = 2048;
inline constexpr std::int64_t kMaxBound = 1'000'000;
inline constexpr std::int64_t kMaxAttempts = 100;

// What a check found, and where: "GL07" at "writer,critic".
struct Finding {
  std::string id;
  std::string place;
  std::string message;

  friend bool operator==(const Finding&, const Finding&) = default;
};

enum class NodeKind { ingress, egress, agent, domain, counselor, function, subgraph, market };
const char* toString(NodeKind kind);

struct Crossing {  // what the monitor is asked about
  std::string boundary;
  std::string operation;
};

struct NodeCapability {
  std::string resource;
  std::int64_t uses = 1;
  std::vector<std::string> targets;                 // none: any
  std::optional<std::vector<std::string>> locales;  // none: those of the node
};

struct RetryRule {
  std::int64_t maxAttempts = 3;
  std::int64_t firstBackoffMs = 1'000;
  std::int64_t maxBackoffMs = 600'000;
};

using Budget = std::map<std::string, std::int64_t>;

// What begins runs of itself. Of a ledger, `match` is the domain, and the field that takes the value; without a field,
// that an entity begins.
WITAN_ENUM(TriggerSource, manual, journal, ledger, market)
struct Trigger {
  TriggerSource source = TriggerSource::manual;
  std::string match;  // a type of the journal, a domain; of a malformed one, which is manual, why: deploy refuses it
  std::string field, value;
  friend bool operator==(const Trigger&, const Trigger&) = default;
};

// Messages of one span: the entry that holds them, some 300 bytes each, fits into a record of a ledger.
inline constexpr std::int64_t kMaxOut = 4'096;

struct Node {
  std::string id;
  NodeKind kind = NodeKind::function;
  std::optional<std::vector<std::string>> locales;  // none: those of the graph
  Budget budget;
  std::vector<NodeCapability> capabilities;
  std::optional<std::int64_t> timeoutGivenMs;
  RetryRule retry;
  std::int64_t concurrency = 1;
  std::int64_t maxOut = 1;  // messages of one span on one edge
  std::vector<std::string> in;
  std::vector<std::string> out;
  std::optional<Crossing> monitor;
  std::optional<Trigger> trigger;
  std::optional<json::object> sink;  // tool, undo
  std::string name;                  // of the agent, domain, function, graph or capability
  std::string version;               // of the agent
  std::string role;                  // in the domain
  std::vector<std::string> who;      // may answer
  bool timeApproves = false;         // onTimeout = "approve", which GL21 refuses
  json::object args;                 // of the function
  std::int64_t graphVersion = 0;
  std::string digest;  // of the subgraph
  std::string key;     // of an ingress; empty: the run
  std::int64_t capacity = 1024;

  std::int64_t timeoutMs() const { return timeoutGivenMs.value_or(60'000); }
  bool emits(std::string_view type) const;
  // Milliseconds before attempt `attempt` + 1.
  std::int64_t backoffMs(std::int64_t attempt) const;
  std::string tool() const;  // of the sink; empty: none
  std::string undo() const;
};

struct Edge {
  std::string from;
  std::string to;
  std::string type;
  std::string as;  // the type at the target
  std::string key;
  std::string dedup;
  std::optional<std::int64_t> capacityGiven;
  std::optional<json::object> guard;  // as written; GL08 judges it
  std::string name;                   // from>to:type

  std::int64_t capacity() const { return capacityGiven.value_or(64); }
  // What a guard says that holds nothing else; nothing if the guard has another form.
  std::optional<std::int64_t> bound() const;
  std::optional<std::string> measure() const;
};

struct MessageType {
  std::string name;
  Schema schema;
  json::value source;
};

struct Document {
  std::string id;
  std::int64_t version = 1;
  std::vector<std::string> locales;
  std::optional<Budget> budget;
  std::int64_t timeoutMs = 3'600'000;
  std::int64_t horizonMs = 604'800'000;
  std::int64_t maxDeliveries = 10'000;
  bool compensates = false;  // on cancel
  std::vector<std::string> boundaries;
  std::vector<MessageType> types;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::string digest;  // SHA-256 of the canonical JSON, in hex

  // By name, once index() has run; null if there is none.
  const Node* node(std::string_view nodeId) const;
  const MessageType* type(std::string_view name) const;
  // The position of a node in the file. Requires: there is one of this id.
  std::size_t positionOf(std::string_view nodeId) const { return nodeAt_.find(nodeId)->second; }
  // Edges out of a node, in the order of the file.
  const std::vector<std::size_t>& outOf(std::string_view nodeId) const;
  const Edge* edge(std::string_view name) const;
  const std::vector<std::size_t>& into(std::string_view nodeId) const;
  void index();

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Places = std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>>;

  Places nodeAt_;
  Places typeAt_;
  std::vector<std::vector<std::size_t>> outOf_;  // by position of the node
  std::vector<std::vector<std::size_t>> into_;
};

// Check GL01. The document is null if there are findings.
struct ReadDocument {
  std::shared_ptr<const Document> document;
  std::vector<Finding> findings;
};
ReadDocument readDocument(const json::value& from);

// One document as JSON, of at most 1 MiB. Errors: invalid; a text that is no JSON, or the first finding of GL01.
Result<std::shared_ptr<const Document>> parseDocument(std::string_view text);

}  // namespace witan::graph
