// A device that keeps encrypted copies: it holds and passes on what others wrote, reads none of it, and decides
// nothing. Device b keeps copies; a, c and d have the key of the scope, and never meet unless a test says so.
#include "replica/sealed_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replication/membership.h"
#include "replication/records/record_schemas.h"
#include "replication/records/record_write.h"
#include "replication/sealed_scope.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::sealed_copies_test {
namespace {

using replication::DatabaseName;
using replication::Kind;
using replication::Space;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

constexpr std::string_view kScope = "main";
const std::string kMark = "zSECRETz";

class Keys final : public CopyKeys {
 public:
  std::string newest(std::string_view) override { return known == 0 ? std::string() : concat("*/", known); }
  std::shared_ptr<const Secret> find(std::string_view scope, std::string_view name) override {
    for (unsigned n = 1; n <= known; ++n)
      if (name == concat("*/", n))
        return std::make_shared<const Secret>(Secret::copyOf(concat("key ", n, " of ", scope)));
    return nullptr;
  }
  unsigned known = 1;
};

Space& spaceOf(Device& device, std::string_view scope = kScope) {
  return **device.replica().data().database(DatabaseName::journal).space(scope);
}
Space& copiesOf(Device& device) { return spaceOf(device, replication::sealedScopeOf(kScope)); }

replication::Write writing(const std::string& key, const std::string& text) {
  replication::JournalBody body;
  body.type = "plot";
  body.payload = concat('"', text, '"');
  body.author = "ada";
  body.lamport = 1;
  return *replication::recordWrite(key, body);
}
void write(Device& device, const std::string& key, const std::string& text) {
  const replication::Write one = writing(key, text);
  ASSERT_TRUE(device.replica().commit(DatabaseName::journal, kScope, {&one, 1}).ok());
}
void remove(Device& device, const std::string& key) {
  const replication::Write one{Kind::journal, key, {}, true};
  ASSERT_TRUE(device.replica().commit(DatabaseName::journal, kScope, {&one, 1}).ok());
}

// What the device shows of a key.
std::vector<std::string> shown(Device& device, const std::string& key) {
  std::vector<std::string> out;
  const auto versions = spaceOf(device).versions(Kind::journal, key);
  for (const replication::Version& version : *versions)
    if (!version.tombstone) out.push_back(replication::decodeRecord<replication::JournalBody>(version.body)->payload);
  return out;
}

std::size_t copiesHeld(Device& device) {
  std::size_t ends = 0;
  for (const std::string& record : copiesOf(device).keys(Kind::sealedCopy))
    ends += record.ends_with(":end") && !copiesOf(device).versions(Kind::sealedCopy, record)->front().tombstone;
  return ends;
}

// How often the mark stands in the device's stores.
std::size_t marksIn(Device& device) {
  std::size_t marks = 0;
  for (store::MemoryStore& disk : device.stores) {
    const Status walked = disk.scan("", {}, [&](std::string_view key, std::string_view value) {
      marks += key.find(kMark) != std::string_view::npos || value.find(kMark) != std::string_view::npos;
      return true;
    });
    EXPECT_TRUE(walked.ok());
  }
  return marks;
}

std::vector<std::string> accused(Device& device, std::string_view kind) {
  std::vector<std::string> peers;
  const auto incidents = device.replica().data().incidents();
  for (const replication::Incident& incident : *incidents)
    if (incident.kind == kind) peers.push_back(incident.peer);
  return peers;
}

void expectWhole(Device& device) {
  const Status whole = spaceOf(device).checkIntegrity();
  EXPECT_TRUE(whole.ok()) << device.name() << ": " << whole.error().message;
}

class SealedCopiesTest : public ::testing::Test {
 protected:
  SealedCopiesTest()
      : cluster(4, [this](std::size_t n, ReplicaConfig& config) {
          config.copiesOnly = [](std::string_view device) { return device == "b"; };
          config.keepsLedgers = [](std::string_view device) { return device != "b"; };
          config.mayHave = [](std::string_view device, DatabaseName, std::string_view scope) {
            return device != "b" || replication::isSealedScope(scope);
          };
          config.mayAsk = [](std::string_view device, const Request&) {
            return device == "b" ? Status(Error{ErrorCode::unauthorised, "no role", ""}) : okStatus();
          };
          config.copied = [](std::string_view scope) { return scope == kScope; };
          config.ledgerReplica = n != 1;
          if (n != 1) config.copyKeys = keys[n];
        }) {}
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  Device& d() { return cluster.of("d"); }

