#include "replica/replica.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "replica/agent_runtime.h"
#include "replica/base_transfer.h"
#include "replica/copy_pruning.h"
#include "replica/copy_release.h"
#include "replica/core/request_proofs.h"
#include "replica/core/row_proofs.h"
#include "replica/entry_replicator.h"
#include "replica/graph_runtime.h"
#include "replica/head_exchange.h"
#include "replica/ownership/embedded_ownership.h"
#include "replica/ownership/etcd_ownership.h"
#include "replica/peer_sessions.h"
#include "replica/replica_effects.h"
#include "replica/request_router.h"
#include "replica/sealed_copies.h"
#include "replication/records/record_schemas.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kOwnerRow = "i";  // of the ledgers' store: this device's name as an owner of epochs
constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kIdleTickMs = 60'000;  // where nothing came or went since the last one
constexpr std::int64_t kAdvertiseMs = 60'000;
constexpr std::int64_t kStabiliseMs = 60'000;

}  // namespace

struct Replica::Parts {
  Parts(ReplicaStores stores, ReplicaConfig config, RequestRouter::OnFrozen onFrozen)
      : state(stores, std::move(config)), router(state, ownership, std::move(onFrozen)) {}

  ReplicaState state;
  std::unique_ptr<OwnershipEngine> ownership;
  AdvertisementExchange exchange{state, ownership};
  EntryReplicator entries{state, ownership, exchange};
  CopyRelease release{state, ownership, exchange};
  CopyPruning pruning{state, ownership};
  BaseTransfer bases{state, ownership};
  RequestRouter router;
  HeadExchange heads{state, ownership};
  PeerSessions sessions{state, exchange, entries, router, heads, pruning, bases};
  SealedCopies copies{state};
  std::vector<PartitionHost::Release> releases;  // between two steps of drain()
};

Replica::Replica(ReplicaStores stores, ReplicaConfig config)
    : parts_(std::make_unique<Parts>(stores, std::move(config),
                                     [this](const Answer& answer) {
                                       if (agents_) agents_->frozen(answer);
                                       if (graphs_) graphs_->frozen(answer);
                                     })),
      state_(parts_->state) {}
Replica::~Replica() = default;

Result<std::unique_ptr<Replica>> Replica::open(ReplicaStores stores, ReplicaConfig config, Now now) {
  std::unique_ptr<Replica> replica(new Replica(stores, std::move(config)));
  WITAN_DO(replica->start(now));
  return replica;
}

Status Replica::start(Now now) {
  const ReplicaConfig& config = state_.config;
  if (!config.replication.rowKeys)
    state_.config.replication.rowKeys =
        rowKeysOf(config.heads, config.replication.cluster, [this](const std::string& file) {
          if (const auto proven = verifyEvidence(file); proven.ok()) state_.takeEvidence(*proven, file);
        });
  WITAN_TRY(local, replication::LocalReplica::open(state_.stores.journal, state_.stores.agents,
                                                   replication::recordSchemas(), config.replication));
  state_.local = std::move(local);
  if (config.mayHave) state_.local->waitFor(config.mayHave);
  state_.beginRun();
  WITAN_DO(loadOwnerName());
  WITAN_DO(state_.owners.load(state_.stores.ledgers));
  WITAN_DO(state_.outbox.load(state_.stores.ledgers));
  WITAN_DO(state_.evidence.load(state_.stores.ledgers));
  state_.outbox.expedite(now.ms);
  state_.keepsAll = config.agents && std::ranges::any_of(config.agents->agents, [](const agents::Agent* agent) {
                      return needsLedgers(*agent);
                    });
  place();
  WITAN_DO(state_.partitions.open(config, state_.stores.ledgers, state_.ownerName,
                                  [&](std::string_view id) { return state_.isKeeper(id); }));
  state_.placed = true;
  WITAN_DO(parts_->bases.open());
  for (const auto& [id, why] : state_.partitions.damaged()) {
    state_.local->note({"damagedLedger", device(), concat(why.message, "; ", why.hint)});
    state_.notice("damagedLedger", id, why.message);
  }
  if (config.etcd && config.ledgerReplica)
    parts_->ownership = std::make_unique<EtcdOwnership>(state_, parts_->exchange);
  else
    parts_->ownership = std::make_unique<EmbeddedOwnership>(state_, parts_->exchange);
  for (const auto& [id, host] : hosts()) {
    parts_->ownership->onEpochs(*host, 0);
    parts_->ownership->onFollowed(*host, now);
  }
  WITAN_DO(parts_->heads.open());
  if (config.agents) {
    agents_ = std::make_unique<AgentRuntime>(*this, *config.agents);
    WITAN_DO(agents_->open(now));
  }
  if (moduleOf(kGraphDomain) != nullptr && config.ledgerReplica && !config.etcd) {
    graphs_ = std::make_unique<GraphRuntime>(*this, config.agents.get());
    parts_->router.admitBy(
        [this](PartitionHost& host, const Request& request, Now at) { return graphs_->admit(host, request, at); },
        [this](const PartitionHost& host, const Request& request) { return graphs_->vet(host, request); });
  }
  nextTickMs_ = now.ms + kTickMs;
  nextAdvertiseMs_ = now.ms + kAdvertiseMs;
  nextStabiliseMs_ = now.ms + kStabiliseMs;
  return okStatus();
}

