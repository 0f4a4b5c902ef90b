#include "saga/saga_row.h"

#include "base/capnp_codec.h"
#include "base/json.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::saga {

namespace {

constexpr std::size_t kMaxTargets = 4096;

bool isZero(const Hash& hash) { return hash == Hash{}; }

Status checkJson(const char* what, std::string_view text) {
  if (surelyCanonicalJson(text, {.bytes = replication::kMaxRecordBytes})) return okStatus();
  auto value = parseJson(text, {.bytes = replication::kMaxRecordBytes});
  if (!value.ok()) return invalid(std::string(what) + ": " + value.error().message);
  return canonicalJson(*value) == text ? okStatus() : invalid(std::string(what) + ": not in canonical form");
}

}  // namespace

Outcome refusal(const Error& error) {
  return {OperationOutcome::failed, "{\"error\":" + jsonQuoted(clip(error.message, kMaxErrorBytes)) + "}"};
}

Status checkIntent(const Intent& intent) {
  if (isZero(intent.operation)) return invalid("operation: it is missing");
  if (isZero(intent.run)) return invalid("run: it is missing");
  WITAN_DO(validateId("agentId", intent.agentId));
  WITAN_DO(validateId("tool", intent.tool));
  WITAN_DO(validateId("scope", intent.scope));
  if (intent.arguments.size() > replication::kMaxRecordBytes)
    return invalid("arguments: " + std::to_string(intent.arguments.size()) + " bytes");
  WITAN_DO(checkJson("arguments", intent.arguments));
  if (intent.targets.size() > kMaxTargets)
    return invalid("targets: " + std::to_string(intent.targets.size()) + ", at most " + std::to_string(kMaxTargets));
  for (const std::string& target : intent.targets) WITAN_DO(validateId("target", target));
  if (intent.compensates && isZero(*intent.compensates)) return invalid("compensates: it is missing");
  return okStatus();
}

std::string encodeRow(const SagaRow& row) {
  thread_local WordWriter writer;
  return std::string(writer.message(row));
}

Result<SagaRow> decodeRow(std::string_view bytes) {
  SagaRow row;
  if (Status read = readMessage(bytes, row, "saga"); !read.ok()) return corrupt(read.error().message);
  if (isZero(row.intent.operation) || isZero(row.intent.run)) return corrupt("saga: it names no operation or no run");
  return row;
}

std::string rowJson(const SagaRow& row) {
  const Intent& intent = row.intent;
  std::string out = "{\"agentId\":" + jsonQuoted(intent.agentId) + ",\"arguments\":" + intent.arguments +
                    ",\"attempts\":" + std::to_string(row.attempts);
  if (intent.compensates) out += ",\"compensates\":\"" + toHex(*intent.compensates) + "\"";
  out += ",\"createdAtMs\":" + std::to_string(row.createdAtMs) + ",\"kind\":\"" + std::string(enumName(intent.kind)) +
         "\"";
  if (!row.lastError.empty()) out += ",\"lastError\":" + jsonQuoted(row.lastError);
  if (row.status == SagaStatus::backoff) out += ",\"nextAttemptAtMs\":" + std::to_string(row.nextAttemptAtMs);
  out += ",\"operation\":\"" + intent.id().hex() + "\"";
  if (!row.result.empty()) out += ",\"outcome\":\"" + std::string(enumName(row.outcome)) + "\"";
  out += ",\"phase\":\"" + std::string(enumName(row.phase)) + "\"";
  if (!row.result.empty()) out += ",\"result\":" + row.result;
  out += ",\"run\":\"" + toHex(intent.run) + "\",\"scope\":" + jsonQuoted(intent.scope) + ",\"status\":\"" +
         std::string(enumName(row.status)) + "\",\"superseded\":" + (row.superseded ? "true" : "false") +
         ",\"targets\":[";
  for (const std::string& target : intent.targets) out += (out.back() == '[' ? "" : ",") + jsonQuoted(target);
  return out + "],\"tool\":" + jsonQuoted(intent.tool) + ",\"updatedAtMs\":" + std::to_string(row.updatedAtMs) + "}";
}

}  // namespace witan::saga
