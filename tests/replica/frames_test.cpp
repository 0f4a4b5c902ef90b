// What comes in at the door: requests that cannot be, and frames that no honest device sends. A bad frame cuts its
// sender off and says why; it changes nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/proposal_message.h"
#include "replica/adjudication.capnp.h"
#include "replica/advertisement_exchange.h"
#include "replica/core/owner_proofs.h"
#include "tests/place_of.h"
#include "tests/replica/test_cluster.h"
#include "tests/same_layout.h"

namespace witan::node::test::frames_test {
namespace {

using ::testing::HasSubstr;

// The member that is wrong; "": none.
std::string wrongIn(Request request) {
  const Status checked = checkRequest(request);
  return checked.ok() ? "" : tests::placeOf(checked.error().message);
}

TEST(Frames, SchemaAndStructsHaveOneLayout) {
  using witan::layout::expectSameLayout;
  expectSameLayout<wire::Request, Request>();
  expectSameLayout<wire::Answer, Answer>();
  expectSameLayout<wire::Claim, OwnershipRecord>();
  expectSameLayout<wire::BatchSeal, BatchSeal>();
  expectSameLayout<wire::EpochMark, EpochMark>();
  expectSameLayout<wire::LogProbe, LogProbe>();
  expectSameLayout<wire::Position, LogPosition>();
  expectSameLayout<wire::PeerAdvertisement, PeerAdvertisement>();
  expectSameLayout<wire::Entries, Entries>();
  expectSameLayout<wire::Followed, Followed>();
  expectSameLayout<wire::AskPast, AskPast>();
  expectSameLayout<wire::PastBatch, PastBatch>();
  expectSameLayout<wire::Past, Past>();
  expectSameLayout<wire::AskFolded, AskFolded>();
  expectSameLayout<wire::Folded, Folded>();
  expectSameLayout<wire::AskBase, AskBase>();
  expectSameLayout<wire::BaseRow, BaseRow>();
  expectSameLayout<wire::Base, Base>();
}

TEST(Requests, AtTheDoor) {
  Request good = spend("op-1", 10);
  good.device = "a";
  EXPECT_EQ(wrongIn(good), "");
  const auto with = [&](auto change) {
    Request request = good;
    change(request);
    return wrongIn(std::move(request));
  };
  EXPECT_EQ(with([](Request& r) { r.domain = "no domain"; }), "domain");
  EXPECT_EQ(with([](Request& r) { r.operationId = "a b"; }), "operationId");
  EXPECT_EQ(with([](Request& r) { r.operationId = ""; }), "operationId");
  EXPECT_EQ(with([](Request& r) { r.device = "a@00000001"; }), "device");
  EXPECT_EQ(with([](Request& r) { r.entity = ""; }), "entity");
  EXPECT_EQ(with([](Request& r) { r.entity = std::string(10'000, 'e'); }), "entity");
  EXPECT_EQ(with([](Request& r) { r.role = std::string(10'000, 'r'); }), "role");
  EXPECT_EQ(with([](Request& r) { r.reason = std::string(65 * 1024, 'r'); }), "reason");
  EXPECT_EQ(with([](Request& r) { r.runKey = sha256("run"); }), "planDigest");
  EXPECT_EQ(with([](Request& r) { r.planDigest = sha256("plan"); }), "runKey");
  EXPECT_EQ(with([](Request& r) {
              r.kind = RequestKind::reject;
              r.runKey = r.planDigest = sha256("run");
            }),
            "runKey");
  EXPECT_EQ(with([](Request& r) { r.runKey = r.planDigest = sha256("run"); }), "");
  EXPECT_EQ(with([](Request& r) { r.action.pop_back(); }), "action");
  EXPECT_EQ(with([](Request& r) { r.action.clear(); }), "action");
  EXPECT_EQ(with([](Request& r) { r.action.resize(kernel::kProposalMax + 8); }), "action");
}

TEST(Requests, OfAnotherDeviceOrAnUnknownDomain) {
  TestCluster cluster(2);
  cluster.found();
  Request other = spend("op-1", 10);
  other.device = "b";
  EXPECT_EQ(tests::placeOf(cluster.a().replica().submit(other, at(0)).error().message), "device");
  Request unknown = spend("op-2", 10);
  unknown.domain = "nothing";
  EXPECT_EQ(tests::placeOf(cluster.a().replica().submit(unknown, at(0)).error().message), "domain");
}

// --- frames

template <class T>
std::string frame(const T& message) {
  std::string out;
  WordWriter words;
  appendFrame(out, words, message);
  return out;
}
std::string rawFrame(std::uint8_t type, std::string_view message) {
  std::string out;
  replication::appendFrameBytes(out, static_cast<replication::FrameType>(type), message);
  return out;
}

PeerAdvertisement standing(const std::string& owner) {
  PeerAdvertisement made;
  made.owner = owner;
  return made;
}
LogPosition position(std::vector<EpochMark> epochs, std::uint64_t batches) {
  LogPosition made;
  made.partition = kPartition;
  made.epochs = std::move(epochs);
  made.batches = batches;
  return made;
}

struct Bad {
  const char* name;
  std::string bytes;
  const char* why;
};

std::vector<Bad> badFrames(const std::string& owner) {
  PeerAdvertisement claims = standing(owner);
  claims.claims.push_back({std::string(kPartition), 0, owner});
  PeerAdvertisement stranger = standing(owner);
  stranger.claims.push_back({std::string(kPartition), 3, "no writer"});
  PeerAdvertisement lineage = standing(owner);
  lineage.positions.push_back(position({{1, owner, 5}}, 3));
  PeerAdvertisement epochless = standing(owner);
  epochless.positions.push_back(position({}, 3));
  Request foreign = spend("op 1", 10);
  foreign.device = "b";
  std::vector<Bad> bad{
      {"nothing but a header", std::string(8, '\0'), "without a message"},
      {"half a header", "abc", "without a message"},
      {"an unknown type", rawFrame(99, std::string(16, '\0')), "unknown type 99"},
      {"an epoch 0", frame(claims), "epoch 0"},
      {"an owner that is no writer", frame(stranger), "epoch owner"},
      {"who speaks through another", frame(standing("z@00000001")), "speaks through b"},
      {"no owner", frame(standing("nobody@@")), "owner"},
      {"an impossible epoch", frame(lineage), "epoch 1"},
      {"a log without an epoch", frame(epochless), "without an epoch"},
      {"a request that cannot be", frame(foreign), "operationId"},
  };
  for (const std::uint8_t type : {32, 33, 34, 35, 36}) {
    bad.push_back({"random words", rawFrame(type, std::string(64, '\xa5')), ""});
    bad.push_back({"half a message", rawFrame(type, std::string_view(frame(spend("op-1", 10))).substr(8, 24)), ""});
  }
  return bad;
}

TEST(Frames, BadOnesCutTheirSenderOffAndSayWhy) {
  std::size_t n = 0;
  for (;; ++n) {
    TestCluster cluster(2);
    cluster.found();
    const auto all = badFrames(cluster.b().replica().ownerName());
    if (n == all.size()) break;
    SCOPED_TRACE(all[n].name);
    const Hash before = cluster.a().host().partition().tree().root();
    cluster.hand({"b", "a", all[n].bytes});
    // What it sends after that does not count any more.
    cluster.hand({"b", "a", frame(spend("op-2", 10))});
    cluster.run();
    ASSERT_FALSE(cluster.closed.empty());
    EXPECT_EQ(cluster.closed.front(), "a to b");
    ASSERT_TRUE(cluster.a().noticed("badFrame"));
    EXPECT_THAT(cluster.a().notices.back().what, HasSubstr("b: "));
    EXPECT_THAT(cluster.a().notices.back().what, HasSubstr(all[n].why));
    EXPECT_EQ(cluster.a().replica().counters().badFrames, 1u);
    EXPECT_EQ(cluster.a().host().partition().tree().root(), before);
    EXPECT_TRUE(cluster.a().owns());
  }
  EXPECT_EQ(n, 20u);
}

// Each message of an honest talk, cut short after any word: refused, and nothing breaks.
TEST(Frames, CutShortAnywhere) {
  TestCluster cluster(2);
  cluster.found();
  std::vector<std::string> honest;
  Request request = spend("op-1", 10);
  ASSERT_TRUE(cluster.b().replica().submit(request, at(0)).ok());
  cluster.lose = [&](const TestCluster::Frame& one) {
    if (isAdjudication(one.bytes)) honest.push_back(one.bytes);
    return false;
  };
  cluster.run();
  for (Device* device : {&cluster.a(), &cluster.b()}) device->passTime(60'000);
  cluster.run();
  cluster.lose = {};
  std::set<AdjudicationFrame> kinds;
  for (const std::string& whole : honest) {
    if (!kinds.insert(typeOf(whole)).second) continue;
    for (std::size_t size = 16; size < whole.size(); size += 8) {
      const std::string shorter =
          rawFrame(static_cast<std::uint8_t>(whole[4]), std::string_view(whole).substr(8, size - 8));
      TestCluster other(2);
      other.found();
      other.hand({"b", "a", shorter});
      other.hand({"b", "a", whole.substr(0, size)});  // the header says more
      ASSERT_TRUE(other.a().drain().ok());
      EXPECT_TRUE(other.a().noticed("badFrame")) << enumName(AnswerKind::decided) << size;
    }
  }
  EXPECT_EQ(kinds.size(), 5u);
}

TEST(Frames, StandingsAreBounded) {
  TestCluster cluster(2);
  cluster.found();
  PeerAdvertisement many = standing(cluster.b().replica().ownerName());
  for (std::size_t n = 0; n <= kMaxClaims; ++n)
    many.claims.push_back({"p/" + std::to_string(n), 1, cluster.b().replica().ownerName()});
  cluster.hand({"b", "a", frame(many)});
  cluster.run();
  EXPECT_TRUE(cluster.a().noticed("badFrame"));
  EXPECT_THAT(cluster.a().notices.back().what, HasSubstr("more than 4096 partitions"));
}

// A batch that does not fit the log is the sender's fault, and the log is what it was.
TEST(Frames, EntriesThatAreNone) {
  TestCluster cluster(2, withoutKeys);
  cluster.found();
  Entries entries;
  entries.partition = kPartition;
  entries.batch = cluster.b().host().ledger().batches();
  const kernel::Epoch epoch = cluster.a().host().epoch();
  entries.epochNumber = entries.previousNumber = epoch.number;
  entries.epochOwner = entries.previousOwner = epoch.owner;
  // Begins where the log ends, and holds what nobody wrote.
  const std::string genuine = *cluster.a().host().ledger().batch(1);
  entries.value.assign(genuine.begin(), genuine.end());
  entries.value.back() ^= 1;
  for (std::size_t n = 40; n < entries.value.size(); n += 8) entries.value[n] ^= 0x55;
  const std::uint64_t before = cluster.b().host().ledger().batches();
  cluster.hand({"a", "b", frame(entries)});
  cluster.run();
  EXPECT_TRUE(cluster.b().noticed("badFrame"));
  EXPECT_TRUE(cluster.b().hasIncident("badEntries"));
  EXPECT_EQ(cluster.b().host().ledger().batches(), before);
}

// A replica that has nothing yet is told of a first batch on top of something else: there is nothing to go back to.
TEST(Frames, TheFirstEntriesOnTopOfAnotherLog) {
  TestCluster cluster(2, withoutKeys);
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  ASSERT_EQ(cluster.b().host().ledger().batches(), 0u);
  Entries entries;
  entries.partition = kPartition;
  entries.epochNumber = 7;
  entries.epochOwner = cluster.a().replica().ownerName();
  entries.value.assign(64, 1);
  entries.previousRoot.fill(9);
  cluster.hand({"a", "b", frame(entries)});
  cluster.run();
  EXPECT_TRUE(cluster.b().hasIncident("badEntries"));
  EXPECT_EQ(cluster.b().host().ledger().batches(), 0u);
}

TEST(Frames, AnswersThatNobodyWaitsForAreNothing) {
  TestCluster cluster(2);
  cluster.found();
  Answer answer;
  answer.operationId = "op-7";
  cluster.hand({"b", "a", frame(answer)});
  cluster.run();
  EXPECT_EQ(cluster.a().answered("op-7"), nullptr);
  EXPECT_TRUE(cluster.closed.empty());
}

TEST(Frames, ARequestInAnothersNameIsRefused) {
  TestCluster cluster(3);
  cluster.found();
  Request request = spend("op-1", 10);
  request.device = "c";
  cluster.hand({"b", "a", frame(request)});
  cluster.run();
  EXPECT_EQ(cluster.a().host().partition().size(), 0u);
  EXPECT_TRUE(cluster.closed.empty());
}

// It is of the device at the other end of the link, and decides what that device is sent again: no signature is needed.
TEST(Frames, AnAcknowledgementCountsForItsSenderAlone) {
  TestCluster cluster(3);
  cluster.found();
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "b" && isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cluster.a().submit(spend("op-1", 10));
  cluster.run();
  const std::uint64_t all = cluster.a().host().ledger().batches();
  for (const std::uint64_t batches : {all, all + 7})  // for another device, and of what is not there
    cluster.hand({"c", "a", frame(Followed{std::string(kPartition), batches})});
  cluster.run();
  ASSERT_LT(cluster.b().host().ledger().batches(), all);
  cluster.lose = {};
  cluster.a().passTime(5'001);
  cluster.run();
  EXPECT_EQ(cluster.b().host().ledger().batches(), all);
  EXPECT_TRUE(cluster.closed.empty());
}

}  // namespace
}  // namespace witan::node::test::frames_test
