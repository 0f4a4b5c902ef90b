// `witan queue list|show|approve|reject`: the counselor's queue (seed 000, A.3; findings F16, F17, F21) of a running
// node, or of a ledger that `witan run` keeps.
#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "cli/client/answer_signature.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/api/counselor_queue.h"
#include "node/data_dir/store_dir.h"
#include "program/option_checks.h"

namespace witan::node {

using api::CommitPreview;
using api::DecideRequest;
using api::DecisionMade;
using api::QueueRow;
using kernel::Outcome;

namespace {

struct QueueArguments : LiveArguments {
  std::string store, which, digest, base = "candidate", edit = "{}", at;
  DecideRequest decision;
  std::string reason, operationId, sign;
  bool dryRun = false, unsafe = false;
};

// Where the queue is.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual Result<api::Queue> rows() = 0;
  virtual Result<CommitPreview> preview(const DecideRequest& request, Time at) = 0;
  // The answer: a DecisionMade, or a DecisionWaiting.
  virtual Result<json::value> decide(const QueueRow& row, const DecideRequest& request, Time at) = 0;
};

class NodeQueue final : public Queue {
 public:
  explicit NodeQueue(ControlClient client) : client_(std::move(client)) {}

  Result<api::Queue> rows() override {
    WITAN_TRY(answer, client_.get("/v1/queue"));
    api::Queue queue;
    WITAN_DO(readJson(answer, queue, "the node's answer"));
    return queue;
  }
  Result<CommitPreview> preview(const DecideRequest& request, Time) override {
    WITAN_TRY(answer, post("/v1/queue/preview", request));
    CommitPreview preview;
    WITAN_DO(readJson(answer, preview, "the node's answer"));
    return preview;
  }
  Result<json::value> decide(const QueueRow&, const DecideRequest& request, Time) override {
    return post("/v1/queue/decide", request);
  }

 private:
  Result<json::value> post(const char* path, const DecideRequest& request) const {
    WITAN_TRY(body, parseJson(toJson(request)));
    return client_.post(path, body.get_object());
  }

  const ControlClient client_;
};

class StoredQueue final : public Queue {
 public:
  explicit StoredQueue(StoreDir dir) : dir_(std::move(dir)) {}

  Result<api::Queue> rows() override { return api::Queue{api::queueOf(partition(), "")}; }
  Result<CommitPreview> preview(const DecideRequest& request, Time at) override {
    return previewCommit(partition(), request, at);
  }
  Result<json::value> decide(const QueueRow& row, const DecideRequest& request, Time at) override {
    kernel::CounselorDecision d;
    const std::string operation =
        request.operationId.value_or(concat("queue:", row.seq, ":", row.digest.substr(0, 16)));
    const std::string reason = request.reason.value_or("");
    const json::object edit = request.edit.value_or(json::object());
    d.entity = request.entity;
    d.counselor = request.counselor;
    d.operationId = operation;
    d.commit = request.decision == api::CounselorDecision::commit;
    d.reason = reason;
    d.escalation = row.seq;
    d.at = at;
    WITAN_SET(d.pendingDigest, hashFromHex(request.digest));
    if (d.commit) {
      d.base = request.base.value_or(kernel::CommitBase::candidate);
      d.edit = &edit;
    }
    const kernel::Decision made = partition().decide(d);
    if (made.outcome == Outcome::refused) return conflict("refused: " + made.message, "see: witan queue show");
    WITAN_DO(dir_.ledger->commit());
    WITAN_DO(signHead(dir_, SystemClock().now()));
    DecisionMade answer{operation, made.outcome, made.outcome == Outcome::duplicate};
    if (answer.duplicate) answer.outcome = made.recorded;
    if (made.seq > 0) answer.ledgerSeq = made.seq;
    if (!made.invariant.empty()) answer.invariant = made.invariant;
    if (!made.message.empty()) answer.message = made.message;
    if (!made.violated.empty()) answer.message = joined(made.violated);
    if (made.safe) answer.safe = *made.safe;
    return parseJson(toJson(answer));
  }

 private:
  kernel::Partition& partition() { return dir_.ledger->partition(); }

