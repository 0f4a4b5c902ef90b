#include "replica/entry_replicator.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/log_head.h"
#include "replica/core/request_proofs.h"
#include "replica/head_exchange.h"
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
    // Where it is the peer knows. Asked for at once they would all come again at once.
    if (entries.batch > next && link.putOff == next) return;
    ++state_.counters.gaps;  // something was lost on the way, or the logs have diverged: say where we are
    exchange_.tell(peer, *mine, link.asked);
    return;
  }
  if (hasDiverged(*mine, entries) && !mutated("skipBatch")) {
    if (epoch == mine->epoch()) exchange_.onFork(from, *mine, link.follower);
    exchange_.tell(peer, *mine, link.asked);  // the peer says where they diverge
    return;
  }
  BatchSeal sealed;
  Status folded = checkSeal(*mine, link, entries, sealed);
  link.putOff = next;
  if (!folded.ok() && folded.error().code == ErrorCode::unavailable) {
    ++state_.counters.batchesUnsealed;
    return;
  }
  const std::size_t epochs = mine->partition().epochs().size();
  const kernel::Epoch before = mine->epoch();
  const std::string_view value = asView(entries.value);
  store::WriteBatch& rows = state_.writes.forFollowed();
  Offence offence{"unlawful"};
  if (folded.ok()) folded = checkProposers(*mine, sealed.number > 0 ? sealed.epoch() : epoch, value, offence);
  if (!folded.ok() && folded.error().code == ErrorCode::unavailable) {
    if (!std::exchange(link.unproven, true)) state_.notice("proposerUnknown", mine->id(), folded.error().message);
    return;
  }
  if (folded.ok())
    folded = mine->follow(value, rows, [&] { return checkEpochs(*mine, entries.batch, epochs, sealed); });
  if (!folded.ok() && folded.error().code == ErrorCode::unavailable) return state_.partitions.reopen(mine->id());
  if (!folded.ok() && folded.error().code == ErrorCode::conflict) {
    exchange_.onFork(from, *mine, link.follower);
    return state_.partitions.reopen(mine->id());
  }
  // Of the owner's own log nothing more is taken. Another device sent what it should have refused: a bad frame.
  if (!folded.ok() && folded.error().code == ErrorCode::unauthorised) {
    if (sealed.number > 0)
      return state_.refuseLog(*mine, sealed.epoch(), std::string(replication::deviceOf(sealed.owner)), value,
                              folded.error(), offence.kind, evidenceOf(*mine, entries, offence));
    if (!state_.provesOwners() && replication::deviceOf(epoch.owner) == from)
      return state_.refuseLog(*mine, epoch, from, value, folded.error(), offence.kind);
  }
  if (!folded.ok()) {
    const std::string_view by = mutated("accuseOwner") ? replication::deviceOf(epoch.owner) : std::string_view(from);
    state_.local->note({"badEntries", std::string(by), entries.partition + ": " + folded.error().message});
    state_.partitions.reopen(mine->id());
    return state_.cutOff(from, peer, folded.error());
  }
  ++state_.counters.batchesFollowed;
  link.putOff.reset();
  link.unproven = false;
  if (!entries.seal.empty()) state_.seals.keep(mine->id(), entries.batch, entries.seal, rows);
  link.follower.onBatchFrom(mine->ledger().batches());
  link.ackDue = true;
  const std::uint64_t released = state_.partitions.released(mine->id());
  if (mine->epoch() != before && mine->epoch().owner == state_.ownerName && ownership_->ownerHoldsLog() &&
      entries.batch >= released)
    exchange_.onOwnEpochFrom(from, *mine, rows);
  if (released > 0 && mine->ledger().batches() >= released) state_.partitions.forgetRelease(mine->id(), rows);
  // What its owner has pruned came from another device: it goes on with the owner.
  if (const Peer* owner = state_.member(state_.ownerDevice(mine->id())); owner != nullptr && owner != &peer)
    if (const auto at = owner->partitions.find(mine->id());
        at != owner->partitions.end() && at->second.first == mine->ledger().batches())
      state_.followDirty = true;
  ownership_->onEpochs(*mine, epochs);
  ownership_->onFollowed(*mine, now);
  checkTold(state_, *mine);
}

