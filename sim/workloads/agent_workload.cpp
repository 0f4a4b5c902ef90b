// Work for the simulated agents: requests that wake them, turns, pauses, and confirmations that they may mail.
#include <array>

#include "agents/host/agent_host.h"
#include "agents/memory/thread.h"
#include "replication/records/agent_state.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"
#include "sim/check/agent_rules.h"
#include "sim/check/run_rules.h"
#include "sim/sim_agents.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr Micros kBusy = 6 * kSecond;

using Questions = std::vector<std::pair<OperationId, ApprovalView>>;

// Those that wait there for an answer.
Questions questionsAt(Cluster& c, Seat& at) {
  Questions asked;
  // Found, not opened: a device of the role `copy` has no such space.
  replication::Space* space = at.replica().data().findSpace("agents/main");
  if (space == nullptr) return asked;
  for (const std::string& key : space->keys(Kind::approval)) {
    auto operation = OperationId::parse(key);
    auto versions = space->versions(Kind::approval, key);
    if (!operation.ok() || !versions.ok())
      return c.failed("store", at.name() + ": an approval cannot be read"), Questions();
    ApprovalView view = approvalViewOf(*operation, *versions);
    if (view.shown && view.shown->body.verdict == ApprovalVerdict::waiting)
      asked.emplace_back(*operation, std::move(view));
  }
  return asked;
}

// In time, about what was asked.
std::optional<Dot> answer(Cluster& c, Seat& at, const OperationId& operation, const ApprovalView& view, bool yes,
                          const char* by) {
  const std::int64_t atMs = std::max<std::int64_t>(0, at.device->now(c.agenda().now()).wallMs());
  const ApprovalVerdict verdict = yes ? ApprovalVerdict::approved : ApprovalVerdict::denied;
  auto body = answerTo(view, view.shown->body.digest, verdict, by, "as the simulator decides", atMs);
  auto text = body.ok() ? encodeRecord(*body) : Result<std::string>(body.error());
  if (!text.ok()) return std::nullopt;
  const Write write{Kind::approval, operation.hex(), *std::move(text), false};
  auto dot = at.replica().commit(DatabaseName::agents, "main", {&write, 1});
  if (!dot.ok()) return std::nullopt;
  c.digest().add(dot->counter);
  c.trace(at.index(), "agents", enumName(verdict), operation.hex());
  c.history().agents.said.emplace(by, toHex(view.shown->body.digest), yes);
  c.put(at.index(), {});
  return *dot;
}

class AgentWorkload final : public Workload {
 public:
  AgentWorkload(Cluster& cluster, Clients& clients) : Workload(cluster, clients) {}

  void onFounded() override {
    if (c_.plan().options.cluster.hosts > 0) confirmMails(*c_.seats()[0], true);
    if (c_.plan().options.cluster.retentionDays > 0) setTimer(*c_.seats()[0]);
  }

  void onEvent(Seat& at, const Event& event) override {
    switch (event.kind) {
      case EventKind::request: return enterRequest(at, event);
      case EventKind::slip: return enterSlip(at, event);
      case EventKind::contradiction: return contradict(at, event);
      case EventKind::turn: return sayToClerk(at, event);
      case EventKind::agentPause: return pauseAgent(at, event);
      case EventKind::confirm: return confirmMails(at, event.n % 2 == 0);
      case EventKind::approve:
        if (event.m % 6 >= 4 && answerApart(at, event.n)) return;
        return answerQuestion(c_, at, event.n, event.m % 6 != 1, event.m % 6 == 0);
      case EventKind::policyChange: return changePolicy(at, event);
      case EventKind::deskEdit: return editDesk(at, event);
      case EventKind::clearUp: return clearUp(at);
      case EventKind::remark: return tellKeeper(at);
      default: return;
    }
  }

