// Allowlist: the field paths of one (boundary, operation), compiled into a tree that is walked beside a payload.
//
// Immutable after compile(); may be read from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy/field_path.h"
#include "base/result.h"

namespace witan::agents {

class Allowlist {
 public:
  // Errors: as parseFieldPath; a path given twice; a masked path that is not allowed.
  static Result<Allowlist> compile(std::span<const std::string> allow, std::span<const std::string> mask);

  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffff'ffff;
  static constexpr Index kRoot = 0;

  // One place in a payload.
  struct Node {
    bool scalar = false;  // a text, number, truth value or null may stand here
    bool masked = false;  // but not be seen
    Index element = kNone;
    std::vector<std::pair<std::string, Index>> members;  // by name
  };

  const Node& node(Index index) const { return nodes_[index]; }
  // kNone: nothing is allowed there. O(log members).
  Index member(const Node& node, std::string_view key) const;
  bool hasMasks() const { return hasMasks_; }

  bool allowsScalar(const FieldPath& path) const;

 private:
  Index childOf(Index parent, const PathStep& step) const;
  Index childMade(Index parent, const PathStep& step);
  Index find(const FieldPath& path) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  bool hasMasks_ = false;
};

}  // namespace witan::agents
