#include "replica/replica.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/mutant.h"
#include "replica/membership_duties.h"
#include "replica/owner_name.h"
#include "replica/replica_agents.h"
#include "replica/replica_etcd.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kTellMs = 60'000;
constexpr std::int64_t kSyncMs = 10;      // copies that can wait for their sync wait no longer
constexpr std::int64_t kBusySyncMs = 40;  // but those of what etcd holds, while there is much to do
constexpr std::int64_t kStabiliseMs = 60'000;
constexpr std::size_t kProduceBudget = 4 * 1024 * 1024;

}  // namespace

Replica::Replica(ReplicaStores stores, ReplicaConfig config) : stores_(stores), config_(std::move(config)) {}
Replica::~Replica() = default;

Result<std::unique_ptr<Replica>> Replica::open(ReplicaStores stores, ReplicaConfig config, Now now) {
  std::unique_ptr<Replica> replica(new Replica(stores, std::move(config)));
  WITAN_DO(replica->start(now));
  return replica;
}

Status Replica::start(Now now) {
  WITAN_TRY(local, replication::LocalReplica::open(stores_.journal, stores_.agents, config_.replication));
  local_ = std::move(local);
  WITAN_DO(loadOwnerName());
  WITAN_DO(owners_.load(stores_.ledgers));
  WITAN_DO(outbox_.load(stores_.ledgers));
  outbox_.hurry(now.ms);
  WITAN_DO(openHosts());
  WITAN_DO(loadLostTails());
  for (auto& [id, host] : hosts_) learnFrom(*host, 0), succeed(*host, now);
  if (config_.etcd && config_.ledgerReplica) {
    std::vector<std::string> partitions;
    for (const auto& [id, host] : hosts_) partitions.push_back(id);
    etcd_ = std::make_unique<EtcdOwner>(*this, *config_.etcd, config_.replication.cluster, partitions);
  }
  if (config_.agents) {
    desk_ = std::make_unique<AgentDesk>(*this, *config_.agents);
    WITAN_DO(desk_->open(now));
  }
  nextTickMs_ = now.ms + kTickMs;
  nextTellMs_ = now.ms + kTellMs;
  nextStabiliseMs_ = now.ms + kStabiliseMs;
  return okStatus();
}

// A store that was lost is another owner: what it decided before, and nobody copied, it does not know.
Status Replica::loadOwnerName() {
  WITAN_TRY(known, stores_.ledgers.get(kOwnerRow));
  if (known) {
    ownerName_ = *known;
    if (replication::deviceOf(ownerName_) != device())
      return Error{ErrorCode::conflict, "the ledgers' store belongs to " + ownerName_ + ", not to " + device(),
                   "use the directory of this device"};
    return okStatus();
  }
  ownerName_ = replication::writerName(device(), config_.replication.freshTag());
  store::WriteBatch batch;
  batch.put(kOwnerRow, ownerName_);
  return mutated("forgetOwnerName") ? stores_.ledgers.write(batch) : stores_.ledgers.writeSynced(batch);
}

Status Replica::openHosts() {
  if (!config_.ledgerReplica) return okStatus();
  for (const kernel::DomainModule* module : config_.domains)
    for (std::uint32_t n = 0; n < config_.partitions; ++n)
      WITAN_DO(openHost(*module, partitionId(module->signature().domain, n)));
  return okStatus();
}

Status Replica::openHost(const kernel::DomainModule& module, const std::string& id) {
  HostOptions options{id, config_.replication.cluster + "/" + id, config_.pendingTtlMicros};
  WITAN_TRY(host, PartitionHost::open(stores_.ledgers, module, options));
  if (host->keepsPartOfBatch() && (config_.etcd || host->epoch().owner != ownerName_)) {
    WITAN_DO(host->dropLastBatch());
    WITAN_TRY(whole, PartitionHost::open(stores_.ledgers, module, options));
    host = std::move(whole);
  }
  hosts_[id] = std::move(host);
  return okStatus();
}

