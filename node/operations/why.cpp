#include "node/operations/why.h"

#include <algorithm>
#include <charconv>

#include "agents/episode/transcript.h"
#include "agents/json_members.h"
#include "agents/memory/thread.h"
#include "agents/wake/wake_job.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "kernel/record/entry.h"
#include "node/ledgers/ledger_reader.h"
#include "node/operations/agent_records.h"
#include "node/operations/versions.h"
#include "replica/core/partition_host.h"
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
using agents::episode::EntryKind;

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

// One run as its transcript has it.
struct RunStory {
  std::string device;
  json::value beginning;                         // body of the first entry
  std::vector<json::object> looks;               // announced; with the answer under "answer"
  std::map<std::string, json::object> intended;  // by operation
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
  static void because(WhyLink& link, const Number& cause) {
    if (cause) link.causes.push_back(*cause);
  }

  Result<Number> makeOperation(const OperationId& operation);
  Result<Number> makeRun(const RunKey& key);
  Result<Number> makeVersion(const std::string& id, const Sibling& shown);
  Result<RunStory> storyOf(const RunKey& key, const WakeRunView& view, const PlanView& plans);
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
  WITAN_TRY(repairs, repairsOf(context_.replica.database(DatabaseName::agents), operation));
  for (const SagaRepair& repair : repairs)
    because(link, add({WhyKind::person, repair.by, timeOf(repair.atMs), repairWords(repair), {}, nullptr}));
  link.detail = std::move(detail);
  return add(std::move(link));
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
  return add({WhyKind::approval,
              operation.hex(),
              timeOf(body.atMs),
              std::move(words),
              {},
              json::object{{"digest", toHex(body.digest)}, {"what", parsed(body.what)}}});
}

// --- runs

Result<RunStory> Chain::storyOf(const RunKey& key, const WakeRunView& view, const PlanView& plans) {
  RunStory story;
  std::set<std::string> devices;
  if (view.run) devices.emplace(deviceOf(view.run->dot.host));
  if (plans.winner) devices.emplace(deviceOf(plans.winner->dot.host));
  devices.insert(context_.replica.device());
  for (const std::string& device : devices) {
    WITAN_TRY(rows, agents::episode::readTranscript(*agents(), key, device));
    if (rows.empty()) continue;
    story.device = device;
    for (const agents::episode::TranscriptRow& row : rows) {
      const auto entry = agents::episode::parseEntry(row.message.content);
      if (!entry.ok()) break;
      const std::string span(stringOf(entry->body, "span"));
      if (entry->kind == EntryKind::begin) story.beginning = entry->body;
      if (entry->kind == EntryKind::look) story.looks.push_back(entry->body);
      if (entry->kind == EntryKind::observation)
        for (json::object& look : story.looks)
          if (stringOf(look, "span") == span) look["answer"] = entry->body;
      if (entry->kind == EntryKind::intended) story.intended.insert_or_assign(span, entry->body);
    }
    break;
  }
  return story;
}

Result<Number> Chain::run(const RunKey& key) {
  return once("run/" + key.hex(), [&] { return makeRun(key); });
}

Result<Number> Chain::makeRun(const RunKey& key) {
  Space* records = agents();
  if (records == nullptr) return Number();
  WITAN_TRY(view, agents::runView(*records, key));
  WITAN_TRY(plans, planViewIn(*records, key));
  if (!view.run && !plans.winner) return Number();
  WITAN_TRY(story, storyOf(key, view, plans));
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
    causes.push_back(*add({kind, std::move(id), {}, std::move(what), {}, std::move(detail)}));
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
  if (reason == "graph") by(WhyKind::graph, subject, "graph " + subject, member(input, "graph"));
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
      because(link, add({WhyKind::person,
                         shown.body->author,
                         {},
                         concat("written as ", shown.body->author, ", by device ", nameOf(deviceOf(shown.dot.host))),
                         {},
                         nullptr}));
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
  return once(concat("decision/", host.id(), ":", seq), [&]() -> Result<Number> {
    struct Copy {
      std::string operationId, counselor, agent, device, role;
      std::uint64_t escalation = 0;
    } of;
    WhyLink link;
    WITAN_TRY(found, visitEntry(host.rows(), seq, [&](const StoredEntry& entry) {
                of = {std::string(entry.entry.operationId), std::string(entry.entry.counselor),
                      std::string(entry.entry.agent),       std::string(entry.entry.device),
                      std::string(entry.entry.role),        entry.entry.escalation};
                link = decisionLink(host.id(), entry.entry, entry.leaf);
              }));
    if (!found) return Number();
    if (of.escalation > 0) {
      WITAN_TRY(asked, decision(host, of.escalation));
      because(link, asked);
      because(link, add({WhyKind::person, of.counselor, {}, "counselor " + of.counselor + " decided", {}, nullptr}));
      return add(std::move(link));
    }
    Number by;
    if (OperationId::parse(of.operationId).ok()) {
      WITAN_SET(by, operation(of.operationId));
    }
    if (!by)
      by = add({of.agent.empty() ? WhyKind::person : WhyKind::missing,
                of.operationId,
                {},
                of.agent.empty()
                    ? concat("somebody on device ", of.device, " asked, as ", of.role)
                    : concat("agent ", of.agent, " of device ", of.device, " asked; its records are not here"),
                {},
                nullptr});
    because(link, by);
    return add(std::move(link));
  });
}

Result<Number> Chain::ledgerOperation(std::string_view operationId) {
  if (context_.node == nullptr) return Number();
  for (const auto& [id, host] : context_.node->hosts()) {
    const std::uint64_t seq = host->partition().entryOf(operationId);
    if (seq > 0) return decision(*host, seq);
  }
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

Result<Number> subjectOf(Chain& chain, const OperationContext& context, const std::string& subject) {
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
  WITAN_TRY(entry, chain.journal(subject));
  return entry ? entry : known;
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
