// `witan backup` and `witan restore`: of running and stopped devices, damaged backups, and no dot used twice.
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "node/backup/backup.h"
#include "node/backup/restore.h"
#include "node/data_dir/replica_dir.h"
#include "tests/node/node_process.h"
#include "tests/paths.h"

namespace witan::node::backup_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

json::value parsed(const Finished& done) {
  auto value = parseJson(done.out);
  return value.ok() ? *value : json::value{{"failed", done.err + done.out}};
}

std::string text(const json::value& object, const char* member) {
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return value == nullptr ? "" : value->is_string() ? std::string(value->get_string()) : canonicalJson(*value);
}

// A stopped device with one journal entry, and a backup of it.
struct BackedUp : ::testing::Test {
  void SetUp() override {
    const std::vector<std::string> dir{"--dir", scratch / "one"};
    const auto run = [&](std::vector<std::string> words) {
      words.insert(words.end(), dir.begin(), dir.end());
      const Finished done = runWitan(words);
      ASSERT_EQ(done.exitCode, 0) << done.err;
    };
    run({"init", "--name", "one", "--partitions", "1"});
    run({"journal", "put", "plot", "--type", "plot", "--text", "beans"});
    run({"backup", "--with-keys", "--to", scratch / "copy"});
  }
  Result<Restored> restored(const std::string& to, bool force = false) {
    return restoreBackup({scratch / "copy", scratch / to, force, false, {Time{1'700'000'000'000'000}, 0}});
  }
  Scratch scratch;
};

TEST_F(BackedUp, EveryByteThatChangesIsNoticedAndNothingIsRestored) {
  std::vector<fs::path> files;
  for (const auto& at : fs::recursive_directory_iterator(scratch / "copy"))
    if (at.is_regular_file() && at.file_size() > 0) files.push_back(at.path());
  ASSERT_GT(files.size(), 10u);
  for (const fs::path& file : files) {
    const std::string whole = contentOf(file);
    for (const std::size_t place : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
      std::string bad = whole;
      bad[place] = static_cast<char>(bad[place] ^ 1);
      std::ofstream(file, std::ios::binary) << bad;
      const auto done = restored("two");
      ASSERT_FALSE(done.ok()) << file << " at " << place;
      EXPECT_EQ(done.error().code, ErrorCode::corrupt) << done.error().message;
      EXPECT_NE(done.error().message.find(file.filename()), std::string::npos) << done.error().message;
      EXPECT_FALSE(fs::exists(scratch / "two"));
    }
    std::ofstream(file, std::ios::binary) << whole;
  }
  EXPECT_TRUE(verifyBackup(scratch / "copy").ok());
}

TEST_F(BackedUp, MissingAndForeignFilesAreNoticed) {
  const auto refused = [&](const char* why) {
    const auto done = verifyBackup(scratch / "copy");
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find(why), std::string::npos) << done.error().message;
  };
  fs::rename(scratch / "copy/roster", scratch / "roster");
  refused("roster is missing");
  fs::rename(scratch / "roster", scratch / "copy/roster");
  scratch.write("copy/more", "x");
  refused("more is not in its manifest");
  fs::remove(scratch / "copy/more");
  fs::create_symlink("/etc/passwd", scratch / "copy/more");
  refused("is no plain file");
  fs::remove(scratch / "copy/more");
  fs::remove(scratch / "copy/manifest.json");
  refused("no finished backup");
}

TEST_F(BackedUp, AManifestThatPointsOutsideIsRefused) {
  auto manifest = readManifest(scratch / "copy");
  ASSERT_TRUE(manifest.ok());
  for (const char* path : {"../roster", "/etc/passwd", "a/../../b", "", "journal/", "./roster"}) {
    BackupManifest bad = *manifest;
    bad.files.front().path = path;
    ASSERT_TRUE(writeManifest(scratch / "copy", bad).ok());
    const auto done = readManifest(scratch / "copy");
    ASSERT_FALSE(done.ok()) << path;
    EXPECT_NE(done.error().message.find("no file of a backup"), std::string::npos) << done.error().message;
  }
}

TEST_F(BackedUp, NewerFormatsAreRefusedWithBothVersions) {
  auto manifest = readManifest(scratch / "copy");
  ASSERT_TRUE(manifest.ok());
  BackupManifest newer = *manifest;
  newer.format = kBackupFormat + 1;
  ASSERT_TRUE(writeManifest(scratch / "copy", newer).ok());
  auto done = verifyBackup(scratch / "copy");
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("backup format 2; this program knows up to 1"), std::string::npos);
  newer = *manifest;
  newer.dataFormat = kDataFormat + 1;
  ASSERT_TRUE(writeManifest(scratch / "copy", newer).ok());
  done = verifyBackup(scratch / "copy");
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("data format 2; this program knows up to 1"), std::string::npos);
}

TEST_F(BackedUp, RestoringGoesOnAsAnotherWriterAndSetsAsideOnlyWithForce) {
  const auto refusedDone = restored("one");
  ASSERT_FALSE(refusedDone.ok());
  EXPECT_EQ(refusedDone.error().code, ErrorCode::conflict);
  const std::string before = text(parsed(runWitan({"device", "list", "--json", "--dir", scratch / "one"})), "devices");
  const auto done = restored("one", true);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(done->missing.empty());
  EXPECT_FALSE(done->writer.empty());
  EXPECT_EQ(done->ownerless.size(), domains::domainNames().size());  // one partition of each domain
  EXPECT_TRUE(fs::exists(fs::path(done->aside) / "journal"));
  EXPECT_TRUE(fs::exists(fs::path(done->aside) / "writer"));
  EXPECT_FALSE(fs::exists(scratch / "one/restoring"));
  const Finished got = runWitan({"journal", "get", "plot", "--dir", scratch / "one"});
  EXPECT_EQ(got.exitCode, 0) << got.err;
  EXPECT_NE(got.out.find("beans"), std::string::npos) << got.out;
  EXPECT_NE(contentOf(scratch / "one/writer").find(done->writer), std::string::npos);
  EXPECT_EQ(contentOf(fs::path(done->aside) / "writer").find(done->writer), std::string::npos);
}

TEST_F(BackedUp, WithoutKeysItSaysWhichAreMissingAndTakesThoseThatAreThere) {
  ASSERT_EQ(runWitan({"backup", "--to", scratch / "bare", "--dir", scratch / "one"}).exitCode, 0);
  for (const char* key : kBackupKeys) EXPECT_FALSE(fs::exists(fs::path(scratch / "bare") / key)) << key;
  const RestoreOrder order{scratch / "bare", scratch / "two", false, false, {Time{1'700'000'000'000'000}, 0}};
  auto done = restoreBackup(order);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->missing, (std::vector<std::string>{"cluster.key", "device.key"}));
  const Finished told = runWitan({"restore", "--from", scratch / "bare", "--dir", scratch / "told"});
  EXPECT_EQ(told.exitCode, 0) << told.err;
  EXPECT_NE(told.out.find("witan device revoke " + done->manifest.device.substr(0, 8)), std::string::npos) << told.out;
  EXPECT_EQ(done->writer, "");
  // In place: the directory's own keys stay.
  RestoreOrder inPlace = order;
  inPlace.dir = scratch / "one";
  inPlace.force = true;
  done = restoreBackup(inPlace);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(done->missing.empty());
  EXPECT_FALSE(done->writer.empty());
  // Into the directory of another device: no.
  ASSERT_EQ(runWitan({"init", "--name", "other", "--dir", scratch / "other"}).exitCode, 0);
  inPlace.dir = scratch / "other";
  done = restoreBackup(inPlace);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("the key of another device"), std::string::npos) << done.error().message;
}

// A ledger of a rule file cannot be read without it.
TEST_F(BackedUp, RuleFilesComeBack) {
  const std::string file = concat(tests::kSourceDir, "/docs/examples/purchase.domain.toml");
  const std::string dir = scratch / "one", copy = scratch / "second";
  ASSERT_EQ(runWitan({"domain", "install", file, "--dir", dir}).exitCode, 0);
  ASSERT_EQ(runWitan({"backup", "--with-keys", "--to", copy, "--dir", dir}).exitCode, 0);
  const auto done = restoreBackup({copy, scratch / "two", false, false, {Time{1'700'000'000'000'000}, 0}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(contentOf(scratch / "two/rules/purchase.domain.toml"), contentOf(file));
}

// A node does not start without an agent that it is told to run, and earlier runs replay with the version that made
// them.
TEST_F(BackedUp, AgentFilesAndTheirVersionsComeBack) {
  const std::string dir = scratch / "one", copy = scratch / "second";
  fs::create_directories(dir + "/agents/versions");
  const std::vector<std::string> files{"agents/clerk.agent.toml", "agents/versions/file-0a1b.agent.toml"};
  for (const std::string& file : files) scratch.write("one/" + file, "# " + file);
  ASSERT_EQ(runWitan({"backup", "--with-keys", "--to", copy, "--dir", dir}).exitCode, 0);
  ASSERT_TRUE(verifyBackup(copy).ok());
  scratch.write("one/agents/later.agent.toml", "# another");
  const auto done = restoreBackup({copy, dir, true, false, {Time{1'700'000'000'000'000}, 0}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  for (const std::string& file : files) EXPECT_EQ(contentOf(dir + "/" + file), "# " + file);
  EXPECT_FALSE(fs::exists(dir + "/agents/later.agent.toml"));
  EXPECT_TRUE(fs::exists(fs::path(done->aside) / "agents/later.agent.toml"));
  const Finished got = runWitan({"journal", "get", "plot", "--dir", dir});
  EXPECT_EQ(got.exitCode, 0) << got.err;
}

TEST_F(BackedUp, TargetsThatAreNotNewAreRefused) {
  const auto refused = [&](const std::string& to, const char* why) {
    const Finished done = runWitan({"backup", "--to", to, "--dir", scratch / "one"});
    EXPECT_EQ(done.exitCode, 1);
    EXPECT_NE(done.err.find(why), std::string::npos) << done.err;
  };
  refused(scratch / "copy", "is not empty");
  refused(scratch / "one/copy", "lies in the data directory");
  refused(scratch / "copy/roster", "is not a folder");
}

// The device is restored to a time before work that others have seen; nothing of before or after is lost, so no dot was
// used twice (replication/incarnation.h).
TEST(BackupOfARunningNode, LosesNothingThatOthersSawAndUsesNoDotTwice) {
  Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_EQ(first.init(2).exitCode, 0);
  ASSERT_TRUE(first.up()) << first.log();
  ASSERT_TRUE(second.joins(first));
  ASSERT_TRUE(second.up()) << second.log();
  ASSERT_TRUE(second.waitUntil("connected"));
  ASSERT_EQ(second.run({"journal", "put", "before", "--type", "note", "--text", "b"}).exitCode, 0);
  const json::value saved = second.runJson({"backup", "--with-keys", "--to", scratch / "copy"});
  ASSERT_TRUE(saved.get_object().contains("bytes")) << canonicalJson(saved);
  ASSERT_EQ(first.run({"backup", "--with-keys", "--to", scratch / "signer"}).exitCode, 0);
  const std::string writer = text(second.runJson({"status"}), "writer");
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(second.run({"journal", "put", "after-" + std::to_string(i), "--type", "note", "--text", "a"}).exitCode,
              0);
  ASSERT_TRUE(until([&] { return first.run({"journal", "get", "after-4"}).exitCode == 0; }));
  // Not while it runs.
  EXPECT_EQ(second.run({"restore", "--force", "--from", scratch / "copy"}).exitCode, 1);
  ASSERT_EQ(second.stop(SIGKILL), 128 + SIGKILL);
  const Finished restored = second.run({"restore", "--force", "--from", scratch / "copy"});
  ASSERT_EQ(restored.exitCode, 0) << restored.err;
  ASSERT_TRUE(second.up()) << second.log();
  EXPECT_NE(text(second.runJson({"status"}), "writer"), writer);
  ASSERT_EQ(second.run({"journal", "put", "later", "--type", "note", "--text", "l"}).exitCode, 0);
  ASSERT_TRUE(second.waitUntil("connected"));
  for (Node* node : {&first, &second})
    for (const char* id : {"before", "after-0", "after-4", "later"})
      EXPECT_TRUE(until([&] { return node->run({"journal", "get", id}).exitCode == 0; })) << node->dir() << id;
  for (Node* node : {&first, &second}) EXPECT_EQ(node->log().find("EQUIVOCATION"), std::string::npos) << node->log();
  // Only a device that signs rosters has something to be told of them.
  const auto restoredElsewhere = [&](const char* from) {
    return runWitan({"restore", "--json", "--from", scratch / from, "--dir", scratch / (std::string(from) + "-back")});
  };
  EXPECT_NE(restoredElsewhere("signer").out.find(R"("signsRosters":true)"), std::string::npos);
  EXPECT_NE(restoredElsewhere("copy").out.find(R"("signsRosters":false)"), std::string::npos);
}

// The owner of all partitions is restored alone: what it had decided is there, the same request is answered from the
// ledger, and it decides again only after it has seized.
TEST(BackupOfARunningNode, OfTheOnlyOwnerDecidesAgainAfterItHasSeized) {
  Scratch scratch;
  Node node(scratch, "only");
  ASSERT_EQ(node.init(2).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const auto spend = [&](const char* operation) {
    return node.runJson({"propose", "budget", "B", "A", R"({"type":"SpendA","n":1})", "--operation-id", operation,
                         "--wait-ms", "2000"});
  };
  ASSERT_EQ(node.run({"begin", "budget", "B"}).exitCode, 0);
  const json::value decided = spend("op-1");
  ASSERT_EQ(text(decided, "outcome"), "approved") << canonicalJson(decided);
  ASSERT_EQ(node.run({"backup", "--with-keys", "--to", scratch / "copy"}).exitCode, 0);
  ASSERT_EQ(text(spend("op-2"), "outcome"), "approved");
  ASSERT_EQ(node.stop(), 0);
  const json::value restored = node.runJson({"restore", "--force", "--from", scratch / "copy"});
  const json::array ownerless = restored.at("ownerless").as_array();  // two partitions of each domain
  EXPECT_EQ(ownerless.size(), 2 * domains::domainNames().size()) << canonicalJson(restored);
  EXPECT_EQ(ownerless.front(), "budget/0");
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(text(spend("op-3"), "outcome"), "waiting");
  ASSERT_EQ(node.stop(), 0);
  ASSERT_EQ(text(node.runJson({"restore", "--force", "--seize", "--from", scratch / "copy"}), "seized"),
            std::to_string(ownerless.size()));
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(text(spend("op-1"), "duplicate"), "true");
  EXPECT_EQ(text(spend("op-4"), "outcome"), "approved");
  EXPECT_EQ(node.run({"ledger", "verify", "--replay"}).exitCode, 0);
}

TEST(DataFormat, ANewerOneIsRefusedNamingBothVersionsAndAMissingOneIsTheFirst) {
  Scratch scratch;
  const std::string dir = scratch / "one";
  ASSERT_EQ(runWitan({"init", "--name", "one", "--dir", dir}).exitCode, 0);
  EXPECT_EQ(contentOf(dir + "/format"), "witan data 1\n");
  scratch.write("one/format", "witan data 2\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"up"}, {"journal", "list"}, {"ledger", "verify"}, {"backup", "--to", scratch / "c"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--dir", dir});
    const Finished done = runWitan(all);
    EXPECT_EQ(done.exitCode, 1) << words[0];
    EXPECT_NE(done.err.find("data format 2; this program, "), std::string::npos) << words[0] << done.err;
    EXPECT_NE(done.err.find("knows up to 1"), std::string::npos) << words[0] << done.err;
  }
  for (const char* bad :
       {"", "witan data 0\n", "witan data x\n", "witan data 1 \n", "witan data 99999999999999999999\n"}) {
    scratch.write("one/format", bad);
    const auto read = readDataFormat(dir);
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
  fs::remove(dir + "/format");
  EXPECT_EQ(*readDataFormat(dir), 1u);
  EXPECT_EQ(runWitan({"journal", "list", "--dir", dir}).exitCode, 0);
}

}  // namespace
}  // namespace witan::node::backup_test
