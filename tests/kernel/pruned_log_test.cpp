// Logs whose oldest entries were pruned: what stands is what stood, at every crash; what was altered is found.
#include "kernel/ledger/pruned_log.h"

#include <gtest/gtest.h>

#include "kernel/ledger/ledger_verify.h"
#include "kernel/ledger/snapshot.h"
#include "tests/kernel/ledger_crash.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::pruned_log_test {
namespace {

constexpr int kEvents = 90, kFirst = 60;  // the latter before a ledger is pruned
const Time kNow{std::int64_t{4'000'000'000} * 1'000'000};

class Pruned : public testing::Test {
 protected:
  std::unique_ptr<Ledger> open(store::Store& at) {
    auto ledger = Ledger::open(at, *module, {.origin = origin});
    EXPECT_TRUE(ledger.ok()) << ledger.error().message;
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }
  std::string pictureOf(store::Store& at) {
    const auto ledger = Ledger::open(at, *module, {.origin = origin});
    return ledger.ok() ? picture((*ledger)->partition()) : ledger.error().message;
  }
  // Feeds events, three to a commit, and signs the head.
  void feedTo(store::Store& at, int from, int to, std::uint64_t snapshotEvery = 0) {
    const auto ledger = open(at);
    ASSERT_NE(ledger, nullptr);
    for (int i = from; i < to; ++i) {
      (void)feed(ledger->partition(), events[static_cast<std::size_t>(i)]);
      if (i % 3 != 2 && i + 1 != to) continue;
      ASSERT_TRUE(ledger->commit().ok());
      ASSERT_TRUE(snapshotEvery == 0 || ledger->snapshotIfDue(snapshotEvery).ok());
    }
    ASSERT_TRUE(ledger->checkpoint(key, kNow).ok());
  }
  void fill(store::Store& at, std::uint64_t snapshotEvery = 0) { feedTo(at, 0, kFirst, snapshotEvery); }
  Result<PruneReport> prune(store::Store& at, std::uint64_t keep) {
    return pruneLog(at, *module, key, {keep, 0}, kNow);
  }
  VerifyReport verify(const store::Store& at, bool replay = true) {
    VerifyOptions options{replay ? module.get() : nullptr, verifier};
    return verifyLedger(at, options).value();
  }
  std::uint64_t size(store::Store& at) {
    const auto ledger = open(at);
    return ledger ? ledger->partition().size() : 0;
  }
  static std::vector<std::string> keys(const store::Store& at, std::string_view prefix) {
    std::vector<std::string> all;
    EXPECT_TRUE(at.scan(prefix, {}, [&](std::string_view row, std::string_view) {
                    all.emplace_back(row);
                    return true;
                  }).ok());
    return all;
  }
  static void put(store::Store& at, const std::string& row, const std::string& value) {
    store::WriteBatch batch;
    batch.put(row, value);
    ASSERT_TRUE(at.writeSynced(batch).ok());
  }
  // As `twin` is, but for what was pruned.
  void expectSame(store::Store& at, store::Store& twin) {
    const auto ledger = open(at), other = open(twin);
    ASSERT_TRUE(ledger && other);
    ASSERT_EQ(picture(ledger->partition()), picture(other->partition()));
    ASSERT_EQ(ledger->folded().digest, other->folded().digest);
    ASSERT_EQ(ledger->folded().bytes, other->folded().bytes);
    const std::uint64_t gone = prunedLog(at).value()->entries, all = other->partition().size();
    const MemoryTree tree = ledger->treeOf(all).value();
    for (std::uint64_t n = 1; n <= all; ++n) {
      ASSERT_EQ(ledger->rootOf(n).value(), other->rootOf(n).value()) << n;
      const auto path = consistencyProof(n, all, tree).value();
      ASSERT_TRUE(verifyConsistency(n, all, other->rootOf(n).value(), other->rootOf(all).value(), path)) << n;
      const auto bytes = ledger->entryBytes(n);
      ASSERT_EQ(bytes.ok(), n > gone) << n;
      ASSERT_TRUE(n > gone ? *bytes == other->entryBytes(n).value() : bytes.error().code == ErrorCode::notFound) << n;
    }
    const VerifyReport report = verify(at);
    ASSERT_EQ(report.problem, "");
    ASSERT_EQ(report.prunedEntries, gone);
    ASSERT_EQ(report.entries, all);
    ASSERT_EQ(report.root, verify(twin).root);
    ASSERT_TRUE(verify(at, false).ok());
  }

  const std::unique_ptr<DomainModule> module = chest::module();
  const std::vector<Step> events = eventsFor(*module, 42, kEvents);
  const SigningKey key = SigningKey::fromSeed(std::string(32, '7')).value();
  const std::string origin = "prune.test/log";
  const NoteVerifier verifier = makeNoteVerifier(origin, key.publicKey()).value();
  store::MemoryStore store, whole;
};

TEST_F(Pruned, WhateverIsKeptTheRestStandsAndGoesOnAsBefore) {
  fill(whole);
  const std::uint64_t all = size(whole);
  ASSERT_GT(all, 30u);
  for (std::uint64_t keep = 1; keep < all; keep += 2) {
    SCOPED_TRACE(keep);
    store::MemoryStore one, twin;
    fill(one), fill(twin);
    const auto report = prune(one, keep);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_LE(report->pruned + keep, all);
    if (report->pruned == 0) continue;
    ASSERT_NO_FATAL_FAILURE(expectSame(one, twin));
    feedTo(one, kFirst, kEvents), feedTo(twin, kFirst, kEvents);
    ASSERT_NO_FATAL_FAILURE(expectSame(one, twin));
  }
}

// Each row of what stands for pruned entries, altered by who signs it again.
TEST_F(Pruned, WhatALogAddsUpToIsOverEveryRowThatItGoesOnFrom) {
  fill(store);
  ASSERT_GT(prune(store, 20)->pruned, 0u);
  const PrunedLog pruned = *prunedLog(store).value();
  const Hash digest = open(store)->folded().digest;
  const std::string before = pictureOf(store);
  std::set<std::string> kinds;
  for (const std::string& row : keys(store, concat("b", batchKey(pruned.batches).substr(1)))) {
    const std::string name = row.substr(9);
    const std::string value = store.get(row).value().value(), payload = unsealSnapshot(value).value();
    for (std::size_t byte = 0; byte < payload.size(); byte += 3) {
      std::string other = payload;
      other[byte] ^= 1;
      put(store, row, sealSnapshot(other));
      Partition partition(*module, {.snapshots = true});
      std::vector<std::uint64_t> firsts;
      const auto restored = partition.restoreSnapshot(prunedState(store, pruned), firsts);
      // Bytes between the fields of a message say nothing.
      if (!restored.ok()) continue;
      store::MemoryStore copy;
      ASSERT_TRUE(copyAll(store, copy).ok());
      ASSERT_TRUE(store::eraseUnder(copy, "s/").ok());  // else it goes on from its snapshot
      ASSERT_TRUE(beginPruned(copy, pruned, {}, this->key, kNow).ok());
      const auto ledger = Ledger::open(copy, *module, {.origin = origin});
      if (!ledger.ok()) continue;
      if ((*ledger)->folded().digest != digest)
        kinds.insert(name.substr(0, 4));
      else
        EXPECT_EQ(picture((*ledger)->partition()), before) << name << " byte " << byte;
    }
    put(store, row, value);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"s/b/", "s/e/", "s/he", "s/n/", "s/o/"}));
}

// However many operations there are since the last snapshot: a base goes from one device to another in rows.
TEST_F(Pruned, RowsOfASnapshotHaveABound) {
  const auto ledger = open(store);
  const auto action = module->parseAction({{"type", "Earn"}, {"n", 1}}).value();
  const std::size_t all = 2 * kSnapshotChunkRows + 3;
  for (std::size_t n = 0; n < all; ++n) {
    const std::string id = concat("op-", n);
    Proposal proposal{.entity = "nobody", .role = "Treasurer", .operationId = id, .action = action.get(), .at = kNow};
    proposal.remember = true;
    ASSERT_EQ(ledger->partition().propose(proposal).outcome, Outcome::refused);
  }
  ASSERT_TRUE(ledger->commit().ok());
  const Hash digest = ledger->folded().digest;
  store::WriteBatch rows;
  ledger->partition().stageSnapshot(ledger->batches(), {1}, rows);
  store::MemoryStore copy;
  ASSERT_TRUE(copy.write(rows).ok());
  EXPECT_EQ(keys(copy, "s/o/").size(), 3u);
  Partition again(*module, {.snapshots = true});
  std::vector<std::uint64_t> firsts;
  const auto restored = again.restoreSnapshot(copy, firsts);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(again.folded(firsts).digest, digest);
  EXPECT_TRUE(again.knows(concat("op-", all - 1)));
}

TEST_F(Pruned, SeveralTimesIsAsOnce) {
  fill(store, 7), fill(whole, 7);
  ASSERT_GT(prune(store, 30)->pruned, 0u);
  feedTo(store, kFirst, kEvents, 7), feedTo(whole, kFirst, kEvents, 7);
  const std::uint64_t first = prunedLog(store).value()->entries;
  const auto again = prune(store, 5);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->before, first);
  EXPECT_GT(again->pruned, first);
  expectSame(store, whole);
  store::MemoryStore once;
  fill(once, 7), feedTo(once, kFirst, kEvents, 7);
  ASSERT_EQ(prune(once, 5)->pruned, again->pruned);
  EXPECT_EQ(keys(once, "l"), keys(store, "l"));
  EXPECT_EQ(prune(store, 5)->pruned, again->pruned) << "and a third time takes nothing more";
}