Status Replica::reopenHosts() {
  if (reopen_.empty()) return okStatus();
  for (auto& [id, aside] : reopen_)
    if (aside) setAside(aside->from, *hosts_[id], aside->keep);
  WITAN_DO(local_->flush());  // nothing is taken out of a log before the report of it is durable
  if (!held_.empty()) {
    WITAN_DO(stores_.ledgers.write(held_));
    held_.clear();
    unsynced_ = true;
  }
  WITAN_DO(flushLedgers());
  if (std::exchange(unsynced_, false)) WITAN_DO(stores_.ledgers.sync());  // what is opened counts as durable
  for (auto& [id, aside] : reopen_) {
    const kernel::DomainModule& module = hosts_[id]->module();
    WITAN_DO(openHost(module, id));
    // What was said of the old log holds no more; who follows whom does.
    for (auto& [name, peer] : peers_)
      if (const auto at = peer.following.find(id); at != peer.following.end()) {
        at->second.subscribed = false;
        std::erase_if(peer.news.positions,
                      [&anew = id](const Position& position) { return position.partition == anew; });
      }
    tellAll(*hosts_[id]);
  }
  reopen_.clear();
  followDirty_ = true;
  if (etcd_) outbox_.hurry(drained_.ms);  // this device may own them as before
  return okStatus();
}

// --- the network

void Replica::connected(const std::string& peer, Now now) {
  Peer& state = peers_[peer];
  state = Peer{};
  state.keeper = !config_.keepsLedgers || config_.keepsLedgers(peer);
  replication::SessionOptions options = config_.session;
  options.peer = peer;
  if (config_.mayHave && !mutated("ignoreScopes"))
    options.mayHave = [mayHave = config_.mayHave, peer](replication::DatabaseName database, std::string_view scope) {
      return mayHave(peer, database, scope);
    };
  state.session = std::make_unique<replication::SyncSession>(*local_, std::move(options), now.ms);
  followDirty_ = true;
}

void Replica::disconnected(const std::string& peer) {
  peers_.erase(peer);
  followDirty_ = true;
}

void Replica::cutOff(const std::string& from, Peer& peer, const Error& why) {
  ++counters_.badFrames;
  peer.cut = true;
  notices_.push_back({"badFrame", "", from + ": " + why.message});
}

bool Replica::mayTalk(const Peer& peer) const { return !peer.cut && peer.session->full(); }

void Replica::received(const std::string& from, std::string_view frame, Now now) {
  const auto at = peers_.find(from);
  if (at == peers_.end()) return;
  Peer& peer = at->second;
  if (peer.cut) return;
  const bool whole = frame.size() > replication::kFrameHeaderBytes;
  if (!whole) return cutOff(from, peer, invalid("a frame without a message"));
  if (static_cast<std::uint8_t>(frame[4]) < kFirstAdjudicationFrame) {
    // The session notes its own errors and says BYE.
    if (peer.session->state() != replication::SessionState::closed) (void)peer.session->receive(frame, now.ms);
    return;
  }
  auto header = replication::readFrameHeader(frame, kMaxAdjudicationFrame);
  if (!header) return cutOff(from, peer, header.error());
  if (header->length != frame.size() - replication::kFrameHeaderBytes)
    return cutOff(from, peer, invalid("a frame of another length than it says"));
  if (!mayTalk(peer) || !peer.parting.empty()) return;  // no member: membership only
  const std::string_view bytes = frame.substr(replication::kFrameHeaderBytes);
  const auto read = [&](auto message, auto&& handle) {
    if (Status status = readMessage(bytes, message, "frame"); !status.ok()) return cutOff(from, peer, status.error());
    handle(message);
  };
  switch (static_cast<AdjudicationFrame>(header->type)) {
    case AdjudicationFrame::request: return read(Request{}, [&](Request& m) { onRequest(from, std::move(m), now); });
    case AdjudicationFrame::answer: return read(Answer{}, [&](Answer& m) { onAnswer(peer, std::move(m), now); });
    case AdjudicationFrame::standing:
      return read(Standing{}, [&](Standing& m) { onStanding(from, peer, std::move(m), now); });
    case AdjudicationFrame::entries: return read(Entries{}, [&](Entries& m) { onEntries(from, peer, m, now); });
    case AdjudicationFrame::followed: return read(Followed{}, [&](Followed& m) { onFollowed(peer, m, now); });
  }
  cutOff(from, peer, invalid("a frame of the unknown type " + std::to_string(header->type)));
}

// --- this device

Result<replication::Dot> Replica::commit(replication::DatabaseName database, std::string_view scope,
                                         std::span<const replication::Write> writes) {
  return local_->commit(database, scope, writes);
}

const kernel::DomainModule* Replica::moduleOf(std::string_view domain) const {
  for (const kernel::DomainModule* module : config_.domains)
    if (module->signature().domain == domain) return module;
  return nullptr;
}

std::string Replica::partitionFor(std::string_view domain, std::string_view entity) const {
  return partitionOf(domain, entity, config_.partitions);
}

