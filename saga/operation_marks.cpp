#include "saga/operation_marks.h"

#include <algorithm>

#include "base/json.h"
#include "replication/records/record_write.h"
#include "replication/writer.h"

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

Error inTheWay(const OperationId& operation, const std::string& why, const std::string& hint) {
  return {ErrorCode::conflict, "operation " + operation.hex() + " " + why, hint};
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

Result<bool> journalMayCome(LocalReplica& replica, std::string_view scope, const OperationMarks& marks) {
  Space* agents = replica.database(DatabaseName::agents).find(scope);
  if (marks.journal.record || !marks.agents.record || agents == nullptr) return false;
  std::vector<Dot> by = marks.agents.repeats;
  by.push_back(marks.agents.record->dot);
  WITAN_TRY(members, replica.membership());
  const VectorClock clock = agents->clock();
  return std::ranges::any_of(by, [&](const Dot& dot) {
    const std::string_view device = deviceOf(dot.host);
    const Standing standing = members.standing(device);
    const bool anew = std::ranges::any_of(clock.entries(), [&](const VectorClock::Entry& entry) {
      return entry.first != dot.host && deviceOf(entry.first) == device;
    });
    return !anew && standing != Standing::retiring && standing != Standing::retired;
  });
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

// --- what people said

Result<std::vector<SaidOfOperation>> saidOf(Space& agents, const Intent& intent) {
  std::vector<SaidOfOperation> all;
  const std::string item = "operation:" + intent.id().hex();
  for (const std::string& key : agents.keys(Kind::artefact, concat(kAnswerKeys, toHex(intent.run), ":"))) {
    WITAN_TRY(versions, agents.versions(Kind::artefact, key));
    for (const Version& version : versions) {
      const auto body =
          version.tombstone ? Result<ArtefactBody>(notFound("it is gone")) : decodeRecord<ArtefactBody>(version.body);
      const auto said = body.ok() ? parseJson(body->envelope, kOwnJson) : Result<json::value>(body.error());
      if (!said.ok() || !said->is_object()) continue;
      const auto text = [&](std::string_view name) {
        const json::value* value = said->get_object().if_contains(name);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
      };
      if (text("item") == item) all.push_back({std::string(deviceOf(version.dot.host)), text("by"), text("choice")});
    }
  }
  std::ranges::stable_sort(all, {}, &SaidOfOperation::device);
  return all;
}

namespace {

constexpr std::string_view kAgain = ":again:";

std::string againKeys(const Hash& run, const OperationId& operation) {
  return concat(kAnswerKeys, toHex(run), kAgain, operation.hex(), ":");
}

}  // namespace

Write againWrite(const Intent& intent, std::string_view device) {
  return recordWrite(againKeys(intent.run, intent.id()) + std::string(device), ArtefactBody{"{}"}).value();
}

Result<OperationId> againOf(std::string_view key) {
  const std::size_t at = key.find(kAgain);
  if (!key.starts_with(kAnswerKeys) || at == key.npos) return notFound("it is another record");
  return OperationId::parse(key.substr(at + kAgain.size(), 2 * sizeof(Hash)));
}

std::vector<std::string> devicesAgain(Space& agents, const Hash& run, const OperationId& operation) {
  const std::string keys = againKeys(run, operation);
  std::vector<std::string> devices = agents.keys(Kind::artefact, keys);
  for (std::string& device : devices) device.erase(0, keys.size());
  return devices;
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
