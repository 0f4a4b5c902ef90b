#include "sim/world.h"

#include <algorithm>

#include "domains/registry.h"
#include "replication/statement.h"
#include "sim/frame_words.h"

namespace witan::sim {

namespace {

constexpr Micros kRetryStart = 5 * kSecond;
constexpr std::size_t kMaxInbox = 100'000;

}  // namespace

World::World(const Plan& plan, const RunOptions& options)
    : plan_(plan),
      runOptions_(options),
      network_(plan.options.network, plan.options.seed, agenda_, *this),
      tracing_(static_cast<bool>(options.trace)) {
  setup_.options = plan.options;
  for (const std::string& name : domainsOf(plan.options)) {
    auto module = domains::makeDomain(name);
    WITAN_CHECK(module.ok(), "the scenario names domains that exist");
    setup_.domains.push_back(module->get());
    modules_.push_back(*std::move(module));
  }
  confinement_ = makeConfinement();
}

World::~World() = default;

// Markers of private scopes, and of what devices ask of the ledgers: "ledger-3" is what device 3 asked.
std::unique_ptr<Confinement> World::makeConfinement() const {
  std::vector<std::string> scopes;
  for (std::int64_t n = 0; n < plan_.options.cluster.scopes; ++n)
    scopes.push_back(ClusterSetup::scopeName(static_cast<std::uint64_t>(n)));
  for (std::uint32_t i = 0; i < kMostDevices; ++i) scopes.push_back("ledger-" + std::to_string(i));
  return std::make_unique<Confinement>(scopes, [this](std::string_view device, std::string_view scope) {
    if (!scope.starts_with("ledger-")) return setup_.mayHave(device, scope);
    const std::uint32_t index = ClusterSetup::deviceIndex(device);
    return static_cast<std::int64_t>(index) < plan_.options.cluster.ledgerReplicas ||
           index == ClusterSetup::deviceIndex(scope);
  });
}

// --- reporting

void World::failed(std::string checker, std::string reason) {
  if (result_.failure) return;
  trace(kNobody, "check", checker, reason);
  result_.failure = Failure{std::move(checker), std::move(reason), agenda_.now()};
}

void World::trace(std::uint32_t device, std::string_view category, std::string_view what, std::string_view detail,
                  Micros lasts, std::uint64_t flow) {
  if (!tracing_) return;
  runOptions_.trace({agenda_.now(), lasts, device, category, what, detail, flow});
}

// --- the run

RunResult World::run() {
  foundCluster();
  for (std::uint64_t i = 0; i < plan_.events.size(); ++i) agenda_.add(plan_.events[i].at, StepKind::plan, 0, i);
  const Micros end = plan_.options.time.seconds * kSecond;
  agenda_.add(end, StepKind::look, 0);
  while (!agenda_.empty() && !result_.failure && !settled_) {
    const Step next = agenda_.take();
    digest_.add(static_cast<std::uint64_t>(next.at));
    digest_.add(static_cast<std::uint64_t>(next.kind) << 32 | next.a);
    step(next);
    ++result_.statistics.steps;
    if (runOptions_.digests != nullptr) runOptions_.digests->push_back(digest_.value());
  }
  if (!result_.failure) checkAtEnd();
  result_.digest = digest_.value();
  result_.statistics.simulated = agenda_.now();
  result_.statistics.frames = network_.frames();
  result_.statistics.bytes = network_.bytes();
  for (const auto& seat : seats_) {
    const node::ReplicaCounters counters = seat->device->counters();
    if (etcd_) addEtcdProbes(counters.etcd);
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

// Device 0 founds the cluster and admits the others.
void World::foundCluster() {
  for (std::int64_t i = 0; i < plan_.options.cluster.devices; ++i) addSeat();
  network_.closeRing();
  for (auto& seat : seats_) {
    Status started = seat->device->start(0);
    WITAN_CHECK(started.ok(), "an empty device starts");
  }
  Seat& first = *seats_[0];
  replication::LocalReplica& data = first.device->replica().data();
  for (const auto& seat : seats_) {
    const auto members = data.membership();
    const auto statements = data.statements();
    WITAN_CHECK(members.ok() && statements.ok(), "a new cluster's statements are readable");
    const Status added = data.addStatement(replication::admit(*statements, data.writer(), seat->device->name(),
                                                              members->nextAdmission(seat->device->name()), "device"));
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
  // Every entity begins; the device that asks owns it or does not.
  for (const auto& module : modules_)
    for (std::int64_t n = 0; n < plan_.options.cluster.entities; ++n) {
      Seat& by = seat(static_cast<std::uint32_t>(n));
      SeededRandom random(plan_.options.seed ^ static_cast<std::uint64_t>(n + 1) * 0x2545f4914f6cdd1du);
      node::Request request;
      request.kind = node::RequestKind::init;
      request.domain = module->signature().domain;
      request.entity = entityName(*module, static_cast<std::uint64_t>(n));
      request.operationId = "init-" + request.entity;
      request.text = module->sampleInit(random, by.device->now(0).wall);
      submit(by, std::move(request), true);
    }
}

// The ledger replicas found the partitions, each its share.
void World::foundPartitions() {
  const auto replicas = static_cast<std::uint32_t>(plan_.options.cluster.ledgerReplicas);
  for (std::uint32_t i = 0; i < seats_.size() && i < replicas; ++i) {
    SimDevice& device = *seats_[i]->device;
    const Status founded = device.replica().found(device.now(0), [&](std::string_view partition) {
      return ClusterSetup::deviceIndex("-" + std::string(partition.substr(partition.find('/') + 1))) % replicas == i;
    });
    WITAN_CHECK(founded.ok(), "a new cluster's partitions have no owner yet");
  }
}

std::uint32_t World::addSeat() {
  const auto index = static_cast<std::uint32_t>(seats_.size());
  seats_.push_back(std::make_unique<Seat>());
  seats_.back()->device = std::make_unique<SimDevice>(setup_, index);
  network_.addDevice();
  return index;
}

void World::step(const Step& step) {
  switch (step.kind) {
    case StepKind::plan: {
      const Event& event = plan_.events[step.n];
      if (settling_) return;
      if (isFault(event.kind)) return fault(event, step.n);
      Arrival arrival;
      arrival.kind = Arrival::Kind::event;
      arrival.event = step.n;
      return put(event.device % founders(), std::move(arrival));
    }
    case StepKind::faultEnd: return endFault(step.n);
    case StepKind::work: return work(step.a);
    case StepKind::release: return release(step.a);
    case StepKind::tick: {
      Seat& at = seat(step.a);
      if (!at.device->running() || at.device->tickAt != agenda_.now()) return;
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
    case StepKind::etcd: return etcd_->step(step.n);
    case StepKind::tool: return answerTool(step.n);
    case StepKind::look: return look();
  }
}

// --- a device at work

bool World::reachable(std::uint32_t device) const {
  const Seat& at = *seats_[device];
  return at.device->running() && !at.device->paused;
}

void World::onConnected(std::uint32_t device, std::uint32_t peer) {
  confinement_->closed(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer));
  Arrival arrival;
  arrival.kind = Arrival::Kind::connected;
  arrival.peer = peer;
  put(device, std::move(arrival));
}
void World::onDisconnected(std::uint32_t device, std::uint32_t peer) {
  Arrival arrival;
  arrival.kind = Arrival::Kind::disconnected;
  arrival.peer = peer;
  put(device, std::move(arrival));
}
void World::onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) {
  digest_.add(frames);
  const std::string leak =
      confinement_->checkReceived(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer), frames);
  if (!leak.empty()) failed("confinement", leak);
  Arrival arrival;
  arrival.kind = Arrival::Kind::frames;
  arrival.peer = peer;
  arrival.frames = std::move(frames);
  put(device, std::move(arrival));
}
void World::onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) {
  probe(what);
  if (tracing_) trace(device, "net", what, "with " + ClusterSetup::deviceName(peer));
}

void World::onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing_)
    trace(device, "net", kSends, "to " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}
