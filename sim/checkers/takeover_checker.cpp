// The checkers of operators' acts: what they order must not lose more than it has to, and must keep out whom they have
// shut out.
#include "replication/writer.h"
#include "sim/checkers/checker.h"
#include "sim/checkers/cut_off.h"

namespace witan::sim {

namespace {

// Part of checker "no-decision-lost": no partition is seized beside its owner, or beside a copy that has more of the
// log, while that is connected and has said so, or beside such a copy that has had no time to say so.
class TakeoverChecker final : public Checker {
 public:
  explicit TakeoverChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { said_[at].clear(), cutOff_.onStarted(at); }
  void onDurable(Seat& at) override { cutOff_.onDurable(at); }
  void onLink(std::uint32_t device, std::uint32_t peer) override {
    said_[c_.seat(device)].erase(peer);
    since_[c_.seat(device)][peer] = c_.agenda().now();
  }

  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    hear(at, peer, frame);
    onSeized(at);
  }

  // The operator has acted already.
  void onEvent(Seat& at, const Event&) override { onSeized(at); }

 private:
  static constexpr Micros kHear = 10 * kSecond;   // so long a peer that is connected may take to say what it has
  static constexpr Micros kClocks = kSecond / 5;  // as far as the clocks of devices drift apart in that time

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
      const kernel::Epoch epoch = position.epochs.empty()
                                      ? kernel::Epoch{}
                                      : kernel::Epoch{position.epochs.back().number, position.epochs.back().owner};
      said_[at][peer][position.partition] = {epoch, position.batches, position.follow};
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
    judgeUnheard(at, host, id, before, seized);
  }

  // What a peer has that was connected just now, it has not said yet. The simulator looks at its disk.
  void judgeUnheard(Seat& at, node::PartitionHost& host, const std::string& id, const node::EpochMark& before,
                    const node::EpochMark& seized) {
    if (c_.etcd()) return;
    for (const auto& [peer, since] : since_[at]) {
      Seat& other = c_.seat(peer);
      const auto said = said_[at].find(peer);
      if (said != said_[at].end() && said->second.contains(id)) continue;
      if (c_.agenda().now() - since >= kHear - kClocks || !isLinked(at, other) || cutOff_.isCut(at, peer)) continue;
      node::PartitionHost* there = other.replica().host(id);
      if (there == nullptr) continue;
      c_.probe("seizure beside a device that has said nothing");
      if (there->epoch() < kernel::Epoch{before.number, before.owner} || there->durableBatches() <= seized.start ||
          !isPrefix(host, seized.start, *there))
        continue;
      return c_.failed("no-decision-lost",
                       concat(at.name(), " seizes ", id, " after batch ", seized.start, " although ", other.name(),
                              ", which has ", there->durableBatches(), ", is connected and was not heard yet"));
    }
  }

  // The device has taken the link up, and has nothing of its end before it. A retired peer or a liar need not speak.
  bool isLinked(Seat& at, Seat& other) {
    if (c_.isLiar(other.index()) || other.retired || other.lingers || !other.works()) return false;
    if (!c_.network().connected(at.index(), other.index()) || at.replica().session(other.name()) == nullptr)
      return false;
    return std::ranges::none_of(at.inbox, [&](const Arrival& arrival) {
      return arrival.peer == other.index() &&
             (arrival.kind == Arrival::Kind::connected || arrival.kind == Arrival::Kind::disconnected);
    });
  }

  static bool isPrefix(node::PartitionHost& host, std::uint64_t batches, node::PartitionHost& of) {
    if (of.ledger().batches() < batches) return false;
    if (batches == 0) return true;
    const auto mine = host.ledger().batch(batches - 1), theirs = of.ledger().batch(batches - 1);
    return mine.ok() && theirs.ok() && *mine == *theirs;
  }

  PerDevice<std::map<std::uint32_t, std::map<std::string, Said, std::less<>>>> said_;  // by peer and partition
  PerDevice<std::map<std::uint32_t, Micros>> since_;                                   // when a peer was connected last
  CutOff cutOff_;
};

