#include "node/slices/slices.h"

#include <algorithm>
#include <charconv>

#include "node/ledgers/ledger_readers.h"
#include "node/slices/bound_roles.h"
#include "replica/core/partition_host.h"

namespace witan::node {

namespace {

bool seesIn(const RosterDevice& device, const kernel::DomainModule& module) {
  for (const kernel::RoleInfo& role : module.signature().roles)
    if (device.maySee(module.signature().domain, role.name) ||
        !keysOf(device, module.signature().domain, role.name).empty())
      return true;
  return false;
}

constexpr std::string_view kSlices = "s/", kPlaces = "t/", kRights = "u";

// '\0' stands in no name that a slice can have.
std::string keyOf(std::string_view domain, std::string_view role, std::string_view entity) {
  std::string key(kSlices);
  for (const std::string_view part : {domain, role, entity}) (key += part) += '\0';
  return key;
}

Result<Slice> readSlice(std::string_view bytes) {
  Slice slice;
  const std::string aligned(bytes);
  if (Status read = readMessage(aligned, slice, "slice"); !read.ok())
    return corrupt("a stored slice: " + read.error().message);
  return slice;
}

std::string rightsText(const RosterDevice& rights) {
  std::vector<std::string> roles = rights.roles;
  std::sort(roles.begin(), roles.end());
  std::string text;
  for (const std::string& role : roles) text += role + "\n";
  return text;
}

}  // namespace

void SliceServer::connected(const RosterDevice& device) {
  if (device.keepsLedgers()) return;
  peers_[device.device] = Peer{device, false, {}, {}};
}

Status SliceServer::onHave(const std::string& device, const SliceHave& have) {
  const auto at = peers_.find(device);
  if (at == peers_.end()) return okStatus();  // it keeps ledgers of its own
  if (have.places.size() > kMaxPartitions) return invalid("more places than there can be partitions");
  Peer& peer = at->second;
  peer.asked = true;
  peer.sent.clear();
  peer.due.clear();
  for (const SlicePlace& place : have.places) peer.sent[place.partition] = place.batches;
  return okStatus();
}

std::set<std::string> SliceServer::waiting() const {
  std::set<std::string> devices;
  for (const auto& [device, peer] : peers_) {
    if (!peer.asked) continue;
    for (const auto& [id, host] : replica_.hosts()) {
      if (!host->showsLog()) continue;
      const auto sent = peer.sent.find(id);
      if (sent != peer.sent.end() ? sent->second != host->durableBatches() : host->durableBatches() > 0)
        devices.insert(device);
    }
  }
  return devices;
}

Result<bool> SliceServer::produce(const std::string& device, std::string& out) {
  const auto found = peers_.find(device);
  if (found == peers_.end() || !found->second.asked) return false;
  Peer& peer = found->second;
  for (const auto& [id, host] : replica_.hosts()) {
    if (!host->showsLog()) continue;
    std::uint64_t& sent = peer.sent[id];
    const std::uint64_t durable = host->durableBatches();
    if (sent == durable) continue;
    if (!seesIn(peer.rights, host->module())) {
      sent = durable;
      continue;
    }
    if (sent > durable) sent = 0;  // what it rests on was set aside: everything again
    if (sent < host->first()) {
      if (!sendAll(peer, *host, out)) return true;
      sent = peer.due.extract(id).mapped().batches;
    }
    while (sent < durable) {
      if (out.size() >= kSliceBudget) return true;
      WITAN_DO(sendBatch(peer, *host, sent, out));
      ++sent;
    }
    out += clusterFrame(SliceUpTo{{id, sent}});
  }
  return false;
}

bool SliceServer::sendAll(Peer& peer, const PartitionHost& host, std::string& out) {
  const auto [at, begins] = peer.due.try_emplace(host.id());
  if (begins) at->second = {host.partition().entities(), host.durableBatches()};
  for (std::vector<std::string>& due = at->second.entities; !due.empty(); due.pop_back()) {
    if (out.size() >= kSliceBudget) return false;
    sendEntity(peer, host, due.back(), host.partition().latest(), out);
  }
  return true;
}

void SliceServer::sendEntity(const Peer& peer, const PartitionHost& host, const std::string& entity, Time time,
                             std::string& out) {
  const kernel::EntityState* state = host.partition().state(entity);
  if (state == nullptr) return;
  const kernel::DomainModule& module = host.module();
  const std::string& domain = module.signature().domain;
  for (const kernel::RoleInfo& role : module.signature().roles) {
    Slice slice{domain, entity, role.name, {}, host.partition().frozen(entity), time, host.id(), host.durableBatches()};
    const auto send = [&] {
      if (slice.state.size() <= kMaxClusterFrame / 2)  // else no frame holds it: such a role keeps the ledger
        out += clusterFrame(slice);
    };
    if (peer.rights.maySee(domain, role.name)) {
      module.writeState(slice.state, *state, role.footprint);
      send();
    }
    const kernel::BoundSlices* bound = kernel::boundSlicesOf(module);
    for (const std::string& key : keysOf(peer.rights, domain, role.name)) {
      if (bound == nullptr) continue;
      slice.role = concat(role.name, ":", key);
      slice.frozen = frozenFor(host, entity, key);
      slice.state.clear();
      bound->writeSlice(slice.state, *state, role.footprint, key);
      send();
    }
  }
}

Status SliceServer::sendBatch(const Peer& peer, const PartitionHost& host, std::uint64_t number, std::string& out) {
  std::map<std::string, Time> changed;
  WITAN_DO(visitBatch(host.rows(), number,
                      [&](const StoredEntry& entry) { changed[std::string(entry.entry.entity)] = entry.entry.time; }));
  for (const auto& [entity, time] : changed) sendEntity(peer, host, entity, time, out);
  return okStatus();
}

Result<SliceHave> SliceStore::have() const {
  SliceHave have;
  WITAN_DO(store_.scan(kPlaces, {}, [&](std::string_view key, std::string_view value) {
    SlicePlace place{std::string(key.substr(kPlaces.size())), 0};
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), place.batches);
    if (failure == std::errc{} && end == value.data() + value.size()) have.places.push_back(std::move(place));
    return true;
  }));
  return have;
}

