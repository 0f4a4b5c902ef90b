// Signed heads: owners sign, copies cosign and compare; what contradicts is refused, and two heads of one owner that
// contradict each other are proof against it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_codec.h"
#include "kernel/record/fork_proof.h"
#include "replica/head_exchange.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::heads_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Heads : public ::testing::Test {
 protected:
  Heads() : cluster(3, [this](std::size_t n, ReplicaConfig& config) { config.heads = keys[n]; }) {
    cluster.found();
    decide(a(), "op-1", 10);
    settle();
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  void decide(Device& device, const std::string& id, std::int64_t n) {
    device.submit(spend(id, n));
    cluster.run();
  }
  // Until what is to be signed is signed, and everybody knows.
  void settle() {
    for (Device* device : {&a(), &b(), &c()}) device->passTime(kSignHeadMs);
    cluster.run();
  }
  const HeadExchange::Heads& of(Device& device) {
    static const HeadExchange::Heads none;
    const HeadExchange::Heads* known = device.replica().heads().find(kPartition);
    return known == nullptr ? none : *known;
  }
  std::uint64_t witnessed(Device& device) { return of(device).witnessed ? of(device).witnessed->checkpoint.size : 0; }
  void send(const std::string& from, const std::string& to, const PeerAdvertisement& message) {
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    cluster.hand({from, to, bytes});
    cluster.run();
  }
  // A head that device `signer` signs, of a log of `size` entries with a root of no log.
  std::string forged(const std::string& signer, std::uint64_t size) {
    kernel::Checkpoint head = of(a()).latest->checkpoint;
    head.size = size;
    head.root = sha256("forged");
    const kernel::NoteSigner key{keyNameOf("test", signer), keyOfDevice(signer)};
    return *kernel::signNote(*kernel::checkpointText(head), {&key, 1});
  }
  void sendHead(const std::string& from, const std::string& to, std::string note) {
    PeerAdvertisement message;
    message.owner = cluster.of(from).replica().ownerName();
    message.heads = {std::move(note)};
    send(from, to, message);
  }
  std::vector<std::string> accused(Device& by, std::string_view kind) {
    std::vector<std::string> devices;
    const auto incidents = by.replica().data().incidents();
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == kind) devices.push_back(incident.peer);
    return devices;
  }

  std::vector<std::shared_ptr<TestKeys>> keys{std::make_shared<TestKeys>("a"), std::make_shared<TestKeys>("b"),
                                              std::make_shared<TestKeys>("c")};
  TestCluster cluster;
};

TEST_F(Heads, AnOwnerSignsAndEachCopyCosigns) {
  for (Device* device : {&a(), &b(), &c()}) {
    ASSERT_TRUE(of(*device).witnessed) << device->name();
    EXPECT_EQ(of(*device).latest->checkpoint.size, 1u);
    EXPECT_EQ(of(*device).latest->checkpoint.root, a().host().position().root);
    EXPECT_THAT(of(*device).latest->cosigners, UnorderedElementsAre("b", "c")) << device->name();
  }
  decide(b(), "op-2", 20);
  EXPECT_EQ(witnessed(c()), 1u);
  settle();
  EXPECT_EQ(witnessed(c()), 2u);
  EXPECT_EQ(a().replica().counters().headsSigned, 2u);
  EXPECT_EQ(b().replica().counters().headsCosigned, 2u);
}

// The lines are C2SP: whoever has the two keys of type 1 and 4 verifies them.
TEST_F(Heads, TheNoteIsACheckpointWithCosignatures) {
  const std::string note = of(c()).latest->note;
  std::vector<kernel::NoteVerifier> known{
      *kernel::makeNoteVerifier("witan/test/a", keyOfDevice("a").publicKey()),
      *kernel::makeNoteVerifier("witan/test/b", keyOfDevice("b").publicKey(), kernel::NoteKeyType::cosignature)};
  const auto opened = kernel::openNote(note, known);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->verifiedBy.size(), 2u);
  EXPECT_EQ(opened->unknownSignatures, 1u);
  const auto checkpoint = kernel::parseCheckpointText(opened->text);
  EXPECT_EQ(checkpoint->origin, "witan/test/budget/0/1/" + a().replica().ownerName());
  EXPECT_THAT(checkpoint->extensions, ::testing::Contains(HasSubstr("counselors ")));
}

