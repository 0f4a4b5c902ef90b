// Rows of the replicated data that prove who wrote them: a member that invents rows in another device's name convinces
// nobody, and what a device wrote is proven by whoever forwards it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/record/merkle.h"
#include "kernel/record/signed_leaves.h"
#include "kernel/record/signed_note.h"
#include "replica/core/row_proofs.h"
#include "replication/local_replica.h"
#include "replication/records/record_schemas.h"
#include "replication/records/records.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::rows_test {
namespace {

using replication::DatabaseName;
using replication::Held;
using replication::Kind;
using replication::Space;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kScope = "main";

Space& journal(Device& device) { return **device.replica().data().database(DatabaseName::journal).space(kScope); }

std::string writerOf(Device& device) { return device.replica().data().writer(); }

std::string bodyOf(const std::string& text) {
  replication::JournalBody body;
  body.type = "plot";
  body.payload = concat('"', text, '"');
  body.author = "ada";
  body.lamport = 1;
  return *replication::encodeRecord(body);
}

void write(Device& device, const std::string& key, const std::string& text) {
  const replication::Write write{Kind::journal, key, bodyOf(text), false};
  ASSERT_TRUE(device.replica().commit(DatabaseName::journal, kScope, {&write, 1}).ok());
}

void remove(Device& device, const std::string& key) {
  const replication::Write write{Kind::journal, key, {}, true};
  ASSERT_TRUE(device.replica().commit(DatabaseName::journal, kScope, {&write, 1}).ok());
}

// The writers and texts that the device shows of a key.
std::vector<std::string> shown(Device& device, const std::string& key) {
  std::vector<std::string> out;
  const auto versions = journal(device).versions(Kind::journal, key);
  for (const replication::Version& version : *versions) {
    const auto body = replication::decodeRecord<replication::JournalBody>(version.body);
    out.push_back(version.dot.host + ": " + (version.tombstone || !body.ok() ? "gone" : body->payload));
  }
  return out;
}

void expectWhole(Device& device) {
  const Status whole = journal(device).checkIntegrity();
  EXPECT_TRUE(whole.ok()) << device.name() << ": " << whole.error().message;
}

// Device a makes these members, itself first.
void admit(Device& a, const std::string& names) {
  replication::LocalReplica& data = a.replica().data();
  for (const char name : names) {
    const std::string device(1, name);
    const auto known = data.statements();
    ASSERT_TRUE(data.addStatement(replication::admit(*known, data.writer(), device, 1, device)).ok());
  }
}

// Device a writes, b holds that too, and c has no keys: it holds and sends whatever it likes.
class Rows : public ::testing::Test {
 protected:
  explicit Rows(bool keys = true)
      : cluster(4, [keys](std::size_t n, ReplicaConfig& config) {
          if (n == 2 || !keys) config.heads = nullptr;
        }) {}
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  Device& d() { return cluster.of("d"); }

  void meet(Device& one, Device& other) {
    cluster.connect(one, other);
    cluster.run();
  }
  void part(Device& one, Device& other) { cluster.cut(one, other); }

  // Puts a row into the store of c that bears the name of another device's writer.
  void forge(const std::string& writer, replication::Seq seq, const std::string& key) {
    Space& space = journal(c());
    const auto index = space.intern(writer);
    const std::string body = bodyOf("forged");
    const replication::Incoming row{Kind::journal, key, *index, seq, false, nullptr, body};
    ASSERT_EQ(space.receive(row), replication::Arrival::inserted);
    replication::VersionVector upTo;
    upTo.raise(*index, seq);
    space.advance(upTo);
  }

