// What a state of the domains disclosure, verification, moderation and joint must be, read from the rules' text and not
// from domains/, so that a rule which the code has lost is missed. Only on the state as JSON, with the default policies
// (which are the simulator's). Not every rule: of each domain those that a state shows by itself.
//
// For states in which every invariant holds: after an approval, or a commit that was recorded as safe. Pure; any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace witan::sim {

// "" or what is wrong with it. Of other domains nothing is known. O(state log state).
std::string checkDomainState(std::string_view domain, const json::object& state);

}  // namespace witan::sim
