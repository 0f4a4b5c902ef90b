#include "sim/run/settling.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_checks.h"
#include "replica/graph_runtime.h"
#include "replication/statement.h"
#include "replication/writer.h"
#include "sim/check/operation.h"
#include "sim/sim_agents.h"
#include "sim/sim_graph.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

namespace {

constexpr Micros kLook = 5 * kSecond;
constexpr Micros kLurk = 120 * kSecond;
constexpr std::uint64_t kLooksBesideLiar = 12;  // at least so many while a device goes on lying

}  // namespace

void Settling::begin() {
  c_.beginSettling();
  settleBy_ = c_.agenda().now() + c_.plan().options.time.settleSeconds * kSecond;
  abandonedBy_ = c_.agenda().now() + 2 * kAbandonMs * kSecond / 1'000;
  c_.trace(kNobody, "check", "settling begins");
  faults_.endAll();
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i)
    if (c_.seats()[i]->returned) c_.switchOff(i, true, -1), c_.seats()[i]->returned = false;
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i) {
    if (!std::exchange(c_.seats()[i]->lingers, false)) continue;
    c_.diskLost(*c_.seats()[i], 0);
    c_.switchOff(i, false, -1);
  }
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i) {
    SimDevice& device = *c_.seats()[i]->device;
    device.callAgents();
    if (device.running() && device.lacksAgents()) c_.switchOff(i, true, -1);
  }
}

void Settling::look() {
  if (!c_.settling()) begin();
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i)
    if (!c_.seats()[i]->running() && !c_.seats()[i]->retired) c_.agenda().add(c_.agenda().now(), StepKind::start, i);
  operators_.findOverdue();
  if (looks_++ % 4 == 3) {  // operators are slower than machines
    operators_.pardon();
    operators_.admitAgain();
    operators_.seizeOrphans();
    operators_.decideEverything();
  }
  if (c_.liar() != nullptr) {
    liar_.goOn(looks_);
    waitingFor_ = unsettledBesideLiar();
    if (waitingFor_.empty()) operators_.retireLiar(), waitingFor_ = "the device that lies leaves";
  } else {
    waitingFor_ = unsettled();
  }
  if (waitingFor_.empty()) {
    settled_ = true;
    c_.trace(kNobody, "check", "settled");
    return;
  }
  if (c_.agenda().now() >= settleBy_)
    return c_.failed("liveness",
                     concat("after ", c_.plan().options.time.settleSeconds, " s without faults: ", waitingFor_));
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
      text += concat(", with whom its session is ", enumName(session->state()));
  }
  return text + ")";
}

// What is still to be done; empty: nothing.
std::string Settling::unsettled() {
  if (c_.network().underWay() > 0) return c_.network().describe();
  std::uint32_t founder = 0;
  while (c_.seats()[founder]->retired) ++founder;
  const std::vector<bool> reached = c_.network().reachedFrom(founder);
  for (std::uint32_t i = 0; i < c_.seats().size(); ++i) {
    Seat& at = *c_.seats()[i];
    if (at.retired) continue;
    if (!at.running() || at.device->paused) return at.name() + " does not run";
    if (!at.inbox.empty() || at.releasing) return at.name() + " is at work";
    if (!at.device->knowsRoster()) {
      c_.put(i, {});
      return at.name() + " has not heard the roster";
    }
    node::Replica& replica = at.replica();
    if (replica.outbox().size() > 0)
      return at.name() + " still waits for an answer to " + replica.outbox().all().begin()->first +
             standingOf(replica.outbox().all().begin()->second.request);
    for (std::uint32_t j = 0; j < i; ++j)
      if (!c_.seats()[j]->retired && c_.network().linked(i, j) && !c_.network().connected(i, j))
        return at.name() + " and " + c_.seats()[j]->name() + " are not connected";
    if (!reached[i]) return at.name() + " has no way to " + c_.seats()[founder]->name();
    if (!replica.quiet()) return at.name() + " still has something to send";
    if (agents::AgentHost* host = replica.agents(); host != nullptr && host->memory().nextMs())
      return "a fold of memory waits at " + at.name();
    const node::GraphRuntime* graphs = replica.graphs();
    const graph::Runtime* runtime = graphs != nullptr ? graphs->runtime(kSimGraph) : nullptr;
    if (runtime != nullptr && graphs->lackingIn(kSimGraph).empty())  // what lacks its body waits for good
      for (const graph::NodeLoad& load : runtime->loads())
        if (load.queued + load.running + load.backoff > 0) return "runs of the graph go on at " + at.name();
    for (const auto& [id, host] : replica.hosts())
      if (replica.owns(*host) && !host->partition().queue().empty())
        return "an escalation of " + id + " is not decided";
  }
  for (const std::uint32_t i : operators_.unadmitted()) return c_.seats()[i]->name() + " is not admitted";
  for (const auto& [module, id] : c_.partitions())
    if (std::string what = unsettledPartition(id, c_.members()); !what.empty()) return what;
  if (std::string open = market_.unsettled(); !open.empty()) return "the market: " + open;
  return c_.agenda().now() < abandonedBy_ ? runThatWaits() : std::string();
}

