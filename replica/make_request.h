// Requests from JSON, as people and agents write them. Pure functions.
#pragma once

#include <string>

#include "base/json.h"
#include "replica/core/messages.h"

namespace witan::node {

// A proposal of `action` ({"type":...}), encoded as the owner decodes it. Errors: an action the domain does not know,
// arguments it cannot read.
Result<Request> proposalRequest(const kernel::DomainModule& module, std::string entity, std::string role,
                                std::string operationId, const json::value& action);
// The beginning of an entity, with the fields it names.
Request initRequest(const kernel::DomainModule& module, std::string entity, std::string operationId,
                    const json::value& fields);

}  // namespace witan::node