TEST_F(Heads, HeadsSurviveARestart) {
  cluster.losePower(b());
  EXPECT_EQ(witnessed(b()), 1u);
  cluster.connect(a(), b()), cluster.connect(b(), c());
  cluster.run();
  decide(a(), "op-2", 20);
  settle();
  EXPECT_EQ(witnessed(b()), 2u);
  EXPECT_THAT(of(a()).latest->cosigners, UnorderedElementsAre("b", "c"));
}

TEST_F(Heads, ADeviceThatWasAwayLearnsTheNewestHead) {
  cluster.cut(a(), c()), cluster.cut(b(), c());
  decide(a(), "op-2", 20);
  settle();
  EXPECT_EQ(witnessed(c()), 1u);
  cluster.connect(a(), c());
  cluster.run();
  EXPECT_EQ(witnessed(c()), 2u);
  EXPECT_THAT(of(c()).latest->cosigners, UnorderedElementsAre("b", "c"));
}

// Two signed heads of one size are a proof that needs no trust, and it travels.
TEST_F(Heads, AnOwnerThatSignsTwoHeadsOfOneSizeIsProvenToLie) {
  sendHead("a", "b", forged("a", 1));
  EXPECT_EQ(b().replica().counters().headsRefused, 1u);
  for (Device* device : {&b(), &c()}) {
    ASSERT_EQ(device->replica().heads().proofs().size(), 1u) << device->name();
    EXPECT_THAT(accused(*device, "forkProven"), ElementsAre("a"));
    EXPECT_TRUE(device->replica().refusesOwner(kPartition)) << device->name();
    const auto proven = kernel::verifyForkProof(device->replica().heads().proofs().begin()->second);
    ASSERT_TRUE(proven.ok());
    EXPECT_EQ(proven->signer.name, "witan/test/a");
  }
  EXPECT_FALSE(a().owns());
  cluster.losePower(c());
  EXPECT_TRUE(c().replica().refusesOwner(kPartition)) << "also after a restart";
  EXPECT_EQ(c().replica().heads().proofs().size(), 1u);
}

// Neither can be compared with a copy yet, and one alone is kept.
TEST_F(Heads, TwoHeadsOfEntriesThatHaveNotComeProveIt) {
  kernel::Checkpoint other = of(a()).latest->checkpoint;
  other.size = 5, other.root = sha256("another");
  const kernel::NoteSigner key{keyNameOf("test", "a"), keyOfDevice("a")};
  sendHead("a", "b", forged("a", 5));
  sendHead("a", "b", forged("a", 5));
  EXPECT_THAT(b().replica().heads().proofs(), IsEmpty());
  sendHead("a", "b", *kernel::signNote(*kernel::checkpointText(other), {&key, 1}));
  for (Device* device : {&b(), &c()}) EXPECT_THAT(accused(*device, "forkProven"), ElementsAre("a")) << device->name();
}

