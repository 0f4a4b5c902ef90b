// AgentHost: its answers to sagas, and plans that were made twice (docs/FINDINGS.md, F3).
#include "agents/host/agent_host.h"
#include "agents/host/builtin_tools.h"
#include "agents/tools/journal_tools.h"
#include "agents/wake/agent_conflict.h"
#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "base/mutant.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "saga/operation_marks.h"

namespace witan::agents {

using namespace replication;
using saga::EffectKind;
using saga::Outcome;
using saga::SagaRow;

namespace {

constexpr std::int64_t kWatchMs = 10'000;
constexpr std::int64_t kHearingMs = 2'000;
constexpr std::size_t kMaxUndoneWatched = 256;

Result<JournalBody> bodyOf(const JournalView& view, const replication::JournalEdit& edit, bool settles) {
  if (!settles) return replication::journalEdit(view, edit);
  std::vector<Dot> shown;
  for (const Sibling& one : view.siblings) shown.push_back(one.dot);
  return journalResolution(view, edit, std::move(shown));
}

}  // namespace

// --- the environment of sagas

Result<saga::JournalEffect> AgentHost::journalEffect(const SagaRow& row) {
  WITAN_TRY(arguments, parseJson(row.intent.arguments));
  if (!arguments.is_object()) return invalid("the arguments are no object");
  WITAN_TRY(edit, journalEditOf(row.intent.tool, arguments.get_object()));
  WITAN_TRY(journal, replica_.database(DatabaseName::journal).space(edit.scope));
  WITAN_TRY(view, journalViewIn(*journal, edit.id));
  WITAN_TRY(settler, settlerOf(replica_, options_.wake.scope, *journal, view));
  if (!view.inConflict()) settler.reset();
  if (!edit.settles.empty()) {
    if (!settler || edit.settles != versionNames(view))
      return saga::JournalEffect{edit.scope, {}, canonicalJson(json::object{{"id", edit.id}, {"settled", false}}), {}};
    const JournalBody& shown = *view.siblings[*view.shown].body;
    edit.type = shown.type, edit.payload = shown.payload;
  }
  JournalChange change{edit.id, std::nullopt, view.shown ? view.siblings[*view.shown].body->type : "",
                       ChangeOrigin::local};
  if (!edit.remove) {
    WITAN_SET(change.body, bodyOf(view, {edit.type, edit.payload, row.intent.agentId, row.createdAtMs, row.id()},
                                  settler.has_value()));
  }
  return saga::JournalEffect{edit.scope,
                             {std::move(change)},
                             canonicalJson(json::object{{"id", edit.id}}),
                             provenanceTokens({row.intent.agentId, row.intent.hops}),
                             settler.has_value()};
}

Status AgentHost::call(const SagaRow& row, Now) {
  if (row.intent.kind == EffectKind::proposal) {
    WITAN_TRY(proposal, proposalOf(row));
    WITAN_SET(proposal.plan, planWith(row));
    ++counters_.proposals;
    out_.proposals.push_back(std::move(proposal));
    return okStatus();
  }
  WITAN_TRY(arguments, parseJson(row.intent.arguments));
  if (!arguments.is_object()) return invalid("the arguments are no object");
  ++counters_.calls;
  out_.calls.push_back({RunKey{row.intent.run}, row.intent.agentId, row.id().hex(), row.id(), row.intent.tool,
                        std::move(arguments.get_object())});
  return okStatus();
}

// A plan of another device may have been carried out there, as far as nobody here knows.
bool AgentHost::plannedHere(const SagaRow& row) const {
  Space* records = replica_.database(DatabaseName::agents).find(options_.wake.scope);
  const auto view = records == nullptr ? Result<PlanView>(PlanView{}) : planViewIn(*records, RunKey{row.intent.run});
  return view.ok() && view->winner && view->winner->dot.host == replica_.writer();
}

std::string AgentHost::uncertain(const SagaRow& row, bool before) const {
  if (row.intent.kind != EffectKind::tool || !options_.onceTools.contains(row.intent.tool)) return {};
  const std::string unknown = "uncertain: " + row.intent.tool + " may have been called";
  if (mutated("callAgain")) return {};
  if (before) return unknown + " before this node stopped, and would act again";
  return plannedHere(row) ? std::string() : unknown + " by the device that planned it, and would act again";
}

// The plan of the run that has the operation: of several the one that stands, if it has it.
Result<PlanDigest> AgentHost::planWith(const SagaRow& row) {
  const RunKey run{row.intent.run};
  WITAN_TRY(records, space());
  WITAN_TRY(view, planViewIn(*records, run));
  const auto has = [&](const Plan& plan) {
    return std::ranges::find(plan.operations, row.id()) != plan.operations.end();
  };
  if (view.winner && has(*view.winner)) return view.winner->digest;
  for (const Plan& plan : view.losers)
    if (has(plan)) return plan.digest;
  return notFound("no plan of the run " + run.hex() + " has the operation");
}

// The transcript gets the outcome from the episode, if one is under way.
Result<std::vector<Write>> AgentHost::record(const SagaRow&, const Outcome&) { return std::vector<Write>{}; }

Status AgentHost::graphEffect(saga::Intent intent, Now now) {
  WITAN_TRY(marks, saga::marksOf(replica_, options_.wake.scope, intent.id()));
  intent.kind = effectKindOf(intent.tool);
  intent.scope = options_.wake.scope;
  if (intent.kind == EffectKind::journal) {
    WITAN_TRY(arguments, parseJson(intent.arguments));
    if (!arguments.is_object()) return invalid("the arguments are no object");
    WITAN_TRY(edit, journalEditOf(intent.tool, arguments.get_object()));
    intent.scope = edit.scope;
  }
  if (!graphEffects_.emplace(intent.id(), marks.any()).second) return okStatus();
  again_ = true;
  return sagas_.begin(std::array{std::move(intent)}, now);
}

// What graphs wait for is looked at again when something has arrived. One that has been taken back waits for nobody.
Status AgentHost::takeActivations(Now now) {
  WITAN_TRY(records, space());
  bool news = std::exchange(activationsLeft_, false);
  if (activations_.look(*records, [&](const Record&) { news = true; })) news = true;
  if (!news) return okStatus();
  std::set<RunKey> wanted;
  for (const std::string& name : records->keys(Kind::activation)) {
    WITAN_TRY(versions, records->versions(Kind::activation, name));
    for (const Version& version : versions) {
      if (version.tombstone) continue;
      const auto body = decodeRecord<ActivationBody>(version.body);
      const auto job = body.ok() ? graphJob(*body) : Result<WakeJob>(body.error());
      if (!job.ok() || job->key().hex() != name) continue;  // a later build's, or a hostile one's
      wanted.insert(job->key());
      if (!agents_.contains(body->agentId)) continue;
      WITAN_TRY(taken, wakes_.activation(*body, now));
      if (!taken) activationsLeft_ = true;
    }
  }
  std::vector<RunKey> gone;
  for (const auto& [key, entry] : wakes_.queue().all())
    if (entry.job.reason == WakeReason::graph && !wanted.contains(key)) gone.push_back(key);
  for (const RunKey& key : gone) {
    const std::string why = "its graph does not wait for it any more";
    if (const auto at = running_.find(key); at != running_.end())
      WITAN_DO(at->second.episode.abort(why));
    else
      WITAN_DO(wakes_.ended(key, WakeStatus::failedTerminal, why, now));
  }
  return okStatus();
}

void AgentHost::toldGraph(const SagaRow& row, OperationOutcome outcome, std::string result) {
  const auto at = graphEffects_.find(row.id());
  if (at == graphEffects_.end()) return;
  effectOutcomes_.push_back({row.id(), {outcome, std::move(result)}, at->second});
  graphEffects_.erase(at);
}

void AgentHost::finished(const SagaRow& row) {
  toldGraph(row, row.outcome, row.result);
  if (row.intent.compensates) ++counters_.compensated;
  noteUndone(row);
  waiting_.erase(row.id());
  auto result = parseJson(row.result, {.bytes = kMaxRecordBytes});
  tellRun(RunKey{row.intent.run}, row.id(), row.outcome, result.ok() ? *result : json::value(nullptr));
}

void AgentHost::parked(const SagaRow& row) {
  toldGraph(row, OperationOutcome::failed, row.lastError);
  waiting_.erase(row.id());
  parked_.push_back(row.id());
  if (!mutated("parkSilently"))
    out_.notices.push_back(
        {"needsAttention", row.intent.agentId + ": " + row.intent.tool + " " + row.id().hex() + ": " + row.lastError});
  // The run does not wait for a person's repair; what becomes of the operation is in its own record.
  tellRun(RunKey{row.intent.run}, row.id(), OperationOutcome::failed, json::object{{"error", row.lastError}});
}

void AgentHost::waits(const OperationId& operation, std::string_view why) {
  const SagaRow* row = sagas_.find(operation);
  if (row == nullptr || !waiting_.insert(operation).second) return;
  sagas_.waits(operation, why);
  tellRun(RunKey{row->intent.run}, operation, OperationOutcome::failed,
          json::object{{"error", why}, {"waiting", true}});
}

void AgentHost::tellRun(const RunKey& run, const OperationId& operation, OperationOutcome outcome,
                        const json::value& result) {
  again_ = true;
  const auto took = tookMs_.extract(operation);
  const auto at = running_.find(run);
  if (at == running_.end()) return;
  if (at->second.acting == operation) at->second.acting.reset();
  (void)at->second.episode.outcome(operation, mutated("tellSuccess") ? OperationOutcome::applied : outcome, result,
                                   took.empty() ? 0 : (took.mapped() + 999) / 1'000);  // told before: nothing
}

// --- runs with several plans

Status AgentHost::noticeContested(Now now) {
  WITAN_TRY(records, space());
  WITAN_DO(lostEffects_.look(replica_, *records, options_.onceTools));
  WITAN_DO(settleParked(now));
  for (const std::string& key : records->takeContested()) {
    auto run = RunKey::parse(key);
    if (!run.ok()) continue;
    WITAN_TRY(view, planViewIn(*records, *run));
    if (!view.winner || view.losers.empty()) continue;
    ++counters_.contested;
    if (const auto at = running_.find(*run); at != running_.end() && !mutated("ignoreWinner")) {
      (void)at->second.episode.planned(view.winner->body);  // one that has told its agent goes on to its end
      again_ = true;
    }
    // Every device that may carry out the agent's work may undo it; the first does, the others find that it was done.
    const std::string& agentId = view.winner->body.agentId;
    const std::vector<std::string> named = hostsAmong(*records, agentId, members_);
    // No device was started with it of late: then whoever can.
    const std::vector<std::string> hosts = rankedHosts(agentId, named.empty() ? members_ : named);
    std::int64_t rank = 0;
    for (const std::string& host : hosts) {
      if (host == replica_.device()) break;
      if (live_.contains(host)) ++rank;
    }
    if (std::ranges::find(hosts, replica_.device()) != hosts.end())
      contested_[*run] = now.ms + rank * options_.compensateGraceMs;
  }
  return okStatus();
}

// What other devices ended of what waits here for a person.
Status AgentHost::settleParked(Now now) {
  WITAN_TRY(records, space());
  std::vector<OperationId> news = std::exchange(parked_, {});
  outcomes_.look(*records, [&](const Record& record) {
    if (const auto operation = OperationId::parse(record.key()); operation.ok()) news.push_back(*operation);
  });
  for (const OperationId& operation : news) WITAN_DO(sagas_.settleHeld(operation, now));
  return okStatus();
}

// So long a person's answer elsewhere may be under way.
std::int64_t AgentHost::hearingMs() const {
  const bool alone = std::ranges::all_of(live_, [&](const auto& device) { return device == replica_.device(); });
  return alone ? 0 : kHearingMs;
}

Status AgentHost::reconcileDue(Now now) {
  if (watchIsDue() && now.ms >= nextWatchMs_) WITAN_DO(watch(now));
  for (auto at = contested_.begin(); at != contested_.end();) {
    if (at->second > now.ms) {
      ++at;
      continue;
    }
    WITAN_TRY(records, space());
    WITAN_TRY(view, planViewIn(*records, at->first));
    WITAN_DO(sagas_.reconcile(options_.wake.scope, view, now));
    watched_.insert(at->first);  // the record of what the loser did may come after its plan
    at = contested_.erase(at);
  }
  return okStatus();
}

// --- entries that only agents wrote, side by side (agents/wake/agent_conflict.h)

Status AgentHost::noticeConflicts(Now now) {
  for (const auto& [scope, journal] : replica_.database(DatabaseName::journal).spaces()) {
    std::set<std::string> several;
    edits_.try_emplace(scope, Kind::journal).first->second.look(*journal, [&](const Record& record) {
      if (record.versions.size() > 1) several.emplace(record.key());
    });
    for (const std::string& id : several) {
      WITAN_TRY(view, journalViewIn(*journal, id));
      const bool byPeople =
          std::ranges::any_of(view.siblings, [](const Sibling& one) { return one.body && !one.body->operationId; });
      if (view.siblings.size() > 1 && !byPeople && !mutated("leaveConflicts"))
        settleAt_.try_emplace({scope, id}, now.ms + options_.settleGraceMs);
    }
  }
  return okStatus();
}

Status AgentHost::settleDue(Now now) {
  for (auto at = settleAt_.begin(); at != settleAt_.end();) {
    const auto& [scope, id] = at->first;
    if (at->second > now.ms) {
      ++at;
      continue;
    }
    WITAN_TRY(journal, replica_.database(DatabaseName::journal).space(scope));
    WITAN_TRY(view, journalViewIn(*journal, id));
    WITAN_TRY(settler, settlerOf(replica_, options_.wake.scope, *journal, view));
    bool due = settler && agents_.contains(*settler);
    if (due && !view.inConflict()) {
      WITAN_SET(due, isOfSeveralRuns(*journal, view));
      due = due && agents_.at(*settler)->spec().settles;
    }
    if (due) {
      WITAN_TRY(job, conflictJob(*settler, scope, id, view));
      WITAN_TRY(taken, wakes_.offer(std::move(job), now));
      if (!taken) {
        at++->second = now.ms + options_.settleGraceMs;
        continue;
      }
    }
    at = settleAt_.erase(at);
  }
  return okStatus();
}

// --- what arrives after it was undone (saga/operation_marks.h)

void AgentHost::noteUndone(const SagaRow& row) {
  if (!row.intent.compensates || row.intent.kind != EffectKind::journal) return;
  const OperationId undone{*row.intent.compensates};
  if (std::ranges::find(undone_, undone) != undone_.end()) return;
  undone_.push_back(undone);
  if (undone_.size() > kMaxUndoneWatched) undone_.pop_front();
}

// Those of all records that say what was carried out.
std::uint64_t AgentHost::recordChanges() const {
  std::uint64_t changes = 0;
  for (const auto& [scope, space] : replica_.database(DatabaseName::journal).spaces()) changes += space->changes();
  const Space* agents = replica_.database(DatabaseName::agents).find(options_.wake.scope);
  return changes + (agents == nullptr ? 0 : agents->changes());
}

bool AgentHost::watchIsDue() const { return (!watched_.empty() || !undone_.empty()) && watchedAt_ != recordChanges(); }

// One device after the other: what the first of them does, the others find done.
Status AgentHost::watch(Now now) {
  watchedAt_ = recordChanges();
  const auto before = std::distance(live_.begin(), live_.lower_bound(replica_.device()));
  nextWatchMs_ = now.ms + kWatchMs + before * options_.compensateGraceMs;
  for (const RunKey& run : watched_) contested_.emplace(run, now.ms);
  for (const OperationId& operation : undone_) WITAN_DO(sagas_.undoAgain(options_.wake.scope, operation, now));
  return okStatus();
}

}  // namespace witan::agents