PartitionHost* Replica::host(std::string_view partition) {
  const auto at = hosts_.find(partition);
  return at == hosts_.end() ? nullptr : at->second.get();
}

const replication::SyncSession* Replica::session(std::string_view peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : at->second.session.get();
}

// --- time

void Replica::tick(Now now) {
  if (now.ms < nextTickMs()) return;
  if (mutated("sendBeforeFlush") && now.ms >= nextTickMs_) (void)local_->flush();  // every ten seconds, as some do
  if (now.ms >= nextTickMs_) {
    for (auto& [name, peer] : peers_) peer.session->tick(now.ms);
    payDuties();
    if (config_.pendingTtlMicros > 0 && !etcd_)
      for (auto& [id, host] : hosts_)
        if (owns(*host)) host->expire(now.wall);
    nextTickMs_ = now.ms + kTickMs;
  }
  if (etcd_ && now.ms >= etcd_->engine().nextTickMs()) {
    etcd_->engine().tick(now.ms);
    followDirty_ = true;  // peers may have given what etcd could not
  }
  if (now.ms >= nextTellMs_) {  // a standing that was lost would never be missed
    for (auto& [id, host] : hosts_) tellAll(*host);
    nextTellMs_ = now.ms + kTellMs;
  }
  if (now.ms >= nextStabiliseMs_) {
    (void)local_->stabilise();  // what it could not do now it does then
    nextStabiliseMs_ = now.ms + kStabiliseMs;
  }
}

// What this device owes to retirements. What it has acknowledged it takes nothing more from.
void Replica::payDuties() {
  const replication::Space* cluster =
      local_->database(replication::DatabaseName::agents).find(replication::kClusterScope);
  if (cluster == nullptr || cluster->changes() == statementsSeen_) return;
  statementsSeen_ = cluster->changes();
  auto members = local_->membership();
  if (!members.ok()) return;  // sessions say so
  for (const replication::Member& member : replication::acksDue(*members, device()))
    if (const auto at = peers_.find(member.device); at != peers_.end())
      at->second.session->close("retired", member.device + " is leaving");
  // Who turns out to be a member was met as a stranger, with whom nothing but membership is shared: the session begins
  // again.
  for (auto& [name, peer] : peers_)
    if (peer.session->state() == replication::SessionState::running && !peer.session->full() &&
        members->standing(name) == replication::Standing::active)
      peer.session->close("admitted", name + " is a member now: the session begins again");
  (void)payRetireAcks(*local_);  // what it could not say now it says when statements come next
}

std::int64_t Replica::nextTickMs() const {
  std::int64_t next = std::min({nextTickMs_, nextTellMs_, nextStabiliseMs_});
  if (etcd_) {
    next = std::min(next, etcd_->engine().nextTickMs());
    if (const auto due = etcd_->nextMs()) next = std::min(next, *due);
  }
  if (unsynced_) next = std::min(next, syncedMs_ + syncWaitMs());
  if (const auto due = outbox_.dueMs()) next = std::min(next, *due);
  if (desk_)
    if (const auto due = desk_->nextMs(drained_)) next = std::min(next, *due);
  return next;
}

// --- effects

// One write and one sync for the decisions of all partitions.
Status Replica::flushLedgers() {
  if (pending_.empty()) return okStatus();
  WITAN_DO(mutated("skipLedgerSync") ? stores_.ledgers.write(pending_) : stores_.ledgers.writeSynced(pending_));
  pending_.clear();
  return okStatus();
}

// How long a copy may wait for its sync: what is answered is durable in etcd, or at its owner, so nobody waits for it
// but those who are told of the copy. With etcd, a round that has answers to give or requests to decide leaves the sync
// to the next. Without, a sync for every round of the owner would come before each answer that it gives this device.
std::int64_t Replica::syncWaitMs() const {
  if (etcd_) return held_.empty() && !etcd_->hasWork() ? kSyncMs : kBusySyncMs;
  return outbox_.size() > 0 ? kSyncMs : 0;
}

Result<bool> Replica::flush(Now now) {
  const std::int64_t most = syncWaitMs();
  if (!held_.empty()) {
    WITAN_DO(stores_.ledgers.write(held_));
    held_.clear();
    unsynced_ = true;
  }
  const bool alone = pending_.empty();
  WITAN_DO(flushLedgers());
  if (!unsynced_) return true;
  if (alone && now.ms - syncedMs_ < most) return false;
  if (alone) WITAN_DO(stores_.ledgers.sync());  // else flushLedgers() has
  unsynced_ = false;
  syncedMs_ = now.ms;
  return true;
}

