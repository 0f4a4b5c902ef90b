#include "node/operations/agent_records.h"

#include <algorithm>

#include "agents/episode/replay.h"
#include "agents/host/agent_host.h"
#include "agents/json_members.h"
#include "agents/memory/thread.h"
#include "agents/policy/monitor.h"
#include "agents/wake/wake_job.h"
#include "agents/wake/wake_queue.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "base/time.h"
#include "domains/agents.h"
#include "node/daemon/agent_files.h"
#include "node/daemon/agent_waits.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/versions.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"
#include "replication/writer.h"
#include "saga/saga_engine.h"

namespace witan::node::operations {

using namespace replication;
using agents::episode::EntryKind;
using agents::episode::TranscriptKey;
using agents::episode::TranscriptRow;
using saga::SagaRow;

namespace {

constexpr std::size_t kShortId = 8;  // digits of a device's id, as people read it

// What waits for a person is answered by one: neither by a device nor by the word for no answer.
Status checkPerson(const OperationContext& context, const std::string& by) {
  WITAN_DO(validateId("by", by));
  if (by == kNobodyAnswered)
    return invalid("by: " + inQuotes(by) + " stands for questions that got no answer", "give a person's name");
  WITAN_TRY(roster, rosterOfDirectory(context.dir));
  if (roster && roster->person(by) != nullptr) return okStatus();
  const std::string id = by.substr(0, by.find('@'));  // of a writer's name
  const auto isOf = [&](std::string_view device) {
    return device == id || (id.size() >= kShortId && device.starts_with(id));
  };
  if (isOf(context.replica.device()) ||
      std::ranges::any_of(context.names, [&](const auto& device) { return device.second == by || isOf(device.first); }))
    return invalid("by: " + inQuotes(by) + " is a device", "give a person's name");
  return okStatus();
}

// --- approvals

ApprovalRow approvalRow(const std::string& operation, const ApprovalBody& body) {
  auto what = parseJson(body.what);
  return {operation,
          toHex(body.digest),
          body.agentId,
          toHex(body.runKey),
          what.ok() ? *what : json::value(),
          std::string(enumName(body.verdict)),
          body.by,
          body.reason,
          body.atMs,
          body.untilMs};
}

// An approval names the policy under which this device asked: under another one the effect would be denied all the
// same.
Status checkAskedUnder(OperationContext& context, Space& space, const ApprovalVersion& asked, std::string_view id) {
  if (replication::deviceOf(asked.dot.host) != context.replica.device()) return okStatus();
  WITAN_TRY(rows, agents::episode::readTranscript(space, RunKey{asked.body.runKey}, context.replica.device()));
  std::string then;
  for (const TranscriptRow& row : rows) {
    const auto entry = agents::episode::parseEntry(row.message.content);
    if (entry.ok() && entry->kind == EntryKind::intended && agents::stringOf(entry->body, "span") == id)
      then = agents::stringOf(entry->body, "policy");
  }
  if (then.empty()) return okStatus();
  std::string now;
  if (context.agents != nullptr) {
    now = context.agents->policyEpoch();
  } else {
    WITAN_TRY(gate, gateOfDevice(context.dir));
    now = gate->epoch();
  }
  if (now == then) return okStatus();
  return conflict(concat("it was asked under policy ", inQuotes(then), ", and ", inQuotes(now),
                         " is in force: an approval would not count"),
                  "deny it; or put the former policy back, and approve it then");
}

Result<ApprovalRow> answerApproval(OperationContext& context, const ApprovalAnswerRequest& request,
                                   ApprovalVerdict verdict) {
  WITAN_DO(checkPerson(context, request.by));
  const std::string scope = request.scope.value_or(kDefaultScope);
  Space* space = context.space(DatabaseName::agents, scope);
  const std::vector<std::string> ids = space == nullptr ? std::vector<std::string>{} : space->keys(Kind::approval);
  WITAN_TRY(id, chosenByPrefix(request.operation, ids, "operation id", "see: witan approval list"));
  WITAN_TRY(operation, OperationId::parse(id));
  WITAN_TRY(digest, approvalDigest(request.digest));
  WITAN_TRY(versions, space->versions(Kind::approval, id));
  const ApprovalView view = approvalViewOf(operation, versions);
  if (view.shown && view.shown->body.agentId == request.by)
    return invalid("by: " + inQuotes(request.by) + " is the agent that asks",
                   "give the name of the person who answers");
  WITAN_TRY(body, answerTo(view, digest.value, verdict, request.by, request.reason.value_or(""), context.nowMs()));
  if (verdict == ApprovalVerdict::approved) {
    WITAN_TRY(lifecycle, agents::lifecycleIn(*space, body.agentId));
    if (lifecycle == Lifecycle::destroyed)
      return conflict("agent " + body.agentId + " is destroyed: nothing that it asked goes on");
    WITAN_DO(checkAskedUnder(context, *space, *view.shown, id));
  }
  ApprovalAnswerRequest whole = request;
  whole.operation = id;
  const bool yes = verdict == ApprovalVerdict::approved;
  WITAN_TRY(answer, personsAnswer(context, (yes ? kApprovalApprove : kApprovalDeny).path, whole));
  WITAN_TRY(write, recordWrite(id, body));
  WITAN_DO(context.replica.commit(DatabaseName::agents, scope, {&write, 1}));
  answer.subject = id;
  if (!answer.signature.empty()) WITAN_DO(keepInboxAnswer(context.replica, scope, toHex(body.runKey), answer));
  return approvalRow(id, body);
}

// --- episodes

Result<Space*> spaceOf(OperationContext& context, const EpisodeRequest& request) {
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr)
    return notFound("no agent has a record in scope " + inQuotes(request.scope.value_or(kDefaultScope)));
  return space;
}

std::string textAt(const json::object& body, std::string_view name) {
  return std::string(agents::stringOf(body, name));
}

// The transcript by the named device; with none named, the only one that is held.
Result<TranscriptKey> chosenTranscript(Space& space, const EpisodeRequest& a) {
  std::vector<TranscriptKey> found;
  for (TranscriptKey& key : agents::episode::listTranscripts(space))
    if (key.run.hex().starts_with(a.run) && (!a.device || key.device == *a.device)) found.push_back(std::move(key));
  if (found.empty())
    return notFound("no transcript of run " + a.run + (!a.device ? "" : " by " + *a.device), "see: witan episode list");
  if (found.size() == 1) return found.front();
  if (std::ranges::any_of(found, [&](const TranscriptKey& key) { return key.run != found[0].run; }))
    return conflict("the keys of several runs begin with " + a.run, "give more digits");
  std::string devices;
  for (const TranscriptKey& key : found) devices += (devices.empty() ? "" : ", ") + key.device;
  return conflict("several devices ran it: " + devices, "choose one with --device");
}

struct EpisodeSummary {
  std::string agent, version, status, cause;
  std::size_t entries = 0;
};

// Reads the first and the last entry that are held.
EpisodeSummary summaryOf(const std::vector<TranscriptRow>& rows) {
  EpisodeSummary out{{}, {}, "unfinished", {}, rows.size()};
  if (const auto first = agents::episode::parseEntry(rows.front().message.content); first.ok()) {
    out.agent = textAt(first->body, "agent");
    out.version = textAt(first->body, "version");
  }
  const auto last = agents::episode::parseEntry(rows.back().message.content);
  if (!last.ok()) {
    out.status = "unreadable";
  } else if (last->kind == EntryKind::end) {
    out.status = textAt(last->body, "status");
    out.cause = textAt(last->body, "cause");
  }
  return out;
}

struct FoundTranscript {
  TranscriptKey key;
  std::vector<TranscriptRow> rows;
};

Result<FoundTranscript> transcriptOf(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(space, spaceOf(context, request));
  WITAN_TRY(key, chosenTranscript(*space, request));
  WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
  return FoundTranscript{std::move(key), std::move(rows)};
}

// --- receipts

constexpr std::size_t kMinDigestDigits = 8;

ReceiptRow receiptRow(const PrivacyReceipt& r) {
  return {receiptKey(r),         r.agentId,     r.boundary,     r.provider, r.model, r.policyName, r.policyVersion,
          toHex(r.policyDigest), r.confirmedBy, r.confirmedAtMs};
}

Result<std::vector<PrivacyReceipt>> allReceipts(OperationContext& context, const Omittable<std::string>& scope) {
  Space* space = context.space(DatabaseName::agents, scope);
  return space == nullptr ? Result<std::vector<PrivacyReceipt>>(std::vector<PrivacyReceipt>{}) : receiptsIn(*space);
}

Result<PrivacyReceipt> chosenReceipt(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipts, allReceipts(context, request.scope));
  std::vector<std::string> keys;
  for (const PrivacyReceipt& receipt : receipts) keys.push_back(receiptKey(receipt));
  WITAN_TRY(key, chosenByPrefix(request.key, keys, "receipt", "see: witan receipt list"));
  std::erase_if(receipts, [&](const PrivacyReceipt& receipt) { return receiptKey(receipt) != key; });
  return std::move(receipts.front());
}

