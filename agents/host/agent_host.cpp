#include "agents/host/agent_host.h"

#include <algorithm>

#include "agents/host/builtin_tools.h"
#include "agents/host/fold_job.h"
#include "agents/memory/memory_context.h"
#include "agents/memory/retention.h"
#include "agents/tools/journal_tools.h"
#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "base/json_codec.h"
#include "base/mutant.h"
#include "base/utf8.h"
#include "replication/records/agent_view.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"

namespace witan::agents {

using namespace replication;
using episode::Effect;
using episode::Ending;
using episode::Episode;
using saga::EffectKind;
using saga::Outcome;
using saga::SagaRow;

namespace {

constexpr std::size_t kMaxCauseBytes = 512;
constexpr std::string_view kHostLinks = " hosts";  // among `edits_`: no scope has this name

// Writes the agent's slots and the outcome of the run into its state.
void remember(AgentState& state, const Ending& ending, std::string_view writer,
              const std::optional<std::string>& answer) {
  for (const SlotWrite& write : ending.finish.slots) {
    Slot& slot = state.slot(write.slot);
    slot = {canonicalJson(write.value), slot.version + 1, std::string(writer)};
  }
  const auto moment = [](std::int64_t ms) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ms)); };
  if (ending.finish.nextWakeAtMs) state.schedule.nextWakeAt = moment(*ending.finish.nextWakeAtMs);
  if (ending.finish.sleepUntilMs) state.schedule.sleepUntil = moment(*ending.finish.sleepUntilMs);
  if (answer) state.pointers.recentHeadMessageId = *answer;
  if (state.lifecycle == Lifecycle::created) state.lifecycle = Lifecycle::active;
}

// What both allow; none: nothing.
std::optional<Capability> common(const Capability& a, const Capability& b) {
  const bool isNarrower = episode::coversResource(b.resource, a.resource);
  if (!isNarrower && !episode::coversResource(a.resource, b.resource)) return std::nullopt;
  // Of prefixes the longer one of each pair that fits; of tags those that both have.
  const auto both = [](const std::vector<std::string>& one, const std::vector<std::string>& other, bool prefixes) {
    if (one.empty() || other.empty()) return one.empty() ? other : one;
    std::vector<std::string> all;
    for (const std::string& x : one)
      for (const std::string& y : other) {
        if (x == y || (prefixes && x.starts_with(y))) all.push_back(x);
        if (x != y && prefixes && y.starts_with(x)) all.push_back(y);
      }
    return all;
  };
  Capability made{isNarrower ? a.resource : b.resource, std::min(a.uses, b.uses), both(a.targets, b.targets, true),
                  both(a.locales, b.locales, false)};
  const auto slower = [](const Omittable<std::int64_t>& x, const Omittable<std::int64_t>& y) {
    return x && y ? std::min(*x, *y) : x ? x : y;
  };
  made.perHour = slower(a.perHour, b.perHour), made.perDay = slower(a.perDay, b.perDay);
  const bool none = (made.targets.empty() && !(a.targets.empty() && b.targets.empty())) ||
                    (made.locales.empty() && !(a.locales.empty() && b.locales.empty())) || made.uses == 0;
  return none ? std::nullopt : std::optional(std::move(made));
}

// Each held capability is used at most as often as it may be, whatever the node repeats.
std::vector<Capability> commonOf(std::vector<Capability> granted, std::vector<Capability> held) {
  std::vector<Capability> all;
  for (Capability& one : granted)
    for (Capability& of : held)
      if (auto made = common(one, of); made && all.size() < episode::kMaxCapabilities) {
        one.uses -= made->uses, of.uses -= made->uses;
        all.push_back(*std::move(made));
      }
  return all;
}

