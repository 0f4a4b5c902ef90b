// What comes in at the door: requests that cannot be, and frames that no honest device sends. A bad frame cuts its
// sender off and says why; it changes nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/proposal_message.h"
#include "replica/adjudication.capnp.h"
#include "tests/replica/cable.h"
#include "tests/same_layout.h"

namespace witan::node::test {
namespace {

using ::testing::HasSubstr;

std::string problemOf(Request request) {
  const Status checked = checkRequest(request);
  return checked.ok() ? "" : checked.error().message;
}

TEST(Frames, SchemaAndStructsHaveOneLayout) {
  using witan::layout::expectSameLayout;
  expectSameLayout<wire::Request, Request>();
  expectSameLayout<wire::Answer, Answer>();
  expectSameLayout<wire::Claim, OwnershipRecord>();
  expectSameLayout<wire::EpochMark, EpochMark>();
  expectSameLayout<wire::LogProbe, LogProbe>();
  expectSameLayout<wire::Position, LogPosition>();
  expectSameLayout<wire::PeerAdvertisement, PeerAdvertisement>();
  expectSameLayout<wire::Entries, Entries>();
  expectSameLayout<wire::Followed, Followed>();
}

TEST(Requests, AtTheDoor) {
  Request good = spend("op-1", 10);
  good.device = "a";
  EXPECT_EQ(problemOf(good), "");
  const auto with = [&](auto change) {
    Request request = good;
    change(request);
    return problemOf(std::move(request));
  };
  EXPECT_THAT(with([](Request& r) { r.domain = "no domain"; }), HasSubstr("domain"));
  EXPECT_THAT(with([](Request& r) { r.operationId = "a b"; }), HasSubstr("operationId"));
  EXPECT_THAT(with([](Request& r) { r.operationId = ""; }), HasSubstr("operationId"));
  EXPECT_THAT(with([](Request& r) { r.device = "a@00000001"; }), HasSubstr("device"));
  EXPECT_THAT(with([](Request& r) { r.entity = ""; }), HasSubstr("entity"));
  EXPECT_THAT(with([](Request& r) { r.entity = std::string(10'000, 'e'); }), HasSubstr("entity"));
  EXPECT_THAT(with([](Request& r) { r.role = std::string(10'000, 'r'); }), HasSubstr("role"));
  EXPECT_THAT(with([](Request& r) { r.reason = std::string(65 * 1024, 'r'); }), HasSubstr("reason"));
  EXPECT_THAT(with([](Request& r) { r.runKey = sha256("run"); }), HasSubstr("planDigest"));
  EXPECT_THAT(with([](Request& r) { r.planDigest = sha256("plan"); }), HasSubstr("runKey"));
  EXPECT_THAT(with([](Request& r) {
                r.kind = RequestKind::reject;
                r.runKey = r.planDigest = sha256("run");
              }),
              HasSubstr("runs propose"));
  EXPECT_EQ(with([](Request& r) { r.runKey = r.planDigest = sha256("run"); }), "");
  EXPECT_THAT(with([](Request& r) { r.action.pop_back(); }), HasSubstr("whole 8-byte words"));
  EXPECT_THAT(with([](Request& r) { r.action.clear(); }), HasSubstr("there is none"));
  EXPECT_THAT(with([](Request& r) { r.action.resize(kernel::kProposalMax + 8); }), HasSubstr("at most"));
}

TEST(Requests, OfAnotherDeviceOrAnUnknownDomain) {
  Cable cable(2);
  cable.found();
  Request other = spend("op-1", 10);
  other.device = "b";
  EXPECT_THAT(cable.a().replica().submit(other, at(0)).error().message, HasSubstr("another device"));
  Request unknown = spend("op-2", 10);
  unknown.domain = "nothing";
  EXPECT_THAT(cable.a().replica().submit(unknown, at(0)).error().message, HasSubstr("no domain nothing"));
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
    Cable cable(2);
    cable.found();
    const auto all = badFrames(cable.b().replica().ownerName());
    if (n == all.size()) break;
    SCOPED_TRACE(all[n].name);
    const Hash before = cable.a().host().partition().tree().root();
    cable.hand({"b", "a", all[n].bytes});
    // What it sends after that does not count any more.
    cable.hand({"b", "a", frame(spend("op-2", 10))});
    cable.run();
    ASSERT_FALSE(cable.closed.empty());
    EXPECT_EQ(cable.closed.front(), "a to b");
    ASSERT_TRUE(cable.a().noticed("badFrame"));
    EXPECT_THAT(cable.a().notices.back().what, HasSubstr("b: "));
    EXPECT_THAT(cable.a().notices.back().what, HasSubstr(all[n].why));
    EXPECT_EQ(cable.a().replica().counters().badFrames, 1u);
    EXPECT_EQ(cable.a().host().partition().tree().root(), before);
    EXPECT_TRUE(cable.a().owns());
  }
  EXPECT_EQ(n, 20u);
}

// Each message of an honest talk, cut short after any word: refused, and nothing breaks.
TEST(Frames, CutShortAnywhere) {
  Cable cable(2);
  cable.found();
  std::vector<std::string> honest;
  Request request = spend("op-1", 10);
  ASSERT_TRUE(cable.b().replica().submit(request, at(0)).ok());
  cable.lose = [&](const Cable::Frame& one) {
    if (isAdjudication(one.bytes)) honest.push_back(one.bytes);
    return false;
  };
  cable.run();
  for (Device* device : {&cable.a(), &cable.b()}) device->passTime(60'000);
  cable.run();
  cable.lose = {};
  std::set<AdjudicationFrame> kinds;
  for (const std::string& whole : honest) {
    if (!kinds.insert(typeOf(whole)).second) continue;
    for (std::size_t size = 16; size < whole.size(); size += 8) {
      const std::string shorter =
          rawFrame(static_cast<std::uint8_t>(whole[4]), std::string_view(whole).substr(8, size - 8));
      Cable other(2);
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
  Cable cable(2);
  cable.found();
  PeerAdvertisement many = standing(cable.b().replica().ownerName());
  for (std::size_t n = 0; n <= kMaxPartitions; ++n)
    many.claims.push_back({"p/" + std::to_string(n), 1, cable.b().replica().ownerName()});
  cable.hand({"b", "a", frame(many)});
  cable.run();
  EXPECT_TRUE(cable.a().noticed("badFrame"));
  EXPECT_THAT(cable.a().notices.back().what, HasSubstr("more than 4096 partitions"));
}

// A batch that does not fit the log is the sender's fault, and the log is what it was.
TEST(Frames, EntriesThatAreNone) {
  Cable cable(2);
  cable.found();
  Entries entries;
  entries.partition = kPartition;
  entries.batch = cable.b().host().ledger().batches();
  const kernel::Epoch epoch = cable.a().host().epoch();
  entries.epochNumber = entries.previousNumber = epoch.number;
  entries.epochOwner = entries.previousOwner = epoch.owner;
  // Begins where the log ends, and holds what nobody wrote.
  const std::string genuine = *cable.a().host().ledger().batch(1);
  entries.value.assign(genuine.begin(), genuine.end());
  entries.value.back() ^= 1;
  for (std::size_t n = 40; n < entries.value.size(); n += 8) entries.value[n] ^= 0x55;
  const std::uint64_t before = cable.b().host().ledger().batches();
  cable.hand({"a", "b", frame(entries)});
  cable.run();
  EXPECT_TRUE(cable.b().noticed("badFrame"));
  EXPECT_TRUE(cable.b().hasIncident("badEntries"));
  EXPECT_EQ(cable.b().host().ledger().batches(), before);
}

// A replica that has nothing yet is told of a first batch on top of something else: there is nothing to go back to.
TEST(Frames, TheFirstEntriesOnTopOfAnotherLog) {
  Cable cable(2);
  cable.connect(cable.a(), cable.b());
  cable.run();
  ASSERT_EQ(cable.b().host().ledger().batches(), 0u);
  Entries entries;
  entries.partition = kPartition;
  entries.epochNumber = 7;
  entries.epochOwner = cable.a().replica().ownerName();
  entries.value.assign(64, 1);
  entries.previousRoot.fill(9);
  cable.hand({"a", "b", frame(entries)});
  cable.run();
  EXPECT_TRUE(cable.b().hasIncident("badEntries"));
  EXPECT_EQ(cable.b().host().ledger().batches(), 0u);
}

TEST(Frames, AnswersThatNobodyWaitsForAreNothing) {
  Cable cable(2);
  cable.found();
  Answer answer;
  answer.operationId = "op-7";
  cable.hand({"b", "a", frame(answer)});
  cable.run();
  EXPECT_EQ(cable.a().answered("op-7"), nullptr);
  EXPECT_TRUE(cable.closed.empty());
}

TEST(Frames, ARequestInAnothersNameIsRefused) {
  Cable cable(3);
  cable.found();
  Request request = spend("op-1", 10);
  request.device = "c";
  cable.hand({"b", "a", frame(request)});
  cable.run();
  EXPECT_EQ(cable.a().host().partition().size(), 0u);
  EXPECT_TRUE(cable.closed.empty());
}

}  // namespace
}  // namespace witan::node::test
