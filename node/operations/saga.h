// Operations on sagas: what agents have under way on this device.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(SagaListRequest, (Omittable<bool>, all, "true: those that ended lately too"))

WITAN_STRUCT(SagaLine, (std::string, agentId, "Agent"), (json::value, arguments, "Arguments of the tool, any JSON"),
             (std::uint64_t, attempts, "Number of attempts"),
             (Omittable<std::string>, compensates, "Operation that this one compensates"),
             (std::int64_t, createdAtMs, "In milliseconds since 1970"),
             (std::string, kind, "journal, proposal or tool"),
             (Omittable<std::string>, lastError, "Why the last attempt failed"),
             (Omittable<std::int64_t>, nextAttemptAtMs, "In milliseconds since 1970"),
             (std::string, operation, "Operation id"), (Omittable<std::string>, outcome, "Outcome of the effect"),
             (std::string, phase, "Phase"), (Omittable<json::value>, result, "Result of the effect, any JSON"),
             (std::string, run, "Key of the run"), (std::string, scope, "Scope of the database"),
             (std::string, status, "Status"), (bool, superseded, "Whether a later plan replaced it"),
             (std::vector<std::string>, targets, "Entities that it changes"), (std::string, tool, "Tool"),
             (std::int64_t, updatedAtMs, "In milliseconds since 1970"))

WITAN_STRUCT(Sagas, (std::vector<SagaLine>, sagas, "Those that wait for a person, those under way, those that ended"))

WITAN_STRUCT(SagaRequest, (std::string, operation, "Operation id, or its first digits", 1))

WITAN_STRUCT(SagaBegun, (std::string, begun, "retry or compensate"), (std::string, operation, "Operation id"))

Result<Sagas> listSagas(OperationContext& context, const SagaListRequest& request);
Result<SagaLine> showSaga(OperationContext& context, const SagaRequest& request);
Result<SagaBegun> retrySaga(OperationContext& context, const SagaRequest& request);
Result<SagaBegun> compensateSaga(OperationContext& context, const SagaRequest& request);

inline constexpr Operation kSagaList{"GET", "/v1/saga/list", listSagas};
inline constexpr Operation kSagaShow{"GET", "/v1/saga/show", showSaga};
inline constexpr Operation kSagaRetry{"POST", "/v1/saga/retry", retrySaga};
inline constexpr Operation kSagaCompensate{"POST", "/v1/saga/compensate", compensateSaga};

}  // namespace witan::node::operations
