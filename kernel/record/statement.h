// What a device signs of a request, and a person of an answer to an escalation, so that an entry proves both
// (docs/ledger-format.md, section 10). An entry says all of it: a stranger puts the text together from the entry, the
// cluster and the domain.
//
// Values that borrow, and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "kernel/record/entry.h"
#include "kernel/record/signed_leaves.h"

namespace witan::kernel {

inline constexpr std::string_view kSystemCounselor = "system";

struct Statement {
  std::string_view cluster, domain;
  std::string_view kind;  // propose, commit, reject, begin; of what a person signs also answer
  std::string_view entity, role, operationId, device, agent;
  std::string_view action;                           // propose: canonical JSON; begin: the fields, as such
  std::span<const std::uint8_t> runKey, planDigest;  // propose
  std::string_view counselor, decision, reason;      // commit, reject
  std::span<const std::uint8_t> shown;               // the same: digest of the escalated entry, if it was given
};

// Of the request that the entry answers.
Statement statementOf(std::string_view cluster, std::string_view domain, const EntryView& entry);
Statement statementOf(std::string_view cluster, std::string_view domain, const GenesisView& beginning);
// The leaf that its device signs.
Hash requestLeaf(const Statement& statement);
// What a person signs: an answer to an escalation or, of the kind `answer`, to a question of a graph.
std::string answerText(const Statement& statement);

// Whether a proposal in this role is a person's own word: an answer to a question of a graph.
inline bool isPersonal(std::string_view domain, std::string_view role) { return domain == "graph" && role == "Person"; }

// What a person says by an entry or a request, and the key and signature by which the person says it.
struct PersonsWord {
  std::string person;
  std::string text;                     // that is signed
  std::vector<std::uint8_t> signature;  // behind the key; empty: it is not signed
  PublicKey key() const;
  bool holds(SignatureMemo& memo) const;  // whether that key signed the text
};
// `signature`: of a counselor's decision. A personal proposal has its own in its action (`signature`, hex), beside the
// person (`by`) and the digest of what was shown; the action without it is what the person decides. None: a device says
// it alone.
std::optional<PersonsWord> personsWord(const Statement& statement, std::span<const std::uint8_t> signature);

// What a commit's entry keeps of the counselor's decision.
std::string decisionText(std::string_view base, const json::object& edit);

// Whether the proposer's device has to sign the entry: all but the kernel's own.
inline bool hasProposer(const EntryView& entry) {
  return entry.tag != Tag::cRejected || entry.counselor != kSystemCounselor;
}

// Whether the proof of an entry or a beginning holds: its key signed the request. Whose key it is, the caller checks.
template <class Record>
bool holdsProof(std::string_view cluster, std::string_view domain, const Record& record, SignatureMemo& memo) {
  const auto proof = readProof(record.proof);
  return proof.ok() && memo.holds(cluster, requestLeaf(statementOf(cluster, domain, record)), *proof);
}

// The id of the device whose first key this is.
std::string deviceOfKey(const PublicKey& key);

// That a log holds an entry: what an owner signs of each answer that it gives another device. `run`: in which it does
// not say anything else (docs/ledger-format.md, section 10).
Hash holdingLeaf(std::string_view cluster, std::string_view partition, std::uint64_t epoch, std::string_view owner,
                 std::uint64_t run, std::uint64_t seq, const Hash& entryLeaf);

}  // namespace witan::kernel
