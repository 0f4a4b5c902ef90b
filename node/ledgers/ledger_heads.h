// Signed heads and proofs of the ledgers of a Replica, for the control API of a running node and for commands on a data
// directory that no node has open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_codec.h"
#include "base/message.h"
#include "replica/replica.h"

namespace witan::node {

WITAN_STRUCT(LedgerHead, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, entries, "Entries of this copy"),
             (std::uint64_t, size, "Entries that the head covers"), (std::string, root, "Root of the tree over them"),
             (std::string, note, "The head: a signed checkpoint (C2SP tlog-checkpoint, tlog-cosignature)"),
             (std::vector<std::string>, cosigners, "Ids of the devices, other than the owner, that signed it"),
             (std::vector<std::string>, keys, "Verifier keys of the owner, the cosigners and the witnesses"),
             (std::vector<std::string>, witnesses, "Names of the witnesses outside of the cluster that signed it"))

WITAN_STRUCT(InclusionProof, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, seq, "Number of the entry"),
             (std::string, bytes, "The entry's bytes in base64 (docs/ledger-format.md); empty: they were pruned here"),
             (std::string, leafHash, "Hash of the bytes as a leaf"), (std::uint64_t, index, "Index of the leaf"),
             (std::uint64_t, size, "Entries of the tree"), (std::string, root, "Root of the tree"),
             (std::vector<std::string>, path, "Audit path, from the leaf"),
             (Omittable<std::string>, firstRoot, "Root of the earlier tree"),
             (Omittable<std::vector<std::string>>, consistency, "Path from the earlier tree"),
             (Omittable<std::string>, holder,
              "Id of the device that was asked, where this one has no copy of it: what it told was checked here"))

// The newest head of a copy that another device has cosigned; with `signedOnly`, or if there is none, the newest that
// its owner signed. Errors: notFound, there is no copy here, or no head.
Result<LedgerHead> headOf(const Replica& replica, std::string_view partition, bool signedOnly);

// In the tree of the first `size` entries; 0: of all. `since`: the size of an earlier tree; 0: none. Of an entry that
// was pruned here without its bytes. O(entries).
// Errors: notFound.
Result<InclusionProof> proveEntry(Replica& replica, std::string_view partition, std::uint64_t seq, std::uint64_t size,
                                  std::uint64_t since);

}  // namespace witan::node
