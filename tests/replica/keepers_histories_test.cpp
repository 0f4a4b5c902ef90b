// Histories of rosters, cuts, crashes and moves, by a seed: nothing that was decided is lost, whoever gives a copy up
// leaves enough of them, and in the end those have copies that should.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "base/concat.h"
#include "base/seams.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::keepers_histories_test {
namespace {

constexpr std::uint64_t kCopies = 2;
constexpr std::string_view kNames = "abcde";

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed) {}

  void run() {
    begin();
    for (int step = 0; step < 100 && !::testing::Test::HasFailure(); ++step) {
      act();
      checkReleased();
    }
    settle();
    if (!::testing::Test::HasFailure()) checkEnd();
  }
  std::uint64_t released() const { return released_; }
  std::uint64_t moved() const { return moved_; }

 private:
  Device& device(std::size_t n) { return cluster_.of(std::string(1, kNames[n])); }
  std::size_t any() { return random_.below(kNames.size()); }
  bool chance(std::uint64_t of) { return random_.below(of) == 0; }

  Placement placement(std::size_t version) const {
    std::vector<LedgerMember> members;
    for (const char name : rosters_[version]) members.push_back({std::string(1, name), ""});
    return {members, {{"budget", kCopies}}, version + 1};
  }
  bool linked(std::size_t one, std::size_t other) { return device(one).replica().isConnected(device(other).name()); }
  void link(std::size_t one, std::size_t other) {
    if (one != other && !linked(one, other)) cluster_.connect(device(one), device(other));
  }
  void linkAll() {
    for (std::size_t one = 0; one < kNames.size(); ++one)
      for (std::size_t other = 0; other < one; ++other) link(other, one);
  }
  // A device takes over no roster that is older than its own.
  void hear(std::size_t n) {
    known_[n] = rosters_.size() - 1;
    device(n).replica().rosterChanged();
  }
  void pass(std::int64_t ms) {
    for (std::size_t n = 0; n < kNames.size(); ++n) device(n).passTime(ms);
  }
  Device* owner() {
    for (std::size_t n = 0; n < kNames.size(); ++n)
      if (PartitionHost* host = device(n).replica().host(kPartition))
        if (device(n).replica().owns(*host)) return &device(n);
    return nullptr;
  }

  void begin() {
    ASSERT_TRUE(device(0).replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(device(0).replica().submit(beginning(), at(0)).ok());
    linkAll();
    cluster_.run();
  }

  void act() {
    const std::uint64_t kind = random_.below(9);
    switch (kind) {
      case 0:
      case 1: device(any()).submit(spend(concat("op-", ++spent_), 1)); break;
      case 2: {  // of three to five
        std::string next(kNames);
        while (next.size() > 3 && chance(2)) next.erase(random_.below(next.size()), 1);
        rosters_.push_back(next);
        break;
      }
      case 3: hear(any()); break;
      case 4:
      case 5: {
        const std::size_t one = any(), other = any();
        if (kind == 5)
          link(one, other);
        else if (one != other && linked(one, other))
          cluster_.cut(device(one), device(other));
        break;
      }
      case 6:
        if (chance(3)) cluster_.losePower(device(any()));
        break;
      case 7:
        if (Device* from = owner())
          moved_ += from->replica().transferOwnership(kPartition, device(any()).name(), "", at(from->ms)).ok() ? 1 : 0;
        break;
      default: pass(static_cast<std::int64_t>(random_.below(70'000))); break;
    }
    if (chance(2))
      cluster_.run();
    else
      cluster_.collect();
  }

  // Of those that were given up in this step.
  void checkReleased() {
    for (std::size_t n = 0; n < kNames.size(); ++n) {
      if (device(n).replica().host(kPartition) != nullptr) {
        had_[n] = device(n).host().durableBatches();
        continue;
      }
      const std::uint64_t had = std::exchange(had_[n], 0);
      if (had == 0) continue;
      ++released_;
      std::uint64_t copies = 0;
      for (std::size_t other = 0; other < kNames.size(); ++other)
        if (PartitionHost* host = device(other).replica().host(kPartition))
          copies += host->durableBatches() >= had ? 1 : 0;
      EXPECT_GE(copies, kCopies) << device(n).name() << " gave up " << had << " batches";
    }
  }

  void settle() {
    linkAll();
    for (std::size_t n = 0; n < kNames.size(); ++n) hear(n);
    for (int round = 0; round < 60 && (round < 5 || !isSettled()); ++round) {
      pass(5'000);
      cluster_.run();
      checkReleased();
    }
  }

  // Those have copies that should, as far as their number shows; checkEnd() looks at each.
  bool isSettled() {
    Device* const last = owner();
    if (last == nullptr) return false;
    const Placement now = placement(rosters_.size() - 1);
    for (std::size_t n = 0; n < kNames.size(); ++n) {
      PartitionHost* const host = device(n).replica().host(kPartition);
      const bool should = now.keeps(device(n).name(), kPartition) || last == &device(n);
      if ((host != nullptr) != should) return false;
      if (host != nullptr && host->durableBatches() != last->host().durableBatches()) return false;
      if (device(n).replica().outbox().size() > 0) return false;
    }
    return true;
  }

  void checkEnd() {
    Device* const last = owner();
    ASSERT_NE(last, nullptr);
    const Placement now = placement(rosters_.size() - 1);
    for (std::size_t n = 0; n < kNames.size(); ++n) {
      PartitionHost* const host = device(n).replica().host(kPartition);
      const bool should = now.keeps(device(n).name(), kPartition) || last == &device(n);
      EXPECT_EQ(host != nullptr, should) << device(n).name();
      if (host == nullptr) continue;
      EXPECT_EQ(host->chain().last(), last->host().chain().last()) << device(n).name();
      for (const char* kind : {"wentBack", "fork", "surplus", "unlawful", "falsePosition", "badEntries"})
        EXPECT_FALSE(device(n).hasIncident(kind)) << device(n).name() << " " << kind;
    }
    const std::vector<std::string> decided = last->decided();
    for (std::size_t n = 0; n < kNames.size(); ++n)
      for (const Answer& answer : device(n).answers) {
        if (answer.operationId == "init-e" || answer.outcome != kernel::Outcome::approved) continue;
        EXPECT_EQ(std::ranges::count(decided, answer.operationId), 1) << answer.operationId;
      }
  }

  SeededRandom random_;
  std::vector<std::string> rosters_{std::string(kNames)};
  std::size_t known_[kNames.size()] = {};
  std::uint64_t had_[kNames.size()] = {};
  std::uint64_t spent_ = 0, released_ = 0, moved_ = 0;
  TestCluster cluster_{kNames.size(), [this](std::size_t n, ReplicaConfig& config) {
                         auto keys = std::make_shared<TestKeys>(std::string(1, kNames[n]));
                         keys->takers = kNames;
                         config.heads = keys;
                         config.placement = [this, n] { return placement(known_[n]); };
                       }};
};

TEST(KeepersHistories, LoseNothingAndEndWithTheCopiesThatShouldBe) {
  std::uint64_t released = 0, moved = 0;
  for (std::uint64_t seed = 1; seed <= 15 && !HasFailure(); ++seed) {
    SCOPED_TRACE(concat("seed ", seed));
    History history(seed);
    history.run();
    released += history.released();
    moved += history.moved();
  }
  EXPECT_GT(released, 10u);
  EXPECT_GT(moved, 10u);
}

}  // namespace
}  // namespace witan::node::test::keepers_histories_test
