// `witan queue list|show|approve|reject` on a store directory: the counselor's desk (seed 000, A.3; findings F16, F17,
// F21).
#include <charconv>
#include <cstdio>
#include "program/command_line.h"

#include "base/bytes.h"
#include "base/json_codec.h"
#include "cli/commands/commands.h"
#include "cli/events/event_runner.h"
#include "cli/ledgers/queue_live.h"
#include "node/data_dir/store_dir.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

using namespace kernel;

namespace {

struct QueueArguments {
  std::string store;
  std::string dir;
  std::string which;  // of a running node: PARTITION/SEQ, an entity, a digest
  std::uint64_t seq = 0;
  std::string counselor;
  std::string digest;
  std::string base = "candidate";
  std::string edit = "{}";
  std::string reason;
  std::string at;
  std::string operationId;
  bool dryRun = false;
  bool json = false;
};

std::string findingsJson(const DomainModule& module, const std::vector<Finding>& findings) {
  std::string out = "[";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    out += i ? ",{\"invariant\":" : "{\"invariant\":";
    appendJsonString(out, module.invariantId(findings[i].invariant));
    out += ",\"result\":\"" + std::string(enumName(findings[i].result)) + "\",\"message\":";
    appendJsonString(out, findings[i].message);
    out += '}';
  }
  return out + "]";
}

std::string pendingJson(const DomainModule& module, const PendingView& p) {
  std::string out = "{\"seq\":" + std::to_string(p.seq) + ",\"digest\":\"" + toHex(p.digest) + "\",\"entity\":";
  appendJsonString(out, p.entity);
  out += ",\"at\":\"" + formatTime(p.at) + "\",\"role\":";
  appendJsonString(out, p.role);
  out += ",\"device\":";
  appendJsonString(out, p.device);
  out += ",\"agent\":";
  appendJsonString(out, p.agent);
  out += ",\"action\":" + p.action + ",\"invariant\":";
  appendJsonString(out, p.invariant);
  out += ",\"message\":";
  appendJsonString(out, p.message);
  out += ",\"findings\":" + findingsJson(module, p.findings);
  if (p.expires) out += ",\"expires\":\"" + formatTime(*p.expires) + "\"";
  return out + "}";
}

void print(const std::string& line) { putOut(line + "\n"); }
void say(const std::string& words) { putWords(words + "\n"); }

Result<PendingView> pendingAt(const Partition& partition, std::uint64_t seq) {
  for (PendingView& view : partition.queue())
    if (view.seq == seq) return std::move(view);
  return Error{ErrorCode::notFound, "nothing is pending under entry " + std::to_string(seq), "see: witan queue list"};
}

Status list(const QueueArguments& a) {
  WITAN_TRY(opened, openStoreDir({.dir = a.store}));
  const auto queue = opened.ledger->partition().queue();
  for (const PendingView& p : queue) {
    if (a.json)
      print(pendingJson(*opened.module, p));
    else
      say(std::to_string(p.seq) + "  " + formatTime(p.at) + "  " + p.entity + "  " + p.role + "  " + p.invariant +
          ": " + p.message);
  }
  if (queue.empty() && !a.json) say("nothing waits for a counselor");
  return okStatus();
}

Status show(const QueueArguments& a) {
  WITAN_TRY(opened, openStoreDir({.dir = a.store}));
  const Partition& partition = opened.ledger->partition();
  WITAN_TRY(p, pendingAt(partition, a.seq));
  if (a.json) {
    print(pendingJson(*opened.module, p));
    return okStatus();
  }
  say("entry     " + std::to_string(p.seq) + "  (" + p.entity + ", frozen since " + formatTime(p.at) + ")");
  say("proposed  by role " + p.role + (p.agent.empty() ? "" : ", agent " + p.agent) + ": " + p.action);
  say("asks for  " + p.invariant + ": " + p.message);
  for (const Finding& f : p.findings)
    if (opened.module->invariantId(f.invariant) != p.invariant)
      say("also      " + std::string(enumName(f.result)) + " " + std::string(opened.module->invariantId(f.invariant)) +
          ": " + f.message);
  std::string state;
  opened.module->writeState(state, *partition.state(p.entity));
  say("state     " + state);
  say("digest    " + toHex(p.digest));
  std::string who;
  for (const std::string& c : opened.module->signature().counselors) who += (who.empty() ? "" : ", ") + c;
  say("counselor " + (who.empty() ? std::string("none is authorised") : who));
  say("approve   witan queue approve " + std::to_string(p.seq) + " --store " + a.store + " --counselor NAME --digest " +
      toHex(p.digest) + " --edit '{...}' --reason '...'   (--dry-run shows what it would violate)");
  return okStatus();
}