// What the node of the graph grants, of what the agent declares (Law 4).
Status narrowToGraph(episode::Beginning& beginning) {
  if (mutated("graphWiden")) return okStatus();
  const json::value* graph = beginning.input.if_contains("graph");
  const json::value* grant =
      graph != nullptr && graph->is_object() ? graph->get_object().if_contains("grant") : nullptr;
  if (grant == nullptr) return invalid("a wake by a graph without a grant");
  episode::Grant wish;
  WITAN_DO(readJson(*grant, wish, "grant"));
  const episode::Grant& held = beginning.grant;
  wish.capabilities = commonOf(std::move(wish.capabilities), held.capabilities);
  std::erase_if(wish.locale, [&](const std::string& tag) { return !std::ranges::binary_search(held.locale, tag); });
  wish.budget = {std::min(wish.budget.steps, held.budget.steps), std::min(wish.budget.tokens, held.budget.tokens),
                 std::min(wish.budget.seconds, held.budget.seconds)};
  WITAN_SET(beginning.grant, episode::Context(beginning.grant).fork(std::move(wish)));
  std::erase_if(beginning.tools, [&](const episode::ToolInfo& tool) {
    return std::ranges::none_of(beginning.grant.capabilities, [&](const Capability& one) {
      return episode::coversResource(one.resource, tool.name);
    });
  });
  return okStatus();
}

}  // namespace

namespace {

HostOptions withGate(HostOptions options, const episode::Gate& gate) {
  if (!options.wake.barred)
    options.wake.barred = [&gate](const AgentSpec& spec, WakeReason reason) {
      return gate.barred(spec.id, spec.category, enumName(reason));
    };
  return options;
}

}  // namespace

AgentHost::AgentHost(LocalReplica& replica, const episode::Gate& gate, HostOptions options)
    : replica_(replica),
      gate_(gate),
      options_(withGate(std::move(options), gate)),
      wakes_(replica, options_.wake),
      sagas_(replica, *this, options_.saga),
      memory_(replica, {.scope = options_.wake.scope}),
      retention_(replica, {.scope = options_.wake.scope, .horizonMs = options_.retentionMs},
                 [this](const WakeRunBody& run) { return comesAgain(run); }) {}

AgentHost::~AgentHost() = default;

Result<Space*> AgentHost::space() { return agentsDatabase().space(options_.wake.scope); }

Status AgentHost::load(std::span<const Agent* const> agents, Now now) {
  for (episode::ToolInfo& tool : builtinTools()) WITAN_DO(tools_.add(std::move(tool)));
  for (const episode::ToolInfo& tool : options_.tools) WITAN_DO(tools_.add(tool));
  WITAN_TRY(records, space());
  std::set<std::string, std::less<>> here;
  for (const Agent* agent : agents) {
    const AgentSpec& spec = agent->spec();
    WITAN_DO(checkSpec(spec));
    agents_.emplace(spec.id, agent);
    here.insert(spec.id);
    WITAN_DO(wakes_.add(spec));
  }
  WITAN_TRY(naming, namingWrites(*records, replica_.device(), here));
  WITAN_DO(commitNaming(replica_, options_.wake.scope, naming));
  WITAN_DO(wakes_.load(now));
  WITAN_DO(sagas_.load(now));
  WITAN_DO(sagas_.rows().visitDone([&](saga::SagaRow&& row) { noteUndone(row); }));
  WITAN_DO(memory_.load(now));
  setDevices({replica_.device()}, {}, now);
  return noticeContested(now);
}

void AgentHost::setDevices(std::vector<std::string> members, std::set<std::string> live, Now now) {
  if (members != members_) watchedAt_.reset();  // what a device that leaves has not brought does not come any more
  members_ = members;
  live_ = live;
  wakes_.setDevices(std::move(members), std::move(live), now);
  again_ = true;
}

Result<RunKey> AgentHost::userTurn(std::string_view agentId, std::string_view session, std::string_view turn,
                                   std::string_view text, Now now) {
  return wakes_.userTurn(agentId, session, turn, text, now);
}

Result<bool> AgentHost::ledgerFact(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact,
                                   Now now) {
  return wakes_.ledgerFact(agentId, subscriptionId, fact, now);
}

Status AgentHost::work(Now now) {
  again_ = false;
  WITAN_DO(takeActivations(now));
  WITAN_DO(wakes_.takeEvents(now));
  WITAN_DO(wakes_.tick(now));
  WITAN_DO(noticeContested(now));
  WITAN_DO(reconcileDue(now));
  WITAN_DO(noticeConflicts(now));
  WITAN_DO(settleDue(now));
  WITAN_DO(giveUpCalls(now));
  releaseHeld(now);
  WITAN_TRY(jobs, wakes_.takeRunnable(now));
  for (WakeCenter::Unheard& turn : wakes_.takeUnheard())
    out_.notices.push_back({"unheard", turn.agentId + " does not hear what was said: " + turn.why});
  for (WakeJob& job : jobs) WITAN_DO(startRun(std::move(job), now));
  sagas_.tick(now);
  for (const RunKey& key : inOrder()) WITAN_DO(push(running_.find(key)->second, now));  // it may end, and no other
  return keepHouse(now);
}

