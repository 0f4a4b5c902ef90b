// The checkers of operators' acts: what they order must not lose more than it has to, and must keep out whom they have
// shut out.
#include "replication/writer.h"
#include "sim/checkers/checker.h"
#include "sim/checkers/cut_off.h"

namespace witan::sim {

namespace {

// Part of checker "no-decision-lost": nobody seizes a partition beside its owner, or beside a copy that has more of the
// log, while that is connected and has said so.
class TakeoverChecker final : public Checker {
 public:
  explicit TakeoverChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { said_[at].clear(), cutOff_.onStarted(at); }
  void onDurable(Seat& at) override { cutOff_.onDurable(at); }
  void onLink(std::uint32_t device, std::uint32_t peer) override { said_[c_.seat(device)].erase(peer); }

  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    hear(at, peer, frame);
    onSeized(at);
  }

  // The operator has acted already.
  void onEvent(Seat& at, const Event&) override { onSeized(at); }

 private:
  struct Said {
    kernel::Epoch epoch;
    std::uint64_t batches = 0;
    bool follows = false;
  };
  // What a device refuses it was not told; nor what comes after that over the same link.
  void hear(Seat& at, std::uint32_t peer, std::string_view frame) {
    if (!cutOff_.took(at, peer)) return;
    auto standing = standingIn(at, peer, frame);
    if (!standing) return;
    for (node::LogPosition& position : standing->positions) {
      if (position.epochs.empty()) continue;
      said_[at][peer][position.partition] = {
          {position.epochs.back().number, position.epochs.back().owner}, position.batches, position.follow};
    }
  }

  void onSeized(Seat& at) {
    for (const std::string& partition : std::exchange(at.seized, {})) onSeized(at, partition);
  }

  void onSeized(Seat& at, const std::string& id) {
    node::PartitionHost* host = at.replica().host(id);
    if (host == nullptr) return;
    const node::EpochHistory history = host->lineage();
    if (history.epochs.size() < 2) return;
    // Of a log that its owner lied about a device may refuse what others have.
    if (c_.history().liarOwned.contains(
            {id, {history.epochs[history.epochs.size() - 2].number, history.epochs[history.epochs.size() - 2].owner}}))
      return;
    judge(at, *host, id, history.epochs[history.epochs.size() - 2], history.epochs.back());
  }

  void judge(Seat& at, node::PartitionHost& host, const std::string& id, const node::EpochMark& before,
             const node::EpochMark& seized) {
    c_.probe("seizure judged");
    for (const auto& [peer, partitions] : said_[at]) {
      const auto said = partitions.find(id);
      Seat& other = c_.seat(peer);
      if (said == partitions.end() || !other.works() || !c_.network().connected(at.index(), peer)) continue;
      node::PartitionHost* there = other.replica().host(id);
      if (there == nullptr) continue;
      const std::string what = at.name() + " seizes " + id + " after batch " + std::to_string(seized.start);
      const bool owner = !said->second.follows && other.replica().owns(*there) &&
                         said->second.epoch.owner == other.replica().ownerName() &&
                         said->second.epoch.number + 1 == seized.number;
      if (owner) return c_.failed("no-decision-lost", what + " although its owner, " + other.name() + ", is connected");
      if (said->second.epoch < kernel::Epoch{before.number, before.owner} || said->second.batches <= seized.start)
        continue;
      if (!isPrefix(host, seized.start, *there)) continue;
      return c_.failed("no-decision-lost", concat(what, " although ", other.name(),
                                                  " is connected, and has told it of ", said->second.batches));
    }
  }

  static bool isPrefix(node::PartitionHost& host, std::uint64_t batches, node::PartitionHost& of) {
    if (of.ledger().batches() < batches) return false;
    if (batches == 0) return true;
    const auto mine = host.ledger().batch(batches - 1), theirs = of.ledger().batch(batches - 1);
    return mine.ok() && theirs.ok() && *mine == *theirs;
  }

  PerDevice<std::map<std::uint32_t, std::map<std::string, Said, std::less<>>>> said_;  // by peer and partition
  CutOff cutOff_;
};

// Part of checker "confinement": what a retired device says, when it is switched on again, is taken in by nobody. It
// says it as itself: in an entry, and as a proposal.
class ReturnChecker final : public Checker {
 public:
  explicit ReturnChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    if (!at.returned) return;
    lossesBefore_ = c_.history().losses().size();
    const replication::JournalBody body{"note", "\"back\"", 1, at.name(), 1, std::nullopt, {}};
    auto text = encodeRecord(body);
    WITAN_CHECK(text.ok(), "the simulator's entries are entries");
    const replication::Write write{replication::Kind::journal, "entity-returned", *std::move(text), false};
    auto dot = at.replica().commit(replication::DatabaseName::journal, "main", {&write, 1});
    if (dot.ok()) said_.push_back(*dot);
  }

  // Who knows that a device is retired ends the session with it in the round of its next frame: the one that makes the
  // session run is answered before it is looked at.
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    Seat& from = c_.seat(peer);
    if (!from.lingers || at.lingers || frame.size() <= replication::kFrameHeaderBytes) return;
    if (frame[4] < 0 || static_cast<std::uint8_t>(frame[4]) >= kAdjudication) return;
    const replication::SyncSession* session = at.replica().session(from.name());
    if (session == nullptr || !session->full() || session->state() != replication::SessionState::running) return;
    if (known_[at].contains(peer)) heard_[at].insert(peer);
  }
  void onStopped(Seat& at) override { known_[at].clear(), heard_[at].clear(); }
  void onDurable(Seat& at) override {
    for (const std::uint32_t peer : std::exchange(heard_[at], {})) {
      const replication::SyncSession* session = at.replica().session(c_.seat(peer).name());
      if (session != nullptr && session->state() == replication::SessionState::running)
        c_.failed("confinement",
                  concat(at.name(), " goes on with ", c_.seat(peer).name(), ", which it knows to be retired"));
    }
    for (const auto& one : c_.seats()) {
      if (!one->lingers || known_[at].contains(one->index())) continue;
      const auto members = at.replica().data().membership();
      if (!members.ok()) continue;
      // To a newcomer that has no statements yet everybody is unknown.
      const replication::Standing standing = members->standing(one->name());
      if (standing != replication::Standing::retiring && standing != replication::Standing::retired) continue;
      known_[at].insert(one->index());
      c_.probe("retirement of a device that lingers is known");
    }
  }

  void atEnd() override {
    if (said_.empty() || c_.history().losses().size() != lossesBefore_) return;
    for (Seat* at : c_.members()) {
      replication::Space* space = at->replica().data().database(replication::DatabaseName::journal).find("main");
      for (const replication::Dot& dot : said_)
        if (space != nullptr && space->clock().covers(dot))
          return c_.failed("confinement", concat(at->name(), " has taken in what ", dot.host,
                                                 " wrote after it was retired, and everybody knew"));
    }
  }

 private:
  static constexpr std::uint8_t kAdjudication = 32;  // frames from here on are of ledgers
  PerDevice<std::set<std::uint32_t>> known_;         // devices that linger, by who knows durably that they are retired
  PerDevice<std::set<std::uint32_t>> heard_;         // of those, who has said something since
  std::vector<replication::Dot> said_;
  std::size_t lossesBefore_ = 0;
};

}  // namespace

std::unique_ptr<Checker> makeTakeoverChecker(Cluster& cluster) { return std::make_unique<TakeoverChecker>(cluster); }
std::unique_ptr<Checker> makeReturnChecker(Cluster& cluster) { return std::make_unique<ReturnChecker>(cluster); }

}  // namespace witan::sim
