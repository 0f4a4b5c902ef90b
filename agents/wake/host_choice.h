// Which device runs a wake: rendezvous hashing among the devices that host the agent and can be reached.
//
// Every device ranks them alike: by SHA-256 of "v1|host|{agentId}|{device}", smallest first (Thaler, Ravishankar 1998).
// When a device comes or goes, only its own agents move. Pure functions but for the readers of records.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/local_replica.h"

namespace witan::agents {

inline constexpr std::string_view kHostsRelation = "hosts";
inline constexpr std::string_view kHostingLinks = "hosts/";  // the beginning of their keys

// First choice first; each once. O(n log n).
std::vector<std::string> rankedHosts(std::string_view agentId, std::span<const std::string> devices);

// A record of a link is never written again once it was taken back, so each (agent, device) has a few keys in turn.
// They are free again when every device has seen the end of what stood there.
inline constexpr int kHostingKeys = 16;

// The writes that say that a device hosts an agent; empty: a record says so already. Errors: ids; taken back too often
// of late.
Result<std::vector<replication::Write>> hostingWrites(replication::Space& space, std::string_view agentId,
                                                      std::string_view device);
// The writes that revoke it. A concurrent hosting record of another device wins.
std::vector<replication::Write> unhostingWrites(replication::Space& space, std::string_view agentId,
                                                std::string_view device);

// The writes that revoke all hosting of the device but `kept`: it was started without them, and others would wait for
// it. An agent of whose keys none is left to give it again stays the device's. O(hosting links).
Result<std::vector<replication::Write>> unhostingAllBut(replication::Space& space, std::string_view device,
                                                        const std::set<std::string, std::less<>>& kept);

// Both, for a device that runs the agents `here` and no others. Errors: as hostingWrites.
Result<std::vector<replication::Write>> namingWrites(replication::Space& space, std::string_view device,
                                                     const std::set<std::string, std::less<>>& here);

// Of more agents than one commit has room for, too. Errors: of the replica.
Status commitNaming(replication::LocalReplica& replica, const std::string& scope,
                    std::span<const replication::Write> writes);

// Those of `devices` that host the agent by record. O(devices).
std::vector<std::string> hostsAmong(replication::Space& space, std::string_view agentId,
                                    std::span<const std::string> devices);

}  // namespace witan::agents
