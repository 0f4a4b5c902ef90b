#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "sim/trace_format.h"

namespace witan::sim {

namespace {

constexpr Micros kLinkStall = 30 * kSecond;  // without an acknowledgement
constexpr Micros kKeepAlive = 60 * kSecond;  // until an end notices that the other is gone without a word
constexpr std::uint8_t kFirstLossy = 32;     // frame types from here on may be lost, repeated, overtaken
constexpr std::size_t kSeenFrames = 16;
constexpr Micros kOvertaken = kSecond;

}  // namespace

// -ln(u) by its binary digits: floating point rounds differently from machine to machine.
Micros drawExponential(Random& random, Micros mean) {
  if (mean <= 0) return 0;
  // u = 2^-k * (1 - f/2), k geometric, f uniform: -ln u is k ln 2 + about f ln 2 (linear between, 6 % at most).
  const std::uint64_t word = random.next();
  const auto k = static_cast<std::uint64_t>(word == 0 ? 28 : __builtin_ctzll(word));
  const std::uint64_t f = random.next() >> 44;  // 20 bits
  const std::uint64_t ln2 = 726'817;            // ln 2 * 2^20
  const std::uint64_t scaled = std::min<std::uint64_t>(k, 28) * ln2 + (f * ln2 >> 20);
  return static_cast<Micros>(static_cast<unsigned __int128>(mean) * scaled >> 20);
}

void Network::addDevice() {
  ++devices_;
  if (options_.links > 0) links_.emplace_back();
}

std::uint64_t Network::pairKey(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
}
Network::Pair& Network::pair(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t key = pairKey(a, b);
  return pairs_.try_emplace(key, seed_ ^ (key + 1) * 0xd1342543de82ef95u).first->second;
}
const Network::Pair* Network::findPair(std::uint32_t a, std::uint32_t b) const {
  const auto at = pairs_.find(pairKey(a, b));
  return at == pairs_.end() ? nullptr : &at->second;
}
const Network::Connection* Network::connectionOf(std::uint32_t a, std::uint32_t b) const {
  const Pair* between = findPair(a, b);
  const auto at = between == nullptr ? connections_.end() : connections_.find(between->connection);
  return at == connections_.end() ? nullptr : &at->second;
}

Network::Connection* Network::find(std::uint64_t id) {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : &at->second;
}

bool Network::linked(std::uint32_t a, std::uint32_t b) const {
  if (!links_.empty()) return wants(a, b) || wants(b, a);
  if (options_.chords == 0 || a >= ring_ || b >= ring_) return true;
  const std::uint32_t way = a < b ? b - a : a - b, steps = std::min(way, ring_ - way);
  return (steps & (steps - 1)) == 0 && steps >> options_.chords == 0;
}

bool Network::isOpen(std::uint32_t from, std::uint32_t to) {
  return (!links_.empty() || linked(from, to)) && pair(from, to).blocked[towards(to, from)] == 0;
}

bool Network::connected(std::uint32_t a, std::uint32_t b) const {
  const Connection* connection = connectionOf(a, b);
  return connection != nullptr && connection->alive;
}

bool Network::chance(Pair& between, std::int64_t perMillion) {
  return perMillion > 0 && between.random.below(1'000'000) < static_cast<std::uint64_t>(perMillion);
}

Micros Network::delay(Pair& between, std::size_t bytes) {
  Micros micros = options_.delayMinMicros + drawExponential(between.random, options_.delayMeanMicros);
  if (options_.bytesPerSecond > 0) micros += static_cast<Micros>(bytes) * kSecond / options_.bytesPerSecond;
  return micros;
}

std::string Network::describe() const {
  const auto& [number, chunk] = *chunks_.begin();
  return concat(underWay_, " chunks of frames are under way, one of ", chunk.frames.size(), " bytes from device ",
                chunk.from, " to device ", chunk.to);
}

// --- cuts

void Network::block(std::uint32_t from, std::uint32_t to) { ++pair(from, to).blocked[towards(to, from)]; }

void Network::unblock(std::uint32_t from, std::uint32_t to) {
  Pair& between = pair(from, to);
  const int side = towards(to, from);
  if (between.blocked[side] == 0 || --between.blocked[side] > 0) return;
  if (Connection* connection = find(between.connection); connection != nullptr && connection->alive) {
    if (!connection->queue[side].empty())
      agenda_.add(agenda_.now() + delay(between, 0), StepKind::arrive, to, connection->queue[side].front());
  }
  considerDial(from, to);
}

// --- connections

void Network::considerDial(std::uint32_t a, std::uint32_t b) {
  if (!linked(a, b)) return;
  Pair& between = pair(a, b);
  if (between.dialDue || connected(a, b) || !isOpen(a, b) || !isOpen(b, a)) return;
  if (!hooks_.reachable(a) || !hooks_.reachable(b)) return;
  between.dialDue = true;
  const Micros wait = 10'000 + drawExponential(between.random, options_.reconnectMillis * 1000);
  agenda_.add(agenda_.now() + wait, StepKind::dial, a, pairKey(a, b));
}

void Network::dial(std::uint64_t key) {
  Pair& between = pairs_.find(key)->second;
  between.dialDue = false;
  const auto a = static_cast<std::uint32_t>(key >> 32), b = static_cast<std::uint32_t>(key);
  if (!linked(a, b) || connected(a, b) || !isOpen(a, b) || !isOpen(b, a) || !hooks_.reachable(a) ||
      !hooks_.reachable(b))
    return;
  if (Connection* old = find(between.connection)) {  // an end that had not noticed yet does now
    lower(*old, a);
    lower(*old, b);
    connections_.erase(between.connection);
  }
  between.connection = nextConnection_++;
  for (auto& seen : between.seen) seen.clear();
  Connection& connection = connections_[between.connection];
  connection.ends[0] = a;
  connection.ends[1] = b;
  for (const auto& [at, other] : {std::pair(a, b), std::pair(b, a)}) {
    hooks_.onConnected(at, other);
    if (links_.empty()) continue;
    links_[at].mesh->linked(members_[other].device, {}, agenda_.now() / 1000);
    lookAt(at, agenda_.now());
  }
}

void Network::lower(Connection& connection, std::uint32_t device) {
  const int end = connection.ends[0] == device ? 0 : 1;
  if (!connection.up[end]) return;
  connection.up[end] = false;
  hooks_.onDisconnected(device, connection.ends[1 - end]);
  if (links_.empty()) return;
  links_[device].mesh->unlinked(members_[connection.ends[1 - end]].device, agenda_.now() / 1000);
  lookAt(device, agenda_.now());
}

// The connection is dead. One end knows at once, the other when it can.
void Network::kill(std::uint64_t id, std::uint32_t firstToKnow) {
  Connection* connection = find(id);
  if (connection == nullptr || !connection->alive) return;
  connection->alive = false;
  for (int side : {0, 1}) {
    for (std::uint64_t chunk : connection->queue[side]) underWay_ -= chunks_.erase(chunk);
    connection->queue[side].clear();
  }
  const std::uint32_t a = connection->ends[0], b = connection->ends[1];
  const std::uint32_t other = firstToKnow == a ? b : a;
  hooks_.onNetwork(firstToKnow, "connection dies", other);
  const Micros later = isOpen(firstToKnow, other) ? delay(pair(a, b), 0) : kKeepAlive;
  agenda_.add(agenda_.now() + later, StepKind::endDown, other, id);
  lower(*connection, firstToKnow);
  considerDial(a, b);
}

void Network::endDown(std::uint64_t id, std::uint32_t device) {
  if (Connection* connection = find(id)) lower(*connection, device);
}

void Network::close(std::uint32_t device, std::uint32_t peer) { kill(pair(device, peer).connection, device); }

void Network::stall(std::uint64_t id, std::uint32_t from) {
  Connection* connection = find(id);
  if (connection == nullptr || !connection->alive) return;
  const int side = connection->ends[0] == from ? 1 : 0;
  connection->stallDue[side] = false;
  if (!connection->queue[side].empty() && !isOpen(from, connection->ends[side])) kill(id, from);
}

void Network::stopped(std::uint32_t device) {
  for (std::uint32_t other = 0; other < devices_; ++other) {
    if (other == device || findPair(device, other) == nullptr) continue;
    if (Connection* connection = find(pair(device, other).connection)) {
      connection->up[connection->ends[0] == device ? 0 : 1] = false;  // nobody there to notice
      kill(pair(device, other).connection, device);
    }
  }
  if (!links_.empty()) newMesh(device);
}

void Network::started(std::uint32_t device) {
  if (!links_.empty()) lookAt(device, agenda_.now());
  for (std::uint32_t other = 0; other < devices_; ++other)
    if (other != device) considerDial(device, other);
}

// --- few links

bool Network::wants(std::uint32_t a, std::uint32_t b) const {
  return hooks_.reachable(a) && links_[a].mesh->dials(members_[b].device);
}

void Network::newMesh(std::uint32_t device) {
  Links& links = links_[device];
  const std::uint64_t secret = seed_ ^ (std::uint64_t{device} << 32) ^ ++links.lives;
  links.mesh = std::make_unique<node::Mesh>(members_[device].device, static_cast<std::size_t>(options_.links), secret);
  links.mesh->setMembers(members_);
  links.needs.clear();
}

void Network::setMembers(const std::vector<node::MeshMember>& members) {
  members_ = members;
  for (std::uint32_t device = 0; device < devices_; ++device) {
    if (!links_[device].mesh)
      newMesh(device);
    else
      links_[device].mesh->setMembers(members_);
    lookAt(device, agenda_.now());
  }
}

void Network::need(std::uint32_t device, std::set<std::string, std::less<>> devices) {
  Links& links = links_[device];
  if (links.needs == devices) return;
  links.needs = devices;
  links.mesh->need(std::move(devices));
  lookAt(device, agenda_.now());
}

void Network::lookAt(std::uint32_t device, Micros at) {
  Links& links = links_[device];
  if (links.lookAt >= 0 && links.lookAt <= at) return;
  links.lookAt = at;
  agenda_.add(at, StepKind::mesh, device);
}

void Network::look(std::uint32_t device) {
  Links& links = links_[device];
  if (links.lookAt != agenda_.now()) return;  // a later look took its place
  links.lookAt = -1;
  if (!hooks_.reachable(device)) return;
  const auto indexOf = [&](const std::string& name) {
    return static_cast<std::uint32_t>(std::stoul(name.substr(name.rfind('-') + 1)));
  };
  const node::Mesh::Changes changes = links.mesh->update(agenda_.now() / 1000);
  for (const std::string& name : changes.dial) considerDial(device, indexOf(name));
  if (links.mesh->full())
    for (std::uint32_t other = 0; other < devices_; ++other)
      if (other != device) considerDial(device, other);
  for (const std::string& name : changes.end) close(device, indexOf(name));
  constexpr std::int64_t kFar = 3'600'000;
  if (const std::int64_t nextMs = links.mesh->nextMs(); nextMs < agenda_.now() / 1000 + kFar)
    lookAt(device, std::max(agenda_.now() + 1, nextMs * 1000));
}

std::vector<bool> Network::reachedFrom(std::uint32_t first) const {
  std::vector<bool> reached(devices_, links_.empty());
  std::vector<std::vector<std::uint32_t>> peers(devices_);
  for (const auto& [id, connection] : connections_)
    if (connection.alive)
      for (const int end : {0, 1}) peers[connection.ends[end]].push_back(connection.ends[1 - end]);
  std::vector<std::uint32_t> open{first};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    open.insert(open.end(), peers[at].begin(), peers[at].end());
  }
  return reached;
}

