#include "replica/request_router.h"

#include <algorithm>

#include "base/mutant.h"
#include "replica/core/operation_names.h"
#include "replica/core/request_proofs.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::int64_t kGatherMs = 20;

// What waited for the counselor goes on at once, in the order in which it came. Other decisions of counselors do not:
// two that wait would hurry each other without end.
void expediteFrozen(Outbox& outbox, const Request& decided, std::int64_t nowMs) {
  if (decided.kind != RequestKind::commit && decided.kind != RequestKind::reject) return;
  for (const auto& [id, waiting] : outbox.all()) {
    const bool counsel = waiting.request.kind == RequestKind::commit || waiting.request.kind == RequestKind::reject;
    if (counsel || waiting.dueMs <= nowMs || waiting.request.entity != decided.entity ||
        waiting.request.domain != decided.domain)
      continue;
    if (!mutated("neverRetry") || waiting.tries == 0) outbox.tryAt(*outbox.find(id), nowMs);
  }
}

}  // namespace

Status RequestRouter::checkOwn(Request& request) const {
  if (request.device.empty()) request.device = state_.device();
  WITAN_DO(checkRequest(request));
  WITAN_DO(checkName(request));
  if (request.device != state_.device()) return invalid("device: a request of another device (" + request.device + ")");
  if (state_.moduleOf(request.domain) == nullptr)
    return invalid("domain: this cluster has no domain " + request.domain);
  WITAN_DO(ownership_->checkSize(request));
  return state_.config.mayAsk ? state_.config.mayAsk(state_.device(), request) : okStatus();
}

Status RequestRouter::enqueue(Request request, Now now) {
  WITAN_DO(checkOwn(request));
  WITAN_TRY(waiting, state_.outbox.accept(request, Keep::now, now.ms, state_.writes.pending()));
  waiting->reportFreeze = false;
  return okStatus();
}

void RequestRouter::retainAcrossFreeze(std::string_view operationId) {
  if (Outbox::Waiting* waiting = state_.outbox.find(operationId)) waiting->reportFreeze = false;
}

Status RequestRouter::submit(Request request, Keep keep, Now now) {
  WITAN_DO(checkOwn(request));
  const std::string partition = state_.partitionFor(request.domain, request.entity);
  PartitionHost* mine = state_.partitions.find(partition);
  const bool here = mine != nullptr && ownership_->owns(*mine) && state_.outbox.find(request.operationId) == nullptr;
  // Its owner may not have heard of the person's key.
  if (!here && !request.counselor.empty() && request.signature.empty())
    if (const Status may = mayBeUnsigned(state_, request.domain, request.counselor); !may.ok()) {
      answerAtOnce(request, "", answerTo(request, AnswerKind::decided, may.error().message));
      return okStatus();
    }
  // What is decided with this round needs no outbox: before it is durable, nothing was accepted.
  if (here && ownership_->decidesAtOnce()) {
    if (state_.config.heads)
      fresh_.push_back({std::move(request), keep});
    else
      (void)decideHere(*mine, request, "", now);
    return okStatus();
  }
  WITAN_TRY(waiting, state_.outbox.accept(request, keep, now.ms, state_.writes.pending()));
  if (here)
    waiting->reportFreeze = keep == Keep::ifLate;
  else
    gather(*waiting, partition, now);
  return okStatus();
}

// While the owner works on what it was asked before, requests wait for each other until they are as many as those: one
// signature, which costs more than a decision, then serves them all, and one half of the work is done beside the other.
// Whose owner is not busy leaves at once.
void RequestRouter::gather(Outbox::Waiting& waiting, const std::string& partition, Now now) {
  Peer* const owner = state_.member(state_.ownerDevice(partition));
  if (owner == nullptr || owner->asking.open == 0 || waiting.tries > 0) return;
  Asking& asking = owner->asking;
  const std::int64_t untilMs = asking.sinceMs + kGatherMs;
  if (untilMs <= now.ms) return;
  state_.outbox.tryAt(waiting, untilMs);
  asking.held.push_back(waiting.request.operationId);
  if (asking.held.size() >= asking.open) sendHeld(asking, now);
}

