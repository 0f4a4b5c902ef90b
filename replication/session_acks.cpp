// SyncSession: what both sides know of third devices' acknowledgements.
#include <algorithm>
#include <span>

#include "replication/sync_session.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {
// Nothing waits for the table of acknowledgements but tidying. So it is told in parts of about this size, the more
// rarely the more devices there are, from 200 on five bytes a second of a link and space. It also says what was
// forgotten, so that vectors become equal: among few devices a part is told as soon as it is due.
constexpr std::size_t kAcksBytes = 256;
constexpr std::int64_t kAcksMsPerDevice = 250, kAcksMsMost = 50'000;
// To a peer that takes it as a whole only.
constexpr std::int64_t kAcksBytesPerSecond = 50;
// A table of one frame names each device once, and each vector once. Runs could say far more in few bytes.
constexpr std::size_t kMostAcked = kMaxWriters * 1024;
}  // namespace

// --- their rows

// Of a device's incarnations one is as good as another.
std::optional<WriterIndex> SpaceSync::writerOfDevice(const std::string& device) const {
  const auto& all = space_.writers().byName();
  const auto at = all.lower_bound(device);
  const auto tagged = at != all.end() && at->first == device ? at : all.lower_bound(device + "@");
  if (tagged == all.end() || deviceOf(tagged->first) != device) return std::nullopt;
  return tagged->second;
}

namespace {

// The devices of equal vectors.
struct EntriesLess {
  bool operator()(const VectorClock* a, const VectorClock* b) const { return a->entries() < b->entries(); }
};
using AckGroups = std::map<const VectorClock*, std::vector<std::string_view>, EntriesLess>;

AckGroups groupsOf(const AckTable::Devices& devices) {
  AckGroups groups;
  for (const auto& [device, clock] : devices) groups[&clock].push_back(device);
  return groups;
}

}  // namespace

std::string SpaceSync::ackRows(const AckTable::Devices& devices, bool alike) {
  std::string rows, acks;
  DenseWriter to(acks);
  for (const auto& [clock, group] : groupsOf(devices)) {
    std::vector<std::uint64_t> others;  // than the first
    std::vector<std::string_view> named;
    for (const std::string_view device : group) {
      const auto writer = alike && !named.empty() ? writerOfDevice(std::string(device)) : std::nullopt;
      writer ? others.push_back(announce(rows, *writer)) : named.push_back(device);
    }
    std::vector<std::pair<std::uint64_t, Seq>> entries;
    for (const auto& [writer, counter] : clock->entries())
      if (const auto index = space_.writers().find(writer)) entries.emplace_back(announce(rows, *index), counter);
    for (const std::string_view device : named) {
      to.byte(static_cast<std::uint8_t>(RowTag::deviceAck));
      to.idText(device);
      to.varint(entries.size());
      for (const auto& [number, counter] : entries) to.varint(number), to.varint(counter);
    }
    if (others.empty()) continue;
    to.byte(static_cast<std::uint8_t>(RowTag::alike));
    to.varint(others.size());
    for (const std::uint64_t number : others) to.varint(number);
  }
  return rows + acks;
}

// False: there was no room for the names of all.
bool SpaceSync::appendAckGroup(std::string& rows, std::string& acks, const VectorClock& clock,
                               const std::vector<std::string_view>& devices, std::size_t budget) {
  AcksRow row;
  for (const auto& [name, counter] : clock.entries())
    if (const auto writer = space_.writers().find(name)) row.clock.emplace_back(announce(rows, *writer), counter);
  // Each peer begins with the names behind its own, so that they tell different ones.
  const auto first = std::ranges::upper_bound(devices, std::string_view(space_.selfName())) - devices.begin();
  bool all = true;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string device(devices[(static_cast<std::size_t>(first) + i) % devices.size()]);
    const auto writer = device == kForgotten ? std::nullopt : writerOfDevice(device);
    const bool room = rows.size() + acks.size() < budget || device == kForgotten;
    if (writer && (room || out_.has(*writer)))
      row.writers.push_back(announce(rows, *writer));
    else if (!writer && room)
      row.devices.push_back(device);
    else
      all = false;
  }
  if (!row.writers.empty() || !row.devices.empty()) appendAcksRow(acks, row);
  return all;
}

