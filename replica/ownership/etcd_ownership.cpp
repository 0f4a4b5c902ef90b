#include "replica/ownership/etcd_ownership.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "replica/core/partition_host.h"
#include "replica/core/request_proofs.h"
#include "replication/writer.h"

namespace witan::node {

namespace {
constexpr std::size_t kMaxQueue = 4096;                // requests of one partition that wait for their turn
constexpr std::size_t kEtcdBatchBytes = 256 * 1024;    // etcd is no faster with larger ones, and everybody waits longer
constexpr std::size_t kTogether = 512;                 // requests that one transaction carries
constexpr std::size_t kLargeRequestBytes = 64 * 1024;  // shares no batch with others before it
constexpr std::int64_t kAheadMs = 100;                 // so long a copy is ahead of the log without pause
constexpr std::int64_t kBusySyncMs = 40;               // as kCopySyncMs, while there is much to do
constexpr std::int64_t kLookAgainMs = 1'000;
constexpr std::int64_t kTryLargerMs = 10 * 60'000;

std::size_t sizeOf(const Request& request) {
  return request.action.size() + request.text.size() + request.reason.size();
}
std::vector<std::string> idsOf(const PartitionTable& partitions) {
  std::vector<std::string> ids;
  for (const auto& [id, host] : partitions.hosts()) ids.push_back(id);
  return ids;
}
std::string queueKey(const std::string& from, const Request& request) { return from + "\n" + request.operationId; }
}  // namespace

EtcdOwnership::EtcdOwnership(ReplicaState& state, EpochListener& listener)
    : OwnershipEngine(state, listener),
      options_(*state.config.etcd),
      engine_(options_, state.config.replication.cluster, state.ownerName, state.device(), idsOf(state.partitions),
              *this),
      limit_(options_.maxBatchBytes),
      usual_(limit_) {}

void EtcdOwnership::onEpochs(PartitionHost& host, std::size_t first) {
  // No owner told peers of them: devices without ledgers learn of them from those that follow the log.
  for (std::size_t i = first; i < host.ledger().epochStarts().size(); ++i) listener_.announce(host.recordOf(i));
}

// This device may own the copies as before.
void EtcdOwnership::onReopened(Now now) { state_.outbox.expedite(now.ms); }

// What is answered is durable in etcd: only those who are told of the copy wait for it. A round that has answers to
// give or requests to decide leaves the sync to the next.
std::int64_t EtcdOwnership::syncWaitMs() const {
  return state_.writes.copies().empty() && !hasWork() ? kCopySyncMs : kBusySyncMs;
}

// --- the connection

void EtcdOwnership::connected(Now now, std::uint64_t cluster) {
  engine_.connected(now.ms);
  if (std::exchange(clusterId_, cluster) != cluster)  // each peer is to learn which one
    for (auto& [name, peer] : state_.peers) peer.newsDue = peer.newsDue || peer.greeted;
  state_.followDirty = true;
}

void EtcdOwnership::disconnected() {
  engine_.disconnected();
  state_.followDirty = true;
}

void EtcdOwnership::received(const EtcdAnswer& answer, Now now) {
  const std::uint64_t gaps = engine_.counters().gaps;
  engine_.received(answer, now.ms);
  if (engine_.counters().gaps != gaps) state_.followDirty = true;  // peers have what etcd has no more
}

void EtcdOwnership::tick(Now now) {
  if (now.ms < engine_.nextTickMs()) return;
  engine_.tick(now.ms);
  state_.followDirty = true;  // peers may have given what etcd could not
}

std::int64_t EtcdOwnership::nextTickMs() const {
  return again_ || state_.expedite ? std::min<std::int64_t>(0, engine_.nextTickMs()) : engine_.nextTickMs();
}

OwnershipEngine::Round EtcdOwnership::finishRound(Now now) {
  decideQueued(now);
  Round round{std::exchange(refused_, {}), {}};
  std::move(rejected_.begin(), rejected_.end(), std::back_inserter(round.releases));
  rejected_.clear();
  round.requests = engine_.take(now.ms);
  state_.counters.etcd = engine_.counters();
  return round;
}

// --- requests

std::string EtcdOwnership::tooLargeText(std::string_view what, std::size_t bytes) const {
  const bool learned = limit_ < options_.maxBatchBytes;
  return std::string(what) + " takes " + std::to_string(bytes) + " bytes; etcd takes a batch of at most " +
         std::to_string(limit_) +
         (learned ? " (its --max-request-bytes); raise that: larger ones are tried again every 10 minutes"
                  : " (by default, and no more is made use of)");
}

Status EtcdOwnership::checkSize(const Request& request) const {
  if (sizeOf(request) <= limit_) return okStatus();
  return invalid(tooLargeText("this request", sizeOf(request)));
}

bool EtcdOwnership::decide(PartitionHost& host, const Request& request, const std::string& from, Now now) {
  Owned& owned = owned_[host.id()];
  const bool outOfReach = now.ms - engine_.lastHeardMs() > kEtcdSilenceMs;
  if (outOfReach || owned.queue.size() >= kMaxQueue) return false;
  if (!owned.queued.insert(queueKey(from, request)).second)
    for (const Waiting& waiting : owned.queue)
      if (waiting.from == from && waiting.request == request) return true;  // again, because nobody answered yet
  owned.queue.push_back({request, from});
  return true;
}

void EtcdOwnership::rejectQueued(Owned& owned) {
  for (Waiting& waiting : owned.queue) {
    if (waiting.from.empty()) {
      state_.expedite = true;  // it is in the outbox
      continue;
    }
    rejected_.push_back(
        {waiting.from, waiting.request.kind,
         answerTo(waiting.request, AnswerKind::unavailable, "the owner lost the partition, or does not reach etcd")});
  }
  owned.queue.clear();
  owned.queued.clear();
}

// --- decisions

void EtcdOwnership::decideQueued(Now now) {
  const bool outOfReach = now.ms - engine_.lastHeardMs() > kEtcdSilenceMs;
  again_ = false;
  tryLarger(now.ms);
  share();
  for (auto& [id, owned] : owned_) {
    if (outOfReach) rejectQueued(owned);
    if (!state_.partitions.usable(id)) continue;
    PartitionHost& host = this->host(id);
    if (owned.undo) {
      if (!host.ahead()) owned.undo = false, reopen(id);
    } else if (owned.granted && !host.ahead()) {
      begin(host, owned, now);
    } else if (engine_.serves(id)) {
      decideQueue(host, owned, now);
    }
    owned.shown = owned.shown || host.showsLog();
  }
  again_ = again_ || (share_ == 0 && hasWork());
}

// Up to kTogether all that waits goes with one transaction, and what comes meanwhile waits for its answer: two at a
// time take longer than one after the other (bench/RESULTS.md). With more, etcd and this device would work in turns,
// each long; and a few that were sent as they came would go round by themselves.
void EtcdOwnership::share() {
  std::size_t waiting = 0, sent = 0;
  for (const auto& [id, owned] : owned_) {
    waiting += owned.queue.size();
    for (const Under& under : owned.under) sent += under.requests;
  }
  const std::size_t all = waiting + sent;
  const bool together = all <= kTogether;
  few_ = all > options_.leastShare && (together ? sent > 0 : waiting < sent);
  share_ = std::max(options_.leastShare, together ? all : (all + options_.pipeline - 1) / options_.pipeline);
}

void EtcdOwnership::begin(PartitionHost& host, Owned& owned, Now now) {
  owned.granted = false;
  const std::uint64_t last = host.epoch().number;
  host.openEpoch({last + 1, state_.ownerName},
                 last == 0 ? kernel::EpochCause::founding : kernel::EpochCause::succession, now.wall, "by etcd");
  commit(host, owned, 0, now);
}

// A few transactions at a time, so that what comes meanwhile is decided, and sent, together. A snapshot needs a copy
// that is not ahead.
bool EtcdOwnership::mayCommit(const PartitionHost& host) const {
  if (few_ || (host.ahead() && host.snapshotDue(state_.config.snapshotEvery))) return false;
  return engine_.committing(host.id()) < options_.pipeline && engine_.transactions() < options_.transactions;
}

// Under load the copy would be ahead without pause, or again at the end of each round. Whoever shows its state
// (node/slices/slices.h, node/ledgers/ledger_readers.h) needs a round now and then that ends with the log's.
bool EtcdOwnership::rests(const PartitionHost& host, const Owned& owned, Now now) {
  if (owned.shown || now.ms - owned.aheadMs < kAheadMs) return false;
  again_ = again_ || !host.ahead();
  return true;
}

void EtcdOwnership::decideQueue(PartitionHost& host, Owned& owned, Now now) {
  if (!owns(host)) return rejectQueued(owned);  // a later epoch is known already
  if (!mayCommit(host) || rests(host, owned, now)) return;
  if (!expire(host, owned, now) && (owned.queue.empty() || share_ == 0)) return;
  const std::size_t decided = decideSome(host, owned, now);
  share_ -= std::min(share_, decided);
  if (host.partition().openBatchBytes() > limit_) return undo(host, owned, decided);
  for (std::size_t i = 0; i < decided; ++i) owned.queued.erase(queueKey(owned.queue[i].from, owned.queue[i].request));
  owned.queue.erase(owned.queue.begin(), owned.queue.begin() + static_cast<std::ptrdiff_t>(decided));
  commit(host, owned, decided, now);
}

// Many may be due at once: one after the other, until the batch is full. The rest follow with the next.
bool EtcdOwnership::expire(PartitionHost& host, Owned& owned, Now now) {
  if (state_.config.pendingTtlMicros <= 0) return false;
  const std::size_t most = std::min(kEtcdBatchBytes, usual_ / 2);
  const kernel::Partition& partition = host.partition();
  owned.expired = 0;
  if (owned.expireMost == 1 || !owned.stuck.empty()) {
    expireOthers(host, owned, most, now);
  } else {
    while (partition.openBatchBytes() < most && owned.expired < owned.expireMost && host.expire(now.wall, 1))
      ++owned.expired;
  }
  return partition.hasOpenBatch();
}

// The same one by one, but for those that etcd does not take.
void EtcdOwnership::expireOthers(PartitionHost& host, Owned& owned, std::size_t most, Now now) {
  if (now.ms < owned.lookMs) return;
  kernel::Partition& partition = host.ledger().partition();
  const Time clock = std::max(now.wall, partition.latest());
  for (const kernel::PendingView& view : partition.queue()) {
    if (partition.openBatchBytes() >= most || owned.expired >= owned.expireMost) return;
    if (owned.stuck.contains(view.seq) || partition.expire(clock, view.entity).empty()) continue;
    if (owned.expired++ == 0) owned.expiring = view.seq;
  }
  if (owned.expired == 0) owned.lookMs = now.ms + kLookAgainMs;
}

// Returns how many.
std::size_t EtcdOwnership::decideSome(PartitionHost& host, Owned& owned, Now now) {
  const std::size_t most = std::min(kEtcdBatchBytes, usual_ / 2);
  // Whole queues, if they are not much more than the share: what is left over would go round by itself.
  const std::size_t upTo = share_ == 0 || 2 * owned.queue.size() > 3 * share_ ? share_ : owned.queue.size();
  std::size_t decided = 0;
  while (decided < std::min(upTo, owned.queue.size()) && host.partition().openBatchBytes() < most) {
    const Waiting& waiting = owned.queue[decided];
    const bool alone = waiting.alone || sizeOf(waiting.request) > std::min(kLargeRequestBytes, usual_ / 2);
    if (alone && host.partition().hasOpenBatch()) break;
    host.decide(waiting.request, now.wall, waiting.from, stuckText(host, owned, waiting.request.entity));
    ++state_.counters.decided;
    ++decided;
    if (alone) break;
  }
  return decided;
}

// The last decision made the batch too large. It was no decision: the copy will be opened again, without it.
void EtcdOwnership::undo(PartitionHost& host, Owned& owned, std::size_t last) {
  host.dropOpen();
  owned.undo = again_ = true;
  if (last == 0) return undoExpiry(host, owned);
  Waiting& waiting = owned.queue[last - 1];
  if (!std::exchange(waiting.alone, true)) return;  // of others, or of what had expired: once more, by itself
  refused_.push_back({waiting.from, waiting.request.kind,
                      answerTo(waiting.request, AnswerKind::decided,
                               tooLargeText("the entry of this request", host.partition().openBatchBytes()))});
  owned.queued.erase(queueKey(waiting.from, waiting.request));
  owned.queue.erase(owned.queue.begin() + static_cast<std::ptrdiff_t>(last - 1));
}

// Of those whose time was up, it was the last that made the batch too large. One that was alone, and known, etcd never
// takes: it stays pending, and is passed over.
void EtcdOwnership::undoExpiry(PartitionHost& host, Owned& owned) {
  const bool known = owned.expireMost == 1 || !owned.stuck.empty();
  owned.expireMost = std::max<std::size_t>(1, owned.expired - 1);
  if (owned.expired > 1 || !known) return;
  owned.expireMost = ~std::size_t{0};
  const std::size_t bytes = owned.stuck[owned.expiring] = host.partition().openBatchBytes();
  state_.notice("tooLarge", host.id(), tooLargeText("the expiry of entry " + std::to_string(owned.expiring), bytes));
}

// Empty: nothing stands in the way. Its time is up, so no counselor may decide it any more, and the entity stays frozen
// until its expiry is recorded. To try that with each request would open the copy again each time.
std::string EtcdOwnership::stuckText(const PartitionHost& host, const Owned& owned, const std::string& entity) const {
  if (owned.stuck.empty()) return {};
  const auto pending = host.partition().pending(entity);
  const auto stuck = pending ? owned.stuck.find(pending->seq) : owned.stuck.end();
  if (stuck == owned.stuck.end()) return {};
  return tooLargeText("\"" + entity + "\" is frozen: the expiry of entry " + std::to_string(pending->seq),
                      stuck->second);
}

// The price, if it still takes no more: each partition with something so large opens its copy again. Batches of several
// requests stay as they are until etcd has taken a larger one.
void EtcdOwnership::tryLarger(std::int64_t nowMs) {
  if (limit_ == options_.maxBatchBytes || nowMs < againMs_) return;
  limit_ = options_.maxBatchBytes;
  for (auto& [id, owned] : owned_) owned.stuck.clear();
}

void EtcdOwnership::commit(PartitionHost& host, Owned& owned, std::size_t requests, Now now) {
  if (std::exchange(owned.shown, false)) owned.aheadMs = now.ms;
  owned.expireMost = ~std::size_t{0};
  PartitionHost::Ahead ahead = host.takeAhead();
  owned.under.push_back({std::move(ahead.rows), requests});
  engine_.commit(host.id(), ahead.number, std::move(ahead.value), now.ms);
}

void EtcdOwnership::reopen(const std::string& partition) {
  state_.partitions.reopen(partition);
  again_ = true;
}

bool EtcdOwnership::hasWork() const {
  return std::any_of(owned_.begin(), owned_.end(), [&](const auto& entry) {
    return !entry.second.queue.empty() && mayCommit(*state_.partitions.find(entry.first));
  });
}

bool EtcdOwnership::quiet() const {
  if (!engine_.quiet()) return false;
  return std::all_of(owned_.begin(), owned_.end(), [](const auto& entry) {
    const Owned& owned = entry.second;
    return owned.queue.empty() && !owned.granted && !owned.undo;
  });
}

// --- what the engine asks of the copies

std::uint64_t EtcdOwnership::batches(const std::string& partition) const {
  return state_.partitions.find(partition)->position().batches;
}

std::uint64_t EtcdOwnership::durableBatches(const std::string& partition) const {
  return state_.partitions.find(partition)->durableBatches();
}

bool EtcdOwnership::follow(const std::string& partition, const std::string& value) {
  PartitionHost& host = this->host(partition);
  if (host.ahead() || !state_.partitions.usable(partition)) return false;
  const PartitionTable::RefusedEpoch* const refused = state_.partitions.refused(partition);
  if (refused != nullptr && refused->batch == host.ledger().batches()) return false;
  const std::size_t epochs = host.partition().epochs().size();
  const OwnershipRecord* claim = state_.owners.find(partition);
  const kernel::Epoch last = claim == nullptr ? host.epoch() : claim->epoch();
  const auto offence = findOffence(state_, host, replication::deviceOf(last.owner), value);
  if (!offence.ok() && offence.error().code == ErrorCode::unavailable) return false;
  Status folded = offence.ok() && *offence ? Status(Error{ErrorCode::unauthorised, (*offence)->what, ""})
                                           : host.follow(value, state_.writes.copies());
  if (!folded.ok() && folded.error().code == ErrorCode::unauthorised) {
    state_.refuseLog(host, last, "etcd", value, folded.error(),
                     offence.ok() && *offence ? (*offence)->kind : "unlawful");
    return false;
  }
  if (!folded.ok()) {
    state_.local->note({"badEntries", "etcd", partition + ": " + folded.error().message});
    state_.partitions.reopen(partition);
    return false;
  }
  onEpochs(host, epochs);
  return true;
}

void EtcdOwnership::onGranted(const std::string& partition) { owned_[partition].granted = true; }

void EtcdOwnership::onCommitted(const std::string& partition) {
  PartitionHost& host = this->host(partition);
  Owned& owned = owned_[partition];
  const std::size_t epochs = host.position().epochs.size();
  host.settle();
  const store::WriteBatch& rows = owned.under.front().rows;
  for (std::size_t i = 0; i < rows.size(); ++i) state_.writes.copies().put(rows.op(i).key, rows.op(i).value);
  if (!rows.empty()) usual_ = std::max(usual_, std::min(limit_, rows.op(0).value.size()));
  owned.under.pop_front();
  if (host.position().epochs.size() == epochs) return;
  onEpochs(host, epochs);
  state_.expedite = true;  // also if a peer, quicker than etcd's answer, has told of the epoch before
}

void EtcdOwnership::onLost(const std::string& partition, bool discard) {
  Owned& owned = owned_[partition];
  owned.granted = false;
  owned.stuck.clear();  // another owner may have recorded them
  owned.under.clear();
  rejectQueued(owned);
  const bool undo = std::exchange(owned.undo, false);
  if (discard || undo) reopen(partition);
  state_.expedite = state_.followDirty = true;
}

// Its requests are asked again, and those with too large an entry are refused then.
void EtcdOwnership::onTooLarge(const std::string& partition, std::size_t bytes) {
  limit_ = usual_ = std::max<std::size_t>(1, std::min(usual_, bytes - 1));
  againMs_ = engine_.lastHeardMs() + kTryLargerMs;
  state_.notice("tooLarge", partition, "etcd does not take a batch of " + std::to_string(bytes) + " bytes");
  Owned& owned = owned_[partition];
  owned.under.clear();
  owned.undo = false;
  rejectQueued(owned);
  reopen(partition);
  state_.expedite = true;
}

}  // namespace witan::node
