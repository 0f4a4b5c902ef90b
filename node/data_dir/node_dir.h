// NodeDir: a whole device on disk: the data directory of node/data_dir/replica_dir.h with a third store, `ledgers`, and
// the Replica that runs on them with its agents. One process at a time, not thread-safe.
//
// Nothing that drain() hands out rests on a counter that the high-water record does not cover, or on a write that is
// not durable.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "node/data_dir/replica_dir.h"
#include "node/data_dir/replica_store.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

// Where the rule file of a domain is installed in a data directory, and those that are. Nodes read them when they
// start.
std::filesystem::path ruleFilePath(const std::filesystem::path& dir, std::string_view domain);
Result<std::vector<std::string>> installedRuleFiles(const std::filesystem::path& dir);

// The configuration of the replica. NodeDir::open fills in its identity and its domains.
struct NodeSetup : ReplicaConfig {
  explicit NodeSetup(std::vector<std::string> names = {}) : domainNames(std::move(names)) { partitions = 8; }
  std::vector<std::string> domainNames;  // empty: every domain of this program, and the installed rule files
};

class NodeDir {
 public:
  // Errors: as ReplicaDir::open; an unknown domain.
  static Result<std::unique_ptr<NodeDir>> open(const std::filesystem::path& dir, NodeSetup setup, Now now);
  ~NodeDir();

  Replica& replica() { return *replica_; }
  const Replica& replica() const { return *replica_; }
  const store::Store& ledgers() const { return *ledgers_; }
  store::Store& ledgers() { return *ledgers_; }
  // The three stores at one moment, after a drain. The object outlives them.
  std::vector<StoreSnapshot> snapshots() const;
  // What opening found damaged in its stores' logs, now or before (store/wal_damage.h). Also incidents, `damagedLog`.
  const std::vector<std::string>& damaged() const { return damaged_; }
  Status drain(Now now, Effects& out);
  // A clean end.
  Status close(Now now);

 private:
  explicit NodeDir(const std::filesystem::path& dir) : record_(dir) {}

  WriterRecord record_;
  std::vector<std::string> damaged_;
  std::vector<std::unique_ptr<kernel::DomainModule>> modules_;
  std::unique_ptr<store::Store> journal_, agents_, ledgers_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace witan::node