 private:
  // A request that the clerk works on. Now and then it has something for a meta-agent to decide.
  void enterRequest(Seat& at, const Event& event) {
    if (event.seed % 7 == 0) return writeByHand(at, event);
    const std::string id = concat("request/", event.seed);
    json::object payload{{"n", event.n}};
    if (event.seed % 4 != 0) payload["private"] = concat(kNeedToKnow, event.seed);
    if (auto proposal = plausible(at, event)) payload["proposal"] = *std::move(proposal);
    if (event.seed % 3 == 0) payload["desk"] = deskName(event.seed / 3 % kDesks);
    if (event.seed % 9 == 0) payload["twice"] = true;
    // On a board: what one of two plans of a run wrote goes again, and what others wanted there, before it or as it
    // stood, comes back or stays. On a desk somebody writes over it.
    if (event.seed % 3 != 0)
      payload["desk"] = concat(kBoardFolder, c_.agenda().now() / (30 * kSecond), "-", event.n % 2);
    if (event.seed % 8 == 0 && mayPay()) payload["pay"] = true;
    wakeClerk(at, id, payload);
  }

  void wakeClerk(Seat& at, const std::string& id, const json::object& payload) {
    const auto dot = enter(at, id, "request", payload);
    if (!dot) return;
    c_.history().agents.requests.emplace(
        keyOf(id), runOfEntry(kSimAgents[0], "entries:request",
                              {ChangeOrigin::local, dot->host, dot->counter, "journalEntity", id}));
  }

  // What a person approved is not known any more where plans are lost with their disks.
  bool mayPay() const {
    const FaultOptions& f = c_.plan().options.faults;
    return f.diskLosses + f.restores == 0 && c_.plan().options.work.approvals > 0;
  }

  // A request on which the clerk writes one entry twice, with a mail or a payment in between. Each answer of the model
  // has an entry of its own: what stands there is the work of one plan.
  void enterSlip(Seat& at, const Event& event) {
    json::object payload{{"private", concat(kNeedToKnow, event.seed)}, {"slip", concat(kSlipFolder, event.seed)}};
    if (event.seed % 2 == 0 && mayPay()) payload["pay"] = true;
    wakeClerk(at, concat("request/slip-", event.seed), payload);
  }

  // Only agents write there, and at once: two devices that are cut off from each other contradict each other about an
  // entry that was settled before.
  void contradict(Seat& at, const Event& event) {
    wakeClerk(at, concat(kContraryRequest, event.n % kContraries, "/", event.seed), {});
  }

  // What the clerk would write, by a person: the sealer is for what agents write.
  void writeByHand(Seat& at, const Event& event) {
    const std::string id = concat("done/by-hand-", event.seed);
    const auto dot = enter(at, id, "done", {{"answer", "brief"}});
    if (!dot) return;
    c_.probe("entry by a person that wakes no agent");
    c_.history().agents.unasked.insert(
        runOfEntry(kSimAgents[1], "entries:done", {ChangeOrigin::local, dot->host, dot->counter, "journalEntity", id}));
  }

  static History::Key keyOf(const std::string& id) { return {"journal/main", {static_cast<int>(Kind::journal), id}}; }

  // A new entry; none if it is there already, or cannot be written now.
  std::optional<Dot> enter(Seat& at, const std::string& id, const char* type, const json::object& payload) {
    auto space = at.replica().data().database(DatabaseName::journal).space("main");
    auto view = space.ok() ? journalViewIn(**space, id) : Result<JournalView>(space.error());
    if (!view.ok() || view->shown) return std::nullopt;
    const std::int64_t nowMs = at.device->now(c_.agenda().now()).wallMs();
    auto body = journalEdit(*view, {type, canonicalJson(payload), at.name(), nowMs, std::nullopt});
    if (!body.ok()) return c_.failed("store", at.name() + ": " + body.error().message), std::nullopt;
    const std::array change{JournalChange{id, *std::move(body), "", ChangeOrigin::local}};
    auto writes = journalWrites(**space, change);
    if (!writes.ok()) return c_.failed("store", at.name() + ": " + writes.error().message), std::nullopt;
    auto dot = at.replica().commit(DatabaseName::journal, "main", *writes);
    if (!dot.ok()) return c_.trace(at.index(), "work", "commit refused", dot.error().message), std::nullopt;
    ++c_.statistics().commits;
    c_.digest().add(dot->counter);
    c_.trace(at.index(), "agents", type, id);
    c_.history().wrote(keyOf(id), {*dot, at.index(), c_.agenda().now(), false, false, false, {}});
    return *dot;
  }