Status commitReceipt(OperationContext& context, const Omittable<std::string>& scope, Write write) {
  WITAN_DO(context.replica.commit(DatabaseName::agents, scope.value_or(kDefaultScope), {&write, 1}));
  return okStatus();
}

// Refuses a confirmation that would count for nothing: people must not believe that they have confirmed something.
Status checkUse(const agents::Policy& policy, const ReceiptConfirmRequest& a, const agents::ModelName* model) {
  const auto boundary =
      std::ranges::find_if(policy.boundary, [&](const agents::Boundary& b) { return b.name == a.boundary; });
  const std::string named = concat("policy ", policy.name, " version ", policy.version);
  if (boundary == policy.boundary.end()) return invalid(named + " has no boundary " + inQuotes(a.boundary));
  const bool asked = std::ranges::any_of(boundary->operation, [&](const agents::OperationRule& rule) {
    return model != nullptr ? rule.inference : rule.confirm && !rule.inference;
  });
  if (!asked)
    return invalid("no operation of boundary " + inQuotes(a.boundary) + " asks for a confirmation " +
                       (model != nullptr ? "of a model" : "without a model"),
                   model != nullptr ? "leave --provider and --model out" : "give --provider and --model");
  const bool granted = std::ranges::any_of(policy.grant, [&](const agents::Grant& grant) {
    const auto has = [](const auto& list, const auto& one) { return std::ranges::find(list, one) != list.end(); };
    return grant.agent == a.agent && has(grant.boundaries, a.boundary) &&
           (model == nullptr || has(grant.models, *model));
  });
  return granted ? okStatus()
                 : Status(invalid(named + " does not grant this use to " + inQuotes(a.agent),
                                  "a confirmation would count for nothing"));
}