  TestCluster cluster;
};

class RowsWithoutKeys : public Rows {
 protected:
  RowsWithoutKeys() : Rows(false) {}
};

TEST_F(Rows, ARowInAnothersNameIsRefusedAndNamesItsSender) {
  meet(a(), b());
  write(a(), "plot", "beans");
  cluster.run();
  forge(writerOf(a()), 7, "plot");
  meet(b(), c());
  EXPECT_THAT(shown(b(), "plot"), ElementsAre(writerOf(a()) + ": \"beans\""));
  EXPECT_THAT(shown(a(), "plot"), SizeIs(1));
  bool named = false;
  const auto incidents = b().replica().data().incidents();
  for (const replication::Incident& incident : *incidents)
    named = named || (incident.kind == "forgedRow" && incident.peer == "c");
  EXPECT_TRUE(named);
  EXPECT_FALSE(a().hasIncident("forgedRow"));
}

// What becomes of a session in which device c sends rows of the journal, whose writer 0 is `writer`.
std::string sayRows(Device& device, const std::string& writer, const std::string& rows) {
  using namespace replication;
  WordWriter words;
  std::string frames, writers, others;
  replication::appendFrame(
      frames, words,
      Hello{.protocol = 2, .oldest = 2, .window = 1 << 20, .cluster = "test", .device = "c", .live = true});
  Spaces spaces;
  for (const auto& [database, scope] : {std::pair{1, kClusterScope}, {0, kScope}}) {
    SpaceSummary& space = spaces.spaces.emplace_back();
    space.database = static_cast<std::uint16_t>(database), space.scope = scope;
  }
  replication::appendFrame(frames, words, spaces);
  appendClockRow(others, RowTag::commit, {});
  replication::appendFrame(frames, words, replication::Writers{0, asData(others)});
  appendWriterRow(writers, writer);
  appendClockRow(writers, RowTag::commit, {});
  replication::appendFrame(frames, words, replication::Writers{1, asData(writers)});
  replication::appendFrame(frames, words, Segment{1, 0, asData(rows), {}});
  SyncSession session(device.replica().data(), {.peer = "c"}, 0);
  for (const std::string& frame : framesOf(frames)) (void)session.receive(frame, 0);
  return session.closeCode() + ": " + session.closeReason();
}

// A bad seal is a lie, for an honest device would not have taken it. A row without may come from one that did not know.
TEST_F(Rows, WhoSendsABadSealIsInQuarantine) {
  write(a(), "field", "rye");
  meet(a(), b());
  const std::string body = bodyOf("sand"), writer = writerOf(a());
  const auto index = *journal(b()).writers().find(writer);
  replication::VersionRow row;
  row.kind = Kind::journal, row.key = "plot", row.seq = 7, row.body = body;
  std::string rows;
  replication::appendVersionRow(rows, row);
  EXPECT_THAT(sayRows(b(), writer, rows),
              testing::AllOf(testing::StartsWith("protocol: "), testing::HasSubstr("bears no seal of a")));
  EXPECT_TRUE(b().hasIncident("forgedRow"));
  EXPECT_FALSE(b().replica().data().quarantined("c").has_value());
  const auto sealedBy = [&](const SigningKey& key, bool counted = true) {
    const replication::RowSeals& seals = journal(b()).seals();
    const Hash leaves[] = {seals.leafOf({index, row.seq, 1, Kind::journal, "plot", false, {}, body}),
                           seals.countLeaf(index, 1, row.seq)};
    std::string sealed;
    replication::appendSealRow(sealed, 1, kernel::packSet(kernel::signSet("test", leaves, key)));
    if (counted) replication::appendCountRow(sealed, 0, row.seq, 0, 1);
    row.sealed = true;
    replication::appendVersionRow(sealed, row);
    return sealed;
  };
  const SigningKey stranger = *SigningKey::fromSeed(std::string(32, '!'));
  EXPECT_THAT(sayRows(b(), writer, sealedBy(stranger)), testing::StartsWith("closing: "));
  EXPECT_FALSE(b().replica().data().quarantined("c").has_value());
  EXPECT_THAT(sayRows(b(), writer, sealedBy(keyOfDevice("a"), false)),
              testing::EndsWith("it came before the proof that there is such a commit"));
  EXPECT_EQ(sayRows(b(), writer, sealedBy(keyOfDevice("a"))), ": ");
  EXPECT_THAT(shown(b(), "plot"), SizeIs(1));
  row.seq = 8;
  EXPECT_THAT(b().replica().evidence(), IsEmpty()) << "whose key a stranger's is, nobody knows";
  EXPECT_THAT(sayRows(b(), writer, sealedBy(keyOfDevice("c"), false)), testing::StartsWith("quarantined: "));
  EXPECT_TRUE(b().replica().data().quarantined("c").has_value());

  // What c signed proves it to anybody, and nothing else does.
  ASSERT_THAT(b().replica().evidence(), SizeIs(1));
  const std::string file = b().replica().evidence().begin()->second;
  const auto proven = verifyEvidence(file);
  ASSERT_TRUE(proven.ok()) << proven.error().message;
  EXPECT_EQ(proven->signer.name, "witan/test/c");
  EXPECT_EQ(proven->what, "witan/test/c sealed the row \"plot\" of journal/main in the name of a");
  RowEvidence evidence;
  ASSERT_TRUE(readJson(*parseJson(file), evidence, "evidence").ok());
  const auto holds = [](RowEvidence one) { return verifyEvidence(toJson(one)).ok(); };
  EXPECT_TRUE(holds(evidence));
  RowEvidence other = evidence;
  other.key = kernel::verifierKeyText(*kernel::makeNoteVerifier("witan/test/b", keyOfDevice("b").publicKey()));
  EXPECT_FALSE(holds(other));
  other.key = kernel::verifierKeyText(*kernel::makeNoteVerifier("witan/test/a", keyOfDevice("c").publicKey()));
  EXPECT_FALSE(holds(other)) << "in its own name";
  other = evidence, other.row = toBase64(*fromBase64(evidence.row) + "!");
  EXPECT_FALSE(holds(other));
  const Hash own = sha256("another leaf");
  other = evidence, other.seal = toBase64(kernel::packSet(kernel::signSet("test", {&own, 1}, keyOfDevice("c"))));
  EXPECT_FALSE(holds(other));
}

// Its key is what the alias stands for, so a seal proves it as before, whichever link it comes over, and no other key.
TEST_F(Rows, AnAliasChangesNothingThatIsSealed) {
  write(a(), "field", "rye");
  meet(a(), b());
  const std::string body = bodyOf("sand"), writer = writerOf(a());
  const auto index = *journal(b()).writers().find(writer);
  const auto sealed = [&](replication::Seq seq, std::string_view key) {
    const replication::RowSeals& seals = journal(b()).seals();
    const Hash leaves[] = {seals.leafOf({index, seq, 1, Kind::journal, "plot", false, {}, body}),
                           seals.countLeaf(index, 1, seq)};
    std::string rows;
    replication::appendSealRow(rows, 1, kernel::packSet(kernel::signSet("test", leaves, keyOfDevice("a"))));
    replication::appendCountRow(rows, 0, seq, 0, 1);
    replication::appendAliasRow(rows, 9, Kind::journal, key);
    replication::VersionRow row;
    row.alias = 9, row.seq = seq, row.body = body, row.sealed = true;
    replication::appendVersionRow(rows, row);
    return rows;
  };
  EXPECT_EQ(sayRows(b(), writer, sealed(7, "plot")), ": ");
  EXPECT_THAT(shown(b(), "plot"), SizeIs(1));
  EXPECT_THAT(sayRows(b(), writer, sealed(8, "patch")), testing::StartsWith("quarantined: "));
  EXPECT_THAT(shown(b(), "patch"), IsEmpty());
}

// A commit up to `count` of writer 0, proven by a seal of the key, or by none.
std::string commitOf(const Space& space, const std::string& writer, replication::Seq count, const SigningKey* key) {
  std::string rows;
  if (key != nullptr) {
    const Hash leaf = space.seals().countLeaf(*space.writers().find(writer), 1, count);
    replication::appendSealRow(rows, 1, kernel::packSet(kernel::signSet("test", {&leaf, 1}, *key)));
    replication::appendCountRow(rows, 0, count, 0, 0);
  }
  const std::pair<std::uint64_t, replication::Seq> covered(0, count);
  replication::appendClockRow(rows, replication::RowTag::commit, {&covered, 1});
  return rows;
}

// A member that says that it has commits of a's which a has not made would bar these from b, and from all that b tells.
TEST_F(Rows, NoCounterIsBelievedThatItsWriterDidNotSign) {
  write(a(), "field", "rye");
  meet(a(), b());
  part(a(), b());
  Space& space = journal(b());
  const std::string writer = writerOf(a());
  const replication::WriterIndex index = *space.writers().find(writer);
  EXPECT_EQ(space.seals().counted(index), 1u);
  EXPECT_THAT(sayRows(b(), writer, commitOf(space, writer, 9, nullptr)),
              "protocol: a vector that covers a@00000001:9, bears no seal of a");
  EXPECT_TRUE(b().hasIncident("forgedRow"));
  EXPECT_FALSE(b().replica().data().quarantined("c").has_value());
  // What its own row had seen, too.
  const std::string body = bodyOf("sand");
  replication::VersionRow row;
  row.kind = Kind::journal, row.key = "plot", row.writer = 1, row.seq = 1, row.body = body, row.context = {{0, 9}};
  std::string rows;
  replication::appendWriterRow(rows, "c@00000003");
  replication::appendVersionRow(rows, row);
  EXPECT_THAT(sayRows(b(), writer, rows), testing::HasSubstr("what it says of a@00000001:9, bears no seal of a"));
  const SigningKey own = keyOfDevice("c"), other = keyOfDevice("a");
  EXPECT_THAT(sayRows(b(), writer, commitOf(space, writer, 9, &own)), testing::StartsWith("quarantined: "));
  EXPECT_EQ(space.vector().at(index), 1u);
  b().replica().data().pardon("c");
  EXPECT_EQ(sayRows(b(), writer, commitOf(space, writer, 9, &other)), ": ") << "as it will when a has made them";
  EXPECT_EQ(space.vector().at(index), 9u);
  expectWhole(b());
  ASSERT_TRUE(b().drain().ok());
  b().losePower();
  EXPECT_EQ(journal(b()).vector().at(index), 9u);
  EXPECT_EQ(journal(b()).seals().counted(index), 9u);
  expectWhole(b());
}

// No member makes a device believe that its own store went back, but by what the device itself has signed.
TEST_F(Rows, WhatADeviceHasForgottenIsProvenByItsOwnSeal) {
  write(a(), "field", "rye");
  meet(a(), b());
  part(a(), b());
  a().losePower();
  const std::string writer = writerOf(a());
  const std::string body = bodyOf("sand");
  replication::VersionRow row;
  row.kind = Kind::journal, row.key = "plot", row.seq = 7, row.body = body;
  std::string rows;
  replication::appendVersionRow(rows, row);
  EXPECT_THAT(sayRows(a(), writer, rows), testing::HasSubstr("bears no seal of a"));
  EXPECT_THAT(sayRows(a(), writer, commitOf(journal(a()), writer, 7, nullptr)),
              testing::HasSubstr("bears no seal of a"));
  const SigningKey own = keyOfDevice("c"), other = keyOfDevice("a");
  EXPECT_THAT(sayRows(a(), writer, commitOf(journal(a()), writer, 7, &own)), testing::StartsWith("quarantined: "));
  a().replica().data().pardon("c");
  EXPECT_EQ(writerOf(a()), writer);
  EXPECT_FALSE(a().hasIncident("rolledBack"));
  EXPECT_EQ(sayRows(a(), writer, commitOf(journal(a()), writer, 7, &other)), ": ");
  EXPECT_NE(writerOf(a()), writer);
  EXPECT_TRUE(a().hasIncident("rolledBack"));
}

// What nothing is left of was superseded, and that there was such a commit stays proven.
TEST_F(Rows, ACounterOutlivesTheRowsThatItIsOf) {
  write(a(), "plot", "beans");
  write(a(), "plot", "rye");
  meet(a(), b());
  write(b(), "plot", "maize");
  cluster.run();
  part(a(), b());
  b().losePower();
  meet(b(), d());
  EXPECT_THAT(shown(d(), "plot"), ElementsAre(writerOf(b()) + ": \"maize\""));
  const replication::WriterIndex index = *journal(d()).writers().find(writerOf(a()));
  EXPECT_EQ(journal(d()).vector().at(index), 2u);
  EXPECT_EQ(journal(d()).seals().counted(index), 2u);
  EXPECT_FALSE(d().hasIncident("forgedRow"));
  expectWhole(b()), expectWhole(d());
}

// The case in which it is believed.
TEST_F(RowsWithoutKeys, TheyAreBelieved) {
  meet(a(), b());
  write(a(), "plot", "beans");
  cluster.run();
  forge(writerOf(a()), 7, "plot");
  meet(b(), c());
  EXPECT_THAT(shown(b(), "plot"), ElementsAre("a@00000001: \"forged\""));
}

// A device that was admitted since rows are sealed has none without, under any name.
class SealingRows : public ::testing::Test {
 protected:
  SealingRows()
      : cluster(3, [](std::size_t n, ReplicaConfig& config) {
          auto keys = std::make_shared<TestKeys>(std::string(1, static_cast<char>('a' + n)));
          keys->sealing = "abc";
          config.heads = n == 2 ? nullptr : keys;
        }) {}
  TestCluster cluster;
};

TEST_F(SealingRows, AnInventedWriterOfAnotherDeviceIsRefused) {
  Space& space = journal(cluster.c());
  const auto index = space.intern("a@0badcafe");
  const std::string body = bodyOf("forged");
  ASSERT_EQ(space.receive({Kind::journal, "plot", *index, 1, false, nullptr, body}), replication::Arrival::inserted);
  replication::VersionVector upTo;
  upTo.raise(*index, 1);
  space.advance(upTo);
  cluster.connect(cluster.b(), cluster.c());
  cluster.run();
  EXPECT_THAT(shown(cluster.b(), "plot"), IsEmpty());
  EXPECT_TRUE(cluster.b().hasIncident("forgedRow"));
}

TEST_F(Rows, WhatIsForwardedIsProven) {
  for (int i = 0; i < 5; ++i) write(a(), "plot-" + std::to_string(i), "beans");
  meet(a(), b());
  part(a(), b());
  b().losePower();
  meet(b(), d());
  for (int i = 0; i < 5; ++i) EXPECT_THAT(shown(d(), "plot-" + std::to_string(i)), SizeIs(1));
  EXPECT_FALSE(d().hasIncident("forgedRow"));
  expectWhole(b()), expectWhole(d());
  journal(d()).table().visit([](replication::Record& record) {
    for (const Held* held : record.versions) EXPECT_NE(held->seal, nullptr) << record.key();
    return true;
  });
}

TEST_F(Rows, SealsShrinkWithWhatTheyProve) {
  for (int i = 0; i < 64; ++i) write(a(), "plot-" + std::to_string(i), "beans");
  meet(a(), b());
  for (int i = 0; i < 60; ++i) write(a(), "plot-" + std::to_string(i), "maize");
  cluster.run();
  part(a(), b());
  b().losePower();
  meet(b(), d());
  for (int i = 0; i < 64; ++i) EXPECT_THAT(shown(d(), "plot-" + std::to_string(i)), SizeIs(1));
  expectWhole(b()), expectWhole(d());
  std::size_t largest = 0;
  journal(b()).table().visit([&](replication::Record& record) {
    for (const Held* held : record.versions)
      if (held->seq <= 64) largest = std::max(largest, held->seal->bytes.size());
    return true;
  });
  EXPECT_GT(largest, 0u);
  EXPECT_LT(largest, 64 * sizeof(Hash) / 2);
}

// What its author had seen is part of what a device seals, also when it is shortened.
TEST_F(Rows, AShortenedVersionKeepsItsProof) {
  admit(a(), "ab");
  write(a(), "plot", "beans");
  meet(a(), b());
  write(b(), "plot", "maize");
  cluster.run();
  for (Device* device : {&a(), &b()}) ASSERT_TRUE(device->replica().data().stabilise().ok());
  cluster.run();
  const replication::Record* record = journal(a()).table().find(Kind::journal, "plot");
  ASSERT_EQ(record->versions.size(), 1u);
  EXPECT_TRUE(record->versions.front()->context().empty());
  EXPECT_NE(record->versions.front()->whole(), nullptr);
  expectWhole(a());
  part(a(), b());
  a().losePower();
  expectWhole(a());
  admit(a(), "d");
  meet(a(), d());
  EXPECT_THAT(shown(d(), "plot"), ElementsAre(writerOf(b()) + ": \"maize\""));
  expectWhole(d());
}

// Takes a version of a's as b holds it, alters it, and hands it to d.
TEST_F(Rows, NothingOfASealedVersionCanBeAltered) {
  write(a(), "plot", "beans");
  write(a(), "field", "rye");
  meet(a(), b());
  write(b(), "plot", "maize");
  write(b(), "field", "oats");
  cluster.run();
  Space& from = journal(b());
  Space& to = journal(d());
  const replication::Record& plot = *from.table().find(Kind::journal, "plot");
  const replication::Record& field = *from.table().find(Kind::journal, "field");
  const Held& held = *plot.versions.front();
  const std::string body = *from.bodyOf(held), other = bodyOf("sand");
  ASSERT_FALSE(held.context().empty());
  const auto intern = [&](replication::WriterIndex writer) { return *to.intern(from.writers().name(writer)); };
  replication::Context context, longer;
  for (const replication::ContextEntry& e : held.context()) context.push_back({intern(e.writer), e.seq});
  longer = context;
  longer.front().seq += 1;
  const auto send = [&](const auto& change) {
    replication::ArrivingSeal seal;
    seal.bytes = held.seal->bytes, seal.first = held.seal->first;
    replication::Incoming row{Kind::journal, "plot", intern(held.writer), held.seq, false, &context, body};
    row.proof = {&seal, held.leaf, nullptr};
    change(row, seal);
    return to.receive(row);
  };
  using replication::Arrival;
  using replication::ArrivingSeal;
  using replication::Incoming;
  std::string damaged = held.seal->bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const Hash wrong = sha256("");
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.body = other; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.key = "plot-2"; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.seq += 1; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.context = &longer; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.context = nullptr; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.tombstone = true, row.body = {}; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.writer = *to.intern("a@00000009"); }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.proof.leaf = field.versions.front()->leaf; }),
            Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.proof.leaf = 900; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming& row, ArrivingSeal&) { row.proof.whole = &wrong, row.context = nullptr; }),
            Arrival::unproven);
  EXPECT_EQ(send([&](Incoming&, ArrivingSeal& seal) { seal.first += 1; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming&, ArrivingSeal& seal) { seal.bytes = damaged; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming&, ArrivingSeal& seal) { seal.bytes = "short"; }), Arrival::unproven);
  EXPECT_EQ(send([&](Incoming&, ArrivingSeal&) {}), Arrival::inserted);
  expectWhole(d());
}

