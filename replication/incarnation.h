// Incarnations: the tripwires that keep a device from using a dot twice (reference: riak_kv#679, syncthing#3876).
//
// A store that went back in time (restored, rolled back, copied to a second machine) would give dots away again, and
// other devices drop them as already known: lost updates. What notices it:
//   1. the high-water record, a file beside the store: counters are leased before they are used (decideIncarnation);
//   2. a peer that knows more of this writer than this writer ever issued (judgeOwnClaim);
//   3. one dot with two contents (space_sync.h), if both failed: a restore within one lease after a crash, a clone.
// After 1 and 2 the device goes on under a new writer (replication/writer.h). Pure functions, any thread; the driver
// reads, writes and syncs the file, and syncs it before a counter of a new lease is used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replication/vector_clock.h"

namespace witan::replication {

inline constexpr std::uint64_t kLeaseCounters = 4096;
inline constexpr std::uint64_t kMaxCounterJump = std::uint64_t{1} << 40;
inline constexpr unsigned kMaxRollbacksByPeer = 3;
inline constexpr std::size_t kMaxHighWaterBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kMaxHighWaterSpaces = 16'384;

// Counters that may be used: above `from`, which the store had when the lease was written, up to `to`. Closed properly:
// to == from, and the store has exactly that.
struct Lease {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  friend bool operator==(const Lease&, const Lease&) = default;
};

struct HighWater {
  std::string writer;
  std::map<std::string, Lease, std::less<>> spaces;
  friend bool operator==(const HighWater&, const HighWater&) = default;
};

// Lines of text with a SHA-256 over them at the end. Parsing refuses (corrupt) anything that formatHighWater would not
// have written, with the line and the cause.
std::string formatHighWater(const HighWater& record);
Result<HighWater> parseHighWater(std::string_view text);

// The lease to write when the store is at `counter`; when a new one is due: half of it used, so that the sync of the
// file need not be waited for; and the one for a proper end.
Lease leaseFrom(std::uint64_t counter);
bool leaseIsDue(const Lease& lease, std::uint64_t counter);
bool leaseCovers(const Lease& lease, std::uint64_t counter);  // may be issued
Lease closedLease(std::uint64_t counter);

// The store's record: its writer (none: it was just made) and the last counter that it issued, by space.
struct StoreIncarnation {
  std::optional<std::string> writer;
  std::map<std::string, std::uint64_t, std::less<>> counters;
};

enum class IncarnationCause { none, freshStore, noRecord, damagedRecord, otherWriter, storeBehind, storeAhead };

const char* toString(IncarnationCause cause);

struct IncarnationDecision {
  IncarnationCause cause = IncarnationCause::none;  // none: go on under the writer of the store
  std::string why;                                  // for people; empty with none
  bool newIncarnation() const { return cause != IncarnationCause::none; }
};

// At start. `record`: none if there is no file; an error if parseHighWater refused it.
IncarnationDecision decideIncarnation(const StoreIncarnation& store, const std::optional<Result<HighWater>>& record);

enum class ClaimVerdict {
  plausible,
  rolledBack,  // take a new incarnation before the next write
  lie,         // quarantine the peer, tell the operator
};

const char* toString(ClaimVerdict verdict);

struct ClaimJudgement {
  ClaimVerdict verdict = ClaimVerdict::plausible;
  std::string why;  // for people; empty if plausible
};

// A peer's claim about this device's own present writer.
struct OwnClaim {
  std::string peer;
  std::string space;
  std::string writer;
  std::uint64_t claimed = 0;
  std::uint64_t issued = 0;      // by the store, last
  bool bornHere = false;         // the writer was made by this very process: no earlier life can have issued more
  unsigned rollbacksByPeer = 0;  // how often a claim of this peer was believed already
};
ClaimJudgement judgeOwnClaim(const OwnClaim& claim);

// Judges a peer's claim about this device's acknowledgements by this device's knowledge: a counter that is more than
// 2^40 ahead of it is a lie; nobody commits a million times a second for twelve days unnoticed, and believing it would
// bar the writer's real units. Names the first such entry. O(n).
ClaimJudgement judgeClock(std::string_view peer, std::string_view space, const VectorClock& known,
                          const VectorClock& claimed);

}  // namespace witan::replication