// A person confirms the policy that the person has read, and that the node works under.
Status checkPolicyIs(const OperationContext& context, const agents::Policy& policy, const std::string& wanted) {
  const std::string digest = toHex(agents::policyDigest(policy));
  const std::string here = concat(policy.name, " ", policy.version, " ", digest);
  if (!wanted.empty() && (wanted.size() < kMinDigestDigits || !digest.starts_with(wanted)))
    return conflict("the policy is another one by now: " + here + ", not " + inQuotes(wanted),
                    "read it (witan policy check), then confirm it by its digest");
  if (context.agents == nullptr || context.agents->policyEpoch() == here) return okStatus();
  return conflict("the file says " + here + ", and the node works under " + context.agents->policyEpoch(),
                  "let the node read it again (SIGHUP, systemctl reload), or put the former file back");
}

// --- sagas

// An environment that begins repairs and carries none out.
class NoEffects final : public saga::SagaEnvironment {
 public:
  Result<saga::JournalEffect> journalEffect(const SagaRow&) override { return unavailable(); }
  Status call(const SagaRow&, Now) override { return unavailable(); }
  Result<std::vector<Write>> record(const SagaRow&, const saga::Outcome&) override { return std::vector<Write>{}; }
  void finished(const SagaRow&) override {}

 private:
  static Error unavailable() { return {ErrorCode::unavailable, "no agents work here", ""}; }
};

