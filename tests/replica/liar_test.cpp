// Random histories with one device that lies: it sends claims, positions, entries, answers, acknowledgements and heads
// that it makes up, alters or repeats, amid decisions, handovers, cuts and power losses of the others. Then it is cut
// off. What an honest owner acknowledged stays, the others go on with one log, and nobody accuses an honest device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replica/core/owner_proofs.h"
#include "replica/head_exchange.h"
#include "replication/writer.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::liar_test {
namespace {

class World {
 public:
  World(std::uint32_t seed, std::string takers)
      : random_(seed), cluster_(3, [takers](std::size_t n, ReplicaConfig& config) {
          auto keys = std::make_shared<TestKeys>(std::string(1, static_cast<char>('a' + n)));
          keys->takers = takers;
          config.heads = keys;
        }) {
    cluster_.lose = [this](const TestCluster::Frame& frame) {
      if (isAdjudication(frame.bytes) && seen_.size() < 500) seen_.push_back(frame.bytes);
      return false;
    };
    cluster_.found();
  }

  void step() {
    switch (draw(12)) {
      case 0:
      case 1:
      case 2: return honest().submit(spend("op-" + std::to_string(++operations_), 1));
      case 3: return cluster_.run();
      case 4: return cluster_.cut(a(), b());
      case 5: return heal();
      case 6: return pass(draw(2) == 0 ? 600 : 61'000);
      case 7: {
        if (draw(4) != 0) return;
        Device& device = honest();
        cluster_.losePower(device);
        return heal();
      }
      case 8: {
        Device& device = honest();
        (void)device.replica().transferOwnership(kPartition, &device == &a() ? "b" : "a", "", at(device.ms));
        return;
      }
      default: return lie();
    }
  }

  // The liar is cut off, and the others come to rest.
  void end() {
    cluster_.cut(a(), c()), cluster_.cut(b(), c());
    cluster_.cut(a(), b()), cluster_.connect(a(), b());
    for (int n = 0; n < 5; ++n) pass(61'000);
    for (Device* device : {&a(), &b()}) device->submit(spend("last-" + device->name(), 1));
    for (int n = 0; n < 5; ++n) pass(61'000);
  }

  void check() {
    ASSERT_EQ(a().decided(), b().decided()) << story(a()) << story(b());
    ASSERT_NE(a().owns(), b().owns());
    const std::vector<std::string> log = a().decided();
    const std::set<std::string> decided(log.begin(), log.end());
    EXPECT_EQ(decided.size(), log.size());
    for (Device* device : {&a(), &b()}) {
      const Answer* last = device->answered("last-" + device->name());
      ASSERT_NE(last, nullptr) << device->name();
      EXPECT_EQ(last->outcome, kernel::Outcome::approved);
      for (const Answer& answer : device->answers) {
        if (answer.outcome != kernel::Outcome::approved) continue;
        EXPECT_TRUE(decided.contains(answer.operationId)) << answer.operationId << " was acknowledged";
      }
      EXPECT_EQ(device->aside(), 0u) << device->name();
      const auto incidents = device->replica().data().incidents();
      for (const replication::Incident& incident : *incidents)
        EXPECT_TRUE(incident.peer == "c" || incident.kind == "fork") << incident.kind << " names " << incident.peer;
      EXPECT_TRUE(device->replica().heads().proofs().empty());
      for (const OwnershipRecord* claim : device->replica().owners().after(kPartition, {}))
        EXPECT_NE(replication::deviceOf(claim->owner), "c");
    }
  }

  std::size_t claimsOfLiar() {
    std::size_t n = 0;
    for (const OwnershipRecord* claim : a().replica().owners().after(kPartition, {}))
      n += replication::deviceOf(claim->owner) == "c" ? 1 : 0;
    return n;
  }

 private:
  Device& a() { return cluster_.a(); }
  Device& b() { return cluster_.b(); }
  Device& c() { return cluster_.c(); }
  std::uint64_t draw(std::uint64_t n) { return random_() % n; }
  Device& honest() { return draw(2) == 0 ? a() : b(); }
  static std::string story(Device& device) {
    std::string text = device.name() + ":" + (device.owns() ? " owns" : "") + " epoch " +
                       std::to_string(device.host().epoch().number) + " of " + device.host().epoch().owner + "\n";
    for (const Notice& notice : device.notices) text += "  " + notice.kind + " " + notice.what + "\n";
    for (const Answer& answer : device.answers)
      if (answer.outcome != kernel::Outcome::approved)
        text += "  answer " + answer.operationId + " " + answer.message + "\n";
    const ReplicaCounters& c = device.replica().counters();
    return text + "  unsealed " + std::to_string(c.batchesUnsealed) + " repeated " + std::to_string(c.batchesRepeated) +
           " gaps " + std::to_string(c.gaps) + " sent " + std::to_string(c.batchesSent) + " zombie " +
           std::to_string(c.zombieRefused) + "\n";
  }
  Hash anyHash() { return sha256(std::to_string(random_())); }
  void pass(std::int64_t ms) {
    cluster_.run();  // a session that says nothing ends
    for (Device* device : {&a(), &b(), &c()}) device->passTime(ms);
    cluster_.run();
  }
  void heal() {
    for (Device* one : {&a(), &b(), &c()})
      for (Device* other : {&a(), &b(), &c()})
        if (one->name() < other->name()) cluster_.cut(*one, *other), cluster_.connect(*one, *other);
    cluster_.run();
  }
  void send(std::string bytes) {
    cluster_.hand({"c", draw(2) == 0 ? "a" : "b", std::move(bytes)});
    if (draw(2) == 0) cluster_.run();
    if (draw(3) == 0) heal();  // it comes back also after it was cut off
  }
  template <class T>
  void say(const T& message) {
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    send(std::move(bytes));
  }

  std::string anyOwner() {
    Device* const devices[] = {&a(), &b(), &c()};
    return devices[draw(3)]->replica().ownerName();
  }
  OwnershipRecord anyClaim() {
    OwnershipRecord claim = *honest().replica().owners().find(kPartition);
    if (draw(4) != 0) claim.previousNumber = claim.number, claim.previousOwner = claim.owner;
    if (draw(4) != 0) claim.number += draw(3), claim.owner = anyOwner();
    if (draw(2) == 0) claim.cause = static_cast<kernel::EpochCause>(draw(4));
    if (draw(2) == 0) claim.batches = draw(10), claim.chain = anyHash();
    if (draw(3) == 0) claim.successor = draw(2) == 0 ? "" : anyOwner();
    if (draw(4) != 0) signClaim("test", claim, keyOfDevice("c"));
    return claim;
  }
  LogPosition anyPosition() {
    LogPosition position = honest().host().position();
    position.follow = draw(2) == 0;
    if (draw(2) == 0) position.batches = draw(20);
    if (draw(2) == 0) position.chain = anyHash();
    if (draw(2) == 0) position.epochs.push_back({position.epochs.back().number + draw(3), anyOwner(), draw(10)});
    if (draw(4) == 0) position.epochs.erase(position.epochs.begin());
    if (draw(4) == 0) position.probes = {{draw(10), anyHash()}};
    if (draw(4) == 0) position.low = draw(5), position.high = draw(20);
    if (draw(3) == 0) {
      const auto seal = c().stores[2].get("z/budget/0/" + bigEndian(draw(10)));
      if (seal.ok() && *seal) position.seal.assign((*seal)->begin(), (*seal)->end());
    }
    return position;
  }
  void lie() {
    PeerAdvertisement standing;
    standing.owner = c().replica().ownerName();
    standing.engine = "embedded";
    switch (draw(6)) {
      case 0:
        for (std::uint64_t n = draw(3) + 1; n > 0; --n) standing.claims.push_back(anyClaim());
        return say(standing);
      case 1:
        standing.positions = {anyPosition()};
        if (draw(2) == 0) standing.claims = {anyClaim()};
        return say(standing);
      case 2: {
        Answer answer;
        answer.operationId = "op-" + std::to_string(operations_);
        answer.outcome = kernel::Outcome::approved;
        answer.seq = 4242;
        const auto& waiting = honest().replica().outbox().all();
        if (!waiting.empty()) answer.asked = fingerprintOf(waiting.begin()->second.request);
        return say(answer);
      }
      case 3: return say(Followed{std::string(kPartition), draw(20)});
      default: break;
    }
    if (seen_.empty()) return;
    std::string bytes = seen_[draw(seen_.size())];  // what somebody said to somebody, as it was or altered
    if (typeOf(bytes) == AdjudicationFrame::entries) {
      Entries entries;
      const Status read = readMessage(std::string_view(bytes).substr(8), entries, "frame");
      ASSERT_TRUE(read.ok());
      entries.batch = draw(3) == 0 ? honest().host().ledger().batches() : entries.batch;
      if (draw(3) == 0) entries.epochNumber += draw(3), entries.epochOwner = anyOwner();
      if (draw(3) == 0) entries.previousChain = honest().host().chain().last();
      if (draw(3) == 0 && !entries.value.empty()) entries.value[draw(entries.value.size())] ^= 1;
      if (draw(3) == 0 && !entries.seal.empty()) entries.seal[draw(entries.seal.size())] ^= 1;
      return say(entries);
    }
    send(std::move(bytes));
  }

  std::mt19937 random_;
  TestCluster cluster_;
  std::vector<std::string> seen_;
  std::uint64_t operations_ = 0;
};

// Of a device that has only the role "ledger".
TEST(Liar, HasNoEffect) {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, "ab");
    for (int n = 0; n < 60 && !::testing::Test::HasFatalFailure(); ++n) world.step();
    world.end();
    world.check();
    if (::testing::Test::HasFailure()) return;
  }
}

// The same lies of a device that may take partitions over do have effects, so the checks can fail.
TEST(Liar, WithTheRoleTakeoverHasEffects) {
  std::uint64_t taken = 0;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    World world(seed, "abc");
    for (int n = 0; n < 60; ++n) world.step();
    taken += world.claimsOfLiar();
  }
  EXPECT_GT(taken, 0u);
}

}  // namespace
}  // namespace witan::node::test::liar_test
