// One list of everything that waits for a person on this device. An item brings its answers as requests of this API, so
// that a client shows what each would do and sends it back with the person's name.
#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/sha256.h"
#include "domains/graph/state.h"
#include "node/api/control_routes.h"
#include "node/api/counselor_queue.h"
#include "node/operations/agent_records.h"
#include "node/operations/journal.h"
#include "node/operations/sync.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "saga/saga_rows.h"

namespace witan::node::api {

namespace {

WITAN_ENUM(InboxKind, proposal, question, approval, conflict, operation, incident)

WITAN_STRUCT(InboxRequest, (Omittable<InboxKind>, kind, "Items of this kind only"),
             (Omittable<std::uint64_t>, limit, "Most items to give, at most 10000; default: 100"))

WITAN_STRUCT(InboxChoice, (std::string, choice, "Word for the answer"), (std::string, effect, "What it would do"),
             (bool, unsafe, "Whether it would record what an invariant forbids"),
             (std::string, path, "Path that takes the answer, by POST"),
             (json::value, request, "Body of that request, but for the person and the reason"),
             (std::string, person, "Member of the body that names the person; empty: none"),
             (std::string, reason, "Member of the body that takes a reason; empty: none"))

WITAN_STRUCT(InboxItem, (std::string, id, "KIND:PLACE"), (InboxKind, kind, "Why a person is asked"),
             (Omittable<Time>, at, "Since when it waits"), (std::string, subject, "Entity, agent or device concerned"),
             (std::string, what, "What is asked, in one line"),
             (std::vector<InboxChoice>, choices, "Answers; none: there is nothing to answer here"),
             (json::value, detail,
              "Row of the list that has it: queue, questions of runs, approvals, journal, sagas or incidents"),
             (Omittable<InboxClaim>, claim, "Who has claimed it at this node; absent: nobody has"))

WITAN_STRUCT(Inbox, (std::vector<InboxItem>, items, "Items, oldest first; those without a time last"),
             (std::uint64_t, waiting, "Number of all items, also of those beyond the limit"))

WITAN_STRUCT(ClaimRequest, (std::string, item, "Id of the item", 1), (std::string, by, "Name of the person", 1),
             (Omittable<std::uint64_t>, seconds, "How long, at most 3600; 0 releases it; default: 120"),
             (Omittable<bool>, takeOver, "true: also what another person has claimed"))

WITAN_STRUCT(Claimed, (std::string, item, "Id of the item"),
             (Omittable<InboxClaim>, claim, "The claim that is in force; absent: it was released"))

constexpr std::uint64_t kMostItems = 10'000;
constexpr std::size_t kBriefBytes = 160;

// UTF-8 is cut between characters.
std::string brief(const json::value& value) {
  std::string text = canonicalJson(value);
  if (text.size() <= kBriefBytes) return text;
  std::size_t end = kBriefBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

template <class Row>
json::value detailOf(const Row& row) {
  return parseJson(toJson(row), kOwnJson).value();
}

Omittable<Time> timeOf(std::int64_t ms) { return ms > 0 ? Omittable<Time>(Time{ms * 1000}) : Omittable<Time>(); }

InboxChoice commitOf(const kernel::Partition& partition, const QueueRow& row, const json::value& request, Time now) {
  InboxChoice choice{"commit", "", false, "/v1/queue/decide", request, "counselor", "reason"};
  const auto preview =
      previewCommit(partition, {row.domain, row.entity, {}, CounselorDecision::commit, row.digest}, now);
  if (!preview.ok()) {
    choice.effect = "would be refused: " + preview.error().message;
    return choice;
  }
  choice.unsafe = !preview->safe;
  choice.effect = "writes " + brief(preview->writes);
  for (const FindingRow& finding : preview->findings)
    choice.effect += "; breaks " + finding.invariant + ": " + finding.message;
  return choice;
}

void addProposals(const kernel::Partition& partition, const std::string& id, Time now, std::vector<InboxItem>& into) {
  for (const QueueRow& row : queueOf(partition, id)) {
    const auto request = [&](const char* decision) {
      return json::value{
          {"domain", row.domain}, {"entity", row.entity}, {"decision", decision}, {"digest", row.digest}};
    };
    into.push_back({concat("proposal:", id, "/", row.seq),
                    InboxKind::proposal,
                    row.at,
                    row.entity,
                    concat(row.role, " proposes ", brief(row.action), "; ", row.invariant, ": ", row.message),
                    {commitOf(partition, row, request("commit"), now),
                     {"reject", "the entity thaws unchanged", false, "/v1/queue/decide", request("reject"), "counselor",
                      "reason"}},
                    detailOf(row)});
  }
}

void addQuestions(Daemon& daemon, std::vector<InboxItem>& into) {
  GraphBodies bodies(daemon.replica().data(), operations::kDefaultScope);
  for (const auto& [id, host] : daemon.replica().hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& graph : host->partition().entities())
      for (const domains::graph::Question& asked : domains::graph::questionsIn(host->partition().state(graph))) {
        const graph::Body body = bodies.find(asked.digest);
        json::object request{{"graph", graph},     {"run", asked.run},       {"node", asked.node},
                             {"span", asked.span}, {"digest", asked.digest}, {"approve", true}};
        json::object detail = request;
        detail.erase("approve");
        detail["who"] = json::value_from(asked.who);
        if (body) detail["body"] = *body;
        InboxItem item{"question:" + asked.span,
                       InboxKind::question,
                       {},
                       graph,
                       concat(asked.node, " asks about ", body ? brief(*body) : "a message that is not here"),
                       {},
                       std::move(detail)};
        for (const bool approve : {true, false}) {
          request["approve"] = approve;
          item.choices.push_back({approve ? "approve" : "deny",
                                  approve ? "the run goes on with the message" : "the message goes no further", false,
                                  "/v1/graphs/answer", request, "by", ""});
        }
        into.push_back(std::move(item));
      }
  }
}

Status addApprovals(operations::OperationContext& context, std::vector<InboxItem>& into) {
  WITAN_TRY(list, operations::listApprovals(context, {}));
  for (const operations::ApprovalRow& row : list.approvals) {
    const json::value request{{"operation", row.operation}, {"digest", row.digest}};
    into.push_back({"approval:" + row.operation,
                    InboxKind::approval,
                    timeOf(row.atMs),
                    row.agentId,
                    "wants to do " + brief(row.what),
                    {{"approve", "the effect happens", false, "/v1/approval/approve", request, "by", "reason"},
                     {"deny", "the effect does not happen; the agent hears that", false, "/v1/approval/deny", request,
                      "by", "reason"}},
                    detailOf(row)});
  }
  return okStatus();
}

InboxItem conflictOf(const operations::JournalEntity& entity) {
  json::array seen;
  for (const operations::JournalVersion& sibling : entity.siblings)
    seen.emplace_back(operations::dotWords(sibling.dot));
  InboxItem item{"conflict:" + entity.id,
                 InboxKind::conflict,
                 {},
                 entity.id,
                 concat(entity.siblings.size(), " versions were written apart"),
                 {},
                 detailOf(entity)};
  for (const operations::JournalVersion& sibling : entity.siblings) {
    const std::string dot = operations::dotWords(sibling.dot);
    if (const auto at = timeOf(sibling.editedAtMs.value_or(0)); at && (!item.at || *at < *item.at)) item.at = at;
    item.choices.push_back({dot,
                            sibling.deleted ? "deletes it"
                                            : "keeps " + brief(sibling.payload.value_or(nullptr)) + " by " +
                                                  sibling.author.value_or("an unknown author"),
                            false, "/v1/journal/resolve",
                            json::value{{"id", entity.id}, {"choose", dot}, {"seen", seen}}, "author", ""});
  }
  return item;
}

// As long as the journal stays what it is. Looking for them is O(records).
struct Conflicts {
  replication::Digest journal;
  std::vector<InboxItem> items;
};

Status addConflicts(operations::OperationContext& context, std::shared_ptr<void>& kept, std::vector<InboxItem>& into) {
  const replication::Space* space = context.space(replication::DatabaseName::journal, {});
  if (space == nullptr) return okStatus();
  auto conflicts = std::static_pointer_cast<Conflicts>(kept);
  if (!conflicts || !(conflicts->journal == space->digest())) {
    WITAN_TRY(list, operations::listJournal(context, {}));
    conflicts = std::make_shared<Conflicts>(Conflicts{space->digest(), {}});
    for (const operations::JournalEntity& entity : list.entities)
      if (entity.conflict) conflicts->items.push_back(conflictOf(entity));
    kept = conflicts;
  }
  into.insert(into.end(), conflicts->items.begin(), conflicts->items.end());
  return okStatus();
}

Status addOperations(operations::OperationContext& context, std::vector<InboxItem>& into) {
  WITAN_TRY(list, operations::listSagas(context, {}));
  for (const operations::SagaLine& line : list.sagas) {
    if (line.status != enumName(saga::SagaStatus::needsAttention)) continue;
    const json::value request{{"operation", line.operation}};
    into.push_back(
        {"operation:" + line.operation,
         InboxKind::operation,
         timeOf(line.updatedAtMs),
         line.agentId,
         concat(line.tool, " stopped after ", line.attempts, " attempts: ", line.lastError.value_or("")),
         {{"retry", "it is carried out again, even if an attempt had its effect", false, "/v1/saga/retry", request, "",
           ""},
          {"compensate", "it is given up, and what it did is undone", false, "/v1/saga/compensate", request, "", ""}},
         detailOf(line)});
  }
  return okStatus();
}

Status addIncidents(operations::OperationContext& context, std::vector<InboxItem>& into) {
  WITAN_TRY(rows, operations::incidentRows(context.replica));
  std::map<std::string, std::uint64_t> known;  // the same may happen again
  for (const operations::IncidentRow& row : rows) {
    const std::string digest = toHex(sha256(row.kind + "|" + row.peer + "|" + row.what)).substr(0, 16);
    const std::uint64_t before = known[digest]++;
    into.push_back({concat("incident:", digest, before == 0 ? "" : "-" + std::to_string(before)),
                    InboxKind::incident,
                    {},
                    row.peer,
                    row.kind + ": " + row.what,
                    {},
                    detailOf(row)});
  }
  return okStatus();
}

Status addRecords(Daemon& daemon, std::shared_ptr<void>& conflicts, std::vector<InboxItem>& into) {
  operations::OperationContext context = operationContext(daemon);
  addQuestions(daemon, into);
  WITAN_DO(addApprovals(context, into));
  WITAN_DO(addConflicts(context, conflicts, into));
  WITAN_DO(addOperations(context, into));
  return addIncidents(context, into);
}

Inbox ordered(std::vector<InboxItem> items, const InboxRequest& request, const InboxClaims& claims, Time now) {
  if (request.kind) std::erase_if(items, [&](const InboxItem& item) { return item.kind != *request.kind; });
  const auto key = [](const InboxItem& item) { return std::pair(!item.at, item.at.value_or(Time{}).micros); };
  std::ranges::stable_sort(items, {}, key);
  Inbox inbox{{}, items.size()};
  items.resize(std::min<std::uint64_t>(items.size(), std::min(request.limit.value_or(100), kMostItems)));
  for (InboxItem& item : items)
    if (auto claim = claims.find(item.id, now)) item.claim = *std::move(claim);
  inbox.items = std::move(items);
  return inbox;
}

// A device without ledgers has no proposals. O(pending proposals + records of the journal).
void inbox(const ApiContext& context, const InboxRequest& request, Later<Inbox> later) {
  Daemon& daemon = context.daemon;
  const auto items = std::make_shared<std::vector<InboxItem>>();
  std::set<std::string> partitions;
  for (const auto& [id, host] : daemon.replica().hosts()) partitions.insert(id);
  daemon.readers().read(
      std::move(partitions),
      [items, now = daemon.now().wall](const PartitionHost& host) {
        addProposals(host.partition(), host.id(), now, *items);
      },
      [items, later, request, &daemon, &door = context.console](const Status& read) {
        if (!read.ok()) return later.refuse(read.error());
        if (const Status added = addRecords(daemon, door.conflicts, *items); !added.ok())
          return later.refuse(added.error());
        later.answer(ordered(std::move(*items), request, door.claims, daemon.now().wall));
      });
}

// Of any item: one that is not there is a claim without effect.
Result<Claimed> claim(const ApiContext& context, const ClaimRequest& asked) {
  InboxClaims& claims = context.console.claims;
  Claimed answer{asked.item, {}};
  constexpr std::size_t kMostText = 400;
  if (asked.item.size() > kMostText || asked.by.size() > kMostText)
    return invalid(concat("item and by have at most ", kMostText, " bytes"));
  if (asked.seconds && *asked.seconds == 0) {
    claims.release(asked.item, asked.by);
    return answer;
  }
  WITAN_TRY(made, claims.claim(asked.item, asked.by, asked.seconds.value_or(120), asked.takeOver.value_or(false),
                               context.daemon.now().wall));
  answer.claim = made;
  return answer;
}

}  // namespace

std::vector<ControlRoute> inboxRoutes() {
  return {
      get("/v1/inbox", "readInbox", "queue", ControlRole::observer,
          "Everything on this device that waits for a person, with the answers it takes", inbox, {500}),
      post("/v1/inbox/claim", "claimInboxItem", "queue", ControlRole::counselor,
           "Says to others at this node who looks at an item, for a while; keeps nobody from answering", claim, {409})};
}

}  // namespace witan::node::api
