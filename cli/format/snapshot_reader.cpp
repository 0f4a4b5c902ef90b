#include "cli/format/snapshot_reader.h"

#include <iterator>

#include "program/line_reader.h"
#include "replication/records/agent_state_codec.h"
#include "replication/records/agent_state_json.h"

namespace witan::node {

using replication::kMaxSnapshotJson;

Status SnapshotReader::readFile(const std::string& path) {
  return forEachLine(path, kMaxSnapshotJson, [&](const InputLine& line) {
    return take(line.text, line.overlong, inputName(path) + ", line " + std::to_string(line.number));
  });
}

Status SnapshotReader::take(std::string_view line, bool overlong, const std::string& place) {
  if (!overlong && line.find_first_not_of(" \t\r") == std::string_view::npos) return okStatus();
  const auto snapshot =
      overlong
          ? Result<replication::AgentSnapshot>(invalid("longer than " + std::to_string(kMaxSnapshotJson) + " bytes"))
          : replication::readSnapshot(line);
  if (!snapshot.ok()) {
    ++refused_;
    const Error& error = snapshot.error();
    refuse_(invalid(place + ": refused (" + error.message + ")",
                    error.hint.empty() ? "the other lines are merged" : error.hint));
    return okStatus();
  }
  agentIds_.insert(snapshot->agentId);
  if (agentIds_.size() > 2) agentIds_.erase(std::prev(agentIds_.end()));
  versions_.push_back(replication::toVersion(*snapshot));
  bytes_ += versions_.back().body.size();
  if (versions_.size() > kMaxSnapshots || bytes_ > kMaxSnapshotBytes)
    return invalid(place + ": more than " + std::to_string(kMaxSnapshots) + " snapshots or " +
                       std::to_string(kMaxSnapshotBytes) + " bytes of them",
                   "merge fewer at a time");
  return okStatus();
}

Result<std::string> SnapshotReader::agentId() const {
  if (agentIds_.empty())
    return invalid("no snapshot in the input (every line was blank or refused)", "see: witan state merge --help");
  if (agentIds_.size() > 1)
    return invalid("snapshots of different agents (" + *agentIds_.begin() + " and " + *agentIds_.rbegin() + ")",
                   "merge one agent at a time");
  return *agentIds_.begin();
}

}  // namespace witan::node