Result<CounselorDecision> decisionOf(const QueueArguments& a, const PendingView& p, bool commit, json::object& edit) {
  CounselorDecision d;
  d.entity = p.entity;
  d.counselor = a.counselor;
  d.operationId = a.operationId;
  d.commit = commit;
  d.reason = a.reason;
  d.escalation = a.seq;
  if (!a.digest.empty()) {
    WITAN_TRY(digest, hashFromHex(a.digest));
    d.pendingDigest = digest;
  }
  d.at = SystemClock().now();
  if (!a.at.empty()) {
    WITAN_TRY(at, parseTime(a.at));
    d.at = at;
  }
  if (!commit) return d;
  d.base = parseEnum<CommitBase>(a.base).value();  // the option's check has taken it
  WITAN_TRY(parsed, parseJson(a.edit));
  edit = std::move(parsed.as_object());
  d.edit = &edit;
  return d;
}

// What a commit would find, on a copy: shown before it is decided (F21).
Status preview(const StoreDir& opened, const CounselorDecision& d, const PendingView& p, bool asJson) {
  const EntityPtr copy = opened.module->clone(*opened.ledger->partition().state(p.entity));
  WITAN_TRY(action, opened.module->parseAction(parseJson(p.action).value()));
  Evaluation evaluation;
  WITAN_DO(opened.module->counselorCommit(*copy, d.base, action.get(), *d.edit, d.at, evaluation));
  if (asJson) {
    print("{\"safe\":" + std::string(evaluation.findings.empty() ? "true" : "false") + ",\"findings\":" +
          findingsJson(*opened.module, evaluation.findings) + ",\"writes\":" + evaluation.writes + "}");
    return okStatus();
  }
  say(evaluation.findings.empty() ? "would be safe: every invariant passes" : "would be UNSAFE:");
  for (const Finding& f : evaluation.findings)
    say("  " + std::string(opened.module->invariantId(f.invariant)) + ": " + f.message);
  say("writes " + evaluation.writes);
  return okStatus();
}

Status decide(const QueueArguments& given, bool commit) {
  QueueArguments a = given;
  WITAN_TRY(opened, openStoreDir({.dir = a.store}));
  WITAN_TRY(p, pendingAt(opened.ledger->partition(), a.seq));
  if (a.operationId.empty()) a.operationId = "queue:" + std::to_string(a.seq) + ":" + toHex(p.digest).substr(0, 16);
  json::object edit;
  WITAN_TRY(d, decisionOf(a, p, commit, edit));
  if (commit && a.dryRun) return preview(opened, d, p, a.json);
  const Decision decision = opened.ledger->partition().decide(d);
  if (decision.outcome == Outcome::refused)
    return Error{ErrorCode::conflict, "refused: " + decision.message, "see: witan queue show " + std::to_string(a.seq)};
  WITAN_DO(opened.ledger->commit());
  if (opened.key) WITAN_DO(opened.ledger->checkpoint(*opened.key, SystemClock().now()));
  if (a.json) {
    std::string out = "{\"outcome\":\"" + std::string(enumName(decision.outcome)) +
                      "\",\"ledgerSeq\":" + std::to_string(decision.seq);
    if (decision.safe)
      out += std::string(",\"safe\":") + (*decision.safe ? "true" : "false") +
             ",\"violated\":" + toJson(decision.violated);
    print(out + "}");
  } else {
    say(outcomeText(decision.outcome, decision, commit) + ", entry " + std::to_string(decision.seq));
  }
  return okStatus();
}

constexpr const char* kWhich =
    "Number of its escalation entry; of a running node PARTITION/NUMBER, the entity, or the beginning of the digest";

