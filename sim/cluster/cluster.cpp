#include "sim/cluster/cluster.h"

#include <algorithm>

#include "domains/registry.h"
#include "replication/statement.h"
#include "sim/trace_format.h"

namespace witan::sim {

namespace {

constexpr Micros kRetryStart = 5 * kSecond;
constexpr std::size_t kMaxInbox = 100'000;

}  // namespace

Cluster::Cluster(const Plan& plan, const RunOptions& options)
    : plan_(plan), options_(options), network_(plan.options.network, plan.options.seed, agenda_, *this), tools_(*this) {
  setup_.options = plan.options;
  ClusterOptions& cluster = setup_.options.cluster;
  cluster.ledgerReplicas = std::min(cluster.ledgerReplicas, cluster.devices);
  for (const std::string& name : domainsOf(plan.options)) {
    auto module = domains::makeDomain(name);
    WITAN_CHECK(module.ok(), "the scenario names domains that exist");
    setup_.domains.push_back(module->get());
    for (std::int64_t n = 0; n < plan.options.cluster.partitions; ++n)
      partitions_.emplace_back(module->get(),
                               node::partitionId((*module)->signature().domain, static_cast<std::uint32_t>(n)));
    modules_.push_back(*std::move(module));
  }
}

Cluster::~Cluster() = default;

// --- the record of the run

void Cluster::failed(std::string checker, std::string reason) {
  if (result_.failure) return;
  trace(kNobody, "check", checker, reason);
  result_.failure = Failure{std::move(checker), std::move(reason), agenda_.now()};
}

void Cluster::trace(std::uint32_t device, std::string_view category, std::string_view what, std::string_view detail,
                    Micros lasts, std::uint64_t flow) {
  if (!tracing()) return;
  options_.trace({agenda_.now(), lasts, device, category, what, detail, flow});
}

RunResult Cluster::finish() {
  result_.digest = digest_.value();
  result_.statistics.simulated = agenda_.now();
  result_.statistics.frames = network_.frames();
  result_.statistics.bytes = network_.bytes();
  for (const auto& seat : seats_) {
    const node::ReplicaCounters counters = seat->device->counters();
    if (etcd_)
      forEachMember<node::EtcdCounters>(
          [&](auto member, auto) { result_.probes[concat("etcd ", member.name)] += counters.etcd.*member.pointer; });
    result_.statistics.decisions += counters.decided;
    forEachMember<node::ReplicaCounters>([&](auto member, auto) {
      if (const std::uint64_t n = counters.*member.pointer; n > 0)
        result_.probes[std::string(member.name)] += n;
      else
        result_.probes.try_emplace(std::string(member.name), 0);
    });
  }
  return std::move(result_);
}

// --- founding

// Device 0 founds the cluster and admits the others.
void Cluster::found() {
  for (std::int64_t i = 0; i < plan_.options.cluster.devices; ++i) addSeat();
  network_.closeRing();
  tellMembers();
  for (auto& seat : seats_) {
    Status started = seat->device->start(0);
    WITAN_CHECK(started.ok(), "an empty device starts");
  }
  replication::LocalReplica& data = seats_[0]->replica().data();
  for (const auto& seat : seats_) {
    const auto members = data.membership();
    const auto statements = data.statements();
    WITAN_CHECK(members.ok() && statements.ok(), "a new cluster's statements are readable");
    const Status added = data.addStatement(
        replication::admit(*statements, data.writer(), seat->name(), members->nextAdmission(seat->name()), "device"));
    WITAN_CHECK(added.ok(), "a founder admits");
  }
  if (plan_.options.cluster.engine == Engine::etcd)
    startEtcd();
  else
    foundPartitions();
  for (std::uint32_t i = 0; i < seats_.size(); ++i) {
    network_.started(i);
    put(i, {});
  }
  for (ClusterObserver* one : observers_) one->onFounded();
}

// The ledger replicas found the partitions, each its share. Of one that lies nobody would believe it.
void Cluster::foundPartitions() {
  const auto replicas = static_cast<std::uint32_t>(setup_.options.cluster.ledgerReplicas);
  for (std::uint32_t i = 0; i < seats_.size() && i < replicas; ++i) {
    if (isLiar(i)) continue;
    SimDevice& device = *seats_[i]->device;
    const Status founded = device.replica().bootstrap(device.now(0), [&](std::string_view partition) {
      const std::uint32_t by = ClusterSetup::deviceIndex(concat("-", partition.substr(partition.find('/') + 1)));
      return (isLiar(by % replicas) ? by + 1 : by) % replicas == i;
    });
    WITAN_CHECK(founded.ok(), "a new cluster's partitions have no owner yet");
  }
}

void Cluster::startEtcd() {
  const auto replicas =
      static_cast<std::uint32_t>(std::min(plan_.options.cluster.ledgerReplicas, plan_.options.cluster.devices));
  EtcdHooks& hooks = *this;
  etcd_ = std::make_unique<EtcdService>(plan_.options.network, plan_.options.seed, replicas, agenda_, hooks,
                                        static_cast<std::size_t>(plan_.options.cluster.etcdRequestBytes));
}

std::uint32_t Cluster::addSeat() {
  const auto index = static_cast<std::uint32_t>(seats_.size());
  seats_.push_back(std::make_unique<Seat>());
  seats_.back()->device = std::make_unique<SimDevice>(setup_, index);
  network_.addDevice();
  if (index >= founders()) tellMembers();
  return index;
}

// What a scope, and what the copies of the ledgers need, each device of them passes on: they are groups of the mesh.
void Cluster::tellMembers() {
  if (setup_.options.network.links == 0) return;
  std::vector<node::MeshMember> all;
  for (const auto& seat : seats_) {
    node::MeshMember& member = all.emplace_back(seat->name());
    if (seat->device->isLedgerReplica()) member.groups.emplace(node::kLedgerGroup);
    for (std::int64_t n = 0; n < setup_.options.cluster.scopes; ++n)
      if (const std::string scope = ClusterSetup::scopeName(static_cast<std::uint64_t>(n));
          setup_.mayHave(seat->name(), scope))
        member.groups.insert(scope);
  }
  network_.setMembers(all);
}

std::vector<Seat*> Cluster::members() {
  std::vector<Seat*> all;
  for (const auto& seat : seats_)
    if (!seat->retired) all.push_back(seat.get());
  return all;
}

Seat* Cluster::liar() {
  const auto index = liarOf(setup_.options.cluster);
  return !index || seat(*index).retired ? nullptr : &seat(*index);
}

std::vector<Seat*> Cluster::honest() {
  std::vector<Seat*> all = members();
  std::erase_if(all, [&](Seat* at) { return isLiar(at->index()); });
  return all;
}

void Cluster::step(const Step& step) {
  switch (step.kind) {
    case StepKind::plan:
    case StepKind::faultEnd:
    case StepKind::market:
    case StepKind::look: return;  // of the run, not of a device
    case StepKind::work: return work(step.a);
    case StepKind::release: return release(step.a);
    case StepKind::tick: {
      Seat& at = seat(step.a);
      if (!at.running() || at.device->tickAt != agenda_.now()) return;
      at.device->tickAt = -1;
      return put(step.a, {});
    }
    case StepKind::start: return start(step.a);
    case StepKind::resume: {
      seat(step.a).device->paused = false;
      trace(step.a, "fault", "goes on");
      network_.started(step.a);
      return scheduleWork(step.a);
    }
    case StepKind::arrive: return network_.arrive(step.n);
    case StepKind::dial: return network_.dial(step.n);
    case StepKind::endDown: return network_.endDown(step.n, step.a);
    case StepKind::stall: return network_.stall(step.n, step.a);
    case StepKind::mesh: return network_.look(step.a);
    case StepKind::etcd: return etcd_->step(step.n);
    case StepKind::tool: return tools_.arrived(step.n);
    case StepKind::alarm: return put(step.a, {.kind = Arrival::Kind::event, .event = plan_.events.size()});
  }
}

// --- the network

bool Cluster::reachable(std::uint32_t device) const {
  const Seat& at = *seats_[device];
  return at.running() && !at.device->paused;
}

void Cluster::onConnected(std::uint32_t device, std::uint32_t peer) {
  for (ClusterObserver* one : observers_) one->onLink(device, peer);
  put(device, {.kind = Arrival::Kind::connected, .peer = peer});
}
void Cluster::onDisconnected(std::uint32_t device, std::uint32_t peer) {
  put(device, {.kind = Arrival::Kind::disconnected, .peer = peer});
}
void Cluster::onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) {
  digest_.add(frames);
  for (ClusterObserver* one : observers_) one->onBytes(device, peer, frames);
  put(device, {.kind = Arrival::Kind::frames, .peer = peer, .frames = std::move(frames)});
}
void Cluster::onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) {
  probe(what);
  if (tracing()) trace(device, "net", what, "with " + ClusterSetup::deviceName(peer));
}

