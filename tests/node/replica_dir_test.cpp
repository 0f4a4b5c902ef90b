// The data directory of replicated data: made on first use, one process at a time, and never the same writer after the
// store went back in time (replication/incarnation.h, tripwires 1 to 3) through the program.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "base/bytes.h"
#include "base/sha256.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "tests/node/replica.h"

namespace witan::node::replica_dir_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;
using test::Garden;
using test::meet;
using test::Replica;
using test::runWitan;
using test::Scratch;
using test::talk;
using test::Talked;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void note(const Replica& replica, const std::string& id, const std::string& text) {
  replica.ok({"journal", "put", id, "--type", "note", "--text", text});
}

TEST(ReplicaDir, IsMadeOnFirstUseAndNamesItself) {
  Scratch scratch;
  const Replica replica(scratch / "deep/down/data");
  const Finished missing = replica.run({"agent", "list"});
  EXPECT_EQ(missing.exitCode, kExitFailed);
  EXPECT_THAT(missing.err, HasSubstr("witan device init"));
  const Finished made = replica.run({"agent", "create", "agent-1"});
  EXPECT_EQ(made.exitCode, kExitOk);
  EXPECT_THAT(made.err, HasSubstr("made"));
  EXPECT_EQ(fs::status(replica.dir() + "/cluster.key").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(replica.incidents(), IsEmpty());
}

TEST(ReplicaDir, IsFoundThroughTheEnvironment) {
  Scratch scratch;
  const auto dirOf = [&](const char* name, const std::string& value) {
    const Finished done = runWitan({"device", "init", "--device", "d", "--json"}, {}, [&] {
      for (const char* each : {"WITAN_DIR", "XDG_DATA_HOME", "HOME"}) ::unsetenv(each);
      if (name != nullptr) ::setenv(name, value.c_str(), 1);
    });
    return done.exitCode == kExitOk ? done.out : done.err;
  };
  EXPECT_THAT(dirOf("WITAN_DIR", scratch / "one"), HasSubstr(scratch / "one/cluster.key"));
  EXPECT_THAT(dirOf("XDG_DATA_HOME", scratch / "two"), HasSubstr(scratch / "two/witan/cluster.key"));
  EXPECT_THAT(dirOf("HOME", scratch / "three"), HasSubstr(scratch / "three/.local/share/witan/cluster.key"));
  EXPECT_THAT(dirOf(nullptr, ""), HasSubstr("--dir"));
}

TEST(ReplicaDir, JoinsWithIdAndKeyOrNotAtAll) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  const Finished again = laptop.run({"device", "init"});
  EXPECT_EQ(again.exitCode, kExitFailed);
  EXPECT_THAT(again.err, HasSubstr("holds device laptop"));
  const Replica other(garden / "other");
  EXPECT_THAT(other.run({"device", "init", "--cluster", "c"}).err, HasSubstr("--key-file"));
  garden.scratch().write("bad.key", "0123\n");
  EXPECT_THAT(other.run({"device", "init", "--cluster", "c", "--key-file", garden / "bad.key"}).err,
              HasSubstr("64 hex digits"));
  EXPECT_THAT(other.run({"device", "init", "--device", "no@tag"}).err, HasSubstr("device"));
  EXPECT_FALSE(fs::exists(other.dir()));
}

TEST(ReplicaDir, ServesOneProcessAtATime) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  Child busy(laptop.words({"journal", "import", "-", "--json"}));
  busy.keepInput();
  std::string lines;
  for (int i = 0; i < 256; ++i) lines += "{\"id\":\"n" + std::to_string(i) + "\",\"type\":\"t\",\"text\":\"x\"}\n";
  busy.pump(lines, {}, [](const std::string& out) { return out.find("n255") != std::string::npos; });
  const Finished second = laptop.run({"agent", "list", "--json"});
  EXPECT_EQ(second.exitCode, kExitFailed);
  EXPECT_THAT(second.err, HasSubstr("\"code\":\"conflict\""));
  EXPECT_EQ(busy.finish().exitCode, kExitOk);
  laptop.ok({"agent", "list"});
}