Result<SagaLine> sagaLine(const SagaRow& row) {
  WITAN_TRY(value, parseJson(saga::rowJson(row), kOwnJson));
  SagaLine line;
  WITAN_DO(readJson(value, line, "saga"));
  return line;
}

saga::SagaRows sagaRows(OperationContext& context) {
  return saga::SagaRows(context.replica.database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
}

Result<OperationId> sagaOperation(saga::SagaRows& rows, const std::string& text) {
  if (auto whole = OperationId::parse(text); whole.ok()) return *whole;  // perhaps of another device
  std::vector<std::string> ids;
  const auto visit = [&](SagaRow&& row) { ids.push_back(row.id().hex()); };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  WITAN_DO(rows.visitDone(visit));
  WITAN_TRY(id, chosenByPrefix(text, ids, "operation id", "see: witan saga list --all"));
  return OperationId::parse(id);
}

constexpr std::string_view kRepairRows = "saga/repair/";  // + operation in hex

WITAN_STRUCT(SagaRepairs, (std::vector<SagaRepair>, repairs, "Oldest first"))

Result<SagaRepairs> repairsIn(std::string_view text) {
  SagaRepairs out;
  auto parsed = parseJson(text, kOwnJson);
  const Status read = parsed.ok() ? readJson(*parsed, out, "repairs of a saga") : Status(parsed.error());
  if (!read.ok()) return corrupt(read.error().message);
  return out;
}

// Makes room for another operation.
Status forgetOldest(replication::Database& agents) {
  std::map<std::int64_t, std::string> byTime;
  std::size_t count = 0;
  Status read = okStatus();
  WITAN_DO(agents.scanMeta(kRepairRows, [&](std::string_view row, std::string_view text) {
    auto one = repairsIn(text);
    read = one.ok() ? okStatus() : Status(one.error());
    if (one.ok()) byTime.emplace(one->repairs.empty() ? 0 : one->repairs.back().atMs, row), ++count;
    return read.ok();
  }));
  WITAN_DO(read);
  if (count >= kMaxRepaired) agents.eraseMeta(byTime.begin()->second);
  return okStatus();
}

Status noteRepair(replication::Database& agents, const OperationId& operation, SagaRepair repair) {
  WITAN_TRY(known, repairsOf(agents, operation));
  if (known.empty()) WITAN_DO(forgetOldest(agents));
  known.push_back(std::move(repair));
  if (known.size() > kMaxRepairsOfOne) known.erase(known.begin());
  agents.putMeta(concat(kRepairRows, operation.hex()), toJson(SagaRepairs{std::move(known)}));
  return okStatus();
}

// Who said it stands beside what it does, durable with it.
Result<SagaBegun> repairSaga(OperationContext& context, const SagaRepairRequest& request, RepairKind kind) {
  WITAN_DO(checkPerson(context, request.by));
  saga::SagaRows rows = sagaRows(context);
  WITAN_TRY(operation, sagaOperation(rows, request.operation));
  NoEffects none;
  saga::SagaEngine own(context.replica, none);
  saga::SagaEngine& engine = context.agents != nullptr ? context.agents->sagas() : own;
  const auto row = rows.find(operation);
  if (request.updatedAtMs && row.ok() && *request.updatedAtMs != row->updatedAtMs)
    return conflict("the operation has changed since it was shown",
                    "look again: witan saga show " + operation.hex().substr(0, 16));
  SagaRepairRequest whole = request;
  whole.operation = operation.hex();
  const bool again = kind == RepairKind::retry;
  WITAN_TRY(answer, personsAnswer(context, (again ? kSagaRetry : kSagaCompensate).path, whole));
  if (!answer.signature.empty() && !request.updatedAtMs)
    return invalid("updatedAtMs: a signed answer says what was shown", "witan inbox operation:... retry --sign FILE");
  const Now now{context.now, context.nowMs()};
  WITAN_DO(kind == RepairKind::retry ? engine.retry(operation, now) : engine.compensate(operation, now));
  WITAN_DO(noteRepair(context.replica.database(DatabaseName::agents), operation,
                      {kind, request.by, context.nowMs(), row.ok() ? row->lastError : ""}));
  answer.subject = operation.hex();
  if (row.ok())  // the other devices go by it
    WITAN_DO(keepInboxAnswer(context.replica, row->intent.scope, toHex(row->intent.run), answer));
  return SagaBegun{std::string(enumName(kind)), operation.hex()};
}

// --- wakes

WakeRow wakeRow(const agents::WakeJob& job) {
  return {job.key().hex(),
          job.agentId,
          std::string(enumName(job.reason)),
          job.subject,
          std::string(enumName(job.state)),
          "",
          job.enqueuedAtMs};
}

WakeRow wakeRow(const agents::KnownRun& run) {
  const WakeRunBody& body = run.view.run->body;
  // A run with a cause that has not ended: before its first start, which device has it in its queue; then why it waits.
  const bool open = body.status == WakeStatus::started && !body.cause.empty();
  const bool claimed = open && body.startedAtMs == 0;
  return {run.key.hex(),
          body.agentId,
          std::string(enumName(body.reason)),
          body.subject,
          claimed ? body.cause
          : open  ? "waits"
                  : std::string(enumName(body.status)),
          claimed ? "" : body.cause,
          body.startedAtMs};
}

}  // namespace