// A store that was lost is another owner: what it decided before, and nobody copied, it does not know.
Status Replica::loadOwnerName() {
  store::Store& ledgers = state_.stores.ledgers;
  std::string& name = state_.ownerName;
  WITAN_TRY(known, ledgers.get(kOwnerRow));
  if (known) {
    name = *known;
    if (replication::deviceOf(name) != device())
      return Error{ErrorCode::conflict, "the ledgers' store belongs to " + name + ", not to " + device(),
                   "use the directory of this device"};
    return okStatus();
  }
  name = replication::writerName(device(), state_.config.replication.freshTag());
  store::WriteBatch batch;
  batch.put(kOwnerRow, name);
  return mutated("forgetOwnerName") ? ledgers.write(batch) : ledgers.writeSynced(batch);
}

Status Replica::forgetOwnerName(store::Store& ledgers) {
  store::WriteBatch batch;
  batch.erase(kOwnerRow);
  return ledgers.writeSynced(batch);
}

// --- the network

void Replica::connected(const std::string& peer, Now now) {
  parts_->sessions.connected(peer, now);
  nextTickMs_ = std::min(nextTickMs_, now.ms + kTickMs);
}
void Replica::disconnected(const std::string& peer) { parts_->sessions.disconnected(peer); }
void Replica::received(const std::string& peer, std::string_view frame, Now now) {
  parts_->sessions.received(peer, frame, now);
  nextTickMs_ = std::min(nextTickMs_, now.ms + kTickMs);
}
bool Replica::isConnected(std::string_view peer) const { return state_.peers.contains(peer); }

std::set<std::string, std::less<>> Replica::neededPeers() const {
  std::set<std::string, std::less<>> needed;
  for (const auto& [id, waiting] : state_.outbox.all())
    needed.insert(state_.ownerDevice(state_.partitionFor(waiting.request.domain, waiting.request.entity)));
  // The mesh links devices that keep ledgers, and knows nothing of single copies. While an owner cannot be linked, who
  // has the rest of its log may be; an operator who seizes the partition has to hear of it.
  for (const auto& [id, host] : hosts()) {
    if (!state_.placement.partial(id) || owns(*host)) continue;
    const std::string owner = state_.ownerDevice(id);
    needed.insert(owner);
    if (!isConnected(owner) || parts_->release.isSurplus(*host))
      needed.insert(state_.placement.keepers(id).begin(), state_.placement.keepers(id).end());
  }
  needed.erase("");
  needed.erase(device());
  return needed;
}

void Replica::etcdConnected(Now now, std::uint64_t cluster) { parts_->ownership->connected(now, cluster); }
void Replica::etcdDisconnected() { parts_->ownership->disconnected(); }
void Replica::etcdReceived(const EtcdAnswer& answer, Now now) { parts_->ownership->received(answer, now); }

