#include "replica/make_request.h"

namespace witan::node {

Result<Request> proposalRequest(const kernel::DomainModule& module, std::string entity, std::string role,
                                std::string operationId, const json::value& action) {
  WITAN_TRY(parsed, module.parseAction(action));
  Request request;
  request.kind = RequestKind::propose;
  request.domain = module.signature().domain;
  request.entity = std::move(entity);
  request.role = std::move(role);
  request.operationId = std::move(operationId);
  request.actionType = module.signature().processes[parsed->process].name;
  const std::string bytes = module.encodeAction(*parsed);
  request.action.assign(bytes.begin(), bytes.end());
  return request;
}

Request initRequest(const kernel::DomainModule& module, std::string entity, std::string operationId,
                    const json::value& fields) {
  Request request;
  request.kind = RequestKind::init;
  request.domain = module.signature().domain;
  request.entity = std::move(entity);
  request.operationId = std::move(operationId);
  request.text = canonicalJson(fields);
  return request;
}

}  // namespace witan::node
