// What a run was given stands in the first entry of its transcript. A look that passes it on (the question to a mind
// has the memory of its agent) is recorded without it, and with the places where it stood, so that it stands there
// once.
//
//   "arguments"  with null in its place, or, of a text that has it as JSON, without it
//   "spared"     [{"at": [member or index, ...], "of": member of the input, "from"?: byte of the text}]
//
// Pure functions; any thread.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace witan::agents::episode {

// Moves `body`'s member "arguments" to that form, where the input of the run has something in it. O(arguments + input).
void spare(json::object& body, const json::object& input);

// The arguments of an announced call, whole. `begin`: body of the first entry. Errors: corrupt, a place that is none.
Result<json::object> wholeArguments(const json::object& begin, const json::object& call);

}  // namespace witan::agents::episode
