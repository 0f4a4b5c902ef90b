// A ledger of `witan run` in the hands of somebody who can write its folder: what its key signed must stay as it was
// signed. Each manipulation leaves checksums right; the key signs nothing over it, and `ledger verify` names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/ledger/ledger.h"
#include "program/error_report.h"
#include "store/rocks_store.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::signed_head_test {
namespace {

namespace fs = std::filesystem;
using test::Finished;
using test::runWitan;
using test::Scratch;

std::string line(int minute, const std::string& rest) {
  return "{\"at\":\"2026-03-23T08:" + std::to_string(10 + minute) + ":00Z\",\"entity\":\"e\"," + rest + "}\n";
}
std::string spend(int minute, int n = 1) {
  return line(minute, R"("role":"A","action":{"type":"SpendA","n":)" + std::to_string(n) + "}");
}

class SignedHead : public ::testing::Test {
 protected:
  // Three batches and checkpoints: 0, 2 and 4 entries. `other` has the same entries but for the last.
  void SetUp() override {
    for (const std::string name : {"store", "other"}) {
      ASSERT_EQ(append(line(0, "\"init\":{}"), name).exitCode, kExitOk);
      ASSERT_EQ(append(spend(1) + spend(2), name).exitCode, kExitOk);
      ASSERT_EQ(append(spend(3) + spend(4, name == "store" ? 1 : 2), name).exitCode, kExitOk);
    }
    fs::copy_file(dir() / "ledger.vkey", scratch_ / "kept.vkey");
    scratch_.write("kept.checkpoint", rowOf("store", kernel::checkpointKey(4)));
  }
  Finished append(const std::string& events, const std::string& name = "store") {
    return runWitan({"run", "--domain", "budget", "--events", "-", "--store", scratch_ / name}, events);
  }
  fs::path dir() const { return scratch_ / "store"; }
  std::unique_ptr<store::Store> open(const std::string& name) {
    return store::openRocksStore(fs::path(scratch_ / name) / "db").value();
  }
  std::string rowOf(const std::string& name, const std::string& key) { return open(name)->get(key).value().value(); }
  void put(const std::string& key, const std::string& value) {
    store::WriteBatch batch;
    value.empty() ? batch.erase(key) : batch.put(key, value);
    ASSERT_TRUE(open("store")->writeSynced(batch).ok());
  }
  void forgeLastEntry() { put(kernel::batchKey(2), rowOf("other", kernel::batchKey(2))); }
  // The store as it was with two entries.
  void rollBack() {
    put(kernel::batchKey(2), "");
    put(kernel::checkpointKey(4), "");
  }

  json::value verify(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{"ledger", "verify", "--json", "--store", scratch_ / "store"};
    command.insert(command.end(), more.begin(), more.end());
    const Finished run = runWitan(command);
    auto report = parseJson(run.out);
    EXPECT_TRUE(report.ok()) << run.out << run.err;
    EXPECT_EQ(run.exitCode == kExitOk, report->at("ok").as_bool());
    return *report;
  }
  bool verifies(const std::vector<std::string>& more = {}) { return verify(more).at("ok").as_bool(); }
  std::vector<std::string> kept() {
    return {"--vkey", scratch_ / "kept.vkey", "--checkpoint", scratch_ / "kept.checkpoint"};
  }
  // Nothing is decided and nothing is signed.
  void expectStopped() {
    const std::string before = fs::exists(dir() / "ledger.signed") ? scratch_.read("store/ledger.signed") : "";
    const Finished run = append(spend(5));
    EXPECT_EQ(run.exitCode, kExitFailed) << run.out;
    EXPECT_EQ(run.out, "");
    const std::string after = fs::exists(dir() / "ledger.signed") ? scratch_.read("store/ledger.signed") : "";
    EXPECT_EQ(after, before);
    EXPECT_FALSE(open("store")->get(kernel::checkpointKey(5)).value().has_value());
  }

