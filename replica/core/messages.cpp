#include "replica/core/messages.h"

#include "base/identity.h"
#include "base/sha256.h"
#include "kernel/proposal_message.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

Status checkText(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() <= most) return okStatus();
  return invalid(std::string(what) + ": " + std::to_string(text.size()) + " bytes, at most " + std::to_string(most) +
                 " are allowed");
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
  return okStatus();
}

std::uint64_t fingerprintOf(const Request& request) {
  WordWriter words;
  const Hash hash = sha256(words.message(request));
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word = word << 8 | hash[i];
  return word;
}

}  // namespace witan::node
