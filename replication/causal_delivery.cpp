#include "replication/causal_delivery.h"

#include <algorithm>

#include "base/check.h"

namespace witan::replication {

namespace {

std::size_t sizeOf(const EventUnit& unit) {
  std::size_t bytes = sizeof(EventUnit) + unit.dot.host.size() + unit.payload.size();
  for (const auto& [host, counter] : unit.deps.entries()) bytes += host.size() + sizeof(VectorClock::Entry);
  return bytes;
}

}  // namespace

const char* toString(UnitArrival arrival) {
  switch (arrival) {
    case UnitArrival::accepted: return "accepted";
    case UnitArrival::duplicate: return "duplicate";
    case UnitArrival::dropped: return "dropped";
    case UnitArrival::malformed: return "malformed";
  }
  return "?";
}

UnitArrival CausalDelivery::offer(EventUnit unit, std::vector<EventUnit>& out) {
  if (unit.dot.host.empty() || unit.dot.counter == 0 || unit.deps.entries().size() > limits_.dependencies)
    return UnitArrival::malformed;
  const std::string host = unit.dot.host;
  const std::uint64_t counter = unit.dot.counter;
  if (delivered_.covers(unit.dot)) return UnitArrival::duplicate;
  const auto lane = lanes_.find(host);
  if (lane != lanes_.end() && lane->second.units.contains(counter)) return UnitArrival::duplicate;

  // The clock of what was delivered must not grow for ever either.
  if (delivered_.at(host) == 0 && delivered_.entries().size() >= limits_.writers) return UnitArrival::dropped;

  const std::size_t bytes = sizeOf(unit);
  // What can go at once needs no room.
  const bool next = counter == delivered_.at(host) + 1;
  const bool ready = next && std::all_of(unit.deps.entries().begin(), unit.deps.entries().end(), [&](const auto& e) {
                       return e.first == host || delivered_.at(e.first) >= e.second;
                     });
  if (!ready && !makeRoom(unit, bytes)) {
    noteDropped(host, counter);
    return UnitArrival::dropped;
  }
  Lane& to = lanes_[host];
  to.units.emplace(counter, std::move(unit));
  to.bytes += bytes;
  bytes_ += bytes;
  if (next) drain({host}, out);
  return UnitArrival::accepted;
}

// Keeps the units that come first: those further ahead make room for it, not the other way round.
bool CausalDelivery::makeRoom(const EventUnit& unit, std::size_t bytes) {
  const std::string& host = unit.dot.host;
  auto lane = lanes_.find(host);
  if (lane == lanes_.end() && lanes_.size() >= limits_.writers) return false;
  const auto fits = [&] {
    const bool any = lane != lanes_.end();
    return (any ? lane->second.units.size() : 0) < limits_.units &&
           (any ? lane->second.bytes : 0) + bytes <= limits_.bytes && bytes_ + bytes <= limits_.allBytes;
  };
  while (!fits()) {
    if (lane == lanes_.end()) return false;
    const std::uint64_t last = lane->second.units.rbegin()->first;
    if (last < unit.dot.counter) return false;
    noteDropped(host, last);
    erase(host, last);
    lane = lanes_.find(host);
  }
  return true;
}

void CausalDelivery::noteDropped(const std::string& host, std::uint64_t counter) {
  const auto found = dropped_.find(host);
  if (found != dropped_.end())
    found->second = std::max(found->second, counter);
  else if (dropped_.size() < limits_.writers)
    dropped_.emplace(host, counter);
}

void CausalDelivery::forgetDropped(const std::string& host) {
  const auto found = dropped_.find(host);
  if (found != dropped_.end() && found->second <= delivered_.at(host)) dropped_.erase(found);
}

void CausalDelivery::stopWaiting(const std::string& host, Lane& lane) {
  if (lane.waitsFor.host.empty()) return;
  if (const auto row = blocked_.find(lane.waitsFor.host); row != blocked_.end()) {
    row->second.erase({lane.waitsFor.counter, host});
    if (row->second.empty()) blocked_.erase(row);
  }
  lane.waitsFor = {};
}

void CausalDelivery::erase(const std::string& host, std::uint64_t counter) {
  const auto lane = lanes_.find(host);
  const auto unit = lane->second.units.find(counter);
  const std::size_t bytes = sizeOf(unit->second);
  if (unit == lane->second.units.begin()) stopWaiting(host, lane->second);
  lane->second.bytes -= bytes;
  bytes_ -= bytes;
  lane->second.units.erase(unit);
  if (lane->second.units.empty()) lanes_.erase(lane);
}

// Delivers what can be delivered, starting from the next units of `hosts`.
void CausalDelivery::drain(std::set<std::string> hosts, std::vector<EventUnit>& out) {
  while (!hosts.empty()) {
    const std::string host = *hosts.begin();
    if (deliverNext(host, out))
      wake(host, hosts);
    else
      hosts.erase(hosts.begin());
  }
}

bool CausalDelivery::deliverNext(const std::string& host, std::vector<EventUnit>& out) {
  const auto lane = lanes_.find(host);
  if (lane == lanes_.end()) return false;
  const auto first = lane->second.units.begin();
  if (first->first != delivered_.at(host) + 1) return false;
  stopWaiting(host, lane->second);
  for (const auto& [other, counter] : first->second.deps.entries())
    if (other != host && delivered_.at(other) < counter) {
      lane->second.waitsFor = {other, counter};
      blocked_[other].emplace(counter, host);
      return false;
    }
  const std::size_t bytes = sizeOf(first->second);
  delivered_.raise(host, first->first);
  out.push_back(std::move(first->second));
  lane->second.bytes -= bytes;
  bytes_ -= bytes;
  lane->second.units.erase(first);
  if (lane->second.units.empty()) lanes_.erase(lane);
  forgetDropped(host);
  return true;
}

// Whose next unit waited for what is now delivered of `host` may try again; it then waits for something else or goes.
void CausalDelivery::wake(const std::string& host, std::set<std::string>& hosts) {
  const auto waiting = blocked_.find(host);
  if (waiting == blocked_.end()) return;
  const std::uint64_t now = delivered_.at(host);
  auto& set = waiting->second;
  while (!set.empty() && set.begin()->first <= now) {
    hosts.insert(set.begin()->second);
    set.erase(set.begin());
  }
  if (set.empty()) blocked_.erase(waiting);
}

void CausalDelivery::covered(const VectorClock& upTo, std::vector<EventUnit>& out) {
  std::set<std::string> hosts;
  for (const auto& [host, counter] : upTo.entries()) {
    if (delivered_.at(host) >= counter) continue;
    delivered_.raise(host, counter);
    while (lanes_.contains(host) && lanes_.at(host).units.begin()->first <= counter)
      erase(host, lanes_.at(host).units.begin()->first);
    forgetDropped(host);
    hosts.insert(host);
    wake(host, hosts);
  }
  drain(std::move(hosts), out);
}

std::vector<Dot> CausalDelivery::wanted() const {
  VectorClock known;  // what is known to exist, of each writer
  for (const auto& [host, lane] : lanes_) {
    known.raise(host, lane.units.rbegin()->first);
    if (!lane.waitsFor.host.empty()) known.raise(lane.waitsFor.host, lane.waitsFor.counter);
  }
  for (const auto& [host, counter] : dropped_) known.raise(host, counter);
  std::vector<Dot> out;
  for (const auto& [host, counter] : known.entries()) {
    std::uint64_t missing = delivered_.at(host) + 1;
    if (const auto lane = lanes_.find(host); lane != lanes_.end())
      while (lane->second.units.contains(missing)) ++missing;
    if (missing <= counter) out.push_back({host, missing});
  }
  return out;
}

std::size_t CausalDelivery::waiting() const {
  std::size_t count = 0;
  for (const auto& [host, lane] : lanes_) count += lane.units.size();
  return count;
}

}  // namespace witan::replication
