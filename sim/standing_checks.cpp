// What a device must hold to from one moment to the next, looked at after each of its steps and starts: checkers
// "fences", "restart", "copies" and "liveness".
#include <algorithm>

#include "base/bytes.h"
#include "sim/world.h"

namespace witan::sim {

// Checker "restart": a device whose disk is whole starts as the one it was. It has the name as an owner that others
// have heard, and knows of every later epoch of which it had heard durably.
void World::rememberStanding(Seat& at) {
  if (etcd_) return;  // etcd names the owners
  for (const auto& [id, claim] : at.device->replica().owners().all()) {
    kernel::Epoch& known = at.claims[id];
    if (!(known < claim.epoch())) continue;
    if (tracing_ && known.number > 0 && claim.owner != at.device->replica().ownerName())
      trace(at.device->index(), "ledger", "hears", "of " + nameOf(claim.epoch()) + " of " + id);
    known = claim.epoch();
  }
}

void World::checkRestart(Seat& at) {
  const node::Replica& replica = at.device->replica();
  const std::string& name = at.device->name();
  if (!at.spokenAs.empty() && at.spokenAs != replica.ownerName())
    return failed("restart",
                  name + " has spoken as " + at.spokenAs + ", and starts with its disk as " + replica.ownerName());
  for (const auto& [id, epoch] : at.claims) {
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (claim == nullptr || claim->epoch() < epoch)
      return failed("restart", name + " had heard of " + nameOf(epoch) + " of " + id + ", and starts without it");
  }
}

// A disk is not what it was: it need not remember.
void World::diskLost(Seat& at, Micros since) {
  if (etcd_) rememberBatches(at);
  book_.diskLost(at.device->index(), since, agenda_.now());
  at.spokenAs.clear();
  at.claims.clear();
  forgetRuns(at, true);
}

// Part of checker "fences". Who knows that its epoch is over decides nothing more in it (unless its disk went back: it
// may have to learn its own entries from others); who knows that another's is over takes nothing more of it; and who
// begins an epoch counts on from the last one of which it has heard.
void World::checkFenced(Seat& at) {
  const node::Replica& replica = at.device->replica();
  const node::ReplicaCounters& counters = replica.counters();
  const std::string& name = at.device->name();
  const bool whole = std::none_of(book_.losses().begin(), book_.losses().end(),
                                  [&](const BookedLoss& loss) { return loss.device == at.device->index(); });
  for (const auto& [id, host] : replica.hosts()) {
    const node::OwnershipRecord* claim = replica.owners().find(id);
    const kernel::Epoch last = host->epoch();
    const auto fence = at.fenced.find(id);
    const bool known = fence != at.fenced.end(), mine = last.owner == replica.ownerName();
    const std::uint64_t begun = counters.handovers + counters.seizures;
    if (known && mine && whole && !etcd_ && begun != fence->second.begun && last.number > fence->second.last.number &&
        last.number <= fence->second.later.number)
      return failed("fences", name + " begins " + nameOf(last) + " of " + id + " although it knows of " +
                                  nameOf(fence->second.later));
    if (claim == nullptr || claim->epoch() <= last) {
      if (known) at.fenced.erase(fence);
      continue;
    }
    const Fence now{host->ledger().batches(), counters.batchesFollowed, begun, last, claim->batches, claim->epoch()};
    const Fence before = known ? std::exchange(fence->second, now) : now;
    if (!known) at.fenced.emplace(id, now);
    if (now.batches <= before.batches) continue;
    const std::string knows =
        " although it knows of " + nameOf(before.later) + ", which begins with batch " + std::to_string(before.begins);
    // Of a later epoch still it may have heard in this very step: what that one stands on is not over.
    const std::uint64_t begins = before.later < now.later ? now.begins : before.begins;
    if (!mine && !etcd_ && last < before.later && now.batches > begins)
      return failed("fences", name + " takes batch " + std::to_string(now.batches - 1) + " of " + id + " in " +
                                  nameOf(last) + knows);
    if (mine && whole && now.followed == before.followed)
      return failed("fences", name + " goes on deciding for " + id + " in " + nameOf(last) + knows);
  }
}

// Another part: who was shown more of its own epoch than it has itself (its disk went back) decides nothing more in it.
void World::noteShown(Seat& at, std::uint32_t peer, std::string_view frame) {
  constexpr auto kStanding = static_cast<std::uint8_t>(node::AdjudicationFrame::standing);
  if (etcd_ || frame.size() <= replication::kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kStanding)
    return;
  const replication::SyncSession* session = at.device->replica().session(ClusterSetup::deviceName(peer));
  if (session == nullptr || !session->full()) return;
  node::Standing standing;
  if (!readMessage(frame.substr(replication::kFrameHeaderBytes), standing, "frame").ok()) return;
  const std::string& self = at.device->replica().ownerName();
  for (const node::LogPosition& position : standing.positions)
    if (!position.epochs.empty() && position.epochs.back().owner == self)
      at.shown.push_back({peer, position.partition, {position.epochs.back().number, self}, position.batches});
}

void World::checkShown(Seat& at) {
  for (const Shown& shown : std::exchange(at.shown, {})) {
    node::PartitionHost* host = at.device->replica().host(shown.partition);
    if (host == nullptr || !at.device->replica().owns(*host) || host->epoch() != shown.epoch) continue;
    if (host->ledger().batches() >= shown.batches) continue;
    const std::string peer = ClusterSetup::deviceName(shown.peer);
    const bool ended = std::any_of(at.held.sends.begin(), at.held.sends.end(), [&](const node::Outgoing& send) {
      return send.peer == peer && send.close;  // it did not take this from it
    });
    if (ended) continue;
    return failed("fences", at.device->name() + " goes on deciding for " + shown.partition + " in " +
                                nameOf(shown.epoch) + ", of which it has " + std::to_string(host->ledger().batches()) +
                                " batches, although " + peer + " has shown it " + std::to_string(shown.batches));
  }
}

// Part of checker "liveness": what a device decides itself it does not put off as if there were no way to the owner.
void World::checkPutOff(Seat& at) {
  node::Replica& replica = at.device->replica();
  // Most devices own nothing, and may put off hundreds for days.
  const auto owned = [&](const auto& one) { return replica.owns(*one.second); };
  if (replica.outbox().size() == 0 || std::ranges::none_of(replica.hosts(), owned)) return;
  const std::int64_t latest = at.device->now(agenda_.now()).ms + node::kLastRetryMs;
  for (const auto& [id, waiting] : replica.outbox().all()) {
    if (waiting.dueMs <= latest) continue;
    const std::string partition = replica.partitionFor(waiting.request.domain, waiting.request.entity);
    const node::PartitionHost* host = replica.host(partition);
    if (host != nullptr && replica.owns(*host))
      return failed("liveness", at.device->name() + " owns " + partition + " and puts off its own request " + id +
                                    " for " +
                                    std::to_string((waiting.dueMs - latest) / 1000 + node::kLastRetryMs / 1000) + " s");
  }
}

// Checker "copies": a copy knows which invariants an unsafe commit left violated, and nothing else: its owner looks at
// them again with the next proposal (F8), whoever that is then. Looked at when a copy was read or has become its
// owner's.
void World::checkCopies(Seat& at) {
  for (const auto& [id, host] : at.device->replica().hosts())
    for (const std::string& entity : host->partition().entities()) {
      const kernel::EntityState& state = *host->partition().state(entity);
      const std::vector<kernel::Verdict> verdicts = host->module().walk(state);
      std::uint64_t violated = 0;
      for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
        if (!verdicts[i].passed()) violated |= std::uint64_t{1} << i;
      if (violated != 0) probe("violated after an unsafe commit");
      if (violated == state.notPassing) continue;
      std::string names;
      for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
        if ((violated ^ state.notPassing) >> i & 1) names += " " + host->module().signature().invariants[i].id;
      return failed("copies", at.device->name() + "'s copy of " + id + " is wrong about which invariants " + entity +
                                  " violates:" + names);
    }
}

void World::checkSuccession(Seat& at) {
  const node::ReplicaCounters& counters = at.device->replica().counters();
  const std::uint64_t begun = counters.handovers + counters.seizures;
  if (std::exchange(at.epochsBegun, begun) != begun) checkCopies(at);
}

// The same, of all copies at the end: they hold one state of each entity, whether it was decided, followed or read.
std::string World::copiesDiffer(const std::string& id) {
  struct Held {
    std::string device, text;
  };
  std::map<std::string, Held, std::less<>> first;
  for (auto& at : seats_) {
    node::PartitionHost* host = at->retired ? nullptr : at->device->replica().host(id);
    if (host == nullptr) continue;
    for (const std::string& entity : host->partition().entities()) {
      std::string text;
      host->module().writeState(text, *host->partition().state(entity));
      if (const auto pending = host->partition().pending(entity))
        text += " waits for a counselor since entry " + std::to_string(pending->seq) + " " + toHex(pending->digest);
      const auto [held, fresh] = first.try_emplace(entity, Held{at->device->name(), text});
      if (!fresh && held->second.text != text)
        return entity + " is " + held->second.text + " on " + held->second.device + ", and " + text + " on " +
               at->device->name();
    }
  }
  return {};
}

}  // namespace witan::sim