// --- frames

void Network::send(std::uint32_t from, std::uint32_t to, std::string frames, Micros when) {
  Pair& between = pair(from, to);
  const std::uint64_t id = between.connection;
  Connection* connection = find(id);
  if (connection == nullptr || !connection->up[connection->ends[0] == from ? 0 : 1]) return;
  bytes_ += frames.size();
  if (!connection->alive) return;  // half open: nobody hears it
  auto& seen = between.seen[towards(to, from)];
  std::string kept;
  kept.reserve(frames.size());
  bool reset = false;
  forEachFrame(frames, [&](std::string_view frame) {
    if (reset) return;
    ++frames_;
    if (frame.size() < 2'000) {
      seen.emplace_back(frame);
      if (seen.size() > kSeenFrames) seen.pop_front();
    }
    if (chance(between, options_.resetPerMillion)) {
      reset = true;
      return;
    }
    if (static_cast<std::uint8_t>(frame[4]) >= kFirstLossy) {
      if (chance(between, options_.lossPerMillion)) return hooks_.onNetwork(from, "frame lost", to);
      if (chance(between, options_.duplicatePerMillion)) {
        hooks_.onNetwork(from, "frame repeated", to);
        dispatch(between, id, *connection, from, to, std::string(frame), when + kOvertaken, false);
      }
      if (chance(between, options_.reorderPerMillion)) {
        hooks_.onNetwork(from, "frame overtaken", to);
        const auto late = static_cast<Micros>(between.random.below(kOvertaken));
        return dispatch(between, id, *connection, from, to, std::string(frame), when + late, false);
      }
    }
    kept += frame;
  });
  if (!kept.empty()) dispatch(between, id, *connection, from, to, std::move(kept), when, true);
  if (reset) kill(id, from);
}

