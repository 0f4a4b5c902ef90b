#include "agents/policy/projection.h"

#include <boost/container/small_vector.hpp>
#include <set>

namespace witan::agents {

namespace {

using Index = Allowlist::Index;
using Node = Allowlist::Node;

// Nothing is there, so nothing is shown.
bool emptyPayload(const json::value& v) {
  return v.is_null() || (v.is_object() && v.get_object().empty()) || (v.is_array() && v.get_array().empty());
}

bool isMask(const json::value& v) { return v.is_string() && std::string_view(v.get_string()) == kMask; }

bool conformsAt(const Allowlist& allowed, const Node& node, const json::value& v) {
  if (v.is_object()) {
    if (node.members.empty()) return false;
    for (const auto& item : v.get_object()) {
      const Index child = allowed.member(node, item.key());
      if (child == Allowlist::kNone || !conformsAt(allowed, allowed.node(child), item.value())) return false;
    }
    return true;
  }
  if (v.is_array()) {
    if (node.element == Allowlist::kNone) return false;
    const Node& element = allowed.node(node.element);
    for (const json::value& item : v.get_array())
      if (!conformsAt(allowed, element, item)) return false;
    return true;
  }
  return node.scalar && (!node.masked || isMask(v));
}

// Different names; the first ones in byte order are shown, whatever the order of the payload's members.
class Names {
 public:
  void add(std::string name) { names_.insert(std::move(name)); }
  NamedFields take() const {
    NamedFields out{{}, names_.size()};
    for (const std::string& name : names_) {
      if (out.names.size() == kMaxNamedFields) break;
      out.names.push_back(name);
    }
    return out;
  }

 private:
  std::set<std::string> names_;
};

class Projector {
 public:
  explicit Projector(const Allowlist& allowed) : allowed_(allowed) {}

  // False: nothing of `v` may stay. `into` may be null: names only.
  bool keep(const Node& node, const json::value& v, json::value* into) {
    if (v.is_object() && !node.members.empty()) return keepObject(node, v.get_object(), into);
    if (v.is_array() && node.element != Allowlist::kNone) return keepArray(node, v.get_array(), into);
    if (v.is_object() || v.is_array() || !node.scalar) {
      leftOut_.add(place());
      return false;
    }
    const bool mask = node.masked && !isMask(v);
    if (mask) masked_.add(place());
    if (into != nullptr && mask) *into = json::value(kMask);
    if (into != nullptr && !mask) *into = v;
    return true;
  }

  NamedFields leftOut() const { return leftOut_.take(); }
  Projection finish(json::value payload) const { return {std::move(payload), leftOut_.take(), masked_.take()}; }

 private:
  struct Step {
    bool element;
    std::string_view key;
  };

  bool keepObject(const Node& node, const json::object& from, json::value* into) {
    json::object* out = into == nullptr ? nullptr : &into->emplace_object();
    if (out != nullptr) out->reserve(from.size());
    for (const auto& item : from) {
      steps_.push_back({false, item.key()});
      const Index child = allowed_.member(node, item.key());
      if (child == Allowlist::kNone) {
        leftOut_.add(place());
      } else if (conformsAt(allowed_, allowed_.node(child), item.value())) {
        if (out != nullptr) out->emplace(item.key(), item.value());  // all of it at once
      } else {
        json::value kept;
        if (keep(allowed_.node(child), item.value(), out == nullptr ? nullptr : &kept) && out != nullptr)
          out->emplace(item.key(), std::move(kept));
      }
      steps_.pop_back();
    }
    return true;
  }

  bool keepArray(const Node& node, const json::array& from, json::value* into) {
    json::array* out = into == nullptr ? nullptr : &into->emplace_array();
    if (out != nullptr) out->reserve(from.size());
    steps_.push_back({true, {}});
    for (const json::value& item : from) {
      json::value kept;
      if (keep(allowed_.node(node.element), item, out == nullptr ? nullptr : &kept) && out != nullptr)
        out->push_back(std::move(kept));
    }
    steps_.pop_back();
    return true;
  }

  // Where the walk is, put together only when it is told.
  std::string place() const {
    std::string out;
    for (const Step& step : steps_) out = step.element ? withElement(out) : withMember(out, step.key);
    return out.empty() ? "." : out;
  }

  const Allowlist& allowed_;
  boost::container::small_vector<Step, 16> steps_;
  Names leftOut_, masked_;
};

}  // namespace

bool conforms(const Allowlist& allowed, const json::value& payload) {
  return emptyPayload(payload) || conformsAt(allowed, allowed.node(Allowlist::kRoot), payload);
}

Projection project(const Allowlist& allowed, const json::value& payload) {
  Projector projector(allowed);
  json::value kept;
  if (emptyPayload(payload))
    kept = payload;
  else
    projector.keep(allowed.node(Allowlist::kRoot), payload, &kept);
  return projector.finish(std::move(kept));
}

NamedFields fieldsBeyond(const Allowlist& allowed, const json::value& payload) {
  Projector projector(allowed);
  if (!emptyPayload(payload)) projector.keep(allowed.node(Allowlist::kRoot), payload, nullptr);
  return projector.leftOut();
}

std::string NamedFields::words() const {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return count > names.size() ? out + " and " + std::to_string(count - names.size()) + " more" : out;
}

}  // namespace witan::agents