// A member proves itself a liar a hundred times, in logs that nobody has: the owner's fork is proven all the same.
TEST_F(Heads, AFloodOfProofsAgainstOneselfHidesNoFork) {
  PeerAdvertisement flood;
  flood.owner = b().replica().ownerName();
  const kernel::NoteSigner signer{keyNameOf("test", "b"), keyOfDevice("b")};
  for (int n = 0; n < 100; ++n) {
    kernel::ForkProof proof;
    kernel::Checkpoint head = of(a()).latest->checkpoint;
    head.origin = concat("witan/test/x/", n, "/1/", b().replica().ownerName());
    for (std::string* note : {&proof.first, &proof.second}) {
      head.root = sha256(note == &proof.first ? "one" : "another");
      *note = *kernel::signNote(*kernel::checkpointText(head), {&signer, 1});
    }
    proof.root = toHex(head.root);
    proof.key = kernel::verifierKeyText(*kernel::makeNoteVerifier(signer.name, keyOfDevice("b").publicKey()));
    flood.proofs.push_back(toJson(proof));
    ASSERT_TRUE(kernel::verifyForkProof(flood.proofs.back()).ok());
  }
  send("b", "c", flood);
  EXPECT_EQ(c().replica().heads().proofs().size(), kMaxForkProofsOfOne);
  sendHead("a", "c", forged("a", 1));
  EXPECT_THAT(accused(c(), "forkProven"), ::testing::Contains("a"));
  EXPECT_TRUE(c().replica().refusesOwner(kPartition));
}

// A member signs a head of an epoch that nobody has claimed: the owner's next one is cosigned all the same.
TEST_F(Heads, AHeadOfNoClaimedEpochDisplacesNone) {
  kernel::Checkpoint head = of(a()).latest->checkpoint;
  head.origin = concat("witan/test/budget/0/", std::uint64_t{1} << 40, "/", b().replica().ownerName());
  head.size = std::uint64_t{1} << 50;
  const kernel::NoteSigner signer{keyNameOf("test", "b"), keyOfDevice("b")};
  cluster.cut(a(), c());
  sendHead("b", "c", *kernel::signNote(*kernel::checkpointText(head), {&signer, 1}));
  cluster.cut(b(), c());
  decide(a(), "op-2", 20);
  settle();
  cluster.connect(a(), c());
  cluster.run();
  EXPECT_EQ(witnessed(c()), 2u);
  EXPECT_THAT(of(a()).latest->cosigners, UnorderedElementsAre("b", "c"));
}

TEST_F(Heads, AProofReachesADeviceThatWasAway) {
  cluster.cut(a(), c()), cluster.cut(b(), c());
  sendHead("a", "b", forged("a", 1));
  EXPECT_EQ(b().replica().heads().proofs().size(), 1u);
  EXPECT_THAT(c().replica().heads().proofs(), IsEmpty());
  cluster.connect(b(), c());
  cluster.run();
  EXPECT_EQ(c().replica().heads().proofs().size(), 1u);
  EXPECT_THAT(accused(c(), "forkProven"), ElementsAre("a"));
}

// Of two sizes: the smaller head is none of the log that the larger one is of.
TEST_F(Heads, AnOwnerThatSignsAnotherPrefixIsProvenToLie) {
  decide(a(), "op-2", 20);
  decide(a(), "op-3", 20);
  settle();
  sendHead("b", "c", forged("a", 2));
  ASSERT_EQ(c().replica().heads().proofs().size(), 1u);
  EXPECT_THAT(c().replica().heads().proofs().begin()->second, HasSubstr("\"path\":[\""));
  EXPECT_THAT(accused(c(), "forkProven"), ElementsAre("a"));
}

// A head for entries that never come proves nothing yet; the next one does.
TEST_F(Heads, AHeadOfEntriesThatOthersGotProvesTheForkWhenTheOwnerSignsTheNext) {
  sendHead("a", "b", forged("a", 2));
  EXPECT_THAT(b().replica().heads().proofs(), IsEmpty());
  decide(a(), "op-2", 20);
  EXPECT_THAT(accused(b(), "headDiffers"), ElementsAre("a"));
  EXPECT_THAT(b().replica().heads().proofs(), IsEmpty());
  settle();
  EXPECT_THAT(accused(b(), "forkProven"), ElementsAre("a"));
}

