#include "kernel/graph/document.h"

#include <algorithm>

#include "base/sha256.h"

namespace witan::graph {

const char* toString(NodeKind kind) {
  static constexpr std::array names{"ingress",   "egress",   "agent",    "domain",
                                    "counselor", "function", "subgraph", "market"};
  return names[std::size_t(kind)];
}

bool Node::emits(std::string_view type) const { return std::find(out.begin(), out.end(), type) != out.end(); }

std::int64_t Node::backoffMs(std::int64_t attempt) const {
  std::int64_t wait = retry.firstBackoffMs;
  for (std::int64_t n = 1; n < attempt && wait < retry.maxBackoffMs; ++n)
    wait = wait > retry.maxBackoffMs / 2 ? retry.maxBackoffMs : wait * 2;
  return std::min(wait, retry.maxBackoffMs);
}

namespace {

std::string textOf(const std::optional<json::object>& object, std::string_view member) {
  const json::value* value = object ? object->if_contains(member) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

std::string Node::tool() const { return textOf(sink, "tool"); }
std::string Node::undo() const { return textOf(sink, "undo"); }

std::optional<std::int64_t> Edge::bound() const {
  if (!guard || guard->size() != 1 || !guard->contains("bound")) return std::nullopt;
  const auto number = integerOf(guard->at("bound"));
  return number && *number >= 1 && *number <= kMaxBound ? number : std::nullopt;
}

std::optional<std::string> Edge::measure() const {
  if (!guard || guard->size() != 1) return std::nullopt;
  std::string path = textOf(guard, "measure");
  return isPath(path) ? std::optional(std::move(path)) : std::nullopt;
}

void Document::index() {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodeAt_.emplace(nodes[i].id, i);
  for (std::size_t i = 0; i < types.size(); ++i) typeAt_.emplace(types[i].name, i);
  outOf_.resize(nodes.size());
  into_.resize(nodes.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (const auto from = nodeAt_.find(edges[i].from); from != nodeAt_.end()) outOf_[from->second].push_back(i);
    if (const auto to = nodeAt_.find(edges[i].to); to != nodeAt_.end()) into_[to->second].push_back(i);
  }
}

const Node* Document::node(std::string_view nodeId) const {
  const auto at = nodeAt_.find(nodeId);
  return at == nodeAt_.end() ? nullptr : &nodes[at->second];
}

const MessageType* Document::type(std::string_view name) const {
  const auto at = typeAt_.find(name);
  return at == typeAt_.end() ? nullptr : &types[at->second];
}

const Edge* Document::edge(std::string_view name) const {
  const auto from = nodeAt_.find(name.substr(0, name.find('>')));
  if (from == nodeAt_.end()) return nullptr;
  for (const std::size_t at : outOf_[from->second])
    if (edges[at].name == name) return &edges[at];
  return nullptr;
}

const std::vector<std::size_t>& Document::outOf(std::string_view nodeId) const { return outOf_[positionOf(nodeId)]; }
const std::vector<std::size_t>& Document::into(std::string_view nodeId) const { return into_[positionOf(nodeId)]; }

}  // namespace witan::graph
