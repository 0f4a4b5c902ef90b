// What agents have left on a device, counted from its stores.
#include "node/operations/agent.h"

#include <algorithm>
#include <map>

#include "kernel/ledger/ledger_verify.h"
#include "replica/core/outbox.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "replication/records/record_views.h"
#include "saga/saga_rows.h"

namespace witan::node::operations {

using namespace replication;

namespace {

constexpr std::size_t kMostProblems = 20;

// After the horizon (agents/host/run_retention.h).
bool isTakenAway(const std::vector<Version>& versions) { return std::ranges::any_of(versions, &Version::tombstone); }

class Checker {
 public:
  Checker(Replica& replica, std::string scope) : replica_(replica), scope_(std::move(scope)) {}

  Result<AgentReport> check() {
    WITAN_DO(operations());
    WITAN_DO(runs());
    WITAN_DO(sagas());
    WITAN_DO(ledgers());
    return std::move(report_);
  }

 private:
  void problem(std::string what) {
    if (report_.problems.size() < kMostProblems) report_.problems.push_back(std::move(what));
  }

  Space* space(DatabaseName database) { return replica_.data().database(database).find(scope_); }

  // The operation's record in a database; counts its effects there.
  Result<std::map<std::string, OperationBody>> recordsIn(DatabaseName database) {
    std::map<std::string, OperationBody> records;
    Space* at = space(database);
    if (at == nullptr) return records;
    for (const std::string& key : at->keys(Kind::operation)) {
      WITAN_TRY(id, OperationId::parse(key));
      WITAN_TRY(versions, at->versions(Kind::operation, key));
      if (isTakenAway(versions)) continue;
      const OperationView view = operationViewOf(id, versions);
      if (!view.record) {
        problem("operation " + key + ": its record in " + toString(database) + " cannot be read");
        continue;
      }
      // Devices that were cut off from one another may each carry out one operation; none may do it twice.
      std::map<std::string, std::size_t> times{{view.record->dot.host, 1}};
      for (const Dot& repeat : view.repeats) ++times[repeat.host];
      for (const auto& [writer, count] : times)
        if (count > 1)
          problem(
              concat("operation ", key, " was carried out ", count, " times in ", toString(database), " by ", writer));
      records.emplace(key, view.record->body);
    }
    return records;
  }

  Status operations() {
    WITAN_TRY(journal, recordsIn(DatabaseName::journal));
    WITAN_TRY(agents, recordsIn(DatabaseName::agents));
    report_.journalEffects = journal.size();
    report_.operations = agents.size();
    for (const auto& [key, record] : journal) {
      if (!agents.contains(key)) problem("operation " + key + " has its effect in the journal and no outcome");
    }
    for (const auto& [key, record] : agents)
      if (record.toolName.starts_with("journal.") && record.outcome == OperationOutcome::applied &&
          !journal.contains(key))
        problem("operation " + key + " has an outcome and no effect in the journal");
    return okStatus();
  }

  Status runs() {
    Space* at = space(DatabaseName::agents);
    if (at == nullptr) return okStatus();
    for (const std::string& key : at->keys(Kind::wakeRun)) {
      WITAN_TRY(id, RunKey::parse(key));
      WITAN_TRY(versions, at->versions(Kind::wakeRun, key));
      if (isTakenAway(versions)) continue;
      const WakeRunView view = wakeRunViewOf(id, versions);
      ++report_.runs;
      if (!view.run || !isTerminal(view.run->body.status)) problem("run " + key + " was started and has no end");
    }
    return okStatus();
  }

  Status sagas() {
    saga::SagaRows rows(replica_.data().database(DatabaseName::agents), 0);
    return rows.visitOpen([&](saga::SagaRow&& row) {
      if (replica_.outbox().all().contains(row.id().hex())) {  // its entity waits for a counselor
        ++report_.waiting;
        return;
      }
      ++report_.sagas;
      problem(concat("saga ", row.id().hex(), " (", row.intent.tool, ") is ", enumName(row.status)));
    });
  }

  Status ledgers() {
    for (const auto& [id, host] : replica_.hosts()) {
      WITAN_TRY(verified, kernel::verifyLedger(host->rows(), {&host->module(), std::nullopt}));
      ++report_.ledgers;
      report_.entries += verified.entries;
      if (!verified.ok()) problem("ledger " + id + ": " + verified.problem);
    }
    return okStatus();
  }

  Replica& replica_;
  const std::string scope_;
  AgentReport report_;
};

}  // namespace

Result<AgentReport> checkAgents(OperationContext& context, const ScopeRequest& request) {
  WITAN_CHECK(context.node != nullptr, "the ledgers are read, too");
  return Checker(*context.node, request.scope.value_or(kDefaultScope)).check();
}

}  // namespace witan::node::operations