// Of several such heads the one of most entries is kept, whichever came first.
TEST_F(Heads, OfHeadsThatAreAheadTheNewestIsCompared) {
  sendHead("a", "b", forged("a", 3)), sendHead("a", "b", forged("a", 2));
  sendHead("a", "c", forged("a", 2)), sendHead("a", "c", forged("a", 3));
  decide(a(), "op-2", 20);
  for (Device* device : {&b(), &c()}) EXPECT_THAT(accused(*device, "headDiffers"), IsEmpty()) << device->name();
  decide(a(), "op-3", 20);
  for (Device* device : {&b(), &c()}) EXPECT_THAT(accused(*device, "headDiffers"), ElementsAre("a")) << device->name();
}

TEST_F(Heads, NobodyIsAccusedByAHeadThatItDidNotSign) {
  sendHead("c", "b", forged("c", 1));  // not by the owner
  EXPECT_EQ(b().replica().counters().headsRefused, 0u);
  std::string note = forged("a", 1);
  note[note.size() - 10] = note[note.size() - 10] == 'A' ? 'B' : 'A';
  sendHead("c", "b", note);
  EXPECT_TRUE(b().noticed("badFrame"));
  EXPECT_THAT(accused(b(), "forkProven"), IsEmpty());
  EXPECT_THAT(b().replica().heads().proofs(), IsEmpty());
}

TEST_F(Heads, AProofThatProvesNothingProvesNothing) {
  sendHead("a", "b", forged("a", 1));
  const std::string good = b().replica().heads().proofs().begin()->second;
  kernel::ForkProof proof;
  const auto parsed = parseJson(good);
  ASSERT_TRUE(readJson(*parsed, proof, "").ok());
  std::swap(proof.first, proof.second);
  kernel::ForkProof same = proof;
  same.first = same.second;
  for (const std::string& text : {toJson(same), std::string("{}"), std::string(kernel::kMaxForkProofBytes + 1, ' ')}) {
    EXPECT_FALSE(kernel::verifyForkProof(text).ok());
  }
}

// A device signs more than heads, and a note says by the name of a line only who signed it. What is of no log that the
// key signs accuses nobody.
TEST(ForkProofs, AreOfALogThatTheKeySigns) {
  const SigningKey key = *SigningKey::fromSeed(std::string(32, 'k'));
  const auto proofOf = [&](const std::string& name, const std::string& origin) {
    const kernel::NoteSigner signer{name, *SigningKey::fromSeed(std::string(32, 'k'))};
    const auto note = [&](std::string_view root) {
      return *kernel::signNote(*kernel::checkpointText({origin, 3, sha256(root), {}}), {&signer, 1});
    };
    kernel::ForkProof proof;
    proof.key = kernel::verifierKeyText(*kernel::makeNoteVerifier(name, key.publicKey()));
    proof.first = note("one"), proof.second = note("two");
    proof.root = toHex(sha256("two"));
    return toJson(proof);
  };

  const std::string device = "witan/test/a";
  EXPECT_TRUE(verifyEvidence(proofOf(device, "witan/test/budget/0/1/a@00000001")).ok());
  EXPECT_TRUE(verifyEvidence(proofOf("witan/2395221f4be39b05", "witan/2395221f4be39b05")).ok());
  for (const char* origin : {"witan-copy/test/a/budget/0", "any thing", "witan/other/budget/0/1/a@00000001",
                             "witan/test/budget/0/1/b@00000001", "witan/test/budget/0/01/a@00000001"})
    EXPECT_FALSE(verifyEvidence(proofOf(device, origin)).ok()) << origin;
  EXPECT_FALSE(verifyEvidence(proofOf("witan-copy/test/a/budget/0", "witan-copy/test/a/budget/0")).ok());
}

// Its stores went back; what it signed does not.
TEST_F(Heads, AnOwnerWhoseStoresWentBackDecidesNothing) {
  const auto image = a().stores[2].image();
  decide(a(), "op-2", 20);
  settle();
  for (Device* device : {&b(), &c()}) cluster.cut(a(), *device);
  a().stores[2].restoreImage(*image);
  a().start();
  EXPECT_FALSE(a().owns());
  EXPECT_TRUE(a().noticed("wentBack") || a().hasIncident("wentBack"));
  a().start();
  EXPECT_FALSE(a().owns()) << "also after the next restart";
}

