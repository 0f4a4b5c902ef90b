// The checkers of boundaries: between devices, and to the tools outside.
#include <algorithm>

#include "agents/host/agent_host.h"
#include "sim/check/agent_rules.h"
#include "sim/check/taint.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

// Checker "confinement": no byte of a private scope, or of a ledger, reaches a device that may not have it.
class ConfinementChecker final : public Checker {
 public:
  // Markers of private scopes, and of what devices ask of the ledgers: "ledger-3" is what device 3 asked.
  explicit ConfinementChecker(Cluster& cluster) : Checker(cluster) {
    std::vector<std::string> scopes;
    for (std::int64_t n = 0; n < c_.plan().options.cluster.scopes; ++n)
      scopes.push_back(ClusterSetup::scopeName(static_cast<std::uint64_t>(n)));
    for (std::int64_t i = 0; i < std::max<std::int64_t>(kMostDevices, c_.plan().options.cluster.devices); ++i)
      scopes.push_back(concat("ledger-", i));
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

  // An entry says more than the action that was asked for: it is for devices with ledgers.
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    const auto& cluster = c_.plan().options.cluster;
    if (static_cast<std::int64_t>(at.index()) < cluster.ledgerReplicas || c_.isLiar(peer)) return;
    if (frame.size() <= kFrameHeaderBytes ||
        static_cast<std::uint8_t>(frame[4]) != static_cast<std::uint8_t>(node::AdjudicationFrame::answer))
      return;
    node::Answer answer;
    if (!readMessage(frame.substr(kFrameHeaderBytes), answer, "frame").ok()) return;
    c_.probe("answer without ledgers");
    if (!answer.entry.empty())
      c_.failed("confinement", concat(ClusterSetup::deviceName(peer), " gives ", at.name(),
                                      ", which has no ledgers, entry ", answer.seq));
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

// Checker "need-to-know": agents send outside only fields of the allowlist, and mail only while a person's confirmation
// stands.
class ConfirmationChecker final : public Checker {
 public:
  explicit ConfirmationChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { looked_[at].at.reset(); }
  void beforeDrain(Seat& at) override { watch(at); }  // as its agents find it
  void onDurable(Seat& at) override { watch(at); }
  void onToolAnswer(Seat& at, const ToolAnswer&) override { watch(at); }  // it may go, and come back, in one step

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (const std::string told = checkNeedToKnow(call.tool, call.arguments); !told.empty())
      return c_.failed("need-to-know", at.name() + ": " + told);
    // Since before the run began nobody on this device could have let it.
    const auto begun = at.begun.find(call.run);
    if (call.tool == "sim.mail" && at.unconfirmedSince >= 0 && begun != at.begun.end() &&
        begun->second > at.unconfirmedSince)
      return c_.failed("need-to-know", at.name() + " lets operation " + name + " mail, and no confirmation stands");
  }

 private:
  void watch(Seat& at) {
    if (at.replica().agents() == nullptr) return;
    static const std::string kKey = receiptKey(simReceipt("somebody", 0));
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    if (!space.ok()) return c_.failed("store", at.name() + ": " + space.error().message);
    Looked& looked = looked_[at];
    if (const std::pair now((*space)->changes(), (*space)->losses()); std::exchange(looked.at, now) != now) {
      auto versions = (*space)->versions(Kind::receipt, kKey);
      if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
      looked.stands = isConfirmed(*versions);
    }
    const bool stands = looked.stands;
    if (!stands || at.unconfirmedSince >= 0) c_.history().agents.unconfirmedAt = c_.agenda().now();
    if (!stands && at.unconfirmedSince < 0) c_.probe("mails not confirmed");
    at.unconfirmedSince = stands ? -1 : at.unconfirmedSince < 0 ? c_.agenda().now() : at.unconfirmedSince;
  }

  struct Looked {
    std::optional<std::pair<std::uint64_t, std::uint64_t>> at;  // changes and losses of the space
    bool stands = false;
  };
  PerDevice<Looked> looked_;
};

}  // namespace

std::unique_ptr<Checker> makeConfinementChecker(Cluster& c) { return std::make_unique<ConfinementChecker>(c); }
std::unique_ptr<Checker> makeConfirmationChecker(Cluster& c) { return std::make_unique<ConfirmationChecker>(c); }

}  // namespace witan::sim