// --- approvals

Result<OperationId> approvalDigest(const std::string& text) {
  if (auto digest = OperationId::parse(text); digest.ok()) return digest;
  return invalid(inQuotes(text) + " is no digest", "take it from: witan approval list");
}

Result<Approvals> listApprovals(OperationContext& context, const ApprovalListRequest& request) {
  Approvals list;
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return list;
  const bool all = request.all.value_or(false);
  for (const std::string& key : space->keys(Kind::approval)) {
    WITAN_TRY(row, approvalOf(*space, key));
    if (!row || (!all && row->verdict != enumName(ApprovalVerdict::waiting))) continue;
    WITAN_TRY(lifecycle, agents::lifecycleIn(*space, row->agentId));
    if (all || lifecycle != Lifecycle::destroyed) list.approvals.push_back(*std::move(row));
  }
  return list;
}

Result<std::optional<ApprovalRow>> approvalOf(Space& space, const std::string& key) {
  WITAN_TRY(operation, OperationId::parse(key));
  WITAN_TRY(versions, space.versions(Kind::approval, key));
  const ApprovalView view = approvalViewOf(operation, versions);
  return view.shown ? std::optional(approvalRow(key, view.shown->body)) : std::nullopt;
}

Result<ApprovalRow> approve(OperationContext& context, const ApprovalAnswerRequest& request) {
  return answerApproval(context, request, ApprovalVerdict::approved);
}

Result<ApprovalRow> deny(OperationContext& context, const ApprovalAnswerRequest& request) {
  return answerApproval(context, request, ApprovalVerdict::denied);
}

// --- episodes

Result<Episodes> listEpisodes(OperationContext& context, const ScopeRequest& request) {
  Episodes list;
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return list;
  for (const TranscriptKey& key : agents::episode::listTranscripts(*space)) {
    WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
    EpisodeSummary summary = summaryOf(rows);
    list.episodes.push_back({key.run.hex(), key.device, std::move(summary.agent), std::move(summary.version),
                             std::move(summary.status), std::move(summary.cause), summary.entries});
  }
  return list;
}

Result<Transcript> showEpisode(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(found, transcriptOf(context, request));
  Transcript transcript;
  for (const TranscriptRow& row : found.rows) {
    auto entry = parseJson(row.message.content, kOwnJson);
    if (!entry.ok()) return corrupt(concat("entry ", transcript.entries.size(), ": ", entry.error().message));
    transcript.entries.push_back(std::move(*entry));
  }
  WITAN_TRY(space, spaceOf(context, request));
  if (auto answers = inboxAnswersAt(*space, found.key.run.hex()); !answers.empty())
    transcript.answers = std::move(answers);
  return transcript;
}