// Every entry is in the name of a device, and of a counselor, that asked for it.
Status EntryReplicator::checkProposers(const PartitionHost& host, const kernel::Epoch& epoch, std::string_view batch,
                                       Offence& offence) {
  if (mutated("anyProposer")) return okStatus();
  auto found = findOffence(state_, host, replication::deviceOf(epoch.owner), batch);
  if (!found.ok()) return found.error();
  if (!*found) return okStatus();
  offence = *std::move(*found);
  return Error{ErrorCode::unauthorised, offence.what, ""};
}

// Without the key. Of no kind: it is too large. The rules alone show an unlawful batch, so that needs the whole log.
EntryEvidence EntryReplicator::evidenceOf(const PartitionHost& host, const Entries& entries,
                                          const Offence& offence) const {
  EntryEvidence evidence{offence.kind,
                         "",
                         entries.partition,
                         offence.seq,
                         toBase64(asView(entries.seal)),
                         toBase64(asView(entries.value))};
  if (!offence.entity.empty()) evidence.entity = offence.entity;
  if (!offence.head.empty()) evidence.head = offence.head;
  std::size_t bytes = evidence.batch.size() + kMaxHeadBytes;
  if (offence.kind == "unlawful") {
    const auto format = host.rows().get("format");
    if (!format.ok() || !*format) return {};
    evidence.format = FileBytes(toBase64(**format));
    std::vector<FileBytes>& before = evidence.before.emplace();
    for (std::uint64_t n = 0; n < entries.batch && bytes < kMaxEntryEvidence; ++n) {
      const auto value = host.ledger().batch(n);
      if (!value.ok()) return {};
      bytes += before.emplace_back(toBase64(*value)).size() + 3;
    }
  }
  return bytes < kMaxEntryEvidence ? evidence : EntryEvidence{};
}

// Whether the batch, which is the next by its number, was written on top of another log than this one.
bool EntryReplicator::hasDiverged(const PartitionHost& host, const Entries& entries) const {
  if (host.ledger().batches() == 0 || mutated("neverParted")) return false;  // what comes first is the log
  if (entries.previousChain != Hash{} && entries.previousChain != host.chain().last()) return true;
  const OwnershipRecord* claim = state_.provesOwners() ? state_.owners.find(host.id()) : nullptr;
  if (claim != nullptr && claim->batches == entries.batch && claim->chain != Hash{} &&
      claim->chain != host.chain().last())
    return true;                                                  // the claim vouches for another one
  if (entries.value.size() < kernel::kBatchHeader) return false;  // follow() says what it is
  std::uint64_t first = 0;
  for (unsigned i = 0; i < 8; ++i) first |= std::uint64_t{entries.value[kFirstSeqAt + i]} << (8 * i);
  return first != host.partition().size() + 1;
}

bool EntryReplicator::vouched(const PartitionHost& host, std::uint64_t batch) const {
  const OwnershipRecord* claim = state_.owners.find(host.id());
  return claim != nullptr && batch < claim->batches;
}

Status EntryReplicator::checkSeal(const PartitionHost& host, const PeerPartition& link, const Entries& entries,
                                  BatchSeal& sealed) {
  if (!state_.provesOwners() || (vouched(host, entries.batch) && link.asked)) return okStatus();
  if (entries.seal.empty()) return Error{ErrorCode::unavailable, "the batch bears no seal", ""};
  BatchSeal seal;
  WITAN_DO(readMessage(asView(entries.seal), seal, "seal"));
  const bool begins = seal.epoch() != host.epoch();
  if (begins && state_.owners.find(host.id(), seal.epoch()) == nullptr)
    return Error{ErrorCode::unavailable, "no claim of its epoch is known", ""};
  const auto keys = state_.config.heads->keysOf(replication::deviceOf(seal.owner));
  const std::string_view value = asView(entries.value);
  const bool fits = value.size() >= kernel::kBatchHeader && seal.batches == entries.batch + 1 &&
                    seal.value == sha256(value) && seal.chain == chained(host.chain().last(), value);
  if (!fits) return invalid(concat("the seal of batch ", entries.batch, " is that of another one"));
  // By a key that this device does not know yet, too.
  if (!holdsSeal(state_.config.replication.cluster, host.id(), seal, keys, state_.signatures) && !mutated("anySeal"))
    return Error{ErrorCode::unavailable, "no key that is known made the seal", ""};
  sealed = std::move(seal);
  return okStatus();
}