void Network::forge(std::uint32_t from, std::uint32_t to, std::string frames) {
  Pair& between = pair(from, to);
  Connection* connection = find(between.connection);
  if (connection == nullptr || !connection->alive) return;
  dispatch(between, between.connection, *connection, from, to, std::move(frames), agenda_.now(), true);
}

std::string Network::seen(std::uint32_t from, std::uint32_t to, std::uint64_t n) const {
  const Pair* between = findPair(from, to);
  if (between == nullptr || between->seen[towards(to, from)].empty()) return {};
  const auto& seen = between->seen[towards(to, from)];
  return seen[n % seen.size()];
}

void Network::dispatch(Pair& between, std::uint64_t id, Connection& connection, std::uint32_t from, std::uint32_t to,
                       std::string frames, Micros when, bool inOrder) {
  const int side = connection.ends[0] == to ? 0 : 1;
  Micros at = std::max(when, agenda_.now()) + delay(between, frames.size());
  if (inOrder) {
    at = std::max(at, connection.lastArrival[side] + 1);
    connection.lastArrival[side] = at;
  }
  const std::uint64_t chunk = nextChunk_++;
  hooks_.onDeparture(from, to, frames, chunk);
  chunks_.emplace(chunk, Chunk{id, from, to, std::move(frames), inOrder, false});
  if (inOrder) connection.queue[side].push_back(chunk);
  ++underWay_;
  agenda_.add(at, StepKind::arrive, to, chunk);
}