  // Until nothing moves, then they part.
  void meet(Device& one, Device& other) {
    cluster.connect(one, other);
    cluster.run();
    for (int step = 0; step < 3; ++step) {  // what is gathered, and what others have not sealed
      one.passTime(kSealSpacingMs), other.passTime(kSealSpacingMs);
      cluster.run();
    }
    cluster.cut(one, other);
  }

  std::array<std::shared_ptr<Keys>, 4> keys{std::make_shared<Keys>(), std::make_shared<Keys>(),
                                            std::make_shared<Keys>(), std::make_shared<Keys>()};
  TestCluster cluster;
};

TEST_F(SealedCopiesTest, CarryWhatDevicesWroteThatNeverMeet) {
  write(a(), "plot", "beans");
  meet(a(), b());
  meet(b(), c());
  EXPECT_THAT(shown(c(), "plot"), ElementsAre("\"beans\""));
  write(c(), "plot", "peas");
  write(c(), "shed", "spade");
  meet(b(), c());
  meet(a(), b());
  EXPECT_THAT(shown(a(), "plot"), ElementsAre("\"peas\""));
  EXPECT_THAT(shown(a(), "shed"), ElementsAre("\"spade\""));
  EXPECT_EQ(spaceOf(a()).clock(), spaceOf(c()).clock());
  EXPECT_EQ(spaceOf(a()).digest(), spaceOf(c()).digest());
  EXPECT_TRUE(spaceOf(c()).settled());
  expectWhole(a()), expectWhole(c());
  // They meet after all, and nothing is amiss.
  meet(a(), c());
  for (Device* device : {&a(), &b(), &c()}) EXPECT_THAT(*device->replica().data().incidents(), IsEmpty());
}

TEST_F(SealedCopiesTest, NothingPlainIsOnTheDeviceThatKeepsThem) {
  std::size_t sent = 0, marks = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (frame.from == "b" || frame.to == "b") {
      ++sent, marks += frame.bytes.find(kMark) != std::string::npos;
      EXPECT_FALSE(isAdjudication(frame.bytes));
    }
    return false;
  };
  cluster.connect(a(), c());
  ASSERT_TRUE(a().replica().bootstrap(at(0)).ok());
  write(a(), kMark, kMark + " " + std::string(2000, 'x'));
  write(c(), "shed-" + kMark, kMark);
  ASSERT_TRUE(a().replica().submit(beginning(kMark), at(0)).ok());
  cluster.connect(a(), b()), cluster.connect(b(), c());
  cluster.run();
  meet(b(), d());
  EXPECT_THAT(shown(d(), kMark), SizeIs(1)) << "it kept something";
  EXPECT_THAT(shown(d(), "shed-" + kMark), SizeIs(1));
  EXPECT_GT(sent, 10u);
  EXPECT_EQ(marks, 0u);
  EXPECT_EQ(marksIn(b()), 0u);
  EXPECT_GT(marksIn(a()), 0u);
  EXPECT_EQ(b().replica().data().database(DatabaseName::journal).find(kScope), nullptr);
  EXPECT_THAT(b().replica().hosts(), IsEmpty());
}

