#include "node/operations/saga.h"

#include "agents/host/agent_host.h"
#include "base/bytes.h"
#include "node/operations/versions.h"
#include "saga/saga_engine.h"

namespace witan::node::operations {

using namespace replication;
using saga::SagaRow;

namespace {

// Begins a repair and carries out nothing.
class NoEffects final : public saga::SagaEnvironment {
 public:
  Result<saga::JournalEffect> journalEffect(const SagaRow&) override { return unavailable(); }
  Status call(const SagaRow&, Now) override { return unavailable(); }
  Result<std::vector<Write>> record(const SagaRow&, const saga::Outcome&) override { return std::vector<Write>{}; }
  void finished(const SagaRow&) override {}

 private:
  static Error unavailable() { return {ErrorCode::unavailable, "no agents work here", ""}; }
};

Result<SagaLine> lineOf(const SagaRow& row) {
  WITAN_TRY(value, parseJson(saga::rowJson(row), kOwnJson));
  SagaLine line;
  WITAN_DO(readJson(value, line, "saga"));
  return line;
}

saga::SagaRows rowsOf(OperationContext& context) {
  return saga::SagaRows(context.replica.database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
}

Result<OperationId> operationOf(saga::SagaRows& rows, const SagaRequest& request) {
  if (auto whole = OperationId::parse(request.operation); whole.ok()) return *whole;  // perhaps of another device
  std::vector<std::string> ids;
  const auto visit = [&](SagaRow&& row) { ids.push_back(row.id().hex()); };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  WITAN_DO(rows.visitDone(visit));
  WITAN_TRY(id, chosenByPrefix(request.operation, ids, "operation id", "see: witan saga list --all"));
  return OperationId::parse(id);
}

Result<SagaBegun> repair(OperationContext& context, const SagaRequest& request, bool again) {
  saga::SagaRows rows = rowsOf(context);
  WITAN_TRY(operation, operationOf(rows, request));
  NoEffects none;
  saga::SagaEngine own(context.replica, none);
  saga::SagaEngine& engine = context.agents != nullptr ? context.agents->sagas() : own;
  const Now now{context.now, context.nowMs()};
  WITAN_DO(again ? engine.retry(operation, now) : engine.compensate(operation, now));
  return SagaBegun{again ? "retry" : "compensate", operation.hex()};
}

}  // namespace

Result<Sagas> listSagas(OperationContext& context, const SagaListRequest& request) {
  saga::SagaRows rows = rowsOf(context);
  Sagas list;
  Status read = okStatus();
  const auto visit = [&](SagaRow&& row) {
    auto line = lineOf(row);
    line.ok() ? list.sagas.push_back(std::move(*line)) : void(read = line.error());
  };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  if (request.all.value_or(false)) WITAN_DO(rows.visitDone(visit));
  WITAN_DO(read);
  return list;
}

Result<SagaLine> showSaga(OperationContext& context, const SagaRequest& request) {
  saga::SagaRows rows = rowsOf(context);
  WITAN_TRY(operation, operationOf(rows, request));
  WITAN_TRY(row, rows.find(operation));
  return lineOf(row);
}

Result<SagaBegun> retrySaga(OperationContext& context, const SagaRequest& request) {
  return repair(context, request, true);
}

Result<SagaBegun> compensateSaga(OperationContext& context, const SagaRequest& request) {
  return repair(context, request, false);
}

}  // namespace witan::node::operations
