#include "node/operations/why.h"

#include <algorithm>
#include <charconv>

#include "agents/json_members.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_job.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "kernel/record/entry.h"
#include "node/inbox/inbox_answers.h"
#include "node/inbox/inbox_index.h"
#include "node/ledgers/ledger_reader.h"
#include "node/operations/agent_records.h"
#include "node/operations/run_story.h"
#include "node/operations/versions.h"
#include "node/operations/why_graph.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "replica/replica.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"
#include "saga/operation_marks.h"
#include "saga/saga_engine.h"

namespace witan::node::operations {

using namespace replication;
using agents::arrayOf;
using agents::integerOf;
using agents::stringOf;

namespace {

constexpr std::size_t kMostLinks = 500, kMostChanges = 16, kMostLooks = 32, kBrief = 120;
constexpr int kDeepest = 12;

using Number = std::optional<std::uint64_t>;  // of a link; none: there is nothing to say

std::string brief(const json::value& value) {
  const std::string text = canonicalJson(value);
  return concat(clip(text, kBrief), text.size() > kBrief ? "..." : "");
}

Omittable<Time> timeOf(std::int64_t ms) { return ms > 0 ? Omittable<Time>(Time{ms * 1000}) : Omittable<Time>(); }

json::value parsed(std::string_view text) {
  auto value = parseJson(text, {.bytes = kMaxRecordBytes});
  return value.ok() ? *std::move(value) : json::value();
}

json::value member(const json::value& object, std::string_view name) {
  const json::value* found = object.is_object() ? object.get_object().if_contains(name) : nullptr;
  return found == nullptr ? json::value() : *found;
}

std::string text(const json::value& object, std::string_view name) {
  return object.is_object() ? std::string(stringOf(object.get_object(), name)) : std::string();
}

// The lines of a table's row, one after the other.
std::string inOneLine(std::string_view lines) {
  std::string out;
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', from), lines.size());
    const std::size_t begin = std::min(lines.find_first_not_of(' ', from), end);
    out += concat(out.empty() ? "" : ": ", lines.substr(begin, end - begin));
    from = end + 1;
  }
  return out;
}

// Who is behind an entry of a ledger.
struct Asker {
  std::string operationId, agent, device, role, run;
  std::optional<GraphPlace> step;  // of an entry of a graph
};
class Chain {
 public:
  Chain(OperationContext& context, std::string scope) : context_(context), scope_(std::move(scope)) {}

  Result<Number> operation(const std::string& hex);
  Result<Number> run(const RunKey& key);
  Result<Number> journal(const std::string& id);
  Result<Number> decision(const PartitionHost& host, std::uint64_t seq);
  // By the ledger that has it.
  Result<Number> ledgerOperation(std::string_view operationId);
  Result<Number> newestOf(std::string_view domain, std::string_view entity);
  // A run or a span of a graph.
  Result<Number> graphSubject(const std::string& id);
  const PartitionHost* hostOf(std::string_view partition) const;

  std::vector<WhyLink> takeLinks() { return std::move(links_); }

 private:
  // The number of the link with this key, which is made once.
  template <class Make>
  Result<Number> once(const std::string& key, Make make) {
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    if (depth_ >= kDeepest || links_.size() >= kMostLinks)
      return add({WhyKind::missing, key, {}, "what is behind this is left out: the chain is long", {}, nullptr});
    known_.emplace(key, std::nullopt);  // while it is made
    ++depth_;
    Result<Number> made = make();
    --depth_;
    if (made.ok()) known_[key] = *made;
    return made;
  }
  Number add(WhyLink link) {
    links_.push_back(std::move(link));
    return links_.size() - 1;
  }
  Number say(WhyKind kind, std::string id, std::string what, json::value detail = nullptr) {
    return add({kind, std::move(id), {}, std::move(what), {}, std::move(detail)});
  }
  static void because(WhyLink& link, const Number& cause) {
    if (cause) link.causes.push_back(*cause);
  }

