// Requests and answers of the control API about proposals, a counselor's queue, and feeds. Values.
#pragma once

#include "base/json_schema.h"
#include "kernel/domain_module.h"
#include "kernel/record/entry.h"

namespace witan::node::api {

struct ProposeRequest {
  std::string domain, entity, role;
  json::object action;
  Omittable<std::string> operationId;
  Omittable<std::uint64_t> waitMs;
  WITAN_MEMBERS(ProposeRequest, domain, entity, role, action, operationId, waitMs)
  static constexpr std::array notes{
      MemberNote{"domain", "Name of the domain", 1},
      MemberNote{"entity", "Id of the entity", 1},
      MemberNote{"role", "Role in which the action is proposed", 1},
      MemberNote{"action", "The action: its type and arguments, as describeDomain lists them"},
      MemberNote{"operationId", "A repeated id is answered from the ledger; default: a new id", 1},
      MemberNote{"waitMs", "Milliseconds to wait for the decision, at most 120000; default: 10000"}};
};

struct BeginRequest {
  std::string domain, entity;
  Omittable<json::object> init;
  Omittable<std::string> operationId;
  Omittable<std::uint64_t> waitMs;
  WITAN_MEMBERS(BeginRequest, domain, entity, init, operationId, waitMs)
  static constexpr std::array notes{
      MemberNote{"domain", "Name of the domain", 1}, MemberNote{"entity", "Id of the new entity", 1},
      MemberNote{"init", "First values of fields; the other fields take the domain's defaults"},
      MemberNote{"operationId", "A repeated id is answered from the ledger; default: a new id", 1},
      MemberNote{"waitMs", "Milliseconds to wait for the decision, at most 120000; default: 10000"}};
};

struct DecisionMade {
  std::string operationId;
  kernel::Outcome outcome = kernel::Outcome::refused;
  bool duplicate = false;
  std::optional<std::uint64_t> ledgerSeq;
  std::optional<std::string> invariant, message;
  Omittable<bool> safe;
  WITAN_MEMBERS(DecisionMade, operationId, outcome, duplicate, ledgerSeq, invariant, message, safe)
  static constexpr std::array notes{MemberNote{"operationId", "Id of the operation"},
                                    MemberNote{"outcome", "What was decided"},
                                    MemberNote{"duplicate", "Whether the operation was decided before"},
                                    MemberNote{"ledgerSeq", "Number of the ledger entry; null: the request has none"},
                                    MemberNote{"invariant", "Invariant that did not pass; null: none"},
                                    MemberNote{"message", "Message of that invariant, or why the request was refused"},
                                    MemberNote{"safe", "Of a counselor's commit: whether every invariant passes"}};
};

WITAN_ENUM(WaitingOutcome, waiting)

struct DecisionWaiting {
  std::string operationId;
  WaitingOutcome outcome = WaitingOutcome::waiting;
  std::string message, hint;
  WITAN_MEMBERS(DecisionWaiting, operationId, outcome, message, hint)
  static constexpr std::array notes{MemberNote{"operationId", "Id of the operation; ask again with it"},
                                    MemberNote{"outcome", "The request is durable in the outbox"},
                                    MemberNote{"message", "Why there is no decision yet"},
                                    MemberNote{"hint", "What to do"}};
};

struct FindingRow {
  std::string invariant;
  kernel::InvResult result = kernel::InvResult::notEvaluated;
  std::string message;
  WITAN_MEMBERS(FindingRow, invariant, result, message)
  static constexpr std::array notes{MemberNote{"invariant", "Id of the invariant"},
                                    MemberNote{"result", "What the invariant returned"},
                                    MemberNote{"message", "Message of the invariant"}};
};

struct QueueRow {
  std::string domain, partition, entity;
  std::uint64_t seq = 0;
  std::string digest;
  Time at;
  std::string role, device, agent;
  json::value action;
  std::string invariant, message;
  std::vector<FindingRow> findings;
  std::vector<std::string> counselors;
  json::value state;
  Omittable<Time> expires;
  WITAN_MEMBERS(QueueRow, domain, partition, entity, seq, digest, at, role, device, agent, action, invariant, message,
                findings, counselors, state, expires)
  static constexpr std::array notes{MemberNote{"domain", "Name of the domain"},
                                    MemberNote{"partition", "DOMAIN/NUMBER"},
                                    MemberNote{"entity", "Id of the entity"},
                                    MemberNote{"seq", "Number of the escalation's ledger entry"},
                                    MemberNote{"digest", "Digest of what is shown; decideQueued takes it"},
                                    MemberNote{"at", "When the proposal was escalated"},
                                    MemberNote{"role", "Role of the proposer"},
                                    MemberNote{"device", "Id of the proposer's device"},
                                    MemberNote{"agent", "Id of the proposing agent; empty: a person"},
                                    MemberNote{"action", "The proposed action"},
                                    MemberNote{"invariant", "Invariant that escalated"},
                                    MemberNote{"message", "Message of that invariant"},
                                    MemberNote{"findings", "Every invariant that did not pass"},
                                    MemberNote{"counselors", "Counselors who may decide"},
                                    MemberNote{"state", "State of the entity"},
                                    MemberNote{"expires", "When the proposal is rejected unless a counselor decides"}};
};

struct Queue {
  std::vector<QueueRow> queue;
  WITAN_MEMBERS(Queue, queue)
  static constexpr std::array notes{MemberNote{"queue", "Proposals that wait for a counselor, by partition"}};
};

WITAN_ENUM(CounselorDecision, commit, reject)

struct DecideRequest {
  std::string domain, entity, counselor;
  CounselorDecision decision = CounselorDecision::reject;
  std::string digest;
  Omittable<kernel::CommitBase> base;
  Omittable<json::object> edit;
  Omittable<std::string> reason, operationId;
  Omittable<std::uint64_t> waitMs;
  WITAN_MEMBERS(DecideRequest, domain, entity, counselor, decision, digest, base, edit, reason, operationId, waitMs)
  static constexpr std::array notes{
      MemberNote{"domain", "Name of the domain", 1},
      MemberNote{"entity", "Id of the entity", 1},
      MemberNote{"counselor", "Name of the counselor who decides", 1},
      MemberNote{"decision", "The decision"},
      MemberNote{"digest", "Digest from the queue: the decision is on exactly what was shown", 1},
      MemberNote{"base", "State from which a commit starts; default: candidate"},
      MemberNote{"edit", "Fields that a commit sets, by name"},
      MemberNote{"reason", "Reason, for the ledger"},
      MemberNote{"operationId", "A repeated id is answered from the ledger; default: derived from the digest", 1},
      MemberNote{"waitMs", "Milliseconds to wait for the decision, at most 120000; default: 10000"}};
};

struct OutboxRow {
  std::string operationId, kind, domain, entity, agent;
  std::uint64_t tries = 0;
  WITAN_MEMBERS(OutboxRow, operationId, kind, domain, entity, agent, tries)
  static constexpr std::array notes{MemberNote{"operationId", "Id of the operation"},
                                    MemberNote{"kind", "propose, init, commit or reject"},
                                    MemberNote{"domain", "Name of the domain"},
                                    MemberNote{"entity", "Id of the entity"},
                                    MemberNote{"agent", "Id of the asking agent; empty: a person"},
                                    MemberNote{"tries", "How often the request was sent"}};
};

struct OutboxRows {
  std::vector<OutboxRow> outbox;
  WITAN_MEMBERS(OutboxRows, outbox)
  static constexpr std::array notes{MemberNote{"outbox", "Requests of this device without an answer"}};
};

struct FeedRequest {
  Omittable<std::string> at, id, type;
  Omittable<json::value> payload;
  Omittable<std::string> agent, session, turn, text;
  WITAN_MEMBERS(FeedRequest, at, id, type, payload, agent, session, turn, text)
  static constexpr std::array notes{MemberNote{"at", "When it happened; default: now", 0, "date-time"},
                                    MemberNote{"id", "Id of a journal entry"},
                                    MemberNote{"type", "Type of a journal entry"},
                                    MemberNote{"payload", "Payload of a journal entry"},
                                    MemberNote{"agent", "Id of the agent that is spoken to"},
                                    MemberNote{"session", "Id of the conversation"},
                                    MemberNote{"turn", "Id of the turn in the conversation"},
                                    MemberNote{"text", "Text of the turn"}};
};

struct Fed {
  bool entered = true;
  WITAN_MEMBERS(Fed, entered)
  static constexpr std::array notes{MemberNote{"entered", "Always true"}};
};

}  // namespace witan::node::api
