// Check GL01: the form of a document. Each finding names its place; reading goes on after one.
#include <algorithm>
#include <set>

#include "base/identity.h"
#include "base/sha256.h"
#include "kernel/graph/document.h"

namespace witan::graph {

namespace {

constexpr std::size_t kMaxWhat = 4096;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// One table of the document. Every member that a reader asks for is known; close() refuses the others. Names of members
// are literals.
class Table {
 public:
  Table(json::value&&, std::string, std::vector<Finding>&) = delete;
  Table(const json::value& from, std::string place, std::vector<Finding>& findings)
      : object_(from.if_object()), place_(std::move(place)), findings_(findings) {
    if (object_ == nullptr) bad("", "a table is expected");
  }

  void bad(std::string_view member, std::string message) {
    findings_.push_back({"GL01", member.empty() ? place_ : place_ + "." + std::string(member), std::move(message)});
  }

  const json::value* get(std::string_view member, bool needed = false) {
    known_.push_back(member);
    if (object_ == nullptr) return nullptr;
    const json::value* value = object_->if_contains(member);
    if (value == nullptr && needed) bad(member, "is missing");
    return value;
  }

  void id(std::string_view member, std::string& into, bool needed = false) {
    if (const json::value* value = get(member, needed)) {
      if (value->is_string() && validateId("id", std::string_view(value->get_string())).ok())
        into = value->get_string();
      else
        bad(member, "an id is expected: [A-Za-z0-9._:@/+-]{1,256}");
    }
  }

  void ids(std::string_view member, std::vector<std::string>& into, bool needed = false) {
    const json::value* value = get(member, needed);
    if (value == nullptr) return;
    std::set<std::string> seen;
    const json::array* list = value->if_array();
    bool right = list != nullptr && list->size() <= kMaxIdsInList;
    for (std::size_t i = 0; right && i < list->size(); ++i) {
      const json::value& item = (*list)[i];
      right = item.is_string() && validateId("id", std::string_view(item.get_string())).ok() &&
              seen.emplace(item.get_string()).second;
      if (right) into.emplace_back(item.get_string());
    }
    if (!right) bad(member, "a list of at most 256 different ids is expected");
  }

  void integer(std::string_view member, std::int64_t& into, std::int64_t least, std::int64_t most = kNoLimit,
               bool needed = false) {
    const json::value* value = get(member, needed);
    if (value == nullptr) return;
    const auto number = integerOf(*value);
    if (number && *number >= least && *number <= most)
      into = *number;
    else
      bad(member, "an integer from " + std::to_string(least) +
                      (most == kNoLimit ? " is expected" : " to " + std::to_string(most) + " is expected"));
  }

  void path(std::string_view member, std::string& into) {
    if (const json::value* value = get(member)) {
      if (value->is_string() && isPath(value->get_string()))
        into = value->get_string();
      else
        bad(member, "the path of a field is expected");
    }
  }

  // One of two words; `into` becomes whether it is the second.
  void choice(std::string_view member, std::string_view first, std::string_view second, bool& into) {
    const json::value* value = get(member);
    if (value == nullptr) return;
    const json::string* text = value->if_string();
    if (text == nullptr || (*text != first && *text != second))
      bad(member, std::string(first) + " or " + std::string(second) + " is expected");
    else
      into = *text == second;
  }

  void what() {
    const json::value* value = get("what");
    if (value != nullptr && (!value->is_string() || codePoints(value->get_string()) > kMaxWhat))
      bad("what", "a text of at most 4096 characters is expected");
  }

  std::optional<json::object> object(std::string_view member) {
    const json::value* value = get(member);
    if (value == nullptr) return std::nullopt;
    if (value->is_object()) return value->get_object();
    bad(member, "a table is expected");
    return std::nullopt;
  }

  void close() {
    if (object_ == nullptr) return;
    for (const auto& member : *object_)
      if (std::find(known_.begin(), known_.end(), std::string_view(member.key())) == known_.end())
        bad(std::string_view(member.key()).substr(0, 64), "unknown member");
  }

  bool has(std::string_view member) const { return object_ != nullptr && object_->contains(member); }
  // `from` must outlive the table.
  Table inner(json::value&&, std::string_view) = delete;
  Table inner(const json::value& from, std::string_view member) {
    return Table(from, place_ + "." + std::string(member), findings_);
  }

