// AgentHost: one run, from its job to its end.
#include "agents/host/agent_host.h"
#include "agents/host/builtin_tools.h"
#include "agents/memory/memory_context.h"
#include "agents/tools/journal_tools.h"
#include "base/utf8.h"
#include "replication/records/agent_view.h"
#include "replication/records/approval.h"
#include "replication/records/plan.h"

namespace witan::agents {

using namespace replication;
using episode::Effect;
using episode::Ending;
using episode::Episode;

Status AgentHost::startRun(WakeJob job, Now now) {
  const RunKey key = job.key();
  const auto agent = agents_.find(job.agentId);
  if (agent == agents_.end())
    return wakes_.ended(key, WakeStatus::failedTerminal, "this device has no such agent", now);
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
  WITAN_DO(bindPlan(run));
  running_.emplace(key, std::move(run));
  again_ = true;
  return okStatus();
}

// From its transcript on this device, if there is one.
Result<Episode> AgentHost::episodeFor(const Agent& agent, const WakeJob& job, Now now, bool& resumed) {
  WITAN_TRY(records, space());
  WITAN_TRY(rows, episode::readTranscript(*records, job.key(), replica_.device()));
  if (!rows.empty()) {
    std::vector<std::string> contents;
    for (const episode::TranscriptRow& row : rows) contents.push_back(row.message.content);
    resumed = true;
    return Episode::resume(agent, gate_, contents);
  }
  WITAN_TRY(input, inputFor(agent, job, now));
  WITAN_TRY(beginning, episode::beginningOf(agent.spec(), tools_, job.key(), replica_.device(), std::move(input)));
  return Episode::begin(agent, gate_, std::move(beginning));
}

Result<json::object> AgentHost::inputFor(const Agent& agent, const WakeJob& job, Now now) {
  WITAN_TRY(woken, parseJson(job.input));
  json::object input = woken.is_object() ? std::move(woken.get_object()) : json::object{};
  input["reason"] = std::string(enumName(job.reason));
  input["subject"] = job.subject;
  input["nowMs"] = now.wallMs();
  WITAN_TRY(records, space());
  WITAN_TRY(versions, records->versions(Kind::agentState, agent.spec().id));
  WITAN_TRY(state, viewOf(versions, nullptr));
  json::object slots;
  for (std::size_t i = 0; state && i < kSlots; ++i) {
    const auto name = static_cast<SlotName>(i);
    auto value = parseJson(state->state.slot(name).value, {.bytes = kMaxSlotBytes});
    slots[toString(name)] = value.ok() ? *value : json::value(nullptr);
  }
  input["slots"] = std::move(slots);
  if (agent.spec().remembers) {
    WITAN_TRY(graph, memory_.graphOf(agent.spec().id));
    WITAN_TRY(memory, memoryContext(*records, *graph, agent.spec().id, agent.spec().thread));
    input["memory"] = toJson(memory);
  }
  return input;
}

// Everything that the run has to write now, and its end.
Status AgentHost::push(Running& run, Now now) {
  WITAN_DO(askPeople(run, now));
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
    WITAN_TRY(body, encodeRecord(message));
    if (writes.size() == kEntriesOfACommit || bytes + body.size() > kMaxCommitBytes / 2) WITAN_DO(commit());
    bytes += body.size();
    writes.push_back({Kind::message, message.id, std::move(body), false});
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
  const std::string key = run.episode.run().hex();
  if (records->table().find(Kind::plan, key) == nullptr) return okStatus();
  WITAN_TRY(versions, records->versions(Kind::plan, key));
  const PlanView view = planViewOf(run.episode.run(), versions);
  if (!view.winner) return okStatus();
  if (view.winner->dot.host != replica_.writer()) ++counters_.foreignPlans;
  again_ = true;
  Status bound = run.episode.planned(view.winner->body);
  return bound.ok() ? bound : run.episode.abort("the run's plan cannot be taken: " + bound.error().message);
}

Status AgentHost::commitPlan(Running& run) {
  WITAN_TRY(records, space());
  const std::string key = run.episode.run().hex();
  if (records->table().find(Kind::plan, key) != nullptr) return bindPlan(run);
  auto body = encodeRecord(*run.episode.wantsPlan());
  if (!body.ok()) return run.episode.abort("the plan cannot be kept: " + body.error().message);
  const std::array writes{Write{Kind::plan, key, *std::move(body), false}};
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, writes));
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
  while (!run.acting && !run.actions.empty()) {
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

// --- people

Status AgentHost::askPeople(Running& run, Now now) {
  for (const episode::Question& question : run.episode.questions()) {
    WITAN_TRY(records, space());
    const std::string key = question.operation.hex();
    WITAN_TRY(versions, records->versions(Kind::approval, key));
    const ApprovalView view = approvalViewOf(question.operation, versions);
    const bool asked = view.shown && view.shown->body.digest == question.digest;
    const ApprovalVerdict verdict = verdictFor(view, question.digest);
    if (verdict != ApprovalVerdict::waiting) {
      again_ = true;
      WITAN_DO(run.episode.answered(question.span, question.digest, verdict == ApprovalVerdict::approved,
                                    view.shown->body.by));
      continue;
    }
    ApprovalBody body;
    if (asked && now.wallMs() - view.shown->body.atMs < options_.approvalTtlMs) continue;
    if (asked) {  // nobody answered: it is denied (docs/FINDINGS.md, F17)
      WITAN_TRY(expired, answerTo(view, question.digest, ApprovalVerdict::denied, "system", "nobody answered in time",
                                  now.wallMs()));
      body = std::move(expired);
    } else {
      body.operationId = question.operation.value;
      body.digest = question.digest;
      body.runKey = run.episode.run().value;
      body.agentId = run.job.agentId;
      body.what = canonicalJson(json::object{{"tool", question.tool}, {"arguments", question.arguments}});
      body.atMs = now.wallMs();
      ++counters_.questions;
      out_.notices.push_back({"question", run.job.agentId + " asks to " + question.tool + ": " + body.what});
    }
    WITAN_TRY(bytes, encodeRecord(body));
    const std::array writes{Write{Kind::approval, key, std::move(bytes), false}};
    WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, writes));
    again_ = true;
  }
  return okStatus();
}

