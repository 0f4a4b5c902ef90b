// What happens to the disks of the devices of cluster.h, and what their members say and see: for the tests about
// copies that went back in time.
#pragma once

#include <string>
#include <vector>

#include "tests/replication/cluster.h"

namespace witan::replication::test {

// Copies a disk: everything that is in `from`, and nothing else.
inline void copyDisk(const store::MemoryStore& from, store::MemoryStore& to) {
  store::WriteBatch batch;
  ASSERT_TRUE(to.scan({}, {}, [&](std::string_view key, std::string_view) {
                  batch.erase(key);
                  return true;
                }).ok());
  ASSERT_TRUE(from.scan({}, {},
                        [&](std::string_view key, std::string_view value) {
                          batch.put(key, value);
                          return true;
                        })
                  .ok());
  ASSERT_TRUE(to.writeSynced(batch).ok());
}

// The disks of a device at one moment.
struct Backup {
  store::MemoryStore journal, agents;
  std::string highWater;
};
inline void backUp(Device& device, Backup& into) {
  device.flush();
  copyDisk(device.journalStore(), into.journal);
  copyDisk(device.agentStore(), into.agents);
  into.highWater = formatHighWater(device.replica().highWater());
}

inline void admitOthers(Device& sponsor, const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    const auto known = sponsor.replica().statements();
    ASSERT_TRUE(sponsor.replica().addStatement(admit(*known, sponsor.replica().writer(), device, 1, device)).ok());
  }
  sponsor.flush();
}
inline void removeAgent(Device& device, const std::string& agent) {
  const Write gone{Kind::agentState, agent, "", true};
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
}

}  // namespace witan::replication::test