// Another device's seal proves nothing, and neither does one of a key that the roster does not know: that one may come.
TEST_F(Rows, AForeignSealProvesNothing) {
  Space& to = journal(b());
  const std::string body = bodyOf("sand");
  const auto index = to.intern("a@00000001");
  const auto sealedBy = [&](const SigningKey& key) {
    const Hash leaf = to.seals().leafOf({*index, 1, 1, Kind::journal, "plot", false, {}, body});
    const std::string bytes = kernel::packSet(kernel::signSet("test", {&leaf, 1}, key));
    replication::ArrivingSeal seal;
    seal.bytes = bytes, seal.first = 1;
    replication::Incoming row{Kind::journal, "plot", *index, 1, false, nullptr, body};
    row.proof = {&seal, 0, nullptr};
    return to.receive(row);
  };
  EXPECT_EQ(sealedBy(keyOfDevice("c")), replication::Arrival::unproven);
  EXPECT_EQ(sealedBy(*SigningKey::fromSeed(std::string(32, '!'))), replication::Arrival::keyUnknown);
  EXPECT_EQ(sealedBy(keyOfDevice("a")), replication::Arrival::inserted);
}

// A device whose rows were unsealed says from which on they are. Those below count, as before.
TEST(OlderRows, CountBelowTheFirstSealedOne) {
  bool signs = false;
  TestCluster cluster(3, [&](std::size_t n, ReplicaConfig& config) {
    if (!signs && n < 2) config.heads = nullptr;
  });
  Device &a = cluster.a(), &b = cluster.b(), &c = cluster.c();
  write(a, "plot", "beans");
  write(a, "field", "rye");
  cluster.connect(a, b);
  cluster.run();
  signs = true;
  for (Device* device : {&a, &b}) cluster.losePower(*device);
  write(a, "field", "oats");
  cluster.connect(a, b);
  cluster.run();
  cluster.connect(b, c);
  cluster.run();
  EXPECT_THAT(shown(c, "plot"), ElementsAre(writerOf(a) + ": \"beans\""));
  EXPECT_THAT(shown(c, "field"), ElementsAre(writerOf(a) + ": \"oats\""));
  EXPECT_EQ(journal(c).table().find(Kind::journal, "plot")->versions.front()->seal, nullptr);
  EXPECT_EQ(journal(c).seals().first(*journal(c).writers().find(writerOf(a))), 3u);
  const auto index = *journal(c).intern(writerOf(a));
  EXPECT_EQ(journal(c).receive({Kind::journal, "well", index, 9, false, nullptr, bodyOf("sand")}),
            replication::Arrival::unproven);
  EXPECT_FALSE(c.hasIncident("forgedRow"));
}

