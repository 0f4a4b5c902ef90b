// Checker "confinement": no byte of a private scope, or of a ledger, reaches a device that may not have it.
#include "sim/check/taint.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class ConfinementChecker final : public Checker {
 public:
  // Markers of private scopes, and of what devices ask of the ledgers: "ledger-3" is what device 3 asked.
  explicit ConfinementChecker(Cluster& cluster) : Checker(cluster) {
    std::vector<std::string> scopes;
    for (std::int64_t n = 0; n < c_.plan().options.cluster.scopes; ++n)
      scopes.push_back(ClusterSetup::scopeName(static_cast<std::uint64_t>(n)));
    for (std::uint32_t i = 0; i < kMostDevices; ++i) scopes.push_back("ledger-" + std::to_string(i));
    confinement_ = std::make_unique<Confinement>(scopes, [&c = c_](std::string_view device, std::string_view scope) {
      if (!scope.starts_with("ledger-")) return c.setup().mayHave(device, scope);
      const std::uint32_t index = ClusterSetup::deviceIndex(device);
      return static_cast<std::int64_t>(index) < c.plan().options.cluster.ledgerReplicas ||
             index == ClusterSetup::deviceIndex(scope);
    });
  }

  void onLink(std::uint32_t device, std::uint32_t peer) override {
    confinement_->closed(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer));
  }

  void onBytes(std::uint32_t device, std::uint32_t peer, std::string_view frames) override {
    const std::string leak =
        confinement_->checkReceived(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer), frames);
    if (!leak.empty()) c_.failed("confinement", leak);
  }

  // The disks. (What a device receives is looked at when it arrives.)
  void atEnd() override {
    for (auto& at : c_.seats())
      for (std::size_t n = 0; n < kStores; ++n) {
        std::string leak;
        at->device->disk(n).visitBytes([&](std::string_view key, std::string_view value) {
          leak = confinement_->checkRow(at->name(), kStoreNames[n], key, value);
          return leak.empty();
        });
        if (!leak.empty()) return c_.failed("confinement", leak);
      }
  }

 private:
  std::unique_ptr<Confinement> confinement_;
};

}  // namespace

std::unique_ptr<Checker> makeConfinementChecker(Cluster& cluster) {
  return std::make_unique<ConfinementChecker>(cluster);
}

}  // namespace witan::sim
