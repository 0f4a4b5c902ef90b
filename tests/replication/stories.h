// The steps of which directed tests are told.
#pragma once

#include "replication/statement.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test {

// With so much beside it that a delta is shorter.
inline auto bulkyFailures(std::uint64_t n) {
  return [n](AgentState& state, const std::string& self) {
    state.consecutiveFailureCount = n;
    if (state.slots[0].version == 0) state.slots[0] = {"\"" + std::string(64, 'x') + "\"", 1, self};
  };
}
inline SessionOptions onePerSegment() {
  SessionOptions options;
  options.segmentBytes = 1;
  return options;
}
// A session with one commit a segment that dies as soon as something has happened at b.
inline void cutOnce(Device& a, Device& b, const std::function<bool()>& happened) {
  Link link(a, b, onePerSegment());
  for (int quiet = 0; !happened() && quiet < 2;) {
    if (link.queueToB().empty()) {
      while (!link.queueToA().empty()) link.deliverToA();
      link.say(1 << 20);
      quiet += link.queueToB().empty() && link.queueToA().empty() ? 1 : 0;
    } else {
      link.deliverToB();
    }
  }
  ASSERT_TRUE(happened());
}
inline void expectNoIncidents(Device& device) {
  const auto incidents = device.replica().incidents();
  for (const Incident& incident : *incidents) ADD_FAILURE() << device.name() << ": " << incident.what;
}
inline void remove(Device& device, const std::string& agent) {
  const Write write{Kind::agentState, agent, "", true};
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  device.flush();
}
inline void admit(Device& sponsor, Device& newcomer) {
  const Statement statement =
      replication::admit(*sponsor.replica().statements(), sponsor.replica().writer(), newcomer.name(), 1, "name");
  ASSERT_TRUE(sponsor.replica().addStatement(statement).ok());
  sponsor.flush();
}
inline void stabilise(Device& device) { ASSERT_TRUE(device.replica().stabilise().ok()); }

}  // namespace witan::replication::test
