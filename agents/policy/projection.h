// Field paths, by which a policy names the fields of a JSON payload; Allowlist, which compiles them; and the projection
// of a payload to an allowlist.
//
//   patient.id            the member "id" of the member "patient"
//   messages[].content    the member "content" of each element of the list "messages"
//   tags[]                each element of the list "tags"; "[].id" if the payload itself is a list
//   "a.b"."".x            members whose names are no plain words: JSON strings
//
// A path names scalars (texts, numbers, true, false, null) and nothing beneath them: there are no wildcards, and
// allowing "patient" does not allow "patient.name". Names are compared byte by byte after JSON's escapes, without
// Unicode normalisation. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace witan::agents {

inline constexpr std::size_t kMaxPathSteps = 32;
inline constexpr std::size_t kMaxPathBytes = 1'024;

struct PathStep {
  bool element = false;  // of a list
  std::string key;       // else: the member of that name
  friend auto operator<=>(const PathStep&, const PathStep&) = default;
};
using FieldPath = std::vector<PathStep>;

// Errors: invalid, with the byte offset.
Result<FieldPath> parseFieldPath(std::string_view text);

// The shortest text that reads back as this path; "." for no step, the payload itself.
std::string fieldPathText(const FieldPath& path);

// For people: `base` with one more step, long names cut.
std::string withMember(std::string_view base, std::string_view key);
std::string withElement(std::string_view base);

// The field paths of one (boundary, operation), compiled into a tree that is walked beside a payload. Immutable after
// compile(); any thread may read it.
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

  bool allowsScalar(const FieldPath& path) const;

 private:
  Index childOf(Index parent, const PathStep& step) const;
  Index childMade(Index parent, const PathStep& step);
  Index find(const FieldPath& path) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

// --- NEED_TO_KNOW: the projection pi of seed 003 section 9.1. fields(pi(x)) is a subset of allowlist(b, o, version).
//
// fields(x) are the paths of x's scalars, and of its empty or filled containers where the allowlist has no path through
// a container. So an object passes where some allowed path goes through a member, a list where one goes through an
// element; an empty payload ({} or [] or null) has no fields. Pure functions of both arguments, any thread. The walk
// goes as deep as the allowlist, whatever the payload's depth.

inline constexpr std::size_t kMaxNamedFields = 16;
inline constexpr std::string_view kMask = "[redacted]";

// Whether fields(payload) is a subset of the allowlist and what is to be masked is masked: then project() would change
// nothing. Allocates nothing. O(payload).
bool conforms(const Allowlist& allowed, const json::value& payload);

// Up to kMaxNamedFields names, the first ones in byte order, and how many different ones there were.
struct NamedFields {
  std::vector<std::string> names;
  std::uint64_t count = 0;
  std::string words() const;  // "a, b[].c and 3 more"
};

struct Projection {
  json::value payload;
  NamedFields leftOut;
  NamedFields masked;
};

// Keeps what is allowed, in its order; elements of lists that are of a wrong kind go as a whole. Idempotent.
// O(payload * objects inside each other where something is left out).
Projection project(const Allowlist& allowed, const json::value& payload);

// The fields that project() would leave out, without making the rest. O(payload).
NamedFields fieldsBeyond(const Allowlist& allowed, const json::value& payload);

}  // namespace witan::agents
