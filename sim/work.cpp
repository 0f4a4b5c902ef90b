// What agents, people and counselors do on a device.
#include <algorithm>

#include "replication/records/agent_state_codec.h"
#include "replication/records/agent_view.h"
#include "replication/records/records.h"
#include "sim/decision_words.h"
#include "sim/world.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr std::size_t kRecent = 16;

std::string hexOf(std::uint64_t value) {
  std::string text;
  for (int i = 15; i >= 0; --i) text += "0123456789abcdef"[value >> (4 * i) & 15];
  return text;
}

Write recordWrite(Kind kind, std::string key, Result<std::string> body) {
  WITAN_CHECK(body.ok(), "the simulator's records are well formed");
  return {kind, std::move(key), *std::move(body), false};
}

// The plans that a run may have.
Hash planOf(std::uint64_t n) { return sha256("plan " + std::to_string(n)); }

std::vector<AgentSnapshot> snapshotsOf(Space& space, const std::string& agent) {
  std::vector<AgentSnapshot> held;
  auto versions = space.versions(Kind::agentState, agent);
  if (!versions.ok()) return held;
  for (const Version& version : *versions)
    if (!version.tombstone)
      if (auto snapshot = toSnapshot(agent, version); snapshot.ok()) held.push_back(*std::move(snapshot));
  return held;
}

}  // namespace

void World::act(Seat& at, const Event& event) {
  switch (event.kind) {
    case EventKind::propose: return propose(at, event);
    case EventKind::repeat: return proposeAgain(at, event);
    case EventKind::misuse: return misuse(at, event);
    case EventKind::decide: return decidePending(at, event);
    case EventKind::request: return enterRequest(at, event);
    case EventKind::turn: return sayToClerk(at, event);
    case EventKind::agentPause: return pauseAgent(at, event);
    case EventKind::confirm: return confirmMails(at, event.n % 2 == 0);
    case EventKind::journalEdit: return write(at, DatabaseName::journal, "main", recordWrites(at, event));
    case EventKind::batch:
      return write(at, (event.n & 1) != 0 ? DatabaseName::journal : DatabaseName::agents, "main",
                   recordWrites(at, event));
    case EventKind::scopedWrite: {
      const std::string scope = ClusterSetup::scopeName(
          event.n % static_cast<std::uint64_t>(std::max<std::int64_t>(1, plan_.options.cluster.scopes)));
      if (plan_.options.cluster.scopes == 0 || !setup_.mayHave(at.device->name(), scope)) return;
      return write(at, DatabaseName::journal, scope, recordWrites(at, event));
    }
    default: return write(at, DatabaseName::agents, "main", recordWrites(at, event));
  }
}

// --- replicated records

Write World::agentWrite(Seat& at, std::uint64_t agent, std::uint64_t change, Random& random) {
  LocalReplica& data = at.device->replica().data();
  auto space = data.database(DatabaseName::agents).space("main");
  WITAN_CHECK(space.ok(), "there is room for a scope");
  const std::string key = "agent-" + std::to_string(agent), self = data.writer();
  const auto held = snapshotsOf(**space, key);
  AgentState state = held.empty() ? AgentState{} : viewOf(held, nullptr).state;
  Slot& slot = state.slots[change % kSlots];
  switch (change % 8) {
    case 0: state.consecutiveFailureCount = 0; break;
    case 1: ++state.consecutiveFailureCount; break;
    case 2: state.lifecycle = Lifecycle::active; break;
    case 3: state.processedCounterByHost.raise(self, state.processedCounterByHost.at(self) + 1); break;
    case 4: state.schedule.nextWakeAt = static_cast<std::int64_t>(random.below(1'000'000)) + 10; break;
    default: slot = {"\"" + hexOf(random.next()) + "\"", slot.version + 1, self};
  }
  return {Kind::agentState, key, encodeAgentState(state, self), false};
}