TEST(ReplicaDir, DamagedFilesAreNamed) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  garden.scratch().write("laptop/replica.json", "{\"device\":\"laptop\"}");
  EXPECT_THAT(laptop.run({"agent", "list"}).err, HasSubstr("replica.json is damaged"));
  garden.scratch().write("laptop/replica.json", "{\"cluster\":\"c\",\"device\":\"laptop\",\"more\":1}");
  EXPECT_THAT(laptop.run({"agent", "list"}).err, HasSubstr("more"));
  garden.scratch().write("laptop/replica.json", std::string(10'000, ' '));
  EXPECT_THAT(laptop.run({"agent", "list"}).err, HasSubstr("longer than"));
  fs::remove(laptop.dir() + "/cluster.key");
  garden.scratch().write("laptop/replica.json", "{\"cluster\":\"c\",\"device\":\"laptop\"}");
  EXPECT_THAT(laptop.run({"agent", "list"}).err, HasSubstr("cluster.key"));
}

TEST(Incarnation, StaysTheSameOverCleanEndsAndCrashes) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  const std::string writer = laptop.writer();
  note(laptop, "a", "1");
  note(laptop, "a", "2");
  Child busy(laptop.words({"journal", "import", "-", "--json"}));
  busy.keepInput();
  std::string lines;
  for (int i = 0; i < 256; ++i) lines += "{\"id\":\"n" + std::to_string(i) + "\",\"type\":\"t\",\"text\":\"x\"}\n";
  busy.pump(lines, {}, [](const std::string& out) { return out.find("n255") != std::string::npos; });
  busy.kill();
  EXPECT_EQ(busy.wait().signal, SIGKILL);
  EXPECT_EQ(laptop.writer(), writer);
  EXPECT_THAT(laptop.incidents(), IsEmpty());
  EXPECT_THAT(laptop.ok({"journal", "put", "a", "--text", "3"}), HasSubstr(writer + ":259"));
}

TEST(Incarnation, AMissingOrDamagedRecordGivesANewWriter) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  note(laptop, "a", "1");
  const std::string first = laptop.writer();
  fs::remove(laptop.dir() + "/writer");
  const Finished noticed = laptop.run({"journal", "list"});
  EXPECT_THAT(noticed.err, HasSubstr("goes on as a new writer"));
  const std::string second = laptop.writer();
  EXPECT_NE(first, second);
  std::ofstream(laptop.dir() + "/writer", std::ios::app) << "x";
  const std::string third = laptop.writer();
  EXPECT_NE(second, third);
  EXPECT_EQ(laptop.writer(), third);
  EXPECT_THAT(laptop.incidents(), ::testing::ElementsAre("newIncarnation", "newIncarnation"));
  EXPECT_THAT(laptop.ok({"journal", "get", "a"}), HasSubstr("1"));
}

// A store that was rolled back under a newer record: noticed without any peer.
TEST(Incarnation, AStoreBehindItsRecordIsNoticedAtOnce) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  note(laptop, "a", "1");
  laptop.copyTo(garden / "backup");
  note(laptop, "a", "2");
  for (const char* store : {"journal", "agents"}) {
    fs::remove_all(laptop.dir() + "/" + store);
    fs::copy(garden / ("backup/" + std::string(store)), laptop.dir() + "/" + store, fs::copy_options::recursive);
  }
  const Finished noticed = laptop.run({"sync", "status"});
  EXPECT_THAT(noticed.err, HasSubstr("went back in time"));
  EXPECT_THAT(noticed.out, HasSubstr("RESTORED"));
}

// A store that is gone is made anew, and what was in it would be given away a second time: also after a crash, when the
// lease begins at nothing.
TEST(Incarnation, AStoreThatIsGoneIsSaid) {
  for (const char* store : {"journal", "agents"})
    for (const bool crashed : {false, true}) {
      Garden garden;
      const Replica laptop = garden.join("laptop"), phone = garden.join("phone");
      note(laptop, "a", "1");
      meet(laptop, phone);
      const std::string first = laptop.writer();
      if (crashed) {
        std::string lines = "witan highwater 1\nwriter " + first + "\n";
        for (const char* space : {"agents/cluster", "agents/main", "journal/main"})
          lines += "lease " + std::string(space) + " 0 4096\n";
        std::ofstream(laptop.dir() + "/writer") << lines << "sha256 " << toHex(sha256(lines)) << "\n";
      }
      fs::remove_all(laptop.dir() + "/" + store);
      const Finished noticed = laptop.run({"sync", "status"});
      EXPECT_THAT(noticed.err, HasSubstr("/" + std::string(store) + " is gone")) << store << crashed;
      EXPECT_THAT(laptop.incidents(), Contains("newIncarnation")) << store << crashed;
      const std::string second = laptop.writer();
      EXPECT_NE(second, first);
      note(laptop, "b", "2");
      meet(laptop, phone);
      EXPECT_EQ(laptop.writer(), second);
      EXPECT_THAT(phone.ok({"journal", "get", "b"}), HasSubstr("2"));
      EXPECT_THAT(laptop.ok({"journal", "get", "a"}), HasSubstr("1"));
    }
}

