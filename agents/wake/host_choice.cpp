#include "agents/wake/host_choice.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"
#include "replication/records/record_write.h"

namespace witan::agents {

using replication::Kind;

namespace {

constexpr std::size_t kNamedAtOnce = 512;  // links of the longest ids that a commit has room for

// The ids together may be longer than a key.
std::string linkKeys(std::string_view agentId, std::string_view device) {
  return concat(kHostingLinks, toHex(sha256(concat("v1|hosts|", agentId, "|", device))), "/");
}

enum class Slot { unused, live, takenBack };

Slot slotAt(replication::Space& space, const std::string& key) {
  const replication::Record* record = space.table().find(Kind::link, key);
  if (record == nullptr) return Slot::unused;
  const auto& held = record->versions;
  const bool live = std::ranges::any_of(held, [](const replication::Held* h) { return !h->tombstone; });
  return live ? Slot::live : Slot::takenBack;
}

// The first keys of (agent, device) whose slots are in this state, at most `most`. Each key costs a lookup, and every
// round of wakes asks.
std::vector<std::string> keysThatAre(Slot state, replication::Space& space, std::string_view agentId,
                                     std::string_view device, std::size_t most) {
  std::vector<std::string> out;
  const std::string keys = linkKeys(agentId, device);
  for (int n = 0; n < kHostingKeys && out.size() < most; ++n)
    if (const std::string key = concat(keys, n); slotAt(space, key) == state) out.push_back(key);
  return out;
}

bool hosts(replication::Space& space, std::string_view agentId, std::string_view device) {
  return !keysThatAre(Slot::live, space, agentId, device, 1).empty();
}

}  // namespace

std::vector<std::string> rankedHosts(std::string_view agentId, std::span<const std::string> devices) {
  std::vector<std::pair<Hash, std::string>> ranked;
  for (const std::string& device : devices)
    ranked.emplace_back(sha256(concat("v1|host|", agentId, "|", device)), device);
  std::ranges::sort(ranked);
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> out;
  for (auto& [hash, device] : ranked) out.push_back(std::move(device));
  return out;
}

Result<std::vector<replication::Write>> hostingWrites(replication::Space& space, std::string_view agentId,
                                                      std::string_view device) {
  if (hosts(space, agentId, device)) return std::vector<replication::Write>{};
  const std::vector<std::string> free = keysThatAre(Slot::unused, space, agentId, device, 1);
  if (!free.empty()) {
    const replication::LinkBody body{free.front(), std::string(agentId), std::string(agentId), std::string(device),
                                     std::string(kHostsRelation)};
    WITAN_TRY(write, replication::recordWrite(free.front(), body));
    return std::vector{std::move(write)};
  }
  return unavailable(concat("agent ", agentId, " was given to and taken from device ", device, " ", kHostingKeys,
                            " times since every device heard of it"),
                     "try again when all devices have synchronised");
}

std::vector<replication::Write> unhostingWrites(replication::Space& space, std::string_view agentId,
                                                std::string_view device) {
  std::vector<replication::Write> out;
  for (const std::string& key : keysThatAre(Slot::live, space, agentId, device, kHostingKeys))
    out.push_back({Kind::link, key, {}, true});
  return out;
}

Result<std::vector<replication::Write>> unhostingAllBut(replication::Space& space, std::string_view device,
                                                        const std::set<std::string, std::less<>>& kept) {
  std::set<std::string> gone;
  for (const std::string& key : space.keys(Kind::link, kHostingLinks)) {
    WITAN_TRY(versions, space.versions(Kind::link, key));
    for (const replication::Version& version : versions) {
      if (version.tombstone) continue;
      auto link = replication::decodeRecord<replication::LinkBody>(version.body);
      if (link.ok() && link->to == device && link->relation == kHostsRelation && !kept.contains(link->agentId))
        gone.insert(std::move(link->agentId));
    }
  }
  std::vector<replication::Write> out;
  for (const std::string& agentId : gone) {
    if (keysThatAre(Slot::unused, space, agentId, device, 1).empty()) continue;
    for (replication::Write& write : unhostingWrites(space, agentId, device)) out.push_back(std::move(write));
  }
  return out;
}

Result<std::vector<replication::Write>> namingWrites(replication::Space& space, std::string_view device,
                                                     const std::set<std::string, std::less<>>& here) {
  WITAN_TRY(out, unhostingAllBut(space, device, here));
  for (const std::string& agentId : here) {
    WITAN_TRY(writes, hostingWrites(space, agentId, device));
    out.insert(out.end(), std::make_move_iterator(writes.begin()), std::make_move_iterator(writes.end()));
  }
  return std::move(out);
}

Status commitNaming(replication::LocalReplica& replica, const std::string& scope,
                    std::span<const replication::Write> writes) {
  while (!writes.empty()) {
    const std::size_t count = std::min(writes.size(), kNamedAtOnce);
    WITAN_DO(replica.commit(replication::DatabaseName::agents, scope, writes.first(count)));
    writes = writes.subspan(count);
  }
  return okStatus();
}

std::vector<std::string> hostsAmong(replication::Space& space, std::string_view agentId,
                                    std::span<const std::string> devices) {
  std::vector<std::string> out;
  for (const std::string& device : devices)
    if (hosts(space, agentId, device)) out.push_back(device);
  return out;
}

}  // namespace witan::agents