TEST_F(SealedCopiesTest, AnAlteredOneIsRefusedAndNamesWhoPassedItOn) {
  write(a(), "plot", "beans");
  meet(a(), b());
  std::size_t altered = 0;
  store::WriteBatch batch;
  const Status walked = b().stores[0].scan("", {}, [&](std::string_view key, std::string_view value) {
    if (key.find(":0") == std::string_view::npos || value.size() < 100) return true;
    std::string other(value);
    other.back() = static_cast<char>(other.back() ^ 1);
    batch.put(key, other);
    return ++altered, true;
  });
  ASSERT_TRUE(walked.ok());
  ASSERT_EQ(altered, 1u);
  ASSERT_TRUE(b().stores[0].writeSynced(batch).ok());
  b().start();
  meet(b(), c());
  EXPECT_THAT(shown(c(), "plot"), IsEmpty());
  EXPECT_THAT(accused(c(), "forgedRow"), ElementsAre("b"));
  meet(a(), c());
  EXPECT_THAT(shown(c(), "plot"), ElementsAre("\"beans\""));
}

TEST_F(SealedCopiesTest, ADeviceThatKeepsThemTakesNoneAway) {
  write(a(), "plot", "beans");
  meet(a(), b());
  const std::vector<std::string> records = copiesOf(b()).keys(Kind::sealedCopy);
  ASSERT_THAT(records, SizeIs(2));
  const replication::Write gone{Kind::sealedCopy, records.front(), {}, true};
  ASSERT_TRUE(b().replica().commit(DatabaseName::journal, replication::sealedScopeOf(kScope), {&gone, 1}).ok());
  meet(b(), a());
  EXPECT_THAT(accused(a(), "badCopy"), ElementsAre("b"));
  EXPECT_TRUE(a().replica().data().quarantined("b"));
  EXPECT_EQ(copiesHeld(a()), 1u);
}

TEST_F(SealedCopiesTest, ADeviceThatKeepsThemWritesAndDecidesNothing) {
  ASSERT_TRUE(a().replica().bootstrap(at(0)).ok());
  ASSERT_TRUE(a().replica().submit(beginning(), at(0)).ok());
  b().replica().data().keepCopiesOnly();
  const replication::Write one = writing("plot", "weeds");
  for (const std::string& scope : {std::string(kScope), replication::sealedScopeOf(kScope)})
    EXPECT_EQ(b().replica().commit(DatabaseName::journal, scope, {&one, 1}).error().code, ErrorCode::unauthorised);
  cluster.connect(a(), b());
  cluster.run();
  EXPECT_EQ(b().replica().submit(spend("s", 1), at(0)).error().code, ErrorCode::unauthorised);
  EXPECT_FALSE(b().replica().forceTakeover(kPartition, "mine", at(0)).ok());
  // As a liar's program would send it.
  std::string frames;
  WordWriter words;
  appendFrame(frames, words, spend("s", 1));
  a().replica().received("b", frames, at(0));
  cluster.run();
  EXPECT_THAT(a().decided(), IsEmpty());
  EXPECT_THAT(a().answers, SizeIs(1));  // of the beginning
  EXPECT_EQ(a().replica().commit(DatabaseName::journal, replication::sealedScopeOf(kScope), {&one, 1}).error().code,
            ErrorCode::invalidInput);
}

TEST_F(SealedCopiesTest, WhoHasNoKeyTakesNoneAndWhoGetsItTakesAll) {
  keys[2]->known = 0;
  write(a(), "plot", "beans");
  meet(a(), b());
  write(c(), "shed", "spade");
  meet(b(), c());
  EXPECT_THAT(shown(c(), "plot"), IsEmpty());
  EXPECT_EQ(copiesHeld(c()), 1u) << "nor does it make one";
  keys[2]->known = 1;
  c().replica().rosterChanged();
  meet(b(), c());
  EXPECT_THAT(shown(c(), "plot"), ElementsAre("\"beans\""));
  meet(a(), b());
  EXPECT_THAT(shown(a(), "shed"), ElementsAre("\"spade\""));
}

TEST_F(SealedCopiesTest, AnotherKeySealsWhatIsWrittenAfterARevocation) {
  write(a(), "plot", "beans");
  meet(a(), b());
  meet(b(), c());
  for (const std::size_t n : {0u, 3u})
    keys[n]->known = 2, cluster.of(std::string(1, "abcd"[n])).replica().rosterChanged();
  write(a(), "plot", "peas");
  meet(a(), b());
  meet(b(), c());  // c has the old key alone
  meet(b(), d());
  EXPECT_THAT(shown(c(), "plot"), ElementsAre("\"beans\""));
  EXPECT_THAT(shown(d(), "plot"), ElementsAre("\"peas\""));
}

