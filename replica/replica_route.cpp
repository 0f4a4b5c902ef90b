// Requests on their way to the owner, and answers on their way back.
#include "base/mutant.h"
#include "replica/replica.h"
#include "replica/replica_agents.h"
#include "replica/replica_etcd.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

// What waited for the counselor goes on at once, in the order in which it came. Other decisions of counselors do not:
// two that wait would hurry each other without end.
void hurryFrozen(Outbox& outbox, const Request& decided, std::int64_t nowMs) {
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

bool Replica::owns(const PartitionHost& host) const {
  const kernel::Epoch mine = host.epoch();
  if (mutated("decideUnowned")) return mine.number > 0;
  const Claim* claim = owners_.find(host.id());
  if (mine.number == 0 || mine.owner != ownerName_) return false;
  if (!mutated("serveOn") && !host.successor().empty()) return false;
  if (reopen_.contains(host.id()) || lostTail_.contains(host.id())) return false;
  if (etcd_ && !etcd_->engine().serves(host.id())) return false;
  // The fence: a later epoch that this device has heard of ends its own, whether or not it has seen the log.
  return claim == nullptr || claim->epoch() <= mine || mutated("ignoreEpoch");
}

std::string Replica::ownerDevice(std::string_view partition) const {
  const Claim* claim = owners_.find(partition);
  return claim == nullptr ? std::string() : std::string(replication::deviceOf(claim->owner));
}

OwnerState Replica::ownerState(std::string_view partition) const {
  const Claim* claim = owners_.find(partition);
  if (claim == nullptr) return OwnerState::unknown;
  const auto at = hosts_.find(partition);
  const PartitionHost* mine = at == hosts_.end() ? nullptr : at->second.get();
  if (mine != nullptr && owns(*mine)) return OwnerState::here;
  const std::string owner = ownerDevice(partition);
  if (owner == device()) {
    // A handover is under way, or the log that it decided on is not here any more.
    const bool handsOver = claim->owner == ownerName_ && !lostTail_.contains(partition);
    return etcd_ || handsOver ? OwnerState::reachable : OwnerState::lost;
  }
  const auto peer = peers_.find(owner);
  if (peer == peers_.end() || !mayTalk(peer->second)) return OwnerState::away;
  if (etcd_ || peer->second.owner.empty()) return OwnerState::reachable;
  if (peer->second.owner != claim->owner) return OwnerState::lost;  // it has begun anew, under another name
  const auto following = peer->second.following.find(partition);
  const bool knowsItOwnsNothing = following != peer->second.following.end() && following->second.follows &&
                                  following->second.epoch == claim->epoch();
  return knowsItOwnsNothing ? OwnerState::lost : OwnerState::reachable;
}

Status Replica::checkOwn(Request& request) const {
  if (request.device.empty()) request.device = device();
  WITAN_DO(checkRequest(request));
  if (request.device != device()) return invalid("device: a request of another device (" + request.device + ")");
  if (moduleOf(request.domain) == nullptr) return invalid("domain: this cluster has no domain " + request.domain);
  if (etcd_) WITAN_DO(etcd_->checkSize(request));
  return config_.mayAsk ? config_.mayAsk(device(), request) : okStatus();
}

Status Replica::enqueue(Request request, Now now) {
  WITAN_DO(checkOwn(request));
  WITAN_TRY(waiting, outbox_.accept(request, Keep::now, now.ms, pending_));
  waiting->tellsFreeze = false;
  return okStatus();
}

void Replica::outlast(std::string_view operationId) {
  if (Outbox::Waiting* waiting = outbox_.find(operationId)) waiting->tellsFreeze = false;
}

Status Replica::submit(Request request, Keep keep, Now now) {
  WITAN_DO(checkOwn(request));
  PartitionHost* mine = host(partitionFor(request.domain, request.entity));
  const bool here = mine != nullptr && owns(*mine) && outbox_.find(request.operationId) == nullptr;
  // What is decided with this round needs no outbox: before it is durable, nothing was accepted.
  if (here && !etcd_) {
    (void)decideHere(*mine, request, "", now);
    return okStatus();
  }
  WITAN_TRY(waiting, outbox_.accept(request, keep, now.ms, pending_));
  if (here) waiting->tellsFreeze = keep == Keep::ifLate;
  return okStatus();
}

bool Replica::decideHere(PartitionHost& host, const Request& request, const std::string& from, Now now) {
  if (etcd_) {
    const bool taken = etcd_->offer(host.id(), request, from, now.ms);
    if (taken) hurryFrozen(outbox_, request, now.ms);  // to be decided after it
    return taken;
  }
  ++counters_.decided;
  host.decide(request, now.wall, from);
  if (!host.partition().frozen(request.entity)) hurryFrozen(outbox_, request, now.ms);
  return true;
}

void Replica::routeDue(Now now) {
  for (const std::string& id : outbox_.due(now.ms))
    if (Outbox::Waiting* waiting = outbox_.find(id)) route(*waiting, now);
}

void Replica::route(Outbox::Waiting& waiting, Now now) {
  const std::string partition = partitionFor(waiting.request.domain, waiting.request.entity);
  PartitionHost* mine = host(partition);
  const bool here = mine != nullptr && owns(*mine);
  const std::string owner = ownerDevice(partition);
  // It is this device's, which does not decide yet: etcd's answer is under way, or its log comes back from a peer.
  if (!here && owner == device()) return outbox_.tryAt(waiting, now.ms + kLastRetryMs);
  const auto at = peers_.find(owner);
  if (!here && (at == peers_.end() || !mayTalk(at->second))) return outbox_.park(waiting, now.ms);
  if (waiting.tries > 0) ++counters_.retries;
  outbox_.tried(waiting, now.ms);
  if (here) {
    (void)decideHere(*mine, waiting.request, "", now);  // if not now, then at the next try
    return;
  }
  ++counters_.forwarded;
  if (mutated("freshOperationId") && waiting.tries > 1) {
    Request fresh = waiting.request;
    fresh.operationId += "." + std::to_string(waiting.tries);
    say(at->second, fresh);
    return;
  }
  say(at->second, waiting.request);
  if (mutated("forgetWhenSent")) outbox_.settle(std::string(waiting.request.operationId), pending_);
}

// A request from the device that made it.
void Replica::onRequest(const std::string& from, Request request, Now now) {
  Peer& peer = peers_.find(from)->second;
  if (Status checked = checkRequest(request); !checked.ok()) return cutOff(from, peer, checked.error());
  Answer answer;
  answer.operationId = request.operationId;
  answer.asked = fingerprintOf(request);
  if (request.device != from) {
    answer.message = "device: a request of " + request.device + " from " + from;
    return answerPeer(peer, answer);
  }
  if (moduleOf(request.domain) == nullptr) {
    answer.message = "domain: the owner knows no domain " + request.domain;
    return answerPeer(peer, answer);
  }
  if (Status may = config_.mayAsk ? config_.mayAsk(from, request) : okStatus(); !may.ok()) {
    ++counters_.notAllowed;
    notices_.push_back({"notAllowed", "", from + ": " + may.error().message});
    answer.message = may.error().message;
    return answerPeer(peer, answer);
  }
  if (Status fits = etcd_ ? etcd_->checkSize(request) : okStatus(); !fits.ok()) {
    answer.message = fits.error().message;
    return answerPeer(peer, answer);
  }
  const std::string partition = partitionFor(request.domain, request.entity);
  PartitionHost* mine = host(partition);
  if (mine != nullptr && owns(*mine)) {
    if (decideHere(*mine, request, from, now)) return;
    answer.kind = AnswerKind::unavailable;
    answer.message = "the owner is busy or does not reach etcd";
    return answerPeer(peer, answer);
  }
  if (mine != nullptr && mine->epoch().owner == ownerName_) ++counters_.fenced;
  ++counters_.redirects;
  answer.kind = AnswerKind::notOwner;
  answerPeer(peer, answer);
  if (const Claim* claim = owners_.find(partition)) {
    peer.news.claims.push_back(*claim);
    peer.newsDue = true;
  }
}

void Replica::answerPeer(Peer& peer, const Answer& answer) { say(peer, answer); }

// What the owner said. Anything but a decision leaves the request where it is, for a later try.
void Replica::onAnswer(Peer& peer, Answer answer, Now now) {
  (void)peer;
  Outbox::Waiting* waiting = outbox_.find(answer.operationId);
  if (waiting == nullptr) return;                               // answered before: a repetition
  if (answer.asked != fingerprintOf(waiting->request)) return;  // of another act that had the same id
  if (answer.kind != AnswerKind::decided) {
    // A redirection may be followed at once, if it leads elsewhere; the backoff bounds circles.
    if (answer.kind == AnswerKind::notOwner && waiting->tries < 3) outbox_.tryAt(*waiting, now.ms + 50);
    if (answer.kind == AnswerKind::frozen && desk_) desk_->frozen(answer);
    return;
  }
  const RequestKind kind = waiting->request.kind;
  hurryFrozen(outbox_, waiting->request, now.ms);
  outbox_.settle(answer.operationId, pending_);
  answers_.push_back({kind, std::move(answer)});
}

// A decision is there to stay: whoever waits for it is told.
void Replica::give(PartitionHost::Release release, Now now, Effects& out) {
  (void)now;
  if (release.answer.outcome == kernel::Outcome::duplicate) ++counters_.duplicates;
  if (release.answer.kind == AnswerKind::frozen) ++counters_.frozen;
  if (release.boundElsewhere) ++counters_.boundElsewhere;
  if (!release.to.empty()) {
    const auto at = peers_.find(release.to);
    if (at != peers_.end() && mayTalk(at->second)) answerPeer(at->second, release.answer);
    return;  // gone: it asks again
  }
  const Outbox::Waiting* waiting = outbox_.find(release.answer.operationId);
  // Under its id another request may wait: this one was decided here, then the partition went to somebody else.
  if (waiting != nullptr && release.answer.asked != fingerprintOf(waiting->request)) waiting = nullptr;
  if (waiting == nullptr && etcd_) return;  // all go by way of the outbox there: it is answered already
  if (waiting != nullptr && release.answer.kind == AnswerKind::frozen && !waiting->tellsFreeze &&
      !mutated("dropFrozen")) {  // it stays, for a later try
    if (desk_) desk_->frozen(release.answer);
    return;
  }
  if (waiting != nullptr) outbox_.settle(release.answer.operationId, pending_);
  out.answers.push_back({release.kind, std::move(release.answer)});
}

}  // namespace witan::node
