// Why something is as it is: the chain from a change over the wake, what the agent saw, its plan, the policy's verdict
// and the saga to the entry of a ledger, or to an entry of the journal. Read from records, transcripts and ledgers;
// what was pruned, or is not on this device, is said to be missing.
#pragma once

#include "kernel/record/entry.h"
#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(WhyRequest,
             (std::string, subject,
              "Operation id, run key, DOMAIN/NUMBER:SEQ of a ledger entry, id of a journal entry, or DOMAIN/ENTITY", 1),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_ENUM(WhyKind, person, change, fact, conflict, timer, message, graph, wake, look, plan, verdict, approval,
           operation, version, escalation, decision, missing)

WITAN_STRUCT(WhyLink, (WhyKind, kind, "What this link is"), (std::string, id, "Id of it, or what it is found by"),
             (Omittable<Time>, at, "When"), (std::string, what, "In one line"),
             (std::vector<std::uint64_t>, causes, "Numbers of the links from which it follows, from 0"),
             (json::value, detail, "More of it, by kind; null: no more"))

WITAN_STRUCT(Why, (std::string, subject, "What was asked for"),
             (std::vector<WhyLink>, links,
              "Causes before what follows from them; the last is the subject. A journal entry of the same name "
              "as something else comes behind it"))

// What the chain says of an entry of a ledger, without its causes. Requires: entry.seq > 0.
WhyLink decisionLink(std::string_view partition, const kernel::EntryView& entry, const Hash& leaf);

// Errors: notFound. O(links).
Result<Why> why(OperationContext& context, const WhyRequest& request);

inline constexpr Operation kWhy{"GET", "/v1/why", why};

}  // namespace witan::node::operations