void World::onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing_)
    trace(device, "net", kArrives, "from " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}

void World::put(std::uint32_t device, Arrival arrival) {
  Seat& at = seat(device);
  if (!at.device->running()) return;
  at.inbox.push_back(std::move(arrival));
  if (at.inbox.size() > kMaxInbox)
    return failed("bounded-memory", at.device->name() + "'s inbox holds 100,000 arrivals");
  scheduleWork(device);
}

void World::scheduleWork(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.workDue || at.releasing || at.device->paused || at.inbox.empty() || !at.device->running()) return;
  at.workDue = true;
  agenda_.add(at.device->busyUntil, StepKind::work, device);
}

// Everything that waits, then one drain: what came together is made durable together.
void World::work(std::uint32_t device) {
  Seat& at = seat(device);
  at.workDue = false;
  if (!at.device->running() || at.device->paused) return;
  const std::uint64_t life = at.device->life();
  while (!at.inbox.empty()) {
    Arrival arrival = std::move(at.inbox.front());
    at.inbox.pop_front();
    take(at, arrival);
    if (!at.device->running() || at.device->life() != life) return;
  }
  strikeSaga(at);
  Micros cost = 0;
  at.held.clear();
  const Status drained = at.device->drain(agenda_.now(), at.held, cost);
  if (!drained.ok()) return fail(device, drained.error());
  book_.madeDurable(device);
  rememberStanding(at);
  checkFenced(at);
  checkShown(at);
  checkSuccession(at);
  watchRuns(at);
  at.device->busyUntil = agenda_.now() + cost;
  at.releasing = true;
  if (cost == 0) return release(device);
  agenda_.add(at.device->busyUntil, StepKind::release, device, life);
}

