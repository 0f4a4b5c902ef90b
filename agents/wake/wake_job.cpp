#include "agents/wake/wake_job.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "base/json.h"
#include "base/utf8.h"
#include "replication/records/record_write.h"

namespace witan::agents {

namespace {

using replication::Kind;
using replication::WakeReason;
using replication::WakeStatus;

std::uint64_t hopsOf(std::string_view text) {
  std::uint64_t hops = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hops);
  if (error != std::errc() || end != text.data() + text.size()) return kEndlessHops;
  return std::min(hops, kEndlessHops);
}

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

constexpr std::size_t kMaxCauseBytes = 1000;

}  // namespace

std::vector<NotificationToken> provenanceTokens(const Provenance& provenance) {
  return {{TokenClass::subtypeToken, std::string(kRunAgentNamespace), provenance.agentId},
          {TokenClass::subtypeToken, std::string(kRunHopsNamespace), std::to_string(provenance.hops)}};
}

std::optional<Provenance> provenanceOf(const replication::NotificationBatch& batch) {
  std::optional<std::string> agent;
  std::optional<std::uint64_t> hops;
  // Several of one kind: tokens are in canonical order, so every device takes the same.
  for (const NotificationToken& token : batch.tokens) {
    if (token.tokenClass != TokenClass::subtypeToken) continue;
    if (token.tokenNamespace == kRunAgentNamespace) agent = token.value;
    if (token.tokenNamespace == kRunHopsNamespace) hops = std::max(hops.value_or(0), hopsOf(token.value));
  }
  if (!agent && !hops) return std::nullopt;
  return Provenance{agent.value_or(""), agent && hops ? *hops : kEndlessHops};
}

std::int64_t owedAt(std::int64_t everyMs, std::int64_t wallMs) { return wallMs < 0 ? 0 : wallMs / everyMs * everyMs; }

Result<RunKey> runKeyOf(const WakeJob& job) {
  switch (job.reason) {
    case WakeReason::subscription:
      if (!job.change) return invalid("a wake by subscription needs a logical change key");
      return subscriptionRunKey(job.agentId, job.subject, LogicalChangeKey{*job.change});
    case WakeReason::timer: return timerRunKey(job.agentId, job.subject, job.scheduledAtMs);
    case WakeReason::user: return userRunKey(job.agentId, job.subject, job.turn);
    case WakeReason::graph: return graphRunKey(job.agentId, job.turn, job.scheduledAtMs);
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
  WakeJob job{.agentId = std::string(agentId),
              .reason = WakeReason::subscription,
              .subject = std::string(subscriptionId),
              .space = std::string(space),
              .batchHost = news.batch.dot.host,
              .batchCounter = news.batch.dot.counter,
              .change = news.batch.logicalChangeKey.value};
  if (const auto from = provenanceOf(news.batch)) job.hops = from->hops + 1;
  job.input = inputOf(news);
  return withKey(std::move(job));
}

Result<WakeJob> ledgerJob(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact) {
  const std::string name = canonicalJson(json::array{fact.domain, fact.entity, fact.field, fact.key, fact.value});
  // Names of entities and keys are free texts, ids are not.
  WITAN_TRY(unit, changeUnitKey({ChangeOrigin::local, "ledger", 0, "ledgerFact", toHex(sha256(name))}));
  WITAN_TRY(change, logicalChangeKey({&unit, 1}));
  WakeJob job{.agentId = std::string(agentId),
              .reason = WakeReason::subscription,
              .subject = std::string(subscriptionId),
              .space = "ledger/" + fact.domain,
              .change = change.value,
              .hops = fact.hops};
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
  WakeJob job{.agentId = std::string(agentId),
              .reason = WakeReason::timer,
              .subject = std::string(timerId),
              .scheduledAtMs = scheduledAtMs};
  job.input = canonicalJson(json::object{{"scheduledAtMs", scheduledAtMs}});
  return withKey(std::move(job));
}

Result<WakeJob> graphJob(const replication::ActivationBody& activation) {
  return withKey({.agentId = activation.agentId,
                  .reason = WakeReason::graph,
                  .subject = activation.graph,
                  .scheduledAtMs = static_cast<std::int64_t>(activation.attempt),
                  .turn = activation.span,
                  .hops = activation.hops,
                  .input = activation.input});
}

Result<WakeJob> userJob(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                        std::string_view text) {
  if (text.size() > kMaxUserTextBytes)
    return invalid(concat("a turn of ", text.size(), " bytes (at most ", kMaxUserTextBytes, ")"));
  if (!isUtf8(text)) return invalid("a turn that is not UTF-8");
  WakeJob job{.agentId = std::string(agentId),
              .reason = WakeReason::user,
              .subject = std::string(sessionId),
              .turn = std::string(turnId)};
  job.input = canonicalJson(json::object{{"user", text}});
  return withKey(std::move(job));
}

std::string jobRowName(const RunKey& key) { return concat(kRows, key.hex()); }

std::string encodeJob(const WakeJob& job) {
  WordWriter words;
  return std::string(words.message(job));
}

Result<WakeJob> decodeJob(std::string_view rowName, std::string_view bytes) {
  const auto wrong = [&](const std::string& why) { return corrupt(concat("row ", rowName, ": ", why)); };
  WakeJob job;
  if (Status status = readMessage(bytes, job, "wake job"); !status.ok()) return wrong(status.error().message);
  auto key = runKeyOf(job);
  if (!key.ok()) return wrong(key.error().message);
  if (*key != job.key() || jobRowName(*key) != rowName) return wrong("the run key is not the job's");
  return job;
}

Result<replication::WakeRunView> runView(replication::Space& space, const RunKey& key) {
  WITAN_TRY(versions, space.versions(Kind::wakeRun, key.hex()));
  return replication::wakeRunViewOf(key, versions);
}

Result<bool> hasEnded(replication::Space& space, const RunKey& key) {
  WITAN_TRY(versions, space.versions(Kind::wakeRun, key.hex()));
  // One that was taken away had ended (agents/host/run_retention.h).
  if (std::ranges::any_of(versions, &replication::Version::tombstone)) return true;
  const auto view = replication::wakeRunViewOf(key, versions);
  return view.run && replication::isTerminal(view.run->body.status);
}

replication::WakeRunBody runBody(const WakeJob& job, WakeStatus status, std::string_view cause,
                                 std::int64_t finishedAtMs) {
  return {job.runKey, job.agentId,     job.reason,   job.subject,
          status,     job.startedAtMs, finishedAtMs, std::string(clip(cause, kMaxCauseBytes)),
          job.hops};
}

Result<replication::Write> runWrite(const replication::WakeRunBody& body) {
  return replication::recordWrite(RunKey{body.runKey}.hex(), body);
}

Result<std::vector<KnownRun>> knownRuns(replication::Space& space) {
  std::vector<KnownRun> runs;
  for (const std::string& name : space.keys(Kind::wakeRun)) {
    // A key that is no run key is another build's or a hostile one's: it names no run.
    const auto key = RunKey::parse(name);
    if (!key.ok()) continue;
    WITAN_TRY(view, runView(space, *key));
    runs.push_back({*key, std::move(view)});
  }
  return runs;
}

}  // namespace witan::agents