  // A proposal that would be lawful now. Not where logs lose decisions, or plans are lost with their disks: nobody
  // could tell then who had asked for what stands in a ledger.
  std::optional<json::value> plausible(const Seat& at, const Event& event) {
    const FaultOptions& f = c_.plan().options.faults;
    if (f.seizures + f.diskLosses + f.restores + f.ledgerRestores + f.bitRots + f.retirements > 0) return std::nullopt;
    // Nor where plans are forgotten.
    if (c_.plan().options.cluster.retentionDays > 0) return std::nullopt;
    SeededRandom random(event.seed);
    if (random.below(2) == 0) return std::nullopt;
    if (clients_.domains().empty()) return std::nullopt;
    const kernel::DomainModule& module = *clients_.domainOf(event.m);
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
    // Not in braces: they would make a list with the object in it.
    return json::value(json::object{{"domain", module.signature().domain},
                                    {"entity", entity},
                                    {"role", module.signature().processes[action->process].role},
                                    {"action", *std::move(parsed)}});
  }

  void sayToClerk(Seat& at, const Event& event) {
    agents::AgentHost* host = at.replica().agents();
    if (host == nullptr) return;
    if (event.seed % 13 == 0) return sayToHerald(at, *host);
    // A few sessions, whose turns have equal numbers, and everybody says the same; now and then again, under the same
    // number.
    const std::string session = concat(at.name(), "/", event.seed % 3);
    std::uint64_t& said = said_[at][event.seed % 3];
    const bool again = said > 0 && event.seed / 3 % 6 == 0;
    if (!again) ++said;
    const char* text = std::array{"hello", "yes", "hello"}[(said + event.seed % 3) % 3];
    const std::string turn = std::to_string(said);
    auto run = host->userTurn(kSimAgents[0], session, turn, text, at.device->now(c_.agenda().now()));
    if (!run.ok()) return c_.trace(at.index(), "agents", "turn refused", run.error().message);
    c_.trace(at.index(), "agents", "turn", run->hex());
    const RunKey expected = runOfTurn(kSimAgents[0], session, turn);
    if (*run != expected)
      return c_.failed("runs", concat(at.name(), ": turn ", turn, " of ", session, " wakes run ", run->hex(),
                                      ", and should wake ", expected.hex()));
    if (again) c_.probe("turn repeated");
    const replication::Space& space = *at.replica().data().findSpace("agents/main");
    if (!c_.history().usedBefore("agents/main", {space.selfName(), space.vector().at(space.self())}))
      c_.history().agents.turns.push_back({expected, text, at.index(), false});
  }

  // Which the policy lets nobody do.
  void sayToHerald(Seat& at, agents::AgentHost& host) {
    const std::string turn = std::to_string(++toHerald_);
    auto run = host.userTurn(kSimAgents[2], at.name(), turn, "hello", at.device->now(c_.agenda().now()));
    c_.trace(at.index(), "agents", "turn to the herald", run.ok() ? run->hex() : run.error().message);
    if (run.ok()) c_.probe("turn that the policy bars");
  }

