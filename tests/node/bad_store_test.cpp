// Stores that are not what they should be, through the program: of another domain, in use, damaged, cut short, from the
// future. Each ends in words that name the cause, never in a crash, and never in a ledger that forgot something
// silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/ledger/ledger.h"
#include "kernel/record/log_batch.h"
#include "program/error_report.h"
#include "store/rocks_store.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::bad_store_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;

std::string line(int minute, const std::string& rest) {
  return "{\"at\":\"2026-03-23T08:" + std::to_string(10 + minute) + ":00Z\",\"entity\":\"e\"," + rest + "}\n";
}
std::string spend(int minute) { return line(minute, R"("role":"A","action":{"type":"SpendA","n":1})"); }

class BadStore : public ::testing::Test {
 protected:
  // Three batches: the beginning, two entries, two entries.
  void SetUp() override {
    append(line(0, "\"init\":{}"));
    append(spend(1) + spend(2));
    append(spend(3) + spend(4));
  }
  Finished append(const std::string& events) {
    return runWitan({"run", "--domain", "budget", "--events", "-", "--store", dir()}, events);
  }
  std::string dir() const { return scratch_ / "store"; }

  // Changes the value of a key behind the program's back; an empty one erases the key.
  void tamper(const std::string& key, const std::function<std::string(std::string)>& change) {
    auto store = store::openRocksStore(fs::path(dir()) / "db").value();
    const auto before = store->get(key).value();
    ASSERT_TRUE(before.has_value());
    const std::string after = change(*before);
    store::WriteBatch batch;
    if (after.empty())
      batch.erase(key);
    else
      batch.put(key, after);
    ASSERT_TRUE(store->writeSynced(batch).ok());
  }
  std::string noteOf(std::uint64_t size) {
    return store::openRocksStore(fs::path(dir()) / "db").value()->get(kernel::checkpointKey(size)).value().value();
  }
  void replace(const std::string& key, std::string_view from, std::string_view to) {
    tamper(key, [&](std::string value) {
      const std::size_t at = value.find(from);
      EXPECT_NE(at, std::string::npos) << value;
      return at == std::string::npos ? value : value.replace(at, from.size(), to);
    });
  }

  // Every command that reads the store.
  void expectRefused(const std::string& words) {
    expectError(append(spend(5)), words);
    for (const std::vector<std::string>& command : {std::vector<std::string>{"ledger", "verify"},
                                                    {"ledger", "verify", "--replay"},
                                                    {"ledger", "export"},
                                                    {"queue", "list"}}) {
      std::vector<std::string> all = command;
      all.insert(all.end(), {"--store", dir()});
      const Finished run = runWitan(all);
      EXPECT_EQ(run.signal, 0) << command[0] << " " << command[1] << ": " << run.err;
      EXPECT_EQ(run.exitCode == kExitOk && run.out.empty() && run.err.empty() && command[1] != "list", false);
    }
    EXPECT_EQ(runWitan({"ledger", "verify", "--store", dir()}).exitCode, kExitFailed);
  }
  static void expectError(const Finished& run, const std::string& words) {
    EXPECT_EQ(run.signal, 0) << run.err;
    EXPECT_EQ(run.exitCode, kExitFailed) << run.out << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(words));
  }

  Scratch scratch_;
};

TEST_F(BadStore, AGoodOneContinues) {
  const Finished run = append(spend(5));
  EXPECT_EQ(run.exitCode, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"ledgerSeq\":5"));
  EXPECT_EQ(runWitan({"ledger", "verify", "--replay", "--store", dir()}).exitCode, kExitOk);
}

TEST_F(BadStore, AFileOrAFolderOfSomethingElse) {
  scratch_.write("file", "x");
  expectError(runWitan({"run", "--domain", "budget", "--events", "-", "--store", scratch_ / "file"}), "file");
  expectError(runWitan({"run", "--domain", "budget", "--events", "-", "--store", scratch_ / "file/below"}), "file");
  for (const char* verb : {"verify", "export"}) {
    expectError(runWitan({"ledger", verb, "--store", scratch_ / "none"}), "no ledger");
    expectError(runWitan({"ledger", verb, "--store", scratch_ / "file"}), "");
  }
  EXPECT_FALSE(fs::exists(scratch_ / "none")) << "reading makes nothing";
}

TEST_F(BadStore, AnotherDomainOrPolicy) {
  expectError(runWitan({"run", "--domain", "udt", "--events", "-", "--store", dir()}),
              "is of domain \"budget\", not \"udt\"");
  scratch_.write("policy.toml", "cap = 5\n");
  expectError(
      runWitan({"run", "--domain", "budget", "--events", "-", "--store", dir(), "--policy", scratch_ / "policy.toml"}),
      "another policy");
}

TEST_F(BadStore, InUseByAnotherProcess) {
  Child holder({"run", "--domain", "budget", "--events", "-", "--store", dir()});
  holder.keepInput();
  holder.pump(spend(5), {}, [](const std::string& out) { return !out.empty(); });  // it has opened the store
  expectError(append(spend(6)), "already open by another process");
  expectError(runWitan({"ledger", "verify", "--store", dir()}), "already open");
  EXPECT_EQ(holder.finish().exitCode, kExitOk);
  EXPECT_EQ(append(spend(6)).exitCode, kExitOk);
}

TEST_F(BadStore, ADamagedBatch) {
  tamper(kernel::batchKey(1), [](std::string value) {
    // Through a vector: g++ 12 takes a constant offset beyond a short string's own bytes for an overflow.
    std::vector<char> bytes(value.begin(), value.end());
    bytes.at(kernel::kBatchHeader + kernel::kRecordHeader + 100) ^= 1;
    return std::string(bytes.begin(), bytes.end());
  });
  expectRefused("entry 1 or its frame was altered");
}

