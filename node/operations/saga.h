// Operations on sagas: what agents have under way on this device.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

struct SagaListRequest {
  Omittable<bool> all;
  WITAN_MEMBERS(SagaListRequest, all)
  static constexpr std::array notes{MemberNote{"all", "true: those that ended lately too"}};
};

struct SagaLine {
  std::string agentId;
  json::value arguments;
  std::uint64_t attempts = 0;
  Omittable<std::string> compensates;
  std::int64_t createdAtMs = 0;
  std::string kind;
  Omittable<std::string> lastError;
  Omittable<std::int64_t> nextAttemptAtMs;
  std::string operation;
  Omittable<std::string> outcome;
  std::string phase;
  Omittable<json::value> result;
  std::string run;
  std::string scope;
  std::string status;
  bool superseded = false;
  std::vector<std::string> targets;
  std::string tool;
  std::int64_t updatedAtMs = 0;
  WITAN_MEMBERS(SagaLine, agentId, arguments, attempts, compensates, createdAtMs, kind, lastError, nextAttemptAtMs,
                operation, outcome, phase, result, run, scope, status, superseded, targets, tool, updatedAtMs)
  static constexpr std::array notes{MemberNote{"agentId", "Agent"},
                                    MemberNote{"arguments", "Arguments of the tool, any JSON"},
                                    MemberNote{"attempts", "Number of attempts"},
                                    MemberNote{"compensates", "Operation that this one compensates"},
                                    MemberNote{"createdAtMs", "In milliseconds since 1970"},
                                    MemberNote{"kind", "journal, proposal or tool"},
                                    MemberNote{"lastError", "Why the last attempt failed"},
                                    MemberNote{"nextAttemptAtMs", "In milliseconds since 1970"},
                                    MemberNote{"operation", "Operation id"},
                                    MemberNote{"outcome", "Outcome of the effect"},
                                    MemberNote{"phase", "Phase"},
                                    MemberNote{"result", "Result of the effect, any JSON"},
                                    MemberNote{"run", "Key of the run"},
                                    MemberNote{"scope", "Scope of the database"},
                                    MemberNote{"status", "Status"},
                                    MemberNote{"superseded", "Whether a later plan replaced it"},
                                    MemberNote{"targets", "Entities that it changes"},
                                    MemberNote{"tool", "Tool"},
                                    MemberNote{"updatedAtMs", "In milliseconds since 1970"}};
};

struct Sagas {
  std::vector<SagaLine> sagas;
  WITAN_MEMBERS(Sagas, sagas)
  static constexpr std::array notes{
      MemberNote{"sagas", "Those that wait for a person, those under way, those that ended"}};
};

struct SagaRequest {
  std::string operation;
  WITAN_MEMBERS(SagaRequest, operation)
  static constexpr std::array notes{MemberNote{"operation", "Operation id, or its first digits", 1}};
};

struct SagaBegun {
  std::string begun;
  std::string operation;
  WITAN_MEMBERS(SagaBegun, begun, operation)
  static constexpr std::array notes{MemberNote{"begun", "retry or compensate"},
                                    MemberNote{"operation", "Operation id"}};
};

Result<Sagas> listSagas(OperationContext& context, const SagaListRequest& request);
Result<SagaLine> showSaga(OperationContext& context, const SagaRequest& request);
Result<SagaBegun> retrySaga(OperationContext& context, const SagaRequest& request);
Result<SagaBegun> compensateSaga(OperationContext& context, const SagaRequest& request);

inline constexpr Operation kSagaList{"GET", "/v1/saga/list", listSagas};
inline constexpr Operation kSagaShow{"GET", "/v1/saga/show", showSaga};
inline constexpr Operation kSagaRetry{"POST", "/v1/saga/retry", retrySaga};
inline constexpr Operation kSagaCompensate{"POST", "/v1/saga/compensate", compensateSaga};

}  // namespace witan::node::operations
