// The inbox: one list of everything that waits for a person on this device (inbox_items.h), and the answers that are
// given here.
#include <algorithm>

#include "base/quote.h"
#include "node/api/inbox_items.h"
#include "node/api/inbox_watch.h"
#include "node/operations/agent_records.h"
#include "node/tools/tool_broker.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ClaimRequest, (std::string, item, "Id of the item", 1),
             (std::string, by, "Name of the person, who may answer it", 1),
             (Omittable<std::string>, window, "Any text that tells two windows of one person apart"),
             (Omittable<std::uint64_t>, seconds, "How long, at most 120; 0 releases it; default: 120"),
             (Omittable<bool>, takeOver, "true: also what is claimed from elsewhere"))

WITAN_STRUCT(Claimed, (std::string, item, "Id of the item"),
             (Omittable<InboxClaim>, claim, "The claim that is in force; absent: it was released"))

WITAN_STRUCT(SeenRequest,
             (std::string, item, "Id of the item: a refusal, an incident, what expired, or a divergent fold", 1),
             (Omittable<std::string>, by, "Name of the person who has seen it; needed, but for a refusal"))

WITAN_STRUCT(Seen, (std::string, item, "Id of the item, which is gone"))

WITAN_STRUCT(FormRequest, (std::string, form, "Which: the id of the item, behind its kind", 1),
             (std::string, digest, "Of what was asked, as the item has it", 1),
             (Omittable<json::value>, content, "The fields, filled in; absent: it is declined"),
             (std::string, by, "Name of the person", 1),
             (Omittable<std::string>, signature, operations::kSignatureNote))

WITAN_STRUCT(FormAnswered, (std::string, form, "Which"), (bool, accepted, "False: it was declined"))

void inbox(const ApiContext& context, const InboxRequest& request, Later<Inbox> later) {
  Daemon& daemon = context.daemon;
  if (const Status reads = readsInbox(daemon); !reads.ok()) return later.refuse(reads.error());
  chooseItems(daemon, request, [&daemon, &claims = context.console.claims, later](const auto& listing) {
    if (!listing.ok()) return later.refuse(listing.error());
    showItems(daemon, claims, *listing, [later](const Result<Inbox>& made) { later.answer(made); });
  });
}

void streamInbox(const ApiContext& context, const Nothing&) {
  Daemon& daemon = context.daemon;
  if (const Status reads = readsInbox(daemon); !reads.ok()) return context.responder.refuse(reads.error());
  const StreamPlaces::Place place = context.streams.take(context.role);
  if (!place) return context.responder.refuse(noStreamPlace());
  std::shared_ptr<InboxWatch> watch = context.console.inboxWatch.lock();
  if (!watch) context.console.inboxWatch = watch = std::make_shared<InboxWatch>(daemon, context.console.claims);
  const std::shared_ptr<net::HttpStream> reader = context.responder.reply->stream({});
  reader->onGone([place] {});
  watch->add(reader);
}

Result<FormAnswered> answerForm(const ApiContext& context, const FormRequest& request) {
  ToolBroker* tools = context.daemon.tools();
  if (tools == nullptr) return notFound("no tool works at this node");
  std::optional<json::object> content;
  if (request.content && !request.content->is_object()) return invalid("content is no object");
  if (request.content) content = request.content->get_object();
  WITAN_DO(validateId("by", request.by));
  WITAN_TRY(asked, tools->asked(request.form, request.digest, content));
  operations::OperationContext operation = operationContext(context.daemon);
  WITAN_TRY(answer, operations::personsAnswer(operation, "/v1/inbox/form", request));
  const agents::ToolCall* call = asked.call;
  if (call != nullptr) answer.subject = call->operation ? call->operation->hex() : std::string();
  const std::string place = call != nullptr ? call->run.hex() : placeOfItem(answer.item);
  // It is durable before the tool goes on.
  WITAN_DO(keepInboxAnswer(operation.replica, context.daemon.config().scope, place, answer));
  WITAN_DO(operation.replica.flush());
  WITAN_DO(tools->answerForm(request.form, request.digest, content));
  context.daemon.log().info("tools", "a person answered a tool",
                            {{"form", request.form}, {"by", request.by}, {"accepted", content ? "yes" : "no"}});
  return FormAnswered{request.form, content.has_value()};
}