void Network::arrive(std::uint64_t number) {
  const auto at = chunks_.find(number);
  if (at == chunks_.end()) return;  // died with its connection
  Chunk& chunk = at->second;
  if (!chunk.inOrder) return hand(number);
  chunk.arrived = true;
  const Connection* connection = find(chunk.connection);
  if (connection == nullptr || !connection->alive) return hand(number);
  deliver(chunk.connection, connection->ends[0] == chunk.to ? 0 : 1);
}

// What has arrived, in order, if the direction is open; else it waits, and the sender's patience runs.
void Network::deliver(std::uint64_t id, int side) {
  Connection& connection = connections_.find(id)->second;
  const std::uint32_t to = connection.ends[side], from = connection.ends[1 - side];
  auto& queue = connection.queue[side];
  while (!queue.empty() && chunks_.find(queue.front())->second.arrived) {
    if (!isOpen(from, to)) {
      if (!std::exchange(connection.stallDue[side], true))
        agenda_.add(agenda_.now() + kLinkStall, StepKind::stall, from, id);
      return;
    }
    const std::uint64_t chunk = queue.front();
    queue.pop_front();
    hand(chunk);
  }
}

// To the device, if its end still stands.
void Network::hand(std::uint64_t number) {
  const auto at = chunks_.find(number);
  Chunk chunk = std::move(at->second);
  chunks_.erase(at);
  --underWay_;
  const Connection* connection = find(chunk.connection);
  if (connection == nullptr || !connection->alive) return;
  if (!connection->up[connection->ends[0] == chunk.to ? 0 : 1]) return;
  if (!chunk.inOrder && !isOpen(chunk.from, chunk.to)) return;
  hooks_.onArrival(chunk.to, chunk.from, chunk.frames, number);
  hooks_.onFrames(chunk.to, chunk.from, std::move(chunk.frames));
}

}  // namespace witan::sim