TEST_F(Pruned, ByDaysKeepsWhatIsYoung) {
  fill(store);
  const auto ledger = open(store);
  const std::uint64_t middle = ledger->partition().size() / 2;
  const Time then = readEntry(ledger->entryBytes(middle).value())->time;
  const Time tenDaysLater{then.micros + std::int64_t{10} * 86'400'000'000};
  const auto report = pruneLog(store, *module, key, {0, 10}, tenDaysLater);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_GT(report->pruned, 0u);
  EXPECT_LE(report->pruned, middle);
  const auto rest = open(store);
  ASSERT_NE(rest, nullptr);
  EXPECT_TRUE(rest->entryBytes(middle + 1).ok());
}

// Power loss before and after every write step of it, with none, one or all of the un-synced writes kept; the first
// time that a ledger is pruned, and the next time.
class PrunedCrash : public Pruned, public testing::WithParamInterface<bool> {
 protected:
  void prepare(store::Store& at) {
    fill(at, 7);
    if (!GetParam()) return;
    ASSERT_GT(prune(at, 30)->pruned, 0u);
    feedTo(at, kFirst, kEvents, 7);
  }
};

TEST_P(PrunedCrash, AtEveryWriteBoundary) {
  fill(whole);
  if (GetParam()) feedTo(whole, kFirst, kEvents);
  store::MemoryStore undisturbed;
  prepare(undisturbed);
  const std::uint64_t before = undisturbed.writeSteps();
  ASSERT_GT(prune(undisturbed, 12)->pruned, 0u);
  const std::uint64_t steps = undisturbed.writeSteps() - before;
  ASSERT_GT(steps, 4u);
  for (std::uint64_t n = 0; n < steps; ++n)
    for (const store::Moment moment : {store::Moment::before, store::Moment::after})
      for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
        SCOPED_TRACE(testing::Message() << n << (moment == store::Moment::before ? " before" : " after") << kept);
        store::MemoryStore one;
        prepare(one);
        one.crashAt(n, moment);
        ASSERT_FALSE(prune(one, 12).ok());
        one.crash({.keepUnsynced = kept, .tearLastValue = {}});
        ASSERT_EQ(pictureOf(one), pictureOf(whole));
        ASSERT_EQ(verify(one).problem, "");
        ASSERT_TRUE(prune(one, 12).ok());
        ASSERT_NO_FATAL_FAILURE(expectSame(one, whole));
        for (const char* prefix : {"l", "b", "t", "c"}) ASSERT_EQ(keys(one, prefix), keys(undisturbed, prefix));
      }
}

