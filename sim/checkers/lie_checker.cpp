// Checker "lies": where a device lies, nobody honest takes in what it may not say or accuses anybody else, and what
// came of a lie left evidence against it.
#include "kernel/record/signed_note.h"
#include "replica/core/entry_evidence.h"
#include "replica/head_exchange.h"
#include "replication/writer.h"
#include "sim/check/liar_rules.h"
#include "sim/checkers/checker.h"
#include "sim/checkers/cut_off.h"

namespace witan::sim {

namespace {

constexpr Micros kTaken = 120 * kSecond;  // a batch that was not taken by then comes too late

class LieChecker final : public Checker {
 public:
  explicit LieChecker(Cluster& cluster) : Checker(cluster), lies_(liarOf(cluster.plan().options.cluster)) {}

  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    if (lies_ && !c_.isLiar(at.index()) && cutOff_.took(at, peer) && c_.isLiar(peer)) hearHeads(at, frame);
  }

  void onDurable(Seat& at) override {
    if (!lies_) return;
    cutOff_.onDurable(at);
    noteOwn(at);
    if (c_.isLiar(at.index())) return;
    checkClaims(at);
    checkBatches(at);
    checkLogs(at);
  }

  void onStarted(Seat& at) override {
    seen_[at].clear();
    logs_[at].clear();
    heads_[at].clear();
    cutOff_.onStarted(at);
  }

  void onDiskLost(Seat& at) override {
    if (!lies_ || c_.isLiar(at.index())) return;
    std::erase_if(effects_, [&](const LieEffect& effect) { return effect.device == at.name(); });
  }

  void onNotice(Seat& at, const node::Notice& notice) override {
    if (!lies_ || c_.isLiar(at.index())) return;
    if (isAccusing(notice.kind)) checkAccusations(at);
    const std::string wrong = wrongSetback({at.name(), notice.kind, notice.partition, notice.what}, wentBack(at));
    if (!wrong.empty()) return c_.failed("lies", wrong);
    if (notice.kind != "unsigned" && notice.kind != "forgedName" && notice.kind != "unlawful") return;
    c_.probe("liar: entries refused");
    const node::OwnershipRecord* claim = at.replica().owners().find(notice.partition);
    if (claim != nullptr && notice.kind != "unlawful" && isLiars(claim->owner))
      effects_.push_back({notice.kind, at.name(), notice.partition, claim->epoch()});
  }

  void atEnd() override {
    if (!lies_) return;
    std::vector<LieEffect> proven;
    for (Seat* at : c_.honest()) {
      checkAccusations(*at);
      std::vector<std::string> files;
      for (const auto& [what, file] : at->replica().evidence()) files.push_back(file);
      for (const auto& [origin, file] : at->replica().heads().proofs()) files.push_back(file);
      const auto rules = [at](const kernel::LedgerFormat& format) { return at->replica().moduleOf(format.domain); };
      for (const std::string& file : files) {
        const auto verified = node::verifyEvidence(file, rules);
        const std::string kind = verified.ok() ? verified->kind : "none";
        if (const std::string wrong = wrongEvidence(file, ClusterSetup::kCluster, ClusterSetup::deviceName(*lies_),
                                                    ClusterSetup::keyOf(*lies_).publicKey(),
                                                    kind == "fork" ? mayErr() : std::set<std::string>(), rules);
            !wrong.empty())
          return c_.failed("lies", at->name() + ": " + wrong);
        c_.probe("evidence: " + kind);
        if (auto one = provenBy(ClusterSetup::kCluster, file)) proven.push_back(*std::move(one));
      }
      if (const std::string what = unprovenAt(*at); !what.empty()) return c_.failed("lies", what);
      checkRows(*at);
    }
    checkAnswers();
    if (const std::string what = unproven(effects_, proven); !what.empty()) c_.failed("lies", what);
  }

 private:
  using EpochOf = std::pair<std::string, kernel::Epoch>;  // of a partition

  bool isLiars(const std::string& owner) const {
    return replication::deviceOf(owner) == ClusterSetup::deviceName(*lies_);
  }

  // Whose memory of the heads that they signed went back with their disks.
  std::set<std::string> mayErr() {
    std::set<std::string> all;
    for (const auto& at : c_.seats())
      if (at->sidecarRolledBack) all.insert(at->name());
    return all;
  }

