#include "node/replica/replica_etcd.h"

#include <algorithm>
#include <iterator>

#include "node/replica/replica.h"

namespace witan::node {

namespace {
constexpr std::size_t kMaxQueue = 1024;  // requests of one partition while a batch is being committed
}

EtcdOwner::EtcdOwner(Replica& replica, EtcdOptions options, const std::string& cluster,
                     const std::vector<std::string>& partitions)
    : replica_(replica), engine_(options, cluster, replica.ownerName_, replica.device(), partitions, *this) {}

// --- requests

bool EtcdOwner::offer(const std::string& partition, const Request& request, const std::string& from,
                      std::int64_t nowMs) {
  Owned& owned = owned_[partition];
  const bool outOfReach = nowMs - engine_.lastHeardMs() > kEtcdSilenceMs;
  if (outOfReach || owned.queue.size() >= kMaxQueue) return false;
  for (const Waiting& waiting : owned.queue)
    if (waiting.from == from && waiting.request.operationId == request.operationId && waiting.request == request)
      return true;  // it asks again because nobody answered yet
  owned.queue.push_back({request, from});
  return true;
}

void EtcdOwner::turnAway(Owned& owned) {
  for (Waiting& waiting : owned.queue)
    if (!waiting.from.empty())
      turned_.push_back({waiting.from, waiting.request.operationId, fingerprintOf(waiting.request)});
  owned.queue.clear();  // this device's own stay in its outbox
}

void EtcdOwner::decide(Now now) {
  const bool outOfReach = now.ms - engine_.lastHeardMs() > kEtcdSilenceMs;
  for (auto& [id, owned] : owned_) {
    PartitionHost& host = *replica_.host(id);
    if (outOfReach) turnAway(owned);
    if (host.ahead() || replica_.reopen_.contains(id)) continue;
    if (std::exchange(owned.granted, false)) {
      const std::uint64_t last = host.epoch().number;
      host.openEpoch({last + 1, replica_.ownerName()},
                     last == 0 ? kernel::EpochCause::founding : kernel::EpochCause::succession, now.wall, "by etcd");
      commit(host, owned, now);
    } else if (engine_.serves(id)) {
      decideQueue(host, owned, now);
    }
  }
}

void EtcdOwner::decideQueue(PartitionHost& host, Owned& owned, Now now) {
  if (!replica_.owns(host)) return turnAway(owned);  // a later epoch is known already
  const bool expired = replica_.config_.pendingTtlMicros > 0 && host.expire(now.wall);
  if (owned.queue.empty() && !expired) return;
  std::size_t decided = 0;
  while (decided < owned.queue.size() && host.partition().openBatchBytes() < kOwnBatchBytes) {
    Waiting& waiting = owned.queue[decided++];
    host.decide(waiting.request, now.wall, std::move(waiting.from));
    ++replica_.counters_.decided;
  }
  owned.queue.erase(owned.queue.begin(), owned.queue.begin() + static_cast<std::ptrdiff_t>(decided));
  commit(host, owned, now);
}

void EtcdOwner::commit(PartitionHost& host, Owned& owned, Now now) {
  PartitionHost::Ahead ahead = host.takeAhead();
  owned.rows = std::move(ahead.rows);
  engine_.commit(host.id(), host.position().batches, std::move(ahead.value), now.ms);
}

bool EtcdOwner::quiet() const {
  if (!engine_.quiet()) return false;
  return std::all_of(owned_.begin(), owned_.end(),
                     [](const auto& entry) { return entry.second.queue.empty() && !entry.second.granted; });
}

// --- what the engine asks of the copies

std::uint64_t EtcdOwner::batches(const std::string& partition) const {
  return replica_.hosts_.find(partition)->second->position().batches;
}

std::uint64_t EtcdOwner::durableBatches(const std::string& partition) const {
  return replica_.hosts_.find(partition)->second->durableBatches();
}

bool EtcdOwner::follow(const std::string& partition, const std::string& value) {
  PartitionHost& host = *replica_.host(partition);
  if (host.ahead() || replica_.reopen_.contains(partition)) return false;
  const std::size_t epochs = host.partition().epochs().size();
  if (Status folded = host.follow(value, replica_.pending_); !folded.ok()) {
    replica_.local_->note({"badEntries", "etcd", partition + ": " + folded.error().message});
    replica_.reopen_[partition] = std::nullopt;
    return false;
  }
  replica_.learnFrom(host, epochs);
  return true;
}

void EtcdOwner::onGranted(const std::string& partition) { owned_[partition].granted = true; }

void EtcdOwner::onCommitted(const std::string& partition) {
  PartitionHost& host = *replica_.host(partition);
  Owned& owned = owned_[partition];
  const std::size_t epochs = host.position().epochs.size();
  host.settle();
  for (std::size_t i = 0; i < owned.rows.size(); ++i)
    replica_.pending_.put(owned.rows.op(i).key, owned.rows.op(i).value);
  owned.rows.clear();
  replica_.learnFrom(host, epochs);
}

void EtcdOwner::onLost(const std::string& partition, bool discard) {
  Owned& owned = owned_[partition];
  owned.granted = false;
  owned.rows.clear();
  turnAway(owned);
  if (discard) replica_.reopen_[partition] = std::nullopt;
  replica_.hurry_ = replica_.followDirty_ = true;
}

// --- the replica's part

void Replica::etcdConnected(Now now) {
  if (!etcd_) return;
  etcd_->engine().connected(now.ms);
  followDirty_ = true;
}

void Replica::etcdDisconnected() {
  if (!etcd_) return;
  etcd_->engine().disconnected();
  followDirty_ = true;
}

void Replica::etcdReceived(const EtcdAnswer& answer, Now now) {
  if (!etcd_) return;
  const std::uint64_t gaps = etcd_->engine().counters().gaps;
  etcd_->engine().received(answer, now.ms);
  if (etcd_->engine().counters().gaps != gaps) followDirty_ = true;  // peers have what etcd has no more
}

void Replica::driveEtcd(Now now, Effects& out) {
  etcd_->decide(now);
  for (const EtcdOwner::Turned& turned : etcd_->takeTurned()) {
    const auto at = peers_.find(turned.to);
    if (at == peers_.end() || !mayTalk(at->second)) continue;
    Answer answer;
    answer.operationId = turned.operationId;
    answer.asked = turned.asked;
    answer.kind = AnswerKind::unavailable;
    answer.message = "the owner lost the partition, or does not reach etcd";
    answerPeer(at->second, answer);
  }
  std::vector<EtcdRequest> requests = etcd_->engine().take();
  std::move(requests.begin(), requests.end(), std::back_inserter(out.etcd));
  counters_.etcd = etcd_->engine().counters();
}

}  // namespace witan::node