  Result<Number> makeOperation(const OperationId& operation);
  Result<Number> makeRun(const RunKey& key);
  Result<Number> makeVersion(const std::string& id, const Sibling& shown);
  Result<std::vector<std::uint64_t>> causesOf(const json::value& input, const RunKey& key);
  Result<Number> change(const std::string& id, const RunKey& key, const json::value& input);
  Result<Number> verdictOf(const OperationId& operation, const RunKey& key);
  Result<Number> approvalOf(const OperationId& operation);
  Result<std::string> changeKeyOf(const Dot& dot, const RunKey& key, const json::value& input);
  // What somebody typed there is no fact; the device that signed it is.
  std::string nameOf(std::string_view device) const {
    const auto at = context_.names.find(std::string(device));
    return at == context_.names.end() ? std::string(device) : at->second;
  }
  // What led to the span; of none, how the run began. None: this device has no ledger of it.
  Result<Number> graphLed(const GraphPlace& place);
  Result<Number> passed(const PartitionHost& host, const GraphPassage& one, Number last);
  // An entry of a graph, and no causes but this one.
  Result<Number> graphEntry(const PartitionHost& host, std::uint64_t seq, const Number& cause);
  Result<Number> askerOf(const Asker& of);
  // What a person signed about the item, by that person, as a link has it; null: nothing that is here.
  json::value signedBy(const std::string& place, const std::string& item, const std::string& person);
  // What people answered to tools, amid the calls of an operation; of none, of the looks of a run.
  std::vector<std::uint64_t> formsOf(const RunKey& key, const std::string& operation);
  // Of an operation that nothing was done of yet: the run whose question, or whose plan, has it.
  Result<std::optional<RunKey>> runWith(const OperationId& operation);
  Result<Number> undone(const OperationId& operation);
  Space* agents() { return context_.replica.database(DatabaseName::agents).find(scope_); }
  Space* journalSpace() { return context_.replica.database(DatabaseName::journal).find(scope_); }