 private:
  const json::object* object_;
  std::string place_;
  std::vector<Finding>& findings_;
  std::vector<std::string_view> known_;
};

Budget readBudget(Table& table) {
  Budget budget;
  const json::value* value = table.get("budget");
  if (value == nullptr) return budget;
  Table inner = table.inner(*value, "budget");
  for (const char* member : {"steps", "tokens", "seconds"})
    if (inner.has(member)) inner.integer(member, budget[member], 0);
  inner.close();
  return budget;
}

bool isResource(std::string_view text) {
  if (text == "*") return true;
  if (text.ends_with(".*")) text.remove_suffix(2);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c == '.' || isName({&c, 1}); });
}

void readCapabilities(Table& table, std::vector<NodeCapability>& into) {
  const json::value* value = table.get("capabilities");
  if (value == nullptr) return;
  if (!value->is_array() || value->get_array().size() > kMaxIdsInList)
    return table.bad("capabilities", "a list of at most 256 is expected");
  for (const json::value& item : value->get_array()) {
    Table inner = table.inner(item, "capabilities[" + std::to_string(into.size()) + "]");
    NodeCapability capability;
    std::vector<std::string> scope;
    if (const json::value* resource = inner.get("resource", true)) {
      if (resource->is_string() && isResource(resource->get_string()))
        capability.resource = resource->get_string();
      else
        inner.bad("resource", "a tool, a family of tools (name.*) or * is expected");
    }
    inner.integer("uses", capability.uses, 0);
    inner.ids("targets", capability.targets);
    inner.ids("locales", scope);
    if (!scope.empty()) capability.locales = std::move(scope);
    inner.close();
    into.push_back(std::move(capability));
  }
}

void readRetry(Table& table, RetryRule& into) {
  const json::value* value = table.get("retry");
  if (value == nullptr) return;
  Table inner = table.inner(*value, "retry");
  inner.integer("maxAttempts", into.maxAttempts, 1, kMaxAttempts);
  inner.integer("firstBackoffMs", into.firstBackoffMs, 1);
  inner.integer("maxBackoffMs", into.maxBackoffMs, 1);
  inner.close();
}

void readCrossing(Table& table, std::optional<Crossing>& into) {
  const json::value* value = table.get("monitor");
  if (value == nullptr) return;
  Table inner = table.inner(*value, "monitor");
  into.emplace();
  inner.id("boundary", into->boundary, true);
  inner.id("operation", into->operation, true);
  inner.close();
}

// What is wrong with it; empty: nothing.
std::string readTriggerOf(const json::object& from, Trigger& into) {
  for (const auto& member : from)
    if (member.key() != "source" && member.key() != "match")
      return "unknown member " + std::string(member.key().substr(0, 64));
  const json::value *source = from.if_contains("source"), *match = from.if_contains("match");
  const auto known = source == nullptr     ? std::optional(TriggerSource::manual)
                     : source->is_string() ? parseEnum<TriggerSource>(source->get_string())
                                           : std::nullopt;
  if (!known) return "source: manual, journal, ledger or market is expected";
  const bool ledger = *known == TriggerSource::ledger, matches = ledger || *known == TriggerSource::journal;
  const std::string_view text = match != nullptr && match->is_string() ? match->get_string() : std::string_view();
  if (matches != (match != nullptr) || (matches && (text.empty() || text.size() > kMaxIdBytes)))
    return "match: a text of 1 to 256 bytes is expected of journal and ledger, and nothing else";
  into = {*known, std::string(text.substr(0, ledger ? text.find(' ') : text.npos)), "", ""};
  if (const std::size_t at = into.match.size(); at < text.size()) {
    const std::size_t equals = std::min(text.find('=', at), text.size());
    into.field = text.substr(at + 1, equals - at - 1);
    into.value = text.substr(std::min(equals + 1, text.size()));
    if (into.field.empty() || into.value.empty()) return "match: DOMAIN or DOMAIN FIELD=VALUE is expected";
  }
  return {};
}

// The checks take any table, as the reference model does. What is no trigger becomes a manual one that says why in
// `match`: it may not be deployed.
void readTrigger(Table& table, std::optional<Trigger>& into) {
  const auto from = table.object("trigger");
  if (!from) return;
  if (std::string wrong = readTriggerOf(*from, into.emplace()); !wrong.empty())
    into = Trigger{TriggerSource::manual, std::move(wrong), "", ""};
}

