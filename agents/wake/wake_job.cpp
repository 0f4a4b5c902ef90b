#include "agents/wake/wake_job.h"

#include "agents/wake/provenance.h"
#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "base/json.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

using replication::WakeReason;

constexpr std::string_view kRows = "wake/";

// One parse of the body serves both halves.
Result<std::vector<replication::BatchChange>> changesOf(std::string_view body) {
  WITAN_TRY(read, replication::decodeRecord<replication::BatchBody>(body));
  return std::move(read.changes);
}

std::string inputOf(const BatchNews& news) {
  json::array changes, tokens;
  for (const auto& change : news.changes) {
    if (changes.size() == kMaxInputChanges) break;
    changes.push_back(json::object{{"type", change.payloadType}, {"id", change.payloadId}});
  }
  for (const TokenKey& key : news.batch.tokenKeys) {
    if (tokens.size() == kMaxInputChanges) break;
    tokens.emplace_back(key.str());
  }
  const std::uint64_t more = news.changes.size() - changes.size();
  json::object input{{"changes", std::move(changes)}, {"tokens", std::move(tokens)}};
  if (more > 0) input["more"] = more;
  return canonicalJson(input);
}

Result<WakeJob> withKey(WakeJob job) {
  WITAN_TRY(key, runKeyOf(job));
  job.runKey = key.value;
  return job;
}

}  // namespace

Result<RunKey> runKeyOf(const WakeJob& job) {
  switch (job.reason) {
    case WakeReason::subscription:
      if (!job.change) return invalid("a wake by subscription needs a logical change key");
      return subscriptionRunKey(job.agentId, job.subject, LogicalChangeKey{*job.change});
    case WakeReason::timer: return timerRunKey(job.agentId, job.subject, job.scheduledAtMs);
    case WakeReason::user: return userRunKey(job.agentId, job.subject, job.turn);
  }
  return invalid("an unknown reason of a wake");
}

Result<BatchNews> batchNews(const replication::Dot& dot, std::string body) {
  WITAN_TRY(changes, changesOf(body));
  WITAN_TRY(batch, replication::batchOf({dot, {}, std::move(body), false}));
  return BatchNews{std::move(batch), std::move(changes)};
}

Result<WakeJob> subscriptionJob(std::string_view agentId, std::string_view subscriptionId, std::string_view space,
                                const BatchNews& news) {
  WakeJob job;
  job.agentId = agentId;
  job.reason = WakeReason::subscription;
  job.subject = subscriptionId;
  job.space = space;
  job.batchHost = news.batch.dot.host;
  job.batchCounter = news.batch.dot.counter;
  job.change = news.batch.logicalChangeKey.value;
  if (const auto from = provenanceOf(news.batch)) job.hops = from->hops + 1;
  job.input = inputOf(news);
  return withKey(std::move(job));
}

Result<WakeJob> ledgerJob(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact) {
  const std::string name = canonicalJson(json::array{fact.domain, fact.entity, fact.field, fact.key, fact.value});
  // Names of entities and keys are free texts, ids are not.
  WITAN_TRY(unit, changeUnitKey({ChangeOrigin::local, "ledger", 0, "ledgerFact", toHex(sha256(name))}));
  WITAN_TRY(change, logicalChangeKey({&unit, 1}));
  WakeJob job;
  job.agentId = agentId;
  job.reason = WakeReason::subscription;
  job.subject = subscriptionId;
  job.space = "ledger/" + fact.domain;
  job.change = change.value;
  job.input = canonicalJson(json::object{{"changes", json::array{}},
                                         {"ledger",
                                          {{"domain", fact.domain},
                                           {"entity", fact.entity},
                                           {"field", fact.field},
                                           {"key", fact.key},
                                           {"value", fact.value}}},
                                         {"tokens", json::array{}}});
  return withKey(std::move(job));
}

Result<WakeJob> timerJob(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs) {
  WakeJob job;
  job.agentId = agentId;
  job.reason = WakeReason::timer;
  job.subject = timerId;
  job.scheduledAtMs = scheduledAtMs;
  job.input = canonicalJson(json::object{{"scheduledAtMs", scheduledAtMs}});
  return withKey(std::move(job));
}

Result<WakeJob> userJob(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                        std::string_view text) {
  if (text.size() > kMaxUserTextBytes)
    return invalid("a turn of " + std::to_string(text.size()) + " bytes (at most " + std::to_string(kMaxUserTextBytes) +
                   ")");
  if (!isUtf8(text)) return invalid("a turn that is not UTF-8");
  WakeJob job;
  job.agentId = agentId;
  job.reason = WakeReason::user;
  job.subject = sessionId;
  job.turn = turnId;
  job.input = canonicalJson(json::object{{"user", text}});
  return withKey(std::move(job));
}

std::string jobRowName(const RunKey& key) { return std::string(kRows) + key.hex(); }

std::string encodeJob(const WakeJob& job) {
  WordWriter words;
  return std::string(words.message(job));
}

Result<WakeJob> decodeJob(std::string_view rowName, std::string_view bytes) {
  const auto wrong = [&](const std::string& why) { return corrupt("row " + std::string(rowName) + ": " + why); };
  WakeJob job;
  if (Status status = readMessage(bytes, job, "wake job"); !status.ok()) return wrong(status.error().message);
  auto key = runKeyOf(job);
  if (!key.ok()) return wrong(key.error().message);
  if (*key != job.key() || jobRowName(*key) != rowName) return wrong("the run key is not the job's");
  return job;
}

}  // namespace witan::agents