// What was believed before the writer's first seal came goes, unless that says that it is older.
TEST_F(Rows, WhatWasForgedBeforeTheFirstSealIsTakenOut) {
  for (const char* text : {"peas", "rye", "beans"}) write(a(), "plot", text);
  forge(writerOf(a()), 2, "well");
  meet(b(), c());
  EXPECT_THAT(shown(b(), "well"), SizeIs(1));
  part(b(), c());
  meet(a(), b());
  EXPECT_THAT(shown(b(), "plot"), SizeIs(1));
  EXPECT_THAT(shown(b(), "well"), IsEmpty());
  EXPECT_TRUE(b().hasIncident("forgedRow"));
}

// Random edits, removals, meetings, power losses and tidying of four devices with keys: all end with equal contents,
// each version is proven, and nobody is accused.
TEST(RowHistories, EndWithProofsOfAllAndAccuseNobody) {
  std::size_t shortened = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t n) { return random() % n; };
    TestCluster cluster(4);
    admit(cluster.a(), "abcd");
    const auto any = [&]() -> Device& { return cluster.of(std::string(1, static_cast<char>('a' + draw(4)))); };
    for (int n = 0; n < 80 && !::testing::Test::HasFailure(); ++n) {
      Device &one = any(), &other = any();
      const std::string key = "plot-" + std::to_string(draw(6));
      switch (draw(9)) {
        case 0:
          if (!shown(one, key).empty()) remove(one, key);
          break;
        case 1:
        case 2:
        case 3: write(one, key, std::to_string(n)); break;
        case 4: cluster.losePower(one); break;
        case 5: ASSERT_TRUE(one.replica().data().stabilise().ok()); break;
        case 6: cluster.run(); break;
        default:
          if (&one == &other) break;
          cluster.cut(one, other);
          cluster.connect(one, other);
          if (draw(2) == 0) cluster.run();
      }
    }
    for (const char* one : {"a", "b", "c", "d"})
      for (const char* other : {"a", "b", "c", "d"})
        if (std::string_view(one) < other) {
          cluster.cut(cluster.of(one), cluster.of(other));
          cluster.connect(cluster.of(one), cluster.of(other));
        }
    cluster.run();
    for (const char* name : {"a", "b", "c", "d"}) {
      Device& device = cluster.of(name);
      EXPECT_EQ(journal(device).digest(), journal(cluster.a()).digest()) << name;
      EXPECT_EQ(journal(device).clock(), journal(cluster.a()).clock()) << name;
      EXPECT_FALSE(device.hasIncident("forgedRow")) << name;
      EXPECT_FALSE(device.hasIncident("digestAlarm")) << name;
      expectWhole(device);
      journal(device).table().visit([&](replication::Record& record) {
        for (const Held* held : record.versions) {
          EXPECT_NE(held->seal, nullptr) << name << " " << record.key();
          shortened += held->whole() != nullptr ? 1 : 0;
        }
        return true;
      });
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(shortened, 0u);
}

