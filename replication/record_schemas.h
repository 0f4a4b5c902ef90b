// Kinds of records, as the core sees them: a number, and what replication may do with records of that kind.
// RecordSchemas answers the core's other questions about kinds.
//
// The rule by which versions meet is the same for all kinds (replication/space.h): a version replaces those that its
// author had seen. Which kinds exist is for replication/records/record_schemas.h, what a body means for each kind's own
// view. The core keeps and passes on a kind that this build does not know like any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replication/vector_clock.h"

namespace witan::replication {

// Stored and sent. The enumerators stand in replication/records/record_schemas.h.
enum class Kind : std::uint8_t;

// The one kind that the core reads itself (replication/membership.h).
inline constexpr Kind kStatementKind{10};
// All that there is in a sealed scope (replication/sealed_scope.h).
inline constexpr Kind kSealedCopyKind{17};

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

// The core's questions about the kinds of records that it replicates. The owner of a replica passes one when it opens
// it (replication/records/record_schemas.h has Witan's); it outlives the replica. Implementations are stateless: pure
// functions of their arguments, any thread.
class RecordSchemas {
 public:
  virtual ~RecordSchemas() = default;

  // An unknown kind is a resident, digested register of either database.
  virtual const KindTraits& traits(Kind kind) const = 0;

  // Whether bytes are a body of their kind: asked of every version before it is held, from here or from elsewhere, so
  // that views only meet what they can read. `writer`: name of the version's author. Bodies of unknown kinds pass.
  // Errors: invalid, with the cause. O(bytes).
  virtual Status check(Kind kind, std::string_view body, std::string_view writer) const = 0;
  // Whether a local commit may put `body` on top of what is held of its key. Asked of guarded kinds only.
  virtual Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held,
                                 std::string_view body) const = 0;

  // The dots that come before an event. Errors: a body that is no event.
  virtual Result<std::vector<Dot>> causes(std::string_view event) const = 0;

  // --- kinds with deltas
  // The fields in which two bodies of one writer differ; 0: unknown. O(bytes).
  virtual std::uint32_t changedFields(std::string_view before, std::string_view after) const = 0;
  // Appends the delta of `fields` from a body that check() passes.
  virtual void appendDelta(std::string& out, std::string_view body, std::uint32_t fields) const = 0;
  // The whole body, unchecked. Errors: invalid, if the delta does not fit.
  virtual Result<std::string> applyDelta(std::string_view base, std::string_view delta) const = 0;
  // The body with `to` as its author: its bytes may depend on the name. Errors: `from` did not write it.
  virtual Result<std::string> withAuthor(std::string_view body, std::string_view from, std::string_view to) const = 0;
};

}  // namespace witan::replication
