#include "replication/records/record_views.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/bytes.h"
#include "base/json.h"
#include "base/mutant.h"
#include "replication/space.h"

namespace witan::replication {

namespace {

// The body of a version. Errors: a tombstone, with `deleted`; an unreadable body.
template <class Body>
Result<Body> bodyOf(const Version& version, const char* deleted) {
  if (version.tombstone) return invalid(deleted);
  return decodeRecord<Body>(version.body);
}

// Calls visit(dot, item) for each version of which `read` makes an item; the others go to `unreadable`.
template <class Read, class Visit>
void forEachReadable(const std::vector<const Version*>& versions, std::vector<Unreadable>& unreadable, Read read,
                     Visit visit) {
  for (const Version* version : versions) {
    auto item = read(*version);
    if (item.ok())
      visit(version->dot, *std::move(item));
    else
      unreadable.push_back({version->dot, item.error().message});
  }
}

// Reads a body that names the operation whose key it stands under.
template <class Body>
auto ofOperation(const OperationId& operation) {
  return [&operation](const Version& version) -> Result<Body> {
    WITAN_TRY(body, bodyOf<Body>(version, "it was taken away"));
    if (body.operationId == operation.value) return body;
    return invalid("it is of operation " + OperationId{body.operationId}.hex());
  };
}

// Reads a body that names the run whose key it stands under.
template <class Body>
auto ofRun(const RunKey& runKey, const char* deleted) {
  return [&runKey, deleted](const Version& version) -> Result<Body> {
    WITAN_TRY(body, bodyOf<Body>(version, deleted));
    if (body.runKey == runKey.value) return body;
    return invalid("it is of the run " + RunKey{body.runKey}.hex());
  };
}

}  // namespace

// --- operations

OperationView operationViewOf(const OperationId& operation, std::span<const Version> versions) {
  OperationView view;
  forEachReadable(versionsByDot(versions), view.unreadable, ofOperation<OperationBody>(operation),
                  [&](const Dot& dot, OperationBody body) {
                    // One device may have been refused what another carried out: the effect is there.
                    const bool better = !view.record || (view.record->body.outcome != OperationOutcome::applied &&
                                                         body.outcome == OperationOutcome::applied);
                    if (!better) return view.repeats.push_back(dot);
                    if (view.record) view.repeats.push_back(view.record->dot);
                    view.record = OperationRecord{dot, std::move(body)};
                  });
  std::ranges::sort(view.repeats);
  return view;
}

// --- approvals

ApprovalView approvalViewOf(const OperationId& operation, std::span<const Version> versions) {
  ApprovalView view;
  forEachReadable(maximalVersions(versions), view.unreadable, ofOperation<ApprovalBody>(operation),
                  [&](const Dot& dot, ApprovalBody body) {
                    if (!view.shown || body.verdict > view.shown->body.verdict)
                      view.shown = ApprovalVersion{dot, std::move(body)};
                  });
  return view;
}

bool isLate(const ApprovalBody& answer) {
  return answer.verdict == ApprovalVerdict::approved && answer.untilMs != 0 && answer.atMs >= answer.untilMs;
}

ApprovalVerdict verdictFor(const ApprovalView& view, const Hash& digest) {
  if (!view.shown || view.shown->body.digest != digest) return ApprovalVerdict::waiting;
  return isLate(view.shown->body) ? ApprovalVerdict::denied : view.shown->body.verdict;
}

Result<ApprovalBody> answerTo(const ApprovalView& view, const Hash& digest, ApprovalVerdict verdict,
                              std::string_view by, std::string_view reason, std::int64_t atMs) {
  if (verdict == ApprovalVerdict::waiting) return invalid("an answer approves or denies");
  if (!view.shown) return notFound("no effect with this operation id waits for a person");
  const ApprovalBody& asked = view.shown->body;
  if (asked.digest != digest)
    return conflict("the effect that waits is another one by now (" + toHex(asked.digest) + ", the answer is about " +
                        toHex(digest) + ")",
                    "look at it again");
  if (asked.verdict != ApprovalVerdict::waiting)
    return conflict(concat("it has been ", enumName(asked.verdict), " by ", asked.by, " already"));
  if (asked.untilMs != 0 && atMs >= asked.untilMs && by != kNobodyAnswered)
    return conflict("the time to answer this question is over", "its run ends with approval_expired");
  ApprovalBody answer = asked;
  answer.verdict = verdict;
  answer.by = by;
  answer.reason = reason;
  answer.atMs = atMs;
  WITAN_DO(checkRecord(answer));
  return answer;
}

// --- wake runs

bool isTerminal(WakeStatus status) { return status != WakeStatus::started; }

WakeStatus join(WakeStatus a, WakeStatus b) { return std::max(a, b); }

const WakeRunVersion& join(const WakeRunVersion& a, const WakeRunVersion& b) {
  if (a.body.status != b.body.status) return a.body.status > b.body.status ? a : b;
  return a.dot <= b.dot ? a : b;
}

WakeRunView wakeRunViewOf(const RunKey& runKey, std::span<const Version> versions) {
  WakeRunView view;
  forEachReadable(versionsByDot(versions), view.unreadable, ofRun<WakeRunBody>(runKey, "a wake run cannot be deleted"),
                  [&](const Dot& dot, WakeRunBody body) {
                    const WakeRunVersion one{dot, std::move(body)};
                    view.run = view.run ? join(*view.run, one) : one;
                    ++view.attempts;
                  });
  return view;
}

Status mayRecord(const WakeRunView& view, const WakeRunBody& next) {
  WITAN_DO(checkRecord(next));
  if (!view.run) return okStatus();
  const WakeRunBody& now = view.run->body;
  if (now.runKey != next.runKey) return invalid("a record of the run " + RunKey{next.runKey}.hex() + " on another run");
  if (!isTerminal(now.status)) return okStatus();
  return conflict(
      concat("the run has ended (it is ", enumName(now.status), ", not to become ", enumName(next.status), ")"),
      "a run that ended stays as it is");
}

// --- plans

Result<std::vector<OperationId>> operationsOf(const PlanBody& body) {
  std::vector<ActionStableId> actions;
  for (const PlanAction& a : body.actions) {
    WITAN_TRY(arguments, parseJson(a.arguments, {.bytes = kMaxRecordBytes}));
    WITAN_TRY(action, actionStableId(a.toolName, argsHash(arguments), a.scope, a.targets));
    actions.push_back(action);
  }
  return planOperationIds(RunKey{body.runKey}, actions);
}

PlanView planViewOf(const RunKey& runKey, std::span<const Version> versions) {
  const auto read = [&](const Version& version) -> Result<Plan> {
    WITAN_TRY(body, ofRun<PlanBody>(runKey, "a plan cannot be deleted")(version));
    WITAN_TRY(operations, operationsOf(body));
    const PlanDigest digest = planDigest(operations);
    return Plan{version.dot, std::move(body), std::move(operations), digest};
  };
  PlanView view;
  forEachReadable(versionsByDot(versions), view.unreadable, read, [&](const Dot& dot, Plan plan) {
    if (!view.winner)
      view.winner = std::move(plan);
    else if (plan.digest == view.winner->digest)
      view.repeats.push_back(dot);
    else
      view.losers.push_back(std::move(plan));
  });
  return view;
}

std::vector<OperationId> operationsToUndo(const PlanView& view) {
  std::set<OperationId> seen;
  if (view.winner && !mutated("undoShared"))
    seen.insert(view.winner->operations.begin(), view.winner->operations.end());
  std::vector<OperationId> out;
  for (const Plan& loser : view.losers)
    for (const OperationId& operation : loser.operations)
      if (seen.insert(operation).second) out.push_back(operation);
  return out;
}

Result<PlanView> planViewIn(Space& agents, const RunKey& runKey) {
  WITAN_TRY(versions, agents.versions(Kind::plan, runKey.hex()));
  return planViewOf(runKey, versions);
}

// --- summaries

Result<SummaryId> summaryIdOf(const SummaryBody& body) {
  return summaryId(
      {body.agentId, body.threadId, body.startMessageId, body.endMessageId, body.summarizerContractVersion});
}

SummaryView summaryViewOf(const SummaryId& id, std::span<const Version> versions) {
  const auto read = [&](const Version& version) -> Result<SummaryBody> {
    WITAN_TRY(body, bodyOf<SummaryBody>(version, "a summary cannot be deleted"));
    WITAN_TRY(derived, summaryIdOf(body));
    if (derived != id) return invalid("it is of the summary " + derived.hex());
    return body;
  };
  SummaryView view;
  std::vector<SummaryVersion> all;
  forEachReadable(versionsByDot(versions), view.unreadable, read, [&](const Dot& dot, SummaryBody body) {
    all.push_back({dot, std::move(body)});
  });
  std::ranges::sort(all, [](const SummaryVersion& a, const SummaryVersion& b) {
    return std::tie(a.body.rank, a.dot) < std::tie(b.body.rank, b.dot);
  });
  for (SummaryVersion& v : all) {
    if (!view.winner)
      view.winner = std::move(v);
    else if (v.body.text == view.winner->body.text)
      view.repeats.push_back(v.dot);
    else
      view.conflicts.push_back(std::move(v));
  }
  return view;
}

std::uint64_t nextRank(const SummaryView& view) {
  std::uint64_t most = view.winner ? view.winner->body.rank : 0;
  for (const SummaryVersion& v : view.conflicts) most = std::max(most, v.body.rank);
  return most + 1;
}

// --- privacy receipts

std::string receiptKey(const PrivacyReceipt& r) {
  return toHex(sha256(canonicalJson(json::object{{"agentId", r.agentId},
                                                 {"boundary", r.boundary},
                                                 {"model", r.model},
                                                 {"policyDigest", toHex(r.policyDigest)},
                                                 {"policyName", r.policyName},
                                                 {"policyVersion", std::to_string(r.policyVersion)},
                                                 {"provider", r.provider}})));
}

std::optional<PrivacyReceipt> receiptIn(std::string_view key, std::span<const Version> versions) {
  std::optional<PrivacyReceipt> shown;
  for (const Version* version : maximalVersions(versions)) {
    if (version->tombstone) return std::nullopt;
    auto receipt = decodeRecord<PrivacyReceipt>(version->body);
    if (!shown && receipt.ok() && receiptKey(*receipt) == key) shown = *std::move(receipt);
  }
  return shown;
}

Result<std::vector<PrivacyReceipt>> receiptsIn(Space& agents) {
  std::vector<PrivacyReceipt> all;
  for (const std::string& key : agents.keys(Kind::receipt)) {
    WITAN_TRY(versions, agents.versions(Kind::receipt, key));
    if (auto receipt = receiptIn(key, versions)) all.push_back(*std::move(receipt));
  }
  return all;
}

}  // namespace witan::replication
