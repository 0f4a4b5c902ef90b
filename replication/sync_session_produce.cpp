// What a session has to say: names of spaces, segments, acknowledgements, records for a repair.
#include <algorithm>
#include <deque>
#include <utility>

#include "replication/sync_session.h"

namespace witan::replication {

namespace {

constexpr std::size_t kItemsInOutbox = 1024 * 1024;

}  // namespace

void SyncSession::announce() {
  const std::size_t named = spaces_.size();
  const auto name = [&](DatabaseName database, const std::string& scope) {
    const bool known = std::any_of(spaces_.begin(), spaces_.end(),
                                   [&](const Shared& s) { return s.database == database && s.scope == scope; });
    if (known || !peerMayHave(database, scope) || spaces_.size() >= kMaxSpaces) return;
    Shared& shared = spaces_.emplace_back();
    shared.database = database;
    shared.scope = scope;
    shared.id = LocalReplica::spaceId(database, scope);
    Space* space = local_.database(database).find(scope);
    shared.sync = std::make_unique<SpaceSync>(
        *space, database,
        [this, space, id = shared.id](const VersionVector& claimed) {
          return local_.judgeClaim(*space, id, peer_, withNames(claimed, space->writers()));
        },
        [this](const std::string& why) { return local_.dotWasTaken(peer_, why); });
    if (database == DatabaseName::agents && scope == kClusterScope) shared.sync->acceptStatementsOnly();
  };
  name(DatabaseName::agents, std::string(kClusterScope));
  for (const DatabaseName database : {DatabaseName::agents, DatabaseName::journal})
    for (const auto& [scope, space] : local_.database(database).spaces()) name(database, scope);
  if (spaces_.size() > named) sendSummaries(named);
}

void SyncSession::sendSummaries(std::size_t from) {
  Spaces message;
  std::deque<std::string> kept;  // what the message borrows
  for (std::size_t i = from; i < spaces_.size(); ++i) {
    Shared& shared = spaces_[i];
    Space& space = shared.sync->space();
    auto summary = shared.sync->summarise(local_.fingerprintKey());
    shared.summarisedHash = summary.writersHash;
    shared.acked = space.vector();
    auto token = local_.database(shared.database).meta(cursorRow(shared));
    if (token.ok() && *token) shared.resume = **token;
    SpaceSummary& out = message.spaces.emplace_back();
    out.database = static_cast<std::uint16_t>(shared.database);
    out.settled = mayCompare(shared);
    out.writersHash = summary.writersHash;
    out.count = space.digest().count;
    out.sumHigh = static_cast<std::uint64_t>(space.digest().sum >> 64);
    out.sumLow = static_cast<std::uint64_t>(space.digest().sum);
    local_.noteAck(shared.id, local_.device(), space.clock(), 0);
    out.acksHash = local_.acksHash(shared.id);
    out.scope = shared.scope;
    out.vector = asData(kept.emplace_back(std::move(summary.vector)));
    out.resume = asData(shared.resume);
  }
  say(message);
}

std::string SyncSession::cursorRow(const Shared& shared) const { return "cursor/" + peer_ + "/" + shared.scope; }

bool SyncSession::produce(std::string& out, std::size_t budget, std::int64_t nowMs) {
  const std::size_t before = out.size();
  if (state_ == SessionState::running && followStatements().ok()) {
    announce();
    for (Shared& shared : spaces_)
      if (shared.sync->agreed() && !shared.repair && local_.restored(shared.id) &&
          shared.sync->space().vector().le(shared.sync->peerClock(), shared.sync->space().self()))
        startRepair(shared, RepairMode::adopt);
    for (Shared& shared : spaces_) {
      sendItems(shared);
      if (std::exchange(shared.clockNews, false)) learnClock(shared, nowMs);
    }
  }
  out += outbox_;
  outbox_.clear();
  if (state_ == SessionState::running) {
    for (Shared& shared : spaces_) {
      // Acknowledgements first: who gets what has been tidied away knows whose word that rests on, and tells it, if
      // that device comes back with an older copy.
      sendAcks(shared);
      out += std::exchange(outbox_, {});
      while (out.size() - before < budget) {
        if (segmentBytesOut_ == segmentBytesAcked_) progressMs_ = nowMs;  // the wait begins with the first
        if (!sendSegment(shared, out)) break;
      }
    }
    if (state_ == SessionState::closed) return produce(out, budget, nowMs);
    if (ackDue_) sendAck();
    for (Shared& shared : spaces_) sendAcks(shared);  // those that had to wait for the statements
    out += outbox_;
    outbox_.clear();
  }
  stats_.bytesOut += out.size() - before;
  return out.size() > before;
}

// Items wait in hashes, not in bytes: the records are read when there is room for them.
void SyncSession::sendItems(Shared& shared) {
  if (shared.items.empty()) return;
  if (Status sent = shared.items.send(*shared.sync, indexOf(shared), outbox_, words_, kItemsInOutbox); !sent.ok())
    return close("closing", sent.error().message);
  afterRepair(shared);
}

bool SyncSession::sendSegment(Shared& shared, std::string& out) {
  if (!shared.theirs || !shared.sync->agreed() || shared.repair) return false;
  // Statements first, in both directions: the peer's may say that it is no member.
  if (&shared != &spaces_.front() && !(statementsSent() && statementsHere())) return false;
  if (segmentBytesOut_ - segmentBytesAcked_ >= peerWindow_) return false;
  std::string rows, resume;
  const auto any = shared.sync->nextRows(rows, resume, options_.segmentBytes);
  if (!any.ok()) close("closing", any.error().message);
  if (!any.ok() || !*any) return false;
  const std::size_t before = out.size();
  appendFrame(out, words_, Segment{indexOf(shared), shared.sync->attempt(), asData(rows), asData(resume)});
  segmentBytesOut_ += out.size() - before;
  ++stats_.segmentsOut;
  ++stats_.framesOut;
  return true;
}

void SyncSession::sendAck() {
  Ack ack;
  const bool received = segmentBytesIn_ > segmentBytesInAcked_;
  ack.received = segmentBytesInAcked_ = segmentBytesIn_;
  std::deque<std::string> kept;
  ackDue_ = false;
  for (Shared& shared : spaces_) {
    if (!shared.ackDue || !shared.sync->agreed()) continue;
    if (!statementsSent()) {
      ackDue_ = true;  // the peer may count it only with these
      continue;
    }
    shared.ackDue = false;
    Space& space = shared.sync->space();
    AckedSpace& acked = ack.spaces.emplace_back();
    acked.space = indexOf(shared);
    acked.settled = mayCompare(shared);
    acked.count = space.digest().count;
    acked.sumHigh = static_cast<std::uint64_t>(space.digest().sum >> 64);
    acked.sumLow = static_cast<std::uint64_t>(space.digest().sum);
    acked.rows = asData(kept.emplace_back(shared.sync->clockRows(shared.acked, space.vector())));
    shared.acked = space.vector();
  }
  if (received || !ack.spaces.empty()) say(ack);
}

// Once the peer has all statements about membership, so that it reads acknowledgements with the same members in mind.
void SyncSession::sendAcks(Shared& shared) {
  if (!shared.theirs || !shared.sync->agreed() || !statementsSent()) return;
  if (!shared.acksDue) return;
  shared.acksDue = false;
  local_.noteAck(shared.id, local_.device(), shared.sync->space().clock(), 0);
  const std::uint64_t hash = local_.acksHash(shared.id);
  if (hash == shared.peerAcksHash) return;
  shared.peerAcksHash = hash;
  const auto at = local_.acks().entries().find(shared.id);
  if (at == local_.acks().entries().end()) return;
  const std::string rows = shared.sync->ackRows(at->second);
  say(Acks{indexOf(shared), asData(rows)});
}

}  // namespace witan::replication
