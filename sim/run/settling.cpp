#include "sim/run/settling.h"

#include "sim/check/operation.h"

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
    if (!c_.seats()[i]->running() && !c_.seats()[i]->retired) c_.agenda().add(c_.agenda().now(), StepKind::start, i);
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
  for (Seat* at : c_.members()) {
    if (!at->running()) continue;
    node::Replica& replica = at->replica();
    const std::string id = replica.partitionFor(request.domain, request.entity);
    const node::PartitionHost* host = replica.host(id);
    if (host != nullptr && replica.owns(*host)) text += at->name() + " owns " + id + "; ";
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (at->name() != request.device) continue;
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
    if (!at.running() || at.device->paused) return at.name() + " does not run";
    if (!at.inbox.empty() || at.releasing) return at.name() + " is at work";
    node::Replica& replica = at.replica();
    if (replica.outbox().size() > 0)
      return at.name() + " still waits for an answer to " + replica.outbox().all().begin()->first +
             standingOf(replica.outbox().all().begin()->second.request);
    for (std::uint32_t j = 0; j < i; ++j)
      if (!c_.seats()[j]->retired && c_.network().linked(i, j) && !c_.network().connected(i, j))
        return at.name() + " and " + c_.seats()[j]->name() + " are not connected";
    if (!replica.quiet()) return at.name() + " still has something to send";
    for (const auto& [id, host] : replica.hosts())
      if (replica.owns(*host) && !host->partition().queue().empty())
        return "an escalation of " + id + " is not decided";
  }
  for (const std::uint32_t i : operators_.unadmitted()) return c_.seats()[i]->name() + " is not admitted";
  for (const auto& [module, id] : c_.partitions())
    if (std::string what = unsettledPartition(id); !what.empty()) return what;
  return {};
}

// One owner, and everybody has followed it to the end.
std::string Settling::unsettledPartition(const std::string& id) {
  std::size_t owners = 0;
  const node::PartitionHost* first = nullptr;
  for (Seat* at : c_.members()) {
    const node::PartitionHost* host = at->replica().host(id);
    if (host == nullptr) continue;
    owners += at->replica().owns(*host) ? 1 : 0;
    if (first == nullptr) first = host;
    if (host->durableBatches() != first->durableBatches())
      return at->name() + " has " + std::to_string(host->durableBatches()) + " batches of " + id + ", another device " +
             std::to_string(first->durableBatches()) + standingsOf(id);
  }
  return owners == 1 ? std::string()
                     : "partition " + id + " has " + std::to_string(owners) + " owners" + standingsOf(id);
}

// What each device has of a partition, and who it takes for its owner: " (device-0 has 3 batches to epoch 1 of ...;
// ...)".
std::string Settling::standingsOf(const std::string& id) {
  std::string text;
  for (Seat* at : c_.members()) {
    if (!at->running()) continue;
    node::Replica& replica = at->replica();
    const node::PartitionHost* host = replica.host(id);
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (host == nullptr && claim == nullptr) continue;
    text += (text.empty() ? " (" : "; ") + at->name();
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