Result<EpisodeReplay> replayEpisode(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(found, transcriptOf(context, request));
  std::vector<std::string> contents;
  for (const TranscriptRow& row : found.rows) contents.push_back(row.message.content);
  const EpisodeSummary summary = summaryOf(found.rows);
  const agents::Agent* agent = domains::findAgent(summary.agent);
  std::unique_ptr<const agents::Agent> ofFile;
  if (agent == nullptr) {
    WITAN_SET(ofFile, AgentFiles::version(context.dir, summary.agent, summary.version));
    agent = ofFile.get();
  }
  WITAN_TRY(result, agents::episode::replay(*agent, contents));
  EpisodeReplay replay{found.key.run.hex(), found.key.device, result.entries, result.ended, !result.difference, {}};
  if (const auto& d = result.difference)
    replay.difference = EpisodeDifference{d->entry, d->why, json::value(d->recorded), json::value(d->derived)};
  return replay;
}

// --- receipts

Result<Receipts> listReceipts(OperationContext& context, const ScopeRequest& request) {
  WITAN_TRY(receipts, allReceipts(context, request.scope));
  Receipts list;
  for (const PrivacyReceipt& receipt : receipts) list.receipts.push_back(receiptRow(receipt));
  return list;
}

Result<ReceiptRow> showReceipt(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipt, chosenReceipt(context, request));
  return receiptRow(receipt);
}

Result<ReceiptRow> confirmReceipt(OperationContext& context, const ReceiptConfirmRequest& request) {
  const agents::ModelName named{request.provider.value_or(""), request.model.value_or("")};
  if (named.provider.empty() != named.model.empty()) return invalid("provider and model belong together");
  const agents::ModelName* model = named.model.empty() ? nullptr : &named;
  WITAN_TRY(policy, readAgentsPolicy((context.dir / kAgentsPolicyFile).string()));
  WITAN_DO(checkPolicyIs(context, policy, request.policy.value_or("")));
  WITAN_DO(checkUse(policy, request, model));
  const PrivacyReceipt receipt =
      agents::confirm(policy, request.agent, model, request.boundary, request.by, context.nowMs());
  WITAN_TRY(write, recordWrite(receiptKey(receipt), receipt));
  WITAN_DO(commitReceipt(context, request.scope, std::move(write)));
  return receiptRow(receipt);
}

Result<ReceiptRow> withdrawReceipt(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipt, chosenReceipt(context, request));
  WITAN_DO(commitReceipt(context, request.scope, {Kind::receipt, receiptKey(receipt), "", true}));
  return receiptRow(receipt);
}

// --- sagas

Result<std::vector<SagaRepair>> repairsOf(const replication::Database& agents, const OperationId& operation) {
  WITAN_TRY(text, agents.meta(concat(kRepairRows, operation.hex())));
  if (!text) return std::vector<SagaRepair>();
  WITAN_TRY(all, repairsIn(*text));
  return std::move(all.repairs);
}

Result<std::vector<SagaRepair>> repairsEverywhere(OperationContext& context, std::string_view scope,
                                                  const std::string& run, const OperationId& operation) {
  Database& database = context.replica.database(DatabaseName::agents);
  WITAN_TRY(all, repairsOf(database, operation));
  Space* records = database.find(scope);
  if (records == nullptr) return all;
  const std::string item = "operation:" + operation.hex();
  for (const InboxAnswer& one : inboxAnswersAt(*records, run, context.replica.device()))
    if (const auto kind = parseEnum<RepairKind>(one.choice); kind && one.item == item)
      all.push_back({*kind, one.by, one.at.micros / 1000, ""});
  std::ranges::stable_sort(all, {}, &SagaRepair::atMs);
  return all;
}

