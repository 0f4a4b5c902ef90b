// `witan saga|wake|memory|episode|approval|receipt`: what agents' work leaves on a device. Each verb is an operation
// (node/operations/); this file declares the verbs and words their answers.
#include "agents/episode/transcript.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/operations/agent_records.h"
#include "node/operations/memory.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct RecordArguments : ReplicaArguments {
  std::string id, digest, by, reason;  // of one record, and of an answer
  std::string agent, device, boundary, provider, model, policy;
  bool all = false, failed = false;
};

template <class Request, class Response, class Fill, class Format>
Verb<RecordArguments> addRecordVerb(Command* noun, const char* name, const char* about, const char* example,
                                    const Operation<Request, Response>& operation, Fill fill, Format format) {
  return addOperationVerb<RecordArguments>(*noun, name, about, example, Missing::refuse, operation, fill, format);
}

// A verb on one record: `positional` is its id or the first digits of it.
template <class Request, class Response, class Fill, class Format>
Verb<RecordArguments> addOneRecordVerb(Command* noun, const char* name, const char* about, const char* example,
                                       const Operation<Request, Response>& operation, Fill fill, Format format,
                                       const char* positional, const char* what, const char* where) {
  const auto made = addRecordVerb(noun, name, about, example, operation, fill, format);
  made.first->option(positional, made.second->id, concat("Its ", what, ", or the first digits that tell it apart"))
      ->required()
      ->check(firstDigits(what, where));
  return made;
}

std::string at(std::int64_t ms) { return formatTime(Time{ms * 1000}); }

// --- saga

std::string sagaLine(const SagaLine& saga) {
  return at(saga.updatedAtMs) + "  " + saga.status + "  " + saga.agentId + "  " + saga.tool + "  " + saga.operation +
         (saga.lastError ? "\n  " + *saga.lastError : "") + "\n";
}

Printed sagaList(const Sagas& list, const RecordArguments& a) {
  if (list.sagas.empty()) return {a.all ? "no sagas\n" : "no saga is under way or waits for a person\n"};
  Printed answer;
  for (const SagaLine& saga : list.sagas) answer.text += sagaLine(saga);
  return answer;
}

Printed sagaDetails(const SagaLine& saga, const RecordArguments&) {
  std::string said;
  for (const SagaRepair& repair : saga.repairs.value_or(std::vector<SagaRepair>()))
    said += "  " + repairWords(repair) + "\n";
  return {concat(sagaLine(saga), "  phase ", saga.phase, ", attempts ", saga.attempts, ", run ", saga.run,
                 "\n  arguments ", canonicalJson(saga.arguments), "\n",
                 saga.result ? "  " + *saga.outcome + " " + canonicalJson(*saga.result) + "\n" : "", said)};
}

Printed sagaBegun(const SagaBegun& begun, const RecordArguments&) {
  return {concat(begun.begun == "retry" ? "will be tried again" : "will be undone",
                 " when agents run: ", begun.operation, "\n")};
}

// --- wake

Printed wakeList(const Wakes& list, const RecordArguments& a) {
  if (list.wakes.empty()) return {a.failed ? "no run failed\n" : a.all ? "no runs\n" : "no wake waits\n"};
  Printed answer;
  for (const WakeRow& row : list.wakes)
    answer.text += (row.atMs == 0 ? "-" : at(row.atMs)) + "  " + row.status + "  " + row.agentId + "  " + row.reason +
                   " " + row.subject + "  " + row.run + (row.cause.empty() ? "" : "\n  " + row.cause) + "\n";
  return answer;
}

// --- memory

std::string foldLine(const FoldRow& fold) {
  return concat(fold.id, "  ", fold.status, "  ", fold.agentId, "  ", fold.contract,
                fold.texts > 1 ? concat("  ", fold.texts, " texts") : "",
                fold.attempts > 0 ? concat("  attempts ", fold.attempts) : "",
                fold.error.empty() ? "" : "\n  " + fold.error, "\n");
}

