// Whether bytes are a body of their kind: asked of every version before it is held, from here or from elsewhere, so
// that views only meet what they can read. Pure functions, any thread.
#pragma once

#include <span>
#include <string_view>

#include "replication/kind.h"
#include "replication/space.h"
#include "replication/sync_messages.h"

namespace witan::replication {

// `writer`: name of the version's author. Bodies of unknown kinds pass. Errors: invalid, with the cause. O(bytes).
Status checkBody(Kind kind, std::string_view body, std::string_view writer);

// A version that a peer sent: its key, its kind's database, its body (a field delta is checked when it is applied).
Status checkIncoming(const Space& space, DatabaseName database, const VersionRow& row, WriterIndex writer);

// Whether a local commit may put `body` on top of what is held of its key: a wake run that has ended stays as it is.
Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held, std::string_view body);

}  // namespace witan::replication
