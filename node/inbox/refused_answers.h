// RefusedAnswers: answers of people that went to the outbox, and that the owner refused when the person who gave them
// had been told to wait. Each is an item of the inbox until a person has seen it.
//
// Durable: rows "inbox/refused/" + operation id beside the records. Bounded: the newest 256 are kept. Belongs to a
// Daemon; the replica outlives it; its thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/message.h"
#include "base/time.h"
#include "replica/core/messages.h"
#include "replication/database.h"

namespace witan::node {

class Replica;

inline constexpr std::size_t kMaxRefusedAnswers = 256;

// A person's answer that is, or was, under way to the owner.
WITAN_STRUCT(AnswerUnderWay, (std::string, by, "Name of the person who answered"),
             (std::string, choice, "commit or reject; of a graph's question: approve or deny"),
             (std::string, domain, "Name of the domain"), (std::string, entity, "Id of the entity"),
             (std::string, about, "Digest of the proposal, or span of the question"),
             (std::string, reason, "Reason of the answer"), (std::string, owner, "Id of the device that decides"))

WITAN_STRUCT(RefusedAnswer, (AnswerUnderWay, answer, "What was answered"),
             (std::string, said, "Why the owner refused it"), (Time, at, "When that was heard here"))

class RefusedAnswers {
 public:
  explicit RefusedAnswers(Replica& replica);

  // The person is not listening any more; the request goes on.
  void left(const Request& request);
  // The owner's answer, which no person has heard. Whether it became an item.
  Result<bool> answered(const Answer& answer, Time now);
  // Errors: of the database; notFound.
  Status seen(const std::string& operation);

  // By operation id.
  static Result<std::map<std::string, RefusedAnswer>> in(const replication::Database& rows);
  // What a person answers with this request. None: it is no answer of a person.
  static std::optional<AnswerUnderWay> of(const Request& request, const Replica& replica);

 private:
  struct Left {
    AnswerUnderWay answer;
    std::uint64_t asked = 0;  // fingerprintOf() the request
  };
  Replica& replica_;
  replication::Database& rows_;
  std::map<std::string, Left> left_;  // by operation id; no more than the outbox holds
};

}  // namespace witan::node
