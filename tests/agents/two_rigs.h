// Two devices with agents that meet, are cut off, and are compared.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/agents/host_rig.h"

namespace witan::agents::test {

inline void connect(HostRig& a, HostRig& b) {
  replication::test::Link link(a.device(), b.device());
  link.run();
}
inline void meet(HostRig& a, HostRig& b, bool live) {
  const std::vector<std::string> all{a.device().name(), b.device().name()};
  a.host().setDevices(all, live ? std::set<std::string>{b.device().name()} : std::set<std::string>{}, a.now());
  b.host().setDevices(all, live ? std::set<std::string>{a.device().name()} : std::set<std::string>{}, b.now());
}
// A connection: what one does the other hears of.
inline void together(HostRig& a, HostRig& b, int rounds) {
  meet(a, b, true);
  for (int i = 0; i < rounds; ++i) {
    connect(a, b);
    ASSERT_TRUE(a.round().ok() && b.round().ok());
    a.ms += 500, b.ms += 500;
  }
}
inline void expectEqualStores(HostRig& a, HostRig& b) {
  EXPECT_EQ(a.device().journal().digest(), b.device().journal().digest());
  EXPECT_EQ(a.device().agents().digest(), b.device().agents().digest());
  EXPECT_TRUE(a.host().quiet() && b.host().quiet());
}

inline std::vector<std::string> incidentsOf(HostRig& rig) {
  std::vector<std::string> all;
  const std::vector<replication::Incident> incidents = *rig.device().replica().incidents();
  for (const replication::Incident& incident : incidents) all.push_back(concat(incident.kind, ": ", incident.what));
  return all;
}

}  // namespace witan::agents::test
