#include "replication/incarnation.h"

#include "base/bytes.h"

namespace witan::replication {

namespace {

// What a counter should be between, and is not.
std::string outside(std::string_view space, std::uint64_t counter, const Lease& lease) {
  return "space " + std::string(space) + ": the store's last counter is " + std::to_string(counter) +
         ", the record beside it says " +
         (lease.from == lease.to ? "exactly " + std::to_string(lease.to)
                                 : std::to_string(lease.from) + " to " + std::to_string(lease.to));
}

IncarnationDecision decideForWriter(const StoreIncarnation& store, const HighWater& record) {
  for (const auto& [space, lease] : record.spaces) {
    const auto at = store.counters.find(space);
    const std::uint64_t counter = at == store.counters.end() ? 0 : at->second;
    if (counter < lease.from)
      return {IncarnationCause::storeBehind, outside(space, counter, lease) + ": the store went back in time"};
  }
  for (const auto& [space, counter] : store.counters) {
    const auto at = record.spaces.find(space);
    const Lease lease = at == record.spaces.end() ? Lease{} : at->second;
    if (counter > lease.to)
      return {IncarnationCause::storeAhead, outside(space, counter, lease) + ": the record went back in time"};
  }
  return {};
}

}  // namespace

const char* toString(IncarnationCause cause) {
  switch (cause) {
    case IncarnationCause::none: return "none";
    case IncarnationCause::freshStore: return "fresh store";
    case IncarnationCause::noRecord: return "no high-water record";
    case IncarnationCause::damagedRecord: return "damaged high-water record";
    case IncarnationCause::otherWriter: return "high-water record of another incarnation";
    case IncarnationCause::storeBehind: return "store behind its high-water record";
    case IncarnationCause::storeAhead: return "store ahead of its high-water record";
  }
  return "?";
}

Lease leaseFrom(std::uint64_t counter) { return {counter, counter + kLeaseCounters}; }
bool leaseIsDue(const Lease& lease, std::uint64_t counter) { return counter + kLeaseCounters / 2 >= lease.to; }
bool leaseCovers(const Lease& lease, std::uint64_t counter) { return counter > lease.from && counter <= lease.to; }
Lease closedLease(std::uint64_t counter) { return {counter, counter}; }

IncarnationDecision decideIncarnation(const StoreIncarnation& store, const std::optional<Result<HighWater>>& record) {
  // A record that is not believed is a record all the same: this store stands in the place of another.
  if (!store.writer && record && !record->ok()) return {IncarnationCause::damagedRecord, record->error().message};
  if (!store.writer) return {IncarnationCause::freshStore, "the store has no writer yet"};
  if (!record) {
    return {IncarnationCause::noRecord,
            "there is no high-water record beside the store of " + *store.writer + ": it may be a copy or a restore"};
  }
  if (!record->ok()) return {IncarnationCause::damagedRecord, record->error().message};
  const HighWater& highWater = **record;
  if (highWater.writer != *store.writer) {
    return {IncarnationCause::otherWriter, "the store is of " + *store.writer +
                                               ", the high-water record beside it of " + highWater.writer +
                                               ": they do not belong together"};
  }
  return decideForWriter(store, highWater);
}

const char* toString(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::plausible: return "plausible";
    case ClaimVerdict::rolledBack: return "rolled back";
    case ClaimVerdict::lie: return "lie";
  }
  return "?";
}

ClaimJudgement judgeOwnClaim(const OwnClaim& claim) {
  if (claim.claimed <= claim.issued) return {};
  const std::string facts = claim.peer + " says that it has " + std::to_string(claim.claimed) + " commits of " +
                            claim.writer + " in space " + claim.space + ", which issued " +
                            std::to_string(claim.issued);
  if (claim.claimed - claim.issued > kMaxCounterJump)
    return {ClaimVerdict::lie, facts + ": more than 2^40 ahead, which no device reaches"};
  if (claim.bornHere) {
    return {ClaimVerdict::lie, facts +
                                   ": this writer was made by the running process, so nobody can know more of it, "
                                   "unless this machine runs twice (a copied virtual machine)"};
  }
  if (claim.rollbacksByPeer >= kMaxRollbacksByPeer) {
    return {ClaimVerdict::lie, facts + ": it was believed " + std::to_string(claim.rollbacksByPeer) +
                                   " times already, and new writers were taken"};
  }
  return {ClaimVerdict::rolledBack, facts + ": this store went back in time"};
}

ClaimJudgement judgeClock(std::string_view peer, std::string_view space, const VectorClock& known,
                          const VectorClock& claimed) {
  for (const auto& [writer, counter] : claimed.entries()) {
    const std::uint64_t here = known.at(writer);
    if (counter <= here || counter - here <= kMaxCounterJump) continue;
    return {ClaimVerdict::lie, std::string(peer) + " says that it has " + std::to_string(counter) + " commits of " +
                                   writer + " in space " + std::string(space) + ", of which " + std::to_string(here) +
                                   " are known here: more than 2^40 ahead"};
  }
  return {};
}

}  // namespace witan::replication
