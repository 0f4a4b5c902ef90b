// EntryEvidence: that an owner recorded an entry in a name that did not ask for it. Whoever holds the file and trusts
// neither the cluster nor the program checks it: the owner's seal of the batch, the batch, and the entry in it that
// bears no signature, one that does not hold, or the owner's own (docs/ledger-format.md, section 10).
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/reflect.h"
#include "base/result.h"
#include "kernel/record/entry.h"
#include "kernel/record/signed_leaves.h"
#include "kernel/record/signed_note.h"

namespace witan::node {

inline constexpr std::size_t kMaxEntryEvidence = 8 << 20;  // bytes of the file

struct EntryEvidence {
  std::string kind;  // unsigned, forgedName
  std::string key;   // the owner's verifier key, named witan/CLUSTER/DEVICE
  std::string partition;
  std::uint64_t entry = 0;  // its number
  std::string seal;         // base64 of a BatchSeal (replica/core/owner_proofs.h)
  std::string batch;        // base64, as it stands in the log
  WITAN_MEMBERS(EntryEvidence, kind, key, partition, entry, seal, batch)
};

struct ProvenOffence {
  kernel::NoteVerifier signer;
  std::string log;
  std::string what;  // one sentence
};

// Errors: no such file; a seal that does not hold; an entry that may be in order.
Result<ProvenOffence> verifyEntryEvidence(std::string_view file);
// The same for evidence of any kind (kernel/record/fork_proof.h).
Result<ProvenOffence> verifyEvidence(std::string_view file);

// Why an entry of an epoch of format 2 proves that its owner wrote it in another's name, to those who know nobody's
// keys but the owner's. Empty: it does not. The name of the offence goes to `kind`.
std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::EntryView& entry,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind);

}  // namespace witan::node