INSTANTIATE_TEST_SUITE_P(TheFirstAndTheNextTime, PrunedCrash, testing::Bool());

// As on a disk without room: it says so, and nothing is lost.
TEST_F(Pruned, AWriteThatFailsLosesNothing) {
  fill(whole);
  for (std::uint64_t n = 0;; ++n) {
    store::MemoryStore one;
    fill(one);
    one.failAt(n, store::Moment::before);
    const auto report = prune(one, 12);
    if (report.ok()) break;
    ASSERT_LT(n, 50u);
    one.reopen();
    ASSERT_EQ(pictureOf(one), pictureOf(whole)) << n;
    ASSERT_EQ(verify(one).problem, "");
    ASSERT_TRUE(prune(one, 12).ok());
    ASSERT_NO_FATAL_FAILURE(expectSame(one, whole));
  }
}

// Snapshots are derived, and may go; what stands for the pruned entries may not.
TEST_F(Pruned, OpensWithoutSnapshots) {
  fill(store, 5), fill(whole);
  ASSERT_GT(prune(store, 12)->pruned, 0u);
  for (const std::string& row : keys(store, "s/")) {
    store::WriteBatch erased;
    erased.erase(row);
    ASSERT_TRUE(store.writeSynced(erased).ok());
  }
  expectSame(store, whole);
  put(store, std::string(kSnapshotHeadKey), "damaged");
  expectSame(store, whole);
}

