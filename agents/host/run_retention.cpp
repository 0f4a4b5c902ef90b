#include "agents/host/run_retention.h"

#include <algorithm>

#include "agents/episode/transcript.h"
#include "agents/json_members.h"
#include "agents/memory/retention.h"
#include "agents/wake/wake_job.h"
#include "base/mutant.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"
#include "saga/operation_marks.h"
#include "saga/saga_rows.h"

namespace witan::agents {

using namespace replication;

namespace {

constexpr std::size_t kMostOfARun = 20'000;  // records that go in one step
constexpr std::string_view kMarks = "retention/", kBoundary = "retention-boundary/";

}  // namespace

// The tombstones of one run, in both databases.
struct RunRetention::Removal {
  Space& space;
  const VectorClock& stable;
  std::vector<Write> writes;
  bool all = true;  // everything that there was can go

  // Whether it was there and goes.
  bool add(Kind kind, const std::string& key) {
    const Record* record = space.table().find(kind, key);
    if (record == nullptr || writes.size() >= kMostOfARun) return false;
    bool live = false;
    for (const Held* held : record->versions) {
      live = live || !held->tombstone;
      if (!stable.covers({space.writers().name(held->writer), held->seq})) return all = false;
    }
    if (live) writes.push_back({kind, key, {}, true});
    return live;
  }
};

std::optional<std::int64_t> RunRetention::nextMs(Now now) const {
  if (options_.horizonMs <= 0) return std::nullopt;
  return waiting_.empty() ? nextPassMs_ : now.ms;
}

Status RunRetention::step(bool first, Now now) {
  if (options_.horizonMs <= 0) return okStatus();
  if (waiting_.empty()) {
    if (now.ms < nextPassMs_) return okStatus();
    nextPassMs_ = now.ms + options_.everyMs;
    WITAN_DO(forgetBatches(now.wallMs()));
    if (first) WITAN_DO(beginPass(now.wallMs()));
  }
  for (std::size_t n = 0; n < options_.runsAtOnce && !waiting_.empty(); ++n) {
    const auto run = RunKey::parse(waiting_.back());
    waiting_.pop_back();
    if (run.ok()) WITAN_DO(pruneRun(*run));
  }
  return okStatus();
}

Status RunRetention::beginPass(std::int64_t wallMs) {
  const std::string agents = LocalReplica::spaceId(DatabaseName::agents, options_.scope);
  const std::string journal = LocalReplica::spaceId(DatabaseName::journal, options_.scope);
  Space* records = replica_.findSpace(agents);
  if (records == nullptr) return okStatus();
  WITAN_TRY(stable, stableRecords(replica_, agents));
  WITAN_TRY(stableJournal, stableRecords(replica_, journal));
  held_ = stable.held;
  if (!held_.empty()) return okStatus();
  agents_ = std::move(stable.clock);
  journal_ = std::move(stableJournal.clock);
  busy_.clear();
  Database& rows = replica_.database(DatabaseName::agents);
  WITAN_DO(rows.scanMeta("wake/", [&](std::string_view name, std::string_view) {
    if (const auto run = RunKey::parse(name.substr(name.find('/') + 1)); run.ok()) busy_.insert(*run);
    return true;
  }));
  const saga::SagaRows sagas(rows, 0);
  const auto note = [&](saga::SagaRow&& row) { busy_.insert(RunKey{row.intent.run}); };
  WITAN_DO(sagas.visitOpen(note));
  WITAN_DO(sagas.visitHeld(note));
  waiting_ = records->keys(Kind::wakeRun);
  std::ranges::reverse(waiting_);
  WITAN_SET(before_, boundary(wallMs));
  return okStatus();
}

// The clock alone does not say how far a pass may go: it may have jumped. The first pass begins at the oldest run.
Result<std::int64_t> RunRetention::boundary(std::int64_t wallMs) {
  const std::int64_t asked = wallMs - (mutated("forgetEarly") ? options_.horizonMs / 2 : options_.horizonMs);
  if (options_.furtherMs <= 0) return asked;
  Database& rows = replica_.database(DatabaseName::agents);
  const std::string name = concat(kBoundary, options_.scope);
  std::int64_t last = asked;
  bool kept = false;
  WITAN_DO(rows.scanMeta(name, [&](std::string_view row, std::string_view value) {
    if (row == name) last = std::strtoll(std::string(value).c_str(), nullptr, 10), kept = true;
    return true;
  }));
  if (!kept) {
    WITAN_TRY(records, rows.space(options_.scope));
    for (const std::string& key : waiting_) {
      const auto run = RunKey::parse(key);
      if (!run.ok()) continue;
      WITAN_TRY(view, runView(*records, *run));
      if (view.run && isTerminal(view.run->body.status)) last = std::min(last, view.run->body.finishedAtMs);
    }
  }
  const std::int64_t next = std::min(asked, last + options_.furtherMs);
  if (next != last || !kept) rows.putMeta(name, std::to_string(next));
  return next;
}

// Its batch, while a device still has that: one that was cut off hears late that all have it.
bool RunRetention::mayComeAgain(const WakeRunBody& run) const {
  const bool batch = run.reason == WakeReason::subscription && !mutated("recordBeforeBatch");
  return comesAgain_(run) || (batch && run.finishedAtMs >= before_ - options_.horizonMs);
}

Status RunRetention::pruneRun(const RunKey& run) {
  WITAN_TRY(records, replica_.database(DatabaseName::agents).space(options_.scope));
  WITAN_TRY(journal, replica_.database(DatabaseName::journal).space(options_.scope));
  WITAN_TRY(view, runView(*records, run));
  if (!view.run || !isTerminal(view.run->body.status) || view.run->body.finishedAtMs >= before_ ||
      busy_.contains(run) || mutated("keepRuns"))
    return okStatus();
  Removal own{*records, agents_, {}}, effects{*journal, journal_, {}};
  WITAN_TRY(plans, planViewIn(*records, run));
  std::vector<OperationId> operations;
  if (plans.winner) operations = plans.winner->operations;
  for (const Plan& plan : plans.losers)
    operations.insert(operations.end(), plan.operations.begin(), plan.operations.end());
  std::set<OperationId> seen;                            // several plans may share some
  for (std::size_t i = 0; i < operations.size(); ++i) {  // it grows by what undid them
    if (!seen.insert(operations[i]).second) continue;
    const std::string hex = operations[i].hex();
    const bool here = own.add(Kind::operation, hex);
    const bool there = effects.add(Kind::operation, hex);
    if (own.add(Kind::approval, hex)) ++pruned_.approvals;
    if (!here && !there) continue;
    ++pruned_.operations;
    operations.push_back(compensationOperationId(operations[i]));
    operations.push_back(saga::nextCompensation(operations[i]));
  }
  // One that begins a run anew replaces what others said of it, but not their transcripts.
  std::set<std::string_view> devices;
  for (WriterIndex writer = 0; writer < records->writers().size(); ++writer)
    if (const std::string_view device = deviceOf(records->writers().name(writer));
        device == deviceOf(view.run->dot.host) || !mutated("keepReplaced"))
      devices.emplace(device);
  for (const std::string_view device : devices) {
    std::size_t count = 0;
    while (records->table().find(Kind::message, episode::entryId(run, device, count)) != nullptr) ++count;
    for (; count > 0; --count)
      if (own.add(Kind::message, episode::entryId(run, device, count - 1))) ++pruned_.entries;
  }
  // What names the rest goes when the rest does, the run's own record last: or what is left would be nobody's.
  const auto whole = [&] { return own.all && effects.all && own.writes.size() < kMostOfARun; };
  if (whole() && own.add(Kind::plan, run.hex())) ++pruned_.plans;
  if (whole() && !mayComeAgain(view.run->body) && own.add(Kind::wakeRun, run.hex())) ++pruned_.runs;
  const auto commit = [&](DatabaseName database, std::vector<Write>& writes) -> Status {
    for (std::size_t from = 0; from < writes.size(); from += 1'000) {
      const std::size_t n = std::min<std::size_t>(1'000, writes.size() - from);
      WITAN_DO(replica_.commit(database, options_.scope, std::span(writes).subspan(from, n)));
    }
    return okStatus();
  };
  WITAN_DO(commit(DatabaseName::journal, effects.writes));
  return commit(DatabaseName::agents, own.writes);
}

// A batch has no time: a mark says which ones were stable then. When it is old, these go. Marks of a clock that was
// ahead give way to one of now: they would hold new ones up until then.
Status RunRetention::forgetBatches(std::int64_t wallMs) {
  Database& rows = replica_.database(DatabaseName::agents);
  for (const std::string& id : replica_.spaceIds()) {
    const std::string prefix = concat(kMarks, id, "/");
    std::optional<std::string> old;
    std::vector<std::string> over;
    std::int64_t newest = 0;
    WITAN_DO(rows.scanMeta(prefix, [&](std::string_view row, std::string_view value) {
      const std::int64_t at = std::strtoll(std::string(row.substr(prefix.size())).c_str(), nullptr, 10);
      const bool ahead = at > wallMs && !mutated("waitForMarks");
      if (at > wallMs - options_.horizonMs && !ahead) return newest = at, true;
      over.emplace_back(row);
      if (!ahead) old = value;
      return true;
    }));
    for (const std::string& row : over) rows.eraseMeta(row);
    if (wallMs - newest >= options_.horizonMs / 16) {
      WITAN_TRY(stable, stableRecords(replica_, id));
      json::object counters;
      for (const auto& [host, counter] : stable.clock.entries()) counters[host] = counter;
      std::string digits = std::to_string(wallMs);
      digits.insert(0, 16 - std::min<std::size_t>(16, digits.size()), '0');
      if (stable.held.empty()) rows.putMeta(prefix + digits, canonicalJson(counters));
    }
    if (!old) continue;
    Space& space = *replica_.findSpace(id);
    WITAN_TRY(counters, parseJson(*old));
    VersionVector mark;
    for (WriterIndex writer = 0; writer < space.writers().size(); ++writer)
      mark.raise(writer, static_cast<Seq>(integerOf(counters, space.writers().name(writer)).value_or(0)));
    std::vector<std::string> gone;
    for (WriterIndex writer = 0; writer < space.writers().size(); ++writer)
      for (auto at = space.table().origin(writer).begin();
           at != space.table().origin(writer).end() && mark.covers(writer, at->seq); ++at)
        if (at->record->kind == Kind::batch) gone.emplace_back(at->record->key());
    for (const std::string& key : gone) pruned_.batches += space.forget(Kind::batch, key, mark) ? 1 : 0;
  }
  return okStatus();
}

}  // namespace witan::agents
