// RecordSchemas: what the core asks about the kinds of records that it replicates. The owner of a replica gives one
// when it opens it (replication/records/record_schemas.h has Witan's); it outlives the replica.
//
// Implementations are stateless: pure functions of their arguments, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replication/kind.h"
#include "replication/version.h"

namespace witan::replication {

class RecordSchemas {
 public:
  virtual ~RecordSchemas() = default;

  // Of an unknown kind: a resident, digested register of either database.
  virtual const KindTraits& traits(Kind kind) const = 0;

  // Whether bytes are a body of their kind: asked of every version before it is held, from here or from elsewhere, so
  // that views only meet what they can read. `writer`: name of the version's author. Bodies of unknown kinds pass.
  // Errors: invalid, with the cause. O(bytes).
  virtual Status check(Kind kind, std::string_view body, std::string_view writer) const = 0;
  // Whether a local commit may put `body` on top of what is held of its key. Asked of guarded kinds only.
  virtual Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held,
                                 std::string_view body) const = 0;

  // Of an event: the dots that come before it. Errors: a body that is no event.
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
