// GraphTriggers: what begins runs of a graph of itself: edits of the journal, facts of ledgers (docs/graphs.md).
//
// All of it is in memory. What has entered is known from the ledger of the graph: the external id derives from what
// happened, so a new owner looks at everything again and enters nothing twice. What is older than the horizon, or than
// the trigger, never enters; what a clock that is ahead dated waits for that time. What the graph itself did begins
// nothing, and what other runs did says how many lie behind it: the operation tells both, never a name.
//
// Owned by GraphRuntime; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/graph/line.h"
#include "replica/ledger_watch.h"
#include "replication/arrivals.h"

namespace witan::node {

// What is wrong with the triggers of a document, as far as these domains tell; empty: nothing. The checks pass over it.
std::string wrongTriggers(const graph::Document& document, std::span<const kernel::DomainModule* const> domains);

class GraphTriggers {
 public:
  // From `atMs` on. A trigger that the document before had at the same ingress goes on.
  void deployed(const graph::Document& document, std::int64_t atMs);
  // Finds what has come. Whether there is more: look again. O(what came); at first O(journal, watched ledgers).
  Result<bool> look(Replica& replica, const std::string& scope);

  // Whether it was taken or refused for good; false: the ingress has no room, so it waits where it is.
  // `hops`: runs behind it.
  using Enter = std::function<bool(const std::string& ingress, const std::string& external, const json::value& message,
                                   std::uint64_t hops)>;
  // Offers what is due, the oldest first. `document`: the deployed one; `own`: the state of its ledger.
  Status offer(Replica& replica, const std::string& scope, const graph::Document& document,
               const kernel::EntityState* own, std::int64_t nowMs, const Enter& enter);
  // When something that waits for its time may enter.
  std::optional<std::int64_t> nextMs(std::int64_t nowMs) const;

 private:
  struct Arrival {
    std::string entity;  // of the journal
    replication::Dot dot;
    LedgerEvent event;
  };
  // What is told of an arrival; no message: another edit has taken its place, or it is the graph's own. No hops: what
  // made it is not here yet.
  struct Told {
    std::optional<json::object> message;
    std::optional<std::uint64_t> hops;
  };
  struct Source {
    std::string ingress;
    graph::Trigger trigger;
    std::int64_t sinceMs = 0;
    replication::Arrivals edits{replication::Kind::journal};
    std::map<std::string, LedgerCursor> cursors;                      // by partition
    std::map<std::pair<std::int64_t, std::string>, Arrival> waiting;  // by time and external id
  };

  Status lookAtJournal(Replica& replica, const std::string& scope, Source& source);
  Result<bool> lookAtLedgers(Replica& replica, Source& source);
  static Result<Told> editTold(Replica& replica, const std::string& scope, const Arrival& arrival,
                               const kernel::EntityState* own);
  static Result<Told> factTold(Replica& replica, const std::string& scope, const Arrival& arrival,
                               const kernel::EntityState* own);

  std::string graph_;
  std::vector<Source> sources_;
};

}  // namespace witan::node
