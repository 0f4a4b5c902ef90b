// Any text as an agent's snapshot in JSON. What is accepted has one canonical text, survives the stored form, and a
// view of it alone says what it says.
#pragma once

#include <string_view>

#include "base/check.h"
#include "replication/records/agent_state.h"
#include "replication/records/agent_state_json.h"

namespace witan::fuzz {

inline void fuzzAgentSnapshot(std::string_view text) {
  using namespace replication;
  const auto snapshot = readSnapshot(text);
  if (!snapshot.ok()) return;
  const std::string canonical = toJson(snapshotRow(*snapshot));
  const auto again = readSnapshot(canonical);
  WITAN_CHECK(again.ok() && *again == *snapshot && toJson(snapshotRow(*again)) == canonical, "a snapshot has one text");
  const auto stored = toSnapshot(snapshot->agentId, toVersion(*snapshot));
  WITAN_CHECK(stored.ok() && *stored == *snapshot, "a snapshot survives its stored form");
  const AgentView alone = viewOf({&*snapshot, 1}, nullptr);
  WITAN_CHECK(alone.vc == snapshot->vc && alone.state.lifecycle == snapshot->state.lifecycle,
              "the view of one snapshot is the snapshot");
  WITAN_CHECK(toJson(viewRow(snapshot->agentId, alone)).size() > 2, "a view has a text");
}

}  // namespace witan::fuzz
