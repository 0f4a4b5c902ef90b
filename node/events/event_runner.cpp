#include "node/events/event_runner.h"

#include "base/json_codec.h"

namespace witan::node {

using kernel::Decision;
using kernel::Outcome;

std::string outcomeText(Outcome outcome, const Decision& decision, bool detail) {
  std::string text(enumName(outcome));
  if (!detail) return text;
  if (outcome == Outcome::cCommitted) {
    if (decision.safe.value_or(false)) return text + ":safe";
    text += ":UNSAFE[";
    for (std::size_t i = 0; i < decision.violated.size(); ++i) text += (i ? "," : "") + decision.violated[i];
    return text + "]";
  }
  if (!decision.invariant.empty()) text += ":" + decision.invariant;
  return text;
}

std::string EventRunner::feed(std::uint64_t number, std::string_view text) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  EventLine line;
  Decision decision;
  if (Status parsed = parseEventLine(text, line); parsed.ok())
    decision = decide(line, number, text);
  else
    decision.message = parsed.error().message + (parsed.error().hint.empty() ? "" : " (" + parsed.error().hint + ")");
  ++tally_.lines;
  ++tally_.outcomes[static_cast<std::size_t>(decision.outcome)];
  compare(line, number, decision);
  return answer(line, number, decision);
}

std::string EventRunner::refuseOverlong(std::uint64_t number) {
  Decision decision;
  decision.message = concat("the line is longer than ", kLineMax, " bytes");
  ++tally_.lines;
  ++tally_.outcomes[static_cast<std::size_t>(decision.outcome)];
  ++tally_.unexpectedRefusals;
  return answer({}, number, decision);
}

Decision EventRunner::decide(const EventLine& line, std::uint64_t number, std::string_view text) {
  if (line.kind == EventLine::Kind::init) return partition_.init(line.entity, line.init, line.at);
  const std::string operationId = line.operationId ? *line.operationId : lineOperationId(number, text);
  // Only a line that is not a repeat, and only for its own entity: so feeding a file again expires nothing anew.
  if (!partition_.knows(operationId))
    for (const auto& [entity, expired] : partition_.expire(line.at, line.entity))
      note_("entity " + entity + ": " + expired.message);
  if (line.kind == EventLine::Kind::decision) {
    kernel::CounselorDecision d{.entity = line.entity,
                                .counselor = line.counselor,
                                .operationId = operationId,
                                .commit = line.commit,
                                .base = line.base,
                                .edit = &line.edit,
                                .reason = line.reason,
                                .escalation = line.escalation,
                                .pendingDigest = line.digest,
                                .at = line.at,
                                .remember = !line.operationId};
    return partition_.decide(d);
  }
  auto action = partition_.module().parseAction(line.action);
  if (!action) {
    Decision refused;
    refused.message = action.error().message + (action.error().hint.empty() ? "" : " (" + action.error().hint + ")");
    return refused;
  }
  kernel::Proposal p{.entity = line.entity,
                     .role = line.role,
                     .operationId = operationId,
                     .device = line.device,
                     .agent = line.agent,
                     .action = action->get(),
                     .at = line.at,
                     .remember = !line.operationId,
                     .runKey = line.runKey,
                     .planDigest = line.planDigest};
  return partition_.propose(p);
}

// A repeated line is held against what was answered the first time, unless a repeat is what was expected.
void EventRunner::compare(const EventLine& line, std::uint64_t number, const Decision& decision) {
  const bool refused = decision.outcome == Outcome::refused;
  if (!check_ || !line.expect) {
    tally_.unexpectedRefusals += refused;
    return;
  }
  ++tally_.expectations;
  const std::string& expect = *line.expect;
  const bool detail = expect.find(':') != std::string::npos;
  const Outcome told =
      decision.outcome == Outcome::duplicate && expect != "duplicate" ? decision.recorded : decision.outcome;
  if (outcomeText(told, decision, detail) == expect) return;
  ++tally_.differences;
  note_(concat("line ", number, " (", line.entity, "): expected ", expect, ", got ", outcomeText(told, decision, true),
               decision.message.empty() ? "" : " (" + decision.message + ")"));
}

std::string EventRunner::answer(const EventLine& line, std::uint64_t number, const Decision& d) {
  std::string out = concat("{\"line\":", number, ",\"entity\":");
  if (line.entity.empty())
    out += "null";
  else
    appendJsonString(out, line.entity);
  out += ",\"outcome\":\"";
  out += enumName(d.outcome);
  out += "\",\"invariant\":";
  if (d.invariant.empty())
    out += "null";
  else
    appendJsonString(out, d.invariant);
  out += ",\"message\":";
  if (d.message.empty())
    out += "null";
  else
    appendJsonString(out, d.message);
  out += ",\"ledgerSeq\":" + (d.seq == 0 ? std::string("null") : std::to_string(d.seq));
  if (d.safe) {
    out += *d.safe ? ",\"safe\":true" : ",\"safe\":false";
    if (!*d.safe) out += ",\"violated\":" + toJson(d.violated);
  }
  if (d.outcome == Outcome::duplicate) {
    out += ",\"recorded\":\"";
    out += enumName(d.recorded);
    out += '"';
  }
  return out + "}";
}

}  // namespace witan::node