Printed foldList(const Folds& list, const RecordArguments&) {
  if (list.folds.empty()) return {"no fold waits for a person\n"};
  Printed answer;
  for (const FoldRow& fold : list.folds) answer.text += foldLine(fold);
  return answer;
}

// --- episode

Printed episodeList(const Episodes& list, const RecordArguments&) {
  if (list.episodes.empty()) return {"no transcripts\n"};
  Printed answer;
  for (const EpisodeRow& row : list.episodes)
    answer.text += concat(row.run, "  ", row.device, "  ", row.agent, "  ", row.status, "  ", row.entries, " entries",
                          row.cause.empty() ? "" : "  (" + row.cause + ")", "\n");
  return answer;
}

Result<Printed> transcriptWords(const Transcript& transcript, const RecordArguments&) {
  Printed answer;
  for (std::size_t i = 0; i < transcript.entries.size(); ++i) {
    const auto entry = agents::episode::parseEntry(canonicalJson(transcript.entries[i]));
    if (!entry.ok()) return corrupt(concat("entry ", i, ": ", entry.error().message));
    answer.text += concat(i, "  ", enumName(entry->kind), "  ", canonicalJson(entry->body), "\n");
  }
  for (const InboxAnswer& one : transcript.answers.value_or(std::vector<InboxAnswer>()))
    answer.text +=
        concat(formatTime(one.at), "  ", one.by, "  ", one.choice, " ", one.item, "  ", canonicalJson(one.said),
               one.signature.empty() ? ""
               : isSignedWell(one)   ? "  signed"
                                     : "  its signature does not hold",
               "\n");
  return answer;
}

Printed replayWords(const EpisodeReplay& replay, const RecordArguments&) {
  const auto& d = replay.difference;
  if (!d)
    return {concat("all ", replay.entries, " entries reproduced byte for byte",
                   replay.ended ? "" : "; the run has not ended", "\n")};
  const auto text = [](const json::value& entry) {
    return entry.get_string().empty() ? "nothing" : std::string(entry.get_string());
  };
  return {concat("entry ", d->entry, " of ", replay.entries, " differs: ", d->why, "\n  recorded  ", text(d->recorded),
                 "\n  derived   ", text(d->derived), "\n"),
          kExitFailed};
}

// --- approval: an answer is given to exactly what was shown, so it names the digest (docs/FINDINGS.md, F17)

Printed approvalList(const Approvals& list, const RecordArguments&) {
  if (list.approvals.empty()) return {"no effect waits for a person\n"};
  Printed answer;
  for (const ApprovalRow& row : list.approvals)
    answer.text += row.operation + "  " + row.agentId + "  " + row.verdict + (row.by.empty() ? "" : " by " + row.by) +
                   "\n  " + canonicalJson(row.what) + "\n  digest " + row.digest + "\n";
  return answer;
}

// --- receipt: names and digests, nothing of what crosses

std::string receiptLine(const ReceiptRow& r) {
  return concat(r.key, "  ", r.agent, "  ", r.boundary, r.model.empty() ? "" : "  " + r.provider + "/" + r.model, "  ",
                r.policy, " ", r.version, "  by ", r.by, ", ", at(r.atMs), "\n");
}

Printed receiptList(const Receipts& list, const RecordArguments&) {
  if (list.receipts.empty()) return {"no use is confirmed\n"};
  Printed answer;
  for (const ReceiptRow& receipt : list.receipts) answer.text += receiptLine(receipt);
  return answer;
}

auto receiptDone(const char* done) {
  return [done](const ReceiptRow& receipt, const RecordArguments&) {
    return Printed{concat(done, " ", receiptLine(receipt))};
  };
}

}  // namespace

