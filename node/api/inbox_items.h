// What waits for people at a node, as items with the answers that they take; and which of them a request is of. An item
// brings its answers as requests of this API, so that a client shows what each would do and sends it back with the
// person's name.
//
// For routes of the control API, on the loop's thread. The daemon outlives what is called back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domains/graph/state.h"
#include "node/api/control_routes.h"
#include "node/inbox/inbox_index.h"
#include "node/inbox/refused_answers.h"
#include "node/tools/tool_broker.h"

namespace witan::node::api {

WITAN_STRUCT(InboxRequest, (Omittable<InboxKind>, kind, "Items of this kind only"),
             (Omittable<std::uint64_t>, limit, "Most items to give, at most 1000; default: 100"),
             (Omittable<std::string>, after, "Items behind this place only: `next` of an answer"),
             (Omittable<std::string>, item, "Only the item with this id, or with this end of it behind the kind"))

WITAN_STRUCT(
    InboxChoice, (std::string, choice, "Word for the answer"), (std::string, effect, "What it would do"),
    (bool, unsafe, "Whether it would record what an invariant forbids"),
    (std::string, path, "Path that takes the answer, by POST"),
    (json::value, request, "Body of that request, but for the person and the reason"),
    (std::string, person, "Member of the body that names the person; empty: none"),
    (std::string, reason, "Member of the body that takes a reason; empty: none"),
    (std::string, form,
     "Member of the body that takes another content than the request has, by the schema in detail; empty: none"))

WITAN_STRUCT(
    InboxItem, (std::string, id, "KIND:KEY; the same as long as it waits"), (InboxKind, kind, "Why a person is asked"),
    (Omittable<Time>, at, "Since when it waits"), (std::string, subject, "Entity, agent or device concerned"),
    (std::string, what, "What is asked, in one line"),
    (std::vector<InboxChoice>, choices, "Answers; none: there is nothing to answer here"),
    (json::value, detail,
     "Row of the list that has it: queue, questions of runs, approvals (also of what expired), journal, sagas, "
     "folds or incidents; of a form: "
     "its tool, words and schema"),
    (Omittable<InboxClaim>, claim, "Who has claimed it at this node; absent: nobody has"),
    (Omittable<AnswerUnderWay>, answer, "A person's answer to it that waits in this device's outbox"),
    (Omittable<Time>, until,
     "When the time for an answer ends: an approval is denied then, and a tool told that no person answers"))

WITAN_STRUCT(Inbox, (std::vector<InboxItem>, items, "Items, oldest first; those without a time last"),
             (std::uint64_t, waiting, "Number of all items of the kind, also of those beyond the limit"),
             (Omittable<std::string>, next, "Place of the last item, if others follow it"))

inline constexpr std::uint64_t kMostItems = 1'000;

struct GraphQuestion {
  std::string graph;
  domains::graph::Question asked;
  Omittable<Time> at, until;  // of a run of this device
};

// One request under way: the places that it is to show, then the items that stand there.
struct Listing {
  InboxRequest request;
  std::set<InboxPlace> proposals, asked, formsAsked;
  std::map<std::string, GraphQuestion> questions;
  std::map<std::string, ToolForm> forms;
  std::vector<InboxPlace> places;
  std::map<std::string, InboxItem> found;
  std::uint64_t waiting = 0;
  bool more = false;

  // All that wait of a kind.
  const std::set<InboxPlace>& of(InboxKind kind, const InboxIndex& index) const;
};

// Errors: conflict, this device keeps encrypted copies only.
Status readsInbox(const Daemon& daemon);
// The places that a request is of. A device without ledgers has no proposals. O(pending proposals + what has changed).
using Chosen = std::function<void(const Result<std::shared_ptr<Listing>>&)>;
void chooseItems(Daemon& daemon, const InboxRequest& request, Chosen chosen);
// The items at `listing->places`; one that was answered meanwhile is left out.
void showItems(Daemon& daemon, const InboxClaims& claims, const std::shared_ptr<Listing>& listing,
               std::function<void(const Result<Inbox>&)> done);

}  // namespace witan::node::api