void Cluster::onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing())
    trace(device, "net", kSends, "to " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}
void Cluster::onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing())
    trace(device, "net", kArrives, "from " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}

// --- etcd

void Cluster::onEtcdConnected(std::uint32_t device) {
  trace(device, "net", "connected", "etcd");
  put(device, {.kind = Arrival::Kind::etcdConnected});
}

void Cluster::onEtcdDisconnected(std::uint32_t device) {
  trace(device, "net", "disconnected", "etcd");
  put(device, {.kind = Arrival::Kind::etcdDisconnected});
}

void Cluster::onEtcdAnswer(std::uint32_t device, node::EtcdAnswer answer) {
  digest_.add(answer.id);
  digest_.add(answer.revision << 1 | (answer.succeeded ? 1 : 0));
  if (tracing())
    trace(device, "net", "etcd says",
          concat("answer ", answer.id, answer.succeeded ? " yes" : "",
                 answer.error == node::EtcdError::none ? std::string() : concat(" ", enumName(answer.error)),
                 ", revision ", answer.revision, ", changes ", answer.changes.size()));
  put(device, {.kind = Arrival::Kind::etcdAnswer, .answer = std::move(answer)});
}

void Cluster::onEtcdApplied(const node::EtcdRequest& request) {
  for (ClusterObserver* one : observers_) one->onEtcdTransaction(request);
}