// --store knows them by number alone.
Status numberOf(QueueArguments& a) {
  if (a.which.empty()) return okStatus();
  const auto [end, failure] = std::from_chars(a.which.data(), a.which.data() + a.which.size(), a.seq);
  if (failure == std::errc{} && end == a.which.data() + a.which.size()) return okStatus();
  return invalid(a.which + " is no number of an entry", "see: witan queue list --store " + a.store);
}

}  // namespace

void addQueueCommand(Command& app, int& exitCode) {
  auto a = std::make_shared<QueueArguments>();
  Command* queue = app.command("queue", "What waits for a human counselor");
  queue->requireCommand();
  queue->footer("Example: witan queue list --store DIR");
  const auto verb = [&](const char* name, const char* what, const char* example, auto run, auto live) {
    Command* command = queue->command(name, what);
    command->option("--store", a->store, "Directory of a ledger that `witan run` keeps");
    command->option("--dir", a->dir, "Data directory of a running node; default $WITAN_DIR, else $XDG_DATA_HOME/witan");
    command->flag("--json", a->json, "JSON output");
    command->footer(std::string("Example: ") + example);
    command->callback([a, run, live, &exitCode] {
      if (a->store.empty()) {
        exitCode =
            onLiveNode(LiveArguments{a->dir, a->json}, [&](const ControlClient& client) { return live(client, *a); });
        return;
      }
      if (const Status number = numberOf(*a); !number.ok()) {
        exitCode = reportUsage(number.error(), a->json);
        return;
      }
      const Status status = run(*a);
      exitCode = status.ok() ? kExitOk : reportError(status.error(), a->json);
    });
    return command;
  };
  verb("list", "All pending proposals", "witan queue list --store DIR", list,
       [](const ControlClient& client, const QueueArguments& args) { return liveQueue(client, args.json); });
  verb("show", "One pending proposal with everything it would break", "witan queue show 7 --store DIR", show,
       [](const ControlClient& client, const QueueArguments& args) {
         return livePending(client, args.which, args.json);
       })
      ->option("WHICH", a->which, kWhich)
      ->required();
  const auto decisionVerb = [&](const char* name, const char* what, const char* example, bool commit) {
    Command* command = verb(
        name, what, example, [commit](const QueueArguments& args) { return decide(args, commit); },
        [commit](const ControlClient& client, const QueueArguments& args) -> Result<int> {
          if (args.dryRun) return reportUsage(invalid("--dry-run works on a directory", "give --store"), args.json);
          return liveDecide(client, args.which,
                            {args.counselor, args.digest, args.base, args.edit, args.reason, args.operationId}, commit,
                            args.json);
        });
    command->option("WHICH", a->which, kWhich)->required();
    command->option("--counselor", a->counselor, "Who decides")->required();
    auto* digest =
        command->option("--digest", a->digest, "Digest that `queue show` printed: the decision is of exactly that")
            ->check(readBy([](const std::string& text) { return hashFromHex(text); }));
    if (commit) digest->required();
    command->option("--reason", a->reason, "Why; kept in the ledger");
    command->option("--at", a->at, "Time of the decision; now by default")->check(readBy([](const std::string& text) {
      return parseTime(text);
    }));
    command->option("--operation-id", a->operationId, "Name of this decision; derived from the proposal by default")
        ->check(notEmpty());
    return command;
  };
  Command* approve =
      decisionVerb("approve", "Commit: the candidate or the current state, with an edit",
                   "witan queue approve 7 --store DIR --counselor dr.supervising --digest 9f... --edit "
                   "'{\"relapse.response\":{\"O2\":[\"dr.supervising\",\"2026-03-26T10:00:00Z\",\"plan\"]}}'",
                   true);
  approve->option("--base", a->base, "candidate (made again now) or current")
      ->showDefault()
      ->oneOf({"candidate", "current"});
  approve->option("--edit", a->edit, "JSON object of field to value, {\"key\":value} or {\"add\":[...]}")
      ->showDefault()
      ->check(jsonText(true));
  approve->flag("--dry-run", a->dryRun, "Show what it would write and violate; change nothing");
  decisionVerb("reject", "Refuse the proposal; the entity thaws unchanged",
               "witan queue reject 7 --store DIR --counselor dr.supervising --reason 'specimen mix-up'", false);
}

}  // namespace witan::node
