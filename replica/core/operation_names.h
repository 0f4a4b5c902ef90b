// Operation ids that this program makes from what others can see: of an answer of a counselor from its question, of a
// step of a saga from its run. Others could come first with such an id, and then the act that it belongs to could never
// be made: of an answer, its entity would be frozen for good. So each such name space belongs to one kind of act, and
// no other act may have an id of it.
//
// Pure but for the Random, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.h"
#include "replica/core/messages.h"

namespace witan::node {

// Errors: invalid, the id belongs to acts of another kind.
Status checkName(const Request& request);

// Of an id that a program or a person has chosen for a proposal. Errors: invalid, it is of such a name space.
Status checkChosenName(std::string_view operationId);

// One that nobody knows before: the prefix, and 32 hex digits.
std::string drawnName(std::string_view prefix, Random& random);

}  // namespace witan::node