TEST_F(SealedCopiesTest, AreFewHoweverManyEditsThereWere) {
  cluster.connect(a(), b());
  for (int n = 0; n < 100; ++n) {
    write(a(), "plot-" + std::to_string(n), std::string(400, 'x'));
    a().passTime(kSealSpacingMs);
    cluster.run();
  }
  EXPECT_THAT(copiesHeld(b()), AllOf(Ge(1u), Le(10u)));
  EXPECT_EQ(copiesHeld(a()), copiesHeld(b()));
  meet(b(), c());
  EXPECT_EQ(spaceOf(c()).digest(), spaceOf(a()).digest());
  EXPECT_EQ(spaceOf(c()).clock(), spaceOf(a()).clock());
}

TEST_F(SealedCopiesTest, WhatWasRemovedDoesNotComeBack) {
  write(a(), "plot", "beans");
  meet(a(), b());
  meet(b(), c());
  remove(c(), "plot");
  meet(b(), c());
  meet(a(), b());
  EXPECT_THAT(shown(a(), "plot"), IsEmpty());
  meet(b(), d());
  EXPECT_THAT(shown(d(), "plot"), IsEmpty());
  meet(a(), d());
  EXPECT_EQ(spaceOf(a()).digest(), spaceOf(d()).digest());
}

// What members forgot before may be what a copy lacks: a session compares.
TEST_F(SealedCopiesTest, ACopyThatMayLackWhatWasForgottenIsNotTaken) {
  write(a(), "plot", "beans");
  meet(a(), b());
  meet(b(), c());
  remove(a(), "plot");
  write(a(), "shed", "spade");
  a().replica().data().noteAck("journal/main", replication::kForgotten, spaceOf(a()).clock(), 0);
  meet(a(), b());
  meet(b(), c());
  EXPECT_THAT(shown(c(), "shed"), IsEmpty());
  meet(b(), d());  // has nothing that could be outlived, and gets a copy of all
  EXPECT_THAT(shown(d(), "shed"), ElementsAre("\"spade\""));
  EXPECT_THAT(shown(d(), "plot"), IsEmpty());
  meet(a(), c());
  EXPECT_THAT(shown(c(), "shed"), ElementsAre("\"spade\""));
  EXPECT_EQ(spaceOf(a()).digest(), spaceOf(c()).digest());
}

TEST_F(SealedCopiesTest, LargeOnesComeInParts) {
  for (int n = 0; n < 12; ++n)
    write(a(), "plot-" + std::to_string(n), std::string(1'000'000, static_cast<char>('a' + n)));
  meet(a(), b());
  std::size_t parts = 0;
  for (const std::string& record : copiesOf(b()).keys(Kind::sealedCopy)) parts += !record.ends_with(":end");
  EXPECT_GT(parts, 20u);
  meet(b(), c());
  EXPECT_EQ(spaceOf(c()).digest(), spaceOf(a()).digest());
}

TEST_F(SealedCopiesTest, OneThatAPowerLossEndedIsMadeAnewAndItsPartsGo) {
  for (int n = 0; n < 12; ++n)
    write(a(), "plot-" + std::to_string(n), std::string(1'000'000, static_cast<char>('a' + n)));
  ASSERT_TRUE(a().drain().ok());  // some of it
  ASSERT_THAT(copiesOf(a()).keys(Kind::sealedCopy).size(), Ge(4u));
  ASSERT_EQ(copiesHeld(a()), 0u);
  a().losePower();
  meet(a(), b());
  meet(b(), c());
  EXPECT_EQ(spaceOf(c()).digest(), spaceOf(a()).digest());
  EXPECT_EQ(copiesHeld(b()), 1u);
  std::set<std::string> names;
  for (const std::string& record : copiesOf(a()).keys(Kind::sealedCopy))
    if (!copiesOf(a()).versions(Kind::sealedCopy, record)->front().tombstone)
      names.insert(record.substr(0, record.rfind(':')));
  EXPECT_THAT(names, SizeIs(1));
}

