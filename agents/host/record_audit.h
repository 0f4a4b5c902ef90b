// What must hold of the records that agents have left on a device once they are at rest (seed 003, section 10): each
// operation has one effect in each database, no device carried one out twice, each run that was started has an end.
// `witan agent check` asks this of a device, and the simulator of every device of a cluster, which must be silent.
// Reads records; the replica outlives the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replication/local_replica.h"

namespace witan::agents {

struct RecordAudit {
  static constexpr std::size_t kMostProblems = 20;

  std::uint64_t operations = 0;      // with a record in the agents' database
  std::uint64_t journalEffects = 0;  // with one in the journal
  std::uint64_t runs = 0;
  std::vector<std::string> problems;  // the first of them

  void problem(std::string what) {
    if (problems.size() < kMostProblems) problems.push_back(std::move(what));
  }
};

// Errors: of the stores. O(records).
Result<RecordAudit> auditRecords(replication::LocalReplica& replica, std::string_view scope);

}  // namespace witan::agents