// What waits in memory and what ended long ago: on no run's way.
Status AgentHost::keepHouse(Now now) {
  // What an earlier life of a lost disk had said of its agents comes back from others.
  WITAN_TRY(records, space());
  bool links = false;
  const bool gone = edits_.try_emplace(std::string(kHostLinks), Kind::link).first->second.look(*records, [&](auto&) {
    links = true;
  });
  if (links || gone) {
    std::set<std::string, std::less<>> here;
    for (const auto& [id, agent] : agents_) here.insert(id);
    const auto naming = namingWrites(*records, replica_.device(), here);  // without a free key: later
    if (naming.ok()) WITAN_DO(commitNaming(replica_, options_.wake.scope, *naming));
  }
  // A fold that was left by a crash, or that failed, is tried again without a run of its agent.
  if (const auto due = memory_.nextMs(); due && *due <= now.ms) WITAN_DO(foldDue(now));
  const bool first = std::ranges::none_of(live_, [&](const std::string& d) { return d < replica_.device(); });
  WITAN_DO(retention_.step(first, now));
  if (options_.retentionMs <= 0 || !first || now.ms < nextFoldMs_) return okStatus();
  nextFoldMs_ = now.ms + 24 * 3'600'000;
  for (const auto& [id, agent] : agents_) {
    const std::string& scope = options_.wake.scope;
    WITAN_TRY(retained, agent->spec().remembers ? retainThread(replica_, scope, id, agent->spec().thread)
                                                : forgetSaid(replica_, scope, id, now.wallMs() - options_.retentionMs));
    again_ = again_ || retained.removed > 0;
  }
  return okStatus();
}

// A fact of a ledger is told again when a copy is read anew, and a graph asks again; of an agent that is not known here
// nobody can say.
bool AgentHost::comesAgain(const WakeRunBody& run) const {
  const auto agent = agents_.find(run.agentId);
  return agent == agents_.end() || run.reason == WakeReason::graph ||
         std::ranges::any_of(agent->second->spec().ledgers,
                             [&](const LedgerSpec& one) { return one.id == run.subject; });
}

std::vector<RunKey> AgentHost::inOrder() const {
  std::vector<std::pair<std::uint64_t, RunKey>> runs;
  for (const auto& [key, run] : running_) runs.emplace_back(run.job.sequence, key);
  std::ranges::sort(runs);
  std::vector<RunKey> keys;
  for (const auto& [sequence, key] : runs) keys.push_back(key);
  return keys;
}

void AgentHost::stopping() {
  for (auto& [key, run] : running_) forgive(run);
}

void AgentHost::journalDurable(Now now) { sagas_.journalDurable(now); }

Status AgentHost::agentsDurable(Now now, HostEffects& out) {
  const std::size_t known = out.calls.size();
  wakes_.durable();
  sagas_.agentsDurable(now);
  const std::uint64_t durable = agentsDatabase().durable();
  for (const RunKey& key : inOrder()) {
    Running& run = running_.find(key)->second;
    if (run.mark <= durable) run.episode.durable(run.written);
    if (run.planMark && *run.planMark <= durable) {
      run.planMark.reset();
      WITAN_DO(bindPlan(run));
    }
    WITAN_DO(carryOut(run, now, out));
  }
  std::move(out_.proposals.begin(), out_.proposals.end(), std::back_inserter(out.proposals));
  std::move(out_.calls.begin(), out_.calls.end(), std::back_inserter(out.calls));
  std::move(out_.notices.begin(), out_.notices.end(), std::back_inserter(out.notices));
  out_.clear();
  noteCalls(out, known, now);
  return okStatus();
}

void AgentHost::noteCalls(const HostEffects& effects, std::size_t from, Now now) {
  for (std::size_t i = from; i < effects.calls.size(); ++i) {
    const ToolCall& call = effects.calls[i];
    calls_[{call.run, call.span}] = {call.operation, now.ms};
  }
}

