#include "agents/host/record_audit.h"

#include <algorithm>
#include <map>

#include "agents/host/builtin_tools.h"
#include "agents/host/denials.h"
#include "base/mutant.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"
#include "saga/operation_marks.h"

namespace witan::agents {

using namespace replication;

namespace {

// After the horizon (agents/host/run_retention.h).
bool isTakenAway(const std::vector<Version>& versions) { return std::ranges::any_of(versions, &Version::tombstone); }

// Devices that were cut off from one another may each carry out one operation; none may do it twice.
void auditRepeats(const std::string& key, const OperationView& view, DatabaseName database, RecordAudit& audit) {
  std::map<std::string, std::size_t> times{{view.record->dot.host, 1}};
  for (const Dot& repeat : view.repeats) ++times[mutated("countRepeats") ? view.record->dot.host : repeat.host];
  for (const auto& [writer, count] : times)
    if (count > 1)
      audit.problem(
          concat("operation ", key, " was carried out ", count, " times in ", toString(database), " by ", writer));
}

// The devices whose records say that it was carried out.
std::set<std::string> devicesThatDid(Space& records, const OperationBody& done, std::span<const Version> operation) {
  std::set<std::string> devices;
  for (std::string& device : saga::devicesAgain(records, done.runKey, {done.operationId}))
    devices.insert(std::move(device));
  for (const Version& version : operation) {
    if (version.tombstone) continue;
    const auto body = decodeRecord<OperationBody>(version.body);
    if (body.ok() && body->outcome == OperationOutcome::applied) devices.emplace(deviceOf(version.dot.host));
  }
  return devices;
}

// A person's, in any version that stands: of the question, or of all that the agent does.
std::optional<ApprovalBody> denialIn(std::span<const Version> approval) {
  for (const Version* version : maximalVersions(approval)) {
    if (version->tombstone) continue;
    auto body = decodeRecord<ApprovalBody>(version->body);
    if (body.ok() && body->verdict == ApprovalVerdict::denied &&
        (body->by != kNobodyAnswered || body->reason == kAgentDestroyed))
      return *std::move(body);
  }
  return std::nullopt;
}

using Records = std::map<std::string, OperationBody>;

Result<Records> recordsIn(LocalReplica& replica, std::string_view scope, DatabaseName database, RecordAudit& audit) {
  Records records;
  Space* at = replica.database(database).find(scope);
  if (at == nullptr) return records;
  for (const std::string& key : at->keys(Kind::operation)) {
    WITAN_TRY(id, OperationId::parse(key));
    WITAN_TRY(versions, at->versions(Kind::operation, key));
    if (isTakenAway(versions)) continue;
    const OperationView view = operationViewOf(id, versions);
    if (!view.record) {
      audit.problem("operation " + key + ": its record in " + toString(database) + " cannot be read");
      continue;
    }
    auditRepeats(key, view, database, audit);
    if (database == DatabaseName::agents && effectKindOf(view.record->body.toolName) == saga::EffectKind::tool)
      audit.doubled += devicesThatDid(*at, view.record->body, versions).size() > 1 ? 1 : 0;
    if (database == DatabaseName::agents && view.record->body.outcome == OperationOutcome::applied) {
      WITAN_TRY(approval, at->versions(Kind::approval, key));
      audit.unwanted += denialIn(approval) ? 1 : 0;
    }
    records.emplace(key, view.record->body);
  }
  return records;
}

// What plans that did not survive have done outside stays: it cannot be taken back.
Status auditPlans(Space& at, RecordAudit& audit) {
  for (const std::string& key : at.keys(Kind::plan)) {
    WITAN_TRY(run, RunKey::parse(key));
    WITAN_TRY(view, planViewIn(at, run));
    if (view.losers.empty()) continue;
    for (const OperationId& operation : operationsToUndo(view)) {
      WITAN_TRY(versions, at.versions(Kind::operation, operation.hex()));
      WITAN_TRY(undone, at.versions(Kind::operation, compensationOperationId(operation).hex()));
      WITAN_TRY(approval, at.versions(Kind::approval, operation.hex()));
      const OperationView done = operationViewOf(operation, versions);
      if (!done.record || done.record->body.outcome != OperationOutcome::applied || !undone.empty()) continue;
      if (effectKindOf(done.record->body.toolName) == saga::EffectKind::journal || denialIn(approval)) continue;
      ++audit.unwanted;
    }
  }
  return okStatus();
}

Status auditRuns(Space& at, RecordAudit& audit) {
  for (const std::string& key : at.keys(Kind::wakeRun)) {
    WITAN_TRY(id, RunKey::parse(key));
    WITAN_TRY(versions, at.versions(Kind::wakeRun, key));
    if (isTakenAway(versions)) continue;
    const WakeRunView view = wakeRunViewOf(id, versions);
    ++audit.runs;
    if (view.run && isTerminal(view.run->body.status)) continue;
    const std::string why = view.run && view.run->body.startedAtMs != 0 ? view.run->body.cause : std::string();
    audit.problem(concat("run ", key, why.empty() ? " was started and has no end" : " was started and waits: ", why));
  }
  return okStatus();
}

}  // namespace

Result<RecordAudit> auditRecords(LocalReplica& replica, std::string_view scope) {
  RecordAudit audit;
  WITAN_TRY(journal, recordsIn(replica, scope, DatabaseName::journal, audit));
  WITAN_TRY(agents, recordsIn(replica, scope, DatabaseName::agents, audit));
  audit.journalEffects = journal.size();
  audit.operations = agents.size();
  for (const auto& [key, record] : journal)
    if (!agents.contains(key)) audit.problem("operation " + key + " has its effect in the journal and no outcome");
  for (const auto& [key, record] : agents)
    if (record.toolName.starts_with("journal.") && record.outcome == OperationOutcome::applied &&
        !journal.contains(key))
      audit.problem("operation " + key + " has an outcome and no effect in the journal");
  if (Space* at = replica.database(DatabaseName::agents).find(scope)) {
    WITAN_DO(auditRuns(*at, audit));
    WITAN_DO(auditPlans(*at, audit));
  }
  return audit;
}

Status EffectWatch::look(LocalReplica& replica, Space& records, const std::set<std::string, std::less<>>& once) {
  std::set<std::string> changed;
  operations_.look(records, [&](const Record& record) {
    if (record.versions.size() > 1 || records.table().find(Kind::approval, record.key()) != nullptr)
      changed.emplace(record.key());
  });
  approvals_.look(records, [&](const Record& record) {
    if (records.table().find(Kind::operation, record.key()) != nullptr) changed.emplace(record.key());
  });
  again_.look(records, [&](const Record& record) {
    if (const auto operation = saga::againOf(record.key()); operation.ok()) changed.insert(operation->hex());
  });
  for (const std::string& key : changed) {
    const auto operation = OperationId::parse(key);
    if (!operation.ok()) continue;
    WITAN_TRY(versions, records.versions(Kind::operation, key));
    WITAN_TRY(approval, records.versions(Kind::approval, key));
    const OperationView view = operationViewOf(*operation, versions);
    if (!view.record) continue;
    const OperationBody& done = view.record->body;
    const std::set<std::string> devices = devicesThatDid(records, done, versions);
    if (devices.empty()) continue;
    std::string by;
    for (const std::string& device : devices) by += concat(by.empty() ? "" : ", ", device);
    const std::string what =
        concat("operation ", key, " (", done.agentId, ": ", done.toolName, ") was carried out by ");
    if (devices.size() > 1 && once.contains(done.toolName))
      replica.note({"cannotUndo", "", concat(what, devices.size(), " devices that were cut off: ", by)});
    if (const auto denial = denialIn(approval))
      replica.note({"cannotUndo", "",
                    concat(what, by, ", and denied elsewhere by ", denial->by,
                           denial->by == kNobodyAnswered ? concat(": ", denial->reason) : "")});
  }
  return okStatus();
}

}  // namespace witan::agents