void readSink(Table& table, Node& node) {
  node.sink = table.object("sink");
  if (!node.sink || node.kind != NodeKind::egress) return;  // elsewhere it is GL10
  const json::value sink = *node.sink;
  Table inner = table.inner(sink, "sink");
  std::string name;
  inner.id("tool", name, true);
  inner.id("undo", name);
  inner.close();
}

bool isScalar(const json::value& value) { return value.is_string() || value.is_bool() || integerOf(value); }

void readCases(Table& args) {
  const json::value* cases = args.get("cases", true);
  if (cases == nullptr) return;
  bool right = cases->is_object() && !cases->get_object().empty();
  if (right)
    for (const auto& one : cases->get_object())
      right = right && one.value().is_string() && validateId("type", std::string_view(one.value().get_string())).ok();
  if (!right) args.bad("cases", "a table from values to types is expected");
}

void readArguments(Table& table, const Node& node) {
  const json::value given = node.args;
  Table args = table.inner(given, "args");
  std::string path;
  std::vector<std::string> fields;
  std::int64_t count = 0;
  const auto field = [&](std::string_view name) {
    args.get(name, true);
    args.path(name, path);
  };
  if (node.name == "pick") {
    args.ids("fields", fields, true);
  } else if (node.name == "filter") {
    field("field");
    const json::value* equals = args.get("equals", true);
    if (equals != nullptr && !isScalar(*equals)) args.bad("equals", "a text, an integer or a truth value is expected");
  } else if (node.name == "switch") {
    field("field");
    readCases(args);
  } else if (node.name == "split" || node.name == "decrement") {
    field("field");
  } else if (node.name == "collect") {
    field("field");
    args.integer("count", count, 1, kNoLimit, true);
  } else if (node.name != "identity") {
    table.bad("function", "unknown function");
  }
  args.close();
}

// Members that only some kinds have.
void readOwnMembers(Table& table, Node& node) {
  switch (node.kind) {
    case NodeKind::ingress:
      table.path("key", node.key);
      table.integer("capacity", node.capacity, 1);
      break;
    case NodeKind::egress: break;
    case NodeKind::agent:
      table.id("agent", node.name, true);
      table.id("version", node.version, true);
      break;
    case NodeKind::domain:
      table.id("domain", node.name, true);
      table.id("role", node.role, true);
      break;
    case NodeKind::counselor:
      table.ids("who", node.who);
      table.choice("onTimeout", "deny", "approve", node.timeApproves);
      break;
    case NodeKind::function:
      table.id("function", node.name, true);
      if (auto args = table.object("args")) node.args = std::move(*args);
      if (!node.name.empty()) readArguments(table, node);
      break;
    case NodeKind::subgraph:
      table.id("graph", node.name, true);
      table.integer("graphVersion", node.graphVersion, 1, kNoLimit, true);
      table.id("digest", node.digest, true);
      if (!node.digest.empty() && !hashFromHex(node.digest).ok()) table.bad("digest", "64 hex digits are expected");
      break;
    case NodeKind::market:
      table.id("capability", node.name, true);
      if (auto terms = table.object("terms")) node.args = std::move(*terms);
      break;
  }
}

// Whether the kind is known, and with it which members the node may have.
bool readKind(Table& table, Node& node) {
  const json::value* value = table.get("kind", true);
  if (value == nullptr) return false;
  for (int i = 0; i <= int(NodeKind::market); ++i)
    if (value->is_string() && value->get_string() == toString(NodeKind(i))) {
      node.kind = NodeKind(i);
      readOwnMembers(table, node);
      return true;
    }
  table.bad("kind", "ingress, egress, agent, domain, counselor, function, subgraph or market is expected");
  return false;
}

Node readNode(const json::value& from, const std::string& place, std::vector<Finding>& findings) {
  Node node;
  Table table(from, place, findings);
  table.id("id", node.id, true);
  table.what();
  const bool known = readKind(table, node);
  if (table.has("locales")) table.ids("locales", node.locales.emplace());
  node.budget = readBudget(table);
  readCapabilities(table, node.capabilities);
  if (table.has("timeoutMs")) table.integer("timeoutMs", node.timeoutGivenMs.emplace(), 1);
  readRetry(table, node.retry);
  table.integer("concurrency", node.concurrency, 1);
  table.integer("maxOut", node.maxOut, 1);
  if (node.kind != NodeKind::ingress) table.ids("in", node.in, known);
  if (node.kind != NodeKind::egress) table.ids("out", node.out, known);
  if (node.kind == NodeKind::ingress && table.has("out") && node.out.size() != 1)
    table.bad("out", "an ingress has one type");
  readCrossing(table, node.monitor);
  readTrigger(table, node.trigger);
  readSink(table, node);
  if (known) table.close();
  return node;
}