// The whole directory restored, its record too: only a peer can know.
// A start that fails after it has made the store again (its port is taken, say) leaves what looks like a store.
TEST(Incarnation, AStoreThatIsGoneStaysSoThroughAStartThatFails) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  note(laptop, "a", "1");
  const std::string lines = "witan highwater 1\nwriter " + laptop.writer() + "\nlease journal/main 0 4096\n";
  std::ofstream(laptop.dir() + "/writer") << lines << "sha256 " << toHex(sha256(lines)) << "\n";
  fs::remove_all(laptop.dir() + "/journal");
  for (int start = 0; start < 2; ++start) {
    WriterRecord record(laptop.dir());
    const auto options = readReplicaOptions(laptop.dir(), record);
    ASSERT_TRUE(options.ok()) << options.error().message;
    ASSERT_TRUE(options->highWater.has_value());
    EXPECT_FALSE(options->highWater->ok()) << "start " << start;
    fs::create_directories(laptop.dir() + "/journal");
    std::ofstream(laptop.dir() + "/journal/CURRENT") << "MANIFEST-000001\n";
  }
}

TEST(Incarnation, ARestoredDirectoryIsNoticedByTheNextPeer) {
  Garden garden;
  const Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  note(laptop, "a", "1");
  meet(laptop, phone);
  laptop.copyTo(garden / "backup");
  note(laptop, "a", "2");
  note(laptop, "b", "only the phone has it after the restore");
  meet(laptop, phone);
  const std::string before = laptop.writer();
  Replica(garden / "backup").copyTo(laptop.dir());
  EXPECT_EQ(laptop.writer(), before);
  meet(laptop, phone);
  EXPECT_NE(laptop.writer(), before);
  EXPECT_THAT(laptop.incidents(), Contains("rolledBack"));
  EXPECT_THAT(laptop.ok({"journal", "get", "a"}), HasSubstr("2"));
  EXPECT_THAT(laptop.ok({"sync", "status"}), Not(HasSubstr("RESTORED")));
  note(laptop, "a", "3");
  meet(laptop, phone);
  EXPECT_EQ(laptop.digests(), phone.digests());
  EXPECT_THAT(phone.ok({"journal", "get", "a"}), HasSubstr("3"));
}

// The operator knows it first.
TEST(Incarnation, RecoverTakesANewWriterAndKeepsWhatOnlyThisDeviceHas) {
  Garden garden;
  const Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  note(laptop, "a", "1");
  meet(laptop, phone);
  note(laptop, "mine", "the phone has never seen it");
  const std::string before = laptop.writer();
  EXPECT_THAT(laptop.ok({"device", "recover"}), HasSubstr("goes on as laptop@"));
  EXPECT_NE(laptop.writer(), before);
  note(laptop, "b", "under the new writer");
  meet(laptop, phone);
  meet(laptop, phone);
  EXPECT_THAT(phone.ok({"journal", "get", "b"}), HasSubstr("under the new writer"));
  EXPECT_THAT(phone.ok({"journal", "get", "mine"}), HasSubstr("never seen"));
  EXPECT_EQ(laptop.digests(), phone.digests());
}

// A copy that runs beside the original.
TEST(Incarnation, ACloneIsRefusedByTheOriginalAndNoticedByOthers) {
  Garden garden;
  const Replica laptop = garden.join("laptop"), phone = garden.join("phone");
  note(laptop, "a", "1");
  meet(laptop, phone);
  const Replica clone(garden / "clone");
  laptop.copyTo(clone.dir());
  note(laptop, "a", "written by the original");
  note(clone, "a", "written by the copy");
  const Talked refused = talk(laptop, clone);
  EXPECT_EQ(refused.a.exitCode, kExitFailed);
  EXPECT_THAT(refused.a.err + refused.b.err, HasSubstr("one of the two is a copy"));
  meet(laptop, phone);
  talk(clone, phone);
  talk(clone, phone);
  std::vector<std::string> noticed = phone.incidents();
  for (const std::string& kind : clone.incidents()) noticed.push_back(kind);
  EXPECT_THAT(noticed, Contains("equivocation")) << "two contents under one dot";
}

}  // namespace
}  // namespace witan::node::replica_dir_test