// --- this device

Result<replication::Dot> Replica::commit(replication::DatabaseName database, std::string_view scope,
                                         std::span<const replication::Write> writes) {
  return state_.local->commit(database, scope, writes);
}

Status Replica::submit(Request request, Keep keep, Now now) {
  return parts_->router.submit(std::move(request), keep, now);
}
Status Replica::submit(Request request, Now now) { return submit(std::move(request), Keep::ifLate, now); }
Status Replica::enqueue(Request request, Now now) { return parts_->router.enqueue(std::move(request), now); }
void Replica::retainAcrossFreeze(std::string_view operationId) { parts_->router.retainAcrossFreeze(operationId); }
void Replica::sign(std::span<Request> requests) {
  std::vector<Request*> all;
  for (Request& request : requests) all.push_back(&request);
  signRequests(state_, all);
}
std::vector<PublicKey> Replica::keysOf(std::string_view device) const {
  return state_.config.heads ? state_.config.heads->keysOf(device) : std::vector<PublicKey>();
}
const std::map<std::string, std::string, std::less<>>& Replica::evidence() const { return state_.evidence.files(); }
void Replica::rosterChanged() { parts_->exchange.retryClaims(), parts_->copies.rosterChanged(), place(); }

// With etcd the copies of a partition are those that may own it.
void Replica::place() {
  if (!state_.config.placement || state_.config.etcd) return;
  state_.placement = state_.config.placement();
  parts_->pruning.hurry();
  state_.placed = mutated("noRemaking");
}
void Replica::keepRequests() {
  state_.outbox.saveAll(state_.writes.pending());
  parts_->heads.hurry();
}

Status Replica::bootstrap(Now now, const std::function<bool(std::string_view partition)>& which) {
  // Who founds a partition has a copy of it, whoever else does.
  if (state_.config.ledgerReplica)
    WITAN_DO(state_.partitions.openMissing(state_.config, state_.stores.ledgers, state_.ownerName,
                                           [&](std::string_view id) { return !which || which(id); }));
  return parts_->ownership->bootstrap(now, which);
}
Status Replica::transferOwnership(std::string_view partition, std::string_view to, std::string_view reason, Now now) {
  return parts_->ownership->transferOwnership(partition, to, reason, now);
}
Status Replica::forceTakeover(std::string_view partition, std::string_view reason, Now now) {
  return parts_->ownership->forceTakeover(partition, reason, now);
}

void Replica::stopDeciding(std::string_view partition, std::string_view why) {
  if (const PartitionHost* mine = host(partition); mine != nullptr && owns(*mine))
    parts_->heads.stopDeciding(*mine, why);
}

// --- time

void Replica::tick(Now now) {
  if (now.ms < nextTickMs()) return;
  if (mutated("sendBeforeFlush") && now.ms >= nextTickMs_)
    (void)state_.local->flush();  // every ten seconds, as some do
  if (now.ms >= nextTickMs_) {
    parts_->sessions.tick(now);
    parts_->sessions.runMembershipMaintenance();
    if (state_.config.pendingTtlMicros > 0 && !mutated("expireWhenAsked")) parts_->ownership->expirePending(now);
    const auto waits = [](const auto& one) { return !one.second.session->quiet(); };
    const bool busy = state_.config.pendingTtlMicros > 0 || std::ranges::any_of(state_.peers, waits);
    nextTickMs_ = now.ms + (busy ? kTickMs : kIdleTickMs);
  }
  parts_->ownership->tick(now);
  if (now.ms >= nextAdvertiseMs_) {  // else a standing that was lost would never be missed
    for (const auto& [id, host] : hosts()) parts_->exchange.tellAll(*host);
    parts_->exchange.compareClaims();
    nextAdvertiseMs_ = now.ms + kAdvertiseMs;
  }
  if (now.ms >= nextStabiliseMs_) {
    (void)state_.local->stabilise();  // if it fails, the next one tries again
    nextStabiliseMs_ = now.ms + kStabiliseMs;
  }
}