void addSagaCommand(Command& app) {
  Command* saga = app.noun("saga", "Operations of agents that cross the device's databases", "witan saga list");
  const auto [listing, listed] = addRecordVerb(
      saga, "list", "List the sagas that are under way or wait for a person", "witan saga list --all", kSagaList,
      [](const RecordArguments& a) { return Result(SagaListRequest{a.all}); }, sagaList);
  listing->flag("--all", listed->all, "Also those that ended lately");
  addOneRecordVerb(
      saga, "show", "Show one saga", "witan saga show OPERATION", kSagaShow,
      [](const RecordArguments& a) { return Result(SagaRequest{a.id}); }, sagaDetails, "OPERATION", "operation id",
      "witan saga list --all");
  const auto repair = [&](const char* name, const char* about, const auto& operation) {
    const std::string example = concat("witan saga ", name, " OPERATION --by ann");
    const auto [command, a] = addOneRecordVerb(
        saga, name, about, example.c_str(), operation,
        [](const RecordArguments& args) {
          return Result(SagaRepairRequest{args.id, args.by, {}, {}});
        },
        sagaBegun, "OPERATION", "operation id", "witan saga list --all");
    command->option("--by", a->by, "Who says it; kept with the operation")->required();
  };
  repair("retry", "Try a dead-lettered saga again, when agents run next", kSagaRetry);
  repair("compensate", "Undo a saga's effects, or give up a dead-lettered one, when agents run next", kSagaCompensate);
}

void addWakeCommand(Command& app) {
  Command* wake = app.noun("wake", "Wakes of agents and their runs", "witan wake list --all");
  const auto [command, a] = addRecordVerb(
      wake, "list", "List the wakes that wait or run here", "witan wake list --all", kWakeList,
      [](const RecordArguments& args) {
        return Result(WakeListRequest{given(args.agent), args.all, args.failed, given(args.scope)});
      },
      wakeList);
  addScopeOption(command, *a);
  command->option("--agent", a->agent, "Only this agent's");
  command->flag("--failed", a->failed, "Only runs that failed, with their causes");
  command->flag("--all", a->all, "Also every run that is known, with its end");
}

void addMemoryCommand(Command& app) {
  Command* memory = app.noun("memory", "What agents' memories are folded to", "witan memory list");
  const auto [listing, listed] = addRecordVerb(
      memory, "list", "List the folds that failed, and those of which devices wrote different texts",
      "witan memory list --all", kFoldList,
      [](const RecordArguments& a) {
        return Result(FoldListRequest{a.all, given(a.scope)});
      },
      foldList);
  addScopeOption(listing, *listed);
  listing->flag("--all", listed->all, "Also those that wait for their next attempt");
  const auto [command, a] = addOneRecordVerb(
      memory, "retry", "Try a failed fold again when agents run next, or let the text that counts stand alone",
      "witan memory retry SUMMARY", kFoldRetry,
      [](const RecordArguments& args) {
        return Result(FoldRequest{args.id, given(args.scope)});
      },
      [](const FoldRow& fold, const RecordArguments&) { return Printed{foldLine(fold)}; }, "SUMMARY", "summary id",
      "witan memory list --all");
  addScopeOption(command, *a);
}

void addEpisodeCommand(Command& app) {
  Command* episode = app.noun("episode", "Runs of agents: their transcripts, and whether a run can be reproduced",
                              "witan episode list");
  const auto [listing, listed] = addRecordVerb(
      episode, "list", "List all transcripts that this device holds", "witan episode list", kEpisodeList,
      [](const RecordArguments& a) { return Result(ScopeRequest{given(a.scope)}); }, episodeList);
  addScopeOption(listing, *listed);
  const auto one = [&](const char* name, const char* about, const char* example, const auto& operation, auto format) {
    const auto [command, a] = addOneRecordVerb(
        episode, name, about, example, operation,
        [](const RecordArguments& args) {
          return Result(EpisodeRequest{args.id, given(args.device), given(args.scope)});
        },
        format, "RUNKEY", "run key", "witan episode list");
    addScopeOption(command, *a);
    command->option("--device", a->device, "Whose transcript, if several devices ran it");
  };
  one("show", "Print a transcript, entry by entry", "witan episode show 2214b124", kEpisodeShow, transcriptWords);
  one("replay", "Run the agent again on its recorded input, and compare byte for byte", "witan episode replay 2214b124",
      kEpisodeReplay, replayWords);
}