// Part of checker "no-decision-lost": a log is cut where it parts from that of the peer for which it is cut, and no
// deeper, whatever happened to disks before. Judged while that peer is connected and has the epoch that it has told of.
class CutChecker final : public Checker {
 public:
  explicit CutChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    entries_[at] = 0;
    aside_[at].clear();  // the disk may be another one
    (void)freshTails(at);
  }
  void onLink(std::uint32_t device, std::uint32_t peer) override { said_[c_.seat(device)].erase(peer); }

  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    auto standing = standingIn(at, peer, frame);
    if (!standing) return;
    for (const node::LogPosition& position : standing->positions)
      if (!position.epochs.empty())
        said_[at][peer][position.partition] = {position.epochs.back().number, position.epochs.back().owner};
  }

  void onDurable(Seat& at) override {
    const std::uint64_t entries = at.replica().counters().surplusEntries;
    if (std::exchange(entries_[at], entries) == entries || c_.etcd()) return;
    for (const auto& [id, tail] : freshTails(at)) judge(at, id, tail);
  }

 private:
  struct Tail {
    std::uint64_t from = 0;  // its first batch
    std::string batch;
  };

  // By partition, what was put aside since this was called last.
  std::map<std::string, Tail> freshTails(Seat& at) {
    std::map<std::string, Tail> fresh;
    const Status scanned = at.device->disk(2).scan("x/", {}, [&](std::string_view key, std::string_view value) {
      const std::size_t domain = key.find('/', 2), end = domain == key.npos ? key.npos : key.find('/', domain + 1);
      if (end == key.npos || key.size() < end + 18 || !aside_[at].emplace(key).second) return true;
      std::uint64_t place = 0;
      for (const char byte : key.substr(key.size() - 8)) place = place << 8 | static_cast<unsigned char>(byte);
      const auto [of, first] = fresh.try_emplace(std::string(key.substr(2, end - 2)));
      if (first || place < of->second.from) of->second = {place, std::string(value)};
      return true;
    });
    if (!scanned.ok()) c_.trace(at.index(), "check", "what was set aside is unreadable", scanned.error().message);
    return fresh;
  }

  // Which device's log it was cut for, its people are told. Null: none that can be looked at.
  node::PartitionHost* cutFor(Seat& at, const std::string& id, std::string& name) {
    const auto incidents = at.replica().data().incidents();
    if (!incidents.ok()) return nullptr;
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == "surplus" && incident.what.starts_with(id + ": ")) name = incident.peer;
    for (const auto& one : c_.seats()) {
      if (one->name() != name || !one->works() || c_.isLiar(one->index())) continue;
      if (!c_.network().connected(at.index(), one->index())) continue;
      node::PartitionHost* there = one->replica().host(id);
      const auto said = said_[at].find(one->index());
      if (there == nullptr || said == said_[at].end()) continue;
      const auto epoch = said->second.find(id);
      if (epoch != said->second.end() && epoch->second == there->epoch()) return there;
    }
    return nullptr;
  }

  void judge(Seat& at, const std::string& id, const Tail& tail) {
    node::PartitionHost* host = at.replica().host(id);
    if (host == nullptr || host->ledger().batches() != tail.from) return;
    std::string name;
    node::PartitionHost* there = cutFor(at, id, name);
    if (there == nullptr) return;
    // A later claim ends that log too.
    const node::OwnershipRecord* claim = at.replica().owners().find(id);
    if (claim != nullptr && (there->epoch() < claim->epoch() || claim->batches == tail.from)) return;
    c_.probe("cut judged");
    if (tail.from < there->first() || tail.from >= there->ledger().batches()) return;
    const auto batch = there->ledger().batch(tail.from);
    if (batch.ok() && *batch == tail.batch)
      c_.failed("no-decision-lost", concat(at.name(), " cuts ", id, " from batch ", tail.from, " on for ", name,
                                           ", which has the same batch there"));
  }

  PerDevice<std::uint64_t> entries_;                                                            // cut since the start
  PerDevice<std::set<std::string, std::less<>>> aside_;                                         // rows that are known
  PerDevice<std::map<std::uint32_t, std::map<std::string, kernel::Epoch, std::less<>>>> said_;  // by peer, partition
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
    if (dot.ok()) said_.push_back({&at, at.readmitted, *dot});
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
      for (const Said& said : said_)
        if (space != nullptr && said.by->readmitted == said.readmitted && space->clock().covers(said.dot))
          return c_.failed("confinement", concat(at->name(), " has taken in what ", said.dot.host,
                                                 " wrote after it was retired, and everybody knew"));
    }
  }

 private:
  static constexpr std::uint8_t kAdjudication = 32;  // frames from here on are of ledgers
  PerDevice<std::set<std::uint32_t>> known_;         // devices that linger, by who knows durably that they are retired
  PerDevice<std::set<std::uint32_t>> heard_;         // of those, who has said something since
  struct Said {
    const Seat* by;
    std::uint32_t readmitted;  // by then; once it is admitted again, others take it in
    replication::Dot dot;
  };
  std::vector<Said> said_;
  std::size_t lossesBefore_ = 0;
};

}  // namespace

std::unique_ptr<Checker> makeTakeoverChecker(Cluster& cluster) { return std::make_unique<TakeoverChecker>(cluster); }
std::unique_ptr<Checker> makeCutChecker(Cluster& cluster) { return std::make_unique<CutChecker>(cluster); }
std::unique_ptr<Checker> makeReturnChecker(Cluster& cluster) { return std::make_unique<ReturnChecker>(cluster); }

}  // namespace witan::sim
