// What proves, to devices that believe no peer, who asked for a decision, who answered an escalation, and what an owner
// decided (docs/SECURITY.md).
//
//   request   Its device signs it; one signature covers the requests of a round. The owner checks it, the entry keeps
//             it, each copy and each stranger checks it again (kernel/record/statement.h).
//   person    A counselor's key signs the answer, bound to what was shown.
//   answer    Of an epoch whose claim by its sender is known. The owner signs that its log holds the entry. A device
//             with copies believes no decision without that entry; one without may not see entries, and believes the
//             owner.
//
// Only with keys (ReplicaConfig::heads); without, nothing is signed and everything passes. Functions on the state of
// one replica; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/epoch.h"
#include "replica/core/messages.h"
#include "replica/core/round_signature.h"

namespace witan::node {

class PartitionHost;
struct ReplicaState;

// Those of this device that the ledger records and that bear no proof yet.
void signRequests(ReplicaState& state, std::span<Request* const> requests);

// Whether the request's device signed it. Errors: unavailable, by no key of the device that is known here.
Status checkProposer(ReplicaState& state, const Request& request);
// Whether the counselor that it names answers. Errors: unauthorised.
Status checkPerson(ReplicaState& state, const Request& request);
// That an answer of the person in this domain needs no signature, as far as this device knows.
Status mayBeUnsigned(const ReplicaState& state, std::string_view domain, std::string_view person);

// What owners told this device that their logs hold, until its copies show whether they do.
class ToldAnswers {
 public:
  struct Told {
    kernel::Epoch epoch;
    std::vector<std::uint8_t> entry, proof;
  };
  // Requires: checkAnswer() accepted it. The oldest are forgotten.
  void note(const std::string& partition, const Answer& answer);
  // Those of a partition up to entry `entries`, which are forgotten with that.
  std::vector<std::pair<std::uint64_t, Told>> take(const std::string& partition, std::uint64_t entries);

 private:
  std::map<std::pair<std::string, std::uint64_t>, Told> told_;
};
// Holds what was told against the copy. An owner that sealed another entry in the same run has lied: incident
// `falseAnswer`, with evidence. In another one its disk may have gone back: incident `contradiction`.
void checkTold(ReplicaState& state, PartitionHost& host);

// Of an answer that holds an entry: it gets its proof when the round is signed.
void signWith(RoundSignature& round, const ReplicaState& state, const std::string& partition, Answer& answer);
// Whether `answer` of the device `from` proves what it says. Errors: unauthorised, why it does not; unavailable, its
// epoch is not known here (yet).
Status checkAnswer(ReplicaState& state, const std::string& from, const Request& asked, const Answer& answer);

// An entry or a beginning of a batch in a name that did not ask for it.
struct Offence {
  std::string kind;  // unsigned, forgedName
  std::string what;
  std::uint64_t seq = 0;  // of the entry
  std::string entity;     // of the beginning
  std::string head = {};  // unlawful: that its owner signed before, and that shows it
};
// The first one in the next batch of a log, as `owner`, a device, wrote it. Errors: unavailable, a key is not known
// here that may be good; corrupt, it is no batch.
Result<std::optional<Offence>> findOffence(ReplicaState& state, const PartitionHost& host, std::string_view owner,
                                           std::string_view batch);

}  // namespace witan::node