// Without its memory it could sign another log than the one that others have its word for.
TEST_F(Heads, WhoHasLostWhatItSignedDoesNotStart) {
  for (Device* other : {&b(), &c()}) cluster.cut(a(), *other);
  for (const auto& [who, role] : {std::pair(&a(), "owner"), std::pair(&b(), "cosigner")}) {
    TestKeys& memory = *keys[static_cast<std::size_t>(who->name()[0] - 'a')];
    const std::string kept = std::exchange(memory.memory, "");
    ReplicaConfig config = who->config();
    const auto opened = node::Replica::open({who->stores[0], who->stores[1], who->stores[2]}, std::move(config), at(0));
    ASSERT_FALSE(opened.ok()) << role;
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << role;
    EXPECT_THAT(opened.error().message, HasSubstr("heads.signed")) << role;
    memory.memory = kept;
    who->start();
  }
}

// With its disk a device loses the rows and the memory; of the heads that it signed it hears from the others.
TEST_F(Heads, WhoHearsWhatItHadSignedRemembersIt) {
  for (Device* device : {&b(), &a()}) {
    TestKeys& memory = *keys[static_cast<std::size_t>(device->name()[0] - 'a')];
    const std::string signedBefore = std::exchange(memory.memory, "");
    for (store::MemoryStore& disk : device->stores) disk.wipe();
    cluster.losePower(*device);
    EXPECT_THAT(memory.memory, IsEmpty()) << device->name();
    for (Device* other : {&a(), &b(), &c()})
      if (other != device) cluster.connect(*device, *other);
    cluster.run();
    ASSERT_TRUE(of(*device).latest) << device->name();
    EXPECT_EQ(memory.memory, signedBefore) << device->name();
    cluster.losePower(*device);
    ASSERT_FALSE(HasFatalFailure()) << device->name() << " does not start";
    EXPECT_EQ(of(*device).latest->checkpoint.size, 1u) << device->name();
    for (Device* other : {&a(), &b(), &c()})
      if (other != device) cluster.connect(*device, *other);
    cluster.run();
  }
}

TEST_F(Heads, NoRowShowsASignatureThatCannotBeRemembered) {
  keys[1]->memory.clear();
  keys[1]->fails = true;
  for (store::MemoryStore& disk : b().stores) disk.wipe();
  cluster.losePower(b());
  cluster.connect(a(), b());
  cluster.run();
  EXPECT_TRUE(of(b()).latest);
  EXPECT_TRUE(b().noticed("headsNotSigned"));
  cluster.losePower(b());
  ASSERT_FALSE(HasFatalFailure()) << "b does not start";
  EXPECT_FALSE(of(b()).latest);
}