  void checkAccusations(Seat& at) {
    const auto incidents = at.replica().data().incidents();
    if (!incidents.ok()) return c_.failed("store", at.name() + ": " + incidents.error().message);
    std::vector<Accusation> accusations;
    for (const replication::Incident& one : *incidents)
      accusations.push_back({at.name(), one.kind, one.peer, one.what});
    const std::string what = falselyAccused(accusations, ClusterSetup::deviceName(*lies_), mayErr());
    if (!what.empty()) c_.failed("lies", what);
  }

  // Epochs begin on their owner's disk.
  void noteOwn(Seat& at) {
    for (const auto& [id, host] : at.replica().hosts()) {
      const kernel::Epoch epoch = host->epoch();
      if (replication::deviceOf(epoch.owner) != at.name() || !begun_.insert({id, epoch}).second) continue;
      if (c_.isLiar(at.index())) c_.history().liarOwned.insert({id, epoch});
    }
  }

  void checkClaims(Seat& at) {
    for (const auto& [id, claim] : at.replica().owners().all()) {
      kernel::Epoch& seen = seen_[at][id];
      if (seen == claim.epoch()) continue;
      if (claim.epoch() < seen)
        return c_.failed("lies", concat(at.name(), " takes ", claim.owner, " for the owner of ", id, " in epoch ",
                                        claim.number, ", and knew of a later one"));
      seen = claim.epoch();
      if (!begun_.contains({id, seen}) && !mayClaim(at, claim))
        return c_.failed("lies", concat(at.name(), " takes ", claim.owner, " for the owner of ", id, " in epoch ",
                                        seen.number, ", which that device never began"));
    }
  }

  // The liar may say that it hands over what it owns, and that it goes on with what was handed to it.
  bool mayClaim(Seat& at, const node::OwnershipRecord& claim) {
    if (!isLiars(claim.owner)) return false;
    const node::OwnershipRecord* before = at.replica().owners().find(claim.partition, claim.previous());
    const bool own = c_.history().liarOwned.contains({claim.partition, claim.previous()});
    if (!own && (before == nullptr || before->successor != claim.owner)) return false;
    c_.history().liarOwned.insert({claim.partition, claim.epoch()});
    return true;
  }

  // Heads that the liar has signed; a head that is told once, and lost with the power, proves nothing.
  void hearHeads(Seat& at, std::string_view frame) {
    const auto standing = standingIn(frame);
    if (!standing) return;
    const auto key = kernel::makeNoteVerifier(node::keyNameOf(ClusterSetup::kCluster, ClusterSetup::deviceName(*lies_)),
                                              ClusterSetup::keyOf(*lies_).publicKey());
    WITAN_CHECK(key.ok(), "the names of simulated devices are parts of keys' names");
    for (const std::string& note : standing->heads) {
      if (!kernel::openNote(note, {&*key, 1}).ok()) continue;
      const auto head = kernel::parseCheckpointText(note.substr(0, note.rfind("\n\n") + 1));
      if (head.ok()) heads_[at][{head->origin, head->size}].insert(head->root);
    }
  }

  // Of one log, in this life.
  bool hasHeardBoth(Seat& at, const std::string& partition, const kernel::Epoch& epoch) {
    const std::string origin = node::originOf(ClusterSetup::kCluster, {partition, epoch});
    return std::ranges::any_of(heads_[at],
                               [&](const auto& one) { return one.first.first == origin && one.second.size() > 1; });
  }

  void checkBatches(Seat& at) {
    for (LieRecord& lie : c_.history().lies) {
      if (lie.victim != at.index() || lie.batches == 0 || lie.at + kTaken < c_.agenda().now()) continue;
      const node::PartitionHost* host = at.replica().host(lie.partition);
      if (host == nullptr || host->durableBatches() < lie.batches || host->chain().after(lie.batches) != lie.chain)
        continue;
      if (lie.kind != Lie::secondBatch)
        return c_.failed("lies", concat(at.name(), " has taken batch ", lie.batches - 1, " of ", lie.partition,
                                        ", a lie (", enumName(lie.kind), ")"));
      // With it come two heads that contradict each other. Who has had both has proof.
      if (!hasHeardBoth(at, lie.partition, lie.epoch)) continue;
      lie.batches = 0;
      c_.probe("liar: second batch taken");
      effects_.push_back({"fork", at.name(), lie.partition, lie.epoch});
    }
  }