void RequestRouter::sendHeld(Asking& asking, Now now) {
  for (const std::string& id : std::exchange(asking.held, {}))
    if (Outbox::Waiting* waiting = state_.outbox.find(id); waiting != nullptr && waiting->tries == 0)
      state_.outbox.tryAt(*waiting, now.ms);
}

void RequestRouter::noteAsked(Asking& asking, Now now) const {
  if (now.ms - asking.sinceMs >= kGatherMs) asking.open = 0, asking.held.clear();  // those are due by themselves
  ++asking.open;
  asking.sinceMs = now.ms;
}

void RequestRouter::noteAnswered(Asking& asking, Now now) {
  if (asking.open > 0 && --asking.open <= asking.held.size()) sendHeld(asking, now);
}

bool RequestRouter::admitHere(PartitionHost& host, const Request& request, const std::string& from, Now now) {
  const Admission admission = admit_(host, request, now);
  if (admission.step) {
    (void)host.decideAs(*admission.step, request, now.wall, from);
    return true;
  }
  Answer answer = answerTo(request, AnswerKind::decided, admission.why);
  answer.outcome = admission.outcome;
  answerAtOnce(request, from, std::move(answer));
  return true;
}

void RequestRouter::answerAtOnce(const Request& request, const std::string& from, Answer answer) {
  if (Peer* const peer = from.empty() ? nullptr : state_.member(from)) state_.say(*peer, answer);
  if (!from.empty()) return;
  const RequestKind kind = request.kind;  // the request may be the outbox's own, and goes with its answer
  if (state_.outbox.find(answer.operationId) != nullptr)
    state_.outbox.settle(answer.operationId, state_.writes.pending());
  answered_.push_back({kind, std::move(answer)});
}

// False: not now. Requires: this device owns the partition.
bool RequestRouter::decideHere(PartitionHost& host, const Request& request, const std::string& from, Now now) {
  if (request.kind == RequestKind::ingress && admit_) return admitHere(host, request, from, now);
  if (!host.partition().knows(request.operationId)) {  // what was decided is answered from the ledger
    Status may = checkPerson(state_, request);
    if (may.ok() && vet_) may = vet_(host, request);
    if (!may.ok()) {
      answerAtOnce(request, from, answerTo(request, AnswerKind::decided, may.error().message));
      return true;
    }
  }
  if (!ownership_->decide(host, request, from, now)) return false;
  const bool waits = ownership_->decidesAtOnce() && host.partition().frozen(request.entity);
  if (!waits) expediteFrozen(state_.outbox, request, now.ms);
  return true;
}

// One signature for all that is decided or leaves with this round.
void RequestRouter::signDue(Now now) {
  if (!state_.config.heads) return;
  std::vector<Request*> requests;
  for (Fresh& fresh : fresh_) requests.push_back(&fresh.request);
  state_.outbox.visitDue(now.ms, [&](Outbox::Waiting& waiting) { requests.push_back(&waiting.request); });
  signRequests(state_, requests);
}

void RequestRouter::decideFresh(Now now) {
  for (Fresh& fresh : std::exchange(fresh_, {})) {
    PartitionHost* mine = state_.partitions.find(state_.partitionFor(fresh.request.domain, fresh.request.entity));
    if (mine != nullptr && ownership_->owns(*mine)) {
      (void)decideHere(*mine, fresh.request, "", now);
    } else if (const auto waits = state_.outbox.accept(fresh.request, fresh.keep, now.ms, state_.writes.pending());
               !waits.ok()) {
      answered_.push_back(
          {fresh.request.kind, answerTo(fresh.request, AnswerKind::unavailable, waits.error().message)});
    }
  }
}

void RequestRouter::routeDue(Now now) {
  if (std::exchange(state_.expedite, false)) state_.outbox.expedite(now.ms);
  signDue(now);
  decideFresh(now);
  signDue(now);  // of what waited for a counselor
  state_.outbox.saveLate(now.ms, state_.writes.pending());
  state_.outbox.visitDue(now.ms, [&](Outbox::Waiting& waiting) { route(waiting, now); });
}

