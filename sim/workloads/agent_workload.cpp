// Work for the simulated agents: requests that wake them, turns, pauses, and confirmations that they may mail.
#include <array>

#include "agents/host/agent_host.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_job.h"
#include "replication/records/agent_state.h"
#include "replication/records/journal_entity.h"
#include "sim/check/agent_rules.h"
#include "sim/sim_agents.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

using namespace replication;

namespace {

class AgentWorkload final : public Workload {
 public:
  AgentWorkload(Cluster& cluster, Clients& clients) : Workload(cluster, clients) {}

  void onFounded() override {
    if (c_.plan().options.cluster.hosts > 0) confirmMails(*c_.seats()[0], true);
  }

  void onEvent(Seat& at, const Event& event) override {
    switch (event.kind) {
      case EventKind::request: return enterRequest(at, event);
      case EventKind::turn: return sayToClerk(at, event);
      case EventKind::agentPause: return pauseAgent(at, event);
      case EventKind::confirm: return confirmMails(at, event.n % 2 == 0);
      default: return;
    }
  }

 private:
  // A request that the clerk works on. Now and then it has something for a meta-agent to decide.
  void enterRequest(Seat& at, const Event& event) {
    const Now now = at.device->now(c_.agenda().now());
    const std::string id = concat("request/", event.seed);
    json::object payload{{"n", event.n}, {"private", concat(kNeedToKnow, event.seed)}};
    if (auto proposal = plausible(at, event)) payload["proposal"] = *std::move(proposal);
    auto space = at.replica().data().database(DatabaseName::journal).space("main");
    auto view = space.ok() ? journalViewIn(**space, id) : Result<JournalView>(space.error());
    if (!view.ok() || view->shown) return;
    auto body = journalEdit(*view, {"request", canonicalJson(payload), at.name(), now.wallMs(), std::nullopt});
    if (!body.ok()) return c_.failed("store", at.name() + ": " + body.error().message);
    const std::array change{JournalChange{id, *std::move(body), "", ChangeOrigin::local}};
    auto writes = journalWrites(**space, change);
    if (!writes.ok()) return c_.failed("store", at.name() + ": " + writes.error().message);
    auto dot = at.replica().commit(DatabaseName::journal, "main", *writes);
    if (!dot.ok()) return c_.trace(at.index(), "work", "commit refused", dot.error().message);
    ++c_.statistics().commits;
    c_.digest().add(dot->counter);
    c_.trace(at.index(), "agents", "request", id);
    const History::Key key{"journal/main", {static_cast<int>(Kind::journal), id}};
    c_.history().wrote(key, {*dot, at.index(), c_.agenda().now(), false, false, false, {}});
    auto news = agents::batchNews(*dot, writes->back().body);
    WITAN_CHECK(news.ok(), "an edit of the journal has its batch");
    auto job = agents::subscriptionJob(kSimAgents[0], "entries:request", "journal/main", *news);
    WITAN_CHECK(job.ok(), "the clerk's ids are ids");
    c_.history().agents.requests.emplace(key, job->key());
  }

  // A proposal that would be lawful now. Not where logs lose decisions, or plans are lost with their disks: nobody
  // could tell then who had asked for what stands in a ledger.
  std::optional<json::value> plausible(const Seat& at, const Event& event) {
    const FaultOptions& f = c_.plan().options.faults;
    if (f.seizures + f.diskLosses + f.restores + f.ledgerRestores + f.bitRots + f.retirements > 0) return std::nullopt;
    SeededRandom random(event.seed);
    if (random.below(2) == 0) return std::nullopt;
    const kernel::DomainModule& module = *c_.modules()[event.m % c_.modules().size()];
    const std::string entity =
        clients_.entityName(module, event.n % static_cast<std::uint64_t>(c_.plan().options.cluster.entities));
    const kernel::Partition* copy = clients_.someCopy(at, module, entity);
    if (copy == nullptr) return std::nullopt;
    const kernel::ActionPtr action =
        module.sample(*copy->state(entity), random, at.device->now(c_.agenda().now()).wall);
    if (!action) return std::nullopt;
    std::string text;
    module.writeAction(text, *action);
    auto parsed = parseJson(text);
    WITAN_CHECK(parsed.ok(), "an action has a JSON form");
    return json::value{json::object{{"domain", module.signature().domain},
                                    {"entity", entity},
                                    {"role", module.signature().processes[action->process].role},
                                    {"action", *std::move(parsed)}}};
  }

  void sayToClerk(Seat& at, const Event& event) {
    agents::AgentHost* host = at.replica().agents();
    if (host == nullptr) return;
    auto run = host->userTurn(kSimAgents[0], "session", std::to_string(event.seed), "hello",
                              at.device->now(c_.agenda().now()));
    if (!run.ok()) return c_.trace(at.index(), "agents", "turn refused", run.error().message);
    c_.trace(at.index(), "agents", "turn", run->hex());
    c_.history().agents.turns.push_back({*run, at.index(), false});
  }

  // An agent is paused, or woken again, on every device that hears of it.
  void pauseAgent(Seat& at, const Event& event) {
    LocalReplica& data = at.replica().data();
    auto space = data.database(DatabaseName::agents).space("main");
    if (!space.ok()) return;
    const std::string agent(kSimAgents[event.n % kSimAgents.size()]);
    auto state = agents::agentStateToWrite(**space, agent);
    if (!state.ok()) return c_.failed("store", at.name() + ": " + state.error().message);
    state->lifecycle = event.m % 2 == 0 ? Lifecycle::dormant : Lifecycle::active;
    const Write write{Kind::agentState, agent, encodeAgentState(*state, data.writer()), false};
    auto dot = at.replica().commit(DatabaseName::agents, "main", {&write, 1});
    if (dot.ok()) c_.digest().add(dot->counter);
    c_.trace(at.index(), "agents", event.m % 2 == 0 ? "paused" : "resumed", agent);
  }

  // A person lets the clerk mail, or takes that back.
  void confirmMails(Seat& at, bool stands) {
    const std::int64_t atMs = std::max<std::int64_t>(0, at.device->now(c_.agenda().now()).wallMs());
    const PrivacyReceipt receipt = simReceipt(at.name(), atMs);
    auto body = encodeRecord(receipt);
    WITAN_CHECK(body.ok(), "the simulator's receipts are receipts");
    c_.trace(at.index(), "agents", stands ? "confirmed" : "withdrawn", "mails of the clerk");
    clients_.write(at, DatabaseName::agents, "main",
                   {{Kind::receipt, receiptKey(receipt), stands ? *std::move(body) : std::string(), !stands}});
  }
};

}  // namespace

std::unique_ptr<Workload> makeAgentWorkload(Cluster& cluster, Clients& clients) {
  return std::make_unique<AgentWorkload>(cluster, clients);
}

}  // namespace witan::sim
