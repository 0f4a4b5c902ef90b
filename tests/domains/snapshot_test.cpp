// Snapshots are derived: with them, without them, or with damaged ones, a ledger opens to the same partition.
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/snapshot.h"
#include "store/memory_store.h"

namespace witan::kernel::snapshot_test {
namespace {

constexpr Time kStart{1'767'225'600'000'000};  // 2026-01-01

// Drives random proposals, inits and counselor decisions; one batch every few steps.
class Driver {
 public:
  Driver(const DomainModule& module, std::uint64_t seed) : module_(module), random_(seed) {}

  void steps(Ledger& ledger, int count) {
    for (int i = 0; i < count; ++i) {
      step(ledger.partition());
      if (random_.below(5) == 0) {
        ASSERT_TRUE(ledger.commit().ok());
      }
    }
    ASSERT_TRUE(ledger.commit().ok());
  }

 private:
  void step(Partition& p) {
    now_.micros += static_cast<std::int64_t>(random_.below(2 * 86'400)) * kMicrosPerSecond;
    const std::string entity = "E" + std::to_string(random_.below(6));
    const EntityState* state = p.state(entity);
    if (state == nullptr) {
      p.init(entity, parseJson(module_.sampleInit(random_, now_)).value().as_object(), now_);
      return;
    }
    const std::string operationId = "op-" + std::to_string(++operations_);
    if (p.frozen(entity) && random_.below(2) == 0) {
      CounselorDecision d;
      d.entity = entity;
      d.counselor = module_.signature().counselors.at(0);
      d.operationId = operationId;
      d.commit = random_.below(3) != 0;
      d.at = now_;
      p.decide(d);
      return;
    }
    const ActionPtr action = module_.sample(*state, random_, now_);
    Proposal proposal;
    proposal.entity = entity;
    proposal.role = module_.signature().processes[action->process].role;
    proposal.operationId = operationId;
    proposal.action = action.get();
    proposal.at = now_;
    proposal.remember = random_.below(2) == 0;
    p.propose(proposal);
  }

  const DomainModule& module_;
  SeededRandom random_;
  Time now_ = kStart;
  int operations_ = 0;
};

std::string describe(const Partition& p) {
  std::string out = std::to_string(p.size()) + " " + std::to_string(p.unsafeCommits()) + "\n";
  const Hash root = p.tree().root();
  out.append(reinterpret_cast<const char*>(root.data()), root.size());
  for (const std::string& entity : p.entities()) {
    out += "\n" + entity + " ";
    p.module().writeState(out, *p.state(entity));
    out.append(reinterpret_cast<const char*>(p.stateDigest(entity)->data()), 32);
    out += std::to_string(p.state(entity)->notPassing);
  }
  for (const PendingView& pending : p.queue())
    out +=
        "\n" + std::to_string(pending.seq) + pending.action + pending.message + std::to_string(pending.findings.size());
  return out;
}

std::unique_ptr<DomainModule> udt() { return domains::makeDomain("udt").value(); }

std::unique_ptr<Ledger> openLedger(store::MemoryStore& store, const DomainModule& module) {
  auto ledger = Ledger::open(store, module, {{}, "witan/test"});
  EXPECT_TRUE(ledger.ok()) << (ledger.ok() ? "" : ledger.error().message);
  return std::move(*ledger);
}

void dropSnapshots(store::MemoryStore& store) {
  store::WriteBatch erase;
  ASSERT_TRUE(store
                  .scan("s/", {},
                        [&](std::string_view key, std::string_view) {
                          erase.erase(key);
                          return true;
                        })
                  .ok());
  ASSERT_TRUE(store.write(erase).ok());
}

TEST(Snapshot, RestartFromSnapshotEqualsRestartFromTheWholeLog) {
  const auto module = udt();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    store::MemoryStore store;
    Driver driver(*module, seed);
    std::string expected;
    for (int round = 0; round < 4; ++round) {
      auto ledger = openLedger(store, *module);
      if (round > 0) {
        EXPECT_EQ(describe(ledger->partition()), expected) << "seed " << seed << " round " << round;
        EXPECT_GT(ledger->recovery().snapshotBatches, 0u);
        ledger->partition().checkInvariants();
      }
      driver.steps(*ledger, 60);
      ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
      driver.steps(*ledger, 10);  // a tail behind the snapshot
      expected = describe(ledger->partition());
    }
    dropSnapshots(store);
    auto ledger = openLedger(store, *module);
    EXPECT_EQ(ledger->recovery().snapshotBatches, 0u);
    EXPECT_EQ(describe(ledger->partition()), expected);
  }
}

TEST(Snapshot, RepeatedOperationIdsAreAnsweredAcrossARestart) {
  const auto module = domains::makeDomain("budget").value();
  store::MemoryStore store;
  const auto propose = [&](Ledger& ledger, std::string_view id) {
    const auto action = module->parseAction(parseJson("{\"type\":\"SpendA\",\"n\":1}").value()).value();
    Proposal p;
    p.entity = "B";
    p.role = "A";
    p.operationId = id;
    p.action = action.get();
    p.at = kStart;
    return ledger.partition().propose(p);
  };
  {
    auto ledger = openLedger(store, *module);
    ledger->partition().init("B", {}, kStart);
    EXPECT_EQ(propose(*ledger, "op-1").outcome, Outcome::approved);
    ASSERT_TRUE(ledger->commit().ok());
    ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
  }
  auto ledger = openLedger(store, *module);
  const Decision repeat = propose(*ledger, "op-1");
  EXPECT_EQ(repeat.outcome, Outcome::duplicate);
  EXPECT_EQ(repeat.recorded, Outcome::approved);
  EXPECT_EQ(repeat.seq, 1u);
  EXPECT_EQ(propose(*ledger, "op-2").outcome, Outcome::approved);
}

// Larger than what is read of one record, or of one message, or stored in one value.
TEST(Snapshot, AStateOfAnySizeComesBack) {
  const auto module = domains::makeDomain("graph").value();
  const std::string digest(64, 'a'), external(60'000, 'x');
  store::MemoryStore store;
  std::string expected;
  {
    auto ledger = openLedger(store, *module);
    ledger->partition().init("G", {}, kStart);
    const auto propose = [&](const char* role, json::object action) {
      const auto parsed = module->parseAction(action).value();
      Proposal p;
      p.entity = "G", p.role = role, p.action = parsed.get(), p.at = kStart;
      p.operationId = concat("op-", ledger->partition().size());
      EXPECT_EQ(ledger->partition().propose(p).outcome, Outcome::approved);
      ASSERT_TRUE(ledger->commit().ok());
    };
    propose("Operator", {{"type", "Deploy"}, {"version", 1}, {"digest", digest}, {"deliveries", 9}});
    for (int n = 100; n < 420; ++n)
      propose("Runtime", {{"type", "Begin"},
                          {"run", concat(std::string(61, 'b'), n)},
                          {"version", 1},
                          {"node", "in"},
                          {"external", concat(external, n)},
                          {"message", concat(std::string(61, 'c'), n)},
                          {"key", "k"},
                          {"digest", digest}});
    ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
    module->writeState(expected, *ledger->partition().state("G"));
    EXPECT_GT(expected.size(), 4 * kSnapshotPartBytes);
    ASSERT_TRUE(store
                    .scan(kSnapshotEntityPrefix, {},
                          [](std::string_view, std::string_view value) {
                            EXPECT_LE(value.size(), kSnapshotPartBytes + 8);
                            return true;
                          })
                    .ok());
    // As a larger snapshot before it leaves them.
    store::WriteBatch stale;
    stale.put(concat(kSnapshotEntityPrefix, "G\n\x7f"), sealSnapshot("stale"));
    ASSERT_TRUE(store.write(stale).ok());
  }
  auto ledger = openLedger(store, *module);
  EXPECT_EQ(ledger->recovery().snapshotBatches, ledger->batches());
  std::string restored;
  module->writeState(restored, *ledger->partition().state("G"));
  EXPECT_TRUE(restored == expected);
}

TEST(Snapshot, ADamagedSnapshotIsThrownAwayAndTheLogDecides) {
  const auto module = udt();
  store::MemoryStore store;
  Driver driver(*module, 7);
  std::string expected;
  {
    auto ledger = openLedger(store, *module);
    driver.steps(*ledger, 80);
    ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
    expected = describe(ledger->partition());
  }
  std::vector<std::pair<std::string, std::string>> records;
  ASSERT_TRUE(store
                  .scan("s/", {},
                        [&](std::string_view key, std::string_view value) {
                          records.emplace_back(key, value);
                          return true;
                        })
                  .ok());
  ASSERT_GT(records.size(), 4u);
  for (const auto& [key, value] : records) {
    for (std::size_t at : {std::size_t{0}, value.size() / 2, value.size() - 1}) {
      store::WriteBatch damage;
      for (const auto& [k, v] : records) damage.put(k, v);
      std::string bad = value;
      bad[at] = static_cast<char>(bad[at] ^ 0x20);
      damage.put(key, bad);
      ASSERT_TRUE(store.write(damage).ok());
      auto ledger = openLedger(store, *module);
      EXPECT_EQ(describe(ledger->partition()), expected) << "damaged " << key << " at " << at;
      EXPECT_EQ(ledger->recovery().snapshotBatches, 0u);
    }
    store::WriteBatch missing;
    for (const auto& [k, v] : records) missing.put(k, v);
    missing.erase(key);
    ASSERT_TRUE(store.write(missing).ok());
    EXPECT_EQ(describe(openLedger(store, *module)->partition()), expected) << "missing " << key;
  }
}

}  // namespace
}  // namespace witan::kernel::snapshot_test
