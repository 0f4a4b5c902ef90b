// An operation: one verb on a device's replicated data, as a plain function from a request to a response. Both are
// reflected structs. The CLI runs it on a directory that it opens, the control API on the running node's replica
// (node/api/control_routes.cpp). An operation prints nothing. Its response may be sent after
// OperationContext::flush().
//
// Main thread only. What the context refers to outlives the call.
#pragma once

#include <filesystem>
#include <functional>
#include <map>

#include "base/message.h"
#include "base/time.h"
#include "replication/local_replica.h"

namespace witan::agents {
class AgentHost;
}

namespace witan::node {

class Replica;

namespace operations {

inline constexpr const char* kDefaultScope = "main";
inline constexpr const char* kScopeNote = "Scope of the database; default: main";

// Of operations on all records of a kind.
WITAN_STRUCT(ScopeRequest, (Omittable<std::string>, scope, kScopeNote))

struct OperationContext {
  const std::filesystem::path& dir;
  replication::LocalReplica& replica;
  Time now;
  std::function<Status()> flush;
  Replica* node = nullptr;                     // with its ledgers, where it is open
  agents::AgentHost* agents = nullptr;         // at work on this replica; null: none
  std::map<std::string, std::string> names{};  // of devices, by id, as the roster has them

  std::int64_t nowMs() const { return now.micros / 1000; }
  // The scope in a database. Null: it has no record.
  replication::Space* space(replication::DatabaseName database, const Omittable<std::string>& scope) {
    return replica.database(database).find(scope.value_or(kDefaultScope));
  }
};

// Named by its route.
template <class Request, class Response>
struct Operation {
  const char* method;
  const char* path;
  Result<Response> (*run)(OperationContext&, const Request&);
};

}  // namespace operations
}  // namespace witan::node
