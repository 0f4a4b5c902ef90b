// CausalDelivery: units of many writers, made into one order in which each comes after its causes and exactly once: the
// event lane of live sync.
//
// A unit may be delivered when it is its writer's next and what it depends on has been delivered. A unit names only
// the clock entries that changed since its writer's previous one; since a writer's units are delivered in order, that
// is all of its history. Units that come too early wait, within bounds; beyond them the latest of a writer is dropped
// and wanted() says from where to pull. Sans-I/O, not thread-safe. The same arrivals give the same deliveries.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "replication/vector_clock.h"

namespace witan::replication {

struct EventUnit {
  Dot dot;
  VectorClock deps;  // its own writer's entry is ignored
  std::string payload;

  friend bool operator==(const EventUnit&, const EventUnit&) = default;
};

struct ReorderLimits {
  std::size_t units = 1024;         // waiting, of one writer
  std::size_t bytes = 1024 * 1024;  // of their payloads and dependencies
  std::size_t allBytes = 64 << 20;  // of all writers
  std::size_t writers = 4096;       // with a unit delivered, and with units waiting
  std::size_t dependencies = 4096;  // of one unit
};

enum class UnitArrival {
  accepted,   // delivered now, or waiting
  duplicate,  // delivered before, covered, or waiting already
  dropped,    // no room: wanted() names it
  malformed,  // no writer, counter 0, or too many dependencies
};

const char* toString(UnitArrival arrival);

class CausalDelivery {
 public:
  explicit CausalDelivery(ReorderLimits limits = {}) : limits_(limits) {}

  // What became deliverable is appended to `out`. O(log n) for each unit.
  UnitArrival offer(EventUnit unit, std::vector<EventUnit>& out);

  // Everything up to there arrived by other means (catch-up). Requires: a clock that some replica had, so that with a
  // unit it covers the unit's causes. Units below that come later are duplicates.
  void covered(const VectorClock& upTo, std::vector<EventUnit>& out);

  const VectorClock& delivered() const { return delivered_; }
  // Where to pull from: for each writer of whom a unit was dropped, or a waiting unit needs something, its first
  // missing unit. O(writers that wait).
  std::vector<Dot> wanted() const;

  std::size_t waiting() const;
  std::size_t waitingBytes() const { return bytes_; }

 private:
  struct Lane {
    std::map<std::uint64_t, EventUnit> units;  // that wait, by counter
    std::size_t bytes = 0;
    Dot waitsFor;  // of the writer's next unit; no host: for nothing that is known
  };

  bool makeRoom(const EventUnit& unit, std::size_t bytes);
  void erase(const std::string& host, std::uint64_t counter);
  void drain(std::set<std::string> hosts, std::vector<EventUnit>& out);
  bool deliverNext(const std::string& host, std::vector<EventUnit>& out);
  void wake(const std::string& host, std::set<std::string>& hosts);
  void stopWaiting(const std::string& host, Lane& lane);
  void noteDropped(const std::string& host, std::uint64_t counter);
  void forgetDropped(const std::string& host);

  ReorderLimits limits_;
  VectorClock delivered_;
  std::map<std::string, Lane> lanes_;  // no empty ones
  // Writers whose next unit waits for a unit of this host: (its counter, the writer). One entry for each lane at most.
  std::map<std::string, std::set<std::pair<std::uint64_t, std::string>>> blocked_;
  std::map<std::string, std::uint64_t> dropped_;  // the largest counter dropped of a writer
  std::size_t bytes_ = 0;
};

}  // namespace witan::replication