std::string repairWords(const SagaRepair& repair) {
  return concat(repair.kind == RepairKind::retry ? "tried again" : "given up or undone", " by ", repair.by, " at ",
                formatTime(Time{repair.atMs * 1000}), repair.before.empty() ? "" : "; before: " + repair.before);
}

Result<Sagas> listSagas(OperationContext& context, const SagaListRequest& request) {
  saga::SagaRows rows = sagaRows(context);
  Sagas list;
  Status read = okStatus();
  const auto visit = [&](SagaRow&& row) {
    auto line = sagaLine(row);
    line.ok() ? list.sagas.push_back(std::move(*line)) : void(read = line.error());
  };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  if (request.all.value_or(false)) WITAN_DO(rows.visitDone(visit));
  WITAN_DO(read);
  return list;
}

Result<SagaLine> showSaga(OperationContext& context, const SagaRequest& request) {
  saga::SagaRows rows = sagaRows(context);
  WITAN_TRY(operation, sagaOperation(rows, request.operation));
  WITAN_TRY(row, rows.find(operation));
  WITAN_TRY(line, sagaLine(row));
  WITAN_TRY(repairs, repairsEverywhere(context, row.intent.scope, toHex(row.intent.run), operation));
  if (!repairs.empty()) line.repairs = std::move(repairs);
  return line;
}

Result<SagaBegun> retrySaga(OperationContext& context, const SagaRepairRequest& request) {
  return repairSaga(context, request, RepairKind::retry);
}

Result<SagaBegun> compensateSaga(OperationContext& context, const SagaRepairRequest& request) {
  return repairSaga(context, request, RepairKind::compensate);
}

// --- wakes

namespace {

// Of each that this device has put off: what it waits for.
Status sayWhyTheyWait(OperationContext& context, Space* runs, std::map<std::string, WakeRow>& rows) {
  WITAN_TRY(incidents, context.replica.incidents());
  for (auto& [key, row] : rows) {
    if (runs == nullptr || row.status != enumName(agents::JobState::queued)) continue;
    for (const replication::Incident& one : incidents)
      if (one.kind == kAgentWaits && one.what.starts_with(row.agentId + ": "))
        row.status = "waits", row.cause = one.what.substr(row.agentId.size() + 2);
    WITAN_TRY(view, agents::runView(*runs, RunKey::parse(key).value()));
    if (!view.run || view.run->body.status != WakeStatus::started || view.run->body.startedAtMs == 0) continue;
    if (!view.run->body.cause.empty()) row.status = "waits", row.cause = view.run->body.cause;
  }
  return okStatus();
}

}  // namespace

Result<Wakes> listWakes(OperationContext& context, const WakeListRequest& request) {
  std::map<std::string, WakeRow> rows;
  Database& database = context.replica.database(DatabaseName::agents);
  WITAN_DO(database.scanMeta("wake/", [&](std::string_view name, std::string_view bytes) {
    if (auto job = agents::decodeJob(name, bytes); job.ok()) rows[job->key().hex()] = wakeRow(*job);
    return true;
  }));
  const bool failed = request.failed.value_or(false);
  Space* space = context.space(DatabaseName::agents, request.scope);
  WITAN_DO(sayWhyTheyWait(context, space, rows));
  if (space != nullptr && (request.all.value_or(false) || failed)) {
    WITAN_TRY(runs, agents::knownRuns(*space));
    for (const agents::KnownRun& run : runs)
      if (run.view.run) {
        WakeRow row = wakeRow(run);
        // Since when it waits here, of a run that has not begun.
        if (const auto here = rows.find(row.run); row.atMs == 0 && here != rows.end()) row.atMs = here->second.atMs;
        rows[row.run] = std::move(row);
      }
  }
  Wakes list;
  for (auto& [key, row] : rows)
    if ((!request.agent || row.agentId == *request.agent) &&
        (!failed || row.status == enumName(WakeStatus::failedTerminal)))
      list.wakes.push_back(std::move(row));
  std::ranges::stable_sort(list.wakes, [](const WakeRow& a, const WakeRow& b) { return a.atMs < b.atMs; });
  return list;
}

}  // namespace witan::node::operations
