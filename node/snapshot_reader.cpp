#include "node/snapshot_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>

#include "replication/agent_state_codec.h"
#include "replication/agent_state_json.h"

namespace witan::node {

using replication::kMaxSnapshotJson;

namespace {

constexpr std::size_t kChunk = 64 * 1024;

}  // namespace

Status SnapshotReader::readFile(const std::string& path) {
  if (path == "-") return readLines(stdin, "standard input");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr)
    return ioFailed("cannot open " + path + " (" + std::strerror(errno) + ")", "give files of JSON Lines, or -");
  return readLines(file.get(), path);
}

Status SnapshotReader::readLines(std::FILE* file, const std::string& name) {
  const auto buffer = std::make_unique<char[]>(kChunk);
  std::string line;
  bool overlong = false;
  std::size_t number = 1;
  const auto place = [&] { return name + ", line " + std::to_string(number); };
  while (const std::size_t got = std::fread(buffer.get(), 1, kChunk, file)) {
    std::string_view rest(buffer.get(), got);
    for (std::size_t end; !rest.empty(); rest.remove_prefix(std::min(end + 1, rest.size()))) {
      end = std::min(rest.find('\n'), rest.size());
      overlong = overlong || line.size() + end > kMaxSnapshotJson;
      if (!overlong) line += rest.substr(0, end);
      if (end == rest.size()) break;
      WITAN_DO(take(line, overlong, place()));
      line.clear();
      overlong = false;
      ++number;
    }
  }
  if (std::ferror(file) != 0)
    return ioFailed("cannot read " + name + " (" + std::strerror(errno) + ")", "give files of JSON Lines, or -");
  return take(line, overlong, place());
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