  OperationContext& context_;
  const std::string scope_;
  std::vector<WhyLink> links_;
  std::map<std::string, Number> known_;
  std::map<RunKey, RunStory> stories_;
  int depth_ = 0;
};

// --- operations

Result<Number> Chain::operation(const std::string& hex) {
  WITAN_TRY(operation, OperationId::parse(hex));
  return once("operation/" + hex, [&] { return makeOperation(operation); });
}

Result<Number> Chain::makeOperation(const OperationId& operation) {
  WITAN_TRY(marks, saga::marksOf(context_.replica, scope_, operation));
  saga::SagaRows rows(context_.replica.database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
  const auto row = rows.find(operation);
  const OperationRecord* record = marks.record();
  if (record == nullptr && !row.ok()) return undone(operation);
  const RunKey key{record != nullptr ? record->body.runKey : row->intent.run};
  const std::string& tool = record != nullptr ? record->body.toolName : row->intent.tool;
  WITAN_TRY(begun, run(key));
  WITAN_TRY(judged, verdictOf(operation, key));
  WITAN_TRY(approved, approvalOf(operation));
  Number undone;
  if (record != nullptr && record->body.compensates) {
    WITAN_SET(undone, this->operation(toHex(*record->body.compensates)));
  }
  WhyLink link{WhyKind::operation, operation.hex(), {}, "", {}, nullptr};
  for (const Number& cause : {begun, judged, approved, undone}) because(link, cause);
  json::object detail{{"tool", tool}};
  if (record != nullptr) {
    const json::value result = parsed(record->body.result);
    detail["outcome"] = enumName(record->body.outcome);
    detail["result"] = result;
    detail["by"] = std::string(deviceOf(record->dot.host));
    link.what = concat(record->body.agentId, record->body.compensates ? " undoes by " : ": ", tool, " ",
                       enumName(record->body.outcome), " ", brief(result));
  } else {
    link.what = concat(row->intent.agentId, ": ", tool, " ", enumName(row->status), row->lastError.empty() ? "" : ": ",
                       row->lastError);
  }
  if (row.ok()) {
    link.at = timeOf(row->updatedAtMs);
    detail["arguments"] = parsed(row->intent.arguments);
    detail["attempts"] = row->attempts;
    detail["saga"] = enumName(row->status);
  }
  WITAN_TRY(repairs, repairsEverywhere(context_, scope_, key.hex(), operation));
  for (const SagaRepair& repair : repairs) {
    json::value answer = signedBy(key.hex(), "operation:" + operation.hex(), repair.by);
    because(link, add({WhyKind::person, repair.by, timeOf(repair.atMs), repairWords(repair), {}, std::move(answer)}));
  }
  for (const std::uint64_t one : formsOf(key, operation.hex())) link.causes.push_back(one);
  link.detail = std::move(detail);
  return add(std::move(link));
}

json::value Chain::signedBy(const std::string& place, const std::string& item, const std::string& person) {
  json::value found;
  if (Space* records = agents(); records != nullptr)
    for (const InboxAnswer& one : inboxAnswersAt(*records, place))
      if (one.item == item && one.by == person && isSignedWell(one))
        found = json::object{{"answer", parsed(toJson(one))}};
  return found;
}

std::vector<std::uint64_t> Chain::formsOf(const RunKey& key, const std::string& operation) {
  std::vector<std::uint64_t> links;
  Space* records = agents();
  for (const InboxAnswer& one : records == nullptr ? std::vector<InboxAnswer>() : inboxAnswersAt(*records, key.hex())) {
    if (one.subject != operation || !one.item.starts_with("form:")) continue;
    const json::value content = member(one.said, "content");
    WhyLink link{WhyKind::person, one.by, one.at, "", {}, json::object{{"answer", parsed(toJson(one))}}};
    link.what = concat(one.by, one.choice == "accept" ? " answered " : " declined ", one.item,
                       content.is_null() ? "" : ": " + brief(content));
    links.push_back(*add(std::move(link)));
  }
  return links;
}

Result<std::optional<RunKey>> Chain::runWith(const OperationId& operation) {
  Space* records = agents();
  if (records == nullptr) return std::optional<RunKey>();
  WITAN_TRY(versions, records->versions(Kind::approval, operation.hex()));
  if (const ApprovalView view = approvalViewOf(operation, versions); view.shown)
    return std::optional(RunKey{view.shown->body.runKey});
  for (const std::string& key : records->keys(Kind::plan)) {
    WITAN_TRY(run, RunKey::parse(key));
    WITAN_TRY(plans, planViewIn(*records, run));
    if (plans.winner && std::ranges::find(plans.winner->operations, operation) != plans.winner->operations.end())
      return std::optional(run);
  }
  return std::optional<RunKey>();
}

// It waits for a person or for its turn, was denied, or its agent is gone: nothing was done of it on this device.
Result<Number> Chain::undone(const OperationId& operation) {
  WITAN_TRY(key, runWith(operation));
  if (!key) return Number();
  WITAN_TRY(begun, run(*key));
  WITAN_TRY(judged, verdictOf(operation, *key));
  WITAN_TRY(approved, approvalOf(operation));
  WITAN_TRY(view, agents::runView(*agents(), *key));
  WhyLink link{WhyKind::operation, operation.hex(), {}, "nothing was done of it, as far as this device knows", {}, {}};
  for (const Number& cause : {begun, judged, approved}) because(link, cause);
  WITAN_TRY(versions, agents()->versions(Kind::approval, operation.hex()));
  const ApprovalView asked = approvalViewOf(operation, versions);
  const std::string agent = asked.shown ? asked.shown->body.agentId : view.run ? view.run->body.agentId : "";
  std::string state = "planned";
  if (asked.shown) state = enumName(asked.shown->body.verdict);
  if (!agent.empty()) {
    WITAN_TRY(lifecycle, agents::lifecycleIn(*agents(), agent));
    if (lifecycle != Lifecycle::active) link.what += concat("; agent ", agent, " is ", toString(lifecycle));
  }
  link.detail = json::object{{"saga", nullptr}, {"state", state}};
  return add(std::move(link));
}

Result<Number> Chain::verdictOf(const OperationId& operation, const RunKey& key) {
  const auto story = stories_.find(key);
  if (story == stories_.end()) return Number();
  const auto at = story->second.intended.find(operation.hex());
  if (at == story->second.intended.end()) return Number();
  const json::value* verdict = at->second.if_contains("verdict");
  const json::value& judged = verdict != nullptr ? *verdict : json::value();
  const std::string policy(stringOf(at->second, "policy"));
  const std::string denial = text(judged, "token");
  WhyLink link{WhyKind::verdict, operation.hex(), {}, "", {}, judged};
  link.what = concat(text(judged, "by"), " under policy ", policy, ": ", text(judged, "kind"),
                     denial.empty() ? "" : " (" + denial + ")");
  WITAN_TRY(begun, run(key));
  because(link, begun);
  return add(std::move(link));
}

std::string answerWords(const ApprovalBody& body) {
  return concat(enumName(body.verdict), " by ", body.by, body.reason.empty() ? "" : ": " + body.reason);
}

// A person's yes, though another answer may stand beside it.
std::optional<ApprovalBody> approvalIn(std::span<const Version> versions) {
  for (const Version* version : maximalVersions(versions)) {
    auto body = version->tombstone ? Result<ApprovalBody>(notFound("gone")) : decodeRecord<ApprovalBody>(version->body);
    if (body.ok() && body->verdict == ApprovalVerdict::approved) return *std::move(body);
  }
  return std::nullopt;
}

Result<Number> Chain::approvalOf(const OperationId& operation) {
  Space* records = agents();
  if (records == nullptr || records->table().find(Kind::approval, operation.hex()) == nullptr) return Number();
  WITAN_TRY(versions, records->versions(Kind::approval, operation.hex()));
  const ApprovalView view = approvalViewOf(operation, versions);
  if (!view.shown) return Number();
  WITAN_TRY(marks, saga::marksOf(context_.replica, scope_, operation));
  const std::optional<ApprovalBody> rested = marks.applied() ? approvalIn(versions) : std::nullopt;
  const ApprovalBody& body = rested ? *rested : view.shown->body;
  const bool waits = body.verdict == ApprovalVerdict::waiting;
  std::string words = waits ? std::string("waits for a person") : answerWords(body);
  if (view.shown->body.verdict != body.verdict)
    words += concat(", on which the effect rested; on a device that was cut off ", answerWords(view.shown->body));
  json::object detail{{"digest", toHex(body.digest)}, {"what", parsed(body.what)}};
  if (const json::value answer = signedBy(toHex(body.runKey), "approval:" + operation.hex(), body.by);
      !answer.is_null()) {
    detail["answer"] = answer.at("answer");
    words += concat("; signed with the key ", text(answer.at("answer"), "signature").substr(0, 16));
  }
  return add({WhyKind::approval, operation.hex(), timeOf(body.atMs), std::move(words), {}, std::move(detail)});
}

// --- runs

Result<Number> Chain::run(const RunKey& key) {
  return once("run/" + key.hex(), [&] { return makeRun(key); });
}

Result<Number> Chain::makeRun(const RunKey& key) {
  Space* records = agents();
  if (records == nullptr) return Number();
  WITAN_TRY(view, agents::runView(*records, key));
  WITAN_TRY(plans, planViewIn(*records, key));
  if (!view.run && !plans.winner) return Number();
  WITAN_TRY(story, runStory(*records, key, view, plans, context_.replica.device()));
  const RunStory& told = stories_.insert_or_assign(key, std::move(story)).first->second;
  const json::value input = member(told.beginning, "input");
  WhyLink wake{WhyKind::wake, key.hex(), {}, "the run's record is not here", {}, nullptr};
  WITAN_SET(wake.causes, causesOf(input, key));
  if (view.run) {
    const WakeRunBody& body = view.run->body;
    wake.at = timeOf(body.startedAtMs);
    wake.what =
        concat(body.agentId, " woken by ", enumName(body.reason), " ", body.subject, " on ",
               deviceOf(view.run->dot.host), "; ", enumName(body.status), body.cause.empty() ? "" : ": " + body.cause);
  }
  wake.detail = json::object{{"version", text(told.beginning, "version")}, {"policy", text(told.beginning, "policy")}};
  const Number woken = add(std::move(wake));
  if (told.beginning.is_null())
    return add({WhyKind::missing, key.hex(), {}, "the run's transcript is not on this device", {*woken}, nullptr});
  std::vector<std::uint64_t> seen;
  for (const json::object& look : told.looks) {
    if (seen.size() == kMostLooks) break;
    const json::value* answer = look.if_contains("answer");
    const json::value ok = answer != nullptr ? member(*answer, "ok") : json::value();
    const std::string result = answer == nullptr               ? "no answer"
                               : ok.is_bool() && ok.get_bool() ? "sees " + brief(member(*answer, "content"))
                                                               : "fails: " + text(*answer, "error");
    seen.push_back(*add({WhyKind::look,
                         concat(key.hex(), "/", stringOf(look, "span")),
                         {},
                         concat(stringOf(look, "tool"), " ", brief(look.at("arguments")), " ", result),
                         {*woken},
                         json::value(look)}));
  }
  for (const std::uint64_t one : formsOf(key, "")) seen.push_back(one);
  if (!plans.winner) return woken;
  WhyLink plan{WhyKind::plan, plans.winner->digest.hex(), {}, "", std::move(seen), nullptr};
  if (plan.causes.empty()) plan.causes.push_back(*woken);
  json::array operations;
  for (std::size_t i = 0; i < plans.winner->operations.size(); ++i)
    operations.push_back(json::object{{"operation", plans.winner->operations[i].hex()},
                                      {"tool", plans.winner->body.actions[i].toolName}});
  plan.what = concat("a plan of ", operations.size(), " action", operations.size() == 1 ? "" : "s", ", made by ",
                     deviceOf(plans.winner->dot.host));
  if (!plans.losers.empty())
    plan.what += concat("; ", plans.losers.size(), " plan of another device lost, what only it did is undone");
  plan.detail = json::object{{"operations", std::move(operations)}};
  return add(std::move(plan));
}

Result<std::vector<std::uint64_t>> Chain::causesOf(const json::value& input, const RunKey& key) {
  std::vector<std::uint64_t> causes;
  const auto by = [&](WhyKind kind, std::string id, std::string what, json::value detail) {
    causes.push_back(*say(kind, std::move(id), std::move(what), std::move(detail)));
  };
  const std::string reason = text(input, "reason"), subject = text(input, "subject");
  const json::value ledger = member(input, "ledger"), conflict = member(input, "conflict");
  if (!ledger.is_null())
    by(WhyKind::fact, text(ledger, "entity"),
       concat("ledger of ", text(ledger, "domain"), ": ", text(ledger, "entity"), " ", text(ledger, "field"), " of ",
              text(ledger, "key"), " became ", text(ledger, "value")),
       ledger);
  if (!conflict.is_null())
    by(WhyKind::conflict, text(conflict, "id"), "agents wrote " + text(conflict, "id") + " on several devices at once",
       conflict);
  if (reason == "timer") by(WhyKind::timer, subject, "timer " + subject, member(input, "scheduledAtMs"));
  if (reason == "user") by(WhyKind::message, subject, "somebody said " + brief(member(input, "user")), nullptr);
  if (reason == "graph") {
    const json::value of = member(input, "graph");
    WITAN_TRY(led, graphLed({text(of, "graph"), text(of, "run"), text(of, "span")}));
    if (led)
      causes.push_back(*led);
    else
      by(WhyKind::graph, subject, "graph " + subject, of);
  }
  const json::array* changes = input.is_object() ? arrayOf(input.get_object(), "changes") : nullptr;
  for (std::size_t i = 0; changes != nullptr && i < changes->size() && i < kMostChanges; ++i) {
    if (text((*changes)[i], "type") != kJournalPayload) continue;
    WITAN_TRY(one, change(text((*changes)[i], "id"), key, input));
    if (one) causes.push_back(*one);
  }
  return causes;
}

// The entry as it is now: if somebody has edited it since, that is said.
Result<Number> Chain::change(const std::string& id, const RunKey& key, const json::value& input) {
  Space* space = journalSpace();
  auto view = space == nullptr ? Result<JournalView>(JournalView()) : journalViewIn(*space, id);
  if (!view.ok()) return view.error();
  WhyLink link{WhyKind::change, id, {}, id + " changed, and is gone since", {}, nullptr};
  if (view->shown) {
    const Sibling& shown = view->siblings[*view->shown];
    WITAN_TRY(version, makeVersion(id, shown));
    because(link, version);
    WITAN_TRY(lck, changeKeyOf(shown.dot, key, input));
    link.at = timeOf(shown.body->editedAtMs);
    link.what = lck.empty() ? id + " changed, and has been edited since" : concat(id, " changed: change key ", lck);
    link.detail = json::object{{"version", dotWords(shown.dot)}, {"changeKey", lck}};
  }
  return add(std::move(link));
}

// The logical change key of the commit, if the run key follows from it.
Result<std::string> Chain::changeKeyOf(const Dot& dot, const RunKey& key, const json::value& input) {
  Space* space = journalSpace();
  WITAN_TRY(versions, space->versions(Kind::batch, concat(dot.host, ":", dot.counter)));
  if (versions.empty()) return std::string();
  const auto news = agents::batchNews(dot, versions.front().body);
  if (!news.ok()) return std::string();
  const auto view = agents::runView(*agents(), key);
  if (!view.ok() || !view->run) return std::string();
  const auto job = agents::subscriptionJob(view->run->body.agentId, text(input, "subject"), "journal/" + scope_, *news);
  return job.ok() && job->key() == key ? toHex(*job->change) : std::string();
}

// --- the journal

Result<Number> Chain::makeVersion(const std::string& id, const Sibling& shown) {
  return once(concat("version/", id, "/", dotWords(shown.dot)), [&]() -> Result<Number> {
    WhyLink link{WhyKind::version, dotWords(shown.dot), timeOf(shown.body->editedAtMs), "", {}, nullptr};
    if (shown.body->operationId) {
      WITAN_TRY(by, operation(toHex(*shown.body->operationId)));
      because(link, by);
    } else {
      because(link, say(WhyKind::person, shown.body->author,
                        concat("written as ", shown.body->author, ", by device ", nameOf(deviceOf(shown.dot.host))),
                        signedBy(placeOfItem("conflict:" + id), "conflict:" + id, shown.body->author)));
    }
    link.what = concat(id, " says ", brief(parsed(shown.body->payload)));
    link.detail = json::object{{"author", shown.body->author}, {"id", id}, {"type", shown.body->type}};
    return add(std::move(link));
  });
}

Result<Number> Chain::journal(const std::string& id) {
  Space* space = journalSpace();
  if (space == nullptr || space->table().find(Kind::journal, id) == nullptr) return Number();
  WITAN_TRY(view, journalViewIn(*space, id));
  Number last;
  for (const Sibling& one : view.siblings)
    if (one.body) {
      WITAN_SET(last, makeVersion(id, one));
    }
  return last;
}

// --- ledgers

const PartitionHost* Chain::hostOf(std::string_view partition) const {
  if (context_.node == nullptr) return nullptr;
  const auto at = context_.node->hosts().find(partition);
  return at == context_.node->hosts().end() ? nullptr : at->second.get();
}

Result<Number> Chain::decision(const PartitionHost& host, std::uint64_t seq) {
  const std::string id = concat(host.id(), ":", seq);
  return once("decision/" + id, [&]() -> Result<Number> {
    if (seq > 0 && seq < host.firstEntry()) return say(WhyKind::missing, id, id + " was pruned on this device");
    std::string counselor;
    std::uint64_t escalation = 0;
    Asker of;
    WhyLink link;
    WITAN_TRY(found, visitEntry(host.rows(), seq, [&](const StoredEntry& stored) {
                const kernel::EntryView& entry = stored.entry;
                of = {std::string(entry.operationId),
                      std::string(entry.agent),
                      std::string(entry.device),
                      std::string(entry.role),
                      entry.runKey.empty() ? "" : toHex(entry.runKey),
                      {}};
                if (host.module().signature().domain == kGraphDomain) of.step = placeIn(entry.entity, entry.action);
                counselor = entry.counselor, escalation = entry.escalation;
                link = decisionLink(host.id(), entry, stored.leaf);
              }));
    if (!found) return Number();
    if (escalation > 0) {
      WITAN_TRY(asked, decision(host, escalation));
      because(link, asked);
      because(link, say(WhyKind::person, counselor, "counselor " + counselor + " decided"));
      return add(std::move(link));
    }
    WITAN_TRY(by, askerOf(of));
    because(link, by);
    return add(std::move(link));
  });
}

// Who asked for the entry: an agent's operation, a node of a graph, the runtime of a graph, or a device for somebody.
Result<Number> Chain::askerOf(const Asker& of) {
  if (OperationId::parse(of.operationId).ok()) {
    WITAN_TRY(by, operation(of.operationId));
    if (by) return by;
  }
  if (!of.agent.empty()) {
    WITAN_TRY(led, graphLed({of.agent, of.run, of.operationId}));
    if (led) return led;
    return say(WhyKind::missing, of.operationId,
               concat("agent ", of.agent, " of device ", nameOf(of.device), " asked; its records are not here"));
  }
  if (of.step && !of.step->run.empty()) {
    WITAN_TRY(led, graphLed(*of.step));
    if (of.role != "Runtime") return led;
    WhyLink step{WhyKind::graph, of.step->graph, {}, "", {}, nullptr};
    step.what = concat("the runtime of graph ", of.step->graph, " on device ", nameOf(of.device), " made this step");
    because(step, led);
    return add(std::move(step));
  }
  return say(WhyKind::person, of.operationId, concat("somebody on device ", nameOf(of.device), " asked, as ", of.role));
}

Result<Number> Chain::graphEntry(const PartitionHost& host, std::uint64_t seq, const Number& cause) {
  if (seq == 0) return cause;
  WITAN_TRY(entry, once(concat("decision/", host.id(), ":", seq), [&]() -> Result<Number> {
              WhyLink link;
              WITAN_TRY(found, visitEntry(host.rows(), seq, [&](const StoredEntry& one) {
                          link = decisionLink(host.id(), one.entry, one.leaf);
                        }));
              if (!found) return Number();
              because(link, cause);
              return add(std::move(link));
            }));
  return entry ? entry : cause;  // none: it is the subject, which is made at the moment
}

Result<Number> Chain::passed(const PartitionHost& host, const GraphPassage& one, Number last) {
  WITAN_SET(last, graphEntry(host, one.sent, last));
  WITAN_SET(last, once("span/" + one.span, [&]() -> Result<Number> {
              WhyLink link{WhyKind::graph, one.span, {}, "", {}, json::object{{"message", one.message}}};
              if (one.at) link.at = *one.at;
              link.what = concat("node ", one.node, " takes message ", one.message.substr(0, 16), " of key ", one.key);
              because(link, last);
              return add(std::move(link));
            }));
  if (!one.answer) return last;
  const GraphAnswered& answer = *one.answer;
  WITAN_SET(last, once("answer/" + one.span, [&]() -> Result<Number> {
              WhyLink link{WhyKind::person, answer.by, {}, "", {}, json::object{{"digest", answer.digest}}};
              link.what = concat(answer.by, answer.approve ? " approved" : " denied", " what node ", one.node,
                                 " asked, with the digest ", answer.digest.substr(0, 16),
                                 answer.isSigned ? "; signed with the person's key" : "; not signed by a person's key");
              because(link, last);
              return add(std::move(link));
            }));
  return graphEntry(host, answer.seq, last);
}

Result<Number> Chain::graphLed(const GraphPlace& place) {
  if (context_.node == nullptr || place.run.empty() || context_.node->moduleOf(kGraphDomain) == nullptr)
    return Number();
  const PartitionHost* host = hostOf(context_.node->partitionFor(kGraphDomain, place.graph));
  if (host == nullptr || host->partition().state(place.graph) == nullptr) return Number();
  WITAN_TRY(path, graphPath(*host, place.graph, place.run, place.span));
  if (!path) return Number();
  WITAN_TRY(last, graphEntry(*host, path->begun, {}));
  WITAN_SET(last, once("graph run/" + path->run, [&]() -> Result<Number> {
              WhyLink link{WhyKind::graph, path->run, {}, "", {}, json::object{{"external", path->external}}};
              if (path->at) link.at = *path->at;
              link.what = concat("run of graph ", path->graph);
              if (path->begun > 0)
                link.what += concat(": message ", inQuotes(path->external), " entered at node ", path->ingress);
              because(link, last);
              return add(std::move(link));
            }));
  for (GraphPassage& one : path->passages) {
    if (one.sent == path->begun) one.sent = 0;  // it stands before the run
    WITAN_SET(last, passed(*host, one, last));
  }
  return last;
}

Result<Number> Chain::graphSubject(const std::string& id) {
  if (context_.node == nullptr || !OperationId::parse(id).ok()) return Number();
  for (const auto& [partition, host] : context_.node->hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    WITAN_TRY(place, graphPlaceOf(*host, id));
    if (place) return graphLed(*place);
  }
  return Number();
}

Result<Number> Chain::ledgerOperation(std::string_view operationId) {
  if (context_.node == nullptr) return Number();
  for (const auto& [id, host] : context_.node->hosts())
    if (const std::uint64_t seq = host->partition().entryOf(operationId); seq > 0) return decision(*host, seq);
  return Number();
}

Result<Number> Chain::newestOf(std::string_view domain, std::string_view entity) {
  if (context_.node == nullptr || context_.node->moduleOf(domain) == nullptr) return Number();
  const PartitionHost* host = hostOf(context_.node->partitionFor(domain, entity));
  if (host == nullptr || host->partition().state(entity) == nullptr) return Number();
  const std::uint64_t seq = host->partition().newestEntryOf(entity);
  return seq > 0 ? decision(*host, seq) : Number();
}

// The operation, and what a ledger decided on it.
Result<Number> anyOperation(Chain& chain, const OperationContext& context, const std::string& id) {
  Number last;
  if (OperationId::parse(id).ok()) {
    WITAN_SET(last, chain.operation(id));
  }
  if (context.node == nullptr) return last;
  WITAN_TRY(decided, chain.ledgerOperation(id));
  return decided ? decided : last;
}

Result<Number> subjectNamed(Chain& chain, const OperationContext& context, const std::string& subject) {
  const std::size_t colon = subject.rfind(':');
  if (const PartitionHost* host = colon == subject.npos ? nullptr : chain.hostOf(subject.substr(0, colon))) {
    std::uint64_t seq = 0;
    const auto [end, error] = std::from_chars(subject.data() + colon + 1, subject.data() + subject.size(), seq);
    if (error == std::errc() && end == subject.data() + subject.size()) return chain.decision(*host, seq);
  }
  // A journal entry of any author does not hide what else has the name: its chain comes last.
  Number known;
  if (const std::size_t slash = subject.find('/'); slash != subject.npos) {
    WITAN_SET(known, chain.newestOf(subject.substr(0, slash), subject.substr(slash + 1)));
  }
  if (const auto key = RunKey::parse(subject); !known && key.ok()) {
    WITAN_SET(known, chain.run(*key));
  }
  if (!known) {
    WITAN_SET(known, anyOperation(chain, context, subject));
  }
  if (!known) {
    WITAN_SET(known, chain.graphSubject(subject));
  }
  WITAN_TRY(entry, chain.journal(subject));
  return entry ? entry : known;
}

// What has no such name may be an item of the inbox, and its key the name.
Result<Number> subjectOf(Chain& chain, const OperationContext& context, const std::string& subject) {
  WITAN_TRY(known, subjectNamed(chain, context, subject));
  const auto item = InboxIndex::partsOf(subject);
  if (known || !item) return known;
  std::string key = item->second;
  if (const std::size_t slash = key.rfind('/'); item->first == InboxKind::proposal && slash != key.npos)
    key[slash] = ':';
  return subjectNamed(chain, context, key);
}

}  // namespace

WhyLink decisionLink(std::string_view partition, const kernel::EntryView& entry, const Hash& leaf) {
  return {WhyKind::decision,
          concat(partition, ":", entry.seq),
          entry.time,
          inOneLine(entryStory(entry)),
          {},
          json::object{{"leaf", toHex(leaf)},
                       {"operationId", entry.operationId},
                       {"outcome", enumName(entry.tag)},
                       {"proof", concat("witan ledger proof ", entry.seq, " --partition ", partition)}}};
}

Result<Why> why(OperationContext& context, const WhyRequest& request) {
  Chain chain(context, request.scope.value_or(kDefaultScope));
  WITAN_TRY(last, subjectOf(chain, context, request.subject));
  if (!last)
    return notFound("nothing here is called " + inQuotes(clip(request.subject, kBrief)),
                    "an operation id, a run key, DOMAIN/NUMBER:SEQ, the id of a journal entry, or DOMAIN/ENTITY");
  return Why{request.subject, chain.takeLinks()};
}

}  // namespace witan::node::operations
