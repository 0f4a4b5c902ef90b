// Daemon: from its directory to a node that listens: what is read, who may what, and what is connected to what.
#include <algorithm>

#include "agents/wake/host_choice.h"
#include "domains/agents.h"
#include "domains/registry.h"
#include "node/cluster/own_keys.h"
#include "node/daemon/agents_policy_file.h"
#include "node/daemon/content_seals.h"
#include "node/daemon/daemon.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/replica_identity.h"
#include "replica/agent_runtime.h"
#include "replica/ledger_queries.h"

namespace witan::node {

namespace {

// A third of the lease, so that a member that has died costs no partition.
EtcdOptions etcdOptions(const DaemonConfig& config) {
  EtcdOptions options;
  options.ttlMs = config.leaseSeconds * 1'000;
  options.answerMs = std::clamp<std::int64_t>(options.ttlMs / 3, 500, 2'000);
  return options;
}

std::vector<std::string> allDomains() {
  std::vector<std::string> names;
  for (const std::string_view name : domains::domainNames()) names.emplace_back(name);
  return names;
}

// Of a device that no agent works on: the others would wait for those that did.
Status hostNone(Replica& replica, const std::string& scope) {
  replication::Space* records = replica.data().database(replication::DatabaseName::agents).find(scope);
  if (replica.agents() != nullptr || records == nullptr) return okStatus();
  WITAN_TRY(gone, agents::unhostingAllBut(*records, replica.device(), {}));
  if (gone.empty()) return okStatus();
  WITAN_TRY(dot, replica.commit(replication::DatabaseName::agents, scope, gone));
  (void)dot;
  return okStatus();
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::open(net::Loop& loop, Log& log, const std::filesystem::path& dir,
                                             DaemonConfig config) {
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(key, readKey(dir, KeyName::device));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(dir, admin));
  // A crash between the roster and the file: the roster has the next key already.
  if (hasKey(dir, KeyName::nextDevice)) {
    WITAN_TRY(next, node::readKey(dir, KeyName::nextDevice));
    if (rosters.current().byKey(next.publicKey()) != nullptr) {
      WITAN_DO(promoteNextKey(dir));
      key = next;
    }
  }
  WITAN_DO(checkOwnKeys(dir, rosters));
  WITAN_TRY(identity, readReplicaIdentity(dir));
  if (rosters.current().byKey(key.publicKey()) != nullptr) forgetPreviousKey(dir);
  std::unique_ptr<Daemon> daemon(new Daemon(loop, log, dir, std::move(config), std::move(cluster), identity.device,
                                            std::move(key), std::move(rosters)));
  WITAN_DO(daemon->openDir());
  return daemon;
}

Result<std::shared_ptr<const AgentSetup>> Daemon::agentSetup() {
  if (config_.agents.empty()) return std::shared_ptr<const AgentSetup>();
  AgentSetup setup;
  WITAN_TRY(policy, gateOfDevice(path_));
  if (policy->policy() != nullptr) log_.info("agents", "they work under a policy", {{"policy", policy->epoch()}});
  setup.policy = gate_ = std::move(policy);
  setup.options.wake.scope = config_.scope;
  WITAN_TRY(seals, contentSealsOf(path_));
  addLedgerTools(setup, std::move(seals));
  const bool all = std::find(config_.agents.begin(), config_.agents.end(), "all") != config_.agents.end();
  if (all) {
    setup.agents.assign(domains::builtinAgents().begin(), domains::builtinAgents().end());
  } else {
    for (std::size_t i = 0; i < config_.agents.size(); ++i) {
      const agents::Agent* agent = domains::findAgent(config_.agents[i]);
      if (agent == nullptr) return noSuchAgent(config_, i);
      setup.agents.push_back(agent);
    }
  }
  // Their runs would fail here, and those devices on which they could succeed would take them for ended.
  if (!this->setup().ledgerReplica)
    std::erase_if(setup.agents, [&](const agents::Agent* agent) {
      if (!needsLedgers(*agent)) return false;
      if (!all) log_.warn("agents", "it works only on devices that keep ledgers", {{"agent", agent->spec().id}});
      return true;
    });
  return std::make_shared<const AgentSetup>(std::move(setup));
}

NodeSetup Daemon::setup() const {
  NodeSetup setup;
  setup.domains = allDomains();
  setup.partitions = static_cast<std::uint32_t>(cluster_.partitions);
  const RosterDevice* me = rosters_.current().find(device_);
  setup.ledgerReplica = me == nullptr || me->keepsLedgers();
  setup.pendingTtlMicros = config_.pendingTtlSeconds * 1'000'000;
  setup.mayHave = [this](std::string_view device, replication::DatabaseName, std::string_view scope) {
    const RosterDevice* known = rosters_.current().find(device);
    return known != nullptr && known->active() && known->mayHave(scope);
  };
  setup.keepsLedgers = [this](std::string_view device) {
    const RosterDevice* known = rosters_.current().find(device);
    return known != nullptr && known->active() && known->keepsLedgers();
  };
  setup.mayAsk = [this](std::string_view device, const Request& request) { return mayAsk(device, request); };
  if (config_.engine == "etcd") setup.etcd = etcdOptions(config_);
  return setup;
}

Status Daemon::mayAsk(std::string_view device, const Request& request) const {
  const auto no = [&](const std::string& what) -> Status {
    return Error{ErrorCode::unauthorised, "this device may not " + what, "its roles: witan device roster"};
  };
  const RosterDevice* known = rosters_.current().find(device);
  if (known == nullptr || !known->active()) return no("ask for anything");
  const auto anyRole = [&] {
    return std::any_of(known->roles.begin(), known->roles.end(), [&](const std::string& role) {
      return role == kAnyRole || role.starts_with(request.domain + ".");
    });
  };
  switch (request.kind) {
    case RequestKind::propose:
      if (known->mayAct(request.domain, request.role)) return okStatus();
      // A role that the domain does not have is for the meta-agent to reject, on record.
      return no("propose as " + request.domain + "." + request.role);
    case RequestKind::init: return anyRole() ? okStatus() : no("begin entities of " + request.domain);
    case RequestKind::commit:
    case RequestKind::reject:
      return known->mayAct(request.domain, "counselor") ? okStatus()
                                                        : no("bring a counselor's decisions of " + request.domain);
  }
  return no("ask that");
}

Status Daemon::openDir() {
  NodeSetup made = setup();
  WITAN_TRY(agents, agentSetup());
  made.agents = std::move(agents);
  WITAN_TRY(opened, NodeDir::open(path_, std::move(made), now()));
  dir_ = std::move(opened);
  std::optional<SigningKey> admin;
  if (hasKey(path_, KeyName::admin)) {
    WITAN_TRY(key, node::readKey(path_, KeyName::admin));
    admin = std::move(key);
  }
  WITAN_TRY(clusterKey, readClusterSecret(path_));
  WITAN_TRY(enrolment, EnrolmentService::open(path_, rosters_, std::move(clusterKey),
                                              static_cast<std::uint32_t>(cluster_.partitions), std::move(admin)));
  enrolment_ = std::make_unique<EnrolmentService>(std::move(enrolment));
  if (replica().data().incarnation().newIncarnation() &&
      replica().data().incarnation().cause != replication::IncarnationCause::freshStore)
    log_.warn("replica", "this device goes on as a new writer",
              {{"writer", replica().data().writer()}, {"why", replica().data().incarnation().why}});
  for (const std::string& what : dir_->damaged()) log_.error("store", what, {{"hint", "witan doctor says what to do"}});
  WITAN_DO(hostNone(replica(), config_.scope));
  WITAN_DO(foundMissing());
  feed_ = std::make_unique<LedgerFeed>(replica());
  readers_ = std::make_unique<LedgerReaders>(loop_, replica(), dir_->ledgers(), config_.pendingTtlSeconds * 1'000'000);
  sliceServer_ = std::make_unique<SliceServer>(replica());
  sliceStore_ = std::make_unique<SliceStore>(dir_->ledgers());
  applyRights();
  WITAN_DO(openPeers());
  return openEtcd();
}

// The cluster's first device begins the partitions: all of them once, and later those of domains that a newer build
// brings. Whoever lost its ledgers knows of no claims at all and begins nothing.
Status Daemon::foundMissing() {
  if (!enrolment_->isAdmin() || config_.engine != "embedded" || !setup().ledgerReplica) return okStatus();
  const OwnerTable& owners = replica().owners();
  if (owners.all().empty()) {
    log_.warn("replica", "this device knows no owner of any partition: its ledgers are new or lost",
              {{"hint", "restore a backup, or let a device that has copies seize the partitions"}});
    return okStatus();
  }
  return replica().bootstrap(now(), [&](std::string_view partition) { return owners.find(partition) == nullptr; });
}

Status Daemon::openPeers() {
  WITAN_TRY(identity, net::tlsIdentityOf(key_, replica().device()));
  PeerManager::Events events;
  events.connected = [this](const std::string& device) { met(device), touch(); };
  events.disconnected = [this](const std::string& device) {
    replica().disconnected(device);
    sliceServer_->disconnected(device);
    touch();
  };
  events.received = [this](const std::string& device, std::string_view frame) { heard(device, frame), touch(); };
  events.room = [this](const std::string&) { touch(); };
  events.rosterChanged = [this] {
    goOverToNextKey();
    askForNextKey();  // it waits where the last roster could not be written
    reconcileMembership();
    applyRights();
    touch();
  };
  events.wall = [this] { return now().wall; };
  events.steadyMs = [this] { return now().ms; };
  peers_ = std::make_unique<PeerManager>(loop_, identity, rosters_, *enrolment_, log_,
                                         PeerManager::Options{replica().device(), config_.dial, config_.carry},
                                         std::move(events));
  return okStatus();
}

Status Daemon::openEtcd() {
  if (config_.engine != "etcd" || !setup().ledgerReplica) return okStatus();
  WITAN_TRY(endpoints, etcdEndpoints(config_));
  EtcdGateway::Events events;
  events.connected = [this] { replica().etcdConnected(now(), etcd_->state().cluster), touch(); };
  events.disconnected = [this] { replica().etcdDisconnected(), touch(); };
  events.received = [this](const EtcdAnswer& answer) { replica().etcdReceived(answer, now()), touch(); };
  etcd_ = std::make_unique<EtcdGateway>(
      loop_, log_, EtcdGatewayOptions{std::move(endpoints), etcdOptions(config_).answerMs}, std::move(events));
  return okStatus();
}

Status Daemon::start() {
  startedMs_ = now().ms;
  for (const std::string& address : config_.listen) {
    WITAN_TRY(bound, peers_->listen(address));
    log_.info("net", "listening for devices", {{"address", bound}});
    addresses_.push_back(std::move(bound));
  }
  if (!config_.advertise.empty()) addresses_ = config_.advertise;
  if (!config_.otlp.empty()) {
    auto tracer = Tracer::open(loop_, log_, config_.otlp, {replica().device(), cluster_.name});
    if (!tracer.ok()) return config_.located("[trace] otlp", tracer.error());
    tracer_ = *std::move(tracer);
    follow([this](PartitionHost& host, const StoredEntry& entry) {
      tracer_->entry(host.id(), entry.entry, replica().owns(host), now().wall);
    });
  }
  reconcileMembership();
  WITAN_DO(round());
  peers_->dialAll();
  if (etcd_) etcd_->start();
  return okStatus();
}

}  // namespace witan::node