void addApprovalCommand(Command& app) {
  Command* approval = app.noun("approval", "Effects of agents that wait for a person", "witan approval list");
  const auto [listing, listed] = addRecordVerb(
      approval, "list", "List the effects that wait for a person", "witan approval list --all", kApprovalList,
      [](const RecordArguments& a) {
        return Result(ApprovalListRequest{a.all, given(a.scope)});
      },
      approvalList);
  addScopeOption(listing, *listed);
  listing->flag("--all", listed->all, "Also those that were answered");
  const auto answer = [&](const char* name, const char* about, const auto& operation) {
    const std::string example = concat("witan approval ", name, " OPERATION --digest DIGEST --by dr.supervising");
    const auto [command, a] = addOneRecordVerb(
        approval, name, about, example.c_str(), operation,
        [](const RecordArguments& args) {
          return Result(
              ApprovalAnswerRequest{args.id, args.digest, args.by, given(args.reason), given(args.scope), {}});
        },
        [](const ApprovalRow& row, const RecordArguments&) {
          return Printed{row.verdict + " " + row.operation + "\n"};
        },
        "OPERATION", "operation id", "witan approval list");
    addScopeOption(command, *a);
    command->option("--digest", a->digest, "Digest of what was shown")->required()->check(readBy(approvalDigest));
    command->option("--by", a->by, "Who answers")->required();
    command->option("--reason", a->reason, "Kept with the answer");
  };
  answer("approve", "Let an effect happen", kApprovalApprove);
  answer("deny", "Refuse an effect", kApprovalDeny);
}

void addReceiptCommand(Command& app) {
  Command* receipt =
      app.noun("receipt", "What people confirmed about agents' use of models and boundaries", "witan receipt list");
  const auto [confirming, use] = addRecordVerb(
      receipt, "confirm", "Confirm one use under the policy of this data directory (policy.toml)",
      "witan receipt confirm --agent journal-summariser --boundary local-llm --provider local --model "
      "llama-3.1-8b --by dr.supervising",
      kReceiptConfirm,
      [](const RecordArguments& a) {
        return Result(ReceiptConfirmRequest{a.agent, a.boundary, a.by, given(a.provider), given(a.model),
                                            given(a.policy), given(a.scope)});
      },
      receiptDone("confirmed"));
  addScopeOption(confirming, *use);
  confirming->option("--agent", use->agent, "Which agent")->required();
  confirming->option("--boundary", use->boundary, "Which boundary of the policy")->required();
  Option* provider = confirming->option("--provider", use->provider, "Of the model that is asked");
  provider->needs(confirming->option("--model", use->model, "The model that is asked")->needs(provider));
  confirming->option("--policy", use->policy,
                     "Digest of the policy that was read (witan policy check), or its first digits, at least 8: "
                     "refused if another one is there by now");
  confirming->option("--by", use->by, "Who confirms")->required();
  const auto [listing, listed] = addRecordVerb(
      receipt, "list", "List all receipts in force", "witan receipt list", kReceiptList,
      [](const RecordArguments& a) { return Result(ScopeRequest{given(a.scope)}); }, receiptList);
  addScopeOption(listing, *listed);
  const auto one = [&](const char* name, const char* about, const char* example, const auto& operation, auto format) {
    const auto [command, a] = addOneRecordVerb(
        receipt, name, about, example, operation,
        [](const RecordArguments& args) {
          return Result(ReceiptRequest{args.id, given(args.scope)});
        },
        format, "KEY", "receipt's key", "witan receipt list");
    addScopeOption(command, *a);
  };
  one("show", "Show one receipt", "witan receipt show 2214b124", kReceiptShow,
      [](const ReceiptRow& row, const RecordArguments&) {
        return Printed{receiptLine(row) + "  policy digest " + row.digest + "\n"};
      });
  one("withdraw", "Withdraw a receipt on every device", "witan receipt withdraw 2214b124", kReceiptWithdraw,
      receiptDone("withdrawn"));
}

}  // namespace witan::node