Status EntryReplicator::checkEpochs(const PartitionHost& host, std::uint64_t batch, std::size_t known,
                                    const BatchSeal& sealed) const {
  if (!state_.provesOwners()) return okStatus();
  if (vouched(host, batch))  // for the log before the latest epoch, so for none that is later
    return host.epoch() < state_.owners.find(host.id())->epoch() ? okStatus()
                                                                 : invalid("an epoch after the latest one");
  for (std::size_t i = known; i < host.partition().epochs().size(); ++i) {
    OwnershipRecord record = host.recordOf(i);
    const OwnershipRecord* claim = state_.owners.find(host.id(), record.epoch());
    if (claim == nullptr) return Error{ErrorCode::unavailable, "no claim of its epoch is known", ""};
    const std::string& cluster = state_.config.replication.cluster;
    if (!claim->signature.empty() && claimText(cluster, record) != claimText(cluster, *claim))
      return Error{ErrorCode::conflict, "its epoch is not the one that its owner claimed", ""};
  }
  if (sealed.epoch() != host.epoch()) return invalid("the seal is of another epoch than the batch");
  return sealed.format == host.partition().epochs().back().format ? okStatus()
                                                                  : invalid("the seal is of another format");
}

void EntryReplicator::onFollowed(Peer& peer, const Followed& followed, Now now) {
  PartitionHost* mine = state_.partitions.find(followed.partition);
  if (mine == nullptr) return;
  FollowerProgress& follower = peer.partitions[followed.partition].follower;
  if (followed.batches <= mine->ledger().batches() || mutated("ackBeyond"))
    follower.acknowledge(followed.batches, now.ms);
}

void EntryReplicator::push(RoundSignature& round, Now now) {
  for (auto& [name, peer] : state_.peers) {
    if (!peer.full()) continue;
    for (auto& [id, link] : peer.partitions) {
      PartitionHost* mine = state_.partitions.find(id);
      if (mine == nullptr) continue;
      if (link.ackDue && state_.writes.synced()) {  // what a device says that it has, it has
        state_.say(peer, Followed{id, mine->durableBatches()});
        link.ackDue = false;
      }
      if (mutated("slowPush") && now.ms % 60'000 > 5'000) continue;
      if (link.follower.replicating()) pushTo(peer, *mine, link.follower, now);
    }
  }
  const std::string& cluster = state_.config.replication.cluster;
  for (Leaving& one : leaving_)
    if (one.seal) sealWith(round, cluster, one.entries.partition, *one.seal);
}

std::uint16_t EntryReplicator::formatOf(const PartitionHost& host, const kernel::Epoch& epoch) {
  const auto& epochs = host.partition().epochs();
  const auto at = std::ranges::find(epochs, epoch, kernel::epochOf);
  return at == epochs.end() ? std::uint16_t{0} : at->format;
}

// Of a batch that this device wrote, the owner's seal is made with the others of the round.
void EntryReplicator::prove(Leaving& leaving, const PartitionHost& host, const EpochHistory& lineage) const {
  Entries& entries = leaving.entries;
  const kernel::Epoch epoch = lineage.epochAt(entries.batch);
  const auto chain = host.chain().after(entries.batch + 1);
  if (!state_.provesOwners() || !chain) return;
  if (epoch.owner == state_.ownerName) {
    leaving.seal.emplace(
        BatchSeal{epoch.number, epoch.owner, entries.batch + 1, *chain, sha256(asView(entries.value))});
    leaving.seal->format = formatOf(host, epoch), leaving.seal->run = state_.run;
    return;
  }
  BatchSeal kept;
  Bytes bytes = state_.seals.find(host.id(), entries.batch);
  if (!bytes.empty() && readMessage(asView(bytes), kept, "seal").ok() && kept.epoch() == epoch && kept.chain == *chain)
    entries.seal = std::move(bytes);
}

void EntryReplicator::say() {
  if (leaving_.empty()) return;
  WordWriter words;
  for (Leaving& one : leaving_) {
    if (one.seal) {
      const std::string_view bytes = words.message(*one.seal);
      one.entries.seal.assign(bytes.begin(), bytes.end());
    }
    state_.say(*one.peer, one.entries);
  }
  leaving_.clear();
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
    leaving_.push_back({&peer,
                        {host.id(),
                         follower.next(),
                         epoch.number,
                         epoch.owner,
                         previous.number,
                         previous.owner,
                         {value->begin(), value->end()},
                         Hash{},
                         host.chain().after(follower.next()).value_or(Hash{})},
                        std::nullopt});
    prove(leaving_.back(), host, lineage);
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