std::string SpaceSync::ackGroups(const AckTable::Devices& devices, std::size_t budget, std::string& after, bool& all) {
  const AckGroups groups = groupsOf(devices);
  std::vector<AckGroups::const_iterator> order;
  for (auto at = groups.begin(); at != groups.end(); ++at) order.push_back(at);
  const auto firstOf = [](const auto& at) { return at->second.front(); };
  std::ranges::sort(order, {}, firstOf);  // kForgotten is before all
  const auto rest = order.begin() + (!order.empty() && firstOf(order.front()) == kForgotten ? 1 : 0);
  const auto most = std::ranges::max_element(rest, order.end(), {}, [](const auto& at) { return at->second.size(); });
  std::string rows, acks;
  all = true;
  const auto tell = [&](const auto& at) { all = appendAckGroup(rows, acks, *at->first, at->second, budget) && all; };
  if (rest != order.begin()) tell(order.front());
  if (most != order.end()) tell(*most);
  auto next = std::ranges::upper_bound(rest, order.end(), std::string_view(after), {}, firstOf);
  for (bool first = true; next != order.end() && (first || rows.size() + acks.size() < budget); ++next)
    if (next != most) tell(*next), first = false;
  after = next == order.end() ? "" : firstOf(*std::prev(next));
  return rows + acks;
}

Status SpaceSync::readAlike(DenseReader& from, Applied& applied) {
  if (applied.deviceAcks.empty()) return invalid("a row of devices that acknowledged like none");
  const std::uint64_t n = from.count(in_.size());
  for (std::uint64_t i = 0; i < n && from.ok(); ++i) {
    const std::uint64_t number = from.varint();
    if (number >= in_.size()) return invalid(concat("a row names the device of writer ", number, ", never announced"));
    applied.deviceAcks.back().alike.push_back(in_.writerOf(number));
  }
  return from.status("a row of devices");
}

Status SpaceSync::readAcks(DenseReader& from, Applied& applied) {
  const AcksRow row = readAcksRow(from, in_.size());
  WITAN_DO(from.status("a row of acknowledgements"));
  const std::size_t devices = row.devices.size() + row.writers.size();
  if (devices == 0) return invalid("a row of acknowledgements of no device");
  if ((applied.entriesAcked += (devices + 1) * (row.clock.size() + 1)) > kMostAcked)
    return invalid("more acknowledgements than a table of all devices has");
  VersionVector clock;
  for (const auto& [number, seq] : row.clock) clock.raise(in_.writerOf(number), seq);
  for (const std::string& device : row.devices) applied.deviceAcks.push_back({device, {}, clock});
  if (row.writers.empty()) return okStatus();
  const auto nameOf = [&](std::uint64_t number) { return deviceOf(space_.writers().name(in_.writerOf(number))); };
  applied.deviceAcks.push_back({std::string(nameOf(row.writers.front())), {}, std::move(clock)});
  DeviceAcks& group = applied.deviceAcks.back();
  for (const std::uint64_t number : std::span(row.writers).subspan(1)) group.alike.push_back(in_.writerOf(number));
  return okStatus();
}

// --- when they are told

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
  const auto at = local_.acks().entries().find(shared.id);
  if (at == local_.acks().entries().end()) return;
  if (shared.acksAfter.empty()) shared.acksBegun = hash;
  bool all = true;
  const std::string rows = live_ ? shared.sync->ackGroups(at->second, kAcksBytes, shared.acksAfter, all)
                                 : shared.sync->ackRows(at->second, alike_);
  if (!all) shared.acksBegun = shared.peerAcksHash;
  if (shared.acksAfter.empty() && shared.acksBegun == hash) shared.peerAcksHash = hash;
  if (live_)
    shared.acksFromMs = nowMs + std::min(static_cast<std::int64_t>(at->second.size()) * kAcksMsPerDevice, kAcksMsMost);
  else if (rows.size() > kAcksBytes)
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