void RequestRouter::route(Outbox::Waiting& waiting, Now now) {
  std::string& partition = waiting.partition;
  if (partition.empty()) partition = state_.partitionFor(waiting.request.domain, waiting.request.entity);
  PartitionHost* mine = state_.partitions.find(partition);
  const bool here = mine != nullptr && ownership_->owns(*mine);
  const std::string owner = state_.ownerDevice(partition);
  // It is this device's, which does not decide yet: etcd's answer is under way, or its log comes back from a peer.
  if (!here && owner == state_.device()) return state_.outbox.tryAt(waiting, now.ms + kLastRetryMs);
  Peer* const peer = state_.member(owner);
  if (!here && (peer == nullptr || state_.refusesOwner(partition))) return state_.outbox.park(waiting, now.ms);
  if (waiting.tries > 0) ++state_.counters.retries;
  state_.outbox.tried(waiting, now.ms);
  if (here) {
    (void)decideHere(*mine, waiting.request, "", now);  // if not now, then at the next try
    return;
  }
  ++state_.counters.forwarded;
  state_.outbox.sentTo(waiting, owner);
  noteAsked(peer->asking, now);
  if (mutated("freshOperationId") && waiting.tries > 1) {
    Request fresh = waiting.request;
    fresh.operationId += "." + std::to_string(waiting.tries);
    state_.say(*peer, fresh);
    return;
  }
  state_.say(*peer, waiting.request);
  if (mutated("forgetWhenSent"))
    state_.outbox.settle(std::string(waiting.request.operationId), state_.writes.pending());
}

void RequestRouter::onRequest(const std::string& from, Request request, Now now) {
  Peer& peer = state_.peers.find(from)->second;
  if (Status checked = checkRequest(request); !checked.ok()) return state_.cutOff(from, peer, checked.error());
  const auto answer = [&](AnswerKind kind, std::string message) {
    state_.say(peer, answerTo(request, kind, std::move(message)));
  };
  const auto refuse = [&](std::string message) { answer(AnswerKind::decided, std::move(message)); };
  if (request.device != from) return refuse("device: a request of " + request.device + " from " + from);
  if (const Status named = checkName(request); !named.ok()) return refuse(named.error().message);
  if (state_.moduleOf(request.domain) == nullptr) return refuse("domain: the owner knows no domain " + request.domain);
  if (Status may = state_.config.mayAsk ? state_.config.mayAsk(from, request) : okStatus(); !may.ok()) {
    ++state_.counters.notAllowed;
    state_.notice("notAllowed", "", from + ": " + may.error().message);
    return refuse(may.error().message);
  }
  if (Status fits = ownership_->checkSize(request); !fits.ok()) return refuse(fits.error().message);
  const std::string partition = state_.partitionFor(request.domain, request.entity);
  PartitionHost* mine = state_.partitions.find(partition);
  if (mine != nullptr && ownership_->owns(*mine)) {
    if (const Status proven = checkProposer(state_, request); !proven.ok()) {
      ++state_.counters.requestsUnproven;
      return answer(AnswerKind::unavailable, proven.error().message);
    }
    if (!decideHere(*mine, request, from, now))
      answer(AnswerKind::unavailable, "the owner is busy or does not reach etcd");
    return;
  }
  if (state_.partitions.damaged().contains(partition))
    return answer(AnswerKind::unavailable, "the copy of partition " + partition + " on the device asked is damaged");
  if (mine != nullptr && mine->epoch().owner == state_.ownerName) ++state_.counters.fenced;
  ++state_.counters.redirects;
  answer(AnswerKind::notOwner, "");
  if (const OwnershipRecord* claim = state_.owners.find(partition)) {
    peer.news.claims.push_back(*claim);
    peer.newsDue = true;
  }
}

