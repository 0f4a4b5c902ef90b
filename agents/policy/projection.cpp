#include "agents/policy/projection.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <set>

#include "base/json.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

using Index = Allowlist::Index;
using Node = Allowlist::Node;

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '$' || c == '@';
}

bool plainWord(std::string_view key) {
  for (const char c : key)
    if (!plain(c)) return false;
  return !key.empty();
}

void appendKey(std::string& out, std::string_view key) {
  if (!out.empty()) out += '.';
  if (plainWord(key))
    out += key;
  else
    appendJsonString(out, key);
}

// The JSON string that `text` begins with, quotes included; empty if it has no end.
std::string_view quotedAt(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return text.substr(0, i + 1);
  }
  return {};
}

class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<FieldPath> parse() {
    if (text_.size() > kMaxPathBytes) return invalid(concat("a field path of more than ", kMaxPathBytes, " bytes"));
    if (text_.empty()) return invalid("an empty field path", "name a field, as in \"patient.id\"");
    while (at_ < text_.size()) {
      if (path_.size() == kMaxPathSteps) return invalid(concat("a field path of more than ", kMaxPathSteps, " steps"));
      WITAN_DO(step());
    }
    return std::move(path_);
  }

 private:
  Error wrong(const std::string& what) const {
    return invalid(concat("field path ", inQuotes(text_), ": ", what, " at byte ", at_),
                   "write names joined by '.', [] for the elements of a list, \"...\" around unusual names");
  }

  Status step() {
    if (text_[at_] == '[') {
      if (text_.substr(at_, 2) != "[]") return wrong("expected []");
      at_ += 2;
      path_.push_back({true, {}});
      return okStatus();
    }
    if (!path_.empty()) {
      if (text_[at_] != '.') return wrong("expected '.' or []");
      if (++at_ == text_.size()) return wrong("a name is missing");
    }
    return text_[at_] == '"' ? quoted() : word();
  }

  Status word() {
    std::size_t end = at_;
    while (end < text_.size() && plain(text_[end])) ++end;
    if (end == at_) return wrong("expected a name");
    path_.push_back({false, std::string(text_.substr(at_, end - at_))});
    at_ = end;
    return okStatus();
  }

  Status quoted() {
    const std::string_view literal = quotedAt(text_.substr(at_));
    if (literal.empty()) return wrong("a name without closing quote");
    auto key = parseJson(literal);
    if (!key.ok()) return wrong(key.error().message);
    path_.push_back({false, std::string(key->get_string())});
    at_ += literal.size();
    return okStatus();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  FieldPath path_;
};

auto placeOf(const Allowlist::Node& node, std::string_view key) {
  return std::ranges::lower_bound(node.members, key, {}, [](const auto& m) { return std::string_view(m.first); });
}

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
  return node.scalar && (!node.masked || isMask(v) || mutated("anyMask"));
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

Result<FieldPath> parseFieldPath(std::string_view text) { return PathParser(text).parse(); }

std::string fieldPathText(const FieldPath& path) {
  std::string out;
  for (const PathStep& step : path) {
    if (step.element)
      out += "[]";
    else
      appendKey(out, step.key);
  }
  return out.empty() ? "." : out;
}

std::string withMember(std::string_view base, std::string_view key) {
  std::string out(base);
  const std::string_view shown = clip(key);
  appendKey(out, shown);
  if (shown.size() < key.size()) out += "...";
  return out;
}

std::string withElement(std::string_view base) { return concat(base, "[]"); }

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
    list.nodes_[at].masked = true;
  }
  return list;
}

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
  return count > names.size() ? concat(out, " and ", count - names.size(), " more") : out;
}

}  // namespace witan::agents