// A tool that never answers would hold up its run, and every other wake of its agent.
Status AgentHost::giveUpCalls(Now now) {
  const std::string why = "the tool did not answer in time";
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto [key, call] = *at;
    if (now.ms - call.sinceMs < options_.callTimeoutMs) {
      ++at;
      continue;
    }
    at = calls_.erase(at);
    if (call.operation)
      doubted(*call.operation, unavailable(why), now);
    else
      WITAN_DO(observed(key.first, key.second, {false, nullptr, why, 0, 0}));
  }
  return okStatus();
}

void AgentHost::answered(const OperationId& operation, const saga::Outcome& outcome, Now now) {
  answeredCall(operation, now);
  sagas_.answered(operation, outcome, now);
  again_ = true;
}

void AgentHost::failed(const OperationId& operation, const Error& why, Now now) {
  answeredCall(operation, now);
  sagas_.answered(operation, why, now);
  again_ = true;
}

void AgentHost::doubted(const OperationId& operation, const Error& why, Now now) {
  const SagaRow* row = sagas_.find(operation);
  if (row == nullptr || !options_.onceTools.contains(row->intent.tool)) return failed(operation, why, now);
  answeredCall(operation, now);
  sagas_.doubted(operation, {why.code, "uncertain: " + why.message, why.hint}, now);
  again_ = true;
}

void AgentHost::answeredCall(const OperationId& operation, Now now) {
  std::erase_if(calls_, [&](const auto& call) {
    if (call.second.operation != operation) return false;
    tookMs_[operation] += std::max<std::int64_t>(0, now.ms - call.second.sinceMs);
    return true;
  });
}

Status AgentHost::observed(const RunKey& run, std::string_view span, episode::Observation observation) {
  calls_.erase({run, std::string(span)});
  const auto at = running_.find(run);
  if (at == running_.end()) return okStatus();
  again_ = true;
  const Status heard = at->second.episode.observed(span, std::move(observation));
  // The run was started over meanwhile, and does not ask for that, or not yet.
  return !heard.ok() && heard.error().code == ErrorCode::notFound ? okStatus() : heard;
}

std::optional<std::int64_t> AgentHost::nextMs(Now now) const {
  if (again_ || !sagas_.quiet()) return now.ms;
  std::optional<std::int64_t> next = wakes_.nextMs(now);
  const auto atLatest = [&](std::int64_t ms) { next = std::min(next.value_or(ms), ms); };
  if (const std::int64_t due = sagas_.nextTickMs(); due != std::numeric_limits<std::int64_t>::max()) atLatest(due);
  for (const auto& [run, due] : contested_) atLatest(due);
  for (const auto& [entry, due] : settleAt_) atLatest(due);
  if (watchIsDue()) atLatest(std::max(now.ms, nextWatchMs_));
  for (const auto& [key, call] : calls_) atLatest(call.sinceMs + options_.callTimeoutMs);
  if (const auto fold = memory_.nextMs()) atLatest(std::max(now.ms, *fold));
  if (retention_.underWay()) return now.ms;
  if (const auto due = retention_.nextMs(now)) atLatest(std::max(now.ms, *due));
  return next;
}

bool AgentHost::quiet() const {
  const auto& waiting = wakes_.queue().all();
  return running_.empty() && onlyPeopleLeft() &&
         std::ranges::none_of(waiting, [&](const auto& entry) { return agents_.contains(entry.second.job.agentId); });
}

bool AgentHost::onlyPeopleLeft() const {
  if (again_ || !contested_.empty() || !settleAt_.empty() || !sagas_.quiet() || sagas_.open() != waiting_.size() ||
      wakes_.backlog() > 0 || watchIsDue())
    return false;
  std::set<std::string_view> asking;  // agents: each has one run at a time
  for (const auto& [key, run] : running_) {
    if (run.acting || !run.actions.empty() || run.episode.questions().empty()) return false;
    asking.insert(run.job.agentId);
  }
  return std::ranges::all_of(wakes_.queue().all(), [&](const auto& entry) {
    return asking.contains(entry.second.job.agentId) || !agents_.contains(entry.second.job.agentId);
  });
}

// --- runs: one run, from its job to its end

