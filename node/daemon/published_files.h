// PublishedFiles: agents (ID.agent.toml) and rules (DOMAIN.domain.toml) that the cluster's admin gives to all devices.
// Each version is a signed document (replication/records/signed_document.h), a record of the agents' database under
// NAME/DIGEST that never changes, so it travels through anybody and counts only with the admin's signature. A device
// that has one keeps it in DIR/published and puts its text where nodes read such files when they start: DIR/agents,
// DIR/rules. Each version of an agent stays in DIR/agents/versions, for the replay of its runs. A published rule file
// never takes the place of another one of its name: ledgers may be of that. A file that a device cannot start with does
// not come in, as it is not published. The way back is a version without a text: it takes the file away again.
//
// The admin's key is the one that signs rosters. Once it is replaced nothing that it signed comes in any more, since it
// may have been stolen; what came in before stays until the present key signs another version.
//
// Belongs to a Daemon, on its loop's thread; replica, ledgers, configuration and rosters outlive it.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "node/cluster/roster_store.h"
#include "node/config/daemon_config.h"
#include "node/data_dir/published_document.h"
#include "replication/arrivals.h"
#include "replication/local_replica.h"
#include "store/store.h"

namespace witan::node {

class PublishedFiles {
 public:
  PublishedFiles(replication::LocalReplica& replica, const store::Store& ledgers, const DaemonConfig& config,
                 std::filesystem::path dir, const RosterStore& rosters)
      : replica_(replica), ledgers_(ledgers), config_(config), dir_(std::move(dir)), rosters_(rosters) {}

  // As the next version. It is durable with the next flush of the agents' database, and look() finds it. Errors:
  // invalid, the text is not what its name says, or no node would start with it; conflict, other rules of this name are
  // there.
  Result<PublishedFile> publish(const std::string& name, const std::string& text, const SigningKey& admin);
  // The next version takes it away from all devices. Errors: notFound; conflict, a ledger here is of these rules.
  Result<PublishedFile> withdraw(const std::string& name, const SigningKey& admin);
  // Takes in what has come since the last look. What happened to each, in words. Errors: of the store or the disk.
  Result<std::vector<std::string>> look();
  // The version of each that counts, by name.
  Result<std::vector<PublishedFile>> all();

 private:
  // The version that counts, and its document; what counts for nothing, in words.
  struct Found {
    std::optional<PublishedFile> file;
    std::string document;
    std::vector<std::string> refused;
  };
  Result<Found> find(const std::string& name);
  std::set<std::string> names();
  Result<PublishedFile> write(PublishedFile file, const SigningKey& admin);
  // The highest version that is known here, and what it holds.
  Result<PublishedFile> latest(const std::string& name);
  Result<std::optional<PublishedFile>> kept(const std::string& name) const;
  Status mayCome(const PublishedFile& file) const;
  Result<bool> decidedUnder(const std::string& name) const;
  Result<std::string> takeIn(const PublishedFile& file, const std::string& document);
  Result<std::string> takeAway(const PublishedFile& file, const std::string& document);

  replication::LocalReplica& replica_;
  const store::Store& ledgers_;
  const DaemonConfig& config_;
  const std::filesystem::path dir_;
  const RosterStore& rosters_;
  replication::Arrivals arrivals_{replication::Kind::policy};
};

// That each file of an agent or of rules in a data directory is what the admin has published. Errors: unauthorised,
// naming the first that is not.
Status checkPublished(const std::filesystem::path& dir);

}  // namespace witan::node