  void tellKeeper(Seat& at) {
    agents::AgentHost* host = at.replica().agents();
    if (host == nullptr || remarks_ == kMostRemarks) return;
    const std::string turn = std::to_string(++remarks_), mark = concat(kMark, at.name(), "/", turn);
    auto run = host->userTurn(kSimKeeper, at.name(), turn, remarkText(mark), at.device->now(c_.agenda().now()));
    if (!run.ok()) return c_.trace(at.index(), "agents", "remark refused", run.error().message);
    c_.trace(at.index(), "agents", "remark", mark);
    const replication::Space& space = *at.replica().data().findSpace("agents/main");
    if (!c_.history().usedBefore("agents/main", {space.selfName(), space.vector().at(space.self())}))
      c_.history().agents.turns.push_back({runOfTurn(kSimKeeper, at.name(), turn), mark, at.index(), false, true});
  }

  // The policy over payments of one device: questions that are open were asked under another one. Some are answered
  // before the agents have seen that.
  void changePolicy(Seat& at, const Event& event) {
    if (at.replica().agents() == nullptr) return;
    at.device->usePolicy(at.device->policy() + 1);
    at.policies.push_back({at.device->policy(), c_.agenda().now()});
    c_.probe("policy changed");
    c_.trace(at.index(), "agents", "policy", std::to_string(at.device->policy()));
    answerQuestion(c_, at, event.n, true, false);
  }

