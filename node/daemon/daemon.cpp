#include "node/daemon/daemon.h"

#include <algorithm>
#include <functional>

#include "agents/wake/host_choice.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "domains/agents.h"
#include "domains/registry.h"
#include "node/cluster/copy_keys.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/roster_store.h"
#include "node/daemon/agent_names.h"
#include "node/daemon/agent_waits.h"
#include "node/daemon/agents_policy_file.h"
#include "node/daemon/graph_environment.h"
#include "node/data_dir/replica_dir.h"
#include "node/market/market_host.h"
#include "node/market/market_passes.h"
#include "node/slices/bound_roles.h"
#include "node/witness/witness_rounds.h"
#include "replica/agent_runtime.h"
#include "replica/graph_runtime.h"
#include "replication/incidents.h"
#include "replication/sealed_scope.h"

namespace witan::node {

namespace {

constexpr std::string_view kKeyReplacedIncident = "keyReplaced";

constexpr std::int64_t kSlowRoundMs = 2'000;
constexpr std::size_t kMaxWaiting = 10'000;
constexpr std::int64_t kBriefWaitMs = 1'000;
constexpr std::int64_t kSeekNextMs = 10'000;
constexpr std::size_t kSeekTogether = 8;

// A third of the lease, so that a member that has died costs no partition.
EtcdOptions etcdOptions(const DaemonConfig& config) {
  EtcdOptions options;
  options.ttlMs = config.leaseSeconds * 1'000;
  options.answerMs = std::clamp<std::int64_t>(options.ttlMs / 3, 500, 2'000);
  return options;
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

Daemon::Daemon(net::Loop& loop, Log& log, std::filesystem::path path, DaemonConfig config, ClusterFile cluster,
               std::string device, SigningKey key, RosterStore rosters, Clock* wall)
    : loop_(loop),
      log_(log),
      path_(std::move(path)),
      config_(std::move(config)),
      cluster_(std::move(cluster)),
      device_(std::move(device)),
      key_(std::move(key)),
      rosters_(std::move(rosters)),
      rights_(
          rosters_, device_,
          [this](const Request& request, std::span<const std::string> keys) {
            Replica& all = dir_->replica();
            const PartitionHost* host = all.host(all.partitionFor(request.domain, request.entity));
            return host == nullptr || !all.owns(*host) || staysWithin(*host, request, keys, this->now().wall);
          },
          [this](const std::string& abuser) {
            loop_.post([this, abuser] {  // not amid its frame
              if (peers_) peers_->suspend(abuser, "too many requests that this device may not make", kSuspendedMs);
            });
          }),
      clock_(wall) {}

Daemon::~Daemon() {
  if (timer_ != 0) loop_.cancel(timer_);
  if (inboxTimer_ != 0) loop_.cancel(inboxTimer_);
  if (publishedTimer_ != 0) loop_.cancel(publishedTimer_);
  if (seekTimer_ != 0) loop_.cancel(seekTimer_);
  for (const auto& [id, waiting] : waiting_) loop_.cancel(waiting.timer);
}

// --- from the directory to a node that listens

Result<std::unique_ptr<Daemon>> Daemon::open(net::Loop& loop, Log& log, const std::filesystem::path& dir,
                                             DaemonConfig config, Clock* wall) {
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
                                            std::move(key), std::move(rosters), wall));
  WITAN_DO(daemon->openDir());
  return daemon;
}

Result<std::shared_ptr<const AgentSetup>> Daemon::agentSetup() {
  if (copiesOnly() && !config_.agents.empty())
    return config_.located(
        "agents", Error{ErrorCode::unauthorised, "this device keeps encrypted copies only: no agent works on it",
                        "leave agents out, or use a device with another role"});
  if (copiesOnly() || (config_.agents.empty() && !std::filesystem::exists(path_ / kAgentsPolicyFile)))
    return std::shared_ptr<const AgentSetup>();
  AgentSetup setup;
  WITAN_TRY(policy, gateOfDevice(path_));
  if (policy->policy() != nullptr) log_.info("agents", "they work under a policy", {{"policy", policy->epoch()}});
  setup.policy = gate_ = std::move(policy);
  setup.options.wake.scope = config_.scope;
  setup.options.retentionMs = setup.options.saga.retryMs = config_.retentionDays * 86'400'000;
  WITAN_SET(agentFiles_, AgentFiles::load(path_, config_.tools));
  std::vector<ToolConfig> tools = agentFiles_.withMinds(config_.tools);
  offerTools(setup.options, tools);
  setup.options.standing = config_.budgets;
  const auto waits = std::make_shared<AgentWaits>(log_, gate_, setup.options.tools);
  setup.options.wake.attended = [this, waits](std::string_view id) {
    const agents::Agent* agent = agentFiles_.find(id);
    return tools_ != nullptr && tools_->attended(id) &&
           (agent == nullptr || waits->mayBegin(agent->spec(), replica().data()));
  };
  WITAN_TRY(secrets, secretsOf(path_, tools, config_.secretKey));
  gate_->know(secrets.names());
  WITAN_SET(tools_, ToolBroker::open(loop_, log_, std::move(tools), std::move(secrets)));
  WITAN_TRY(seals, contentSealsOf(path_, config_.scope));
  addLedgerTools(setup, std::move(seals));
  setup.graphEnvironment = [this] { return graphEnvironmentOf(*this); };
  const bool all = std::find(config_.agents.begin(), config_.agents.end(), "all") != config_.agents.end();
  if (all) {
    setup.agents = agentFiles_.all();
  } else {
    for (std::size_t i = 0; i < config_.agents.size(); ++i) {
      const agents::Agent* agent = agentFiles_.find(config_.agents[i]);
      if (agent == nullptr && agentFiles_.isLeftOut(config_.agents[i])) {
        log_.warn("agents", "its file was left out or withdrawn", {{"agent", config_.agents[i]}});
        continue;
      }
      if (agent == nullptr) return noSuchAgent(config_, i);
      setup.agents.push_back(agent);
    }
  }
  // Their runs would fail here, and the devices on which they could succeed would take them for ended.
  if (!keepsLedgers())
    std::erase_if(setup.agents, [&](const agents::Agent* agent) {
      if (!needsLedgers(*agent)) return false;
      if (!all) log_.warn("agents", "it works only on devices that keep ledgers", {{"agent", agent->spec().id}});
      return true;
    });
  return std::make_shared<const AgentSetup>(std::move(setup));
}

NodeSetup Daemon::setup() {
  NodeSetup setup;
  setup.partitions = static_cast<std::uint32_t>(cluster_.partitions);
  setup.ledgerReplica = openedWithLedgers_ = keepsLedgers();
  setup.pendingTtlMicros = config_.pendingTtlSeconds * 1'000'000;
  setup.mayHave = [this](std::string_view device, replication::DatabaseName, std::string_view scope) {
    const RosterDevice* member = rosters_.current().member(device);
    // Nor does a device that keeps copies take from another one what it may not have itself.
    return member != nullptr && member->mayHave(scope) && (!copiesOnly() || me()->mayHave(scope));
  };
  setup.copiesOnly = [this](std::string_view device) {
    const RosterDevice* known = rosters_.current().find(device);
    return known != nullptr && known->copiesOnly();
  };
  setup.copied = [this](std::string_view scope) {
    const std::string sealed = replication::sealedScopeOf(scope);
    return std::ranges::any_of(rosters_.current().devices, [&](const RosterDevice& device) {
      return device.active() && device.copiesOnly() && device.mayHave(sealed);
    });
  };
  if (!copiesOnly()) setup.copyKeys = copyKeysOf(path_);
  setup.keepsLedgers = [this](std::string_view device) {
    const RosterDevice* member = rosters_.current().member(device);
    return member != nullptr && member->keepsLedgers();
  };
  setup.placement = [this] { return placementOf(rosters_.current()); };
  setup.mayAsk = [this](std::string_view device, const Request& request) {
    return rights_.mayAsk(device, request, now().ms);
  };
  if (config_.engine == "etcd") setup.etcd = etcdOptions(config_);
  setup.signedAnswers = config_.signedAnswers;
  setup.session.gatherMs = 5;
  setup.heads = std::make_shared<DeviceHeads>(path_, key_, rosters_);
  return setup;
}

Status Daemon::openDir() {
  NodeSetup made = setup();
  WITAN_DO(writeDeviceKeys(path_, rosters_.current().cluster, device_, key_.publicKey()));
  if (config_.publishedOnly) WITAN_DO(checkPublished(path_));
  WITAN_TRY(agents, agentSetup());
  made.agents = std::move(agents);
  if (!config_.marketOrg.empty()) WITAN_DO(installEvidenceDomain(path_));
  WITAN_TRY(opened, NodeDir::open(path_, std::move(made), now()));
  dir_ = std::move(opened);
  if (copiesOnly()) replica().data().keepCopiesOnly();
  replica().data().retireOnly([this](std::string_view device) { return rosters_.current().member(device) == nullptr; });
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
  for (const std::string& what : agentFiles_.leftOut())
    replica().data().note({kLeftOut, "", what}), log_.error("files", what);
  warnOfUnknownNames(log_, agentFiles_, config_.agents, replica().domains());
  for (const std::string& what : dir_->damaged()) log_.error("store", what, {{"hint", "witan doctor says what to do"}});
  WITAN_DO(hostNone(replica(), config_.scope));
  WITAN_DO(letFounderTakeOver());
  WITAN_DO(bootstrapMissing());
  feed_ = std::make_unique<LedgerFeed>(replica());
  readers_ = std::make_unique<LedgerReaders>(loop_, replica(), dir_->ledgers(), config_.pendingTtlSeconds * 1'000'000);
  published_ = std::make_unique<PublishedFiles>(replica().data(), dir_->ledgers(), config_, path_, rosters_);
  inbox_ = std::make_unique<InboxIndex>(replica().data(), config_.scope);
  refused_ = std::make_unique<RefusedAnswers>(replica());
  for (const auto& [id, waiting] : std::as_const(replica()).outbox().all()) refused_->left(waiting.request);
  sliceServer_ = std::make_unique<SliceServer>(replica());
  sliceStore_ = std::make_unique<SliceStore>(dir_->ledgers());
  applyRights();
  WITAN_DO(openPeers());
  WITAN_DO(openWitnesses());
  return openEtcd();
}

Status Daemon::openWitnesses() {
  if (config_.witnessUrls.empty() && config_.witnessKeys.empty()) return okStatus();
  const auto required = static_cast<std::size_t>(std::max<std::int64_t>(0, config_.witnessesRequired));
  auto opened =
      WitnessRounds::open(loop_, log_, replica(), path_, {config_.witnessUrls, config_.witnessKeys, required});
  if (!opened.ok()) return config_.located("[witness] url", opened.error());
  witnesses_ = *std::move(opened);
  return okStatus();
}

// A roster from before takeovers were signed names no device that may take over.
Status Daemon::letFounderTakeOver() {
  const RosterDevice* me = rosters_.current().member(replica().device());
  const auto permitted = [](const RosterDevice& device) { return device.takesOver(); };
  if (!enrolment_->isAdmin() || me == nullptr || !rosters_.current().allActs().empty() ||
      std::ranges::any_of(rosters_.current().devices, permitted))
    return okStatus();
  std::vector<std::string> roles = me->roles;
  roles.emplace_back(kTakeoverRole);
  return enrolment_->setRoles(me->device, roles);
}

// The cluster's first device begins the partitions: all of them once, and later those of domains that a newer build
// brings. A device that lost its ledgers knows no claims and begins nothing.
Status Daemon::bootstrapMissing() {
  if (!enrolment_->isAdmin() || config_.engine != "embedded" || !keepsLedgers()) return okStatus();
  const OwnerTable& owners = replica().owners();
  if (owners.all().empty()) {
    log_.warn("replica", "this device knows no owner of any partition: its ledgers are new or lost",
              {{"hint", "restore a backup, or let a device that has copies seize the partitions"}});
    return okStatus();
  }
  const auto begun = replica().bootstrap(now(), [&](auto partition) { return owners.find(partition) == nullptr; });
  const RosterDevice* me = rosters_.current().member(replica().device());
  if (begun.ok() || (me != nullptr && me->takesOver())) return begun;
  log_.warn("replica", "partitions without an owner are not begun: " + begun.error().message,
            {{"hint", begun.error().hint}});
  return okStatus();
}

Status Daemon::openPeers() {
  WITAN_TRY(identity, net::tlsIdentityOf(key_, replica().device()));
  PeerManager::Events events;
  events.connected = [this](const std::string& device) {
    replication::endIncidents(replica().data(), kKeyReplacedIncident, "", ""), onConnected(device), scheduleTick();
  };
  events.disconnected = [this](const std::string& device) {
    replica().disconnected(device);
    sliceServer_->disconnected(device);
    scheduleTick();
  };
  events.received = [this](const std::string& device, std::string_view frame) {
    onFrame(device, frame), scheduleTick();
  };
  events.room = [this](const std::string&) { scheduleTick(); };
  events.rosterChanged = [this] { rosterChanged(); };
  events.alarm = std::bind_front(&Daemon::alarm, this);
  events.over = [this](const std::string& kind, const std::string& device) {
    replication::endIncidents(replica().data(), kind, device, "");
  };
  events.askedInVain = [this](const std::string& device) { rights_.refused(device, now().ms); };
  events.wall = [this] { return now().wall; };
  events.steadyMs = [this] { return now().ms; };
  peers_ = std::make_unique<PeerManager>(loop_, identity, rosters_, *enrolment_, log_,
                                         PeerManager::Options{.device = replica().device(),
                                                              .dial = config_.dial,
                                                              .carry = config_.carry,
                                                              .links = static_cast<std::size_t>(config_.links),
                                                              .rosterLeaseMs = config_.rosterLeaseSeconds * 1'000},
                                         std::move(events));
  inquiry_ = std::make_unique<MembershipInquiry>(
      loop_, rosters_, [this] { peers_->rosterPublished(); },
      [this](const std::string& why) {
        replica().data().note({std::string(kKeyReplacedIncident), "",
                               concat("another device lets this one not in: ", why, "; ", kNewerBackup)});
      });
  return okStatus();
}

Status Daemon::openEtcd() {
  if (config_.engine != "etcd" || !keepsLedgers()) return okStatus();
  WITAN_TRY(endpoints, etcdEndpoints(config_));
  EtcdGateway::Events events;
  events.connected = [this] { replica().etcdConnected(now(), etcd_->state().cluster), scheduleTick(); };
  events.disconnected = [this] { replica().etcdDisconnected(), scheduleTick(); };
  events.received = [this](const EtcdAnswer& answer) { replica().etcdReceived(answer, now()), scheduleTick(); };
  etcd_ = std::make_unique<EtcdGateway>(
      loop_, log_, EtcdGatewayOptions{std::move(endpoints), etcdOptions(config_).answerMs}, std::move(events));
  return okStatus();
}

Status Daemon::start() {
  startedMs_ = now().ms;
  peers_->unite();  // before a device that one of both revoked finds this one
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
  noteRevocation();
  WITAN_DO(tick());
  WITAN_DO(openHooks());
  takePublished();
  WITAN_DO(openMarket());
  peers_->dialAll();
  askForNextKey();
  askIfAloneLater();
  if (etcd_) etcd_->start();
  return okStatus();
}

void Daemon::takePublished() {
  if (const auto taken = published_->look(); taken.ok())
    for (const std::string& words : *taken) log_.info("files", words, {});
  else
    log_.warn("files", taken.error().message, {});
  renewPasses(replica().data(), path_, rosters_.current(), now().wall, log_);
  loop_.cancel(publishedTimer_);
  publishedTimer_ = loop_.after(1'000, [this] { takePublished(); });
}

// --- the policy of its agents

Status Daemon::reloadPolicy() {
  if (!gate_) {
    // Agents, tools and the monitor of graphs are set up when a node starts.
    if (!std::filesystem::exists(path_ / kAgentsPolicyFile)) return policyProblem_.clear(), okStatus();
    policyProblem_ = concat((path_ / kAgentsPolicyFile).string(), " is new, and counts from the next start");
    log_.warn("agents", policyProblem_, {{"todo", "restart the node"}});
    return conflict(policyProblem_, "restart the node");
  }
  auto read = policyOfDevice(path_);
  Status taken = read.ok() ? okStatus() : Status(read.error());
  // A file that is gone must not open what it closed.
  if (taken.ok() && !*read && gate_->policy() != nullptr)
    taken = Error{ErrorCode::notFound, "there is no " + (path_ / kAgentsPolicyFile).string() + " any more",
                  "put it back, or restart the node to let agents work without a policy"};
  policyProblem_ = taken.ok() ? "" : taken.error().message;
  if (!taken.ok()) {
    log_.error("agents", "the policy was not taken, the one before stays in force",
               {{"why", policyProblem_}, {"policy", gate_->epoch()}});
    return taken;
  }
  const std::string before = gate_->epoch();
  if (*read) gate_->use(**std::move(read));
  if (gate_->epoch() != before) log_.info("agents", "another policy is in force", {{"policy", gate_->epoch()}});
  scheduleTick();
  return okStatus();
}

// --- keys

namespace {

RotateKey rotationOf(const std::string& device, const SigningKey& next) {
  RotateKey request;
  const PublicKey key = next.publicKey();
  request.key.assign(key.begin(), key.end());
  const Signature proof = next.sign(rotationText(device, key));
  request.proof.assign(proof.begin(), proof.end());
  return request;
}

}  // namespace

Status Daemon::rotateKey() {
  const std::string device = replica().device();
  if (!hasKey(path_, KeyName::nextDevice)) {
    WITAN_TRY(made, createKey(path_, KeyName::nextDevice));
    (void)made;
  }
  WITAN_TRY(next, node::readKey(path_, KeyName::nextDevice));
  if (!enrolment_->isAdmin()) return askForNextKey(), okStatus();
  WITAN_DO(enrolment_->rotate(device, next.publicKey()));
  peers_->rosterPublished();
  return okStatus();
}

// Asks every device, since the one that holds the admin's key takes the request; and each again when it connects. Where
// this device keeps few links, it makes links with the others in turns: with each it asks again.
void Daemon::askForNextKey() {
  for (const PeerStatus& peer : peers_->status()) askForNextKey(peer.device);
  if (seekTimer_ == 0) seekTimer_ = loop_.after(kSeekNextMs, [this] { seekForNextKey(); });
}

void Daemon::seekForNextKey() {
  seekTimer_ = 0;
  if (stopping_ || peers_->linksWithAll() || !hasKey(path_, KeyName::nextDevice)) return;
  std::set<std::string, std::less<>> some;
  const std::vector<PeerStatus> all = peers_->status();
  for (std::size_t i = 0; i < all.size() && some.size() < kSeekTogether; ++i)
    if (const PeerStatus& peer = all[seekNext_++ % all.size()]; !peer.connected) some.insert(peer.device);
  (void)peers_->seek(some);
  seekTimer_ = loop_.after(kSeekNextMs, [this] { seekForNextKey(); });
}

void Daemon::askForNextKey(const std::string& device) {
  // A start compares the key with the roster on disk.
  if (!hasKey(path_, KeyName::nextDevice) || !rosters_.kept().ok()) return;
  auto next = node::readKey(path_, KeyName::nextDevice);
  if (next.ok()) peers_->send(device, clusterFrame(rotationOf(replica().device(), *next)), false);
}

// The roster has the next key: from now on this device is known by it.
void Daemon::switchToNextKey() {
  if (!hasKey(path_, KeyName::nextDevice)) {
    if (rosters_.kept().ok()) forgetPreviousKey(path_);
    return;
  }
  auto next = node::readKey(path_, KeyName::nextDevice);
  const RosterDevice* known = next.ok() ? rosters_.current().byKey(next->publicKey()) : nullptr;
  if (known == nullptr || known->device != replica().device()) return;
  auto identity = net::tlsIdentityOf(*next, replica().device());
  Status done = identity.ok() ? promoteNextKey(path_) : Status(identity.error());
  if (!done.ok()) return log_.error("node", "the next key was not taken", {{"why", done.error().message}});
  if (rosters_.kept().ok()) forgetPreviousKey(path_);
  key_ = *next;
  if (Status told = writeDeviceKeys(path_, rosters_.current().cluster, device_, key_.publicKey()); !told.ok())
    log_.error("node", "device.vkey is of the key before", {{"why", told.error().message}});
  peers_->setIdentity(*identity);
  log_.warn("node", "this device has another key now", {{"fingerprint", fingerprintOf(key_.publicKey())}});
}

// --- working

Now Daemon::now() const { return clock_.now(); }

void Daemon::scheduleTick() {
  if (due_ || !failed_.ok()) return;
  due_ = true;
  loop_.post([this] {
    if (due_) (void)tick();
  });
}

Status Daemon::tick() {
  if (!failed_.ok()) return failed_;
  WITAN_CHECK(!working_, "a round inside a round");
  due_ = false;
  working_ = true;
  const std::int64_t began = now().ms;
  const Status done = work();
  working_ = false;
  ++rounds_;
  const std::int64_t took = now().ms - began;
  slowestRoundMs_ = std::max(slowestRoundMs_, took);
  timings_.rounds.add(took);
  if (took > kSlowRoundMs) log_.warn("replica", "a slow round", {{"ms", std::to_string(took)}});
  if (!done.ok()) fail(done.error());
  return done;
}

Status Daemon::work() {
  const Now at = now();
  clock_.tell(log_, replica().data());
  replica().tick(at);
  Effects effects;
  WITAN_DO(dir_->drain(at, effects));
  carryOut(effects);
  if (!peers_->linksWithAll()) peers_->need(replica().neededPeers());
  WITAN_DO(tellFollowers());
  WITAN_DO(sendSlices());
  if (witnesses_ && !stopping_) witnesses_->look();
  readers_->poll();
  armTimer();
  return okStatus();
}

// Without followers nothing is read back.
Status Daemon::tellFollowers() {
  if (followers_.empty()) return feed_->skip(), okStatus();
  return feed_->poll([&](PartitionHost& host, const StoredEntry& entry) {
    const auto followers = followers_;  // one may leave while it is told
    for (const auto& [handle, visit] : followers) visit(host, entry);
  });
}

void Daemon::carryOut(Effects& effects) {
  for (Outgoing& send : effects.sends) {
    // A session that has ended is over for good: a new link begins a new one.
    if (!send.frames.empty() || send.close) peers_->send(send.peer, std::move(send.frames), send.close);
  }
  if (etcd_ && !effects.etcd.empty()) etcd_->send(std::move(effects.etcd));
  for (const node::Answered& answered : effects.answers) give(answered);
  for (const Notice& notice : effects.notices) report(notice);
  for (const agents::ToolCall& call : effects.toolCalls) callTool(call);
}

void Daemon::callTool(const agents::ToolCall& call) {
  if (!tools_) return;  // stopping
  tools_->call(call, [this, call](const ToolAnswer& answer) {
    if (replica().agents() == nullptr || stopping_) return;
    deliver(*replica().agents(), call, answer, now());
    scheduleTick();
  });
}

void Daemon::report(const Notice& notice) {
  if (notice.kind == "notAllowed" && !refusalLines_.take(now().ms)) return;  // they are counted
  static constexpr std::string_view kBad =
      " surplus fork wentBack unlawful unsigned forgedName headDiffers forkProven claimRefused falsePosition badFrame "
      "notAllowed falseAnswer evidence otherEngine tooLarge contradiction damagedLedger ";
  const bool bad = kBad.find(concat(' ', notice.kind, ' ')) != kBad.npos;
  if (!bad && notice.partition.empty()) return log_.info("replica", notice.kind, {{"what", notice.what}});
  log_.line(bad ? LogLevel::warn : LogLevel::info, "replica", notice.kind,
            {{"partition", notice.partition}, {"what", notice.what}});
}

void Daemon::armTimer() {
  if (timer_ != 0) loop_.cancel(timer_);
  const std::int64_t wait = std::clamp<std::int64_t>(replica().nextTickMs() - now().ms, 0, 10'000);
  timer_ = loop_.after(std::max<std::int64_t>(wait, 1), [this] { timer_ = 0, scheduleTick(); });
}

void Daemon::fail(const Error& why) {
  if (!failed_.ok()) return;
  failed_ = why;
  log_.error("store", why.message, {{"hint", "nothing more is acknowledged; what was, is on disk"}});
  if (onFailure) loop_.post(onFailure);
}

// --- requests of this device's people

Status Daemon::ask(Request request, std::int64_t waitMs, Done done) {
  if (stopping_) return Error{ErrorCode::unavailable, "the node is stopping", "try again when it is back"};
  if (waiting_.size() >= kMaxWaiting)
    return Error{ErrorCode::unavailable, "too many requests wait for their answers", "try again later"};
  const std::string id = request.operationId;
  if (request.device.empty()) request.device = replica().device();  // as the one who answers sees it
  const std::uint64_t asked = fingerprintOf(request);
  // Whoever waits so briefly is told that it waits in the outbox: let it be there.
  WITAN_DO(replica().submit(std::move(request), waitMs < kBriefWaitMs ? Keep::now : Keep::ifLate, now()));
  const auto at = waiting_.emplace(id, Waiting{std::move(done), 0, now().ms, asked});
  at->second.timer = loop_.after(waitMs, [this, at] {
    const Done late = std::move(at->second.done);
    const std::string operation = at->first;
    waiting_.erase(at);
    replica().retainAcrossFreeze(operation);
    const auto kept = replica().outbox().all().find(operation);
    if (kept != replica().outbox().all().end()) refused_->left(kept->second.request);
    const bool cut = etcd_ && !etcd_->state().connected;
    late(Error{
        ErrorCode::unavailable,
        "no answer to " + operation + " yet" + (cut ? ": etcd is unavailable (" + etcd_->state().problem + ")" : ""),
        "it waits in the outbox and goes on by itself; ask again under the same operation id"});
  });
  scheduleTick();
  return okStatus();
}

void Daemon::give(const node::Answered& answered) {
  const auto [first, last] = waiting_.equal_range(answered.answer.operationId);
  std::vector<Done> told;
  for (auto at = first; at != last;) {
    if (at->second.asked != answered.answer.asked) {
      ++at;
      continue;
    }
    loop_.cancel(at->second.timer);
    timings_.answers.add(now().ms - at->second.sinceMs);
    ++timings_.outcomes[static_cast<std::size_t>(answered.answer.outcome)];
    told.push_back(std::move(at->second.done));
    at = waiting_.erase(at);
  }
  for (const Done& done : told) done(answered.answer);
  if (!told.empty()) return;
  const auto refused = refused_->answered(answered.answer, now().wall);
  if (!refused.ok()) return fail(refused.error());
  if (!*refused) return;
  log_.warn("inbox", "the owner refused an answer that waited here",
            {{"operation", answered.answer.operationId}, {"why", answered.answer.message}});
  scheduleTick();
}

std::uint64_t Daemon::follow(LedgerFeed::Visit visit) {
  followers_.emplace(nextFollower_, std::move(visit));
  return nextFollower_++;
}

Status Daemon::backUp(BackupOrder order, BackupJob::Done done) {
  if (stopping_) return Error{ErrorCode::unavailable, "the node is stopping", "try again when it is back"};
  if (backup_ && !backup_->finished())
    return Error{ErrorCode::conflict, "another backup is being written", "try again when it is done"};
  WITAN_DO(tick());  // between two rounds the three stores are of one moment
  backup_ = std::make_unique<BackupJob>(loop_, std::move(order), dir_->snapshots(), std::move(done));
  return okStatus();
}

// --- the end

// There will be no answer in this life of the process. `unavailable` says of a request that it waits in the outbox.
void Daemon::failWaiting() {
  for (auto& [id, waiting] : std::exchange(waiting_, {})) {
    loop_.cancel(waiting.timer);
    waiting.done(noAnswer(id, waiting.asked));
  }
}

Error Daemon::noAnswer(const std::string& id, std::uint64_t asked) {
  const std::string unknown = "whether it was decided is not known here; ask again under the same operation id";
  if (!failed_.ok())
    return {failed_.error().code, "no answer to " + id + ": " + failed_.error().message,
            unknown + " when the node is back"};
  const auto at = replica().outbox().all().find(id);
  // Under its id another request may wait.
  const bool kept = at != replica().outbox().all().end() && fingerprintOf(at->second.request) == asked;
  if (!kept) return {ErrorCode::conflict, "no answer to " + id + ": the node is stopping", unknown};
  return {ErrorCode::unavailable, "no answer to " + id + " yet: the node is stopping",
          "it waits in the outbox and goes on when the node is back; ask again under the same operation id"};
}

void Daemon::stop(std::function<void()> done) {
  if (stopping_) return;
  stopping_ = true;
  log_.info("node", "stopping");
  replica().keepRequests();
  if (failed_.ok()) (void)tick();  // what was accepted is answered
  failWaiting();
  peers_->close();
  inquiry_->stop();
  if (market_) market_->close();
  tools_.reset();
  hooks_.reset();
  if (etcd_) etcd_->release();
  loop_.after(200, [this, done = std::move(done)] {
    if (timer_ != 0) loop_.cancel(timer_);
    timer_ = 0;
    if (tracer_) tracer_->flush();
    backup_.reset();  // one that is under way is given up
    if (failed_.ok())
      if (Status closed = dir_->close(now()); !closed.ok()) fail(closed.error());
    done();
  });
}

}  // namespace witan::node
