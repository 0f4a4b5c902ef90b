#include "replica/core/messages.h"

#include "base/identity.h"
#include "base/sha256.h"
#include "kernel/proposal_message.h"
#include "kernel/record/signed_leaves.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

Status checkText(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() <= most) return okStatus();
  return invalid(std::string(what) + ": " + std::to_string(text.size()) + " bytes, at most " + std::to_string(most) +
                 " are allowed");
}

Request unproven(Request request) {
  request.proof.clear();
  return request;
}

}  // namespace

Status checkRequest(const Request& request) {
  WITAN_DO(validateId("domain", request.domain));
  WITAN_DO(validateId("operationId", request.operationId));
  WITAN_DO(replication::validateDeviceId("device", request.device));
  if (request.entity.empty()) return invalid("entity: must not be empty");
  WITAN_DO(checkText("entity", request.entity, kMaxIdBytes));
  WITAN_DO(checkText("role", request.role, kMaxIdBytes));
  WITAN_DO(checkText("agent", request.agent, kMaxIdBytes));
  WITAN_DO(checkText("actionType", request.actionType, kMaxIdBytes));
  WITAN_DO(checkText("counselor", request.counselor, kMaxIdBytes));
  WITAN_DO(checkText("reason", request.reason, 64 * 1024));
  WITAN_DO(checkText("text", request.text, kernel::kProposalMax));
  if (request.action.size() > kernel::kProposalMax || request.action.size() % 8 != 0)
    return invalid("action: " + std::to_string(request.action.size()) + " bytes (whole 8-byte words, at most " +
                   std::to_string(kernel::kProposalMax) + ")");
  if (request.kind == RequestKind::propose && request.action.empty()) return invalid("action: there is none");
  const bool run = request.runKey != Hash{}, plan = request.planDigest != Hash{};
  if (run != plan) return invalid(run ? "planDigest: a run acts by a plan" : "runKey: a plan is that of a run");
  if (run && request.kind != RequestKind::propose) return invalid("runKey: runs propose; they decide nothing");
  if (!request.signature.empty() && request.signature.size() != kernel::kPersonSignature)
    return invalid("signature: a key and a signature have 96 bytes");
  if (!request.signature.empty() && request.pendingDigest == Hash{})
    return invalid("signature: without the digest of what was shown");
  if (!request.proof.empty()) WITAN_DO(kernel::checkProof(request.proof));
  return okStatus();
}

std::uint64_t firstWord(const Hash& hash) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word = word << 8 | hash[i];
  return word;
}

std::uint64_t fingerprintOf(const Request& request) {
  if (!request.proof.empty()) return fingerprintOf(unproven(request));
  WordWriter words;
  return firstWord(sha256(words.message(request)));
}

bool sameRequest(const Request& one, const Request& other) { return unproven(one) == unproven(other); }

Answer answerTo(const Request& request, AnswerKind kind, std::string message) {
  Answer answer;
  answer.operationId = request.operationId;
  answer.asked = fingerprintOf(request);
  answer.kind = kind;
  answer.message = std::move(message);
  return answer;
}

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

Request ingressRequest(std::string graph, std::string ingress, std::string external, std::string operationId,
                       std::string body) {
  Request request;
  request.kind = RequestKind::ingress;
  request.domain = "graph";
  request.entity = std::move(graph);
  request.role = std::move(ingress);
  request.operationId = std::move(operationId);
  request.reason = std::move(external);
  request.text = std::move(body);
  return request;
}

}  // namespace witan::node
