// Records of journal and agents: edits, messages, batches, removals, agent states, private scopes.
#include "replication/records/agent_state.h"
#include "replication/records/agent_view.h"
#include "replication/records/records.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

using namespace replication;

namespace {

Write recordWrite(Kind kind, std::string key, Result<std::string> body) {
  WITAN_CHECK(body.ok(), "the simulator's records are well formed");
  return {kind, std::move(key), *std::move(body), false};
}

std::vector<AgentSnapshot> snapshotsOf(Space& space, const std::string& agent) {
  std::vector<AgentSnapshot> held;
  auto versions = space.versions(Kind::agentState, agent);
  if (!versions.ok()) return held;
  for (const Version& version : *versions)
    if (!version.tombstone)
      if (auto snapshot = toSnapshot(agent, version); snapshot.ok()) held.push_back(*std::move(snapshot));
  return held;
}

class RecordWorkload final : public Workload {
 public:
  RecordWorkload(Cluster& cluster, Clients& clients) : Workload(cluster, clients) {}

  void onEvent(Seat& at, const Event& event) override {
    switch (event.kind) {
      case EventKind::journalEdit: return clients_.write(at, DatabaseName::journal, "main", writesOf(at, event));
      case EventKind::batch:
        return clients_.write(at, (event.n & 1) != 0 ? DatabaseName::journal : DatabaseName::agents, "main",
                              writesOf(at, event));
      case EventKind::scopedWrite: {
        const auto scopes = static_cast<std::uint64_t>(c_.plan().options.cluster.scopes);
        if (scopes == 0) return;
        const std::string scope = ClusterSetup::scopeName(event.n % scopes);
        if (!c_.setup().mayHave(at.name(), scope)) return;
        return clients_.write(at, DatabaseName::journal, scope, writesOf(at, event));
      }
      case EventKind::agentWrite:
      case EventKind::message:
      case EventKind::record:
      case EventKind::removal: return clients_.write(at, DatabaseName::agents, "main", writesOf(at, event));
      default: return;
    }
  }

 private:
  // The writes of one commit. Ids come from the event's own seed, so that they stay when others are taken out.
  std::vector<Write> writesOf(Seat& at, const Event& event) {
    SeededRandom random(event.seed);
    const std::string id = "r-" + hexDigest(event.seed ^ static_cast<std::uint64_t>(event.at));
    const auto agents =
        static_cast<std::uint64_t>(c_.plan().options.cluster.agents * c_.plan().options.cluster.devices);
    const std::uint64_t agent = event.n % std::max<std::uint64_t>(1, agents);
    const std::string agentId = concat("agent-", agent);
    const std::int64_t atMs = at.device->now(c_.agenda().now()).wall.micros / 1000;
    const auto journal = [&](const std::string& payload) {
      const JournalBody body{"note", "\"" + payload + "\"", event.seed >> 20, at.name(), atMs, std::nullopt, {}};
      return recordWrite(Kind::journal, concat("entity-", event.n % 20), encodeRecord(body));
    };
    switch (event.kind) {
      case EventKind::agentWrite: return {agentWrite(at, agent, event.m, random)};
      case EventKind::journalEdit: return {journal(hexDigest(random.next()))};
      case EventKind::scopedWrite: {
        const std::string scope =
            ClusterSetup::scopeName(event.n % static_cast<std::uint64_t>(c_.plan().options.cluster.scopes));
        return {journal("taint-" + scope + "-" + hexDigest(event.seed))};
      }
      case EventKind::message:
        return {
            recordWrite(Kind::message, id,
                        encodeRecord(MessageBody{id, agentId, "thread", MessageKind::user, {}, "hello", atMs, {}}))};
      case EventKind::batch: {
        const BatchBody body{id, {{"journalEntity", concat("entity-", event.n % 20), ChangeOrigin::local}}, {}, {}, ""};
        std::vector<Write> writes;
        writes.push_back((event.n & 1) != 0 ? journal(hexDigest(random.next()))
                                            : agentWrite(at, agent, event.m, random));
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
        if (status == WakeStatus::started && c_.plan().options.cluster.hosts > 0) status = WakeStatus::completed;
        const WakeRunBody body{runKey, agentId, WakeReason::user, "turn", status, atMs, atMs, ""};
        return {recordWrite(Kind::wakeRun, toHex(runKey), encodeRecord(body))};
      }
      default: {
        const LinkBody body{id, agentId, "m-1", "m-2", "answers"};
        return {recordWrite(Kind::link, id, encodeRecord(body))};
      }
    }
  }

  Write agentWrite(Seat& at, std::uint64_t agent, std::uint64_t change, Random& random) {
    LocalReplica& data = at.replica().data();
    auto space = data.database(DatabaseName::agents).space("main");
    WITAN_CHECK(space.ok(), "there is room for a scope");
    const std::string key = concat("agent-", agent), self = data.writer();
    const auto held = snapshotsOf(**space, key);
    AgentState state = held.empty() ? AgentState{} : viewOf(held, nullptr).state;
    Slot& slot = state.slots[change % kSlots];
    switch (change % 8) {
      case 0: state.consecutiveFailureCount = 0; break;
      case 1: ++state.consecutiveFailureCount; break;
      case 2: state.lifecycle = Lifecycle::active; break;
      case 3: state.processedCounterByHost.raise(self, state.processedCounterByHost.at(self) + 1); break;
      case 4: state.schedule.nextWakeAt = static_cast<std::int64_t>(random.below(1'000'000)) + 10; break;
      default: slot = {"\"" + hexDigest(random.next()) + "\"", slot.version + 1, self};
    }
    return {Kind::agentState, key, encodeAgentState(state, self), false};
  }
};

}  // namespace

std::unique_ptr<Workload> makeRecordWorkload(Cluster& cluster, Clients& clients) {
  return std::make_unique<RecordWorkload>(cluster, clients);
}

}  // namespace witan::sim