// A run that was begun and has not ended. Later it is for checker "runs" to say so.
std::string Settling::runThatWaits() {
  // Where no agent works, runs are only written down, and stay open.
  if (c_.plan().options.cluster.hosts == 0) return {};
  replication::Space* space =
      c_.members().front()->replica().data().database(replication::DatabaseName::agents).find("main");
  if (space == nullptr) return {};
  const auto runs = agents::knownRuns(*space);
  if (!runs.ok()) return {};
  const auto open = agents::runsWithoutEnd(*runs);
  return open.empty() ? std::string() : open.front();
}

// What must be done although a device goes on lying: everything about the partitions that somebody honest owns.
std::string Settling::unsettledBesideLiar() {
  if (looks_ < kLooksBesideLiar) return "a device goes on lying";
  const std::vector<Seat*> honest = c_.honest();
  for (Seat* at : honest)
    if (!at->works()) return at->name() + " does not run";
  const auto owned = [&](const std::string& id) {
    return std::ranges::any_of(honest, [&](Seat* at) {
      const node::PartitionHost* host = at->replica().host(id);
      return host != nullptr && at->replica().owns(*host);
    });
  };
  for (Seat* at : honest)
    for (const auto& [id, waiting] : at->replica().outbox().all())
      if (owned(at->replica().partitionFor(waiting.request.domain, waiting.request.entity)))
        return at->name() + " still waits, beside a device that lies, for an answer to " + id +
               standingOf(waiting.request);
  for (const auto& [module, id] : c_.partitions())
    if (std::string what = owned(id) ? unsettledPartition(id, honest) : std::string(); !what.empty()) return what;
  return {};
}

// One owner, and everybody has followed it to the end.
std::string Settling::unsettledPartition(const std::string& id, const std::vector<Seat*>& members) {
  std::size_t owners = 0;
  const node::PartitionHost* first = nullptr;
  for (Seat* at : members) {
    const node::PartitionHost* host = at->replica().host(id);
    if (host == nullptr) continue;
    owners += at->replica().owns(*host) ? 1 : 0;
    if (first == nullptr) first = host;
    if (host->durableBatches() != first->durableBatches())
      return concat(at->name(), " has ", host->durableBatches(), " batches of ", id, ", another device ",
                    first->durableBatches(), standingsOf(id));
  }
  return owners == 1 ? std::string() : concat("partition ", id, " has ", owners, " owners", standingsOf(id));
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
      text += concat(replica.owns(*host) ? " owns it, with " : " has ", host->durableBatches(), " batches to ",
                     nameOf(host->epoch()));
    if (claim != nullptr && (host == nullptr || claim->epoch() != host->epoch()))
      text += concat(host == nullptr ? "" : ",", " knows of ", nameOf(claim->epoch()), " from batch ", claim->batches,
                     " on");
  }
  return text.empty() ? text : text + ")";
}