Status AgentHost::startRun(WakeJob job, Now now) {
  const RunKey key = job.key();
  const auto agent = agents_.find(job.agentId);
  if (agent == agents_.end())
    return wakes_.ended(key, WakeStatus::failedTerminal, "this device has no such agent", now);
  if (isFold(job) && !foldOf(job))
    return wakes_.ended(key, WakeStatus::completed, "its memory was folded meanwhile", now);
  WITAN_TRY(waits, waitsForBudget(job, agent->second->spec(), now));
  if (waits) return okStatus();
  bool resumed = false;
  auto started = episodeFor(*agent->second, job, now, resumed);
  if (!started.ok()) {
    noteFailure(job.agentId, "it cannot go on: " + started.error().message, now);
    return wakes_.ended(key, WakeStatus::failedTerminal, "it cannot go on: " + started.error().message, now);
  }
  ++(resumed ? counters_.resumed : counters_.started);
  Running run{std::move(job), agent->second, *std::move(started), 0, 0, std::nullopt, {}, std::nullopt};
  if (resumed) {
    run.written = run.episode.entries().size();
    run.episode.durable(run.written);
  }
  // A run that was planned, here or elsewhere, is not planned again.
  if (!mutated("planAgain") && !mutated("thinkAgain")) WITAN_DO(bindPlan(run));
  running_.emplace(key, std::move(run));
  again_ = true;
  return okStatus();
}

// From its transcript on this device, if there is one.
Result<Episode> AgentHost::episodeFor(const Agent& agent, const WakeJob& job, Now now, bool& resumed) {
  WITAN_TRY(records, space());
  WITAN_TRY(rows, episode::readTranscript(*records, job.key(), replica_.device()));
  if (!rows.empty() && !mutated("beginAnew")) {
    std::vector<std::string> contents;
    for (const episode::TranscriptRow& row : rows) contents.push_back(row.message.content);
    resumed = true;
    return Episode::resume(agent, gate_, contents);
  }
  WITAN_TRY(input, inputFor(agent, job, now));
  WITAN_TRY(beginning, episode::beginningOf(agent.spec(), tools_, job.key(), replica_.device(), std::move(input)));
  WITAN_DO(narrowToStanding(beginning.grant.budget, beginning.input));
  if (const auto known = knownBy(job.agentId); known.ok())
    narrowToRates(beginning.grant.capabilities, ratesLeft(agent.spec().capabilities, *known, standingHour(now.wall)));
  if (job.reason == WakeReason::graph) WITAN_DO(narrowToGraph(beginning));
  return Episode::begin(agent, gate_, std::move(beginning));
}

Result<json::object> AgentHost::inputFor(const Agent& agent, const WakeJob& job, Now now) {
  WITAN_TRY(woken, parseJson(job.input));
  json::object input = woken.is_object() ? std::move(woken.get_object()) : json::object{};
  input["reason"] = std::string(enumName(job.reason));
  input["subject"] = job.subject;
  input["nowMs"] = now.wallMs();
  if (const auto fold = foldOf(job)) {
    WITAN_TRY(folded, memory_.contextOf(*fold));
    if (!folded) return notFound("its memory was folded meanwhile");
    input.erase("ledger");
    input["fold"] = contextJson(*folded);
    return input;
  }
  WITAN_TRY(records, space());
  WITAN_TRY(versions, records->versions(Kind::agentState, agent.spec().id));
  WITAN_TRY(state, viewOf(versions, nullptr));
  json::object slots;
  for (std::size_t i = 0; state && i < kSlots; ++i) {
    const auto name = static_cast<SlotName>(i);
    auto value = parseJson(state->state.slot(name).value, {.bytes = kMaxSlotBytes});
    slots[toString(name)] = value.ok() ? *value : json::value(nullptr);
  }
  // What a later build wrote is left as it is: the agent learns nothing now.
  if (auto known = knowledgeOf(agent.spec().id, versions); known.ok()) {
    const Usages left = standingLeft(options_.standing, agent.spec().id, *known, standingDay(now.wall));
    if (!left.empty()) WITAN_SET(input["standing"], parseJson(toJson(left)));
    known->spent.clear(), known->used.reset();
    if (agent.spec().learns) WITAN_SET(input["knowledge"], parseJson(toJson(*known), {.bytes = kMaxKnowledgeBytes}));
  }
  if (json::value* own = slots.if_contains(toString(SlotName::extension)); own != nullptr && own->is_object())
    own->get_object().erase("knowledge");
  input["slots"] = std::move(slots);
  if (agent.spec().remembers) {
    WITAN_TRY(graph, memory_.graphOf(agent.spec().id));
    WITAN_TRY(memory, memoryContext(*records, *graph, agent.spec().id, agent.spec().thread));
    input["memory"] = contextJson(memory);
  }
  return input;
}