// What a device wrote that seals nothing itself, because it is of an earlier version, others seal after a while.
TEST_F(SealedCopiesTest, WhatOthersDoNotSealIsSealedAfterAWhile) {
  keys[2]->known = 0;
  write(c(), "shed", "spade");
  meet(a(), c());
  keys[2]->known = 1;
  cluster.connect(a(), b());
  cluster.run();
  EXPECT_EQ(copiesHeld(b()), 0u);
  a().passTime(kOthersMs);
  cluster.run();
  cluster.cut(a(), b());
  meet(b(), d());
  EXPECT_THAT(shown(d(), "shed"), ElementsAre("\"spade\""));
}

// To a device that keeps copies and makes none, whoever comes first by name has nothing to leave to others.
TEST_F(SealedCopiesTest, BesideADeviceThatSealsNothingEachSealsAtOnce) {
  write(d(), "shed", "spade");
  cluster.connect(d(), b());
  cluster.run();
  d().passTime(kSealSpacingMs);
  cluster.run();
  EXPECT_EQ(copiesHeld(b()), 1u);
}

// What it wrote after others had let it go must not come back: others seal what all had of it by then.
TEST_F(SealedCopiesTest, CopiesOfADeviceThatLeavesAreTakenByNobody) {
  replication::LocalReplica& data = a().replica().data();
  for (const char* name : {"a", "b", "c", "d"})
    ASSERT_TRUE(data.addStatement(replication::admit(*data.statements(), data.writer(), name, 1, name)).ok());
  for (Device* other : {&b(), &c(), &d()}) meet(a(), *other);
  write(c(), "shed", "spade");
  meet(c(), b());
  ASSERT_EQ(copiesHeld(b()), 1u);
  ASSERT_TRUE(data.addStatement(replication::proposeRetire(*data.statements(), data.writer(), "c", 1)).ok());
  meet(a(), d());
  meet(b(), d());
  EXPECT_EQ(copiesHeld(d()), 1u);
  EXPECT_THAT(shown(d(), "shed"), IsEmpty());
}

// Devices that meet in any order, mostly through b: all end with the same.
TEST_F(SealedCopiesTest, AllEndWithTheSame) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const std::string names = "acd";
    for (int step = 0; step < 40; ++step) {
      Device& device = cluster.of(names.substr(random() % 3, 1));
      const std::string key = "plot-" + std::to_string(random() % 6);
      switch (random() % 8) {
        case 0: remove(device, key); break;
        case 1: meet(device, b()); break;
        case 2: cluster.losePower(device); break;
        case 3: cluster.losePower(b()); break;
        case 4:
          if (random() % 4 == 0) meet(a(), c());
          break;
        default: write(device, key, std::to_string(random() % 1000));
      }
      if (random() % 3 == 0) {
        ASSERT_TRUE(device.drain().ok());
      }
    }
    for (int round = 0; round < 2; ++round)
      for (const char name : names) meet(cluster.of({&name, 1}), b());
    for (Device* device : {&c(), &d()}) {
      EXPECT_EQ(spaceOf(*device).clock(), spaceOf(a()).clock()) << seed << device->name();
      EXPECT_EQ(spaceOf(*device).digest(), spaceOf(a()).digest()) << seed << device->name();
      expectWhole(*device);
    }
    EXPECT_LE(copiesHeld(b()), 12u) << seed;
    if (HasFailure()) return;
  }
  for (Device* device : {&a(), &b(), &c(), &d()})
    for (const char* kind : {"badCopy", "forgedRow", "digestAlarm", "quarantine"})
      EXPECT_THAT(accused(*device, kind), IsEmpty()) << device->name();
}

}  // namespace
}  // namespace witan::node::test::sealed_copies_test
