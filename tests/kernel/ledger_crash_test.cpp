// Crash at every write boundary of an adjudication; torn tails; damaged logs; another domain's or policy's ledger.
#include "tests/kernel/ledger_crash.h"

#include <gtest/gtest.h>

#include "kernel/ledger/snapshot.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::ledger_crash_test {
namespace {

// Takes the last batches of the log away.
void loseLast(store::Store& store, int batches) {
  for (int i = 0; i < batches; ++i) {
    store::WriteBatch batch;
    batch.erase(store.last("l").value()->first);
    ASSERT_TRUE(store.writeSynced(batch).ok());
  }
}

class LedgerCrash : public testing::Test {
 protected:
  std::unique_ptr<DomainModule> module = chest::module();
  std::vector<Step> events = eventsFor(*module, 42, 60);
};

TEST_F(LedgerCrash, AtEveryWriteBoundary_OneEventACommit) {
  EXPECT_EQ(crashAtEveryWriteBoundary(*module, eventsFor(*module, 7, 25), 1), "");
}
TEST_F(LedgerCrash, AtEveryWriteBoundary_GroupCommit) { EXPECT_EQ(crashAtEveryWriteBoundary(*module, events, 7), ""); }
TEST_F(LedgerCrash, AtEveryWriteBoundary_WithSnapshots) {
  EXPECT_EQ(crashAtEveryWriteBoundary(*module, events, 7, 6), "");
}

TEST_F(LedgerCrash, TornAtEveryByte) {
  std::size_t records = 0;
  EXPECT_EQ(tearTheLastBatchAtEveryByte(*module, eventsFor(*module, 3, 18), 10, &records), "");
  EXPECT_GT(records, 3u);
}

// A disk that fails without a power loss: the ledger stops; after reopening, nothing acknowledged is missing.
TEST_F(LedgerCrash, AFailedWriteIsNotAcknowledged) {
  CrashRig undisturbed(*module, events, 5);
  ASSERT_EQ(undisturbed.run(), "");
  for (std::uint64_t n = 0; n < undisturbed.store.writeSteps(); ++n)
    for (store::Moment moment : {store::Moment::before, store::Moment::after}) {
      CrashRig rig(*module, events, 5);
      rig.store.failAt(n, moment);
      ASSERT_EQ(rig.run(), "stopped") << n;
      rig.store.reopen();
      ASSERT_EQ(rig.run(), "") << n;
      ASSERT_EQ(rig.final, undisturbed.final) << n;
    }
}

TEST_F(LedgerCrash, CrashAfterCrash) {
  CrashRig undisturbed(*module, events, 4);
  ASSERT_EQ(undisturbed.run(), "");
  SeededRandom random(99);
  for (int round = 0; round < 20; ++round) {
    CrashRig rig(*module, events, 4);
    ASSERT_TRUE(Ledger::open(rig.store, *module, {.origin = "crash.test/log"})
                    .ok());  // its format record is no batch and never torn
    std::string answer = "stopped";
    for (int crash = 0; crash < 12 && answer == "stopped"; ++crash) {
      rig.store.crashAt(random.below(6), random.below(2) == 0 ? store::Moment::before : store::Moment::after);
      answer = rig.run();
      rig.store.crash({.keepUnsynced = random.below(2),
                       .tearLastValue = random.below(2) == 0
                                            ? std::optional(static_cast<std::size_t>(random.below(600)))
                                            : std::nullopt});
    }
    if (answer == "stopped") answer = rig.run();
    ASSERT_EQ(answer, "");
    ASSERT_EQ(rig.final, undisturbed.final);
  }
}

// The rig must be able to fail: a store that loses what it called durable.
TEST_F(LedgerCrash, TheRigSeesALostEntry) {
  CrashRig rig(*module, events, 1);
  ASSERT_EQ(rig.run(), "");
  loseLast(rig.store, 8);
  EXPECT_NE(rig.run().find("was acknowledged and is lost"), std::string::npos);
}

// ---- damage is not tearing ----

class LedgerDamage : public LedgerCrash {
 protected:
  LedgerDamage() : rig(*module, events, 5) { EXPECT_EQ(rig.run(), ""); }
  std::vector<std::pair<std::string, std::string>> log() {
    std::vector<std::pair<std::string, std::string>> values;
    EXPECT_TRUE(rig.store
                    .scan("l", {},
                          [&](std::string_view key, std::string_view value) {
                            values.emplace_back(key, value);
                            return true;
                          })
                    .ok());
    return values;
  }
  void put(const std::string& key, const std::string& value) {
    store::WriteBatch batch;
    batch.put(key, value);
    ASSERT_TRUE(rig.store.writeSynced(batch).ok());
  }
  Result<std::unique_ptr<Ledger>> open() { return Ledger::open(rig.store, *module, {}); }

