// Snapshots of one agent from files of JSON Lines, for `witan state merge`.
//
// A line that is no snapshot is refused and the others are taken; what was read does not depend on how the lines are
// spread over files or ordered. Limits: kMaxSnapshotJson bytes a line, kMaxSnapshots lines, kMaxSnapshotBytes of all
// states. Not thread-safe.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "replication/vector_clock.h"

namespace witan::node {

inline constexpr std::size_t kMaxSnapshots = 1'000'000;
inline constexpr std::size_t kMaxSnapshotBytes = std::size_t{1} << 30;

class SnapshotReader {
 public:
  // `refuse` is told of every line that is refused, with file, line and cause.
  explicit SnapshotReader(std::function<void(const Error&)> refuse) : refuse_(std::move(refuse)) {}

  // A path, or - for standard input. Blank lines are skipped. Errors: cannot be read, limits.
  Status readFile(const std::string& path);

  std::size_t refused() const { return refused_; }
  // The agent whose snapshots these are. Errors: there is none; there are two, named.
  Result<std::string> agentId() const;
  std::vector<replication::Version> takeVersions() && { return std::move(versions_); }

 private:
  Status take(std::string_view line, bool overlong, const std::string& place);

  std::function<void(const Error&)> refuse_;
  std::size_t refused_ = 0;
  std::size_t bytes_ = 0;
  std::set<std::string> agentIds_;  // the two smallest that occurred
  std::vector<replication::Version> versions_;
};

}  // namespace witan::node
