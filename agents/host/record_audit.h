// What must hold of the records that agents have left on a device once they are at rest (seed 003, section 10): each
// operation has one effect in each database, no device carried one out twice, each run that was started has an end.
// `witan agent check` asks this of a device, and the simulator of every device of a cluster, which must be silent.
// Reads records; the replica outlives the call.
//
// And EffectWatch: effects of devices that were cut off from one another and that nobody can take back, found when the
// records meet.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/arrivals.h"
#include "replication/local_replica.h"
#include "replication/records/record_schemas.h"

namespace witan::agents {

struct RecordAudit {
  static constexpr std::size_t kMostProblems = 20;

  std::uint64_t operations = 0;      // with a record in the agents' database
  std::uint64_t journalEffects = 0;  // with one in the journal
  std::uint64_t runs = 0;
  std::uint64_t doubled = 0;          // operations of tools outside that several devices carried out
  std::uint64_t unwanted = 0;         // effects outside that stay, denied elsewhere or of a plan that did not survive
  std::vector<std::string> problems;  // the first of them

  void problem(std::string what) {
    if (problems.size() < kMostProblems) problems.push_back(std::move(what));
  }
};

// Errors: of the stores. O(records).
Result<RecordAudit> auditRecords(replication::LocalReplica& replica, std::string_view scope);

// One operation of a tool that does not honour its id, carried out by several devices; one that a person denied,
// carried out where another person approved it: each becomes an incident, once on each device that looks. Not
// thread-safe.
class EffectWatch {
 public:
  // `once`: the tools that do not honour an operation id. Errors: of reading. O(records that have come).
  Status look(replication::LocalReplica& replica, replication::Space& records,
              const std::set<std::string, std::less<>>& once);

 private:
  replication::Arrivals operations_{replication::Kind::operation}, approvals_{replication::Kind::approval},
      again_{replication::Kind::artefact};
};

}  // namespace witan::agents