// The writes of one commit. Ids come from the event's own seed, so that they stay when others are taken out.
std::vector<Write> World::recordWrites(Seat& at, const Event& event) {
  SeededRandom random(event.seed);
  const std::string id = "r-" + hexOf(event.seed ^ static_cast<std::uint64_t>(event.at));
  const auto agents = static_cast<std::uint64_t>(plan_.options.cluster.agents * plan_.options.cluster.devices);
  const std::uint64_t agent = event.n % std::max<std::uint64_t>(1, agents);
  const std::string agentId = "agent-" + std::to_string(agent);
  const std::int64_t atMs = at.device->now(agenda_.now()).wall.micros / 1000;
  const auto journal = [&](const std::string& payload) {
    const JournalBody body{"note", "\"" + payload + "\"", event.seed >> 20, at.device->name(), atMs, std::nullopt, {}};
    return recordWrite(Kind::journal, "entity-" + std::to_string(event.n % 20), encodeRecord(body));
  };
  switch (event.kind) {
    case EventKind::agentWrite: return {agentWrite(at, agent, event.m, random)};
    case EventKind::journalEdit: return {journal(hexOf(random.next()))};
    case EventKind::scopedWrite: {
      const std::string scope =
          ClusterSetup::scopeName(event.n % static_cast<std::uint64_t>(plan_.options.cluster.scopes));
      return {journal("taint-" + scope + "-" + hexOf(event.seed))};
    }
    case EventKind::message:
      return {recordWrite(Kind::message, id,
                          encodeRecord(MessageBody{id, agentId, "thread", MessageKind::user, {}, "hello", atMs, {}}))};
    case EventKind::batch: {
      const BatchBody body{
          id, {{"journalEntity", "entity-" + std::to_string(event.n % 20), ChangeOrigin::local}}, {}, {}, ""};
      std::vector<Write> writes;
      writes.push_back((event.n & 1) != 0 ? journal(hexOf(random.next())) : agentWrite(at, agent, event.m, random));
      writes.push_back(recordWrite(Kind::batch, "", encodeRecord(body)));
      return writes;
    }
    case EventKind::removal: return {{Kind::agentState, agentId, "", true}};
    default: break;
  }
  switch (event.n % 3) {
    case 0: {
      const SummaryBody body{agentId, "thread", id + "a", id + "b", "v1", "a summary", 1};
      auto summary = summaryId({agentId, "thread", body.startMessageId, body.endMessageId, "v1"});
      WITAN_CHECK(summary.ok(), "the simulator's ids are ids");
      return {recordWrite(Kind::summary, summary->hex(), encodeRecord(body))};
    }
    case 1: {
      const Hash runKey = sha256(id);
      auto status = static_cast<WakeStatus>(random.below(5));
      // Where agents work a run that nobody ends is given up, as it should be.
      if (status == WakeStatus::started && plan_.options.cluster.hosts > 0) status = WakeStatus::completed;
      const WakeRunBody body{runKey, agentId, WakeReason::user, "turn", status, atMs, atMs, ""};
      return {recordWrite(Kind::wakeRun, toHex(runKey), encodeRecord(body))};
    }
    default: {
      const LinkBody body{id, agentId, "m-1", "m-2", "answers"};
      return {recordWrite(Kind::link, id, encodeRecord(body))};
    }
  }
}

void World::write(Seat& at, DatabaseName database, std::string scope, std::vector<Write> writes) {
  LocalReplica& data = at.device->replica().data();
  auto space = data.database(database).space(scope);
  if (!space.ok()) return;
  std::vector<std::vector<Dot>> seen;
  for (const Write& write : writes) {
    seen.emplace_back();
    if (write.kind == Kind::batch) continue;
    auto versions = (*space)->versions(write.kind, write.key);
    if (!versions.ok()) return failed("store", at.device->name() + ": " + versions.error().message);
    for (const Version& version : *versions) seen.back().push_back(version.dot);
    if (write.tombstone && versions->empty()) return;  // nothing to take away
  }
  auto dot = at.device->replica().commit(database, scope, writes);
  if (!dot.ok()) {
    if (dot.error().code == ErrorCode::invalidInput || dot.error().code == ErrorCode::conflict) probe("commit refused");
    trace(at.device->index(), "work", "commit refused", dot.error().message);
    return;
  }
  ++result_.statistics.commits;
  digest_.add(dot->counter);
  if (tracing_)
    trace(at.device->index(), "work", "commits",
          LocalReplica::spaceId(database, scope) + " " + dot->host + ":" + std::to_string(dot->counter) + " " +
              writes[0].key);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    std::string key = writes[i].kind == Kind::batch ? dot->host + ":" + std::to_string(dot->counter) : writes[i].key;
    book_.wrote({LocalReplica::spaceId(database, scope), {static_cast<int>(writes[i].kind), std::move(key)}},
                {*dot, at.device->index(), agenda_.now(), false, false, writes[i].tombstone, std::move(seen[i])});
  }
}