TEST_F(Pruned, AnOldOperationIsNotDecidedAgain) {
  fill(store);
  ASSERT_GT(prune(store, 20)->pruned, 0u);
  const std::uint64_t gone = prunedLog(store).value()->entries;
  const auto ledger = open(store);
  ASSERT_NE(ledger, nullptr);
  const std::uint64_t all = ledger->partition().size();
  std::size_t old = 0, kept = 0;
  for (int i = 0; i < kFirst; ++i) {
    const Step& event = events[static_cast<std::size_t>(i)];
    const std::uint64_t entry = event.kind == Step::Kind::init ? 0 : ledger->partition().entryOf(event.operationId);
    if (entry == 0) continue;
    const Decision decision = feed(ledger->partition(), event);
    if (decision.outcome == Outcome::refused && entry > gone) continue;  // another act under one name
    EXPECT_EQ(decision.outcome, Outcome::duplicate) << i;
    EXPECT_EQ(decision.seq, entry) << i;
    EXPECT_EQ(decision.recorded == Outcome::duplicate, entry <= gone) << i;
    ++(entry <= gone ? old : kept);
  }
  EXPECT_GT(old, 5u);
  EXPECT_GT(kept, 5u);
  EXPECT_EQ(ledger->partition().size(), all);
}

TEST_F(Pruned, ALedgerWithEpochsIsNot) {
  {
    const auto ledger = open(store);
    ledger->partition().beginEpoch({1, "device@00000001"}, EpochCause::founding, kNow, "");
    ASSERT_TRUE(ledger->commit().ok());
  }
  fill(store);
  const auto report = prune(store, 5);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::conflict);
  EXPECT_FALSE(prunedLog(store).value().has_value());
}

// Of a cluster: epochs begin before and behind what goes.
class PrunedCopy : public Pruned {
 protected:
  static constexpr PruneOptions kCopy{.ofCluster = true};
  void begin(store::Store& at, std::uint64_t number) {
    const auto ledger = open(at);
    const Epoch epoch{number, concat("device-", number, "@00000001")};
    ledger->partition().beginEpoch(epoch, number == 1 ? EpochCause::founding : EpochCause::seizure, kNow, "");
    ASSERT_TRUE(ledger->commit().ok());
  }
  void fillWithEpochs(store::Store& at) {
    begin(at, 1);
    feedTo(at, 0, 20);
    begin(at, 2);
    feedTo(at, 20, 40);
    begin(at, 3);
    feedTo(at, 40, kFirst);
  }
  Result<PruneReport> pruneCopy(store::Store& at, std::uint64_t keep, PruneOptions options = kCopy) {
    return pruneLog(at, *module, key, {keep, 0}, kNow, options);
  }
  void expectSameEpochs(store::Store& at, store::Store& twin) {
    const auto ledger = open(at), other = open(twin);
    ASSERT_TRUE(ledger && other);
    EXPECT_EQ(ledger->epochStarts(), other->epochStarts());
    EXPECT_EQ(ledger->batches(), other->batches());
    EXPECT_EQ(picture(ledger->partition()), picture(other->partition()));
    ASSERT_EQ(ledger->partition().epochs().size(), other->partition().epochs().size());
    const VerifyReport report = verifyLedger(at, {module.get(), std::nullopt}).value();
    EXPECT_EQ(report.problem, "");
    EXPECT_EQ(report.prunedEntries, ledger->prunedEntries());
  }
};

