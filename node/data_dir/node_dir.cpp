#include "node/data_dir/node_dir.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "domains/registry.h"
#include "node/data_dir/published_document.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/replica_store.h"
#include "node/events/rule_check.h"
#include "store/wal_damage.h"

namespace witan::node {

NodeDir::~NodeDir() = default;

std::filesystem::path ruleFilePath(const std::filesystem::path& dir, std::string_view domain) {
  return dir / "rules" / concat(domain, ".domain.toml");
}

Result<std::vector<std::string>> installedRuleFiles(const std::filesystem::path& dir) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(dir / "rules", error), end; !error && at != end; at.increment(error))
    if (at->path().string().ends_with(".domain.toml")) files.push_back(at->path().string());
  if (error && error != std::errc::no_such_file_or_directory)
    return ioFailed(concat("cannot read ", (dir / "rules").string(), " (", error.message(), ")"));
  std::ranges::sort(files);
  return files;
}

namespace {

Result<std::unique_ptr<kernel::DomainModule>> moduleOf(const std::string& name,
                                                       const std::vector<const kernel::DomainModule*>& known) {
  WITAN_TRY(module, domains::makeDomain(name));
  const std::string& domain = module->signature().domain;
  if (std::ranges::any_of(known, [&](const auto* one) { return one->signature().domain == domain; }))
    return conflict(concat(name, ": there is another domain ", domain), "give this one another name, or take it away");
  return module;
}

Status mayStart(const Result<std::unique_ptr<kernel::DomainModule>>& module, bool ruleFile) {
  if (!module.ok()) return module.error();
  return ruleFile ? mayInstall(**module) : okStatus();
}

}  // namespace

Result<std::unique_ptr<NodeDir>> NodeDir::open(const std::filesystem::path& dir, NodeSetup setup, Now now) {
  std::unique_ptr<NodeDir> opened(new NodeDir(dir));
  WITAN_SET(setup.replication, readReplicaOptions(dir, opened->record_));
  if (setup.domainNames.empty()) {
    for (const std::string_view name : domains::domainNames()) setup.domainNames.emplace_back(name);
    WITAN_TRY(files, installedRuleFiles(dir));
    setup.domainNames.insert(setup.domainNames.end(), files.begin(), files.end());
  }
  std::vector<std::string> leftOut;
  for (const std::string& name : setup.domainNames) {
    auto module = moduleOf(name, setup.domains);
    const bool ruleFile = domains::isRuleFile(name);
    if (const Status may = mayStart(module, ruleFile); !may.ok()) {
      auto words = ruleFile ? leaveOut(dir, name, may.error()) : Result<std::string>(may.error());
      if (words.ok()) {
        leftOut.push_back(*std::move(words));
        continue;
      }
      // Of a file that somebody of this device put there, only what cannot be started at all.
      if (!module.ok()) return module.error();
    }
    setup.domains.push_back(module->get());
    opened->modules_.push_back(*std::move(module));
  }
  WITAN_TRY(journal, openReplicaStore(dir / "journal"));
  opened->journal_ = std::move(journal);
  WITAN_TRY(agents, openReplicaStore(dir / "agents"));
  opened->agents_ = std::move(agents);
  WITAN_TRY(ledgers, openReplicaStore(dir / "ledgers"));
  opened->ledgers_ = std::move(ledgers);
  WITAN_SET(opened->replica_,
            Replica::open({*opened->journal_, *opened->agents_, *opened->ledgers_}, std::move(setup), now));
  opened->record_.opened(opened->replica_->data());
  for (const char* name : {"journal", "agents", "ledgers"})
    for (std::string& what : store::keptDamage(dir / name)) opened->damaged_.push_back(std::move(what));
  for (const std::string& what : leftOut) opened->replica_->data().note({kLeftOut, "", what});
  for (const std::string& what : opened->damaged_) opened->replica_->data().note({"damagedLog", "", what});
  return opened;
}

std::vector<StoreSnapshot> NodeDir::snapshots() const {
  std::vector<StoreSnapshot> parts;
  parts.push_back({"journal", journal_->snapshot()});
  parts.push_back({"agents", agents_->snapshot()});
  parts.push_back({"ledgers", ledgers_->snapshot()});
  return parts;
}

Status NodeDir::drain(Now now, Effects& out) {
  WITAN_DO(record_.lease(replica_->data()));
  WITAN_DO(replica_->drain(now, out));
  WITAN_DO(record_.lease(replica_->data()));  // counters that were taken inside
  record_.flushed(replica_->data());
  return okStatus();
}

Status NodeDir::close(Now now) {
  Effects last;
  WITAN_DO(drain(now, last));
  if (replica_->agents() != nullptr) {
    replica_->agents()->stopping();
    WITAN_DO(replica_->data().flush());
  }
  return record_.close(replica_->data());
}

}  // namespace witan::node