Status SliceStore::take(const Slice& slice, const RosterDevice& rights) {
  if (!rights.maySee(slice.domain, slice.role))
    return Error{ErrorCode::unauthorised,
                 "a slice of " + slice.domain + "." + slice.role + ", which this device may not see", ""};
  if (slice.domain.size() + slice.role.size() + slice.entity.size() > 1024 ||
      (slice.domain + slice.role + slice.entity).find('\0') != std::string::npos)
    return invalid("a slice of an impossible name");
  const std::string key = keyOf(slice.domain, slice.role, slice.entity);
  WITAN_TRY(held, store_.get(key));
  if (held) {
    auto before = readSlice(*held);
    if (before.ok() && before->time > slice.time) return okStatus();
  }
  WordWriter words;
  store::WriteBatch batch;
  batch.put(key, words.message(slice));
  return store_.write(batch);
}

Status SliceStore::upTo(const SliceUpTo& upTo) {
  if (upTo.place.partition.empty() || upTo.place.partition.size() > 256) return invalid("a place without a partition");
  store::WriteBatch batch;
  batch.put(std::string(kPlaces) + upTo.place.partition, std::to_string(upTo.place.batches));
  return store_.write(batch);
}

Result<std::optional<Slice>> SliceStore::find(std::string_view domain, std::string_view entity,
                                              std::string_view role) const {
  WITAN_TRY(held, store_.get(keyOf(domain, role, entity)));
  if (!held) return std::optional<Slice>();
  WITAN_TRY(slice, readSlice(*held));
  return std::optional(std::move(slice));
}

Status SliceStore::each(std::string_view domain, const std::function<bool(const Slice&)>& visit) const {
  Status status = okStatus();
  WITAN_DO(store_.scan(kSlices, {}, [&](std::string_view, std::string_view value) {
    auto slice = readSlice(value);
    if (!slice.ok()) return status = slice.error(), false;
    return (!domain.empty() && slice->domain != domain) || visit(*slice);
  }));
  return status;
}

Status SliceStore::applyRights(const RosterDevice& rights) {
  const std::string now = rightsText(rights);
  WITAN_TRY(before, store_.get(kRights));
  if (before && *before == now) return okStatus();
  store::WriteBatch batch;
  WITAN_DO(each("", [&](const Slice& slice) {
    if (rights.keepsLedgers() || !rights.maySee(slice.domain, slice.role))
      batch.erase(keyOf(slice.domain, slice.role, slice.entity));
    return true;
  }));
  WITAN_DO(store_.scan(kPlaces, {}, [&](std::string_view key, std::string_view) { return batch.erase(key), true; }));
  batch.put(kRights, now);
  return store_.writeSynced(batch);
}

}  // namespace witan::node
