#include "sim/world.h"

#include "domains/registry.h"
#include "replication/statement.h"

namespace witan::sim {

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
  if (plan_.options.cluster.hosts > 0) confirmMails(first, true);
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
    const Status founded = device.replica().bootstrap(device.now(0), [&](std::string_view partition) {
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

RunResult run(const Plan& plan, const RunOptions& options) { return World(plan, options).run(); }

}  // namespace witan::sim