std::int64_t Replica::nextTickMs() const {
  const OwnershipEngine& ownership = *parts_->ownership;
  std::int64_t next =
      std::min({nextTickMs_, nextAdvertiseMs_, nextStabiliseMs_, ownership.nextTickMs(), parts_->heads.nextMs()});
  if (!state_.writes.synced()) next = std::min(next, state_.writes.syncDueMs(ownership.syncWaitMs()));
  next = std::min({next, parts_->sessions.nextMs(drained_.ms), parts_->copies.nextMs()});
  if (state_.writes.synced())
    next = std::min({next, parts_->release.nextMs(), parts_->pruning.nextMs(), parts_->bases.nextMs()});
  if (const auto due = state_.outbox.dueMs()) next = std::min(next, *due);
  for (const auto& [name, peer] : state_.peers)
    if (const auto due = peer.session->dueMs()) next = std::min(next, *due);
  if (agents_)
    if (const auto due = agents_->nextMs(drained_)) next = std::min(next, *due);
  if (graphs_)
    if (const auto due = graphs_->nextMs(drained_)) next = std::min(next, *due);
  return next;
}

// --- the round

// Each step states what it requires of the steps before it. The order makes the round correct: nothing leaves this
// device before what it rests on is durable.
Status Replica::drain(Now now, Effects& out) {
  OwnershipEngine& ownership = *parts_->ownership;
  const bool answerEarly = mutated("answerBeforeFlush");
  if (answerEarly) WITAN_DO(state_.writes.flush(now, ownership.syncWaitMs()));
  parts_->sessions.greet();
  drained_ = now;
  WITAN_DO(parts_->copies.round(now));              // agents look at what came
  if (agents_) WITAN_DO(agents_->round(now, out));  // the requests of agents go to the outbox
  parts_->router.routeDue(now);
  if (graphs_) WITAN_DO(graphs_->round(now, out));  // bodies are durable before the entries that name them
  ownership.stage();                                // every decision of this round is made
  bool durable = true;
  if (!answerEarly || !ownership.decidesAtOnce()) {
    WITAN_TRY(synced, state_.writes.flush(now, ownership.syncWaitMs()));
    durable = synced;
  }
  WITAN_DO(takeReleases(durable, now));
  WITAN_DO(makeCopies(now));
  WITAN_DO(reopenCopies(now));
  parts_->bases.watch();
  if (state_.followDirty) parts_->pruning.hurry();  // another owner has to have every entry
  if (durable) WITAN_DO(parts_->release.round(now));
  if (durable) WITAN_DO(pruneCopies(now));
  if (agents_) WITAN_DO(agents_->look(now));  // copies show what is durable
  giveReleases(out);
  finishOwnership(now, out);
  replicateLogs(now);
  WITAN_DO(parts_->copies.round(now));  // sessions send what is sealed
  parts_->sessions.send(now, out.sends);
  if (!out.sends.empty()) nextTickMs_ = std::min(nextTickMs_, now.ms + kTickMs);
  if (!mutated("sendBeforeFlush")) WITAN_DO(state_.local->flush());
  WITAN_DO(state_.writes.writePending());  // rows that answers left behind
  handOver(now, out);
  return okStatus();
}

// Takes the answers that may be given now. Requires: every decision is written; with `durable`, also synced.
Status Replica::takeReleases(bool durable, Now now) {
  const bool exempt = mutated("answerBeforeFlush");
  WITAN_CHECK(exempt || state_.writes.pending().empty(), "answers rest on decisions that are written");
  WITAN_CHECK(exempt || !durable || state_.writes.synced(), "what counts as durable is synced");
  std::vector<PartitionHost::Release>& releases = parts_->releases;
  releases.clear();
  const bool early = mutated("answerBeforeTxn") && !parts_->ownership->decidesAtOnce();
  if (early) parts_->ownership->decideQueued(now);
  for (const auto& [id, host] : hosts()) {
    if (!state_.partitions.usable(id)) continue;
    durable ? host->confirmed(releases) : host->answered(releases);
    if (early) host->answered(releases, true);
    WITAN_DO(host->snapshotIfDue(state_.config.snapshotEvery));
  }
  return okStatus();
}

