// What a device signs of a request, and a person of an answer to an escalation, so that an entry proves both
// (docs/ledger-format.md, section 10). An entry says all of it: a stranger puts the text together from the entry, the
// cluster and the domain.
//
// Values that borrow, and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "kernel/record/entry.h"
#include "kernel/record/signed_leaves.h"

namespace witan::kernel {

inline constexpr std::string_view kSystemCounselor = "system";

struct Statement {
  std::string_view cluster, domain;
  std::string_view kind;  // propose, commit, reject
  std::string_view entity, role, operationId, device, agent;
  std::string_view action;                           // propose: canonical JSON
  std::span<const std::uint8_t> runKey, planDigest;  // propose
  std::string_view counselor, decision, reason;      // commit, reject
  std::span<const std::uint8_t> shown;               // the same: digest of the escalated entry, if it was given
};

// Of the request that the entry answers.
Statement statementOf(std::string_view cluster, std::string_view domain, const EntryView& entry);
// The leaf that its device signs.
Hash requestLeaf(const Statement& statement);
// What a person signs: commit and reject alone.
std::string answerText(const Statement& statement);

// What a commit's entry keeps of the counselor's decision.
std::string decisionText(std::string_view base, const json::object& edit);

// Whether the proposer's device has to sign the entry: all but the kernel's own.
inline bool hasProposer(const EntryView& entry) {
  return entry.tag != Tag::cRejected || entry.counselor != kSystemCounselor;
}

// Whether the entry's proof holds: its key signed the request. Whose key it is, the caller checks.
bool holdsProof(std::string_view cluster, std::string_view domain, const EntryView& entry, SignatureMemo& memo);

// The id of the device whose first key this is.
std::string deviceOfKey(const PublicKey& key);

// That a log holds an entry: what an owner signs of each answer that it gives another device.
Hash holdingLeaf(std::string_view cluster, std::string_view partition, std::uint64_t epoch, std::string_view owner,
                 std::uint64_t seq, const Hash& entryLeaf);

}  // namespace witan::kernel
