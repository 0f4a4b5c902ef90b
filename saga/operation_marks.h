// Operation marks: what a device's two databases know of an operation, whoever carried it out. The dedupe of Theorem 2
// rests on them. Functions of what the replica holds now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replication/local_replica.h"
#include "replication/records/operation.h"
#include "saga/saga_row.h"

namespace witan::saga {

struct OperationMarks {
  replication::OperationView journal;
  std::string journalScope;  // where it stands there; empty: nowhere
  replication::OperationView agents;

  bool any() const { return journal.record || agents.record; }
  // Whether it had its effect.
  bool applied() const;
  // What came of it: by the journal, whose record stands beside the effect, before the agents' database.
  std::optional<Outcome> outcome() const;
  const replication::OperationRecord* record() const;
};

// `scope`: the agent's; an effect in the journal may be in any scope of that. Quick where there is none. Errors: of
// reading.
Result<OperationMarks> marksOf(replication::LocalReplica& replica, std::string_view scope,
                               const OperationId& operation);

// Whether there is a record: in the agents' database, in a scope; in the journal, in any.
bool agentsHave(replication::LocalReplica& replica, std::string_view scope, std::string_view operationHex);
bool journalHas(replication::LocalReplica& replica, std::string_view operationHex);

// The scope of the agents' database that has a record of it, the first by name.
std::optional<std::string> agentScopeOf(replication::LocalReplica& replica, const OperationId& operation);

}  // namespace witan::saga