Edge readEdge(const json::value& from, const std::string& place, std::vector<Finding>& findings) {
  Edge edge;
  Table table(from, place, findings);
  table.id("from", edge.from, true);
  table.id("to", edge.to, true);
  table.id("type", edge.type, true);
  edge.as = edge.type;
  table.id("as", edge.as);
  table.path("key", edge.key);
  table.path("dedup", edge.dedup);
  if (table.has("capacity")) table.integer("capacity", edge.capacityGiven.emplace(), 1);
  edge.guard = table.object("guard");
  table.close();
  edge.name = edge.from + ">" + edge.to + ":" + edge.type;
  return edge;
}

MessageType readType(const json::value& from, const std::string& place, std::vector<Finding>& findings) {
  MessageType type;
  Table table(from, place, findings);
  table.id("name", type.name, true);
  if (const json::value* schema = table.get("schema", true)) {
    auto read = readSchema(*schema, place + ".schema");
    if (!read.ok())
      table.bad("schema", read.error().message);
    else if (read->kind != Schema::Kind::object)
      table.bad("schema", "the top of a type is an object");
    else
      type.schema = *std::move(read);
    type.source = *schema;
  }
  table.close();
  return type;
}

const json::value kNull;
const json::value& orNull(const json::value* value) { return value != nullptr ? *value : kNull; }

void readHead(const json::value* from, Document& document, std::vector<Finding>& findings) {
  Table table(orNull(from), "graph", findings);
  std::int64_t format = 1;
  table.id("id", document.id, true);
  table.integer("version", document.version, 1, kNoLimit, true);
  table.integer("format", format, 1, 1, true);
  table.what();
  table.ids("locales", document.locales);
  if (table.has("budget")) document.budget = readBudget(table);
  table.get("budget");
  table.integer("timeoutMs", document.timeoutMs, 1);
  table.integer("horizonMs", document.horizonMs, 1);
  table.integer("maxDeliveries", document.maxDeliveries, 1);
  table.choice("onCancel", "keep", "compensate", document.compensates);
  table.close();
}

template <class T>
void readList(const json::value* from, const char* name, std::size_t most, std::vector<T>& into,
              T (*read)(const json::value&, const std::string&, std::vector<Finding>&),
              std::vector<Finding>& findings) {
  const json::array* list = from != nullptr ? from->if_array() : nullptr;
  if (list == nullptr || list->empty() || list->size() > most) {
    findings.push_back({"GL01", name, "1 to " + std::to_string(most) + " are expected"});
    return;
  }
  for (const json::value& item : *list)
    into.push_back(read(item, std::string(name) + "[" + std::to_string(into.size()) + "]", findings));
}

}  // namespace

ReadDocument readDocument(const json::value& from) {
  std::vector<Finding> findings;
  if (!from.is_object()) return {nullptr, {{"GL01", "", "a table is expected"}}};
  const json::object& top = from.get_object();
  for (const auto& member : top)
    if (member.key() != "graph" && member.key() != "monitor" && member.key() != "type" && member.key() != "node" &&
        member.key() != "edge")
      findings.push_back({"GL01", std::string(member.key().substr(0, 64)), "unknown section"});
  auto document = std::make_shared<Document>();
  readHead(top.if_contains("graph"), *document, findings);
  const json::value* monitor = top.if_contains("monitor");
  Table table(orNull(monitor), "monitor", findings);
  table.ids("boundaries", document->boundaries, true);
  table.close();
  readList(top.if_contains("type"), "type", kMaxTypes, document->types, readType, findings);
  readList(top.if_contains("node"), "node", kMaxNodes, document->nodes, readNode, findings);
  readList(top.if_contains("edge"), "edge", kMaxEdges, document->edges, readEdge, findings);
  if (!findings.empty()) return {nullptr, std::move(findings)};
  document->digest = toHex(sha256(canonicalJson(from)));
  document->index();
  return {std::move(document), {}};
}

Result<std::shared_ptr<const Document>> parseDocument(std::string_view text) {
  WITAN_TRY(value, parseJson(text));
  ReadDocument read = readDocument(value);
  if (read.document) return read.document;
  return invalid("GL01: " + read.findings[0].place + ": " + read.findings[0].message);
}

}  // namespace witan::graph