void Cluster::onEtcd(std::uint32_t device, std::string_view what, std::string_view detail) {
  probe(what);
  trace(device, "fault", what, detail);
}

void Cluster::sendToEtcd(std::uint32_t device, std::vector<node::EtcdRequest> requests) {
  for (node::EtcdRequest& request : requests) {
    if (tracing()) {
      const std::string key = request.compares.empty() ? std::string() : " " + request.compares.back().key;
      trace(device, "net", "asks etcd", concat(enumName(request.call), " ", request.id, key));
    }
    etcd_->send(device, std::move(request), agenda_.now());
  }
}

// --- a device at work

void Cluster::put(std::uint32_t device, Arrival arrival) {
  Seat& at = seat(device);
  if (!at.running()) return;
  at.inbox.push_back(std::move(arrival));
  if (at.inbox.size() > kMaxInbox) return failed("bounded-memory", at.name() + "'s inbox holds 100,000 arrivals");
  scheduleWork(device);
}

void Cluster::scheduleWork(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.workDue || at.releasing || at.device->paused || at.inbox.empty() || !at.running()) return;
  at.workDue = true;
  agenda_.add(at.device->busyUntil, StepKind::work, device);
}

// Everything that waits, then one drain: what came together is made durable together.
void Cluster::work(std::uint32_t device) {
  Seat& at = seat(device);
  at.workDue = false;
  // What was put in while it worked waits until the effects have left.
  if (!at.running() || at.device->paused || at.releasing) return;
  const std::uint64_t life = at.device->life();
  while (!at.inbox.empty()) {
    Arrival arrival = std::move(at.inbox.front());
    at.inbox.pop_front();
    take(at, arrival);
    if (!at.running() || at.device->life() != life) return;
  }
  for (ClusterObserver* one : observers_) one->beforeDrain(at);
  Micros cost = 0;
  at.held.clear();
  const Status drained = at.device->drain(agenda_.now(), at.held, cost);
  if (!drained.ok()) return fail(device, drained.error());
  history_.madeDurable(device, [&](const node::Request& request) {
    const auto& all = at.replica().outbox().all();
    const auto found = all.find(request.operationId);
    return found != all.end() && found->second.saved && found->second.request == request;
  });
  for (ClusterObserver* one : observers_) one->onDurable(at);
  at.device->busyUntil = agenda_.now() + cost;
  at.releasing = true;
  if (cost == 0) return release(device);
  agenda_.add(at.device->busyUntil, StepKind::release, device, life);
}

