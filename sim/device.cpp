#include "sim/device.h"

#include "replica/core/log_head.h"
#include "replica/sealed_copies.h"
#include "replication/sealed_scope.h"
#include "sim/network.h"
#include "sim/sim_agents.h"
#include "store/memory_store.h"
#include "store/testing/crashable_rocks.h"

namespace witan::sim {

namespace {

constexpr std::int64_t kStartOfTime = 1'774'252'800'000'000;  // 2026-03-23T08:00:00Z
constexpr Micros kSlowFactor = 100;

void addCounters(node::ReplicaCounters& to, const node::ReplicaCounters& from) {
  forEachMember<node::EtcdCounters>([&](auto member, auto) { to.etcd.*member.pointer += from.etcd.*member.pointer; });
  forEachMember<node::ReplicaCounters>([&](auto member, auto) { to.*member.pointer += from.*member.pointer; });
}

// All devices know all keys. Only the one that lies may not take partitions over: those that may can do what they like
// (docs/SECURITY.md).
class SimKeys final : public node::HeadKeys {
 public:
  SimKeys(std::uint32_t self, std::optional<std::uint32_t> liar, std::string& signedHeads)
      : self_(self), liar_(liar), signed_(signedHeads) {}
  const SigningKey& key() const override { return ClusterSetup::keyOf(self_); }
  std::vector<PublicKey> keysOf(std::string_view device) const override {
    for (std::uint32_t index = 0; index < kMostDevices; ++index)
      if (device == ClusterSetup::deviceName(index)) return {ClusterSetup::keyOf(index).publicKey()};
    return {};
  }
  node::Takeover mayTakeOver(std::string_view device) const override {
    return liar_ && device == ClusterSetup::deviceName(*liar_) ? node::Takeover::no : node::Takeover::yes;
  }
  std::string deviceOf(const PublicKey& key) const override {
    for (std::uint32_t index = 0; index < kMostDevices; ++index)
      if (key == ClusterSetup::keyOf(index).publicKey()) return ClusterSetup::deviceName(index);
    return {};
  }
  bool sealsRows(std::string_view) const override { return true; }  // as of each that this version admits
  Result<std::string> remembered() const override { return signed_; }
  Status remember(std::string_view text) override {
    signed_ = text;
    return okStatus();
  }