void Operators::onEvent(Seat& at, const Event& event) {
  if (!isFault(event.kind)) return;
  node::Replica& replica = at.replica();
  const Now now = at.device->now(c_.agenda().now());
  const kernel::DomainModule& module = *c_.modules()[event.m % c_.modules().size()];
  const auto partitions = static_cast<std::uint64_t>(c_.plan().options.cluster.partitions);
  const std::string partition =
      node::partitionId(module.signature().domain, static_cast<std::uint32_t>(event.n % partitions));
  const std::uint32_t other = event.other % c_.founders();
  std::string what = partition;
  Status done = okStatus();
  switch (event.kind) {
    case EventKind::movePartition:
      done = replica.transferOwnership(partition, ClusterSetup::deviceName(other), "rebalanced", now);
      break;
    case EventKind::seizePartition:
      if (event.seed % 4 == 3 && !c_.etcd()) {
        lurking_[at] = {partition, c_.agenda().now() + kLurk};
        return;
      }
      done = replica.forceTakeover(partition, "its owner is out of reach", now);
      if (done.ok()) at.seized.push_back(partition);
      break;
    case EventKind::retire:
      what = ClusterSetup::deviceName(other);
      done = retire(replica, other, event.seed % 2 == 1);
      break;
    case EventKind::readmit: done = readmit(replica, event.n, what); break;
    case EventKind::join:
      what = ClusterSetup::deviceName(static_cast<std::uint32_t>(c_.seats().size()));
      done = join(replica);
      break;
    default: return;
  }
  c_.trace(at.index(), "ledger", enumName(event.kind), done.ok() ? what : done.error().message);
  c_.probe(concat(enumName(event.kind), done.ok() ? " done" : " refused"));
}

// An operator who takes a partition over at the worst moment: a copy has just told that it has more of the log, and
// nothing of that has come.
void Operators::onFrame(Seat& at, std::uint32_t peer, std::string_view frame) {
  Lurking& lurking = lurking_[at];
  if (lurking.partition.empty()) return;
  if (c_.agenda().now() > lurking.until || c_.settling()) return lurking = {}, void();
  constexpr auto kStanding = static_cast<std::uint8_t>(node::AdjudicationFrame::standing);
  Seat& other = c_.seat(peer);
  if (frame.size() <= replication::kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kStanding ||
      !other.works())
    return;
  const node::PartitionHost *mine = at.replica().host(lurking.partition),
                            *there = other.replica().host(lurking.partition);
  if (mine == nullptr || there == nullptr || there->durableBatches() <= mine->durableBatches()) return;
  const Status done =
      at.replica().forceTakeover(lurking.partition, "its owner is out of reach", at.device->now(c_.agenda().now()));
  c_.trace(at.index(), "ledger", "seizePartition", done.ok() ? lurking.partition : done.error().message);
  c_.probe(done.ok() ? "seized while another tells of more" : "not seized while another tells of more");
  if (done.ok()) at.seized.push_back(lurking.partition);
  lurking = {};
}

// A device that leaves is switched off for good; what only it had is gone with it. One that was stolen `lingers` until
// the run settles: its people do nothing more, and it hears and says what it can.
Status Operators::retire(node::Replica& by, std::uint32_t leaving, bool lingers) {
  Seat& out = c_.seat(leaving);
  if (out.retired || out.name() == by.device()) return conflict(out.name() + " cannot be retired here");
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  for (const std::string& device : {by.device(), out.name()})
    if (members.standing(device) != replication::Standing::active)
      return conflict(device + " is no member, as far as " + by.device() + " knows");
  WITAN_DO(data.addStatement(
      replication::proposeRetire(statements, data.writer(), out.name(), members.nextAdmission(out.name()) - 1)));
  out.retired = true;
  c_.leaves(leaving);
  c_.diskLost(out, 0);
  out.lingers = lingers && out.works() && !c_.etcd() && !c_.settling();
  if (out.lingers)
    c_.probe("retired device lingers");
  else
    c_.switchOff(leaving, false, -1);
  return okStatus();
}

