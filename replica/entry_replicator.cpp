#include "replica/entry_replicator.h"

#include <algorithm>

#include "base/mutant.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

// For speed only: without it a lost batch is made good when the next one shows the gap, or by the standings that
// each device sends once a minute (Replica::tick()).
constexpr std::int64_t kResendMs = 5'000;
constexpr std::size_t kPushBytes = 4 * 1024 * 1024;
constexpr std::size_t kFirstSeqAt = 8;  // in a batch: docs/ledger-format.md

}  // namespace

void EntryReplicator::onEntries(const std::string& from, Peer& peer, const Entries& entries, Now now) {
  PartitionHost* mine = peer.keeper ? state_.partitions.find(entries.partition) : nullptr;
  if (mine == nullptr || !state_.partitions.usable(mine->id()) || ownership_->owns(*mine) || mine->ahead()) return;
  const kernel::Epoch epoch{entries.epochNumber, entries.epochOwner};
  const OwnershipRecord* claim = state_.owners.find(entries.partition);
  const bool over = epoch < mine->epoch() || (claim != nullptr && epoch < claim->epoch() &&
                                              entries.batch >= claim->batches && !mutated("followOldEpoch"));
  if (state_.partitions.refuses(mine->id(), epoch)) return;
  if (over && !mutated("acceptOldEpoch")) {  // the fence, on the followers' side
    ++state_.counters.zombieRefused;
    return;
  }
  PeerPartition& link = peer.partitions[entries.partition];
  const std::uint64_t next = mine->ledger().batches();
  if (entries.batch < next) {
    ++state_.counters.batchesRepeated;
    link.ackDue = true;
    return;
  }
  const kernel::Epoch previous{entries.previousNumber, entries.previousOwner};
  const bool joins = entries.batch == next && (next == 0 || mine->lineage().epochAt(next - 1) == previous);
  if (!joins && !mutated("skipBatch")) {
    ++state_.counters.gaps;  // something was lost on the way, or the logs have diverged: say where we are
    exchange_.tell(peer, *mine, link.asked);
    return;
  }
  if (hasDiverged(*mine, entries) && !mutated("skipBatch")) {
    if (epoch == mine->epoch()) exchange_.onFork(from, *mine, link.follower);
    exchange_.tell(peer, *mine, link.asked);  // the peer says where they diverge
    return;
  }
  const std::size_t epochs = mine->partition().epochs().size();
  const std::string_view value(reinterpret_cast<const char*>(entries.value.data()), entries.value.size());
  const Status folded = mine->follow(value, state_.writes.forFollowed());
  // Of the owner's own log nothing more is taken. Another device sent what it should have refused: a bad frame.
  if (!folded.ok() && folded.error().code == ErrorCode::unauthorised && replication::deviceOf(epoch.owner) == from)
    return state_.refuseLog(*mine, epoch, from, value, folded.error());
  if (!folded.ok()) {
    state_.local->note({"badEntries", from, entries.partition + ": " + folded.error().message});
    state_.partitions.reopen(mine->id());
    return state_.cutOff(from, peer, folded.error());
  }
  ++state_.counters.batchesFollowed;
  link.follower.onBatchFrom(mine->ledger().batches());
  link.ackDue = true;
  ownership_->onEpochs(*mine, epochs);
  ownership_->onFollowed(*mine, now);
}

// Whether the batch, which is the next by its number, was written on top of another log than this one.
bool EntryReplicator::hasDiverged(const PartitionHost& host, const Entries& entries) const {
  if (host.ledger().batches() == 0 || mutated("neverParted")) return false;  // what comes first is the log
  if (entries.previousChain != Hash{} && entries.previousChain != host.chain().last()) return true;
  if (entries.value.size() < kernel::kBatchHeader) return false;  // follow() says what it is
  std::uint64_t first = 0;
  for (unsigned i = 0; i < 8; ++i) first |= std::uint64_t{entries.value[kFirstSeqAt + i]} << (8 * i);
  return first != host.partition().size() + 1;
}

void EntryReplicator::onFollowed(Peer& peer, const Followed& followed, Now now) {
  PartitionHost* mine = state_.partitions.find(followed.partition);
  if (mine == nullptr) return;
  FollowerProgress& follower = peer.partitions[followed.partition].follower;
  if (followed.batches <= mine->ledger().batches()) follower.acknowledge(followed.batches, now.ms);
}

void EntryReplicator::push(Now now) {
  for (auto& [name, peer] : state_.peers) {
    if (!peer.full()) continue;
    for (auto& [id, link] : peer.partitions) {
      PartitionHost* mine = state_.partitions.find(id);
      if (mine == nullptr) continue;
      if (link.ackDue && state_.writes.synced()) {  // what a device says that it has, it has
        state_.say(peer, Followed{id, mine->durableBatches()});
        link.ackDue = false;
      }
      if (link.follower.replicating()) pushTo(peer, *mine, link.follower, now);
    }
  }
}

void EntryReplicator::pushTo(Peer& peer, PartitionHost& host, FollowerProgress& follower, Now now) {
  if (follower.resendIfStalled(now.ms, kResendMs)) ++state_.counters.resent;
  if (follower.next() >= host.durableBatches()) return;
  const EpochHistory lineage = host.lineage();
  const kernel::Epoch epoch = lineage.last();
  std::size_t bytes = 0;
  while (follower.next() < host.durableBatches() && follower.inFlight() < state_.config.followWindow &&
         bytes < kPushBytes) {
    auto value = host.ledger().batch(follower.next());
    if (!value) return;  // the store fails: drain() meets it too
    bytes += value->size();
    const kernel::Epoch previous = follower.next() == 0 ? kernel::Epoch{} : lineage.epochAt(follower.next() - 1);
    state_.say(peer, Entries{host.id(),
                             follower.next(),
                             epoch.number,
                             epoch.owner,
                             previous.number,
                             previous.owner,
                             {value->begin(), value->end()},
                             Hash{},
                             host.chain().after(follower.next()).value_or(Hash{})});
    follower.sent();
    ++state_.counters.batchesSent;
  }
}

bool EntryReplicator::quiet() const {
  for (const auto& [name, peer] : state_.peers)
    for (const auto& [id, link] : peer.partitions) {
      const PartitionHost* mine = state_.partitions.find(id);
      if (mine != nullptr && link.follower.replicating() && link.follower.acked() < mine->durableBatches())
        return false;
    }
  return true;
}

}  // namespace witan::node
