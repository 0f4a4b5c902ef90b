// Entries that only agents wrote, on several devices at once: they settle themselves. The agent whose version readers
// see is woken once for each such conflict, and what it writes supersedes all versions. A person is asked only where a
// person wrote one of them.
//
// The run key derives from entry and versions, so each device that hosts the agent comes to the same run. Functions of
// what the replica holds; not thread-safe, as the replica.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wake/wake_job.h"
#include "replication/local_replica.h"
#include "replication/records/journal_entity.h"

namespace witan::agents {

// The agent that settles an entry of several versions. None: there is one version; a person wrote one of them, or
// cannot read one; or a version is of a plan that lost, and is undone anyway (docs/FINDINGS.md, F3). `scope`: of the
// agents' database.
Result<std::optional<std::string>> settlerOf(replication::LocalReplica& replica, std::string_view scope,
                                             replication::Space& journal, const replication::JournalView& view);

// Whether several runs wrote them. If they say the same by chance, an agent that makes an entry anew may still have
// more to say.
Result<bool> isOfSeveralRuns(replication::Space& journal, const replication::JournalView& view);

// The versions of an entry, as an action names those that it supersedes: "HOST:COUNTER", in order.
std::vector<std::string> versionNames(const replication::JournalView& view);

// The wake of the agent by a conflict. Input: {"conflict": {"id", "scope", "settles": versionNames, "versions":
// [{"author", "type", "payload"}]}, ...}; a deletion is null, and "versions" is left out where they are long.
Result<WakeJob> conflictJob(std::string_view agentId, std::string_view journalScope, std::string_view id,
                            const replication::JournalView& view);

}  // namespace witan::agents