// --- proposals

std::string World::entityName(const kernel::DomainModule& module, std::uint64_t n) const {
  return module.signature().domain + "-" + std::to_string(n);
}

const kernel::DomainModule* World::moduleOf(std::string_view domain) const {
  for (const auto& module : modules_)
    if (module->signature().domain == domain) return module.get();
  return nullptr;
}

const kernel::Partition* World::someCopy(const Seat& at, const kernel::DomainModule& module, std::string_view entity) {
  const auto copyOf = [&](SimDevice& device) -> const kernel::Partition* {
    if (!device.running()) return nullptr;
    node::Replica& replica = device.replica();
    const node::PartitionHost* host = replica.host(replica.partitionFor(module.signature().domain, entity));
    if (host == nullptr || host->partition().state(entity) == nullptr) return nullptr;
    return &host->partition();
  };
  if (const kernel::Partition* own = copyOf(*at.device)) return own;
  for (const auto& other : seats_)
    if (const kernel::Partition* copy = copyOf(*other->device)) return copy;
  return nullptr;
}

void World::submit(Seat& at, node::Request request, bool plain) {
  request.device = at.device->name();
  const bool waits = book_.open(at.device->index(), request.operationId, fingerprintOf(request)) != nullptr;
  const Status accepted = at.device->replica().submit(request, at.device->now(agenda_.now()));
  if (tracing_)
    trace(at.device->index(), "work", enumName(request.kind),
          requestWords(request, moduleOf(request.domain)) + (accepted.ok() ? "" : ": " + accepted.error().message));
  if (!accepted.ok()) return probe("request refused at the door");
  digest_.add(request.operationId);
  at.recent.push_back(request);
  if (at.recent.size() > kRecent) at.recent.erase(at.recent.begin());
  if (waits) return;
  BookedRequest booked;
  booked.device = at.device->index();
  booked.invoked = agenda_.now();
  booked.request = std::move(request);
  const auto& waiting = at.device->replica().outbox().all();
  const auto taken = waiting.find(booked.request.operationId);
  booked.inOutbox = taken != waiting.end();
  booked.outlasts = booked.inOutbox && !taken->second.tellsFreeze;
  booked.plain = plain;
  book_.asked(std::move(booked));
}

void World::propose(Seat& at, const Event& event) {
  const kernel::DomainModule& module = *modules_[event.m % modules_.size()];
  const std::string entity = entityName(module, event.n % static_cast<std::uint64_t>(plan_.options.cluster.entities));
  const kernel::Partition* copy = someCopy(at, module, entity);
  if (copy == nullptr) return;
  SeededRandom random(event.seed);
  const kernel::ActionPtr action = module.sample(*copy->state(entity), random, at.device->now(agenda_.now()).wall);
  if (!action) return;
  const kernel::ProcessInfo& process = module.signature().processes[action->process];
  node::Request request;
  request.domain = module.signature().domain;
  request.entity = entity;
  request.role = process.role;
  request.operationId = "op-" + hexOf(event.seed);
  request.agent = "taint-ledger-" + std::to_string(at.device->index()) + "-" + hexOf(event.seed);
  request.actionType = process.name;
  const std::string bytes = module.encodeAction(*action);
  request.action.assign(bytes.begin(), bytes.end());
  if (random.below(3) == 0) {  // a run's, about one entity; now and then two devices have planned one wake
    request.runKey = sha256("run " + std::to_string(random.below(6)) + " " + entity);
    request.planDigest = planOf(random.below(4) / 3);
  }
  submit(at, std::move(request), true);
}

