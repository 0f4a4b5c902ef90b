// What a running session does with segments, acknowledgements and repairs.
#include <algorithm>
#include <utility>

#include "base/identity.h"
#include "base/mutant.h"
#include "replication/sync_session.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr unsigned kRepairsPerSession = 3;

}  // namespace

Status SyncSession::onSegment(const Segment& segment, std::size_t frameBytes, std::int64_t nowMs) {
  WITAN_TRY(s, shared(segment.space));
  if (!s->sync->agreed()) return invalid("a segment before the writers are agreed");
  segmentBytesIn_ += frameBytes;
  // The last segment of a walk is acknowledged even if it commits to nothing: what it had is above the peer's vector.
  ackDue_ = ackDue_ || segment.resume.empty() || segmentBytesIn_ - segmentBytesInAcked_ > peerWindow_ / 4;
  WITAN_TRY(applied, s->sync->apply(asText(segment.rows), segment.attempt, Gate::closed));
  for (const std::string& what : applied.incidents) local_.note({"equivocation", peer_, what});
  if (applied.retry) {
    ++stats_.retries;
    const std::string rows = s->sync->wholeClock();
    say(Retry{indexOf(*s), s->sync->expectedAttempt(), asData(rows)});
  }
  // After a break the walk that the tokens speak of has a gap: none of them may be handed back.
  if (applied.committed || applied.retry) {
    if (applied.committed) s->ackDue = ackDue_ = s->clockNews = true;
    if (!s->resume.empty()) local_.database(s->database).eraseMeta(cursorRow(*s));
    s->resume.clear();
    if (clocksWait_) learnClock(*s, nowMs);
  } else if (!segment.resume.empty() && (segment.attempt == s->sync->expectedAttempt() || mutated("keepVoidToken"))) {
    // Not that of a segment with a delta that had no base here, nor of those behind it: they count what is not held.
    s->resume = asText(segment.resume);
    local_.database(s->database).putMeta(cursorRow(*s), s->resume);
  }
  return okStatus();
}

// Whether everything that the peer has stated about membership has arrived, as far as it said.
bool SyncSession::statementsHere() const {
  if (mutated("ackUnheard")) return true;
  SpaceSync& cluster = *spaces_.front().sync;
  return cluster.agreed() && cluster.peerClock().le(cluster.space().vector());
}

bool SyncSession::statementsSent() const { return spaces_.front().sync->allSent(); }

// A peer that claims less than it had acknowledged, as far as is known here, has an older copy on its disk. It cannot
// know, so it hears of it before any segment (LocalReplica::judgeAck).
void SyncSession::recall(Shared& shared) {
  if (limited_ || std::exchange(shared.recalled, true)) return;
  const VectorClock told = withNames(shared.sync->peerClock(), shared.sync->space().writers());
  const VectorClock known = local_.acks().acked(shared.id, peer_);
  if (!le(known, told)) say(Acks{indexOf(shared), asData(shared.sync->ackRows({{peer_, known}}))});
}

// What the peer has, durably, by its own word. It counts from when its statements are here: else it would vouch for a
// device that has admitted another of which this one does not know (replication/stability.h).
void SyncSession::learnClock(const Shared& shared, std::int64_t nowMs) {
  const auto note = [&](const Shared& each) {
    if (each.sync->agreed())
      local_.noteAck(each.id, peer_, withNames(each.sync->peerClock(), each.sync->space().writers()), nowMs);
  };
  if (!statementsHere()) {
    clocksWait_ = true;
  } else if (clocksWait_) {
    clocksWait_ = false;
    for (const Shared& each : spaces_) note(each);
  } else {
    note(shared);
  }
}

Status SyncSession::onAck(const Ack& ack, std::int64_t nowMs) {
  if (ack.received < segmentBytesAcked_ || ack.received > segmentBytesOut_)
    return invalid("an ACK of " + std::to_string(ack.received) + " bytes where " + std::to_string(segmentBytesAcked_) +
                   " to " + std::to_string(segmentBytesOut_) + " are possible");
  if (ack.received > segmentBytesAcked_) progressMs_ = nowMs;
  segmentBytesAcked_ = ack.received;
  for (const AckedSpace& acked : ack.spaces) WITAN_DO(onAckedSpace(acked, nowMs));
  return okStatus();
}