// Who may answer an item. Empty: anybody with the role.
std::vector<std::string> whoMayAnswer(Daemon& daemon, const Listing& listing, const std::string& item) {
  if (const auto asked = listing.questions.find(item); asked != listing.questions.end()) return asked->second.asked.who;
  if (!item.starts_with("proposal:")) return {};
  const PartitionHost* host = daemon.replica().host(item.substr(9, item.rfind('/') - 9));
  return host == nullptr ? std::vector<std::string>() : host->module().signature().counselors;
}

Status mayClaim(Daemon& daemon, const Listing& listing, const ClaimRequest& asked) {
  if (std::ranges::none_of(listing.places, [&](const InboxPlace& one) { return one.id == asked.item; }))
    return notFound("nothing waits under " + inQuotes(asked.item), "see: witan inbox");
  const std::vector<std::string> who = whoMayAnswer(daemon, listing, asked.item);
  if (who.empty()) return validateId("by", asked.by);
  if (std::ranges::find(who, asked.by) != who.end()) return okStatus();
  std::string names;
  for (const std::string& one : who) names += (names.empty() ? "" : ", ") + one;
  return invalid("by: " + inQuotes(asked.by) + " may not answer this", "who may: " + names);
}

void claim(const ApiContext& context, const ClaimRequest& asked, Later<Claimed> later) {
  constexpr std::size_t kMostText = 400;
  const InboxClaim wanted{asked.by, asked.window.value_or(""), {}};
  if (std::max({asked.item.size(), wanted.by.size(), wanted.window.size()}) > kMostText)
    return later.refuse(invalid(concat("item, by and window have at most ", kMostText, " bytes")));
  InboxClaims& claims = context.console.claims;
  if (asked.seconds && *asked.seconds == 0) {
    claims.release(asked.item, wanted);
    return later.answer(Claimed{asked.item, {}});
  }
  InboxRequest one;
  one.item = asked.item;
  chooseItems(context.daemon, one, [&daemon = context.daemon, &claims, asked, wanted, later](const auto& listing) {
    if (!listing.ok()) return later.refuse(listing.error());
    if (const Status may = mayClaim(daemon, **listing, asked); !may.ok()) return later.refuse(may.error());
    auto made = claims.claim(asked.item, wanted, asked.seconds.value_or(kMaxClaimSeconds),
                             asked.takeOver.value_or(false), daemon.now().wall);
    if (!made.ok()) return later.refuse(made.error());
    later.answer(Claimed{asked.item, *std::move(made)});
  });
}

// Who has seen it, and when, stands beside the records.
Status itemSeen(Daemon& daemon, const std::string& id, const std::string& by) {
  WITAN_DO(validateId("by", by));
  WITAN_TRY(index, daemon.inbox());
  WITAN_DO(index->seen(id, {by, daemon.now().wall}));
  daemon.log().info("inbox", "a person has seen an item", {{"item", id}, {"by", by}});
  return okStatus();
}

Result<Seen> seen(const ApiContext& context, const SeenRequest& asked) {
  const auto parts = InboxIndex::partsOf(asked.item);
  WITAN_DO(parts && parts->first == InboxKind::refusal ? context.daemon.refusedAnswers().seen(parts->second)
                                                       : itemSeen(context.daemon, asked.item, asked.by.value_or("")));
  context.daemon.scheduleTick();
  return Seen{asked.item};
}

}  // namespace

std::vector<ControlRoute> inboxRoutes() {
  return {
      get("/v1/inbox", "readInbox", "queue", ControlRole::observer,
          "Everything on this device that waits for a person, with the answers it takes", inbox, {409, 500}),
      streamRoute<InboxChange>({"GET",
                                "/v1/inbox/stream",
                                "streamInbox",
                                "queue",
                                ControlRole::observer,
                                "What waits for a person as server-sent events `inbox`: first how many wait and each "
                                "of them, then each that "
                                "comes, changes or goes; an InboxChange each",
                                {409, 500},
                                "text/event-stream"},
                               streamInbox),
      post("/v1/inbox/claim", "claimInboxItem", "queue", ControlRole::counselor,
           "Says to others at this node who looks at an item, for a while; keeps nobody from answering", claim,
           {404, 409, 500}),
      post("/v1/inbox/seen", "seeRefusal", "queue", ControlRole::counselor,
           "Takes what no other answer ends out of this device's inbox: a refused answer, an incident, a question that "
           "expired, a divergent fold",
           seen, {404, 500}),
      post("/v1/inbox/form", "answerForm", "queue", ControlRole::counselor,
           "Answers what a tool asks a person amid a call", answerForm, {404})};
}

}  // namespace witan::node::api