// Everything that the run has to write now, and its end.
Status AgentHost::push(Running& run, Now now) {
  WITAN_DO(askPeople(run, now));
  // What is under way comes to its end; nothing more begins.
  if (!run.acting && wakes_.isDestroyed(run.job.agentId)) WITAN_DO(run.episode.abort("the agent is destroyed"));
  WITAN_DO(commitEntries(run, now));
  if (!run.overtaken && run.episode.wantsPlan() != nullptr && !run.planMark) WITAN_DO(commitPlan(run));
  if (!run.overtaken) WITAN_DO(commitEntries(run, now));
  if (run.overtaken) return startOver(run, now);
  // With the question, so that whoever restarts the process while it waits finds it forgiven.
  if (run.episode.waitsForPeople()) forgive(run);
  return run.episode.ended() != nullptr ? endRun(run, now) : okStatus();
}

// Work that goes on after a person's answer counts against the starts before this one, so that it is given up too if it
// takes the process down each time.
void AgentHost::forgive(Running& run) {
  if (run.forgiven) return;
  run.forgiven = true;
  wakes_.forgive(run.job.key());
}

// Goes on from what has come back, at its next start. What was begun meanwhile is found by its operation ids.
Status AgentHost::startOver(Running& run, Now now) {
  const RunKey key = run.job.key();
  running_.erase(key);
  again_ = true;
  return wakes_.postpone(key, 0, "its transcript of an earlier life has come back", now);
}

Status AgentHost::commitEntries(Running& run, Now now) {
  constexpr std::size_t kEntriesOfACommit = 64;
  std::uint64_t number = 0;
  const auto entries = run.episode.takeEntries(number);
  const episode::TranscriptName name = run.episode.name();
  std::vector<Write> writes;
  std::size_t bytes = 0;
  const auto commit = [&]() -> Status {
    if (writes.empty()) return okStatus();
    WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, writes));
    writes.clear();
    bytes = 0;
    return okStatus();
  };
  WITAN_TRY(records, space());
  for (const episode::Entry& entry : entries) {
    // This device's own entry, from a life whose disk was lost, has come back from a peer: the run is that one's.
    if (records->table().find(Kind::message, episode::entryId(name.run, name.device, number)) != nullptr) {
      run.overtaken = true;
      break;
    }
    WITAN_TRY(message, episode::messageOf(name, number++, entry, now.wallMs()));
    WITAN_TRY(write, recordWrite(message.id, message));
    if (writes.size() == kEntriesOfACommit || bytes + write.body.size() > kMaxCommitBytes / 2) WITAN_DO(commit());
    bytes += write.body.size();
    writes.push_back(std::move(write));
  }
  WITAN_DO(commit());
  if (entries.empty()) return okStatus();
  run.written = number;
  run.mark = agentsDatabase().mark();
  again_ = true;
  return okStatus();
}

// The first plan that was made durable stands, whoever made it.
Status AgentHost::bindPlan(Running& run) {
  WITAN_TRY(records, space());
  WITAN_TRY(view, planViewIn(*records, run.episode.run()));
  if (!view.winner) return okStatus();
  if (view.winner->dot.host != replica_.writer()) ++counters_.foreignPlans;
  again_ = true;
  Status bound = run.episode.planned(view.winner->body);
  return bound.ok() ? bound : run.episode.abort("the run's plan cannot be taken: " + bound.error().message);
}

Status AgentHost::commitPlan(Running& run) {
  WITAN_TRY(records, space());
  const std::string key = run.episode.run().hex();
  if (records->table().find(Kind::plan, key) != nullptr && !mutated("planAgain")) return bindPlan(run);
  const auto write = recordWrite(key, *run.episode.wantsPlan());
  if (!write.ok()) return run.episode.abort("the plan cannot be kept: " + write.error().message);
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, {&*write, 1}));
  run.planMark = agentsDatabase().mark();
  ++counters_.plans;
  again_ = true;
  return okStatus();
}

// --- effects

Status AgentHost::carryOut(Running& run, Now now, HostEffects& out) {
  for (Effect& effect : run.episode.takeEffects()) {
    if (effect.operation())
      run.actions.push_back(std::move(effect));
    else
      WITAN_DO(look(run, effect, out));
  }
  while (!run.acting && !run.actions.empty() && !wakes_.isDestroyed(run.job.agentId)) {
    const Effect effect = std::move(run.actions.front());
    run.actions.pop_front();
    if (run.episode.waitsFor(*effect.operation())) WITAN_DO(act(run, effect, now));
  }
  return okStatus();
}