void RequestRouter::onAnswer(const std::string& from, Answer answer, Now now) {
  Outbox::Waiting* waiting = state_.outbox.find(answer.operationId);
  if (waiting == nullptr) return;  // answered before: a repetition
  if (answer.asked != fingerprintOf(waiting->request) && !mutated("anyAct"))
    return;  // of another act that had the same id
  const auto& asked = waiting->asked;
  if (std::find(asked.begin(), asked.end(), from) == asked.end() && !mutated("answerUnasked")) {
    ++state_.counters.answersUnasked;
    return;
  }
  noteAnswered(state_.peers.find(from)->second.asking, now);
  if (answer.kind != AnswerKind::decided) {
    // A redirection may be followed at once, if it leads elsewhere; the backoff bounds circles.
    if (answer.kind == AnswerKind::notOwner && waiting->tries < 3) state_.outbox.tryAt(*waiting, now.ms + 50);
    if (answer.kind == AnswerKind::frozen) onFrozen_(answer);
    return;
  }
  if (const Status proven = checkAnswer(state_, from, waiting->request, answer); !proven.ok()) {
    ++state_.counters.answersUnproven;
    if (proven.error().code == ErrorCode::unavailable) return;  // the claim may be on its way; it asks again
    const std::string what = concat("an answer to ", answer.operationId, " is not believed: ", proven.error().message);
    if (accused_.insert(from).second) state_.local->note({"falseAnswer", from, what});
    return state_.notice("falseAnswer", "", from + ": " + what);
  }
  const std::string partition = state_.partitionFor(waiting->request.domain, waiting->request.entity);
  state_.told.note(partition, answer);
  if (PartitionHost* mine = state_.partitions.find(partition); mine != nullptr && state_.partitions.usable(partition))
    checkTold(state_, *mine);
  const RequestKind kind = waiting->request.kind;
  expediteFrozen(state_.outbox, waiting->request, now.ms);
  state_.outbox.settle(answer.operationId, state_.writes.pending());
  answered_.push_back({kind, std::move(answer)});
}

void RequestRouter::give(PartitionHost::Release release, std::vector<Answered>& out) {
  if (release.answer.outcome == kernel::Outcome::duplicate) ++state_.counters.duplicates;
  if (release.answer.kind == AnswerKind::frozen) ++state_.counters.frozen;
  if (release.boundElsewhere) ++state_.counters.boundElsewhere;
  if (!release.to.empty()) {
    // An empty request asks for words alone: they may name rows that the device does not see. The rule is named.
    if (!release.answer.message.empty() && state_.config.mayAsk && !state_.config.mayAsk(release.to, Request()).ok())
      release.answer.message = "not told: a role of this device is bound to a key";
    leaving_.push_back(std::move(release));
    return;
  }
  const Outbox::Waiting* waiting = state_.outbox.find(release.answer.operationId);
  // Under its id another request may wait: this one was decided here, then the partition went to somebody else.
  if (waiting != nullptr && release.answer.asked != fingerprintOf(waiting->request)) waiting = nullptr;
  if (waiting == nullptr && !ownership_->decidesAtOnce()) return;  // all were in the outbox: it is answered already
  if (waiting != nullptr && release.answer.kind == AnswerKind::frozen && !waiting->reportFreeze &&
      !mutated("dropFrozen")) {  // it stays, for a later try
    onFrozen_(release.answer);
    return;
  }
  if (waiting != nullptr && release.answer.kind == AnswerKind::unavailable) return;  // the same
  if (waiting != nullptr) state_.outbox.settle(release.answer.operationId, state_.writes.pending());
  out.push_back({release.kind, std::move(release.answer)});
}

void RequestRouter::proveAnswers(RoundSignature& round) {
  for (PartitionHost::Release& release : leaving_) {
    // An entry says more than its action: also how the entity began. That is not for a device without copies.
    const Peer* peer = state_.member(release.to);
    if ((peer == nullptr || !peer->keeper) && !mutated("entryToAll")) release.answer.entry.clear();
    if (!release.answer.entry.empty()) signWith(round, state_, release.partition, release.answer);
  }
}

void RequestRouter::sendAnswers() {
  for (const PartitionHost::Release& release : std::exchange(leaving_, {}))
    if (Peer* peer = state_.member(release.to)) state_.say(*peer, release.answer);  // one that is gone asks again
}

}  // namespace witan::node