TEST_F(BadStore, ABatchOfOtherBytes) {
  tamper(kernel::batchKey(2), [](const std::string&) { return std::string(1000, 'x'); });
  expectRefused("does not start with WLOG");
}

TEST_F(BadStore, ABatchOfALaterFormat) {
  tamper(kernel::batchKey(2), [](std::string value) {
    value[4] = 2;
    return value;
  });
  expectRefused("format version 2");
}

TEST_F(BadStore, AMissingBatch) {
  tamper(kernel::batchKey(1), [](const std::string&) { return std::string(); });
  expectRefused("batch 1 of the log is missing");
}

TEST_F(BadStore, TheLastBatchMissingIsSeenByTheCheckpoint) {
  tamper(kernel::batchKey(2), [](const std::string&) { return std::string(); });
  expectRefused("a signed checkpoint speaks of more than the 2 entries");
}

TEST_F(BadStore, ATornBatchThatIsNotTheLast) {
  tamper(kernel::batchKey(1), [](const std::string& value) { return value.substr(0, value.size() - 8); });
  expectRefused("torn but not the last");
}

TEST_F(BadStore, ATornTailIsCutAndSaid) {
  // As when the crash came before the last checkpoint.
  scratch_.write("store/ledger.signed", noteOf(2));
  tamper(kernel::checkpointKey(4), [](const std::string&) { return std::string(); });
  tamper(kernel::batchKey(2), [](const std::string& value) { return value.substr(0, value.size() - 8); });
  const Finished run = append(spend(5));
  EXPECT_EQ(run.exitCode, kExitOk) << run.err;
  EXPECT_THAT(run.err, HasSubstr("torn batch; cut"));
  EXPECT_THAT(run.out, HasSubstr("\"ledgerSeq\":4"));
  EXPECT_EQ(runWitan({"ledger", "verify", "--replay", "--store", dir()}).exitCode, kExitOk);
}

TEST_F(BadStore, AFormatRecordOfANewerProgram) {
  replace("format", "\"format\":1", "\"format\":2");
  expectRefused("the ledger has format 2, this build knows format 1");
}

TEST_F(BadStore, AFormatRecordThatIsMissing) {
  tamper("format", [](const std::string&) { return std::string(); });
  expectError(append(spend(5)), "no format record");
}

TEST_F(BadStore, ADamagedFormatRecord) {
  const std::pair<const char*, const char*> changes[] = {
      {"{", "["},
      {"\"format\":1", "\"format\":\"1\""},
      {"\"domain\":\"budget\"", "\"domain\":7"},
      {"\"domain\":\"budget\"", "\"domain\":\"casino\""},
      {"\"origin\":\"witan/", "\"origin\":\"+ /"},
      {"\"policy\":{", "\"police\":{"},
      {"\"BUDGET_CAP\"", "\"BUDGET_HAT\""},
      {"\"counselors\":[]", "\"counselors\":{}"},
      {"\"cap\":100000", "\"cap\":100001"},
      {"\"moduleDigest\":\"", "\"moduleDigest\":\"x"},
  };
  for (const auto& [from, to] : changes) {
    SCOPED_TRACE(std::string(from) + " -> " + to);
    std::string before;
    tamper("format", [&](std::string value) {
      before = value;
      const std::size_t at = value.find(from);
      EXPECT_NE(at, std::string::npos) << value;
      return at == std::string::npos ? value : value.replace(at, std::string_view(from).size(), to);
    });
    const Finished run = append(spend(5));
    EXPECT_EQ(run.signal, 0);
    EXPECT_EQ(run.exitCode, kExitFailed) << run.out;
    EXPECT_EQ(run.out, "");
    for (const char* verb : {"verify", "export"}) EXPECT_EQ(runWitan({"ledger", verb, "--store", dir()}).signal, 0);
    EXPECT_EQ(runWitan({"queue", "list", "--store", dir()}).signal, 0);
    tamper("format", [&](const std::string&) { return before; });
  }
  EXPECT_EQ(append(spend(5)).exitCode, kExitOk);
}

TEST_F(BadStore, ADamagedCheckpoint) {
  replace(kernel::checkpointKey(4), "witan/", "nitaw/");
  const Finished run = runWitan({"ledger", "verify", "--store", dir()});
  EXPECT_EQ(run.exitCode, kExitFailed);
  EXPECT_THAT(run.out + run.err, HasSubstr("checkpoint"));
}

TEST_F(BadStore, ADamagedKey) {
  std::ofstream(fs::path(dir()) / "ledger.key") << "not a key";
  expectError(append(spend(5)), "ledger.key holds no Ed25519 seed");
}

// Without its secret the ledger goes on, unsigned; nothing makes up another one.
TEST_F(BadStore, AMissingKey) {
  fs::remove(fs::path(dir()) / "ledger.key");
  EXPECT_EQ(append(spend(5)).exitCode, kExitOk);
  EXPECT_FALSE(fs::exists(fs::path(dir()) / "ledger.key"));
}

TEST_F(BadStore, ReadOnly) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to a read-only folder";
  fs::permissions(dir(), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(fs::path(dir()) / "db", fs::perms::owner_read | fs::perms::owner_exec);
  expectError(append(spend(5)), "Permission denied");
  fs::permissions(dir(), fs::perms::owner_all);
  fs::permissions(fs::path(dir()) / "db", fs::perms::owner_all);
}

}  // namespace
}  // namespace witan::node::bad_store_test
