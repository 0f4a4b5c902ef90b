// What agents have left on a device, counted from its stores.
#include "agents/host/record_audit.h"
#include "kernel/ledger/ledger_verify.h"
#include "node/operations/agent.h"
#include "replica/core/outbox.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "saga/saga_rows.h"

namespace witan::node::operations {

using namespace replication;

namespace {

Status checkSagas(Replica& replica, AgentReport& report, agents::RecordAudit& audit) {
  saga::SagaRows rows(replica.data().database(DatabaseName::agents), 0);
  return rows.visitOpen([&](saga::SagaRow&& row) {
    if (replica.outbox().all().contains(row.id().hex())) {  // its entity waits for a counselor
      ++report.waiting;
      return;
    }
    ++report.sagas;
    audit.problem(concat("saga ", row.id().hex(), " (", row.intent.tool, ") is ", enumName(row.status)));
  });
}

Status checkLedgers(Replica& replica, AgentReport& report, agents::RecordAudit& audit) {
  for (const auto& [id, host] : replica.hosts()) {
    WITAN_TRY(verified, kernel::verifyLedger(host->rows(), {&host->module(), std::nullopt}));
    ++report.ledgers;
    report.entries += verified.entries;
    if (!verified.ok()) audit.problem("ledger " + id + ": " + verified.problem);
  }
  return okStatus();
}

}  // namespace

Result<AgentReport> checkAgents(OperationContext& context, const ScopeRequest& request) {
  WITAN_CHECK(context.node != nullptr, "the ledgers are read, too");
  Replica& replica = *context.node;
  WITAN_TRY(audit, agents::auditRecords(replica.data(), request.scope.value_or(kDefaultScope)));
  AgentReport report;
  report.operations = audit.operations, report.journalEffects = audit.journalEffects, report.runs = audit.runs;
  report.doubled = audit.doubled, report.unwanted = audit.unwanted;
  WITAN_DO(checkSagas(replica, report, audit));
  WITAN_DO(checkLedgers(replica, report, audit));
  report.problems = std::move(audit.problems);
  return report;
}

}  // namespace witan::node::operations