 private:
  const std::uint32_t self_;
  const std::optional<std::uint32_t> liar_;
  std::string& signed_;
};

// One key a scope, which all who may have the scope know.
class SimCopyKeys final : public node::CopyKeys {
 public:
  std::string newest(std::string_view) override { return "*/1"; }
  std::shared_ptr<const Secret> find(std::string_view scope, std::string_view name) override {
    return name == "*/1" ? std::make_shared<const Secret>(Secret::copyOf(concat("key of ", scope))) : nullptr;
  }
};

}  // namespace

// --- what all devices agree on

std::string ClusterSetup::deviceName(std::uint32_t index) { return concat("device-", index); }
std::uint32_t ClusterSetup::deviceIndex(std::string_view name) {
  return static_cast<std::uint32_t>(std::stoul(std::string(name.substr(name.find('-') + 1))));
}
std::string ClusterSetup::scopeName(std::uint64_t n) { return concat("private-", n); }

const SigningKey& ClusterSetup::keyOf(std::uint32_t device) {
  static std::vector<SigningKey> keys;
  while (keys.size() <= device) {
    const Hash seed = sha256(concat("key of device ", keys.size()));
    keys.push_back(*SigningKey::fromSeed({reinterpret_cast<const char*>(seed.data()), seed.size()}));
  }
  return keys[device];
}

bool ClusterSetup::copiesOnly(std::string_view device) const {
  const auto copier = copierOf(options.cluster);
  return copier && device == deviceName(*copier);
}

bool ClusterSetup::mayHave(std::string_view device, std::string_view scope) const {
  if (copiesOnly(device)) return replication::isSealedScope(scope) || scope == replication::kClusterScope;
  scope = replication::openScopeOf(scope);
  if (!scope.starts_with("private-")) return true;
  const std::uint32_t index = deviceIndex(device), n = deviceIndex(scope);
  if (index % 2 == n % 2) return true;  // about half of them, at least two of five
  return (options.seed >> (index * 7 + n) % 57 & 3) == 0;
}

std::int64_t ClusterSetup::siteOf(std::uint32_t device, Micros since) const {
  const auto gone = std::ranges::count_if(left, [&](const auto& one) { return one.second <= since; });
  return options.cluster.sites == 0 ? device : device / (1 + gone) % options.cluster.sites;
}

node::Placement ClusterSetup::placement(Micros since) const {
  std::vector<node::LedgerMember> members;
  std::vector<node::DomainCopies> copies;
  const auto gone =
      static_cast<std::uint64_t>(std::ranges::count_if(left, [&](const auto& one) { return one.second <= since; }));
  for (std::uint32_t i = 0; static_cast<std::int64_t>(i) < options.cluster.ledgerReplicas; ++i) {
    if (const auto at = left.find(i); at != left.end() && at->second <= since) continue;
    members.push_back({deviceName(i), concat("site-", siteOf(i, since))});
  }
  const auto copiesOfEach = static_cast<std::uint64_t>(options.cluster.ledgerCopies);
  const auto entries = static_cast<std::uint64_t>(options.cluster.keepEntries);
  std::vector<node::DomainRetention> retention;
  for (const kernel::DomainModule* module : domains) {
    const std::string& domain = module->signature().domain;
    if (copiesOfEach > 0) copies.push_back({domain, copiesOfEach});
    if (entries > 0 && domain != "graph") retention.push_back({domain, node::kLeastCopies, entries, 0});
  }
  return {std::move(members), copies, 1 + gone, retention};
}

// --- the device

SimDevice::SimDevice(const ClusterSetup& setup, std::uint32_t index)
    : setup_(setup),
      index_(index),
      name_(ClusterSetup::deviceName(index)),
      random_(setup.options.seed ^ (index + 1) * 0xbf58476d1ce4e5b9u) {
  for (std::size_t n = 0; n < kStores; ++n) stores_[n] = makeStore();
  const TimeOptions& time = setup.options.time;
  const auto within = [&](std::int64_t most) -> std::int64_t {
    return most <= 0 ? 0 : static_cast<std::int64_t>(random_.below(2 * static_cast<std::uint64_t>(most) + 1)) - most;
  };
  wallOffset_ = within(time.skewMs) * 1000;
  driftPpm_ = within(time.driftPpm);
}

std::unique_ptr<store::CrashableStore> SimDevice::makeStore() const {
  if (setup_.options.cluster.store == StoreKind::rocksdb) return std::make_unique<store::CrashableRocks>();
  return std::make_unique<store::MemoryStore>();
}

Now SimDevice::now(Micros at) const {
  const Micros drifted = at + at / 1'000'000 * driftPpm_;
  return {Time{kStartOfTime + drifted + wallOffset_}, drifted / 1000};
}

node::ReplicaConfig SimDevice::config(std::string& signedHeads) const {
  node::ReplicaConfig config;
  config.replication.cluster = ClusterSetup::kCluster;
  config.replication.clusterKey = "key of the simulated cluster";
  config.replication.device = name_;
  if (sidecar_) config.replication.highWater = Result<replication::HighWater>(*sidecar_);
  config.domains = setup_.domains;
  config.partitions = static_cast<std::uint32_t>(setup_.options.cluster.partitions);
  config.ledgerReplica = isLedgerReplica();
  config.snapshotEvery = 10 + setup_.options.seed % 30;  // often enough to matter in so short a life
  config.pruneEvery = 4 + setup_.options.seed % 12;
  config.pendingTtlMicros = setup_.options.cluster.pendingTtlSeconds * kSecond;
  config.session.segmentBytes = static_cast<std::uint32_t>(setup_.options.cluster.segmentBytes);
  config.followWindow = static_cast<std::size_t>(setup_.options.cluster.followWindow);
  if (setup_.options.cluster.engine == Engine::etcd) {
    config.etcd = node::EtcdOptions{};
    config.etcd->copies = setup_.etcdCopies();
    config.etcd->keepBatches = 8;  // so that peers have to give what etcd no longer has
    config.etcd->pipeline = config.etcd->transactions = 2 + setup_.options.seed % 3;
    config.etcd->leastShare = 1 + setup_.options.seed % 2 * 31;  // few have thirty at a time
  }
  if (hasKeys(setup_.options.cluster)) {
    config.heads = std::make_shared<SimKeys>(index_, liarOf(setup_.options.cluster), signedHeads);
    config.session.gatherMs = static_cast<std::int64_t>(setup_.options.seed % 2 * 5);
    config.keepsLedgers = [this](std::string_view device) {
      return static_cast<std::int64_t>(ClusterSetup::deviceIndex(device)) < setup_.options.cluster.ledgerReplicas;
    };
  }
  if (copierOf(setup_.options.cluster)) {
    config.copiesOnly = [this](std::string_view device) { return setup_.copiesOnly(device); };
    config.copied = [](std::string_view) { return true; };
    if (!setup_.copiesOnly(name_)) config.copyKeys = std::make_shared<SimCopyKeys>();
  }
  if (setup_.places()) config.placement = [this] { return setup_.placement(roster_); };
  config.mayHave = [this](std::string_view device, replication::DatabaseName, std::string_view scope) {
    return setup_.mayHave(device, scope);
  };
  return config;
}

SimAgentsOptions SimDevice::agentsOptions() const {
  return {.retentionDays = setup_.options.cluster.retentionDays,
          .policy = policy_,
          .all = !lacksAgents_,
          .remembers = setup_.options.work.remarks > 0,
          .seed = setup_.options.seed};
}

Status SimDevice::start(Micros at) {
  ++life_;
  node::ReplicaConfig config = this->config(signed_);
  config.replication.freshTag = [this] { return static_cast<std::uint32_t>(random_.next()); };
  SimAgents agents;
  const bool hosts = static_cast<std::int64_t>(index_) < setup_.options.cluster.hosts;
  // Of an agent that is not there no run is forgotten.
  const std::int64_t retention = setup_.options.cluster.retentionDays;
  lacksAgents_ = hosts && !allAgents_ && retention == 0 && life_ % 3 == 2;
  if (hosts) agents = simAgents(agentsOptions());
  config.agents = agents.setup;
  till_ = agents.till;
  WITAN_SET(replica_, node::Replica::open({*stores_[0], *stores_[1], *stores_[2]}, std::move(config), now(at)));
  if (const auto& damaged = replica_->damagedPartitions(); !damaged.empty()) {  // this operator wants all or nothing
    const Error why = damaged.begin()->second;
    replica_.reset();
    return why;
  }
  if (agents.outside) {
    WITAN_TRY(records, replica_->data().database(replication::DatabaseName::agents).space("main"));
    agents.outside->readFrom(*records);
  }
  flushed_ = ~std::uint64_t{0};
  busyUntil = at;
  tickAt = -1;
  return okStatus();
}

Result<SimDevice::Copy> SimDevice::openCopy(Micros at) const {
  Copy copy;
  for (std::size_t n = 0; n < kStores; ++n) {
    copy.stores[n] = makeStore();
    copy.stores[n]->restoreImage(*stores_[n]->image());
  }
  copy.signedHeads = std::make_unique<std::string>(signed_);
  node::ReplicaConfig config = this->config(*copy.signedHeads);
  config.replication.freshTag = [] { return 1u; };
  if (till_) config.agents = simAgents(agentsOptions()).setup;
  WITAN_SET(copy.replica,
            node::Replica::open({*copy.stores[0], *copy.stores[1], *copy.stores[2]}, std::move(config), now(at)));
  return copy;
}

void SimDevice::usePolicy(std::uint64_t version) {
  policy_ = version;
  if (till_) sim::usePolicy(*till_, version);
}

void SimDevice::stop() {
  if (replica_) addCounters(before_, replica_->counters());
  replica_.reset();
  tickAt = -1;
}

void SimDevice::losePower() {
  stop();
  for (auto& disk : stores_) {
    store::CrashPlan plan;
    const std::size_t unsynced = disk->unsyncedBatches();
    while (plan.keepUnsynced < unsynced &&
           random_.below(100) < static_cast<std::uint64_t>(setup_.options.disk.keepPercent))
      ++plan.keepUnsynced;
    if (setup_.options.disk.tear && setup_.options.cluster.store == StoreKind::rocksdb) {
      if (plan.keepUnsynced > 0 && random_.below(4) == 0) plan.tearLastValue = random_.below(64);
      if (random_.below(4) == 0) plan.scatter = random_.next() | 1;
    }
    disk->crash(plan);
  }
}

void SimDevice::wipe() {
  stop();
  for (auto& disk : stores_) disk->wipe();
  sidecar_.reset();
  signed_.clear();
  image_.reset();
  ledgersImage_.reset();
}

void SimDevice::keepImage() {
  Image image;
  for (std::size_t n = 0; n < kStores; ++n) image.disks[n] = stores_[n]->image();
  image.sidecar = sidecar_;
  image.signedHeads = signed_;
  image_ = std::move(image);
}

bool SimDevice::restoreImage(bool sidecarToo) {
  if (!image_) return false;
  stop();
  for (std::size_t n = 0; n < kStores; ++n) stores_[n]->restoreImage(*image_->disks[n]);
  if (sidecarToo) sidecar_ = image_->sidecar, signed_ = image_->signedHeads;
  return true;
}

// Each hears of it some time after the others, the latest after half a minute.
void SimDevice::hearRoster(Micros at) {
  if (knowsRoster()) return;
  std::size_t heard = 0;
  const Micros since = at - index_ * 7 % 31 * kSecond;
  for (const auto& [device, when] : setup_.left) heard += when <= since ? 1 : 0;
  if (heard == heardOf_) return;
  heardOf_ = heard, roster_ = since;
  replica_->rosterChanged();
}

Status SimDevice::drain(Micros at, node::Effects& out, Micros& cost) {
  hearRoster(at);
  std::uint64_t steps = 0;
  for (const auto& disk : stores_) steps += disk->writeSteps();
  Status status = replica_->drain(now(at), out);
  std::uint64_t after = 0;
  for (const auto& disk : stores_) after += disk->writeSteps();
  cost = 0;
  // A write and its sync are two steps.
  for (std::uint64_t i = 0; i < (after - steps) / 2; ++i)
    cost += drawExponential(random_, setup_.options.disk.syncMicros) * (slow_ ? kSlowFactor : 1);
  if (!status.ok()) return status;
  // The file beside the stores is written before anything leaves.
  if (const std::uint64_t durable = replica_->data().durable(); durable != flushed_) {
    flushed_ = durable;
    sidecar_ = replica_->data().highWater();
  }
  return okStatus();
}

node::ReplicaCounters SimDevice::counters() const {
  node::ReplicaCounters all = before_;
  if (replica_) addCounters(all, replica_->counters());
  return all;
}

}  // namespace witan::sim
