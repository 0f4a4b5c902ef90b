// The transcript of one run on one device: numbered entries, each a message of the agent's database, from which the
// episode can be continued and replayed (seed 004, section 3.4; docs/FINDINGS.md, F11).
//
// An entry's content is canonical JSON, {"entry": kind, ...}. Entries of the kinds marked * are what came from outside;
// the others follow from them.
//
//   begin*       who, with what, woken by what: agent, version, policy, seed, capabilities, locale, budget, tools,
//   input thought      what the agent said to itself look         a look announced: span, tool, arguments, cost,
//   capability, verdict, digest of the input observation* its answer (of a denied look it follows from the verdict)
//   plan*        the plan that binds the run: actions, operation ids, digest, and whether it is the agent's own
//   proposal intended     an action announced: as a look, with its operation id as span answer*      a person's answer
//   to an action that needs one, and what the gate says then outcome*     what came of an action: applied, denied or
//   failed (of a denied one it follows from the verdict) fork*        what a sub-episode was given abort*       the run
//   was ended from outside end          status, cause, what the agent asks for, what was spent, digest of all entries
//   before
//
// Messages: id "{run key}/{device}/{number, six digits}", thread "{thread}/run/{run key}", each with the one before as
// its parent. Values and pure functions; reading borrows the space for the call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "base/json.h"
#include "base/reflect.h"
#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::agents::episode {

inline constexpr std::size_t kMaxEntries = 200'000;
inline constexpr std::size_t kMaxEntryBytes = 900 * 1024;

WITAN_ENUM(EntryKind, begin, thought, look, observation, plan, intended, answer, outcome, fork, abort, end)

struct Entry {
  EntryKind kind = EntryKind::begin;
  json::object body;    // without "entry"
  std::string content;  // canonical
};

// `body` as it will be read back. Requires: the parts were checked (turn_check.h), so that it fits.
Entry makeEntry(EntryKind kind, json::object body);
// Errors: not canonical JSON of a known kind, too large.
Result<Entry> parseEntry(std::string_view content);

std::string entryId(const RunKey& run, std::string_view device, std::uint64_t number);
std::string transcriptThread(std::string_view thread, const RunKey& run);

// The owner and place of a transcript.
struct TranscriptName {
  RunKey run;
  std::string device;
  std::string agentId;
  std::string thread;  // of the agent
};

// The message of an entry; `atMs` is shown, and no part of the content. Errors: names that are no ids.
Result<replication::MessageBody> messageOf(const TranscriptName& name, std::uint64_t number, const Entry& entry,
                                           std::int64_t atMs);

struct TranscriptRow {
  replication::Dot dot;
  replication::MessageBody message;
};

// All entries that are held of it, in order, up to the first that is missing. Errors: corrupt, two contents of one
// entry; more than kMaxEntries. O(entries).
Result<std::vector<TranscriptRow>> readTranscript(replication::Space& space, const RunKey& run,
                                                  std::string_view device);

struct TranscriptKey {
  RunKey run;
  std::string device;
  friend auto operator<=>(const TranscriptKey&, const TranscriptKey&) = default;
};

// The runs and devices that have transcripts, by run key, then device. O(messages of the space).
std::vector<TranscriptKey> listTranscripts(replication::Space& space);

}  // namespace witan::agents::episode