TEST_F(Heads, NothingIsSignedThatCannotBeRemembered) {
  keys[0]->fails = true;
  decide(a(), "op-2", 20);
  settle();
  EXPECT_EQ(witnessed(b()), 1u);
  EXPECT_EQ(a().replica().counters().headsSigned, 1u);
  keys[0]->fails = false;
  a().passTime(10'000);
  cluster.run();
  EXPECT_EQ(witnessed(b()), 2u);
}

// A seizure begins another log: what was signed of the one before is no lie.
TEST_F(Heads, ASeizureMakesNobodyALiar) {
  cluster.cut(a(), b()), cluster.cut(a(), c());
  decide(a(), "op-2", 20);
  settle();
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  cluster.run();
  decide(b(), "op-3", 30);
  settle();
  cluster.connect(a(), b()), cluster.connect(a(), c());
  cluster.run();
  settle();
  decide(c(), "op-4", 40);
  settle();
  for (Device* device : {&a(), &b(), &c()}) {
    EXPECT_THAT(device->decided(), ElementsAre("op-1", "op-3", "op-4"));
    EXPECT_THAT(device->replica().heads().proofs(), IsEmpty());
    EXPECT_THAT(accused(*device, "headDiffers"), IsEmpty());
    EXPECT_EQ(witnessed(*device), 3u) << device->name();
    EXPECT_THAT(of(*device).latest->cosigners, UnorderedElementsAre("a", "c"));
  }
}

TEST(HeadMemoryTest, ReadsWhatItWritesAndPermitsWhatExtends) {
  const kernel::Epoch epoch{3, "a@00000001"};
  HeadMemory memory;
  memory.note("budget/0", {epoch, 7, sha256("x")});
  const auto again = HeadMemory::parse("test", memory.text("test"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->text("test"), memory.text("test"));
  EXPECT_TRUE(again->permits("budget/0", {epoch, 8, {}}));
  EXPECT_TRUE(again->permits("budget/0", {epoch, 7, sha256("x")}));
  EXPECT_FALSE(again->permits("budget/0", {epoch, 7, sha256("y")}));
  EXPECT_FALSE(again->permits("budget/0", {epoch, 6, sha256("y")}));
  EXPECT_FALSE(again->permits("budget/0", {{2, "a@00000001"}, 9, {}}));
  EXPECT_TRUE(again->permits("budget/0", {{4, "b@00000001"}, 1, {}}));
  EXPECT_TRUE(again->permits("budget/1", {{1, "b@00000001"}, 1, {}}));
  EXPECT_FALSE(HeadMemory::parse("test", "7 00 witan/test/budget/0/1/a@00000001\n").ok());
  EXPECT_FALSE(HeadMemory::parse("other", memory.text("test")).ok());
}

// What was cut, doubled or is of another form is refused, wherever; under a first line that fits it, too.
TEST(HeadMemoryTest, AFileThatIsNotWholeIsRefused) {
  const auto withFirst = [](const std::string& lines) {
    return concat("witan-sizes/1 ", std::ranges::count(lines, '\n'), " ", toHex(sha256(lines)), "\n", lines);
  };
  const std::string root = toHex(sha256("x"));
  const std::string line = "7 " + root + " witan/test/budget/0/3/a@00000001\n";
  EXPECT_TRUE(HeadMemory::parse("test", withFirst(line)).ok());
  for (const std::string& bad :
       {line.substr(0, line.size() - 1), line + line, "07" + line.substr(1),
        "7 " + root + " witan/test/budget/0/03/a@00000001\n", "7 " + root + " witan/test/budget/00/3/a@00000001\n",
        "7 " + root + " witan/test/../0/3/a@00000001\n", "7 " + root + " witan/test/bud\u202eget/0/3/a@00000001\n",
        line + "8 " + root + " witan/test/budget/0/4/a@00000001\n"})
    EXPECT_FALSE(HeadMemory::parse("test", withFirst(bad)).ok()) << bad;
  HeadMemory memory;
  memory.note("budget/0", {{3, "a@00000001"}, 7, sha256("x")});
  memory.note("budget/1", {{3, "a@00000001"}, 9, sha256("y")});
  const std::string whole = memory.text("test");
  ASSERT_TRUE(HeadMemory::parse("test", whole).ok());
  for (std::size_t n = 1; n < whole.size(); ++n) EXPECT_FALSE(HeadMemory::parse("test", whole.substr(0, n)).ok()) << n;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::string changed = whole;
    changed[n] ^= 1;
    EXPECT_FALSE(HeadMemory::parse("test", changed).ok()) << n;
  }
}

// The lines are whole, and could be any others.
TEST(HeadMemoryTest, AFileWithoutItsFirstLineIsRefused) {
  HeadMemory memory;
  memory.note("budget/0", {{3, "a@00000001"}, 7, sha256("x")});
  const std::string whole = memory.text("test");
  const auto read = HeadMemory::parse("test", whole.substr(whole.find('\n') + 1));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_THAT(read.error().message, HasSubstr("the first line is missing"));
}

}  // namespace
}  // namespace witan::node::test::heads_test