void World::proposeAgain(Seat& at, const Event& event) {
  // Where copies are ahead of their logs also what another device asks: two that run one wake derive one id.
  const Seat& from = etcd_ && event.seed % 3 == 0 ? seat(static_cast<std::uint32_t>(event.seed >> 8)) : at;
  if (from.recent.empty()) return;
  node::Request request = from.recent[from.recent.size() - 1 - event.n % from.recent.size()];
  probe(&from == &at ? "request repeated" : "request repeated elsewhere");
  if (request.runKey != Hash{} && event.seed % 2 == 0) {  // an action that two plans share, and its operation id
    request.planDigest = planOf(event.seed / 2 % 2);
    probe("one operation of two plans");
  }
  submit(at, request, false);
}

// What a buggy agent would send. Each must be answered with a refusal or a rejection that says why.
void World::misuse(Seat& at, const Event& event) {
  if (at.recent.empty()) return;
  if (event.n % 6 == 5) return decidePending(at, event, "nobody-in-particular");
  node::Request request = at.recent[event.seed % at.recent.size()];
  switch (event.n % 6) {
    case 0: request.entity = "nobody-" + hexOf(event.seed); break;
    case 1: request.role = "NoSuchRole"; break;
    case 2: request.action.assign(16, 7); break;
    case 3: request.actionType = "NoSuchProcess"; break;
    default:  // one name for two acts
      request.reason += " other";
      request.role = "NoSuchRole";
      return submit(at, std::move(request), false);
  }
  request.operationId = "bad-" + hexOf(event.seed);
  submit(at, std::move(request), false);
}

// With `impostor`: somebody decides in whose hands it is not.
void World::decidePending(Seat& at, const Event& event, std::string_view impostor) {
  std::vector<std::pair<const kernel::DomainModule*, kernel::PendingView>> pending;
  std::vector<const kernel::Partition*> partitions;
  SimDevice* looksAt = at.device->isLedgerReplica() ? at.device.get() : nullptr;
  for (const auto& other : seats_)  // a counselor without a copy looks at somebody's
    if (looksAt == nullptr && other->device->running() && other->device->isLedgerReplica())
      looksAt = other->device.get();
  if (looksAt == nullptr) return;
  for (const auto& [id, host] : looksAt->replica().hosts())
    for (kernel::PendingView& view : host->partition().queue()) {
      pending.emplace_back(&host->module(), std::move(view));
      partitions.push_back(&host->partition());
    }
  if (pending.empty()) return;
  const std::size_t which = event.n % pending.size();
  const kernel::DomainModule& module = *pending[which].first;
  const kernel::PendingView& view = pending[which].second;
  SeededRandom random(event.seed);
  node::Request request;
  request.kind = random.below(2) == 0 ? node::RequestKind::reject : node::RequestKind::commit;
  request.domain = module.signature().domain;
  request.entity = view.entity;
  request.operationId = "counsel-" + hexOf(event.seed);
  request.agent = "taint-ledger-" + std::to_string(at.device->index()) + "-" + hexOf(event.seed);
  request.counselor = module.signature().counselors.front();
  if (!impostor.empty()) request.counselor = impostor;
  request.reason = "as the simulator decides";
  request.escalation = view.seq;
  request.pendingDigest = view.digest;
  if (request.kind == node::RequestKind::commit) {
    auto json = parseJson(view.action);
    auto action = json.ok() ? module.parseAction(*json) : Result<kernel::ActionPtr>(json.error());
    if (!action.ok()) return failed("ledger-rules", "a pending action is unreadable: " + action.error().message);
    request.text = module.sampleEdit(*partitions[which]->state(view.entity), **action,
                                     module.signature().counselors.front(), random, at.device->now(agenda_.now()).wall);
  }
  submit(at, std::move(request), false);
}

}  // namespace witan::sim
