// `witan sync pipe|status|demo` and `witan device`: real processes joined by pipes that the test cuts and spoils.
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/seams.h"
#include "base/time.h"
#include "cli/sync/sync_demo.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "replication/records/record_schemas.h"
#include "tests/node/replica.h"
#include "tests/paths.h"

namespace witan::node::sync_command_test {
namespace {

using test::Finished;
using test::Garden;
using test::meet;
using test::Replica;
using test::runWitan;
using test::talk;
using test::Talked;
using ::testing::HasSubstr;
using ::testing::Not;

void note(const Replica& replica, const std::string& id, const std::string& text) {
  replica.ok({"journal", "put", id, "--type", "note", "--text", text});
}

std::string manyNotes(const std::string& prefix, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += "{\"id\":\"" + prefix + std::to_string(i) + "\",\"type\":\"note\",\"text\":\"" + std::string(200, 'x') +
             std::to_string(i) + "\"}\n";
  return lines;
}

TEST(SyncDemo, EndsEqualForEverySeedAndSaysTheSameTwice) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto report = syncDemo(seed);
    ASSERT_TRUE(report.ok()) << seed << ": " << report.error().message;
    ASSERT_TRUE(report->equal) << report->story;
  }
  EXPECT_EQ(syncDemo(7)->json, syncDemo(7)->json);
  const Finished shown = runWitan({"sync", "demo", "--seed", "7", "--json"});
  EXPECT_EQ(shown.exitCode, kExitOk);
  EXPECT_EQ(shown.out, syncDemo(7)->json);
  EXPECT_TRUE(parseJson(shown.out)->at("equal").as_bool());
}

// The last line: in one process, and over pipes between three.
TEST(SyncPipe, ThreeReplicasHeal) {
  const std::string command = "bash '" + std::string(witan::tests::kSourceDir) + "/scripts/three-replicas.sh' '" +
                              std::string(witan::tests::kProgram) + "' >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(SyncPipe, EqualReplicasExchangeOneGreetingAndLeaveWell) {
  Garden garden;
  const Replica a = garden.join("a"), b = garden.join("b");
  note(a, "n", "1");
  meet(a, b);
  meet(a, b);
  const Talked idle = talk(a, b, {.a = {"--peer", "b"}, .b = {"--peer", "a"}});
  EXPECT_EQ(idle.a.exitCode, kExitOk);
  EXPECT_THAT(idle.a.err, HasSubstr("equal"));
  EXPECT_LT(idle.bytes, 2500u);
  const json::value status = a.asJson({"sync", "status"});
  for (const json::value& space : status.at("spaces").as_array()) {
    for (const json::value& peer : space.at("peers").as_array()) EXPECT_EQ(peer.at("lacks").to_number<int>(), 0);
  }
  EXPECT_THAT(a.ok({"sync", "status"}), HasSubstr("b  has all of it"));
}

// Two devices that are cut off carry out one plan. That is one edit, no fault, and nothing for a person to resolve.
TEST(SyncPipe, OneAgentOnTwoDevicesThatAreCutOffLeavesNothingToMend) {
  Garden garden;
  const Replica a = garden.join("a"), b = garden.join("b");
  note(a, "n", "first");
  meet(a, b);
  for (const Replica* device : {&a, &b}) device->ok({"agent", "run", "--agent", "journal-summariser", "--feed", "-"});
  meet(a, b);
  for (const Replica* device : {&a, &b}) {
    EXPECT_THAT(device->ok({"agent", "check"}), HasSubstr("ok: 1 operations"));
    const std::string list = device->ok({"journal", "list"});
    EXPECT_THAT(list, HasSubstr("digest/" + formatDate(dateOf(SystemClock().now()))));  // not of 1970
    EXPECT_THAT(list, Not(HasSubstr("to be resolved")));
    const json::value digest = device->asJson({"journal", "list"});
    for (const json::value& entity : digest.at("entities").as_array())
      if (entity.at("id").as_string().starts_with("digest/")) {
        EXPECT_EQ(entity.at("siblings").as_array().size(), 2u);
        EXPECT_FALSE(entity.at("conflict").as_bool());
      }
  }
}