  StoreDir dir_;
};

Result<std::unique_ptr<Queue>> openQueue(const QueueArguments& a) {
  if (!a.store.empty()) {
    WITAN_TRY(dir, openStoreDir({.dir = a.store}));
    return std::unique_ptr<Queue>(std::make_unique<StoredQueue>(std::move(dir)));
  }
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(client, ControlClient::open(dir));
  return std::unique_ptr<Queue>(std::make_unique<NodeQueue>(std::move(client)));
}

// A ledger of `witan run` is one partition, without a name.
std::string idOf(const QueueRow& row) { return concat(row.partition.empty() ? "" : row.partition + "/", row.seq); }

Result<QueueRow> find(Queue& queue, const std::string& which) {
  WITAN_TRY(all, queue.rows());
  const QueueRow* found = nullptr;
  for (const QueueRow& row : all.queue) {
    if (which != idOf(row) && which != row.entity && !(which.size() >= 8 && row.digest.starts_with(which))) continue;
    if (found != nullptr) return conflict(inQuotes(which) + " fits several", "see: witan queue list");
    found = &row;
  }
  if (found == nullptr) return notFound("nothing is pending under " + inQuotes(which), "see: witan queue list");
  return *found;
}

int answer(const std::string& json, bool asJson, const std::string& words) {
  putWords(asJson ? json + "\n" : words);
  return kExitOk;
}

Result<int> listQueue(const QueueArguments& a) {
  WITAN_TRY(queue, openQueue(a));
  WITAN_TRY(all, queue->rows());
  std::string words;
  for (const QueueRow& row : all.queue)
    words += idOf(row) + "  " + formatTime(row.at) + "  " + row.entity + "  " + row.role + "  " + row.invariant + ": " +
             oneLine(row.message) + "\n";
  return answer(toJson(all), a.json, words.empty() ? "no proposal waits for a counselor\n" : words);
}

Result<int> showPending(const QueueArguments& a) {
  WITAN_TRY(queue, openQueue(a));
  WITAN_TRY(row, find(*queue, a.which));
  std::string also;
  for (const api::FindingRow& finding : row.findings)
    if (finding.invariant != row.invariant)
      also +=
          concat("also      ", enumName(finding.result), " ", finding.invariant, ": ", oneLine(finding.message), "\n");
  return answer(toJson(row), a.json,
                "entry     " + idOf(row) + "  (" + row.entity + ", frozen since " + formatTime(row.at) + ")\n" +
                    "proposed  by role " + row.role + (row.agent.empty() ? "" : ", agent " + row.agent) + ": " +
                    canonicalJson(row.action) + "\n" + "asks for  " + row.invariant + ": " + oneLine(row.message) +
                    "\n" + also + "state     " + canonicalJson(row.state) + "\ndigest    " + row.digest +
                    "\ncounselor " + joined(row.counselors, "none is authorised") + "\napprove   witan queue approve " +
                    idOf(row) + (a.store.empty() ? "" : " --store " + a.store) + " --counselor NAME --digest " +
                    row.digest + " --edit '{...}' --reason '...'   (--dry-run shows what it would violate)\n");
}

std::string previewWords(const CommitPreview& preview) {
  std::string words = preview.safe ? "would be safe: every invariant passes\n" : "would be UNSAFE:\n";
  for (const api::FindingRow& finding : preview.findings)
    words += "  " + finding.invariant + ": " + oneLine(finding.message) + "\n";
  return words + "writes " + canonicalJson(preview.writes) + "\n";
}

// Most often the edit was forgotten, and the entity asks for the same again at each later proposal. What cannot be
// shown is left to the decision itself, which says why.
Status checkSafe(Queue& queue, const QueueRow& row, const DecideRequest& request, Time at) {
  if (std::ranges::find(row.counselors, request.counselor) == row.counselors.end()) return okStatus();
  const auto preview = queue.preview(request, at);
  if (!preview.ok() || preview->safe) return okStatus();
  std::string violated;
  for (const api::FindingRow& finding : preview->findings)
    violated += concat(violated.empty() ? "" : "; ", finding.invariant, ": ", finding.message);
  return conflict("this commit is unsafe, it records what an invariant forbids: " + violated,
                  "make it safe with --edit (try it with --dry-run), or give --unsafe");
}

std::string decisionWords(const json::value& made) {
  std::string words = shown(made, "outcome");
  if (made.get_object().contains("safe")) words += isTrue(made, "safe") ? ":safe" : ":UNSAFE";
  // An entry's message is the reason that the counselor just gave; without an entry it says why there is none.
  if (shown(made, "ledgerSeq") != "-") return words + ", entry " + shown(made, "ledgerSeq") + "\n";
  return words + (shown(made, "message") == "-" ? "" : ": " + shown(made, "message")) + "\n";
}

Result<int> decide(const QueueArguments& a, api::CounselorDecision decision) {
  if (a.store.empty() && !a.at.empty())
    return reportUsage(invalid("--at without --store", "a node decides at the time of its own clock"), a.json);
  if (!a.store.empty() && !a.sign.empty())
    return reportUsage(invalid("--sign with --store", "persons are those of a cluster"), a.json);
  WITAN_TRY(queue, openQueue(a));
  WITAN_TRY(row, find(*queue, a.which));
  DecideRequest request = a.decision;
  request.domain = row.domain;
  request.entity = row.entity;
  request.decision = decision;
  request.digest = a.digest.empty() ? row.digest : a.digest;
  if (!a.reason.empty()) request.reason = a.reason;
  if (!a.operationId.empty()) request.operationId = a.operationId;
  if (decision == api::CounselorDecision::commit) {
    request.base = *parseEnum<kernel::CommitBase>(a.base);
    WITAN_TRY(edit, parseJson(a.edit));
    request.edit = std::move(edit.get_object());
  }
  const Time at = a.at.empty() ? SystemClock().now() : *parseTime(a.at);
  if (a.dryRun) {
    WITAN_TRY(preview, queue->preview(request, at));
    return answer(toJson(preview), a.json, previewWords(preview));
  }
  if (decision == api::CounselorDecision::commit && !a.unsafe) WITAN_DO(checkSafe(*queue, row, request, at));
  if (!a.sign.empty()) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    WITAN_TRY(client, ControlClient::open(dir));
    WITAN_SET(request.signature, signAnswer(client, request, a.sign));
  }
  WITAN_TRY(made, queue->decide(row, request, at));
  if (shown(made, "outcome") == "refused")
    return conflict("refused: " + shown(made, "message"), "see: witan queue show " + a.which);
  return print(made, a.json, decisionWords);
}

}  // namespace

