#include "replication/records/records.h"

#include <algorithm>
#include <tuple>

#include "base/capnp_codec.h"
#include "base/json.h"
#include "base/utf8.h"

namespace witan::replication {

namespace {

Status checkCount(std::string_view what, std::size_t count) {
  if (count <= kMaxRecordList) return okStatus();
  return invalid(concat(what, ": ", count, " elements (at most ", kMaxRecordList, ")"));
}

Status checkIds(std::string_view what, const std::vector<std::string>& ids) {
  WITAN_DO(checkCount(what, ids.size()));
  for (const std::string& id : ids) WITAN_DO(validateId(what, id));
  return okStatus();
}

Status checkDots(std::string_view what, const std::vector<DotEntry>& dots) {
  WITAN_DO(checkCount(what, dots.size()));
  for (const DotEntry& d : dots) {
    WITAN_DO(validateId(concat(what, ".host"), d.host));
    if (d.counter == 0) return invalid(concat(what, ": counter 0 of ", d.host, " (counters begin with 1)"));
  }
  return okStatus();
}

Status checkGiven(std::string_view what, const Hash& hash) {
  if (hash != Hash{}) return okStatus();
  return invalid(concat(what, ": missing"));
}

Status checkTime(std::string_view what, std::int64_t ms) {
  if (ms >= 0) return okStatus();
  return invalid(concat(what, ": ", ms, " (milliseconds since 1970, not negative)"));
}

Status checkText(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() > most) return invalid(concat(what, ": ", text.size(), " bytes (at most ", most, ")"));
  if (!isUtf8(text)) return invalid(concat(what, ": not UTF-8"));
  return okStatus();
}

// One text for one value, so that equal contents have equal bytes.
Status checkCanonicalJson(std::string_view what, std::string_view text) {
  if (surelyCanonicalJson(text, {.bytes = kMaxRecordBytes})) return okStatus();
  auto value = parseJson(text, {.bytes = kMaxRecordBytes});
  if (!value.ok()) return invalid(concat(what, ": ", value.error().message));
  if (canonicalJson(*value) != text) return invalid(concat(what, ": not canonical JSON (RFC 8785)"));
  return okStatus();
}

Status checkToken(const BatchToken& token) {
  WITAN_DO(tokenKey({token.tokenClass, token.tokenNamespace, token.value}));
  return okStatus();
}

}  // namespace

Status checkRecord(const BatchBody& body) {
  WITAN_DO(validateId("localBatchId", body.localBatchId));
  if (body.changes.empty()) return invalid("changes: none (a batch is what one commit changed)");
  WITAN_DO(checkCount("changes", body.changes.size()));
  WITAN_DO(checkCount("tokens", body.tokens.size()));
  for (const BatchChange& c : body.changes) {
    WITAN_DO(validateId("payloadType", c.payloadType));
    WITAN_DO(validateId("payloadId", c.payloadId));
  }
  for (const BatchToken& t : body.tokens) WITAN_DO(checkToken(t));
  WITAN_DO(checkText("sourceCursor", body.sourceCursor, kTextMax));
  return checkDots("deps", body.deps);
}

Status checkRecord(const MessageBody& body) {
  WITAN_DO(validateId("id", body.id));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("threadId", body.threadId));
  WITAN_DO(checkText("content", body.content, kMaxRecordBytes));
  WITAN_DO(checkTime("createdAtMs", body.createdAtMs));
  return checkIds("parents", body.parents);
}

Status checkRecord(const LinkBody& body) {
  WITAN_DO(validateId("id", body.id));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("from", body.from));
  WITAN_DO(validateId("to", body.to));
  return validateId("relation", body.relation);
}

Status checkRecord(const WakeRunBody& body) {
  WITAN_DO(checkGiven("runKey", body.runKey));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("subject", body.subject));
  WITAN_DO(checkText("cause", body.cause, kTextMax));
  WITAN_DO(checkTime("startedAtMs", body.startedAtMs));
  return checkTime("finishedAtMs", body.finishedAtMs);
}

Status checkRecord(const PlanBody& body) {
  WITAN_DO(checkGiven("runKey", body.runKey));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(checkCount("actions", body.actions.size()));
  for (const PlanAction& a : body.actions) {
    WITAN_DO(validateId("toolName", a.toolName));
    WITAN_DO(checkCanonicalJson("arguments", a.arguments));
    WITAN_DO(checkIds("scope", a.scope));
    WITAN_DO(checkIds("targets", a.targets));
  }
  return okStatus();
}

Status checkRecord(const SummaryBody& body) {
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("threadId", body.threadId));
  WITAN_DO(validateId("startMessageId", body.startMessageId));
  WITAN_DO(validateId("endMessageId", body.endMessageId));
  WITAN_DO(validateId("summarizerContractVersion", body.summarizerContractVersion));
  WITAN_DO(checkText("text", body.text, kMaxRecordBytes));
  if (body.rank == 0) return invalid("rank: 0 (ranks begin with 1)");
  return okStatus();
}

Status checkRecord(const JournalBody& body) {
  WITAN_DO(validateId("type", body.type));
  WITAN_DO(validateId("author", body.author));
  if (body.lamport == 0) return invalid("lamport: 0 (it begins with 1)");
  WITAN_DO(checkTime("editedAtMs", body.editedAtMs));
  WITAN_DO(checkDots("resolves", body.resolves));
  return checkCanonicalJson("payload", body.payload);
}

