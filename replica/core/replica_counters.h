// Notices and counters of a Replica: metrics, and the coverage probes of the simulator. Value types.
#pragma once

#include <cstdint>
#include <string>

#include "base/reflect.h"
#include "replica/core/etcd_options.h"

namespace witan::node {

// Something that an operator should see, at the moment it happened; incidents are kept besides.
struct Notice {
  std::string kind;  // handover, seizure, owner, surplus, fork, wentBack, badFrame, session ends
  std::string partition;
  std::string what;
};

// How often rare things happened since open().
struct ReplicaCounters {
  std::uint64_t decided = 0, duplicates = 0, frozen = 0, forwarded = 0, retries = 0, redirects = 0;
  std::uint64_t boundElsewhere = 0;  // proposals rejected because their run is bound to another plan
  std::uint64_t batchesSent = 0, batchesFollowed = 0, batchesRepeated = 0, gaps = 0, resent = 0;
  std::uint64_t zombieRefused = 0;  // entries of an epoch that is over
  std::uint64_t fenced = 0;         // requests an old owner no longer decided
  std::uint64_t notAllowed = 0;     // requests of devices that may not make them
  std::uint64_t surplusEntries = 0, handovers = 0, seizures = 0, forks = 0, wentBack = 0, badFrames = 0;
  EtcdCounters etcd;
  WITAN_MEMBERS(ReplicaCounters, decided, duplicates, frozen, forwarded, retries, redirects, batchesSent,
                batchesFollowed, batchesRepeated, gaps, resent, zombieRefused, fenced, surplusEntries, handovers,
                seizures, forks, wentBack, badFrames, boundElsewhere, notAllowed)
};

}  // namespace witan::node
