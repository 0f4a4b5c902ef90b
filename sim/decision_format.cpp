#include "sim/decision_format.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "kernel/proposal_message.h"

namespace witan::sim {

namespace {

constexpr std::size_t kMostText = 240;

std::string cut(std::string_view text) {
  const std::string_view start = clip(text, kMostText);
  return std::string(start) + (start.size() < text.size() ? "..." : "");
}

// Of a digest as much as tells two apart.
std::string shortHex(std::string_view bytes) { return toHex(asBytes(bytes)).substr(0, 8); }

std::string runWords(std::string_view run, std::string_view plan) {
  return run.empty() ? std::string() : ", run " + shortHex(run) + " by plan " + shortHex(plan);
}

std::string witness(std::string_view invariant, std::string_view message) {
  if (invariant.empty()) return message.empty() ? std::string() : ": " + cut(message);
  return " by " + std::string(invariant) + ", \"" + cut(message) + "\"";
}

}  // namespace

std::string actionText(const kernel::DomainModule& module, const node::Request& request) {
  kernel::ProposalMessage message;
  message.actionType = request.actionType;
  message.action = request.action;
  auto action = kernel::actionOf(module, message);
  std::string text;
  if (action) module.writeAction(text, **action);
  return text;
}

std::string formatRequest(const node::Request& request, const kernel::DomainModule* module) {
  std::string words = request.operationId + " " + request.entity + ": ";
  switch (request.kind) {
    case node::RequestKind::init: return words + cut(request.text.empty() ? "{}" : request.text);
    case node::RequestKind::propose: {
      const std::string action = module == nullptr ? std::string() : actionText(*module, request);
      words += request.role + " " + (action.empty() ? "no action of the domain" : cut(action));
      return request.runKey == Hash{} ? words : words + runWords(asView(request.runKey), asView(request.planDigest));
    }
    default: break;
  }
  words += request.counselor;
  if (request.escalation != 0) words += " about entry " + std::to_string(request.escalation);
  if (request.kind == node::RequestKind::commit && !request.text.empty()) words += " " + cut(request.text);
  return words + ", \"" + cut(request.reason) + "\"";
}

std::string formatEntry(const kernel::Entry& entry) {
  std::string words = "entry " + std::to_string(entry.seq) + ", " + entry.operationId + " " + entry.entity + ": " +
                      std::string(enumName(entry.tag)) + witness(entry.invariant, entry.message) + "; ";
  if (entry.counselor.empty())
    words += entry.role + " " + cut(entry.action) + runWords(asView(entry.runKey), asView(entry.planDigest));
  else
    words += entry.counselor + " about entry " + std::to_string(entry.escalation) +
             (entry.reason.empty() ? "" : ", \"" + cut(entry.reason) + "\"");
  if (entry.tag == kernel::Tag::cCommitted) words += entry.findings.empty() ? ", safe" : ", unsafe";
  return words + " at " + formatTime(entry.time);
}

std::string answerWords(const node::Answer& answer) {
  std::string words = answer.operationId + ": ";
  words += answer.kind == node::AnswerKind::decided ? enumName(answer.outcome) : enumName(answer.kind);
  if (answer.outcome == kernel::Outcome::duplicate) words += " of " + std::string(enumName(answer.recorded));
  words += witness(answer.invariant, answer.message);
  return answer.seq == 0 ? words : words + " (entry " + std::to_string(answer.seq) + ")";
}

}  // namespace witan::sim
