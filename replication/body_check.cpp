#include "replication/body_check.h"

#include "base/identity.h"
#include "base/mutant.h"
#include "replication/agent_state_codec.h"
#include "replication/receipt.h"
#include "replication/records.h"
#include "replication/statement.h"
#include "replication/wake_run.h"

namespace witan::replication {

namespace {

template <class Body>
Status readable(std::string_view body) {
  auto decoded = decodeRecord<Body>(body);
  return decoded.ok() ? okStatus() : Status(decoded.error());
}

}  // namespace

Status checkBody(Kind kind, std::string_view body, std::string_view writer) {
  switch (kind) {
    case Kind::agentState: {
      auto state = decodeAgentState(body, writer);
      return state.ok() ? okStatus() : Status(state.error());
    }
    case Kind::message: return readable<MessageBody>(body);
    case Kind::link: return readable<LinkBody>(body);
    case Kind::batch: return readable<BatchBody>(body);
    case Kind::wakeRun: return readable<WakeRunBody>(body);
    case Kind::plan: return readable<PlanBody>(body);
    case Kind::summary: return readable<SummaryBody>(body);
    case Kind::journal: return readable<JournalBody>(body);
    case Kind::policy: return readable<SignedDocumentBody>(body);
    case Kind::operation: return readable<OperationBody>(body);
    case Kind::approval: return readable<ApprovalBody>(body);
    case Kind::receipt: {
      auto receipt = readReceipt(body);
      return receipt.ok() ? okStatus() : Status(receipt.error());
    }
    case Kind::statement: {
      auto statement = decodeStatement(body);
      return statement.ok() ? okStatus() : Status(statement.error());
    }
  }
  return okStatus();
}

Status checkIncoming(const Space& space, DatabaseName database, const VersionRow& row, WriterIndex writer) {
  const std::string& name = space.writers().name(writer);
  const KindTraits& traits = traitsOf(row.kind);
  WITAN_DO(validateId("key", row.key));
  if (!(database == DatabaseName::journal ? traits.journal : traits.agents) && !mutated("linkInJournal"))
    return invalid(std::string(traits.name) + " records do not live in the " + toString(database) + " database");
  if (row.kind == Kind::batch && row.key != name + ":" + std::to_string(row.seq))
    return invalid("batch " + row.key + " is not keyed by its dot");
  if (row.tombstone && !traits.removable)
    return invalid(std::string(traits.name) + " " + row.key + " cannot be taken away");
  if (!traits.register_ && !row.tombstone && !row.context.empty())
    return invalid(std::string(traits.name) + " " + row.key + " cannot replace anything");
  if (row.tombstone) return okStatus();
  if (row.base > 0 && row.kind != Kind::agentState)
    return invalid(row.key + ": only the states of agents come as field deltas");
  if (row.base > 0) return okStatus();
  if (Status status = checkBody(row.kind, row.body, name); !status.ok())
    return invalid(std::string(traits.name) + " " + row.key + ": " + status.error().message);
  return okStatus();
}

Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held, std::string_view body) {
  if (kind != Kind::wakeRun || held.empty()) return okStatus();
  WITAN_TRY(runKey, RunKey::parse(key));
  WITAN_TRY(next, decodeRecord<WakeRunBody>(body));
  return mayRecord(wakeRunViewOf(runKey, held), next);
}

}  // namespace witan::replication