// The stream dies after any number of bytes: both say so, keep what arrived, and the next session completes it.
TEST(SyncPipe, ACutIsReportedAndHealsWithTheNextSession) {
  Garden garden;
  SeededRandom random(3);
  const Replica a = garden.join("a"), b = garden.join("b");
  a.ok({"journal", "import", "-"}, manyNotes("a", 40));
  b.ok({"journal", "import", "-"}, manyNotes("b", 40));
  std::size_t most = 1;
  int cuts = 0;
  for (; cuts < 12; ++cuts, most += 1 + random.below(2500)) {
    const Talked talked = talk(a, b, {.most = most});
    if (talked.a.exitCode == kExitOk && talked.b.exitCode == kExitOk) break;
    if (talked.a.exitCode != kExitOk) {
      EXPECT_EQ(talked.a.exitCode, kExitUnreachable);
      EXPECT_THAT(talked.a.err, HasSubstr("run it again"));
    }
  }
  EXPECT_GT(cuts, 2);
  meet(a, b);
  EXPECT_EQ(a.digests(), b.digests());
  EXPECT_THAT(a.ok({"sync", "status"}), Not(HasSubstr("incident")));
}

TEST(SyncPipe, AKillInTheMiddleLosesNothing) {
  Garden garden;
  SeededRandom random(5);
  const Replica a = garden.join("a"), b = garden.join("b");
  for (int round = 0; round < 5; ++round) {
    const std::string name = "r" + std::to_string(round) + "-";
    a.ok({"journal", "import", "-"}, manyNotes(name + "a", 30));
    b.ok({"journal", "import", "-"}, manyNotes(name + "b", 30));
    const std::string writer = a.writer();
    const Talked killed = talk(a, b, {.most = 300 + random.below(12'000), .killA = true});
    EXPECT_EQ(killed.a.signal, SIGKILL);
    EXPECT_EQ(a.writer(), writer) << "a crash is no reason for a new writer";
  }
  meet(a, b);
  EXPECT_EQ(a.digests(), b.digests());
  for (const Replica* device : {&a, &b}) {
    EXPECT_THAT(device->incidents(), ::testing::IsEmpty());
    auto dir = ReplicaDir::open(device->dir());
    ASSERT_TRUE(dir.ok());
    for (const std::string& id : (*dir)->replica().spaceIds())
      EXPECT_TRUE((*dir)->replica().findSpace(id)->checkIntegrity().ok()) << id;
    EXPECT_EQ((*dir)->replica().findSpace("journal/main")->keys(replication::Kind::journal).size(), 300u);
  }
}

TEST(SyncPipe, StrangersAreToldWhy) {
  Garden garden, elsewhere;
  const Replica a = garden.join("a"), b = garden.join("b"), stranger = elsewhere.join("s");
  const Talked cluster = talk(a, stranger);
  EXPECT_EQ(cluster.a.exitCode, kExitFailed);
  EXPECT_EQ(cluster.b.exitCode, kExitFailed);
  EXPECT_THAT(cluster.a.err, HasSubstr("cluster"));
  EXPECT_THAT(cluster.b.err, HasSubstr("cluster"));
  const Talked name = talk(a, b, {.a = {"--peer", "c"}});
  EXPECT_EQ(name.a.exitCode, kExitFailed);
  EXPECT_THAT(name.a.err, HasSubstr("calls itself 'b'"));
}

TEST(SyncPipe, GarbageAndSilenceEndInWords) {
  Garden garden;
  const Replica a = garden.join("a");
  const Finished garbage = a.run({"sync", "pipe", "--json"}, std::string(4096, 'x'));
  EXPECT_EQ(garbage.exitCode, kExitFailed);
  EXPECT_THAT(garbage.err, HasSubstr("\"code\":\"conflict\""));
  EXPECT_THAT(garbage.err, HasSubstr("protocol"));
  // A DONE whose message is none.
  EXPECT_EQ(a.run({"sync", "pipe"}, std::string("\0\0\0\0\xff\1\0\0", 8)).exitCode, kExitFailed);
  const Finished silence = a.run({"sync", "pipe"});
  EXPECT_EQ(silence.exitCode, kExitUnreachable);
  EXPECT_THAT(silence.err, HasSubstr("the other side ended it"));
  EXPECT_EQ(a.run({"journal", "list"}).exitCode, kExitOk);
}

TEST(SyncPipe, OnlyTheScopesThatThePeerMayHaveLeave) {
  Garden garden;
  const Replica a = garden.join("a"), b = garden.join("b");
  a.ok({"journal", "put", "open", "--type", "note", "--text", "for both"});
  a.ok({"journal", "put", "secret", "--type", "note", "--text", "mine", "--scope", "private"});
  const Talked talked = talk(a, b, {.a = {"--scope", "main"}});
  EXPECT_EQ(talked.a.exitCode, kExitOk) << talked.a.err;
  EXPECT_THAT(b.ok({"journal", "get", "open"}), HasSubstr("for both"));
  EXPECT_THAT(b.ok({"sync", "status"}), Not(HasSubstr("private")));
  EXPECT_EQ(b.run({"journal", "get", "secret", "--scope", "private"}).exitCode, kExitFailed);
}

// Admit, retire with the acks of all, come back.
TEST(DeviceCommand, MembersComeGoAndReturn) {
  Garden garden;
  const Replica a = garden.join("a"), b = garden.join("b"), c = garden.join("c");
  EXPECT_THAT(a.ok({"device", "list"}), HasSubstr("no device was admitted yet"));
  EXPECT_EQ(a.run({"device", "retire", "b"}).exitCode, kExitFailed);
  EXPECT_THAT(a.ok({"device", "admit", "b", "--name", "Ben's phone"}), HasSubstr("b  active  Ben's phone"));
  EXPECT_EQ(a.run({"device", "admit", "b"}).exitCode, kExitFailed);
  meet(a, b);
  note(a, "n", "for members");

  // c has the key and is no member: it gets statements and nothing else.
  const Talked outsider = talk(a, c);
  EXPECT_EQ(outsider.a.exitCode, kExitSomeRefused);
  EXPECT_THAT(outsider.a.err, HasSubstr("NOT exchanged: journal/main"));
  EXPECT_EQ(c.run({"journal", "get", "n"}).exitCode, kExitFailed);
  b.ok({"device", "admit", "c"});
  meet(a, b);
  meet(a, c);
  EXPECT_THAT(c.ok({"journal", "get", "n"}), HasSubstr("for members"));

  // b is lost. c must acknowledge before it is retired.
  EXPECT_THAT(a.ok({"device", "retire", "b"}), HasSubstr("b  retiring  Ben's phone  waits for c"));
  meet(a, c);
  const json::value members = a.asJson({"device", "list"});
  EXPECT_EQ(members.at("devices").as_array().at(1).at("standing").as_string(), "retired");
  note(b, "late", "written by the retired one");
  EXPECT_EQ(talk(b, c).b.exitCode, kExitSomeRefused);
  EXPECT_EQ(c.run({"journal", "get", "late"}).exitCode, kExitFailed);

  // It is found again: a new writer, a new admission.
  b.ok({"device", "recover"});
  a.ok({"device", "admit", "b"});
  meet(a, b);
  note(b, "again", "back");
  meet(a, b);
  EXPECT_THAT(a.ok({"journal", "get", "again"}), HasSubstr("back"));
}

TEST(DeviceCommand, AQuarantineIsShownAndLifted) {
  Garden garden;
  const Replica a = garden.join("a"), b = garden.join("b");
  EXPECT_THAT(a.run({"device", "recover", "b"}).err, HasSubstr("not quarantined"));
  {
    auto dir = ReplicaDir::open(a.dir());
    ASSERT_TRUE(dir.ok());
    (*dir)->replica().quarantine("b", "it lied");
    ASSERT_TRUE((*dir)->close().ok());
  }
  EXPECT_THAT(a.ok({"sync", "status"}), HasSubstr("QUARANTINED b: it lied"));
  EXPECT_THAT(a.ok({"device", "list"}), HasSubstr("b  QUARANTINED: it lied"));
  const Talked refused = talk(a, b);
  EXPECT_EQ(refused.a.exitCode, kExitFailed);
  EXPECT_THAT(refused.b.err, HasSubstr("it lied"));
  a.ok({"device", "recover", "b"});
  meet(a, b);
}

}  // namespace
}  // namespace witan::node::sync_command_test
