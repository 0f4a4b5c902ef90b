#include "sim/run/settling.h"

#include "sim/check/partition_log.h"

namespace witan::sim {

namespace {
constexpr Micros kLook = 5 * kSecond;
}  // namespace

void Settling::begin() {
  c_.beginSettling();
  settleBy_ = c_.agenda().now() + c_.plan().options.time.settleSeconds * kSecond;
  c_.trace(kNobody, "check", "settling begins");
  faults_.endAll();
}

void Settling::look() {
  if (!c_.settling()) begin();
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i)
    if (!c_.seats()[i]->device->running() && !c_.seats()[i]->retired)
      c_.agenda().add(c_.agenda().now(), StepKind::start, i);
  if (looks_++ % 4 == 3) {  // operators are slower than machines
    operators_.pardon();
    operators_.admitAgain();
    operators_.seizeOrphans();
    operators_.decideEverything();
  }
  waitingFor_ = unsettled();
  if (waitingFor_.empty()) {
    settled_ = true;
    c_.trace(kNobody, "check", "settled");
    return;
  }
  if (c_.agenda().now() >= settleBy_)
    return c_.failed("liveness", "after " + std::to_string(c_.plan().options.time.settleSeconds) +
                                     " s without faults: " + waitingFor_);
  c_.agenda().add(c_.agenda().now() + kLook, StepKind::look, 0);
}

// Who should answer a request that waits.
std::string Settling::standingOf(const node::Request& request) {
  std::string text = " (";
  for (auto& at : c_.seats()) {
    if (at->retired || !at->device->running()) continue;
    node::Replica& replica = at->device->replica();
    const std::string id = replica.partitionFor(request.domain, request.entity);
    const node::PartitionHost* host = replica.host(id);
    if (host != nullptr && replica.owns(*host)) text += at->device->name() + " owns " + id + "; ";
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (at->device->name() != request.device) continue;
    text += "it takes " + (claim == nullptr ? "nobody" : claim->owner) + " for the owner";
    const replication::SyncSession* session =
        claim == nullptr ? nullptr : replica.session(replication::deviceOf(claim->owner));
    if (session == nullptr)
      text += ", with whom it has no connection";
    else if (!session->full())
      text += ", with whom its session is " + std::string(enumName(session->state()));
  }
  return text + ")";
}

// What is still to be done; empty: nothing.
std::string Settling::unsettled() {
  if (c_.network().underWay() > 0) return c_.network().describe();
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i) {
    Seat& at = *c_.seats()[i];
    if (at.retired) continue;
    if (!at.device->running() || at.device->paused) return at.device->name() + " does not run";
    if (!at.inbox.empty() || at.releasing) return at.device->name() + " is at work";
    node::Replica& replica = at.device->replica();
    if (replica.outbox().size() > 0)
      return at.device->name() + " still waits for an answer to " + replica.outbox().all().begin()->first +
             standingOf(replica.outbox().all().begin()->second.request);
    for (std::uint32_t j = 0; j < i; ++j)
      if (!c_.seats()[j]->retired && c_.network().linked(i, j) && !c_.network().connected(i, j))
        return at.device->name() + " and " + c_.seats()[j]->device->name() + " are not connected";
    if (!replica.quiet()) return at.device->name() + " still has something to send";
    for (const auto& [id, host] : replica.hosts())
      if (replica.owns(*host) && !host->partition().queue().empty())
        return "an escalation of " + id + " is not decided";
  }
  for (const std::uint32_t i : operators_.unadmitted()) return c_.seats()[i]->device->name() + " is not admitted";
  for (const auto& module : c_.modules())
    for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(c_.plan().options.cluster.partitions); ++n)
      if (std::string what = unsettledPartition(node::partitionId(module->signature().domain, n)); !what.empty())
        return what;
  return {};
}

// One owner, and everybody has followed it to the end.
std::string Settling::unsettledPartition(const std::string& id) {
  std::size_t owners = 0;
  const node::PartitionHost* first = nullptr;
  for (auto& at : c_.seats()) {
    if (at->retired) continue;
    const node::PartitionHost* host = at->device->replica().host(id);
    if (host == nullptr) continue;
    owners += at->device->replica().owns(*host) ? 1 : 0;
    if (first == nullptr) first = host;
    if (host->durableBatches() != first->durableBatches())
      return at->device->name() + " has " + std::to_string(host->durableBatches()) + " batches of " + id +
             ", another device " + std::to_string(first->durableBatches()) + standingsOf(id);
  }
  return owners == 1 ? std::string()
                     : "partition " + id + " has " + std::to_string(owners) + " owners" + standingsOf(id);
}

// What each device has of a partition, and who it takes for its owner: " (device-0 has 3 batches to epoch 1 of ...;
// ...)".
std::string Settling::standingsOf(const std::string& id) {
  std::string text;
  for (auto& at : c_.seats()) {
    if (at->retired || !at->device->running()) continue;
    node::Replica& replica = at->device->replica();
    const node::PartitionHost* host = replica.host(id);
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (host == nullptr && claim == nullptr) continue;
    text += (text.empty() ? " (" : "; ") + at->device->name();
    if (host != nullptr)
      text += (replica.owns(*host) ? " owns it, with " : " has ") + std::to_string(host->durableBatches()) +
              " batches to " + nameOf(host->epoch());
    if (claim != nullptr && (host == nullptr || claim->epoch() != host->epoch()))
      text += std::string(host == nullptr ? "" : ",") + " knows of " + nameOf(claim->epoch()) + " from batch " +
              std::to_string(claim->batches) + " on";
  }
  return text.empty() ? text : text + ")";
}

}  // namespace witan::sim
