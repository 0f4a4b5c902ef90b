// SyncSession: what both sides know of third devices' acknowledgements.
#include <algorithm>

#include "replication/sync_session.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {
// The table of acknowledgements has an entry for each device that lacks something, and nothing waits for it but
// tidying: with many of them it is told the more rarely, so that it takes no more than this of a link. A small one is
// told as soon as it is due: it also says what was forgotten, so that vectors become equal.
constexpr std::int64_t kAcksBytesPerSecond = 50;
constexpr std::size_t kSmallAcks = 256;
}  // namespace

// Whether the peer has to hear that members have forgotten something before a commit takes it over that.
bool SyncSession::lacksForgotten(Shared& shared) const {
  if (!compared(shared).peerLacks) return false;
  const Space& space = shared.sync->space();
  const VersionVector& theirs = shared.sync->peerClock();
  if (space.vector().le(theirs, space.self())) return false;
  const VectorClock* forgotten = local_.acks().find(shared.id, kForgotten);
  if (forgotten == nullptr || *forgotten == shared.told) return false;
  return std::ranges::any_of(forgotten->entries(), [&](const auto& entry) {
    const auto writer = space.writers().find(entry.first);
    return writer && entry.second > shared.told.at(entry.first) &&
           std::min(entry.second, space.vector().at(*writer)) > theirs.at(*writer);
  });
}

// Once the peer has all statements about membership, so that it reads acknowledgements with the same members in mind.
void SyncSession::sendAcks(Shared& shared, std::int64_t nowMs) {
  if (!shared.theirs || !shared.sync->agreed() || !statementsSent()) return;
  if (!shared.acksDue && !lacksForgotten(shared)) return;
  shared.acksDue = false;
  if (const VectorClock* forgotten = local_.acks().find(shared.id, kForgotten)) shared.told = *forgotten;
  local_.noteOwnAck(shared.id, shared.sync->space());
  const std::uint64_t hash = local_.acksHash(shared.id, shared.sync->space());
  if (hash == shared.peerAcksHash) return;
  shared.peerAcksHash = hash;
  const auto at = local_.acks().entries().find(shared.id);
  if (at == local_.acks().entries().end()) return;
  const std::string rows = shared.sync->ackRows(at->second, alike_);
  if (rows.size() > kSmallAcks)
    shared.acksFromMs = nowMs + static_cast<std::int64_t>(rows.size()) * 1000 / kAcksBytesPerSecond;
  say(Acks{indexOf(shared), asData(rows)});
}

Status SyncSession::onAcks(const Acks& table, std::int64_t nowMs) {
  WITAN_TRY(s, shared(table.space));
  WITAN_TRY(applied, s->sync->readClockRows(asText(table.rows)));
  // Every device that has the space is a writer of it. The table of acknowledgements grows with these only.
  const auto isKnown = [&all = s->sync->space().writers().byName()](const std::string& device) {
    const auto tagged = all.lower_bound(device + "@");
    return all.contains(device) || (tagged != all.end() && deviceOf(tagged->first) == device);
  };
  const auto take = [&](const std::string& device, const VersionVector& clock, const VectorClock& acked) -> Status {
    if (device == kForgotten) {
      if (s == &spaces_.front()) return okStatus();  // statements are never replaced
      s->sync->noteForgotten(clock);
      local_.noteAck(s->id, device, acked, 0);
      return okStatus();
    }
    WITAN_DO(validateDeviceId("device", device));
    if (device == local_.device()) return local_.judgeAck(s->sync->space(), s->id, peer_, acked);
    if (isKnown(device)) local_.noteAck(s->id, device, acked, nowMs);
    return okStatus();
  };
  for (const DeviceAcks& acks : applied.deviceAcks) {
    const VectorClock acked = s->sync->named(acks.clock);
    WITAN_DO(take(acks.device, acks.clock, acked));
    for (const WriterIndex writer : acks.alike)
      WITAN_DO(take(std::string(deviceOf(s->sync->space().writers().name(writer))), acks.clock, acked));
  }
  return okStatus();
}

}  // namespace witan::replication
