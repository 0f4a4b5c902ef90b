#include "sim/cluster/clients.h"

#include "base/sha256.h"
#include "replica/graph_runtime.h"
#include "sim/sim_graph.h"
#include "sim/trace_format.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr std::size_t kRecent = 16;

}  // namespace

Clients::Clients(Cluster& cluster) : c_(cluster) {
  for (const auto& module : c_.modules())
    if (module->signature().domain != node::kGraphDomain) domains_.push_back(module.get());
}

void Clients::write(Seat& at, DatabaseName database, std::string scope, std::vector<Write> writes) {
  LocalReplica& data = at.replica().data();
  auto space = data.database(database).space(scope);
  if (!space.ok()) return;
  std::vector<std::vector<Dot>> seen;
  for (const Write& write : writes) {
    seen.emplace_back();
    if (write.kind == Kind::batch) continue;
    auto versions = (*space)->versions(write.kind, write.key);
    if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
    for (const Version& version : *versions) seen.back().push_back(version.dot);
    if (write.tombstone && versions->empty()) return;  // nothing to take away
  }
  auto dot = at.replica().commit(database, scope, writes);
  if (!dot.ok()) {
    if (dot.error().code == ErrorCode::invalidInput || dot.error().code == ErrorCode::conflict)
      c_.probe("commit refused");
    c_.trace(at.index(), "work", "commit refused", dot.error().message);
    return;
  }
  ++c_.statistics().commits;
  c_.digest().add(dot->counter);
  if (c_.tracing())
    c_.trace(at.index(), "work", "commits",
             concat(LocalReplica::spaceId(database, scope), " ", dot->host, ":", dot->counter, " ", writes[0].key));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    std::string key = writes[i].kind == Kind::batch ? concat(dot->host, ":", dot->counter) : writes[i].key;
    c_.history().wrote({LocalReplica::spaceId(database, scope), {static_cast<int>(writes[i].kind), std::move(key)}},
                       {*dot, at.index(), c_.agenda().now(), false, false, writes[i].tombstone, std::move(seen[i])});
  }
}

std::string Clients::entityName(const kernel::DomainModule& module, std::uint64_t n) const {
  // A name is one of its domain: what the graph hears of may be called as it is.
  if (n == 0 && module.signature().domain == kHeardDomain && moduleOf(node::kGraphDomain) != nullptr)
    return std::string(kSimGraph);
  return concat(module.signature().domain, "-", n);
}

const kernel::DomainModule* Clients::moduleOf(std::string_view domain) const {
  for (const auto& module : c_.modules())
    if (module->signature().domain == domain) return module.get();
  return nullptr;
}

const kernel::Partition* Clients::someCopy(const Seat& at, const kernel::DomainModule& module,
                                           std::string_view entity) {
  const auto copyOf = [&](SimDevice& device) -> const kernel::Partition* {
    if (!device.running()) return nullptr;
    node::Replica& replica = device.replica();
    const node::PartitionHost* host = replica.host(replica.partitionFor(module.signature().domain, entity));
    if (host == nullptr || host->partition().state(entity) == nullptr) return nullptr;
    return &host->partition();
  };
  if (const kernel::Partition* own = copyOf(*at.device)) return own;
  for (const auto& other : c_.seats())
    if (const kernel::Partition* copy = copyOf(*other->device)) return copy;
  return nullptr;
}

void Clients::submit(Seat& at, node::Request request, bool plain) {
  request.device = at.name();
  const bool waits = c_.history().open(at.index(), request.operationId, fingerprintOf(request)) != nullptr;
  // Some want it kept before they are told that it was taken.
  const bool keep = sha256(request.operationId)[0] % 4 == 0;
  const Now now = at.device->now(c_.agenda().now());
  const Status accepted = keep ? at.replica().enqueue(request, now) : at.replica().submit(request, now);
  if (c_.tracing())
    c_.trace(at.index(), "work", enumName(request.kind),
             formatRequest(request, moduleOf(request.domain)) + (accepted.ok() ? "" : ": " + accepted.error().message));
  if (!accepted.ok()) return c_.probe("request refused at the door");
  c_.digest().add(request.operationId);
  std::vector<node::Request>& recent = recent_[at];
  recent.push_back(request);
  if (recent.size() > kRecent) recent.erase(recent.begin());
  if (waits) return;
  RequestRecord booked{.device = at.index(), .invoked = c_.agenda().now(), .request = std::move(request)};
  const auto& waiting = at.replica().outbox().all();
  const auto taken = waiting.find(booked.request.operationId);
  booked.inOutbox = taken != waiting.end();
  booked.outlasts = booked.inOutbox && !taken->second.reportFreeze;
  booked.plain = plain;
  booked.kept = keep;
  c_.history().asked(std::move(booked));
}

}  // namespace witan::sim