Status SyncSession::onAckedSpace(const AckedSpace& acked, std::int64_t nowMs) {
  WITAN_TRY(s, shared(acked.space));
  if (!s->sync->agreed()) return invalid("an ACK before the writers are agreed");
  WITAN_TRY(applied, s->sync->readClockRows(asText(acked.rows)));
  if (applied.clock) WITAN_DO(s->sync->peerHas(*applied.clock));
  learnClock(*s, nowMs);
  compareDigests(*s, s->sync->peerClock(), acked.settled, digestOf(acked.count, acked.sumHigh, acked.sumLow));
  return okStatus();
}

Status SyncSession::onRetry(const Retry& retry) {
  WITAN_TRY(s, shared(retry.space));
  if (!s->sync->agreed()) return invalid("a RETRY before the writers are agreed");
  return s->sync->restart(asText(retry.rows), retry.attempt);
}

Status SyncSession::onAcks(const Acks& acks, std::int64_t nowMs) {
  WITAN_TRY(s, shared(acks.space));
  WITAN_TRY(applied, s->sync->readClockRows(asText(acks.rows)));
  // Every device that has the space is a writer of it. The table of acknowledgements grows with these only.
  std::set<std::string_view> known;
  for (const auto& [writer, index] : s->sync->space().writers().byName()) known.insert(deviceOf(writer));
  for (const auto& [device, clock] : applied.deviceAcks) {
    WITAN_DO(validateDeviceId("device", device));
    const VectorClock acked = withNames(clock, s->sync->space().writers());
    if (device == local_.device())
      WITAN_DO(local_.judgeAck(s->sync->space(), s->id, peer_, acked));
    else if (known.contains(device))
      local_.noteAck(s->id, device, acked, nowMs);
  }
  return okStatus();
}

// --- repair

// Whether equal vectors mean equal contents: not in the middle of a peer's round, and not while something here may have
// been outlived elsewhere. A peer that compared then would take it for lost and bring it back.
bool SyncSession::mayCompare(const Shared& shared) const {
  return !local_.restored(shared.id) && shared.sync->space().settled();
}

// Equal vectors, different contents: a bug or a damaged disk. The device with the smaller id asks; if it does not, the
// other does.
void SyncSession::compareDigests(Shared& shared, const VersionVector& theirs, bool settled, const Digest& digest) {
  Space& space = shared.sync->space();
  if (!settled || shared.repair || !shared.items.empty() || !(theirs == space.vector()) || !mayCompare(shared)) return;
  shared.differs = digest != space.digest();
  if (!shared.differs || shared.alarms >= kRepairsPerSession) return;
  if (shared.alarms++ == 0)
    local_.note({"digestAlarm", peer_,
                 shared.id + ": equal vectors, but here " + toString(space.digest()) + " and there " +
                     toString(digest) + "; repairing"});
  if (local_.device() < peer_ || (shared.alarms > 1 && !shared.asked)) startRepair(shared, RepairMode::unite);
}

bool SyncSession::differs() const {
  return std::any_of(spaces_.begin(), spaces_.end(), [](const Shared& s) { return s.differs; });
}

void SyncSession::startRepair(Shared& shared, RepairMode mode) {
  ++stats_.repairs;
  shared.repair = std::make_unique<AntiEntropy>(*shared.sync, indexOf(shared), mode);
  shared.repair->start(outbox_, words_);
}

Status SyncSession::onItems(Shared& shared, const Items& items) {
  WITAN_TRY(applied, shared.sync->apply(asText(items.rows), 0, Gate::open));
  for (const std::string& what : applied.incidents) local_.note({"equivocation", peer_, what});
  if (shared.repair) shared.repair->onItems(items.more);
  if (!shared.repair && !items.more) shared.ackDue = ackDue_ = true;  // with the digest that the asker compares
  afterRepair(shared);
  return okStatus();
}

void SyncSession::afterRepair(Shared& shared) {
  if (!shared.repair || !shared.repair->done() || !shared.items.empty()) return;
  if (shared.repair->mode() == RepairMode::adopt) local_.setRestored(shared.id, false);
  shared.repair.reset();
  shared.ackDue = ackDue_ = true;
}

}  // namespace witan::replication
