// Field paths: how a policy names the fields of a JSON payload.
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

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace witan::agents