void Cluster::take(Seat& at, Arrival& arrival) {
  node::Replica& replica = at.replica();
  const Now now = at.device->now(agenda_.now());
  const std::uint32_t self = at.index();
  switch (arrival.kind) {
    case Arrival::Kind::connected:
      trace(self, "net", "connected", ClusterSetup::deviceName(arrival.peer));
      return replica.connected(ClusterSetup::deviceName(arrival.peer), now);
    case Arrival::Kind::disconnected:
      trace(self, "net", "disconnected", ClusterSetup::deviceName(arrival.peer));
      return replica.disconnected(ClusterSetup::deviceName(arrival.peer));
    case Arrival::Kind::frames: {
      const std::string peer = ClusterSetup::deviceName(arrival.peer);
      forEachFrame(arrival.frames, [&](std::string_view frame) {
        replica.received(peer, frame, now);
        for (ClusterObserver* one : observers_) one->onFrame(at, arrival.peer, frame);
      });
      return;
    }
    case Arrival::Kind::event:
      if (arrival.event < plan_.events.size() && !at.retired)
        for (ClusterObserver* one : observers_) one->onEvent(at, plan_.events[arrival.event]);
      return;
    case Arrival::Kind::tick: return replica.tick(now);
    case Arrival::Kind::etcdConnected: return replica.etcdConnected(now);
    case Arrival::Kind::etcdDisconnected: return replica.etcdDisconnected();
    case Arrival::Kind::etcdAnswer: return replica.etcdReceived(arrival.answer, now);
    case Arrival::Kind::tool: {
      const ToolAnswer& answer = tools_.answer(arrival.event);
      if (replica.agents() == nullptr || answer.life != at.device->life()) return;
      for (ClusterObserver* one : observers_) one->onToolAnswer(at, answer);
      return tools_.hand(at, answer);
    }
  }
}

// What was made durable leaves the device.
void Cluster::release(std::uint32_t device) {
  Seat& at = seat(device);
  if (!at.releasing || !at.running() || agenda_.now() < at.device->busyUntil) return;
  at.releasing = false;
  for (node::Outgoing& send : at.held.sends) {
    const std::uint32_t peer = ClusterSetup::deviceIndex(send.peer);
    if (!send.frames.empty()) {
      history_.gave(peer, send.frames, agenda_.now());
      network_.send(device, peer, std::move(send.frames), agenda_.now());
      for (ClusterObserver* one : observers_) one->onSent(at);
    }
    if (send.close) network_.close(device, peer);
  }
  sendToEtcd(device, std::move(at.held.etcd));
  for (node::Answered& answered : at.held.answers) {
    RequestRecord* request = history_.open(device, answered.answer.operationId, answered.answer.asked);
    digest_.add(answered.answer.operationId);
    digest_.add(answered.answer.seq);
    if (tracing()) trace(device, "ledger", "answer", answerWords(answered.answer));
    if (request == nullptr) continue;
    if (answered.answer.kind == node::AnswerKind::unavailable)
      history_.answerLost(*request);  // no decision: it may come yet
    else
      history_.answered(*request, agenda_.now(), std::move(answered.answer));
  }
  for (agents::ToolCall& call : at.held.toolCalls) {
    const std::string name = ToolService::nameOf(call);
    digest_.add(name);
    for (ClusterObserver* one : observers_) one->onToolCall(at, call, name);
    if (!hasFailed()) tools_.call(at, std::move(call));
  }
  for (const node::Notice& notice : at.held.notices) {
    probe("notice: " + notice.kind);
    trace(device, "ledger", notice.kind, notice.partition + " " + notice.what);
    for (ClusterObserver* one : observers_) one->onNotice(at, notice);
    // Where no device lies, either an owner decided against the rules, or a copy accuses it falsely.
    if (notice.kind == "unlawful" && !hasFailed() && !liarOf(setup_.options.cluster))
      failed("ledger-rules", at.name() + " refused " + notice.what);
  }
  at.held.clear();
  if (setup_.options.network.links > 0) network_.need(device, at.replica().neededPeers());
  setTimer(device);
  scheduleWork(device);
}