Status AgentHost::look(Running& run, const Effect& effect, HostEffects& out) {
  ++counters_.looks;
  const std::string& tool = effect.tool().name;
  if (tool != "journal.read" && tool != "journal.list") {
    out.calls.push_back({effect.run(), effect.agentId(), effect.span(), std::nullopt, tool, effect.arguments()});
    return okStatus();
  }
  auto seen =
      tool == "journal.read" ? readEntry(replica_, effect.arguments()) : listEntries(replica_, effect.arguments());
  episode::Observation observation;
  observation.ok = seen.ok();
  if (seen.ok())
    observation.content = *std::move(seen);
  else
    observation.error = seen.error().message;
  again_ = true;
  return run.episode.observed(effect.span(), std::move(observation));
}

Status AgentHost::act(Running& run, const Effect& effect, Now now) {
  ++counters_.actions;
  saga::Intent intent;
  intent.operation = effect.operation()->value;
  intent.run = effect.run().value;
  intent.agentId = effect.agentId();
  intent.tool = effect.tool().name;
  intent.kind = effectKindOf(intent.tool);
  intent.scope = options_.wake.scope;
  intent.arguments = canonicalJson(effect.arguments());
  intent.targets = effect.targets();
  intent.hops = run.job.hops;
  const auto refuse = [&](const Error& why) {
    again_ = true;
    return run.episode.outcome(*effect.operation(), OperationOutcome::failed, json::object{{"error", why.message}});
  };
  if (intent.kind == saga::EffectKind::journal) {
    auto edit = journalEditOf(intent.tool, effect.arguments());
    if (!edit.ok()) return refuse(edit.error());
    intent.scope = edit->scope;
  }
  run.acting = *effect.operation();
  Status begun = sagas_.begin(std::array{intent}, now);
  if (begun.ok()) return begun;
  run.acting.reset();
  return refuse(begun.error());
}

// --- the end

void AgentHost::noteFailure(const std::string& agentId, const std::string& cause, Now now) {
  const std::string brief(clip(cause, kMaxCauseBytes));  // the transcript has all of it
  ++counters_.failed;
  lastFailure_ = Failure{agentId, brief, now.wallMs()};
  out_.notices.push_back({"failed", agentId + ": " + brief});
}

Status AgentHost::endRun(Running& run, Now now) {
  const Ending ending = *run.episode.ended();
  if (ending.status == WakeStatus::completed)
    ++counters_.completed;
  else
    noteFailure(run.job.agentId, ending.cause, now);
  const RunKey key = run.job.key();
  if (isFold(run.job)) {
    const WakeJob job = run.job;
    running_.erase(key);
    again_ = true;
    return endFold(job, ending, now);
  }
  std::optional<std::string> head;
  WITAN_TRY(also, lastWords(run, now, head));
  if (run.job.reason == WakeReason::user && !ending.finish.answer.empty())
    out_.notices.push_back({"answer", run.job.agentId + ": " + ending.finish.answer});
  const AgentSpec& spec = run.agent->spec();
  WITAN_TRY(known, knownAfter(run, now));
  if (const std::size_t left = run.episode.leftOut(); std::exchange(leftOut_[spec.id], left) != left && left > 0)
    out_.notices.push_back({"needsAttention", concat(spec.id, ": ", left,
                                                     " of its facts and messages find no room in what its mind is "
                                                     "asked; it keeps them. Make it anew with: witan agent reset ",
                                                     spec.id)});
  running_.erase(key);
  again_ = true;
  std::string unkept;
  const auto change = [&](AgentState& state, std::string_view writer) {
    remember(state, ending, writer, head);
    const Status kept = known ? keepKnowledge(state, *known, spec.learns, writer) : okStatus();
    if (!kept.ok()) unkept = kept.error().message;
  };
  WITAN_DO(wakes_.ended(key, ending.status, ending.cause, now, change, std::move(also)));
  if (!unkept.empty())
    out_.notices.push_back({"needsAttention", concat(spec.id, ": what its run has spent could not be kept: ", unkept)});
  return spec.remembers ? planFold(spec, now) : okStatus();
}

}  // namespace witan::agents
