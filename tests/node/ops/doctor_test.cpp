// `witan doctor` finds what is wrong; `witan support-bundle` holds no secret.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/json_codec.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/support_bundle.h"
#include "tests/node/node_process.h"

namespace witan::node::doctor_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

constexpr Time kNow{1'790'000'000'000'000};

struct Doctor : ::testing::Test {
  void SetUp() override { ASSERT_EQ(node.init(2).exitCode, 0); }
  // Of the findings of that name, the worst.
  CheckLevel level(std::string_view name, std::string* what = nullptr) {
    CheckLevel found = CheckLevel::ok;
    bool there = false;
    for (const DoctorCheck& check : examine(node.dir(), true, kNow))
      if (check.name == name && (!there || check.level > found))
        there = true, found = check.level, what != nullptr ? void(*what = check.what + "; " + check.todo) : void();
    EXPECT_TRUE(there) << name;
    return found;
  }
  Scratch scratch;
  Node node{scratch, "one"};
};

TEST_F(Doctor, FindsNothingWrongWithAFreshNode) {
  for (const DoctorCheck& check : examine(node.dir(), true, kNow)) {
    if (check.name == "clock" || check.name == "disk") continue;
    EXPECT_EQ(check.level, CheckLevel::ok) << toJson(check);
  }
  const Finished done = node.run({"doctor", "--json"});
  EXPECT_TRUE(parseJson(done.out).ok()) << done.out;
}

TEST_F(Doctor, NamesEachThingThatIsWrong) {
  ::chmod((node.dir() + "/device.key").c_str(), 0644);
  EXPECT_EQ(level("device.key"), CheckLevel::fail);
  ::chmod((node.dir() + "/device.key").c_str(), 0600);
  ::chmod(node.dir().c_str(), 0755);
  EXPECT_EQ(level("directory"), CheckLevel::warn);
  ::chmod(node.dir().c_str(), 0700);
  const auto with = [&](const std::string& file, const std::string& text, const char* check) {
    const std::string before = contentOf(node.dir() + "/" + file);
    scratch.write("one/" + file, text);
    std::string what;
    EXPECT_EQ(level(check, &what), CheckLevel::fail) << check;
    scratch.write("one/" + file, before);
    return what;
  };
  with("format", "witan data 7\n", "format");
  with("cluster.key", "00\n", "cluster.key");
  with("replica.json", "{}", "identity");
  with("roster", "nonsense", "roster");
  EXPECT_NE(with("witan.toml", "[node]\nlisten = 7\n", "config").find("witan.toml:2"), std::string::npos);
  with("ledgers/CURRENT", "MANIFEST-999999\n", "ledgers");
  EXPECT_EQ(level("config"), CheckLevel::ok);
  EXPECT_EQ(examine(scratch / "nowhere", true, kNow).front().level, CheckLevel::fail);
}

// Whatever `up` refuses to start with, doctor says in the same words.
TEST_F(Doctor, SaysOfEachFileThatIsWrongWhatUpWillSay) {
  ASSERT_TRUE(node.up() && node.stop() == 0) << node.log();  // the tokens are there
  Node stranger(scratch, "two");
  ASSERT_EQ(stranger.init(2).exitCode, 0);
  const auto with = [&](const std::string& file, const std::string& text, const std::string& part) {
    const std::string path = node.dir() + "/" + file, before = contentOf(path);
    const bool wasThere = fs::exists(path);
    scratch.write("one/" + file, text);
    const Finished refused = node.run({"up"});
    EXPECT_EQ(refused.exitCode, 1) << file;
    EXPECT_NE(refused.err.find(part), std::string::npos) << file << ": " << refused.err;
    bool said = false;
    for (const DoctorCheck& check : examine(node.dir(), true, kNow))
      said = said || (check.level == CheckLevel::fail && refused.err.find(check.what) != std::string::npos);
    EXPECT_TRUE(said) << file << ": " << refused.err;
    wasThere ? scratch.write("one/" + file, before) : void(fs::remove(path));
  };
  const auto ofStranger = [&](const char* file) { return contentOf(stranger.dir() + "/" + file); };
  with("device.key", ofStranger("device.key"), "is not the key of this device");
  with("cluster.key", ofStranger("cluster.key"), "is not the key of this cluster");
  with("replica.json", ofStranger("replica.json"), "is of the cluster");
  with("admin.key", ofStranger("admin.key"), "admin.key is not the key of this cluster's admin");
  with("admin.key", "nonsense\n", "admin.key does not hold 64 hex digits");
  with("control.tokens", "{}", "has no token for observer");
  with("enrolment.json", "{\"invites\":7}", "enrolment.json is damaged");
  with("device.key.next", "nonsense\n", "device.key.next");
  with("witan.toml", "[agents]\nrun = [\"nobody\"]\n", "there is no agent nobody");
  with("witan.toml", "[ledger]\nengine = \"etcd\"\netcd = [\"nonsense\"]\n", "nonsense");
  EXPECT_EQ(level("keys"), CheckLevel::ok);
}

// Whoever has no device here yet is told how to get one, and nothing about files that cannot be there.
TEST_F(Doctor, SaysHowToBegin) {
  fs::create_directory(scratch / "empty");
  ::chmod((scratch / "empty").c_str(), 0700);
  for (const char* name : {"empty", "nowhere"}) {
    const DoctorCheck last = examine(scratch / name, true, kNow).back();
    EXPECT_EQ(last.level, CheckLevel::fail) << name;
    EXPECT_NE(last.todo.find("witan init --dir"), std::string::npos) << toJson(last);
    EXPECT_NE(last.todo.find("witan join TOKEN --dir"), std::string::npos) << toJson(last);
    EXPECT_EQ(last.todo.find("device init"), std::string::npos) << toJson(last);
  }
  fs::remove(node.dir() + "/replica.json");
  std::string what;
  EXPECT_EQ(level("identity", &what), CheckLevel::fail);
  EXPECT_NE(what.find("restore it from a backup"), std::string::npos) << what;
}

TEST_F(Doctor, NamesTheProcessThatHoldsAStoreAndThePortThatIsTaken) {
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(level("node"), CheckLevel::ok);
  EXPECT_EQ(level("ledgers.verify"), CheckLevel::ok);
  fs::rename(node.dir() + "/control.json", scratch / "control.json");  // as if it did not answer
  std::string what;
  EXPECT_EQ(level("journal", &what), CheckLevel::fail);
  EXPECT_NE(what.find(std::to_string(node.pid())), std::string::npos) << what;
  EXPECT_EQ(level("address", &what), CheckLevel::fail);
  EXPECT_NE(what.find(node.address()), std::string::npos) << what;
}

// It has the file that says where the node of the other directory answers.
TEST_F(Doctor, ACopyOfADirectoryHasNoNode) {
  ASSERT_TRUE(node.up()) << node.log();
  const std::string copy = scratch / "copy";
  fs::create_directory(copy);
  for (const char* name : {"control.json", "control.tokens", "cluster.json", "replica.json"})
    fs::copy(node.dir() + "/" + name, copy + "/" + name);
  const test::Finished asked = test::runWitan({"status", "--dir", copy});
  EXPECT_NE(asked.exitCode, 0);
  EXPECT_NE(asked.err.find("a copy of a directory"), std::string::npos) << asked.err;
}

TEST_F(Doctor, MissesTheLedgersOfADeviceThatKeepsThem) {
  fs::remove_all(node.dir() + "/ledgers");
  std::string what;
  EXPECT_EQ(level("ledgers", &what), CheckLevel::fail);
  EXPECT_NE(what.find("restore it from a backup"), std::string::npos) << what;
  // Before its first start a device has none of the three.
  for (const char* name : {"journal", "agents", "writer"}) fs::remove_all(node.dir() + "/" + name);
  EXPECT_EQ(level("stores"), CheckLevel::ok);
}

TEST_F(Doctor, SaysOnceWhatToDoAboutAKeyThatIsGone) {
  fs::remove(node.dir() + "/device.key");
  const Finished refused = node.run({"up"});
  EXPECT_NE(refused.err.find("restore it from a backup with keys"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("witan init"), std::string::npos) << refused.err;
  int said = 0;
  for (const DoctorCheck& check : examine(node.dir(), true, kNow)) said += check.name == "device.key";
  EXPECT_EQ(said, 1);
}

TEST_F(Doctor, TellsAnAddressThatIsNotThisMachinesFromOneThatIsTaken) {
  scratch.write("one/witan.toml", "[node]\nlisten = [\"192.0.2.1:7600\"]\n");
  std::string what;
  EXPECT_EQ(level("address", &what), CheckLevel::fail);
  EXPECT_NE(what.find("no address of this machine"), std::string::npos) << what;
  EXPECT_EQ(what.find("another program"), std::string::npos) << what;
}

std::string unpacked(const std::string& file) {
  gzFile in = gzopen(file.c_str(), "rb");
  std::string out, piece(65536, '\0');
  int got = 0;
  while ((got = gzread(in, piece.data(), static_cast<unsigned>(piece.size()))) > 0) out.append(piece, 0, got);
  gzclose(in);
  return out;
}

TEST_F(Doctor, TheSupportBundleHoldsWhatHelpsAndNoSecretAndNoRecord) {
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "SecretEntity"}).exitCode, 0);
  ASSERT_EQ(node.run({"journal", "put", "j1", "--type", "note", "--text", "SecretText"}).exitCode, 0);
  const Finished invited = node.run({"device", "invite", "--role", "*"});
  std::vector<std::string> secrets{"SecretEntity", "SecretText", "SecretPassword", invited.out.substr(0, 60)};
  scratch.write("one/witan.toml", contentOf(node.dir() + "/witan.toml") +
                                      "[ledger]\netcd = [\"http://witan:SecretPassword@127.0.0.1:2379\"]\n");
  for (const char* key : {"device.key", "admin.key", "cluster.key"})
    secrets.push_back(contentOf(node.dir() + "/" + key).substr(0, 64));
  const auto tokens = parseJson(contentOf(node.dir() + "/control.tokens"));
  for (const auto& member : tokens->get_object()) secrets.emplace_back(member.value().as_string());
  std::string log = "a line\n";
  for (std::size_t i = 3; i < secrets.size(); ++i) log += "leaked " + secrets[i] + "\n";
  scratch.write("a.log", log);
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const Finished piped = node.run({"support-bundle", "--to", scratch / "b.tar.gz", "--log", scratch / "pipe"});
  EXPECT_FALSE(piped.hung);
  EXPECT_NE(piped.err.find("pipe is no regular file"), std::string::npos) << piped.err;
  const Finished done = node.run({"support-bundle", "--to", scratch / "b.tar.gz", "--log", scratch / "a.log"});
  ASSERT_EQ(done.exitCode, 0) << done.err;
  const std::string bundle = unpacked(scratch / "b.tar.gz");
  for (const char* name : {"doctor.jsonl", "status.json", "metrics.txt", "peers.json", "partitions.json", "log.txt",
                           "roster.json", "config.toml", "files.txt"})
    EXPECT_NE(bundle.find(std::string("witan-support/") + name), std::string::npos) << name;
  EXPECT_NE(bundle.find("a line\nleaked [struck out]"), std::string::npos);
  EXPECT_NE(bundle.find("witan_build_info"), std::string::npos);
  for (const std::string& secret : secrets) EXPECT_EQ(bundle.find(secret), std::string::npos) << secret;
  EXPECT_EQ(node.run({"support-bundle", "--to", scratch / "b.tar.gz"}).exitCode, 1);  // not over another
}

TEST(TarGz, IsReadByTarAndGzip) {
  Scratch scratch;
  TarGz tar(kNow);
  tar.add("a/empty", "");
  tar.add("a/block", std::string(512, 'b'));
  tar.add("a/more", std::string(513, 'm'));
  const auto bytes = tar.finish();
  ASSERT_TRUE(bytes.ok());
  scratch.write("x.tar.gz", *bytes);
  ASSERT_EQ(std::system(("tar -xzf " + (scratch / "x.tar.gz") + " -C " + (scratch / "")).c_str()), 0);
  EXPECT_EQ(contentOf(scratch / "a/empty"), "");
  EXPECT_EQ(contentOf(scratch / "a/block"), std::string(512, 'b'));
  EXPECT_EQ(contentOf(scratch / "a/more"), std::string(513, 'm'));
}

}  // namespace
}  // namespace witan::node::doctor_test
