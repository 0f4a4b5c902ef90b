#include "node/inbox/refused_answers.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "kernel/proposal_message.h"
#include "replica/graph_runtime.h"
#include "replica/replica.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kRefusedRows = "inbox/refused/";

// Of the action Answer of a graph's run.
bool readGraphAnswer(const Request& request, const kernel::DomainModule& module, AnswerUnderWay& out) {
  kernel::ProposalMessage message;
  message.actionType = request.actionType;
  message.action = request.action;
  const auto action = kernel::actionOf(module, message);
  if (!action.ok()) return false;
  std::string text;
  module.writeAction(text, **action);
  const json::value said = parseJson(text, kOwnJson).value();
  out.by = said.at("by").get_string();
  out.choice = said.at("approve").get_bool() ? "approve" : "deny";
  out.about = said.at("span").get_string();
  return true;
}

}  // namespace

RefusedAnswers::RefusedAnswers(Replica& replica)
    : replica_(replica), rows_(replica.data().database(replication::DatabaseName::agents)) {}

std::optional<AnswerUnderWay> RefusedAnswers::of(const Request& request, const Replica& replica) {
  AnswerUnderWay answer{request.counselor, std::string(enumName(request.kind)), request.domain,
                        request.entity,    toHex(request.pendingDigest),        request.reason};
  const OwnershipRecord* owner = replica.owners().find(replica.partitionFor(request.domain, request.entity));
  if (owner != nullptr) answer.owner = replication::deviceOf(owner->owner);
  if (request.kind == RequestKind::commit || request.kind == RequestKind::reject) return answer;
  const kernel::DomainModule* module = replica.moduleOf(request.domain);
  if (module == nullptr || request.domain != kGraphDomain || request.actionType != "Answer" ||
      !readGraphAnswer(request, *module, answer))
    return std::nullopt;
  return answer;
}

void RefusedAnswers::left(const Request& request) {
  if (auto answer = of(request, replica_)) left_[request.operationId] = {*std::move(answer), fingerprintOf(request)};
}

Result<bool> RefusedAnswers::answered(const Answer& answer, Time now) {
  const auto at = left_.find(answer.operationId);
  if (at == left_.end() || at->second.asked != answer.asked || answer.kind != AnswerKind::decided) return false;
  const RefusedAnswer notice{std::move(at->second.answer), answer.message, now};
  left_.erase(at);
  if (answer.outcome != kernel::Outcome::refused && answer.outcome != kernel::Outcome::rejected) return false;
  WITAN_TRY(all, in(rows_));
  if (all.size() >= kMaxRefusedAnswers) {
    const auto oldest = std::ranges::min_element(all, {}, [](const auto& one) { return one.second.at.micros; });
    rows_.eraseMeta(concat(kRefusedRows, oldest->first));
  }
  rows_.putMeta(concat(kRefusedRows, answer.operationId), toJson(notice));
  return true;
}

Status RefusedAnswers::seen(const std::string& operation) {
  const std::string row = concat(kRefusedRows, operation);
  WITAN_TRY(known, rows_.meta(row));
  if (!known) return notFound("there is no such notice", "see: witan inbox");
  rows_.eraseMeta(row);
  return okStatus();
}

Result<std::map<std::string, RefusedAnswer>> RefusedAnswers::in(const replication::Database& rows) {
  std::map<std::string, RefusedAnswer> all;
  Status read = okStatus();
  WITAN_DO(rows.scanMeta(kRefusedRows, [&](std::string_view row, std::string_view text) {
    auto parsed = parseJson(text, kOwnJson);
    read = parsed.ok()
               ? readJson(*parsed, all[std::string(row.substr(kRefusedRows.size()))], "a refused answer of the inbox")
               : Status(parsed.error());
    return read.ok();
  }));
  WITAN_DO(read);
  return all;
}

}  // namespace witan::node