// --- the end

namespace {

constexpr std::size_t kMaxCauseBytes = 512;

// What the agent asked to remember, and how the run went.
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

}  // namespace

// What was said to the agent and what it answers, as messages of its thread.
Result<std::vector<Write>> AgentHost::lastWords(const Running& run, Now now, std::optional<std::string>& head) {
  std::vector<Write> writes;
  const AgentSpec& spec = run.agent->spec();
  std::vector<std::string> parents;
  if (spec.remembers) {
    WITAN_TRY(graph, memory_.graphOf(spec.id));
    parents = headsOf(*graph, threadMessages(*graph, spec.thread));
  }
  const auto say = [&](const char* what, MessageKind kind, std::string text) -> Status {
    const MessageBody said{run.episode.run().hex() + "/" + replica_.device() + "/" + what,
                           spec.id,
                           spec.thread,
                           kind,
                           parents,
                           std::move(text),
                           now.wallMs(),
                           std::nullopt};
    WITAN_TRY(body, encodeRecord(said));
    WITAN_TRY(records, space());
    if (records->table().find(Kind::message, said.id) != nullptr) return okStatus();  // said in an earlier life
    writes.push_back({Kind::message, said.id, std::move(body), false});
    parents = {said.id};
    head = said.id;
    return okStatus();
  };
  if (run.job.reason == WakeReason::user) {
    auto input = parseJson(run.job.input);
    const json::value* text = input.ok() && input->is_object() ? input->get_object().if_contains("user") : nullptr;
    if (text != nullptr && text->is_string()) WITAN_DO(say("said", MessageKind::user, std::string(text->get_string())));
  }
  if (const std::string& answer = run.episode.ended()->finish.answer; !answer.empty())
    WITAN_DO(say("answer", MessageKind::thought, answer));
  return writes;
}

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
  std::optional<std::string> head;
  WITAN_TRY(also, lastWords(run, now, head));
  const RunKey key = run.job.key();
  if (run.job.reason == WakeReason::user && !ending.finish.answer.empty())
    out_.notices.push_back({"answer", run.job.agentId + ": " + ending.finish.answer});
  const AgentSpec& spec = run.agent->spec();
  running_.erase(key);
  again_ = true;
  WITAN_DO(wakes_.ended(
      key, ending.status, ending.cause, now,
      [&](AgentState& state, std::string_view writer) { remember(state, ending, writer, head); }, std::move(also)));
  if (!spec.remembers) return okStatus();
  WITAN_DO(memory_.plan(spec.id, spec.thread, summariser_, now));
  WITAN_DO(memory_.run(summariser_, now));
  return okStatus();
}

}  // namespace witan::agents