void World::take(Seat& at, Arrival& arrival) {
  node::Replica& replica = at.device->replica();
  const Now now = at.device->now(agenda_.now());
  const std::uint32_t self = at.device->index();
  switch (arrival.kind) {
    case Arrival::Kind::connected:
      trace(self, "net", "connected", ClusterSetup::deviceName(arrival.peer));
      return replica.connected(ClusterSetup::deviceName(arrival.peer), now);
    case Arrival::Kind::disconnected:
      trace(self, "net", "disconnected", ClusterSetup::deviceName(arrival.peer));
      return replica.disconnected(ClusterSetup::deviceName(arrival.peer));
    case Arrival::Kind::frames: {
      const std::string peer = ClusterSetup::deviceName(arrival.peer);
      std::string_view bytes = arrival.frames;
      while (bytes.size() >= replication::kFrameHeaderBytes) {
        std::uint32_t length = 0;
        for (unsigned i = 0; i < 4; ++i)
          length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
        const std::size_t size = std::min<std::size_t>(bytes.size(), replication::kFrameHeaderBytes + length);
        replica.received(peer, bytes.substr(0, size), now);
        noteShown(at, arrival.peer, bytes.substr(0, size));
        bytes.remove_prefix(size);
      }
      return;
    }
    case Arrival::Kind::event:
      if (arrival.event < plan_.events.size()) {
        const Event& event = plan_.events[arrival.event];
        return isFault(event.kind) ? operate(at, event) : act(at, event);
      }
      return;
    case Arrival::Kind::tick: return replica.tick(now);
    case Arrival::Kind::etcdConnected: return replica.etcdConnected(now);
    case Arrival::Kind::etcdDisconnected: return replica.etcdDisconnected();
    case Arrival::Kind::etcdAnswer: return replica.etcdReceived(arrival.answer, now);
    case Arrival::Kind::tool: return hearTool(at, toolAnswers_[arrival.event]);
  }
}

// What was made durable leaves the device.
void World::release(std::uint32_t device) {
  Seat& at = seat(device);
  if (!at.releasing || !at.device->running() || agenda_.now() < at.device->busyUntil) return;
  at.releasing = false;
  for (node::Outgoing& send : at.held.sends) {
    const std::uint32_t peer = ClusterSetup::deviceIndex(send.peer);
    if (!send.frames.empty()) {
      network_.send(device, peer, std::move(send.frames), agenda_.now());
      at.spokenAs = at.device->replica().ownerName();
    }
    if (send.close) network_.close(device, peer);
  }
  sendToEtcd(device, std::move(at.held.etcd));
  for (node::Answered& answered : at.held.answers) {
    BookedRequest* request = book_.open(device, answered.answer.operationId);
    digest_.add(answered.answer.operationId);
    digest_.add(answered.answer.seq);
    if (tracing_)
      trace(device, "ledger", "answer",
            answered.answer.operationId + ": " + std::string(enumName(answered.answer.outcome)) + " " +
                answered.answer.message);
    if (request != nullptr) book_.answered(*request, agenda_.now(), std::move(answered.answer));
  }
  for (agents::ToolCall& call : at.held.toolCalls) callTool(device, std::move(call));
  for (const node::Notice& notice : at.held.notices) {
    probe("notice: " + notice.kind);
    trace(device, "ledger", notice.kind, notice.partition + " " + notice.what);
  }
  at.held.clear();
  setTimer(device);
  scheduleWork(device);
}

void World::setTimer(std::uint32_t device) {
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

void World::start(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.device->running() || at.down > 0 || at.retired) return;
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.held.clear();
  at.fenced.clear();
  at.shown.clear();
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
  checkRestart(at);
  checkCopies(at);
  if (std::exchange(at.wentBack, false))
    for (const auto& [id, host] : at.device->replica().hosts())
      goneBack_[id].push_back(
          {at.device->replica().ownerName(), LostRange{host->epoch(), host->partition().size() + 1}});
  network_.started(device);
  put(device, {});
}

// Stops at once. With `power`: what was not synced is lost.
void World::switchOff(std::uint32_t device, bool power, Micros backAt) {
  Seat& at = seat(device);
  if (at.device->running()) {
    ++result_.statistics.crashes;
    at.device->stop();
    network_.stopped(device);
    if (etcd_) etcd_->stopped(device);
  }
  if (power) at.device->losePower();
  for (const node::Answered& answered : at.held.answers)
    if (BookedRequest* request = book_.open(device, answered.answer.operationId)) book_.answerLost(*request);
  book_.stopped(device);
  forgetRuns(at, false);
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.device->paused = false;
  at.held.clear();
  if (backAt >= 0) agenda_.add(backAt, StepKind::start, device);
}

// A store failed under the device: what is in memory is ahead of the disk, so it starts again.
void World::fail(std::uint32_t device, const Error& why) {
  Seat& at = seat(device);
  trace(device, "fault", "store fails", why.message);
  probe("store failed");
  bool power = false;
  for (std::size_t n = 0; n < kStores; ++n) power = power || at.device->disk(n).struck();
  book_.answersLost(device, [&](const std::string& id) { return at.device->replica().outbox().all().contains(id); });
  switchOff(device, false, -1);
  if (power)
    at.device->losePower();
  else
    for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).reopen();
  agenda_.add(agenda_.now() + kRetryStart, StepKind::start, device);
}

RunResult run(const Plan& plan, const RunOptions& options) { return World(plan, options).run(); }

}  // namespace witan::sim