  // People write on the desks too, settle what was written there side by side, and clear them.
  void editDesk(Seat& at, const Event& event) {
    if (c_.plan().options.cluster.hosts == 0) return;
    const Now now = at.device->now(c_.agenda().now());
    const std::string id = deskName(event.n % kDesks);
    auto space = at.replica().data().database(DatabaseName::journal).space("main");
    auto view = space.ok() ? journalViewIn(**space, id) : Result<JournalView>(space.error());
    if (!view.ok()) return c_.failed("store", at.name() + ": " + view.error().message);
    // Now and then the very words that agents write.
    const char* text = std::array{"brief", "a person's", "strange", "another"}[event.seed % 4];
    const JournalEdit edit{"desk", concat(R"({"text":")", text, "\"}"), at.name(),
                           std::max<std::int64_t>(0, now.wallMs()), std::nullopt};
    std::vector<Dot> dots;
    for (const Sibling& one : view->siblings) dots.push_back(one.dot);
    JournalChange change{id, std::nullopt, "desk", ChangeOrigin::local};
    if (view->inConflict()) {
      auto body = journalResolution(*view, edit, dots);
      if (!body.ok()) return c_.failed("store", at.name() + ": " + body.error().message);
      change.body = *std::move(body);
      c_.probe("desk settled");
    } else if (event.m % 5 != 0 || !view->shown) {
      auto body = journalEdit(*view, edit);
      if (!body.ok()) return c_.failed("store", at.name() + ": " + body.error().message);
      change.body = *std::move(body);
      c_.probe("desk edited");
    }
    auto writes = journalWrites(**space, std::span(&change, 1));
    if (!writes.ok()) return c_.failed("store", at.name() + ": " + writes.error().message);
    clients_.write(at, DatabaseName::journal, "main", *std::move(writes));
  }

  // People take away entries when all that runs know of them is gone, and give up what no tool ever did for an agent.
  void clearUp(Seat& at) {
    giveUp();
    const std::int64_t days = c_.plan().options.cluster.retentionDays;
    auto space = at.replica().data().database(DatabaseName::journal).space("main");
    if (days == 0 || !space.ok()) return;
    constexpr std::int64_t kAfterDays = 7;
    const std::int64_t before = at.device->now(c_.agenda().now() - (days + kAfterDays) * kMicrosPerDay).wallMs();
    for (const std::string& id : (*space)->keys(Kind::journal)) {
      auto versions = (*space)->versions(Kind::journal, id);
      if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
      const bool old = std::ranges::all_of(*versions, [&](const Version& version) {
        const auto body = version.tombstone ? Result<JournalBody>(Error{}) : decodeRecord<JournalBody>(version.body);
        return body.ok() && body->editedAtMs < before;
      });
      if (!old) continue;
      c_.probe("old entry taken away");
      clients_.write(at, DatabaseName::journal, "main", {{Kind::journal, id, "", true}});
    }
  }

  void giveUp() {
    for (Seat* one : c_.members()) {
      agents::AgentHost* host = one->works() ? one->replica().agents() : nullptr;
      if (host == nullptr) continue;
      std::vector<OperationId> aside;
      const Status read = host->sagas().rows().visitHeld([&](saga::SagaRow&& row) { aside.push_back(row.id()); });
      if (!read.ok()) return c_.failed("store", one->name() + ": " + read.error().message);
      for (const OperationId& operation : aside) {
        if (!host->sagas().compensate(operation, one->device->now(c_.agenda().now())).ok()) continue;
        c_.probe("put aside and given up");
        c_.trace(one->index(), "agents", "given up", operation.hex());
        one->givesUp.insert(operation);
        one->gaveUp.insert(operation);
      }
      c_.put(one->index(), {});
    }
  }

  // Two people answer a question on different devices, neither knowing of the other, and differently. The device that
  // asked is busy meanwhile, and hears of both at once.
  bool answerApart(Seat& at, std::uint64_t n) {
    const Questions asked = questionsAt(c_, at);
    if (asked.empty()) return false;
    const auto& [operation, view] = asked[n % asked.size()];
    Seat& asker = c_.seat(ClusterSetup::deviceIndex(deviceOf(view.shown->dot.host)));
    if (&asker == &at || !asker.works()) return false;
    for (Seat* other : c_.members()) {
      if (other == &at || other == &asker || !other->works()) continue;
      const Questions there = questionsAt(c_, *other);
      const auto same = std::ranges::find(there, operation, &Questions::value_type::first);
      if (same == there.end() || same->second.shown->body.digest != view.shown->body.digest) continue;
      const auto yes = answer(c_, at, operation, view, true, "somebody");
      if (!yes) return false;
      c_.history().agents.approved[operation].push_back({view.shown->body.digest, c_.agenda().now()});
      const auto no = answer(c_, *other, operation, same->second, false, "somebody else");
      if (no) asker.splits.push_back({operation, *yes, *no});
      c_.probe("fault: pause");
      asker.device->paused = true;
      c_.agenda().add(c_.agenda().now() + kBusy, StepKind::resume, asker.index());
      return true;
    }
    return false;
  }

  // On one device: all others go by it too.
  void setTimer(Seat& at) {
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    WITAN_CHECK(space.ok(), "there is room for a scope");
    auto state = agents::agentStateToWrite(**space, kSimWarden);
    WITAN_CHECK(state.ok(), "a new agent's state can be read");
    const std::string& writer = at.replica().data().writer();
    state->schedule.timers[std::string(kWardenTimer)] = {0, static_cast<std::uint64_t>(kWardenSetMs), 1, writer};
    const Write write{Kind::agentState, std::string(kSimWarden), encodeAgentState(*state, writer), false};
    const auto dot = at.replica().commit(DatabaseName::agents, "main", {&write, 1});
    WITAN_CHECK(dot.ok(), "a person sets a timer");
  }

  void pauseAgent(Seat& at, const Event& event) {
    // Of those that are paused one in four waits for an answer, which comes then.
    if (const auto asked = questionsAt(c_, at); event.m % 8 == 4 && !asked.empty()) {
      const auto& [operation, view] = asked[event.n % asked.size()];
      at.approvedAsleep[operation] = view.shown->body.agentId;
      setPaused(c_, at, view.shown->body.agentId, true);
      return answerQuestion(c_, at, event.n, true, false);
    }
    // One of four times that it is woken it sleeps a little longer, by a clock that does not jump.
    const bool may = c_.plan().options.faults.clockJumps == 0;
    const Micros sleeps = may && event.m % 8 == 7 ? static_cast<Micros>(event.seed % 30 + 1) * kSecond : 0;
    setPaused(c_, at, kSimAgents[event.n % kSimAgents.size()], event.m % 2 == 0, sleeps);
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

  PerDevice<std::map<std::uint64_t, std::uint64_t>> said_;  // turns of each session
  std::uint64_t remarks_ = 0, toHerald_ = 0;
};

}  // namespace

