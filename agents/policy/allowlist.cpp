#include "agents/policy/allowlist.h"

#include <algorithm>

namespace witan::agents {

namespace {

auto placeOf(const Allowlist::Node& node, std::string_view key) {
  return std::lower_bound(node.members.begin(), node.members.end(), key,
                          [](const auto& member, std::string_view k) { return member.first < k; });
}

}  // namespace

Allowlist::Index Allowlist::member(const Node& node, std::string_view key) const {
  const auto at = placeOf(node, key);
  return at != node.members.end() && at->first == key ? at->second : kNone;
}

Allowlist::Index Allowlist::childOf(Index parent, const PathStep& step) const {
  return step.element ? nodes_[parent].element : member(nodes_[parent], step.key);
}

Allowlist::Index Allowlist::childMade(Index parent, const PathStep& step) {
  if (const Index child = childOf(parent, step); child != kNone) return child;
  const auto child = static_cast<Index>(nodes_.size());
  nodes_.emplace_back();
  Node& node = nodes_[parent];
  if (step.element)
    node.element = child;
  else
    node.members.emplace(placeOf(node, step.key), step.key, child);
  return child;
}

Allowlist::Index Allowlist::find(const FieldPath& path) const {
  Index at = kRoot;
  for (const PathStep& step : path) {
    at = childOf(at, step);
    if (at == kNone) break;
  }
  return at;
}

bool Allowlist::allowsScalar(const FieldPath& path) const {
  const Index at = find(path);
  return at != kNone && nodes_[at].scalar;
}

Result<Allowlist> Allowlist::compile(std::span<const std::string> allow, std::span<const std::string> mask) {
  Allowlist list;
  for (const std::string& text : allow) {
    WITAN_TRY(path, parseFieldPath(text));
    Index at = kRoot;
    for (const PathStep& step : path) at = list.childMade(at, step);
    if (list.nodes_[at].scalar) return invalid("the field " + fieldPathText(path) + " is allowed twice");
    list.nodes_[at].scalar = true;
  }
  for (const std::string& text : mask) {
    WITAN_TRY(path, parseFieldPath(text));
    const Index at = list.find(path);
    if (at == kNone || !list.nodes_[at].scalar)
      return invalid("the field " + fieldPathText(path) + " is masked and not allowed",
                     "what is not allowed does not go at all: leave it out, or allow it");
    if (list.nodes_[at].masked) return invalid("the field " + fieldPathText(path) + " is masked twice");
    list.nodes_[at].masked = list.hasMasks_ = true;
  }
  return list;
}

}  // namespace witan::agents
