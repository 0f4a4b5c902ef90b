// A record's kind, as the core sees it: a number and what replication may do with records of that kind.
//
// The rule by which versions meet is the same for all kinds (replication/space.h): a version replaces those that its
// author had seen. Which kinds exist is for replication/records/kind.h, what a body means for each kind's own view. The
// core keeps and passes on a kind that this build does not know like any other.
#pragma once

#include <cstdint>
#include <string_view>

namespace witan::replication {

// Stored and sent. The enumerators stand in replication/records/kind.h.
enum class Kind : std::uint8_t;

// The one kind that the core reads itself (replication/membership.h).
inline constexpr Kind kStatementKind{10};

// 003, invariant 1: what a person wrote and what agents keep for themselves live in two separate databases.
enum class DatabaseName : std::uint8_t { journal = 0, agents = 1 };

constexpr const char* toString(DatabaseName database) {
  return database == DatabaseName::journal ? "journal" : "agents";
}

struct KindTraits {
  std::string_view name;
  bool journal;            // may live in the journal database
  bool agents;             // may live in the agent database
  bool resident;           // bodies stay in memory; otherwise they are read from the store when needed
  bool digested;           // counts for the digest: not so what each replica may forget on its own
  bool register_;          // a new version replaces what its author saw; otherwise versions stand side by side
  bool removable;          // a tombstone may take its versions away
  bool deltas = false;     // a version may travel as the fields that changed since its writer's previous one
  bool event = false;      // keyed by its dot; delivered once, after its causes (Space::takeEvents)
  bool contested = false;  // several versions of a key are reported (Space::takeContested)
  bool guarded = false;    // RecordSchemas::checkSuccession judges each local write
};

}  // namespace witan::replication