void answerQuestion(Cluster& c, Seat& at, std::uint64_t n, bool yes, bool ofSomethingElse) {
  const auto asked = questionsAt(c, at);
  if (asked.empty()) return;
  const auto& [operation, view] = asked[n % asked.size()];
  const Hash shown = view.shown->body.digest;
  Hash digest = shown;
  if (ofSomethingElse) digest[0] ^= 1;
  const std::int64_t atMs = std::max<std::int64_t>(0, at.device->now(c.agenda().now()).wallMs());
  const ApprovalVerdict verdict = yes ? ApprovalVerdict::approved : ApprovalVerdict::denied;
  auto answer = answerTo(view, digest, verdict, "somebody", "as the simulator decides", atMs);
  const bool late = atMs >= view.shown->body.untilMs;
  if (ofSomethingElse || late) {
    if (late)
      c.probe("answer after its time");
    else
      c.probe("answer about something else");
    if (answer.ok())
      return c.failed("need-to-know",
                      concat(at.name(), " takes an answer ", late ? "after its time" : "about something else",
                             " for operation ", operation.hex()));
    // Somebody's device writes it all the same.
    answer = view.shown->body;
    answer->digest = digest, answer->verdict = verdict, answer->by = "somebody", answer->atMs = atMs;
  }
  if (!answer.ok()) return c.failed("store", at.name() + ": " + answer.error().message);
  auto body = encodeRecord(*answer);
  WITAN_CHECK(body.ok(), "an answer is a record");
  const Write write{Kind::approval, operation.hex(), *std::move(body), false};
  auto dot = at.replica().commit(DatabaseName::agents, "main", {&write, 1});
  if (dot.ok()) c.digest().add(dot->counter);
  c.trace(at.index(), "agents", enumName(verdict), operation.hex() + (ofSomethingElse ? " about something else" : ""));
  if (!late || !yes) c.history().agents.said.emplace("somebody", toHex(digest), yes);
  if (!yes || ofSomethingElse || late) return;
  c.probe("approved");
  c.history().agents.approved[operation].push_back({shown, c.agenda().now()});
}

void setPaused(Cluster& c, Seat& at, std::string_view agentId, bool paused, Micros sleeps) {
  LocalReplica& data = at.replica().data();
  auto space = data.database(DatabaseName::agents).space("main");
  if (!space.ok()) return;
  const std::string agent(agentId);
  auto state = agents::agentStateToWrite(**space, agent);
  if (!state.ok()) return c.failed("store", at.name() + ": " + state.error().message);
  state->lifecycle = paused ? Lifecycle::dormant : Lifecycle::active;
  const std::int64_t wallMs = at.device->now(c.agenda().now()).wallMs();
  state->schedule.sleepUntil =
      static_cast<std::uint64_t>(sleeps > 0 ? std::max<std::int64_t>(0, wallMs) + sleeps / 1'000 : 0);
  const Write write{Kind::agentState, agent, encodeAgentState(*state, data.writer()), false};
  auto dot = at.replica().commit(DatabaseName::agents, "main", {&write, 1});
  if (dot.ok()) c.digest().add(dot->counter);
  c.trace(at.index(), "agents", paused ? "paused" : sleeps > 0 ? "sleeps" : "resumed", agent);
}

std::unique_ptr<Workload> makeAgentWorkload(Cluster& cluster, Clients& clients) {
  return std::make_unique<AgentWorkload>(cluster, clients);
}

}  // namespace witan::sim