void Replica::sayNews(Now now) {
  (void)now;
  for (auto& [name, peer] : peers_) {
    if (!peer.newsDue || !mayTalk(peer)) continue;
    peer.news.owner = ownerName_;
    peer.news.engine = engineName();
    peer.news.etcdCluster = etcdCluster_;
    say(peer, peer.news);
    peer.news = {};
    peer.newsDue = false;
  }
}

Status Replica::drain(Now now, Effects& out) {
  if (mutated("answerBeforeFlush")) WITAN_DO(flush(now));
  for (auto& [name, peer] : peers_)
    if (!peer.greeted && mayTalk(peer)) greet(peer);
  drained_ = now;
  if (desk_) WITAN_DO(desk_->round(now, out));
  if (std::exchange(hurry_, false)) outbox_.hurry(now.ms);
  outbox_.saveLate(now.ms, pending_);
  routeDue(now);
  for (auto& [id, host] : hosts_)
    if (!etcd_ && !reopen_.contains(id)) host->stage(pending_);
  bool durable = true;
  if (etcd_ || !mutated("answerBeforeFlush")) {
    WITAN_TRY(synced, flush(now));
    durable = synced;
  }
  std::vector<PartitionHost::Release> releases;
  const bool early = etcd_ && mutated("answerBeforeTxn");
  if (early) etcd_->decide(now);
  for (auto& [id, host] : hosts_) {
    if (reopen_.contains(id)) continue;
    durable ? host->confirmed(releases) : host->answered(releases);
    if (early) host->answered(releases, true);
    WITAN_DO(host->snapshotIfDue(config_.snapshotEvery));
  }
  WITAN_DO(reopenHosts());
  if (desk_) WITAN_DO(desk_->look(now));
  for (PartitionHost::Release& release : releases) give(std::move(release), now, out);
  if (etcd_) driveEtcd(now, out);
  if (followDirty_) refreshFollowing();
  pushEntries(now);
  sayNews(now);
  for (auto& [name, peer] : peers_) {
    std::string frames;
    peer.session->produce(frames, kProduceBudget, now.ms);
    if (mayTalk(peer)) frames += peer.out;
    peer.out.clear();
    if (!peer.parting.empty() && peer.session->state() != replication::SessionState::closed) {
      peer.session->close("engine", peer.parting);
      peer.session->produce(frames, kProduceBudget, now.ms);
    }
    const bool ended = peer.session->state() == replication::SessionState::closed;
    const bool close = peer.cut || ended;
    if (ended && !std::exchange(peer.told, true))
      notices_.push_back(
          {"session ends", "", name + ": " + peer.session->closeCode() + ": " + peer.session->closeReason()});
    if (!frames.empty() || close) out.sends.push_back({name, std::move(frames), close});
  }
  if (!mutated("sendBeforeFlush")) WITAN_DO(local_->flush());
  if (!pending_.empty()) {  // rows that answers left behind: nothing rests on them
    WITAN_DO(stores_.ledgers.write(pending_));
    pending_.clear();
  }
  for (Answered& answered : answers_) out.answers.push_back(std::move(answered));
  answers_.clear();
  if (desk_) std::erase_if(out.answers, [&](const Answered& answered) { return desk_->take(answered, now); });
  for (Notice& notice : notices_) out.notices.push_back(std::move(notice));
  notices_.clear();
  return okStatus();
}

agents::AgentHost* Replica::agents() { return desk_ ? &desk_->host() : nullptr; }
const agents::AgentHost* Replica::agents() const { return desk_ ? &desk_->host() : nullptr; }

std::set<std::string> Replica::connectedPeers() const {
  std::set<std::string> connected;
  for (const auto& [name, peer] : peers_)
    if (mayTalk(peer)) connected.insert(name);
  return connected;
}

bool Replica::quiet() const {
  if (desk_ && !desk_->host().quiet()) return false;
  if (etcd_ && !etcd_->quiet()) return false;
  if (outbox_.size() > 0 || !pending_.empty() || !held_.empty() || unsynced_) return false;
  for (const auto& [name, peer] : peers_) {
    if (!peer.session->quiet() || peer.newsDue) return false;
    for (const auto& [id, following] : peer.following) {
      const auto at = hosts_.find(id);
      if (at != hosts_.end() && following.subscribed && following.acked < at->second->durableBatches()) return false;
    }
  }
  return true;
}

}  // namespace witan::node