Status checkRecord(const OperationBody& body) {
  WITAN_DO(checkGiven("operationId", body.operationId));
  WITAN_DO(checkGiven("runKey", body.runKey));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("toolName", body.toolName));
  WITAN_DO(checkCanonicalJson("result", body.result));
  WITAN_DO(checkCount("undo", body.undo.size()));
  for (const UndoStep& step : body.undo) {
    WITAN_DO(validateId("undo.scope", step.scope));
    WITAN_DO(validateId("undo.key", step.key));
    if (step.type.empty() != step.payload.empty()) return invalid("undo: a type and a payload come together");
    if (step.writtenBy) WITAN_DO(checkGiven("undo.writtenBy", *step.writtenBy));
    if (step.type.empty()) continue;
    WITAN_DO(validateId("undo.type", step.type));
    WITAN_DO(checkCanonicalJson("undo.payload", step.payload));
  }
  if (body.compensates) WITAN_DO(checkGiven("compensates", *body.compensates));
  return okStatus();
}

Status checkRecord(const ApprovalBody& body) {
  WITAN_DO(checkGiven("operationId", body.operationId));
  WITAN_DO(checkGiven("digest", body.digest));
  WITAN_DO(checkGiven("runKey", body.runKey));
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(checkCanonicalJson("what", body.what));
  if ((body.verdict == ApprovalVerdict::waiting) != body.by.empty())
    return invalid("by: an answer has an author, a question has none");
  if (!body.by.empty()) WITAN_DO(validateId("by", body.by));
  WITAN_DO(checkText("reason", body.reason, kTextMax));
  WITAN_DO(checkTime("untilMs", body.untilMs));
  return checkTime("atMs", body.atMs);
}

Status checkRecord(const SignedDocumentBody& body) {
  WITAN_DO(validateId("name", body.name));
  if (body.version == 0) return invalid("version: 0 (versions begin with 1)");
  if (body.signature.size() != 64)
    return invalid(concat("signature: ", body.signature.size(), " bytes (an Ed25519 signature has 64)"));
  return checkCanonicalJson("content", body.content);
}

Status checkRecord(const PrivacyReceipt& r) {
  WITAN_DO(validateId("agentId", r.agentId));
  if (r.provider.empty() != r.model.empty()) return invalid("provider and model: one without the other");
  if (!r.provider.empty()) {
    WITAN_DO(validateId("provider", r.provider));
    WITAN_DO(validateId("model", r.model));
  }
  WITAN_DO(validateId("boundary", r.boundary));
  WITAN_DO(validateId("policyName", r.policyName));
  if (r.policyVersion == 0) return invalid("policyVersion: 0 (versions begin with 1)");
  WITAN_DO(checkGiven("policyDigest", r.policyDigest));
  WITAN_DO(validateId("confirmedBy", r.confirmedBy));
  return checkTime("confirmedAtMs", r.confirmedAtMs);
}

Status checkRecord(const GraphMessageBody& body) { return checkCanonicalJson("content", body.content); }

Status checkRecord(const ArtefactBody& body) { return checkCanonicalJson("envelope", body.envelope); }

Status checkRecord(const ActivationBody& body) {
  WITAN_DO(validateId("agentId", body.agentId));
  WITAN_DO(validateId("graph", body.graph));
  WITAN_DO(validateId("span", body.span));
  if (body.attempt == 0) return invalid("attempt: 0 (attempts begin with 1)");
  return checkCanonicalJson("input", body.input);
}

Status checkRecord(const SealedCopyBody& body) {
  if (body.key.empty() || body.key.size() > kMaxIdBytes)
    return invalid(concat("key: a name of ", body.key.size(), " bytes (1 to ", kMaxIdBytes, ")"));
  return body.sealed.empty() ? invalid("sealed: nothing") : okStatus();
}

namespace {

template <class Body>
Status checkSize(std::size_t bytes) {
  std::size_t most = kMaxRecordBytes;
  if constexpr (requires { Body::recordMax; }) most = Body::recordMax;
  if (bytes <= most) return okStatus();
  return invalid(concat("a record of ", bytes, " bytes (at most ", most, ")"));
}

}  // namespace

template <class Body>
Result<std::string> encodeRecord(const Body& body) {
  WITAN_DO(checkRecord(body));
  thread_local WordWriter writer;
  std::string bytes(writer.message(body));
  WITAN_DO(checkSize<Body>(bytes.size()));
  return bytes;
}

template <class Body>
Result<Body> decodeRecord(std::string_view bytes) {
  WITAN_DO(checkSize<Body>(bytes.size()));
  Body body;
  WITAN_DO(readMessage(bytes, body, "record"));
  WITAN_DO(checkRecord(body));
  return body;
}

#define WITAN_RECORD_DEFINE(Body)                         \
  template Result<std::string> encodeRecord(const Body&); \
  template Result<Body> decodeRecord<Body>(std::string_view);
WITAN_RECORD_BODIES(WITAN_RECORD_DEFINE)
#undef WITAN_RECORD_DEFINE

std::vector<const Version*> versionsByDot(std::span<const Version> versions) {
  std::vector<const Version*> out;
  for (const Version& v : versions) out.push_back(&v);
  std::ranges::sort(out, [](const Version* a, const Version* b) {
    return std::tie(a->dot, a->tombstone, a->body) < std::tie(b->dot, b->tombstone, b->body);
  });
  out.erase(std::unique(out.begin(), out.end(), [](const Version* a, const Version* b) { return a->dot == b->dot; }),
            out.end());
  return out;
}

std::vector<const Version*> maximalVersions(std::span<const Version> versions) {
  std::vector<const Version*> out;
  for (const Version* v : versionsByDot(versions)) {
    const bool seen = std::ranges::any_of(
        versions, [&](const Version& other) { return other.dot != v->dot && other.context.covers(v->dot); });
    if (!seen) out.push_back(v);
  }
  return out;
}

}  // namespace witan::replication
