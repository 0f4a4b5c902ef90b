// NEED_TO_KNOW: the projection pi of seed 003 section 9.1. fields(pi(x)) is a subset of allowlist(b, o, version).
//
// fields(x) are the paths of x's scalars, and of its empty or filled containers where the allowlist has no path through
// a container. So an object passes where some allowed path goes through a member, a list where one goes through an
// element; an empty payload ({} or [] or null) has no fields. Pure functions of both arguments, any thread. The walk
// goes as deep as the allowlist, whatever the payload's depth.
#pragma once

#include <string>
#include <vector>

#include "agents/policy/allowlist.h"
#include "base/json.h"

namespace witan::agents {

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

// What project() would leave out, without making the rest. O(payload).
NamedFields fieldsBeyond(const Allowlist& allowed, const json::value& payload);

}  // namespace witan::agents