  Scratch scratch_;
};

TEST_F(SignedHead, AnUntouchedLedgerVerifiesAndGoesOn) {
  EXPECT_EQ(verify().at("signedEntries"), 4);
  EXPECT_TRUE(verifies(kept()));
  EXPECT_TRUE(verifies({"--signed"}));
  EXPECT_EQ(append(spend(5)).exitCode, kExitOk);
  EXPECT_TRUE(verifies(kept()));
  EXPECT_EQ(verify().at("signedEntries"), 5);
}

TEST_F(SignedHead, AReplacedEntryIsNotSignedOver) {
  forgeLastEntry();
  expectStopped();
  EXPECT_FALSE(verifies());
}

TEST_F(SignedHead, NorWithItsCheckpointsDeleted) {
  forgeLastEntry();
  for (const std::uint64_t size : {0, 2, 4}) put(kernel::checkpointKey(size), "");
  expectStopped();
  EXPECT_FALSE(verifies());
}

TEST_F(SignedHead, EntriesTakenAwayAreMissed) {
  rollBack();
  expectStopped();
  EXPECT_FALSE(verifies());
}

// The signer's memory is gone too: only who keeps a checkpoint sees it.
TEST_F(SignedHead, EntriesTakenAwayWithTheMemoryOfThemAreMissedByAKeptCheckpoint) {
  rollBack();
  scratch_.write("store/ledger.signed", rowOf("store", kernel::checkpointKey(2)));
  EXPECT_TRUE(verifies());
  EXPECT_FALSE(verifies(kept()));
}

TEST_F(SignedHead, ATornBatchBehindADeletedCheckpointIsNoCrash) {
  const std::string batch = rowOf("store", kernel::batchKey(2));
  put(kernel::checkpointKey(4), "");
  put(kernel::batchKey(2), batch.substr(0, batch.size() - 8));
  expectStopped();
  EXPECT_EQ(rowOf("store", kernel::batchKey(2)).size(), batch.size() - 8) << "what is left of it is evidence";
}

TEST_F(SignedHead, AnotherKeySignsNothing) {
  for (const char* file : {"ledger.key", "ledger.vkey"})
    fs::copy_file(fs::path(scratch_ / "other") / file, dir() / file, fs::copy_options::overwrite_existing);
  expectStopped();
  EXPECT_FALSE(verifies());
}

// All of the folder is another ledger's.
TEST_F(SignedHead, AnotherLedgerInItsPlaceFailsUnderTheKeptKey) {
  fs::remove_all(dir());
  fs::copy(scratch_ / "other", dir(), fs::copy_options::recursive);
  EXPECT_TRUE(verifies());
  EXPECT_FALSE(verifies({"--vkey", scratch_ / "kept.vkey"}));
}

TEST_F(SignedHead, ACounselorAddedToTheFormatRecordMayNotDecide) {
  std::string format = rowOf("store", "format");
  const std::string list = "\"counselors\":[";
  format.insert(format.find(list) + list.size(),
                format[format.find(list) + list.size()] == ']' ? "\"mallory\"" : "\"mallory\",");
  put("format", format);
  expectStopped();
}

TEST_F(SignedHead, AFormatRecordWithANewDigestIsNotTheSignedOne) {
  std::string format = rowOf("store", "format");
  const std::string member = "\"moduleDigest\":\"";
  char& digit = format[format.find(member) + member.size()];
  digit = digit == '0' ? '1' : '0';
  put("format", format);
  expectStopped();
  EXPECT_FALSE(verifies());
}

TEST_F(SignedHead, AnInvariantRenamedInTheFormatRecordIsNotTheSignedOne) {
  std::string format = rowOf("store", "format");
  const std::string last = "\"],\"";  // of the list of invariants
  const std::size_t at = format.find(last, format.find("\"invariants\":["));
  ASSERT_NE(at, std::string::npos) << format;
  format.insert(at, "X");
  put("format", format);
  expectStopped();
  EXPECT_FALSE(verifies());
}

TEST_F(SignedHead, UnsignedEntriesAreSaid) {
  for (const std::uint64_t size : {0, 2, 4}) put(kernel::checkpointKey(size), "");
  fs::remove(dir() / "ledger.signed");
  EXPECT_EQ(verify().at("signedEntries"), 0);
  EXPECT_TRUE(verifies());
  EXPECT_FALSE(verifies({"--signed"}));
  EXPECT_NE(runWitan({"ledger", "verify", "--store", scratch_ / "store"}).err, "");
}

TEST_F(SignedHead, WhatIsGivenToVerifyIsChecked) {
  scratch_.write("no.vkey", "x\n");
  scratch_.write("no.checkpoint", "x\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--vkey", scratch_ / "no.vkey"},
                                               {"--vkey", scratch_ / "absent"},
                                               {"--checkpoint", scratch_ / "no.checkpoint"},
                                               {"--checkpoint", scratch_ / "absent"}}) {
    std::vector<std::string> command{"ledger", "verify", "--store", scratch_ / "store"};
    command.insert(command.end(), more.begin(), more.end());
    const Finished run = runWitan(command);
    EXPECT_EQ(run.exitCode, kExitFailed) << more[0] << " " << more[1];
    EXPECT_EQ(run.out, "");
  }
}

