// RequestRouter: the way of a request to the owner of its entity, and of the answer back. Requests of this device wait
// in the outbox until they are answered; requests of other devices are decided here or redirected.
//
// A part of Replica; the state and the engine outlive it. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

// The answer to a request of this device.
struct Answered {
  RequestKind kind = RequestKind::propose;
  Answer answer;
};

class RequestRouter {
 public:
  // A request of an agent waits for a counselor.
  using OnFrozen = std::function<void(const Answer& answer)>;

  // A message at an ingress of a graph whose partition this device owns (replica/graph_runtime.h).
  struct Admission {
    std::optional<Request> step;                         // by which a run begins, as the answer to the request
    kernel::Outcome outcome = kernel::Outcome::refused;  // without a step
    std::string why;
  };
  using Admit = std::function<Admission(PartitionHost& host, const Request& request, Now now)>;
  // Why a proposal may not be decided here, before it is.
  using Vet = std::function<Status(const PartitionHost& host, const Request& request)>;

  RequestRouter(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership, OnFrozen onFrozen)
      : state_(state), ownership_(ownership), onFrozen_(std::move(onFrozen)) {}
  // Without them no message enters a graph here.
  void admitBy(Admit admit, Vet vet) { admit_ = std::move(admit), vet_ = std::move(vet); }

  // ---- requests of this device (contracts: Replica)
  Status submit(Request request, Keep keep, Now now);
  Status enqueue(Request request, Now now);
  void retainAcrossFreeze(std::string_view operationId);

  // Signs and decides what this device asked itself in this round, tries every request that is due, and gives those
  // that have waited for long their rows.
  void routeDue(Now now);
  // A request from the device that made it.
  void onRequest(const std::string& from, Request request, Now now);
  // Counts only from a device that this one asked. Anything but a decision leaves the request where it is, for another
  // try.
  void onAnswer(const std::string& from, Answer answer, Now now);
  // Gives the answer of a decision that is there to stay. Requires: every copy is usable.
  void give(PartitionHost::Release release, std::vector<Answered>& out);
  // The answers that were given to other devices: their proofs come with the round's signature. Then they leave.
  void proveAnswers(RoundSignature& round);
  void sendAnswers();
  // Answers of other devices: they need no durability of their own.
  std::vector<Answered> takeAnswered() { return std::exchange(answered_, {}); }

 private:
  // A request of this device that it decides itself, with the round's signature.
  struct Fresh {
    Request request;
    Keep keep;
  };

  Status checkOwn(Request& request) const;
  void signDue(Now now);
  void decideFresh(Now now);
  // An answer that rests on no decision. `from` is empty: to this device.
  void answerAtOnce(const Request& request, const std::string& from, Answer answer);
  void gather(Outbox::Waiting& waiting, const std::string& partition, Now now);
  void sendHeld(Asking& asking, Now now);
  void noteAsked(Asking& asking, Now now) const;
  void noteAnswered(Asking& asking, Now now);
  void route(Outbox::Waiting& waiting, Now now);
  bool admitHere(PartitionHost& host, const Request& request, const std::string& from, Now now);
  bool decideHere(PartitionHost& host, const Request& request, const std::string& from, Now now);

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  OnFrozen onFrozen_;
  Admit admit_;
  Vet vet_;
  std::vector<Answered> answered_;
  std::vector<Fresh> fresh_;
  std::vector<PartitionHost::Release> leaving_;  // to other devices, with the round's signature
  std::set<std::string> accused_;                // whose answers proved nothing
};

}  // namespace witan::node