void Operators::retireLiar() {
  for (Seat* by : c_.honest()) {
    if (!by->works() || !retire(by->replica(), c_.liar()->index(), false).ok()) continue;
    c_.put(by->index(), {});
    return;
  }
}

Status Operators::join(node::Replica& by) {
  if (c_.seats().size() >= kMostDevices) return unavailable("the cluster has all its devices");
  WITAN_DO(admit(by, ClusterSetup::deviceName(static_cast<std::uint32_t>(c_.seats().size()))));
  const std::uint32_t index = c_.addSeat();
  c_.agenda().add(c_.agenda().now() + kSecond, StepKind::start, index);
  return okStatus();
}

// One that was retired and is switched on again becomes a member again, under its next admission. Its people and those
// who admit it have heard that it was retired.
Status Operators::readmit(node::Replica& by, std::uint64_t n, std::string& who) {
  const auto knows = [](node::Replica& replica, const std::string& device) {
    const auto members = replica.data().membership();
    return members.ok() && members->standing(device) == replication::Standing::retired;
  };
  std::vector<Seat*> back;
  for (auto& at : c_.seats())
    if (at->returned && at->works() && knows(at->replica(), at->name()) && knows(by, at->name()))
      back.push_back(at.get());
  if (back.empty()) return notFound("no retired device has come back");
  Seat& again = *back[n % back.size()];
  who = again.name();
  WITAN_DO(admit(by, again.name()));
  again.retired = again.returned = false, ++again.readmitted;
  for (std::uint32_t j = 0; j < c_.seats().size(); ++j) c_.network().started(j);
  return okStatus();
}

Status Operators::admit(node::Replica& by, const std::string& device) {
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  return data.addStatement(
      replication::admit(statements, data.writer(), device, members.nextAdmission(device), "device"));
}

// --- the settling phase

void Operators::pardon() {
  for (auto& at : c_.seats())
    if (at->works())
      if (auto held = at->replica().data().quarantines(); held.ok())
        for (const auto& [device, why] : *held) {
          c_.probe("pardoned");
          at->replica().data().pardon(device);
          for (std::uint32_t i = 0; i < c_.seats().size(); ++i) c_.network().started(i);
        }
}

// A device that joined, and that nobody knows: its admission was lost with the power of the one that had admitted it.
std::vector<std::uint32_t> Operators::unadmitted() {
  std::vector<std::uint32_t> out;
  const std::uint32_t first = c_.plan().options.faults.readmissions > 0 ? 0 : c_.founders();
  for (std::uint32_t i = first; i < c_.seats().size(); ++i) {
    if (c_.seats()[i]->retired) continue;
    bool known = false;
    for (Seat* at : c_.members()) {
      if (at->index() == i || !at->works()) continue;
      auto members = at->replica().data().membership();
      if (!members.ok()) c_.failed("store", at->name() + ": " + members.error().message);
      known = known || !members.ok() || members->standing(c_.seats()[i]->name()) == replication::Standing::active;
    }
    if (!known) out.push_back(i);
  }
  return out;
}

// An operator says such admissions again.
void Operators::admitAgain() {
  for (const std::uint32_t joining : unadmitted()) {
    const auto active = [&](Seat* at) {
      if (at->index() == joining || !at->works()) return false;
      auto members = at->replica().data().membership();
      return members.ok() && members->standing(at->name()) == replication::Standing::active;
    };
    const std::vector<Seat*> all = c_.members();
    const auto by = std::ranges::find_if(all, active);
    if (by == all.end()) continue;
    node::Replica& replica = (*by)->replica();
    const std::string& name = c_.seats()[joining]->name();
    const Status admitted = admit(replica, name);
    c_.probe(admitted.ok() ? "admitted again" : "not admitted again");
    c_.trace((*by)->index(), "ledger", "admits again", name);
    c_.put((*by)->index(), {});
    for (std::uint32_t j = 0; j < c_.seats().size(); ++j) c_.network().started(j);
  }
}