void addQueueCommand(Command& app) {
  const auto a = std::make_shared<QueueArguments>();
  Command* queue = app.noun("queue", "Proposals that wait for a human counselor", "witan queue list --store DIR");
  const auto verb = [&](const char* name, const char* about, const char* example, auto work) {
    Command* command = queue->command(name, about);
    command->option("--store", a->store, "Directory of a ledger that `witan run` keeps, instead of a node's");
    addLiveOptions(command, *a, example);
    runs(command, a, work);
    return command;
  };
  const auto one = [&](const char* name, const char* about, const char* example, auto work) {
    Command* command = verb(name, about, example, work);
    command
        ->option("WHICH", a->which,
                 "The escalation's entry (of a node PARTITION/NUMBER), the entity, or the first digits of the digest")
        ->required();
    return command;
  };
  verb("list", "List all pending proposals", "witan queue list --store DIR", listQueue);
  one("show", "Show one pending proposal with everything that it would break", "witan queue show 7 --store DIR",
      showPending);
  const auto decision = [&](const char* name, const char* about, const char* example, api::CounselorDecision what) {
    Command* command = one(name, about, example, [what](const QueueArguments& args) { return decide(args, what); });
    command->option("--counselor", a->decision.counselor, "Name of the counselor who decides")->required();
    Option* digest =
        command->option("--digest", a->digest, "Digest that `queue show` printed: the decision is on exactly that")
            ->check(readBy(hashFromHex));
    if (what == api::CounselorDecision::commit) digest->required();
    command->option("--sign", a->sign, "Key file of the counselor (`witan person add`); asks for its passphrase");
    command->option("--reason", a->reason, "Reason, for the ledger");
    command->option("--at", a->at, "With --store: time of the decision; default: now")->check(readBy(parseTime));
    command->option("--operation-id", a->operationId, "Id of this decision; default: derived from the proposal")
        ->check(notEmpty());
    return command;
  };
  Command* approve =
      decision("approve", "Commit the candidate or the current state, with an edit",
               "witan queue approve 7 --store DIR --counselor dr.supervising --digest 9f... --edit "
               "'{\"relapse.response\":{\"O2\":[\"dr.supervising\",\"2026-03-26T10:00:00Z\",\"plan\"]}}'",
               api::CounselorDecision::commit);
  approve->option("--base", a->base, "candidate (made again now) or current")
      ->showDefault()
      ->oneOf({"candidate", "current"});
  approve->option("--edit", a->edit, "JSON object of field to value, {\"key\":value} or {\"add\":[...]}")
      ->showDefault()
      ->check(jsonText(true));
  approve->flag("--unsafe", a->unsafe, "Also a commit that records what an invariant forbids");
  approve->flag("--dry-run", a->dryRun, "Show what it would write and violate; change nothing");
  decision("reject", "Refuse the proposal; the entity thaws unchanged",
           "witan queue reject 7 --store DIR --counselor dr.supervising --reason 'specimen mix-up'",
           api::CounselorDecision::reject);
}

}  // namespace witan::node
