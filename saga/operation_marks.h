// Operation marks: the records that a device's two databases hold of an operation, from all devices. The dedupe of
// Theorem 2 rests on them. Functions of what the replica holds now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/identity.h"
#include "replication/local_replica.h"
#include "replication/records/record_views.h"
#include "replication/space.h"
#include "saga/saga_rows.h"

namespace witan::saga {

struct OperationMarks {
  replication::OperationView journal;
  std::string journalScope;  // where it stands there; empty: nowhere
  replication::OperationView agents;

  bool any() const { return journal.record || agents.record; }
  // Whether it had its effect.
  bool applied() const;
  // Its outcome: from the journal, whose record stands beside the effect, else from the agents' database.
  std::optional<Outcome> outcome() const;
  const replication::OperationRecord* record() const;
};

// Why an operation cannot be had tried again or undone now.
Error inTheWay(const OperationId& operation, const std::string& why, const std::string& hint);

// `scope`: the agent's; an effect in the journal may be in any scope of that. Quick where there is none. Errors: of
// reading.
Result<OperationMarks> marksOf(replication::LocalReplica& replica, std::string_view scope,
                               const OperationId& operation);

// Whether the journal's part of what the agents' records tell of is still to come: the two databases replicate apart.
// It may be gone with a device that has left or begun anew. Errors: of reading. O(members).
Result<bool> journalMayCome(replication::LocalReplica& replica, std::string_view scope, const OperationMarks& marks);

// Whether there is a record: in the agents' database, in a scope; in the journal, in any.
bool agentsHave(replication::LocalReplica& replica, std::string_view scope, std::string_view operationHex);
bool journalHas(replication::LocalReplica& replica, std::string_view operationHex);

// --- what people said of an operation that was put aside, as the devices' records have it
//
// Answers stand in records beside the run (node/inbox/inbox_answers.h). A device that called again because a person
// said so, and found that another one had called too, cannot add to the operation's record, which never changes: it
// says so beside the answers.

inline constexpr std::string_view kAnswerKeys = "answer:";  // of the records of answers: + run in hex + ":" + a name

struct SaidOfOperation {
  std::string device, by, choice;  // retry or compensate
};
// Of all devices, ordered by device. Errors: of reading. O(answers of the run).
Result<std::vector<SaidOfOperation>> saidOf(replication::Space& agents, const Intent& intent);

replication::Write againWrite(const Intent& intent, std::string_view device);
// The operation of such a record's key. Errors: it is another record.
Result<OperationId> againOf(std::string_view key);
// The devices that wrote one.
std::vector<std::string> devicesAgain(replication::Space& agents, const Hash& run, const OperationId& operation);

// The scope of the agents' database that has a record of it, the first by name.
std::optional<std::string> agentScopeOf(replication::LocalReplica& replica, const OperationId& operation);

// --- compensations of one operation: the first, and those that follow because it came too early
//
// Devices that are cut off from one another may carry out one operation of one plan, each in a version of its own
// (replication/records/record_views.h). A compensation takes back the versions that the device which carries it out
// holds; one that arrives after it would show again. So compensations form a chain, and the next one is begun when
// something still shows:
//
//   O  --compensationOperationId-->  C1  --nextCompensation-->  C2  --nextCompensation-->  ...    each undoes O
//                                    C1  --compensationOperationId-->  D1  -->  ...     D1, D2, ... undo what C1, C2,
//                                                                                       ... did: O is wanted after all
//
// Why it ends with all devices alike. The ids derive, so devices that go on at the same time begin the same operation,
// and what they write says the same, which is one edit (replication/records/journal_entity.h). A version that shows O
// is made by a device that carries out O, which it does once and not after it has heard of it, or by the compensation
// of another operation that left O's standing: these are finitely many. Every version that a compensation was shown is
// replaced by what it wrote, and a further one is begun only where one shows that none before it was shown: not before
// those that the agents' records tell of have come to the journal. When all have met, the device that looks
// (SagaEngine::reconcile, undoAgain) finds such a version and undoes it, or there is none. Nothing that a person wrote
// is touched: it stays, or the compensation is a conflict for a person.

// More than these of one operation are a fault, not a history.
inline constexpr std::size_t kMaxUndoings = 64;

// v1|undo-again|{compensation}
OperationId nextCompensation(const OperationId& compensation);

// The records in a journal of an operation, or of a compensation and all that follow it: the first one's record, and
// the dots of all their commits as its repeats. No record: the first one is not there. Errors: of reading. O(versions).
Result<replication::OperationView> recordsOf(replication::Space& journal, const OperationId& first);

}  // namespace witan::saga
