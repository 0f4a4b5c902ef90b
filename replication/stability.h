// Stability: what every device of the cluster has committed, and so what nobody needs to be told about any more.
//
// A version's context may shrink to its dot, and a tombstone's row may go, only once every active device has
// acknowledged them (rule 4 of sync: 4,888 of 10,000 simulated runs diverged otherwise). No clock decides: a device
// that is cut off holds this up, never sync itself, and the operator is told after 90 days.
//
// An ack is what a device committed durably, by its own word. Clocks only grow and join by maximum, so acks may be
// gossiped, repeated and reordered. One obligation on who carries them: statements of membership go before the acks
// given under them; else an ack could count that was given after its device had admitted another of which the receiver
// does not know. Values; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "replication/vector_clock.h"

namespace witan::replication {

inline constexpr std::int64_t kHoldupAlarmMs = 90LL * 24 * 60 * 60 * 1000;

// A device that others wait for.
struct Holdup {
  std::string device;
  std::optional<std::int64_t> silentMs;  // since its last ack, or since it is expected; none: nobody said when
  std::vector<std::string> spaces;       // in which it lacks something that another active device has
  bool alarm = false;                    // silent for at least the limit
  std::string text;                      // for people

  friend bool operator==(const Holdup&, const Holdup&) = default;
};

class AckTable {
 public:
  // `committed` joins what is known of the device. True if that said anything new. Times are the caller's own, in ms,
  // and stay here: neither digest nor delta has them. O(devices + entries).
  bool record(std::string_view space, std::string_view device, const VectorClock& committed, std::int64_t atMs);
  // Since when acks of a new member are awaited, for the alarm.
  void expect(std::string_view device, std::int64_t atMs);
  // Everything that another table knows; true if anything was new. Devices whose clocks grew count as heard at `atMs`.
  bool join(const AckTable& other, std::int64_t atMs);
  // Forgets all others: after a retirement, and after every join. `devices` sorted.
  void keepOnly(std::span<const std::string> devices);

  // Null: never heard of.
  const VectorClock* find(std::string_view space, std::string_view device) const;
  // Empty if never heard of.
  VectorClock acked(std::string_view space, std::string_view device) const;

  // The pointwise minimum over `devices` (Membership::presentDevices()); one that was never heard of counts as empty.
  // With no devices nothing is stable.
  VectorClock stable(std::string_view space, std::span<const std::string> devices) const;

  // Equal digests: equal acks. O(all).
  Hash digest() const;

  // The devices that lack commits which another one has acked: the longest silent first, then by name. Of a space those
  // count for which it waits.
  using WaitedFor = std::function<std::vector<std::string>(const std::string& space)>;
  std::vector<Holdup> holdups(const WaitedFor& waitedFor, std::int64_t nowMs,
                              std::int64_t limitMs = kHoldupAlarmMs) const;

  using Devices = std::map<std::string, VectorClock, std::less<>>;
  // By space, then device: what a message carries. No empty clocks.
  const std::map<std::string, Devices, std::less<>>& entries() const { return spaces_; }
  bool empty() const { return spaces_.empty(); }

 private:
  std::map<std::string, Devices, std::less<>> spaces_;
  std::map<std::string, std::int64_t, std::less<>> heardMs_;
};

}  // namespace witan::replication