  CrashRig rig;
};

TEST_F(LedgerDamage, EveryAlteredByteOfABatchIsRefusedAndNamed) {
  const auto values = log();
  ASSERT_GT(values.size(), 3u);
  const auto& [key, value] = values[values.size() / 2];
  for (std::size_t at = 0; at < value.size(); ++at) {
    std::string altered = value;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    put(key, altered);
    auto ledger = open();
    ASSERT_FALSE(ledger.ok()) << "byte " << at;
    EXPECT_EQ(ledger.error().code, ErrorCode::corrupt);
    // The first bytes frame the batch; from the first record on, the entry is named.
    const bool named = (ledger.error().message + ledger.error().hint).find("entry ") != std::string::npos;
    EXPECT_TRUE(named || at < kBatchHeader) << ledger.error().message;
  }
  put(key, value);
  EXPECT_TRUE(open().ok());
}

TEST_F(LedgerDamage, AMissingBatchIsNamed) {
  const auto values = log();
  store::WriteBatch batch;
  batch.erase(values[1].first);
  ASSERT_TRUE(rig.store.writeSynced(batch).ok());
  EXPECT_EQ(open().error().message, "batch 1 of the log is missing");
}

TEST_F(LedgerDamage, ATornBatchThatIsNotTheLastIsDamage) {
  const auto values = log();
  put(values[1].first, values[1].second.substr(0, values[1].second.size() - 1));
  EXPECT_EQ(open().error().code, ErrorCode::corrupt);
}

TEST_F(LedgerDamage, ACheckpointOfMoreThanIsLeftIsRefused) {
  auto ledger = open();
  SeededRandom random(1);
  const SigningKey key = SigningKey::generate(random);
  ASSERT_TRUE((*ledger)->checkpoint(key, Time{1}).ok());
  loseLast(rig.store, 3);
  auto reopened = open();
  ASSERT_FALSE(reopened.ok());
  EXPECT_NE(reopened.error().message.find("a signed checkpoint speaks of more"), std::string::npos);
}

TEST_F(LedgerDamage, AnotherMeaningIsRefused) {
  auto otherPolicy = makeModule<chest::Chest<>>(objectOf(R"({"high":61})")).value();
  EXPECT_EQ(Ledger::open(rig.store, *otherPolicy, {}).error().code, ErrorCode::conflict);
  auto otherInvariants = chest::module<chest::Chest<InvariantList<chest::GoldPositive>>>();
  EXPECT_EQ(Ledger::open(rig.store, *otherInvariants, {}).error().code, ErrorCode::conflict);
  auto format = Ledger::readFormat(rig.store);
  ASSERT_TRUE(format.ok() && format->has_value());
  EXPECT_EQ((*format)->domain, "chest");
  put("format", R"({"format":2})");
  EXPECT_EQ(open().error().code, ErrorCode::conflict);
  put("format", "?");
  EXPECT_EQ(open().error().code, ErrorCode::corrupt);
}

// A read that fails is an error, or it was of derived data; never an empty ledger.
TEST_F(LedgerDamage, AFailedReadIsAnError) {
  int errors = 0;
  for (std::uint64_t n = 0; n < 8; ++n) {
    rig.store.failReadAt(n);
    auto ledger = open();
    if (!ledger.ok())
      EXPECT_EQ(ledger.error().code, ErrorCode::ioFailed) << n;
    else
      EXPECT_EQ(picture((*ledger)->partition()), rig.final) << n;
    errors += !ledger.ok();
  }
  EXPECT_GE(errors, 2);
  rig.store.reopen();
  EXPECT_TRUE(open().ok());
}

// Derived data that is not what was written: none of it is left for another start to find.
TEST_F(LedgerDamage, ADamagedSnapshotIsThrownAway) {
  const auto rows = [&] {
    std::size_t count = 0;
    EXPECT_TRUE(rig.store.scan("s/", {}, [&](std::string_view, std::string_view) { return ++count > 0; }).ok());
    return count;
  };
  ASSERT_TRUE((*open())->snapshotIfDue(1).ok());
  ASSERT_GT(rows(), 1u);
  put(std::string(kSnapshotHeadKey), "?");
  const auto ledger = open();
  ASSERT_TRUE(ledger.ok()) << ledger.error().message;
  EXPECT_EQ(picture((*ledger)->partition()), rig.final);
  EXPECT_EQ(rows(), 0u);
}

TEST_F(LedgerDamage, EntriesByNumber) {
  auto ledger = open();
  ASSERT_TRUE(ledger.ok());
  const std::uint64_t size = (*ledger)->partition().size();
  for (std::uint64_t seq = size; seq >= 1; --seq)
    EXPECT_EQ(readEntry((*ledger)->entryBytes(seq).value()).value().seq, seq);
  EXPECT_EQ((*ledger)->entryBytes(0).error().code, ErrorCode::notFound);
  EXPECT_EQ((*ledger)->entryBytes(size + 1).error().code, ErrorCode::notFound);
}

}  // namespace
}  // namespace witan::kernel::test::ledger_crash_test
