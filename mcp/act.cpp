#include "mcp/act.h"

#include <algorithm>

namespace witan::mcp {

namespace {

constexpr const char* kQuestion = "decision";
constexpr std::size_t kMostReason = 1000;

std::string wordIn(const json::value& value, std::string_view name) {
  return value.is_object() ? std::string(textIn(value.get_object(), name)) : "";
}

Outcome noResource(const Call& call) {
  return protocolError(call.modern ? kInvalidParams : kLegacyNoResource, "there is no such resource",
                       {{"uri", textIn(call.params, "uri")}});
}

}  // namespace

Step Act::begin(std::int64_t nowMs) {
  if (call_.method == "resources/read") return read();
  tool_ = catalogue_.find(call_.name());
  if (!call_.state.empty()) return decide(nowMs);
  const json::object* arguments = objectIn(call_.params, "arguments");
  auto request = requestOf(*tool_, arguments == nullptr ? json::object() : *arguments);
  if (!request.ok()) return failedTool(request.error().message);
  request_ = std::move(*request);
  return request_;
}

Step Act::read() {
  auto request = catalogue_.resource(textIn(call_.params, "uri"), tool_);
  if (!request) return noResource(call_);
  return Step(std::move(*request));
}

Step Act::answered(const Result<json::value>& answer, std::int64_t nowMs) {
  if (call_.method == "resources/read") {
    if (!answer.ok()) return noResource(call_);
    const json::value shown = shownBy(*tool_, *answer);
    return Outcome{{{"contents", json::array{json::object{{"uri", textIn(call_.params, "uri")},
                                                          {"mimeType", "application/json"},
                                                          {"text", canonicalJson(shown)}}}}}};
  }
  if (waiting_ == Waiting::queue) return answer.ok() ? escalated(*answer) : outcomeOf(*tool_, answer_);
  if (waiting_ == Waiting::preview) return previewed(answer, nowMs);
  if (waiting_ == Waiting::answer && answer.ok() && maySettle(*answer)) {
    answer_ = *answer;
    waiting_ = Waiting::queue;
    return ApiRequest{true, "/v1/queue", {{"domain", request_.body.at("domain")}}, true};
  }
  return outcomeOf(*tool_, answer);
}

bool Act::maySettle(const json::value& answer) const {
  const bool proposed = tool_->path == "/v1/propose" && wordIn(answer, "outcome") == "escalated";
  return proposed && !catalogue_.authority().counselor.empty() && call_.can("elicitation");
}

// Who asked what: a state that was given to another client, or for other arguments, is no state.
std::string Act::binding() const {
  const Authority& authority = catalogue_.authority();
  const json::object* arguments = objectIn(call_.params, "arguments");
  return canonicalJson(json::array{authority.token, authority.domain, authority.role, authority.counselor, tool_->name,
                                   arguments == nullptr ? json::object() : *arguments});
}

// The proposal in the queue, if this counselor may decide it.
Step Act::escalated(const json::value& queue) {
  const json::value name(catalogue_.authority().counselor);
  for (const json::value& row : rowsIn(queue, "queue")) {
    if (wordIn(row, "entity") != textIn(request_.body, "entity") || row.at("seq") != answer_.at("ledgerSeq")) continue;
    const json::array& counselors = rowsIn(row, "counselors");
    if (std::find(counselors.begin(), counselors.end(), name) == counselors.end()) break;
    pending_ = {
        {"domain", row.at("domain")},
        {"entity", row.at("entity")},
        {"digest", row.at("digest")},
        {"message", wordIn(row, "role") + " proposes " + canonicalJson(row.at("action")) + " for " +
                        wordIn(row, "entity") + ". " + wordIn(row, "invariant") + ": " + wordIn(row, "message")}};
    json::object commit{{"counselor", name}, {"decision", "commit"}};
    for (const char* member : {"domain", "entity", "digest"}) commit[member] = pending_.at(member);
    waiting_ = Waiting::preview;
    return ApiRequest{false, "/v1/queue/preview", std::move(commit), true};
  }
  return outcomeOf(*tool_, answer_);
}

// The person must know what a commit would break.
Outcome Act::previewed(const Result<json::value>& preview, std::int64_t nowMs) {
  std::string message(pending_.at("message").as_string());
  const json::value none;
  const json::value& shown = preview.ok() ? *preview : none;
  for (const json::value& finding : rowsIn(shown, "findings"))
    message += "\nA commit would leave violated: " + wordIn(finding, "invariant") + ": " + wordIn(finding, "message");
  pending_["message"] = std::move(message);
  pending_["unsafe"] = !rowsIn(shown, "findings").empty();
  return ask(std::move(pending_), nowMs);
}

namespace {

// Nobody commits what leaves a rule violated by the same word as what does not.
std::string_view commitWord(const json::object& pending) {
  const json::value* unsafe = pending.if_contains("unsafe");
  return unsafe != nullptr && unsafe->is_bool() && unsafe->get_bool() ? "commit although unsafe" : "commit";
}

}  // namespace

Outcome Act::ask(json::object pending, std::int64_t nowMs) {
  const json::object decision{{"type", "string"},
                              {"title", "Decision of " + catalogue_.authority().counselor},
                              {"enum", json::array{commitWord(pending), "reject"}}};
  const json::object reason{{"type", "string"}, {"title", "Reason, for the ledger"}, {"maxLength", kMostReason}};
  const json::object form{{"type", "object"},
                          {"properties", {{"decision", decision}, {"reason", reason}}},
                          {"required", json::array{"decision", "reason"}}};
  Outcome outcome;
  outcome.questions[kQuestion] = json::object{
      {"method", "elicitation/create"}, {"params", {{"message", pending.at("message")}, {"requestedSchema", form}}}};
  outcome.state = seals_.seal(std::move(pending), binding(), nowMs);
  return outcome;
}

// An answer that is none is asked for again; a person who declines leaves the proposal where it is.
Step Act::decide(std::int64_t nowMs) {
  auto pending = seals_.open(call_.state, binding(), nowMs);
  if (!pending.ok()) return protocolError(kInvalidParams, pending.error().message);
  const json::object* answer = objectIn(call_.answers, kQuestion);
  if (answer == nullptr) return ask(std::move(*pending), nowMs);
  const std::string_view action = textIn(*answer, "action");
  if (action == "decline" || action == "cancel")
    return outcomeOf(
        *tool_, json::value(json::object{
                    {"outcome", "escalated"}, {"domain", pending->at("domain")}, {"entity", pending->at("entity")}}));
  const json::object* given = action == "accept" ? objectIn(*answer, "content") : nullptr;
  const std::string_view decision = given == nullptr ? std::string_view() : textIn(*given, "decision");
  const std::string_view reason = given == nullptr ? std::string_view() : textIn(*given, "reason");
  const bool commits = decision == commitWord(*pending);
  if ((!commits && decision != "reject") || reason.empty() || reason.size() > kMostReason)
    return ask(std::move(*pending), nowMs);
  waiting_ = Waiting::decision;
  return ApiRequest{false,
                    "/v1/queue/decide",
                    {{"domain", pending->at("domain")},
                     {"entity", pending->at("entity")},
                     {"digest", pending->at("digest")},
                     {"counselor", catalogue_.authority().counselor},
                     {"decision", commits ? "commit" : "reject"},
                     {"reason", reason}},
                    true};
}

}  // namespace witan::mcp
