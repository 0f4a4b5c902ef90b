// InboxIndex: which records of this device wait for a person, oldest first, kept by what changes instead of by a scan:
// approvals, entries in conflict, operations that stopped, folds of memories that failed or diverge, refused answers;
// and, until a person has seen them, incidents and questions that expired. Proposals and the questions of graphs stand
// in their partitions, the forms of tools at their broker.
//
// An entry that only agents wrote settles itself (agents/wake/agent_conflict.h): it is listed only where no device
// hosts its agent, or the agent's run came to nothing. What a destroyed agent asks or asked is not listed. Belongs to a
// Daemon, or to whoever has the replica, which outlives it; its thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/identity.h"
#include "node/config/inbox_kind.h"
#include "node/inbox/seen_items.h"
#include "replication/arrivals.h"
#include "replication/local_replica.h"
#include "replication/records/record_schemas.h"

namespace witan::agents {
class AgentHost;
}

namespace witan::node {

// Where an item stands in the list: those without a time come last.
struct InboxPlace {
  std::int64_t atMs = 0;
  std::string id;  // KIND:KEY; stays as long as the item waits
  friend bool operator==(const InboxPlace&, const InboxPlace&) = default;
  friend bool operator<(const InboxPlace& a, const InboxPlace& b) {
    const auto key = [](const InboxPlace& p) { return std::pair(p.atMs <= 0, p.atMs); };
    return std::pair(key(a), std::string_view(a.id)) < std::pair(key(b), std::string_view(b.id));
  }
};

class InboxIndex {
 public:
  // `scope`: of both databases.
  InboxIndex(replication::LocalReplica& replica, std::string scope) : replica_(replica), scope_(std::move(scope)) {}

  // Takes in what has changed. `agents`: at work here; null: none. Errors: of reading. O(what has changed + incidents +
  // folds that this device has yet to make); without agents also O(operations that stopped).
  Status look(agents::AgentHost* agents);
  // A person has seen an item that no other answer ends. The caller flushes the database. Errors: notFound; invalid, it
  // takes another answer.
  Status seen(const std::string& id, const SeenItem& seen);

  const std::set<InboxPlace>& of(InboxKind kind) const { return places_[static_cast<std::size_t>(kind)]; }
  // Whether an item waits; where.
  const InboxPlace* find(const std::string& id) const;
  // Ids of items that have come, and of those that have gone, since the last call.
  std::vector<InboxPlace> takeNew() { return std::exchange(new_, {}); }
  std::vector<std::string> takeGone() { return std::exchange(gone_, {}); }

  static std::string proposalId(const std::string& partition, std::uint64_t escalation) {
    return idOf(InboxKind::proposal, concat(partition, "/", escalation));
  }
  static std::string idOf(InboxKind kind, std::string_view key) { return concat(enumName(kind), ":", key); }
  // Kind and key of an id. None: it is none.
  static std::optional<std::pair<InboxKind, std::string>> partsOf(std::string_view id);
  // The key of an incident, from what it says.
  static std::string incidentKey(const replication::Incident& incident);

 private:
  void put(InboxKind kind, std::string_view key, std::int64_t atMs);
  void remove(InboxKind kind, std::string_view key);
  // Of a kind, exactly these.
  void replace(InboxKind kind, const std::map<std::string, std::int64_t>& all);
  Status lookAtApprovals();
  Status judgeApproval(replication::Space& records, const std::string& key, std::map<std::string, bool>& destroyed);
  // The approvals that are asked by agents which have been destroyed meanwhile.
  Status noteDestroyed(replication::Space& records, std::set<std::string>& changed);
  Status lookAtConflicts();
  Status judgeConflict(replication::Space& journal, const std::string& id);
  Status lookAtOperations(const agents::AgentHost* agents);
  Status lookAtIncidents();
  Status lookAtRefusals();
  Status lookAtFolds(agents::AgentHost* agents);
  Status judgeFold(const std::string& key);
  // What is to be looked at where versions have gone: all of a kind that waits or was seen.
  Status addKnown(InboxKind kind, std::set<std::string>& changed) const;
  Status forgetIfSeen(InboxKind kind, std::string_view key);

  replication::LocalReplica& replica_;
  const std::string scope_;
  replication::Arrivals approvals_{replication::Kind::approval}, edits_{replication::Kind::journal},
      states_{replication::Kind::agentState}, summaries_{replication::Kind::summary};
  std::set<std::string> settling_;  // entries in conflict whose agents are at it
  std::optional<std::uint64_t> heldChanges_;
  std::map<SummaryId, std::int64_t> failedFolds_;  // of this device, with when
  std::set<InboxPlace> places_[enumNames<InboxKind>().size()];
  std::map<std::string, std::int64_t, std::less<>> byId_;
  std::vector<InboxPlace> new_;
  std::vector<std::string> gone_;
};

}  // namespace witan::node