TEST_F(PrunedCopy, KeepsItsEpochsAndGoesOnWithThem) {
  fillWithEpochs(store);
  fillWithEpochs(whole);
  for (const std::uint64_t keep : {50, 30, 12, 3}) {
    ASSERT_TRUE(pruneCopy(store, keep).ok()) << keep;
    ASSERT_NO_FATAL_FAILURE(expectSameEpochs(store, whole)) << keep;
  }
  EXPECT_GT(prunedLog(store).value()->epochs.size(), 1u);
  for (store::Store* at : {static_cast<store::Store*>(&store), static_cast<store::Store*>(&whole)}) {
    begin(*at, 4);
    feedTo(*at, kFirst, kEvents);
  }
  ASSERT_NO_FATAL_FAILURE(expectSameEpochs(store, whole));
}

// Epochs without entries, and a base at each place between them.
TEST_F(PrunedCopy, MayBeginBetweenEpochsWithoutEntries) {
  const auto fillEmpty = [&](store::Store& at) {
    begin(at, 1);
    feedTo(at, 0, 9);
    for (std::uint64_t n = 2; n <= 4; ++n) begin(at, n);
    feedTo(at, 9, 20);
  };
  fillEmpty(whole);
  const std::uint64_t all = open(whole)->batches();
  for (std::uint64_t batches = 1; batches < all; ++batches) {
    store::MemoryStore one;
    fillEmpty(one);
    ASSERT_TRUE(pruneCopy(one, 1, {.ofCluster = true, .batches = batches}).ok());
    ASSERT_NO_FATAL_FAILURE(expectSameEpochs(one, whole)) << batches;
  }
}

TEST_F(PrunedCopy, NothingGoesFromTheGivenBatchOn) {
  fillWithEpochs(store);
  for (const std::uint64_t batches : {0, 1, 3, 7, 8, 12}) {
    ASSERT_TRUE(pruneCopy(store, 1, {.ofCluster = true, .batches = batches}).ok());
    const auto pruned = prunedLog(store).value();
    EXPECT_LE(pruned ? pruned->batches : 0, batches);
  }
  EXPECT_GT(prunedLog(store).value()->batches, 3u);
}

TEST_F(PrunedCopy, ItsNoteIsOfACopyAndByTheKeyOfItsDevice) {
  fillWithEpochs(store);
  ASSERT_TRUE(pruneCopy(store, 5).ok());
  EXPECT_TRUE(prunedLog(store).value()->note.starts_with(concat(kCopyStatement, origin, "\n")));
  VerifyOptions options{module.get(), std::nullopt};
  EXPECT_EQ(verifyLedger(store, options).value().problem, "");
  const SigningKey other = SigningKey::fromSeed(std::string(32, '8')).value();
  options.copyKeys = {other.publicKey(), key.publicKey()};
  EXPECT_EQ(verifyLedger(store, options).value().problem, "");
  options.copyKeys = {other.publicKey()};
  EXPECT_NE(verifyLedger(store, options).value().problem, "");
}

TEST_F(PrunedCopy, AnAlteredStartOfAnEpochIsFound) {
  fillWithEpochs(store);
  ASSERT_TRUE(pruneCopy(store, 5).ok());
  PrunedLog row = *prunedLog(store).value();
  row.epochs.back().batch += 1;
  WordWriter words;
  put(store, "pruned", sealSnapshot(words.message(row)));
  EXPECT_NE(verifyLedger(store, {module.get(), std::nullopt}).value().problem, "");
}

