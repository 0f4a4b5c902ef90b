// Agents in the simulated cluster: what wakes them, the tools that they call, and what is looked at while they work.
#include <algorithm>

#include "agents/host/agent_host.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_job.h"
#include "replication/agent_state_codec.h"
#include "replication/journal_write.h"
#include "sim/check/need_to_know.h"
#include "sim/draw.h"
#include "sim/sim_agents.h"
#include "sim/world.h"

namespace witan::sim {

using namespace replication;
using agents::ToolCall;

namespace {

constexpr Micros kToolMean = 200'000;   // until a tool answers
constexpr Micros kLate = 90 * kSecond;  // later than anybody waits
constexpr std::uint64_t kStubborn = 3;  // a call that was tried so often goes through, unless nothing ever does

std::uint64_t numberOf(const std::string& text) {
  const Hash hash = sha256(text);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | hash[i];
  return number;
}

}  // namespace

// --- what wakes them

// A request that the clerk works on. Now and then it has something for a meta-agent to decide.
void World::enterRequest(Seat& at, const Event& event) {
  const Now now = at.device->now(agenda_.now());
  const std::string id = "request/" + std::to_string(event.seed);
  json::object payload{{"n", event.n}, {"private", std::string(kNeedToKnow) + std::to_string(event.seed)}};
  if (auto proposal = plausible(at, event)) payload["proposal"] = *std::move(proposal);
  auto space = at.device->replica().data().database(DatabaseName::journal).space("main");
  auto view = space.ok() ? journalViewIn(**space, id) : Result<JournalView>(space.error());
  if (!view.ok() || view->shown) return;
  auto body = journalEdit(*view, {"request", canonicalJson(payload), at.device->name(), now.wallMs(), std::nullopt});
  if (!body.ok()) return failed("store", at.device->name() + ": " + body.error().message);
  const std::array change{JournalChange{id, *std::move(body), "", ChangeOrigin::local}};
  auto writes = journalWrites(**space, change);
  if (!writes.ok()) return failed("store", at.device->name() + ": " + writes.error().message);
  auto dot = at.device->replica().commit(DatabaseName::journal, "main", *writes);
  if (!dot.ok()) return trace(at.device->index(), "work", "commit refused", dot.error().message);
  ++result_.statistics.commits;
  digest_.add(dot->counter);
  trace(at.device->index(), "agents", "request", id);
  const Book::Key key{"journal/main", {static_cast<int>(Kind::journal), id}};
  book_.wrote(key, {*dot, at.device->index(), agenda_.now(), false, false, false, {}});
  auto news = agents::batchNews(*dot, writes->back().body);
  WITAN_CHECK(news.ok(), "an edit of the journal has its batch");
  auto job = agents::subscriptionJob(kSimAgents[0], "entries:request", "journal/main", *news);
  WITAN_CHECK(job.ok(), "the clerk's ids are ids");
  requests_.emplace(key, job->key());
}

// A proposal that would be lawful now. Not where logs lose decisions, or plans are lost with their disks: nobody could
// tell then who had asked for what stands in a ledger.
std::optional<json::value> World::plausible(const Seat& at, const Event& event) {
  const FaultOptions& f = plan_.options.faults;
  if (f.seizures + f.diskLosses + f.restores + f.ledgerRestores + f.bitRots + f.retirements > 0) return std::nullopt;
  SeededRandom random(event.seed);
  if (random.below(2) == 0) return std::nullopt;
  const kernel::DomainModule& module = *modules_[event.m % modules_.size()];
  const std::string entity = entityName(module, event.n % static_cast<std::uint64_t>(plan_.options.cluster.entities));
  const kernel::Partition* copy = someCopy(at, module, entity);
  if (copy == nullptr) return std::nullopt;
  const kernel::ActionPtr action = module.sample(*copy->state(entity), random, at.device->now(agenda_.now()).wall);
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

void World::sayToClerk(Seat& at, const Event& event) {
  agents::AgentHost* host = at.device->replica().agents();
  if (host == nullptr) return;
  auto run =
      host->userTurn(kSimAgents[0], "session", std::to_string(event.seed), "hello", at.device->now(agenda_.now()));
  if (!run.ok()) return trace(at.device->index(), "agents", "turn refused", run.error().message);
  trace(at.device->index(), "agents", "turn", run->hex());
  turns_.push_back({*run, at.device->index(), false});
}

// An agent is paused, or woken again, on every device that hears of it.
void World::pauseAgent(Seat& at, const Event& event) {
  LocalReplica& data = at.device->replica().data();
  auto space = data.database(DatabaseName::agents).space("main");
  if (!space.ok()) return;
  const std::string agent(kSimAgents[event.n % kSimAgents.size()]);
  auto state = agents::agentStateToWrite(**space, agent);
  if (!state.ok()) return failed("store", at.device->name() + ": " + state.error().message);
  state->lifecycle = event.m % 2 == 0 ? Lifecycle::dormant : Lifecycle::active;
  const Write write{Kind::agentState, agent, encodeAgentState(*state, data.writer()), false};
  auto dot = at.device->replica().commit(DatabaseName::agents, "main", {&write, 1});
  if (dot.ok()) digest_.add(dot->counter);
  trace(at.device->index(), "agents", event.m % 2 == 0 ? "paused" : "resumed", agent);
}

// A person lets the clerk mail, or takes that back.
void World::confirmMails(Seat& at, bool stands) {
  const std::int64_t atMs = std::max<std::int64_t>(0, at.device->now(agenda_.now()).wallMs());
  const PrivacyReceipt receipt = simReceipt(at.device->name(), atMs);
  auto body = encodeReceipt(receipt);
  WITAN_CHECK(body.ok(), "the simulator's receipts are receipts");
  trace(at.device->index(), "agents", stands ? "confirmed" : "withdrawn", "mails of the clerk");
  write(at, DatabaseName::agents, "main",
        {{Kind::receipt, receiptKey(receipt), stands ? *std::move(body) : std::string(), !stands}});
}

void World::watchConfirmation(Seat& at) {
  if (at.device->replica().agents() == nullptr) return;
  static const std::string kKey = receiptKey(simReceipt("somebody", 0));
  auto space = at.device->replica().data().database(DatabaseName::agents).space("main");
  auto versions = space.ok() ? (*space)->versions(Kind::receipt, kKey) : Result<std::vector<Version>>(space.error());
  if (!versions.ok()) return failed("store", at.device->name() + ": " + versions.error().message);
  const bool stands = isConfirmed(*versions);
  if (!stands || at.unconfirmedSince >= 0) unconfirmedAt_ = agenda_.now();
  if (!stands && at.unconfirmedSince < 0) probe("mails not confirmed");
  at.unconfirmedSince = stands ? -1 : at.unconfirmedSince < 0 ? agenda_.now() : at.unconfirmedSince;
}

// --- tools

// What a tool outside does: most calls are answered soon, some are refused, some fail, some are answered too late, and
// some never. It takes one operation for one, however often it comes.
void World::callTool(std::uint32_t device, ToolCall call) {
  Seat& at = seat(device);
  const std::string name = call.operation ? call.operation->hex() : call.run.hex() + "/" + call.span;
  digest_.add(name);
  if (const std::string told = checkNeedToKnow(call.tool, call.arguments); !told.empty())
    return failed("need-to-know", at.device->name() + ": " + told);
  // Since before the run began nobody on this device could have let it.
  const auto begun = at.begun.find(call.run);
  if (call.tool == "sim.mail" && at.unconfirmedSince >= 0 && begun != at.begun.end() &&
      begun->second > at.unconfirmedSince)
    return failed("need-to-know", at.device->name() + " lets operation " + name + " mail, and no confirmation stands");
  if (call.operation && at.settledCalls.contains(*call.operation))
    return failed("operations", at.device->name() + " calls " + call.tool + " under operation " + name +
                                    " again, which had been answered for good");
  const std::uint64_t times = ++toolCalls_[name];
  const std::uint64_t chance =
      numberOf(std::to_string(plan_.options.seed) + name + std::to_string(times) + at.device->name());
  ToolAnswer answer{device, at.device->life(), std::move(call), ToolSays::done, {}};
  const bool mail = answer.call.operation.has_value();
  if (mail) probe("mail goes out");
  const std::uint64_t percent = chance % 100;
  const bool poison = mail && numberOf(name) % 20 == 0;  // it never works
  Micros after = static_cast<Micros>(chance >> 8) % (2 * kToolMean);
  if (at.toolsDown > 0 || poison)
    answer.says = percent < 70 ? ToolSays::unreachable : ToolSays::nothing;
  else if (times <= kStubborn)
    answer.says = percent < 70   ? ToolSays::done
                  : percent < 80 ? ToolSays::refused
                  : percent < 90 ? ToolSays::unreachable
                                 : ToolSays::nothing;
  if (times <= kStubborn && percent >= 60 && percent < 65) after += kLate;
  probe("tool: " + std::string(enumName(answer.says)));
  trace(device, "agents", "calls " + answer.call.tool, name);
  // The model, which answers differently each time.
  if (!mail) answer.content = std::array{"brief", "long", "strange"}[(chance >> 40) % 3];
  if (answer.says == ToolSays::nothing) return;
  toolAnswers_.push_back(std::move(answer));
  agenda_.add(agenda_.now() + after, StepKind::tool, device, toolAnswers_.size() - 1);
}

void World::answerTool(std::uint64_t number) {
  const ToolAnswer& answer = toolAnswers_[number];
  Seat& at = seat(answer.device);
  if (!at.device->running() || at.device->life() != answer.life) return;  // whoever asked is gone
  Arrival arrival;
  arrival.kind = Arrival::Kind::tool;
  arrival.event = number;
  put(answer.device, std::move(arrival));
}

void World::hearTool(Seat& at, const ToolAnswer& answer) {
  agents::AgentHost* host = at.device->replica().agents();
  if (host == nullptr || answer.life != at.device->life()) return;
  watchConfirmation(at);  // that may be taken back, and given again, in one step
  const Now now = at.device->now(agenda_.now());
  const bool done = answer.says == ToolSays::done;
  if (!answer.call.operation) {
    agents::episode::Observation seen;
    seen.ok = done;
    if (done)
      seen.content = answer.content;
    else
      seen.error = "the model is not there";
    const Status heard = host->observed(answer.call.run, answer.call.span, std::move(seen));
    if (!heard.ok()) trace(at.device->index(), "agents", "answer refused", heard.error().message);
    return;
  }
  const OperationId& operation = *answer.call.operation;
  // Only while the saga waits for it does it hear it.
  const saga::SagaRow* row = host->sagas().find(operation);
  if (answer.says != ToolSays::unreachable && row != nullptr && row->phase == saga::SagaPhase::applying)
    at.heardCalls.push_back(operation);
  if (done)
    host->answered(operation, {OperationOutcome::applied, R"({"sent":true})"}, now);
  else if (answer.says == ToolSays::refused)
    host->failed(operation, Error{ErrorCode::invalidInput, "no such address", ""}, now);
  else
    host->failed(operation, Error{ErrorCode::unavailable, "the server is not there", ""}, now);
}

// --- while they work

// Power fails while a saga is under way: at one of the next writes of either database.
void World::strikeSaga(Seat& at) {
  if (!at.strike) return;
  if (agenda_.now() > at.strike->until) return at.strike.reset();
  const agents::AgentHost* host = std::as_const(at.device->replica()).agents();
  if (host == nullptr || at.device->replica().agents()->sagas().open() == 0) return;
  at.device->disk(at.strike->store).crashAt(at.strike->steps, at.strike->moment);
  probe("power fails in a saga");
  at.strike.reset();
}

// Part of checker "runs": what has begun in this step.
void World::watchRuns(Seat& at) {
  const agents::AgentHost* host = std::as_const(at.device->replica()).agents();
  if (host == nullptr) return;
  const std::uint32_t device = at.device->index();
  watchConfirmation(at);
  for (const OperationId& operation : std::exchange(at.heardCalls, {})) at.settledCalls.insert(operation);
  for (BookedTurn& turn : turns_) turn.durable = turn.durable || turn.device == device;
  const auto& jobs = host->wakes().queue().all();
  runRules_.stands(device, [&](const RunKey& run) { return jobs.contains(run); });
  for (const auto& [run, entry] : jobs) {
    if (entry.job.state != agents::JobState::running || !runRules_.isNew(device, run)) continue;
    probe("run started");
    at.begun.try_emplace(run, agenda_.now());
    trace(device, "agents", "runs", entry.job.agentId + " " + run.hex());
    auto space = at.device->replica().data().database(DatabaseName::agents).space("main");
    auto state = space.ok() ? agents::agentStateToWrite(**space, entry.job.agentId) : Result<AgentState>(space.error());
    const bool paused =
        state.ok() && (state->lifecycle == Lifecycle::dormant || state->lifecycle == Lifecycle::destroyed);
    const std::string wrong =
        runRules_.begins({device, at.device->name(), entry.job.agentId, run, paused, undisturbed()});
    if (runRules_.startedBy(run) > 1) probe("run started by several devices");
    if (!wrong.empty()) return failed("runs", wrong);
  }
}

// No fault yet, a network that is quick beside the grace of a takeover, and everybody has heard who hosts what.
bool World::undisturbed() const {
  const NetworkOptions& n = plan_.options.network;
  const bool quick = n.lossPerMillion == 0 && n.resetPerMillion == 0 && n.bytesPerSecond == 0 && n.chords == 0 &&
                     n.delayMinMicros + n.delayMeanMicros <= 100'000 && plan_.options.disk.syncMicros <= 1'000 &&
                     plan_.options.time.driftPpm <= 1'000;
  return quick && !settling_ && agenda_.now() > 30 * kSecond &&
         std::none_of(result_.probes.begin(), result_.probes.end(),
                      [](const auto& probe) { return probe.first.starts_with("fault: "); });
}

void World::forgetRuns(Seat& at, bool disk) {
  runRules_.stopped(at.device->index(), disk);
  at.heardCalls.clear();
  std::erase_if(turns_,
                [&](const BookedTurn& turn) { return turn.device == at.device->index() && (disk || !turn.durable); });
  if (disk) at.settledCalls.clear();
}

}  // namespace witan::sim