// --- sets of leaves

std::vector<Hash> leavesOf(std::size_t n) {
  std::vector<Hash> leaves;
  for (std::size_t i = 0; i < n; ++i) leaves.push_back(sha256(std::to_string(i)));
  return leaves;
}

TEST(LeafSets, HaveTheRootOfTheTreeWhateverIsLeftOfThem) {
  const SigningKey key = keyOfDevice("a");
  std::mt19937 random(7);
  for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 13u, 64u, 100u, 1024u}) {
    const std::vector<Hash> leaves = leavesOf(n);
    kernel::LeafSet set = kernel::signSet("test", leaves, key);
    const Hash root = kernel::MemoryTree(leaves).root();
    while (true) {
      Hash found;
      const std::vector<Hash> kept = kernel::leavesOf(set, found);
      ASSERT_EQ(found, root) << n;
      ASSERT_EQ(kept.size(), set.kept.size());
      for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], leaves[set.kept[i]]);
      const auto read = kernel::readSet(kernel::packSet(set));
      ASSERT_TRUE(read.ok()) << read.error().message;
      ASSERT_EQ(*read, set);
      std::vector<Hash> checked;
      ASSERT_TRUE(kernel::SignatureMemo().holds("test", *read, checked));
      ASSERT_FALSE(kernel::SignatureMemo().holds("other", *read, checked));
      if (set.kept.size() == 1) break;
      std::vector<std::uint32_t> fewer;
      for (const std::uint32_t leaf : set.kept)
        if (random() % 3 == 0) fewer.push_back(leaf);
      if (fewer.empty()) fewer.push_back(set.kept[random() % set.kept.size()]);
      set = kernel::keepLeaves(set, fewer);
    }
    EXPECT_LE(set.hashes.size(), 12u);
  }
}

TEST(LeafSets, OtherBytesAreNone) {
  const std::string bytes = kernel::packSet(kernel::signSet("test", leavesOf(5), keyOfDevice("a")));
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(kernel::readSet(bytes.substr(0, n)).ok()) << n;
  EXPECT_FALSE(kernel::readSet(bytes + bytes).ok());
  for (const std::size_t at : {32u, 33u, 35u, 100u}) {  // the size, and the leaves
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x20);
    EXPECT_FALSE(kernel::readSet(other).ok()) << at;
  }
}

}  // namespace
}  // namespace witan::node::test::rows_test
