// InboxAnswer: what a person says about an item of the inbox that no ledger decides: an approval, a choice between
// versions, a retry, a tool's form. A person with a key in the roster signs it, in the one form of all answers
// (kernel/record/statement.h); from then on nothing counts in that name without the signature. What is signed, each
// answer to a tool's form, and each of an operation that had stopped, is kept as a replicated record, beside what it
// was said about.
//
// Pure functions, and functions of a replica on its thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/message.h"
#include "base/time.h"
#include "node/cluster/roster.h"
#include "replication/local_replica.h"
#include "saga/operation_marks.h"

namespace witan::node {

WITAN_STRUCT(InboxAnswer, (std::string, cluster, "Id of the cluster"), (std::string, item, "Item of the inbox"),
             (std::string, by, "Name of the person"), (std::string, choice, "What was answered"),
             (std::string, reason, "Reason of the answer"),
             (json::value, said, "What else the answer says, by the members of its request"),
             (std::string, shown, "Digest of what was shown, in hex; empty: the request has none"),
             (std::string, subject, "Operation that it is about, in hex; empty: none"), (Time, at, "When"),
             (std::string, signature, "Key and signature of the person, in hex; empty: the person has no key"))

inline constexpr std::size_t kMaxInboxAnswers = 10'000;  // the newest that are kept in a scope
using saga::kAnswerKeys;

// From the body of a request to this path of the API. Errors: the path takes no answer of a person.
Result<InboxAnswer> inboxAnswerOf(std::string_view path, const json::object& request);
// What the person signs. The time, and what it is about beyond the item, are the device's.
std::string inboxAnswerText(const InboxAnswer& answer);
// Whether the key that the signature names made it.
bool isSignedWell(const InboxAnswer& answer);

// The roster in a data directory; none: it is of no cluster. Errors: it cannot be read, so it is not known who has a
// key.
Result<std::optional<Roster>> rosterOfDirectory(const std::filesystem::path& dir);
// `roster` null: no person has a key. Errors: unauthorised, a person with a key has not signed just this, or was
// revoked.
Status checkInboxAnswer(const Roster* roster, const InboxAnswer& answer);

// `place`: the run, or else the item, in 64 hex digits. Errors: limits; of the commit. O(answers of the scope).
Status keepInboxAnswer(replication::LocalReplica& replica, const std::string& scope, const std::string& place,
                       const InboxAnswer& answer);
// Oldest first; what cannot be read is left out.
// `but`: without those that this device was given.
std::vector<InboxAnswer> inboxAnswersAt(replication::Space& agents, const std::string& place,
                                        std::string_view but = {});
// Of an item that belongs to no run.
std::string placeOfItem(std::string_view item);

}  // namespace witan::node