// ---- witan ledger prune

class PrunedLedger : public SignedHead {
 protected:
  Finished ledger(std::vector<std::string> command, const std::string& name = "store") {
    command.insert(command.begin(), "ledger");
    command.insert(command.end(), {"--store", scratch_ / name});
    return runWitan(command);
  }
  std::string codeOf(const Finished& run) {
    return std::string(parseJson(run.err)->at("error").at("code").as_string());
  }
};

TEST_F(PrunedLedger, SaysWhatIsGoneAndProvesAllTheRest) {
  const Finished pruned = ledger({"prune", "--keep", "2", "--json"});
  ASSERT_EQ(pruned.exitCode, kExitOk) << pruned.err;
  EXPECT_EQ(parseJson(pruned.out)->at("pruned"), 2);
  EXPECT_EQ(parseJson(pruned.out)->at("entries"), 4);
  EXPECT_EQ(verify(kept()).at("prunedEntries"), 2);
  EXPECT_TRUE(verifies({"--replay", "--signed"}));
  EXPECT_THAT(ledger({"verify"}).out, testing::HasSubstr("from entry 3"));

  EXPECT_EQ(ledger({"show", "3"}).exitCode, kExitOk);
  for (const std::vector<std::string>& gone : {std::vector<std::string>{"show", "2", "--json"},
                                               {"export", "--json"},
                                               {"export", "--json", "--tiles", scratch_ / "tiles"}}) {
    const Finished run = ledger(gone);
    EXPECT_EQ(run.exitCode, kExitFailed) << gone[0];
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(codeOf(run), "notFound") << run.err;
  }
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(ledger({"export", "--from", "3"}).out), 2);
  EXPECT_EQ(lines(ledger({"tail", "-n", "0", "--json"}).out), 2);
}

TEST_F(PrunedLedger, GoesOnAsIfNothingWereGone) {
  ASSERT_EQ(append(spend(5) + spend(6)).exitCode, kExitOk);
  fs::copy(dir(), scratch_ / "whole", fs::copy_options::recursive);
  ASSERT_EQ(ledger({"prune", "--keep", "1"}).exitCode, kExitOk);
  for (const std::string name : {"store", "whole"}) ASSERT_EQ(append(spend(7), name).exitCode, kExitOk);
  const auto root = [&](const std::string& name) {
    return parseJson(ledger({"verify", "--replay", "--json"}, name).out)->at("root");
  };
  EXPECT_EQ(root("store"), root("whole"));
  for (const std::string from : {"1", "3", "6"})
    EXPECT_EQ(ledger({"proof", "--consistency-from", from}).out,
              ledger({"proof", "--consistency-from", from}, "whole").out);
  const auto inclusion = [&](const std::string& name) {
    return parseJson(ledger({"proof", "2", "--json"}, name).out)->at("path");
  };
  EXPECT_EQ(inclusion("store"), inclusion("whole"));
  const auto answers = [&](const std::string& name) { return append(spend(1) + spend(2) + spend(5), name).out; };
  EXPECT_EQ(std::ranges::count(answers("store"), '\n'), std::ranges::count(answers("whole"), '\n'));
  EXPECT_EQ(root("store"), root("whole"));
}

TEST_F(PrunedLedger, StaysWholeIfItDoesNotVerifyOrNothingSaysWhatStays) {
  EXPECT_EQ(ledger({"prune"}).exitCode, kExitUsage);
  EXPECT_EQ(runWitan({"ledger", "prune", "--keep", "1"}).exitCode, kExitUsage);
  const std::string node = scratch_ / "node";
  ASSERT_EQ(runWitan({"init", "--dir", node, "--listen", "127.0.0.1:0"}).exitCode, kExitOk);
  for (const std::string& cluster : {node, node + "/", node + "/ledgers", node + "/ledgers/"})
    EXPECT_EQ(codeOf(runWitan({"ledger", "prune", "--store", cluster, "--keep", "1", "--json"})), "conflict");
  EXPECT_EQ(ledger({"prune", "--keep", "9"}).exitCode, kExitOk);
  EXPECT_EQ(verify().get_object().if_contains("prunedEntries"), nullptr);
  forgeLastEntry();
  EXPECT_EQ(ledger({"prune", "--keep", "1"}).exitCode, kExitFailed);
  EXPECT_FALSE(open("store")->get("pruned").value().has_value());
}

}  // namespace
}  // namespace witan::node::signed_head_test