  bool wentBack(const Seat& at) const {
    return std::ranges::any_of(c_.history().losses(), [&](const DiskLoss& loss) { return loss.device == at.index(); });
  }

  void checkLogs(Seat& at) {
    const std::uint64_t released = at.replica().counters().copiesReleased;  // and perhaps begun again since
    if (std::exchange(released_[at], released) != released) logs_[at].clear();
    for (const auto& [id, host] : at.replica().hosts()) {
      const LogMark now{host->epoch(), host->ledger().batches(), host->chain().last()};
      const LogMark before = std::exchange(logs_[at].try_emplace(id, now).first->second, now);
      if (now.batches >= before.batches && host->chain().after(before.batches) == before.chain) continue;
      c_.probe("liar: log cut");
      const node::OwnershipRecord* claim = at.replica().owners().find(id);
      const auto claimed = claim == nullptr ? std::nullopt : std::optional(claim->epoch());
      if (const std::string wrong = cutInVain(at.name(), id, before.epoch, claimed); !wrong.empty())
        return c_.failed("lies", wrong);
    }
  }

  void checkAnswers() {
    std::vector<Told> lies, answers;
    for (const LieRecord& lie : c_.history().lies)
      if (!lie.answer.empty() && c_.seats()[lie.victim]->device->isLedgerReplica())
        lies.push_back({lie.victim, lie.operationId, lie.answer});
    if (lies.empty()) return;
    for (const RequestRecord& request : c_.history().requests())
      if (request.returned) answers.push_back({request.device, request.request.operationId, request.answer.message});
    if (const std::string wrong = believedLie(lies, answers); !wrong.empty()) c_.failed("lies", wrong);
  }

  // Nobody honest holds a row, or believes a retirement, that only the liar knows of.
  void checkRows(Seat& at) {
    replication::LocalReplica& data = at.replica().data();
    if (replication::Space* main = data.findSpace("agents/main"))
      if (const std::string what = heldLie(at.name(), main->keys(replication::Kind::link, kRowLie)); !what.empty())
        return c_.failed("lies", what);
    const auto members = data.membership();
    if (!members.ok()) return c_.failed("store", at.name() + ": " + members.error().message);
    for (const auto& retired : members->retired)
      if (const auto known =
              std::ranges::find(c_.seats(), retired.member.device, [](const auto& one) { return one->name(); });
          known != c_.seats().end() && !(*known)->retired)
        return c_.failed("lies",
                         concat(at.name(), " takes ", retired.member.device, " for retired, and no operator did that"));
  }

  // Entries of its copies without their proposers' proofs.
  std::string unprovenAt(Seat& at) {
    for (const auto& [module, id] : c_.partitions()) {
      if (at.replica().host(id) == nullptr) continue;
      const auto log = logAt(at, id);
      if (!log.ok()) continue;  // the checker of ledgers says so
      const std::string what = unprovenEntry(ClusterSetup::kCluster, module->signature().domain, *log,
                                             [&](std::string_view device) { return at.replica().keysOf(device); });
      if (!what.empty()) return concat(at.name(), " ", id, ": ", what);
    }
    return {};
  }

  struct LogMark {
    kernel::Epoch epoch;
    std::uint64_t batches = 0;
    Hash chain{};
  };

  const std::optional<std::uint32_t> lies_;
  std::set<EpochOf> begun_;
  PerDevice<std::map<std::string, kernel::Epoch, std::less<>>> seen_;
  PerDevice<std::map<std::string, LogMark, std::less<>>> logs_;
  PerDevice<std::uint64_t> released_;
  PerDevice<std::map<std::pair<std::string, std::uint64_t>, std::set<Hash>>> heads_;  // roots by origin and size
  CutOff cutOff_;
  std::vector<LieEffect> effects_;
};

}  // namespace

std::unique_ptr<Checker> makeLieChecker(Cluster& cluster) { return std::make_unique<LieChecker>(cluster); }

}  // namespace witan::sim
