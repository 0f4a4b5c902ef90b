// The kinds of replicated records, in which database each lives, and what a replica may do with it.
//
// The rule by which versions meet is the same for all of them (replication/space.h): a version replaces those that its
// author had seen. What a set of versions means is each kind's own view (agent_view, journal_entity, summary, ...).
// A kind that this build does not know is kept and passed on like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace witan::replication {

// The numbers are stored and sent: never reuse one.
enum class Kind : std::uint8_t {
  agentState = 1,
  message = 2,
  link = 3,
  batch = 4,  // notification batch
  wakeRun = 5,
  plan = 6,
  summary = 7,
  journal = 8,  // journal entity
  policy = 9,
  statement = 10,  // about membership (replication/membership.h)
  operation = 11,  // that an operation was carried out (replication/records/operation.h)
  approval = 12,   // of an effect that needs a person (replication/records/approval.h)
  receipt = 13,    // a person's confirmation of a use of data (replication/records/receipt.h)
};

// 003, invariant 1: what a person wrote and what agents keep for themselves live in two separate databases.
enum class DatabaseName : std::uint8_t { journal = 0, agents = 1 };

const char* toString(DatabaseName database);

struct KindTraits {
  std::string_view name;
  bool journal;    // may live in the journal database
  bool agents;     // may live in the agent database
  bool resident;   // bodies stay in memory; otherwise they are read from the store when needed
  bool digested;   // counts for the digest: not so what each replica may forget on its own
  bool register_;  // a new version replaces what its author saw; otherwise versions stand side by side
  bool removable;  // a tombstone may take its versions away
};

// Of an unknown kind: a resident, digested register of either database.
const KindTraits& traitsOf(Kind kind);
std::optional<Kind> parseKind(std::string_view name);

}  // namespace witan::replication