// Begins the copies that this device keeps from now on; the others that have them are asked for what is in them.
Status Replica::makeCopies(Now now) {
  if (std::exchange(state_.placed, true) || !state_.config.ledgerReplica) return okStatus();
  WITAN_TRY(opened, state_.partitions.openMissing(
                        state_.config, state_.stores.ledgers, state_.ownerName,
                        [&](std::string_view id) { return state_.isKeeper(id) || state_.isSuccessor(id); }));
  for (const auto& [id, host] : hosts())
    if (state_.isPlaced(id) || state_.placement.partial(id)) parts_->exchange.tellAll(*host);
  for (const std::string& id : opened) {
    parts_->heads.onReopened(id);
    for (auto& [name, peer] : state_.peers)  // what peers have said of it before was of no use here
      if (peer.greeted) parts_->exchange.askForAll(peer, *host(id));
  }
  state_.counters.copiesMade += opened.size();
  parts_->release.hurry();
  state_.followDirty = true;
  parts_->ownership->onReopened(now);
  return okStatus();
}

// Opens the marked copies again, without their divergent suffixes. Requires: no decision of the round is open, since
// what is open is lost.
Status Replica::reopenCopies(Now now) {
  const auto& reopening = state_.partitions.reopening();
  if (reopening.empty()) return okStatus();
  for (const auto& [id, suffix] : reopening)
    if (suffix) parts_->exchange.truncate(suffix->from, *host(id), suffix->keep);
  WITAN_DO(state_.local->flush());     // nothing is taken out of a log before the report of it is durable
  WITAN_DO(state_.writes.flushAll());  // what is opened counts as durable
  for (const auto& [id, suffix] : reopening) {
    // What stands for its pruned entries is of another log: others have them, and this copy begins anew.
    const kernel::DomainModule& module = host(id)->module();
    if (suffix && suffix->keep < host(id)->first()) {
      WITAN_DO(state_.partitions.release(id, state_.stores.ledgers));
      state_.seals.forget(id);
    }
    WITAN_DO(state_.partitions.openHost(state_.config, state_.stores.ledgers, state_.ownerName, module, id));
    parts_->exchange.onReopened(id);
    parts_->heads.onReopened(id);
  }
  state_.partitions.reopened();
  state_.followDirty = true;
  parts_->ownership->onReopened(now);
  return okStatus();
}

// Requires: everything that counts as durable is written, no decision of the round is open.
Status Replica::pruneCopies(Now now) {
  WITAN_TRY(begun, parts_->bases.round(now));
  WITAN_TRY(changed, parts_->pruning.round(now));
  changed.insert(changed.end(), begun.begin(), begun.end());
  for (const std::string& id : changed) {
    const kernel::DomainModule& module = host(id)->module();
    WITAN_DO(state_.partitions.openHost(state_.config, state_.stores.ledgers, state_.ownerName, module, id));
    parts_->exchange.onPruned(*host(id));
    const bool begins = std::ranges::find(begun, id) != begun.end();
    if (begins) parts_->ownership->onEpochs(*host(id), 0);
    parts_->heads.onReopened(id, begins);
    state_.followDirty = true;
  }
  if (!changed.empty()) parts_->ownership->onReopened(now);
  return okStatus();
}

// Requires: every copy is usable, so that a request that stays in the outbox finds its partition.
void Replica::giveReleases(Effects& out) {
  WITAN_CHECK(state_.partitions.reopening().empty(), "copies are opened again before answers are given");
  for (PartitionHost::Release& release : parts_->releases) parts_->router.give(std::move(release), out.answers);
  parts_->releases.clear();
}

// Requires: the answers of what was committed are given, since a batch that follows them may leave with this round.
void Replica::finishOwnership(Now now, Effects& out) {
  OwnershipEngine::Round round = parts_->ownership->finishRound(now);
  for (PartitionHost::Release& release : round.releases) parts_->router.give(std::move(release), out.answers);
  std::move(round.requests.begin(), round.requests.end(), std::back_inserter(out.etcd));
}

