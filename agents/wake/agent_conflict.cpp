#include "agents/wake/agent_conflict.h"

#include <algorithm>
#include <set>

#include "agents/agent.h"
#include "base/mutant.h"
#include "replication/records/record_views.h"
#include "saga/operation_marks.h"

namespace witan::agents {

using namespace replication;

namespace {

constexpr std::size_t kMaxVersionBytes = 64 * 1024;  // of all versions in the input of a wake

// The operation that made this commit of the journal; empty: a person did.
std::string operationAt(Space& journal, const Dot& dot) {
  const auto writer = journal.writers().find(dot.host);
  if (!writer) return {};
  RecordTable::Origin& held = journal.table().origin(*writer);
  for (auto at = held.lower_bound(dot.counter, SeqOrder{}); at != held.end() && at->seq == dot.counter; ++at)
    if (at->record->kind == Kind::operation) return std::string(at->record->key());
  return {};
}

// Whether an undoing put it there, in place of what no operation had written: a person's words.
bool isRestored(const OperationView& done) { return done.record && done.record->body.compensates.has_value(); }

Result<bool> hasLost(Space& agents, const OperationView& done) {
  if (!done.record) return false;
  WITAN_TRY(plans, planViewIn(agents, RunKey{done.record->body.runKey}));
  if (!plans.winner || plans.losers.empty()) return false;
  const auto& standing = plans.winner->operations;
  return std::ranges::find(standing, OperationId{done.record->body.operationId}) == standing.end();
}

}  // namespace

Result<std::optional<std::string>> settlerOf(LocalReplica& replica, std::string_view scope, Space& journal,
                                             const JournalView& view) {
  const std::optional<std::string> nobody;
  if (view.siblings.size() < 2 || !view.unreadable.empty() || !view.shown) return nobody;
  WITAN_TRY(agents, replica.database(DatabaseName::agents).space(scope));
  std::optional<std::string> settler;
  for (std::size_t i = 0; i < view.siblings.size(); ++i) {
    const Sibling& one = view.siblings[i];
    if (one.body && !one.body->operationId) return nobody;
    const std::string hex = one.body ? toHex(*one.body->operationId) : operationAt(journal, one.dot);
    if (hex.empty()) return nobody;
    WITAN_TRY(operation, OperationId::parse(hex));
    WITAN_TRY(versions, journal.versions(Kind::operation, hex));
    const OperationView done = operationViewOf(operation, versions);
    if (one.body && isRestored(done)) return nobody;
    WITAN_TRY(lost, hasLost(*agents, done));
    if (lost) return nobody;
    if (i == *view.shown) settler = done.record ? done.record->body.agentId : one.body->author;
  }
  return settler;
}

Result<bool> isOfSeveralRuns(Space& journal, const JournalView& view) {
  std::set<Hash> runs;
  for (const Sibling& one : view.siblings) {
    if (!one.body || !one.body->operationId) continue;
    const OperationId operation{*one.body->operationId};
    WITAN_TRY(versions, journal.versions(Kind::operation, operation.hex()));
    if (const OperationView done = operationViewOf(operation, versions); done.record)
      runs.insert(done.record->body.runKey);
  }
  return runs.size() > 1;
}

std::vector<std::string> versionNames(const JournalView& view) {
  std::vector<std::string> names;
  for (const Sibling& one : view.siblings) names.push_back(concat(one.dot.host, ":", one.dot.counter));
  return names;
}

Result<WakeJob> conflictJob(std::string_view agentId, std::string_view journalScope, std::string_view id,
                            const JournalView& view) {
  json::array names, versions;
  for (const std::string& name : versionNames(view)) names.emplace_back(name);
  std::size_t bytes = 0;
  for (const Sibling& one : view.siblings) {
    bytes += one.body ? one.body->payload.size() : 0;
    if (bytes > kMaxVersionBytes) break;
    if (!one.body) {
      versions.emplace_back(nullptr);
      continue;
    }
    WITAN_TRY(payload, parseJson(one.body->payload, {.bytes = kMaxRecordBytes}));
    versions.push_back(
        json::object{{"author", one.body->author}, {"type", one.body->type}, {"payload", std::move(payload)}});
  }
  const std::string name = mutated("settleOnce") ? canonicalJson(json::array{journalScope, id})
                                                 : canonicalJson(json::array{journalScope, id, names});
  WITAN_TRY(unit, changeUnitKey({ChangeOrigin::local, "conflict", 0, "journalConflict", toHex(sha256(name))}));
  WITAN_TRY(change, logicalChangeKey({&unit, 1}));
  json::object conflict{{"id", id}, {"scope", journalScope}, {"settles", std::move(names)}};
  if (bytes <= kMaxVersionBytes) conflict["versions"] = std::move(versions);
  WakeJob job{.agentId = std::string(agentId),
              .reason = WakeReason::subscription,
              .subject = std::string(kConflictSubject),
              .space = concat("conflict/", journalScope),
              .change = change.value};
  job.input = canonicalJson(json::object{{"changes", json::array{json::object{{"type", kJournalPayload}, {"id", id}}}},
                                         {"conflict", std::move(conflict)},
                                         {"tokens", json::array{}}});
  WITAN_TRY(key, runKeyOf(job));
  job.runKey = key.value;
  return job;
}

}  // namespace witan::agents
