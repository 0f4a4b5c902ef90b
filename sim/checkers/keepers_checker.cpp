// Checker "keepers": each partition has its copies, each with the whole log, on as many sites as there can be; no
// device gives up a copy before as many others have what is in it; and no entry goes before two others have it.
#include <map>
#include <set>
#include <tuple>

#include "replica/core/placement.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class KeepersChecker final : public Checker {
 public:
  explicit KeepersChecker(Cluster& cluster) : Checker(cluster) {}

  void onDurable(Seat& at) override {
    if (const std::uint64_t now = at.replica().counters().copiesPruned; std::exchange(pruned_[at], now) != now)
      checkPruned(at);
    if (std::exchange(released_[at], at.replica().counters().copiesReleased) == at.replica().counters().copiesReleased)
      return;
    const Status scanned = at.device->disk(2).scan("q/", {}, [&](std::string_view row, std::string_view value) {
      const std::string id(row.substr(2));
      std::uint64_t batches = 0;
      for (const char byte : value.substr(0, 8)) batches = batches << 8 | static_cast<unsigned char>(byte);
      if (at.replica().host(id) == nullptr && fresh_.insert({at.index(), id, batches}).second)
        checkReleased(at, id, batches);
      return true;
    });
    if (!scanned.ok()) c_.trace(at.index(), "check", "releases are unreadable", scanned.error().message);
  }

  void atEnd() override {
    if (!c_.setup().places() || c_.etcd()) return;
    for (const auto& [module, id] : c_.partitions()) {
      if (c_.plan().options.cluster.ledgerCopies > 0)
        if (const std::string what = lacking(id); !what.empty()) return c_.failed("keepers", id + what);
      if (const std::string what = lackingEntries(id); !what.empty()) return c_.failed("keepers", id + what);
      if (const std::string what = unlike(id); !what.empty()) return c_.failed("keepers", id + what);
    }
  }

 private:
  // Of others, running or not, as many must have those batches as the partition has copies. One whose disk was lost
  // since it said so is none of them.
  void checkReleased(Seat& at, const std::string& id, std::uint64_t batches) {
    std::int64_t copies = 0;
    for (auto& other : c_.seats()) {
      if (other->index() == at.index()) continue;
      const std::set<std::uint64_t> has = batchesOn(*other, id);  // those before were pruned
      copies += !has.empty() && *has.rbegin() + 1 >= batches ? 1 : 0;
    }
    c_.probe("copy given up");
    const auto lost = static_cast<std::int64_t>(c_.history().losses().size());
    if (const std::int64_t wanted = c_.plan().options.cluster.ledgerCopies - lost; copies < wanted)
      c_.failed("keepers", concat(at.name(), " gave up its copy of ", id, " of ", batches, " batches, and ", copies,
                                  " others have them, not ", wanted));
  }

  // The batches of a partition on a device's disk, whole or of no use.
  static std::set<std::uint64_t> batchesOn(Seat& at, const std::string& id) {
    std::set<std::uint64_t> numbers;
    const Status scanned = at.device->disk(2).scan("p/" + id + "/l", {}, [&](std::string_view key, std::string_view) {
      std::uint64_t number = 0;
      for (const char byte : key.substr(key.size() - 8)) number = number << 8 | static_cast<unsigned char>(byte);
      numbers.insert(number);
      return true;
    });
    return scanned.ok() ? numbers : std::set<std::uint64_t>();
  }

  // What a device has pruned stands on the disks of all that are to keep it by the roster that it has, running or not,
  // but for disks that were lost; and they are two at least.
  void checkPruned(Seat& at) {
    for (const auto& [id, host] : at.replica().hosts()) {
      const std::uint64_t first = host->first();
      if (first == 0) continue;
      c_.probe("copy pruned");
      const std::uint64_t kept = host->partition().size() + 1 - host->firstEntry();
      if (std::exchange(firsts_[at][id], first) != first && std::cmp_less(kept, c_.plan().options.cluster.keepEntries))
        return c_.failed("keepers", concat(at.name(), " keeps ", kept, " entries of ", id, ", not ",
                                           c_.plan().options.cluster.keepEntries));
      auto lost = static_cast<std::int64_t>(c_.history().losses().size());
      const auto& named = at.replica().placement().whole(id);
      const std::string what = concat(at.name(), " pruned ", id, " up to batch ", first);
      if (named.size() < node::kLeastCopies)
        return c_.failed("keepers", concat(what, " by a roster that names no two"));
      for (const std::string& name : named) {
        const std::set<std::uint64_t> has = batchesOn(c_.seat(ClusterSetup::deviceIndex(name)), id);
        const auto before = static_cast<std::uint64_t>(std::distance(has.begin(), has.lower_bound(first)));
        if (before < first && --lost < 0)
          return c_.failed("keepers", concat(what, ", and ", name, " has ", before, " of the batches before it"));
      }
    }
  }

  // Two of those that keep it have every entry; and where nothing else holds them, others have let old ones go.
  std::string lackingEntries(const std::string& id) {
    const ClusterOptions& options = c_.plan().options.cluster;
    if (options.keepEntries == 0) return {};
    std::int64_t members = 0, whole = 0;
    for (Seat* at : c_.members()) {
      if (!at->device->isLedgerReplica()) continue;
      ++members;
      const node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr) continue;
      if (host->first() > 0) c_.probe("copy pruned at the end");
      whole += host->first() == 0 ? 1 : 0;
    }
    const std::int64_t wanted = std::min(members, static_cast<std::int64_t>(node::kLeastCopies));
    return whole >= wanted ? std::string() : concat(" has ", whole, " copies with every entry, not ", wanted);
  }

  // Copies of one log, each begun in its own way, that do not add up to the same.
  std::string unlike(const std::string& id) {
    std::map<Hash, std::pair<Seat*, Hash>> known;  // by the digest of the log
    for (Seat* at : c_.members()) {
      const node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr || !host->showsLog()) continue;
      const Hash folded = host->ledger().folded().digest;
      const auto [other, first] = known.try_emplace(host->chain().last(), at, folded);
      if (!first && other->second.second != folded)
        return concat(": ", at->name(), " and ", other->second.first->name(),
                      " have one log, and it does not add up to the same for both");
    }
    return {};
  }

  // Counted by what devices have, not by what they compute.
  std::string lacking(const std::string& id) {
    const ClusterOptions& options = c_.plan().options.cluster;
    std::uint64_t batches = 0;
    std::set<std::int64_t> sitesOfAll, sites;
    std::int64_t members = 0, copies = 0;
    const auto site = [&](const Seat& at) { return c_.setup().siteOf(at.index(), c_.agenda().now()); };
    for (Seat* at : c_.members())
      if (const node::PartitionHost* host = at->replica().host(id)) batches = std::max(batches, host->durableBatches());
    for (Seat* at : c_.members()) {
      if (!at->device->isLedgerReplica()) continue;
      ++members, sitesOfAll.insert(site(*at));
      const node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr || host->durableBatches() != batches) continue;
      ++copies, sites.insert(site(*at));
    }
    // An owner keeps a copy wherever it is, and devices whose agents read ledgers keep all.
    const std::int64_t most = options.ledgerCopies + 1 + options.hosts;
    if (copies > most && c_.honest().size() == c_.members().size())
      return concat(" has ", copies, " copies, more than ", most);
    const std::int64_t wanted = std::min(members, std::max(options.ledgerCopies, std::int64_t{node::kLeastCopies}));
    if (copies < wanted) return concat(" has ", copies, " copies of ", batches, " batches, not ", wanted);
    const auto places = std::min<std::int64_t>(wanted, static_cast<std::int64_t>(sitesOfAll.size()));
    if (static_cast<std::int64_t>(sites.size()) < places)
      return concat(" has copies at ", sites.size(), " sites, not ", places);
    return {};
  }

  PerDevice<std::uint64_t> released_, pruned_;
  PerDevice<std::map<std::string, std::uint64_t>> firsts_;  // the batches with which pruned copies begin
  std::set<std::tuple<std::uint32_t, std::string, std::uint64_t>> fresh_;
};

}  // namespace

std::unique_ptr<Checker> makeKeepersChecker(Cluster& c) { return std::make_unique<KeepersChecker>(c); }

}  // namespace witan::sim