// Requires: durableBatches() of each copy is of this round, since entries and acknowledgements name it.
void Replica::replicateLogs(Now now) {
  parts_->heads.round(now);
  parts_->exchange.refreshFollowing();
  parts_->exchange.sendClaims();
  RoundSignature round;
  parts_->router.proveAnswers(round);
  parts_->entries.push(round, now);
  if (state_.config.heads) round.sign(state_.config.replication.cluster, state_.config.heads->key());
  parts_->router.sendAnswers();
  parts_->entries.say();
  parts_->exchange.sendNews();
}

// Requires: no step that can fail follows, so that an answer is taken only if the caller gets it.
void Replica::handOver(Now now, Effects& out) {
  WITAN_CHECK(state_.writes.pending().empty(), "a round leaves no row behind");
  for (Answered& answered : parts_->router.takeAnswered()) out.answers.push_back(std::move(answered));
  if (graphs_) std::erase_if(out.answers, [&](const Answered& answered) { return graphs_->take(answered, now); });
  if (agents_) std::erase_if(out.answers, [&](const Answered& answered) { return agents_->take(answered, now); });
  for (Notice& notice : state_.notices) out.notices.push_back(std::move(notice));
  state_.notices.clear();
}

// --- reading

const std::string& Replica::device() const { return state_.device(); }
const std::string& Replica::ownerName() const { return state_.ownerName; }
std::uint64_t Replica::run() const { return state_.run; }
replication::LocalReplica& Replica::data() { return *state_.local; }
const replication::LocalReplica& Replica::data() const { return *state_.local; }
const PartitionTable::Hosts& Replica::hosts() const { return state_.partitions.hosts(); }
const std::map<std::string, Error, std::less<>>& Replica::damagedPartitions() const {
  return state_.partitions.damaged();
}
PartitionHost* Replica::host(std::string_view partition) { return state_.partitions.find(partition); }
const Placement& Replica::placement() const { return state_.placement; }
const OwnerTable& Replica::owners() const { return state_.owners; }
const Outbox& Replica::outbox() const { return state_.outbox; }
bool Replica::owns(const PartitionHost& host) const { return parts_->ownership->owns(host); }
OwnerState Replica::ownerState(std::string_view partition) const { return parts_->ownership->ownerState(partition); }
bool Replica::refusesOwner(std::string_view partition) const { return state_.refusesOwner(partition); }
std::string Replica::partitionFor(std::string_view domain, std::string_view entity) const {
  return state_.partitionFor(domain, entity);
}
const HeadExchange& Replica::heads() const { return parts_->heads; }
const ReplicaCounters& Replica::counters() const { return state_.counters; }
const std::vector<const kernel::DomainModule*>& Replica::domains() const { return state_.config.domains; }
const kernel::DomainModule* Replica::moduleOf(std::string_view domain) const { return state_.moduleOf(domain); }
const std::map<std::string, std::string, std::less<>>& Replica::otherEngines() const {
  return parts_->exchange.otherEngines();
}

const replication::SyncSession* Replica::session(std::string_view peer) const {
  const auto at = state_.peers.find(peer);
  return at == state_.peers.end() ? nullptr : at->second.session.get();
}

agents::AgentHost* Replica::agents() { return agents_ ? &agents_->host() : nullptr; }
const agents::AgentHost* Replica::agents() const { return agents_ ? &agents_->host() : nullptr; }

std::set<std::string> Replica::connectedPeers() const {
  std::set<std::string> connected;
  for (const auto& [name, peer] : state_.peers)
    if (peer.full()) connected.insert(name);
  return connected;
}

bool Replica::quiet() const {
  if (agents_ && !agents_->host().quiet()) return false;
  if (graphs_ && !graphs_->quiet()) return false;
  return parts_->ownership->quiet() && state_.outbox.size() == 0 && state_.writes.quiet() && parts_->sessions.quiet() &&
         parts_->entries.quiet() && parts_->copies.quiet() && parts_->release.quiet() && parts_->pruning.quiet() &&
         parts_->bases.quiet();
}

}  // namespace witan::node