// A partition whose owner does not exist any more (its disk was lost, or is known to have gone back): an operator
// seizes it at the replica that has most of it.
void Operators::seizeOrphans() {
  if (c_.etcd()) return;  // that is etcd's part
  for (const auto& [module, id] : c_.partitions()) {
    Seat* best = nullptr;
    bool owned = false;
    for (Seat* at : c_.members()) {
      if (!at->works()) continue;
      node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr) continue;
      owned = owned || at->replica().owns(*host);
      const auto rank = [](node::PartitionHost& of) { return std::pair(of.epoch(), of.durableBatches()); };
      if (!c_.isLiar(at->index()) && host->epoch().number > 0 &&
          (best == nullptr || rank(*host) > rank(*best->replica().host(id))))
        best = at;
    }
    if (owned || best == nullptr) continue;
    const Status seized = best->replica().forceTakeover(id, "its owner is gone", best->device->now(c_.agenda().now()));
    c_.probe(seized.ok() ? "orphan seized" : "orphan not seized");
    c_.trace(best->index(), "ledger", "seizes", id + (seized.ok() ? "" : ": " + seized.error().message));
    c_.put(best->index(), {});
  }
}

// What still waits although its time is over, at two looks: its owner has been at work meanwhile.
void Operators::findOverdue() {
  const Micros ttl = c_.plan().options.cluster.pendingTtlSeconds * kSecond;
  if (ttl <= 0) return;
  for (Seat* at : c_.members()) {
    if (!at->works()) continue;
    const Micros wall = at->device->now(c_.agenda().now()).wall.micros;
    for (const auto& [id, host] : at->replica().hosts()) {
      if (!at->replica().owns(*host)) continue;
      for (const kernel::PendingView& view : host->partition().queue())
        if (wall - view.at.micros > ttl + 30 * kSecond && !overdue_.emplace(at->index(), id, view.seq).second)
          return c_.failed("liveness", concat(at->name(), " owns ", id, ", and entry ", view.seq,
                                              " still waits for a counselor, whose time is over"));
    }
  }
}

// What an agent did not end because it is paused waits until a person resumes it, however long.
void Operators::resumeWhatWaits(Seat& at) {
  const agents::AgentHost* host = std::as_const(at.replica()).agents();
  replication::Space* space = at.replica().data().findSpace("agents/main");
  if (host == nullptr || space == nullptr) return;
  std::set<std::string> paused;
  for (const auto& [run, entry] : host->wakes().queue().all()) {
    if (entry.job.state != agents::JobState::running) continue;
    const auto lifecycle = agents::lifecycleIn(*space, entry.job.agentId);
    if (!lifecycle.ok()) return c_.failed("store", at.name() + ": " + lifecycle.error().message);
    if (*lifecycle == replication::Lifecycle::dormant) paused.insert(entry.job.agentId);
  }
  for (const std::string& agent : paused) {
    c_.probe("paused amid a run and resumed");
    setPaused(c_, at, agent, false);
    c_.put(at.index(), {});
  }
}

// The counselors come to work.
void Operators::decideEverything() {
  for (Seat* at : c_.members()) {
    if (!at->works()) continue;
    answerQuestion(c_, *at, 0, decided_ % 2 == 0, false);
    resumeWhatWaits(*at);
    attendToGraphs(c_, clients_, *at, ++decided_);
    for (const auto& [id, host] : at->replica().hosts()) {
      if (!at->replica().owns(*host)) continue;
      for (const kernel::PendingView& view : host->partition().queue()) {
        node::Request request{.kind = node::RequestKind::reject,
                              .domain = host->module().signature().domain,
                              .entity = view.entity,
                              .operationId = concat("settle-", ++decided_),
                              .counselor = host->module().signature().counselors.front(),
                              .reason = "the day ends"};
        clients_.submit(*at, std::move(request), false);
        c_.put(at->index(), {});
      }
    }
  }
}

}  // namespace witan::sim
