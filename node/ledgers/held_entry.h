// An entry, or the newest head, of a partition that only others keep copies of: asked from a device that keeps one
// (EntryAsk, EntryTold), and believed by its proof only.
//
// What is checked: the head is signed by the owner of the partition's present epoch, as this device knows it, and by
// another device of the roster; the bytes are the leaf of that number in the head's tree. So who is asked can withhold
// what is newer, and cannot invent or alter an entry, unless the owner and a cosigner lie together.
//
// Who may ask: devices with the role ledger, which may have all entries. Functions of the replica, on its strand.
#pragma once

#include "node/cluster/messages.h"
#include "node/ledgers/ledger_heads.h"
#include "replica/core/log_head.h"

namespace witan::node {

struct HeldEntry {
  LogHead head;
  InclusionProof proof;  // seq 0: the head alone was asked
};

// What a device with a copy answers; why not is in it, also of an entry that was pruned there. O(entries of the
// partition).
EntryTold tellEntry(Replica& replica, const EntryAsk& ask);

// `known`: a head of the partition that was checked before, for a proof in its tree; null: none. Errors: notFound, the
// device refused; unavailable, ask another one or again; corrupt, what it told is not proven.
Result<HeldEntry> checkTold(const Replica& replica, const EntryAsk& ask, const EntryTold& told, const LogHead* known);

}  // namespace witan::node
