#include "node/api/inbox_items.h"

#include <algorithm>
#include <charconv>

#include "agents/memory/thread.h"
#include "agents/wake/host_choice.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "node/api/counselor_queue.h"
#include "node/cluster/roster.h"
#include "node/operations/agent_records.h"
#include "node/operations/journal.h"
#include "node/operations/memory.h"
#include "node/operations/sync.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"

namespace witan::node::api {

namespace {

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

void addProposals(const kernel::Partition& partition, const std::string& id, Time now,
                  std::map<std::string, InboxItem>& into) {
  for (const QueueRow& row : queueOf(partition, id)) {
    const auto at = into.find(InboxIndex::proposalId(id, row.seq));
    if (at == into.end()) continue;
    const auto request = [&](const char* decision) {
      return json::value{
          {"domain", row.domain}, {"entity", row.entity}, {"decision", decision}, {"digest", row.digest}};
    };
    at->second = {
        at->first,
        InboxKind::proposal,
        row.at,
        row.entity,
        concat(row.role, " proposes ", brief(row.action), "; ", row.invariant, ": ", row.message),
        {commitOf(partition, row, request("commit"), now),
         {"reject", "the entity thaws unchanged", false, "/v1/queue/decide", request("reject"), "counselor", "reason"}},
        detailOf(row)};
  }
}

// What runs of graphs ask, by the id of its item. The device that runs them has the times.
std::map<std::string, GraphQuestion> questionsAt(Daemon& daemon) {
  std::map<std::string, GraphQuestion> questions;
  const GraphRuntime* hosted = daemon.replica().graphs();
  for (const auto& [id, host] : daemon.replica().hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& graph : host->partition().entities()) {
      const graph::Runtime* runtime = hosted != nullptr ? hosted->runtime(graph) : nullptr;
      for (domains::graph::Question& asked : domains::graph::questionsIn(host->partition().state(graph))) {
        const std::string item = InboxIndex::idOf(InboxKind::question, asked.span);
        const auto time = runtime != nullptr ? runtime->asking(asked.span) : std::nullopt;
        GraphQuestion& question = questions[item] = {graph, std::move(asked), {}, {}};
        if (time) question.at = timeOf(time->sinceMs), question.until = timeOf(time->untilMs);
      }
    }
  }
  return questions;
}

InboxItem questionItem(Daemon& daemon, const GraphQuestion& question) {
  const auto& [graph, asked, at, until] = question;
  const graph::Body body = GraphBodies(daemon.replica().data(), operations::kDefaultScope).find(asked.digest);
  json::object request{{"graph", graph},     {"run", asked.run},       {"node", asked.node},
                       {"span", asked.span}, {"digest", asked.digest}, {"approve", true}};
  json::object detail = request;
  detail.erase("approve");
  detail["who"] = json::value_from(asked.who);
  if (body) detail["body"] = *body;
  InboxItem item{{},
                 InboxKind::question,
                 at,
                 graph,
                 concat(asked.node, " asks about ", body ? brief(*body) : "a message that is not here"),
                 {},
                 std::move(detail),
                 {}};
  item.until = until;
  for (const bool approve : {true, false}) {
    request["approve"] = approve;
    item.choices.push_back({approve ? "approve" : "deny",
                            approve ? "the run goes on with the message" : "the message goes no further", false,
                            "/v1/graphs/answer", request, "by", ""});
  }
  return item;
}

// A question with few answers has them as choices.
void addAnswers(InboxItem& item, const mcp::Form& form, const json::object& request) {
  const json::object& fields = form.schema.at("properties").get_object();
  const auto offer = [&](std::string choice, std::string effect, json::object content, bool open) {
    json::object body = request;
    body["content"] = std::move(content);
    item.choices.push_back({std::move(choice), std::move(effect), false, "/v1/inbox/form", std::move(body), "by", "",
                            open ? "content" : ""});
  };
  if (fields.size() == 1) {
    const auto& [name, field] = *fields.begin();
    if (mcp::textIn(field.get_object(), "type") == "boolean")
      for (const bool yes : {true, false})
        offer(yes ? "yes" : "no", concat("tells the tool: ", std::string_view(name), yes ? ", yes" : ", no"),
              {{name, yes}}, false);
    for (const json::value& value : mcp::rowsIn(field, "enum"))
      if (value.is_string() && value.get_string() != "accept" && value.get_string() != "decline")
        offer(std::string(value.get_string()), concat("tells the tool: ", std::string_view(name)), {{name, value}},
              false);
  }
  const auto defaults = mcp::defaultsOf(form);
  offer("accept", defaults ? "tells the tool " + brief(*defaults) : "needs the fields, filled in",
        defaults.value_or(json::object()), true);
  item.choices.push_back(
      {"decline", "tells the tool that nobody answers", false, "/v1/inbox/form", request, "by", "", ""});
}

InboxItem formItem(const std::string& id, const ToolForm& asked) {
  const json::object request{{"form", id}, {"digest", ToolBroker::digestOf(asked)}};
  json::object detail{{"operation", asked.operation}, {"schema", asked.form.schema}, {"words", asked.form.words}};
  const std::string tool = id.substr(0, id.find('/'));
  InboxItem item{{}, InboxKind::form,   asked.since, tool, "asks: " + asked.form.words,
                 {}, std::move(detail), {},          {},   asked.until};
  addAnswers(item, asked.form, request);
  return item;
}

// `hosted`: by a device that is there to carry it out.
InboxItem approvalItem(const operations::ApprovalRow& row, replication::Lifecycle lifecycle, bool hosted) {
  const json::value request{{"operation", row.operation}, {"digest", row.digest}};
  return {
      {},
      InboxKind::approval,
      timeOf(row.atMs),
      row.agentId,
      "wants to do " + brief(row.what),
      {{"approve",
        lifecycle == replication::Lifecycle::dormant ? "the effect happens when its agent, which is paused, is resumed"
        : hosted                                     ? "the effect happens"
                 : "the effect happens when a device hosts its agent, which none does: witan up --agent " + row.agentId,
        false, "/v1/approval/approve", request, "by", "reason"},
       {"deny", "the effect does not happen; the agent hears that", false, "/v1/approval/deny", request, "by",
        "reason"}},
      detailOf(row),
      {},
      {},
      timeOf(row.untilMs)};
}

InboxItem conflictItem(const operations::JournalEntity& entity) {
  json::array seen;
  for (const operations::JournalVersion& sibling : entity.siblings)
    seen.emplace_back(operations::dotWords(sibling.dot));
  InboxItem item{{}, InboxKind::conflict, {}, entity.id, concat(entity.siblings.size(), " versions were written apart"),
                 {}, detailOf(entity)};
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

InboxItem operationItem(const operations::SagaLine& line) {
  const json::value request{{"operation", line.operation}, {"updatedAtMs", line.updatedAtMs}};
  return {
      {},
      InboxKind::operation,
      timeOf(line.updatedAtMs),
      line.agentId,
      concat(line.tool, " stopped after ", line.attempts, " attempts: ", line.lastError.value_or("")),
      {{"retry", "it is carried out again, even if an attempt had its effect", false, "/v1/saga/retry", request, "by",
        ""},
       {"compensate", "it is given up, and what it did is undone", false, "/v1/saga/compensate", request, "by", ""}},
      detailOf(line)};
}

// None: it does not wait any more.
Result<std::optional<InboxItem>> incidentItem(operations::OperationContext& context, const std::string& key) {
  WITAN_TRY(incidents, context.replica.incidents());
  for (const replication::Incident& one : incidents) {
    if (InboxIndex::incidentKey(one) != key) continue;
    const operations::IncidentRow row{one.kind, one.peer, one.what};
    DeviceNames names;
    for (const auto& [id, name] : context.names) names.add(id, name);
    return std::optional(
        InboxItem{{},
                  InboxKind::incident,
                  {},
                  names.in(row.peer),
                  names.in(row.kind + ": " + row.what),
                  {{"seen", "it goes from this device's inbox; witan sync status keeps it", false, "/v1/inbox/seen",
                    json::value{{"item", InboxIndex::idOf(InboxKind::incident, key)}}, "by", ""}},
                  detailOf(row)});
  }
  return std::optional<InboxItem>();
}

InboxItem refusalItem(const std::string& id, const RefusedAnswer& refused) {
  const AnswerUnderWay& answer = refused.answer;
  return {{},
          InboxKind::refusal,
          refused.at,
          answer.entity,
          concat("the owner refused the answer of ", answer.by, " (", answer.choice, "): ", refused.said),
          {{"seen", "this notice goes", false, "/v1/inbox/seen", json::value{{"item", id}}, "", ""}},
          detailOf(refused)};
}

// The run has gone on without the effect (docs/FINDINGS.md, F17).
InboxItem expiredItem(const std::string& id, const operations::ApprovalRow& row) {
  const std::string how =
      row.verdict == "approved" ? row.by + " approved it after its time" : "no person answered in its time";
  return {{},
          InboxKind::expired,
          timeOf(row.atMs),
          row.agentId,
          concat(how, ": ", brief(row.what)),
          {{"seen", "this notice goes from this device's inbox; the effect has not happened", false, "/v1/inbox/seen",
            json::value{{"item", id}}, "by", ""}},
          detailOf(row)};
}

InboxItem foldItem(const std::string& id, const operations::FoldRow& row, std::int64_t atMs) {
  InboxItem item{{}, InboxKind::fold, timeOf(atMs), row.agentId, "", {}, detailOf(row)};
  if (row.status == "failed") {
    item.what = concat("its memory from ", row.from, " to ", row.to, " was not folded after ", row.attempts,
                       " attempts: ", row.error);
    item.choices = {
        {"retry", "it is tried again when agents run", false, "/v1/memory/retry", json::value{{"id", row.id}}, "", ""}};
  } else {
    item.what = concat("devices folded its memory from ", row.from, " to ", row.to, " to ", row.texts,
                       " texts; the first one counts");
    item.choices = {{"seen", "this notice goes from this device's inbox; witan memory list keeps it", false,
                     "/v1/inbox/seen", json::value{{"item", id}}, "by", ""}};
  }
  return item;
}

Result<std::optional<InboxItem>> itemOf(operations::OperationContext& context, const std::string& scope,
                                        const InboxPlace& place) {
  const std::string& id = place.id;
  const auto parts = InboxIndex::partsOf(id);
  if (!parts) return std::optional<InboxItem>();
  const auto& [kind, key] = *parts;
  switch (kind) {
    case InboxKind::expired:
    case InboxKind::approval: {
      WITAN_TRY(space, context.replica.database(replication::DatabaseName::agents).space(scope));
      WITAN_TRY(row, operations::approvalOf(*space, key));
      if (!row) return std::optional<InboxItem>();
      if (kind == InboxKind::expired) return std::optional(expiredItem(id, *row));
      WITAN_TRY(lifecycle, agents::lifecycleIn(*space, row->agentId));
      WITAN_TRY(members, context.replica.membership());
      std::vector<std::string> devices = members.presentDevices();
      devices.push_back(context.replica.device());
      return std::optional(approvalItem(*row, lifecycle, !agents::hostsAmong(*space, row->agentId, devices).empty()));
    }
    case InboxKind::conflict: {
      WITAN_TRY(entity, operations::getJournal(context, {key, scope}));
      return std::optional(conflictItem(entity));
    }
    case InboxKind::operation: {
      WITAN_TRY(line, operations::showSaga(context, {key}));
      return std::optional(operationItem(line));
    }
    case InboxKind::fold: {
      WITAN_TRY(row, operations::foldOf(context, {key, scope}));
      return row ? std::optional(foldItem(id, *row, place.atMs)) : std::optional<InboxItem>();
    }
    case InboxKind::incident: return incidentItem(context, key);
    case InboxKind::refusal: {
      WITAN_TRY(refused, RefusedAnswers::in(context.replica.database(replication::DatabaseName::agents)));
      const auto at = refused.find(key);
      return at == refused.end() ? std::nullopt : std::optional(refusalItem(id, at->second));
    }
    case InboxKind::proposal:
    case InboxKind::question:
    case InboxKind::form: break;
  }
  return std::optional<InboxItem>();
}

std::string placeText(const InboxPlace& place) { return concat(place.atMs, " ", place.id); }

std::optional<InboxPlace> placeIn(const std::string& text) {
  const std::size_t space = text.find(' ');
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(space, text.size()), ms);
  if (space == text.npos || error != std::errc() || *end != ' ') return std::nullopt;
  return InboxPlace{ms, text.substr(space + 1)};
}

bool isNamed(const InboxPlace& place, const std::string& name) {
  return place.id == name || std::string_view(place.id).substr(place.id.find(':') + 1) == name;
}

// Each list is in order: of each as many as can stand on the page.
Status choosePlaces(Listing& listing, const InboxIndex& index) {
  std::optional<InboxPlace> after;
  if (listing.request.after && !(after = placeIn(*listing.request.after)))
    return invalid("after: " + inQuotes(*listing.request.after) + " is no place", "take `next` of an answer");
  const std::uint64_t limit = std::min(listing.request.limit.value_or(100), kMostItems);
  std::vector<InboxPlace> all;
  for (std::size_t i = 0; i < enumNames<InboxKind>().size(); ++i) {
    const auto kind = static_cast<InboxKind>(i);
    if (listing.request.kind && *listing.request.kind != kind) continue;
    const std::set<InboxPlace>& places = listing.of(kind, index);
    listing.waiting += places.size();
    std::size_t taken = 0;
    for (auto at = after ? places.upper_bound(*after) : places.begin(); at != places.end() && taken <= limit; ++at)
      if (!listing.request.item || isNamed(*at, *listing.request.item)) all.push_back(*at), ++taken;
  }
  std::sort(all.begin(), all.end());
  listing.more = all.size() > limit;
  all.resize(std::min<std::uint64_t>(all.size(), limit));
  listing.places = std::move(all);
  return okStatus();
}

// What this device's people have answered, and no owner has heard: by what it is about.
std::map<std::string, AnswerUnderWay> underWay(const Replica& replica) {
  std::map<std::string, AnswerUnderWay> answers;
  for (const auto& [operation, waiting] : replica.outbox().all())
    if (auto answer = RefusedAnswers::of(waiting.request, replica)) answers[answer->about] = *std::move(answer);
  return answers;
}

std::string_view aboutOf(const InboxItem& item) {
  const char* name = item.kind == InboxKind::proposal ? "digest" : item.kind == InboxKind::question ? "span" : "";
  const json::value* found = item.detail.is_object() ? item.detail.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

Result<Inbox> shown(Daemon& daemon, Listing& listing, const InboxClaims& claims) {
  operations::OperationContext context = operationContext(daemon);
  Inbox inbox{{}, listing.waiting, {}};
  const std::map<std::string, AnswerUnderWay> answers = underWay(std::as_const(daemon.replica()));
  for (const InboxPlace& place : listing.places) {
    std::optional<InboxItem> item;
    if (const auto at = listing.found.find(place.id); at != listing.found.end() && !at->second.id.empty()) {
      item = std::move(at->second);
    } else if (const auto asked = listing.questions.find(place.id); asked != listing.questions.end()) {
      item = questionItem(daemon, asked->second);
    } else if (const auto form = listing.forms.find(place.id); form != listing.forms.end()) {
      item = formItem(InboxIndex::partsOf(place.id)->second, form->second);
    } else {
      WITAN_SET(item, itemOf(context, daemon.config().scope, place));
    }
    if (!item) continue;  // it was answered meanwhile
    item->id = place.id;
    if (auto claim = claims.find(place.id, daemon.now().wall)) item->claim = *std::move(claim);
    if (const auto at = answers.find(std::string(aboutOf(*item))); at != answers.end()) item->answer = at->second;
    inbox.items.push_back(*std::move(item));
  }
  if (listing.more && !listing.places.empty()) inbox.next = placeText(listing.places.back());
  return inbox;
}

}  // namespace

const std::set<InboxPlace>& Listing::of(InboxKind kind, const InboxIndex& index) const {
  return kind == InboxKind::proposal   ? proposals
         : kind == InboxKind::question ? asked
         : kind == InboxKind::form     ? formsAsked
                                       : index.of(kind);
}

Status readsInbox(const Daemon& daemon) {
  if (daemon.me() == nullptr || !daemon.me()->copiesOnly()) return okStatus();
  return Error{ErrorCode::conflict, "this device keeps encrypted copies and cannot read what waits for people",
               "ask another device (witan device roster)"};
}

void showItems(Daemon& daemon, const InboxClaims& claims, const std::shared_ptr<Listing>& listing,
               std::function<void(const Result<Inbox>&)> done) {
  std::set<std::string> partitions;
  for (const InboxPlace& place : listing->places)
    if (place.id.starts_with("proposal:")) {
      listing->found.emplace(place.id, InboxItem{});
      partitions.insert(place.id.substr(9, place.id.rfind('/') - 9));
    }
  daemon.readers().read(
      std::move(partitions),
      [listing, now = daemon.now().wall](const PartitionHost& host) {
        addProposals(host.partition(), host.id(), now, listing->found);
      },
      [listing, done = std::move(done), &daemon, &claims](const Status& read) {
        done(read.ok() ? shown(daemon, *listing, claims) : Result<Inbox>(read.error()));
      });
}

void chooseItems(Daemon& daemon, const InboxRequest& request, Chosen chosen) {
  const auto listing = std::make_shared<Listing>();
  listing->request = request;
  std::set<std::string> partitions;
  for (const auto& [id, host] : daemon.replica().hosts()) partitions.insert(id);
  daemon.readers().read(
      std::move(partitions),
      [listing](const PartitionHost& host) {
        for (const kernel::PendingView& one : host.partition().queue())
          listing->proposals.insert({one.at.micros / 1000, InboxIndex::proposalId(host.id(), one.seq)});
      },
      [listing, chosen, &daemon](const Status& read) {
        if (!read.ok()) return chosen(read.error());
        listing->questions = questionsAt(daemon);
        for (const auto& [id, question] : listing->questions)
          listing->asked.insert({question.at ? question.at->micros / 1000 : 0, id});
        if (const ToolBroker* tools = daemon.tools())
          for (auto& [key, form] : tools->forms()) {
            const std::string id = InboxIndex::idOf(InboxKind::form, key);
            listing->forms.emplace(id, form);
            listing->formsAsked.insert({form.since.micros / 1000, id});
          }
        auto index = daemon.inbox();
        if (!index.ok()) return chosen(index.error());
        if (const Status places = choosePlaces(*listing, **index); !places.ok()) return chosen(places.error());
        chosen(listing);
      });
}

}  // namespace witan::node::api