// Its batches come back, and at each write of making it whole the power goes.
TEST_F(PrunedCopy, IsWholeAgainAtEveryWriteBoundary) {
  fillWithEpochs(whole);
  const auto prepare = [&](store::Store& at) {
    fillWithEpochs(at);
    ASSERT_GT(pruneCopy(at, 12)->pruned, 0u);
    for (std::uint64_t n = 0; n < prunedLog(at).value()->batches; ++n) {
      store::WriteBatch back;
      back.put(batchKey(n), *whole.get(batchKey(n)).value());
      ASSERT_TRUE(at.write(back).ok());
    }
  };
  store::MemoryStore undisturbed;
  prepare(undisturbed);
  const std::uint64_t before = undisturbed.writeSteps();
  ASSERT_TRUE(makeWhole(undisturbed).ok());
  const std::uint64_t steps = undisturbed.writeSteps() - before;
  ASSERT_GT(steps, 2u);
  ASSERT_EQ(keys(undisturbed, "l"), keys(whole, "l"));
  for (const char* prefix : {"b", "t", "pruned"}) EXPECT_TRUE(keys(undisturbed, prefix).empty()) << prefix;
  ASSERT_NO_FATAL_FAILURE(expectSameEpochs(undisturbed, whole));
  for (std::uint64_t n = 0; n < steps; ++n)
    for (const store::Moment moment : {store::Moment::before, store::Moment::after})
      for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{99}}) {
        SCOPED_TRACE(testing::Message() << n << (moment == store::Moment::before ? " before" : " after") << kept);
        store::MemoryStore one;
        prepare(one);
        one.crashAt(n, moment);
        ASSERT_FALSE(makeWhole(one).ok());
        one.crash({.keepUnsynced = kept, .tearLastValue = {}});
        ASSERT_NO_FATAL_FAILURE(expectSameEpochs(one, whole));
      }
}

TEST_F(PrunedCopy, ThatOthersVouchedForFoldsEveryEntryOnceItIsWhole) {
  fillWithEpochs(whole);
  for (const bool vouched : {false, true}) {
    store::MemoryStore one;
    fillWithEpochs(one);
    ASSERT_GT(pruneCopy(one, 12)->pruned, 0u);
    const PrunedLog pruned = *prunedLog(one).value();
    ASSERT_TRUE(!vouched || beginPruned(one, pruned, {"a", "b"}, key, kNow).ok());
    ASSERT_NE(open(one), nullptr);
    ASSERT_FALSE(keys(one, "s/").empty());
    for (std::uint64_t n = 0; n < pruned.batches; ++n) put(one, batchKey(n), *whole.get(batchKey(n)).value());
    ASSERT_TRUE(makeWhole(one).ok());
    EXPECT_EQ(keys(one, "s/").empty(), vouched);
    ASSERT_NO_FATAL_FAILURE(expectSameEpochs(one, whole));
  }
}

TEST_F(PrunedCopy, IsNotWholeWhileABatchIsMissing) {
  fillWithEpochs(store);
  ASSERT_GT(pruneCopy(store, 12)->pruned, 0u);
  const Status made = makeWhole(store);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(prunedLog(store).value().has_value());
}

// ---- in the hands of somebody who can write the store, and has not the key ----

class AlteredPruned : public Pruned {
 protected:
  void SetUp() override {
    fill(store);
    ASSERT_GT(prune(store, 20)->pruned, 0u);
    pruned = *prunedLog(store).value();
    ASSERT_EQ(verify(store).problem, "");
  }
  void expectFound() {
    EXPECT_NE(verify(store).problem, "");
    EXPECT_NE(verify(store, false).problem, "");
  }
  std::string at(const std::string& row) { return store.get(row).value().value(); }
  void flip(const std::string& row, std::size_t byte) {
    std::string value = at(row);
    value[byte] = static_cast<char>(value[byte] ^ 1);
    put(store, row, value);
  }
  // Right but for its meaning: sealed again.
  void forge(const std::string& row, std::size_t byte) {
    std::string payload = unsealSnapshot(at(row)).value();
    payload[byte] = static_cast<char>(payload[byte] ^ 1);
    put(store, row, sealSnapshot(payload));
  }
  void say(const PrunedLog& row) {
    WordWriter words;
    put(store, "pruned", sealSnapshot(words.message(row)));
  }
  PrunedLog pruned;
};

TEST_F(AlteredPruned, AReportSaysWhetherSignaturesWereChecked) {
  EXPECT_TRUE(verify(store, false).signaturesChecked);
  EXPECT_FALSE(verifyLedger(store, {}).value().signaturesChecked);
}

