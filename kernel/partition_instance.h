// Partition::Instance: the framework state of one entity (seed 000, Def. A.28) apart from the shared audit log.
// Private to the partition's source files.
#pragma once

#include "kernel/partition.h"

namespace witan::kernel {

// Tells a note from an entry in the table of operation ids.
inline constexpr std::uint64_t kIsNoteBit = std::uint64_t{1} << 63;
// Marks an entry that was rejected because its run is bound to another plan: under that plan the id is open again.
inline constexpr std::uint64_t kTurnedAwayBit = std::uint64_t{1} << 62;

// What a ledger holds of the beginning of an entity.
std::string genesisText(const DomainModule& module, const EntityState& state, Time at,
                        FieldMask fields = ~FieldMask{0});

struct PendingProposal {
  std::uint64_t seq = 0;  // of the escalation entry: the shared Id (A.3.1)
  Hash digest{};
  Time at;
  std::string role, device, agent, action, invariant, message;
  std::vector<Finding> findings;
  ActionPtr decoded;
  Touch touch;                  // of its candidate
  std::optional<Time> expires;  // when it is rejected by "system"
};

struct Partition::Instance {
  EntityPtr state;
  Hash digest{};
  std::string genesis;  // kept until the first entry has carried it
  Hash genesisHash{};
  std::uint64_t firstSeq = 0;  // of the entry that carried it; 0: none has
  std::uint64_t lastSeq = 0;
  bool changed = false;                      // since the last snapshot
  std::unique_ptr<PendingProposal> pending;  // the review queue: at most one (Lemma A.65)
};

}  // namespace witan::kernel
