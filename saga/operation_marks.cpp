#include "saga/operation_marks.h"

#include <algorithm>

namespace witan::saga {

using namespace replication;

namespace {

const std::string* scopeWith(Database& database, std::string_view operationHex) {
  for (const auto& [scope, space] : database.spaces())
    if (space->table().find(Kind::operation, operationHex) != nullptr) return &scope;
  return nullptr;
}

Result<OperationView> viewIn(Space* space, const OperationId& operation) {
  if (space == nullptr) return OperationView{};
  WITAN_TRY(versions, space->versions(Kind::operation, operation.hex()));
  if (versions.empty()) return OperationView{};
  return operationViewOf(operation, versions);
}

}  // namespace

bool OperationMarks::applied() const {
  const OperationRecord* one = record();
  return one != nullptr && one->body.outcome == OperationOutcome::applied;
}

const OperationRecord* OperationMarks::record() const {
  if (journal.record) return &*journal.record;
  return agents.record ? &*agents.record : nullptr;
}

std::optional<Outcome> OperationMarks::outcome() const {
  const OperationRecord* one = record();
  if (one == nullptr) return std::nullopt;
  return Outcome{one->body.outcome, one->body.result};
}

Result<OperationMarks> marksOf(LocalReplica& replica, std::string_view scope, const OperationId& operation) {
  OperationMarks marks;
  Database& database = replica.database(DatabaseName::journal);
  if (const std::string* found = scopeWith(database, operation.hex())) {
    marks.journalScope = *found;
    WITAN_SET(marks.journal, viewIn(database.find(*found), operation));
  }
  WITAN_SET(marks.agents, viewIn(replica.database(DatabaseName::agents).find(scope), operation));
  return marks;
}

bool agentsHave(LocalReplica& replica, std::string_view scope, std::string_view operationHex) {
  Space* space = replica.database(DatabaseName::agents).find(scope);
  return space != nullptr && space->table().find(Kind::operation, operationHex) != nullptr;
}

bool journalHas(LocalReplica& replica, std::string_view operationHex) {
  return scopeWith(replica.database(DatabaseName::journal), operationHex) != nullptr;
}

std::optional<std::string> agentScopeOf(LocalReplica& replica, const OperationId& operation) {
  const std::string* scope = scopeWith(replica.database(DatabaseName::agents), operation.hex());
  return scope == nullptr ? std::nullopt : std::optional(*scope);
}

OperationId nextCompensation(const OperationId& compensation) {
  return {sha256("v1|undo-again|" + compensation.hex())};
}

Result<OperationView> recordsOf(Space& journal, const OperationId& first) {
  WITAN_TRY(versions, journal.versions(Kind::operation, first.hex()));
  OperationView all = operationViewOf(first, versions);
  if (!all.record || !all.record->body.compensates) return all;
  OperationId next = nextCompensation(first);
  for (std::size_t n = 0; n < kMaxUndoings; ++n, next = nextCompensation(next)) {
    WITAN_TRY(more, journal.versions(Kind::operation, next.hex()));
    if (more.empty()) break;
    for (const Version& version : more) all.repeats.push_back(version.dot);
  }
  std::ranges::sort(all.repeats);
  return all;
}

}  // namespace witan::saga