TEST_F(AlteredPruned, AHashIsFound) {
  for (const std::string& tile : keys(store, "t")) {
    const std::string was = at(tile);
    for (std::size_t byte = 0; byte < pruned.entries * sizeof(Hash); byte += 37) {
      flip(tile, byte);
      expectFound();
      put(store, tile, was);
    }
  }
  EXPECT_EQ(verify(store).problem, "");
}

TEST_F(AlteredPruned, AStateIsFoundAlsoWithRightChecksums) {
  for (const std::string& row : keys(store, "b")) {
    const std::string was = at(row);
    for (const std::size_t byte : {std::size_t{0}, unsealSnapshot(was).value().size() / 2}) {
      if (byte >= unsealSnapshot(was).value().size()) continue;
      forge(row, byte);
      expectFound();
    }
    put(store, row, was);
  }
  EXPECT_EQ(verify(store).problem, "");
}

TEST_F(AlteredPruned, ARowTooManyOrTooFewIsFound) {
  const std::string row = keys(store, "b").back(), was = at(row);
  put(store, row + "x", was);
  expectFound();
  store::WriteBatch erased;
  erased.erase(row + "x"), erased.erase(row);
  ASSERT_TRUE(store.writeSynced(erased).ok());
  expectFound();
  put(store, row, was);
  EXPECT_EQ(verify(store).problem, "");
}

// A state of the same entries that another key signed.
TEST_F(AlteredPruned, AnothersSignatureIsFound) {
  store::MemoryStore other;
  fill(other);
  const SigningKey another = SigningKey::fromSeed(std::string(32, '8')).value();
  ASSERT_TRUE(pruneLog(other, *module, another, {20, 0}, kNow).ok());
  PrunedLog row = pruned;
  row.note = prunedLog(other).value()->note;
  say(row);
  expectFound();
}

// What stood before, in place of what was pruned later: the batches in between are missing.
TEST_F(AlteredPruned, AnEarlierOneIsFoundAndNotOpened) {
  std::vector<std::pair<std::string, std::string>> before;
  for (const std::string& row : keys(store, "b")) before.emplace_back(row, at(row));
  ASSERT_GT(prune(store, 3)->pruned, pruned.entries);
  for (const auto& [row, value] : before) put(store, row, value);
  for (const std::string& row : keys(store, "s/")) {
    store::WriteBatch erased;
    erased.erase(row);
    ASSERT_TRUE(store.writeSynced(erased).ok());
  }
  say(pruned);
  expectFound();
  const auto ledger = Ledger::open(store, *module, {.origin = origin});
  ASSERT_FALSE(ledger.ok());
  EXPECT_EQ(ledger.error().code, ErrorCode::corrupt);
}

TEST_F(AlteredPruned, FewerOrMoreEntriesThanThereAreIsFound) {
  for (const std::int64_t by : {-1, 1}) {
    PrunedLog row = pruned;
    row.entries += static_cast<std::uint64_t>(by);
    say(row);
    expectFound();
  }
  for (const std::int64_t by : {-1, 1}) {
    PrunedLog row = pruned;
    row.batches += static_cast<std::uint64_t>(by);
    say(row);
    expectFound();
  }
}

TEST_F(AlteredPruned, AnEntryThatStandsIsFound) {
  const std::string first = keys(store, "l").front();
  flip(first, at(first).size() - 9);
  expectFound();
  store::WriteBatch erased;
  erased.erase(first);
  ASSERT_TRUE(store.writeSynced(erased).ok());
  expectFound();
}

// Without the record nothing says that entries are gone: the log has no beginning.
TEST_F(AlteredPruned, WithoutItsRecordTheLogIsDamaged) {
  store::WriteBatch erased;
  erased.erase("pruned");
  ASSERT_TRUE(store.writeSynced(erased).ok());
  expectFound();
}

// It is not pruned again on the strength of what does not verify.
TEST_F(AlteredPruned, TilesThatAreCutStopTheNextTime) {
  const std::string tile = keys(store, "t").back();
  put(store, tile, at(tile).substr(0, 40));
  EXPECT_FALSE(prune(store, 3).ok());
  EXPECT_EQ(prunedLog(store).value()->entries, pruned.entries);
}

}  // namespace
}  // namespace witan::kernel::test::pruned_log_test