void Cluster::setTimer(std::uint32_t device) {
  SimDevice& at = *seat(device).device;
  const std::int64_t dueMs = at.replica().nextTickMs();
  const std::int64_t nowMs = at.now(agenda_.now()).ms;
  // A millisecond more than enough, since a drifting clock rounds.
  const Micros due = agenda_.now() + std::max<std::int64_t>(0, dueMs - nowMs) * 1000 + 2000;
  if (at.tickAt >= 0 && at.tickAt <= due) return;
  at.tickAt = due;
  agenda_.add(due, StepKind::tick, device);
}

// --- power

void Cluster::start(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.running() || (at.retired && !at.returned)) return;
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.held.clear();
  if (Status started = at.device->start(agenda_.now()); !started.ok()) {
    trace(device, "fault", "does not start", started.error().message);
    if (started.error().code == ErrorCode::corrupt) {
      // Nothing may be guessed: an operator gives the disk up, and the others fill a new one.
      probe("disk given up");
      diskLost(at, 0);
      at.device->wipe();
    } else {
      probe("start refused");
      for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).reopen();
    }
    agenda_.add(agenda_.now() + kRetryStart, StepKind::start, device);
    return;
  }
  trace(device, "fault", "starts");
  if (at.device->lacksAgents()) probe("start without an agent");
  for (ClusterObserver* one : observers_) one->onStarted(at);
  at.rolledBack = false;
  network_.started(device);
  put(device, {});
}

namespace {

History::Counters countersOf(replication::LocalReplica& data) {
  History::Counters counters;
  for (const std::string& id : data.spaceIds()) {
    const replication::Space& space = *data.findSpace(id);
    counters[{id, space.selfName()}] = space.vector().at(space.self());
  }
  return counters;
}

}  // namespace

void Cluster::switchOff(std::uint32_t device, bool power, Micros backAt) {
  Seat& at = seat(device);
  if (at.running()) {
    ++result_.statistics.crashes;
    history_.counted(device, countersOf(at.replica().data()));
    at.device->stop();
    network_.stopped(device);
    if (etcd_) etcd_->stopped(device);
  }
  if (power) at.device->losePower();
  for (const node::Answered& answered : at.held.answers)
    if (RequestRecord* request = history_.open(device, answered.answer.operationId, answered.answer.asked))
      history_.answerLost(*request);
  history_.stopped(device);
  for (ClusterObserver* one : observers_) one->onStopped(at);
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.device->paused = false;
  at.held.clear();
  if (backAt >= 0) agenda_.add(backAt, StepKind::start, device);
}

void Cluster::diskLost(Seat& at, Micros since) {
  for (ClusterObserver* one : observers_) one->onDiskLost(at);
  history_.diskLost(at.index(), since, agenda_.now());
}

// A store failed under the device: what is in memory is ahead of the disk, so it starts again.
void Cluster::fail(std::uint32_t device, const Error& why) {
  Seat& at = seat(device);
  trace(device, "fault", "store fails", why.message);
  probe("store failed");
  bool power = false;
  for (std::size_t n = 0; n < kStores; ++n) power = power || at.device->disk(n).struck();
  history_.answersLost(device, [&](const std::string& id, std::uint64_t asked) {
    const auto& all = at.replica().outbox().all();
    const auto found = all.find(id);
    return found != all.end() && fingerprintOf(found->second.request) == asked;
  });
  switchOff(device, false, -1);
  if (power)
    at.device->losePower();
  else
    for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).reopen();
  agenda_.add(agenda_.now() + kRetryStart, StepKind::start, device);
}

}  // namespace witan::sim
