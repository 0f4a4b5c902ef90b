#include "replication/incarnation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"

namespace witan::replication::incarnation_test {
namespace {

const std::string kWriter = "phone@0a1b2c3d";

HighWater sample() { return {kWriter, {{"journal", {0, 4096}}, {"state", {5000, 9096}}}}; }
std::optional<Result<HighWater>> record(const HighWater& highWater) {
  return parseHighWater(formatHighWater(highWater));
}
IncarnationCause decided(const StoreIncarnation& store, const HighWater& highWater) {
  const IncarnationDecision decision = decideIncarnation(store, record(highWater));
  EXPECT_EQ(decision.why.empty(), !decision.newIncarnation());
  return decision.cause;
}
// With a checksum that fits: what is refused then is refused for what it says.
std::string sealed(const std::string& lines) { return lines + "sha256 " + toHex(sha256(lines)) + '\n'; }
std::string causeOf(const std::string& text) {
  const auto parsed = parseHighWater(text);
  return parsed.ok() ? "ok" : parsed.error().message;
}

TEST(Incarnation, HighWaterIsReadableText) {
  const std::string text = formatHighWater(sample());
  EXPECT_EQ(text.substr(0, text.find("sha256")),
            "witan highwater 1\nwriter phone@0a1b2c3d\nlease journal 0 4096\nlease state 5000 9096\n");
  ASSERT_TRUE(parseHighWater(text).ok());
  EXPECT_EQ(*parseHighWater(text), sample());
}

TEST(Incarnation, DamagedHighWaterIsRefusedWithItsCause) {
  const std::string text = formatHighWater(sample());
  for (std::size_t cut = 0; cut < text.size(); ++cut) EXPECT_FALSE(parseHighWater(text.substr(0, cut)).ok()) << cut;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string spoiled = text;
    spoiled[at] = static_cast<char>(spoiled[at] ^ 1);
    EXPECT_FALSE(parseHighWater(spoiled).ok()) << at;
  }
  EXPECT_FALSE(parseHighWater(text + text).ok());
  const std::string head = "witan highwater 1\nwriter phone@0a1b2c3d\n";
  EXPECT_EQ(causeOf(sealed(head)), "ok");
  EXPECT_NE(causeOf(sealed("witan highwater 2\n")).find("does not begin"), std::string::npos);
  EXPECT_NE(causeOf(sealed("witan highwater 1\n")).find("names no writer"), std::string::npos);
  EXPECT_NE(causeOf(sealed("witan highwater 1\nwriter a@b\n")).find("\"a@b\" is no writer"), std::string::npos);
  EXPECT_NE(causeOf(sealed(head + "lease state 1 2")).find("has no end"), std::string::npos);
  EXPECT_NE(causeOf(sealed(head + "least state 1 2\n")).find("expected a lease"), std::string::npos);
  EXPECT_NE(causeOf(sealed(head + "lease state 1\n")).find("two counters"), std::string::npos);
  EXPECT_NE(causeOf(sealed(head + "lease s|t 1 2\n")).find("space"), std::string::npos);
  for (const char* counters : {"2 1", "01 2", "-1 2", "1 18446744073709551616", "1 2 3", "x 1"})
    EXPECT_NE(causeOf(sealed(head + "lease state " + counters + "\n")).find("no ascending counters"), std::string::npos)
        << counters;
  EXPECT_NE(causeOf(sealed(head + "lease b 1 2\nlease a 1 2\n")).find("not in order"), std::string::npos);
  EXPECT_NE(causeOf(sealed(head + "lease a 1 2\nlease a 1 2\n")).find("not in order"), std::string::npos);
}

TEST(Incarnation, AStoreWithinItsLeaseGoesOn) {
  EXPECT_EQ(decided({kWriter, {{"journal", 7}, {"state", 5000}}}, sample()), IncarnationCause::none);
  EXPECT_EQ(decided({kWriter, {{"journal", 4096}, {"state", 9096}}}, sample()), IncarnationCause::none);
  EXPECT_EQ(decided({kWriter, {{"state", 5001}}}, sample()), IncarnationCause::none);  // nothing in journal yet
}

TEST(Incarnation, EveryTripwireOfTheRecordFires) {
  const StoreIncarnation good{kWriter, {{"journal", 7}, {"state", 5000}}};
  EXPECT_EQ(decideIncarnation({}, std::nullopt).cause, IncarnationCause::freshStore);
  EXPECT_EQ(decideIncarnation(good, std::nullopt).cause, IncarnationCause::noRecord);
  EXPECT_EQ(decideIncarnation(good, parseHighWater("?")).cause, IncarnationCause::damagedRecord);
  EXPECT_EQ(decided({"phone@00000001", good.counters}, sample()), IncarnationCause::otherWriter);
  EXPECT_EQ(decided({kWriter, {{"journal", 7}, {"state", 4999}}}, sample()), IncarnationCause::storeBehind);
  EXPECT_EQ(decided({kWriter, {{"journal", 7}}}, sample()), IncarnationCause::storeBehind);
  EXPECT_EQ(decided({kWriter, {{"journal", 7}, {"state", 9097}}}, sample()), IncarnationCause::storeAhead);
  EXPECT_EQ(decided({kWriter, {{"journal", 7}, {"state", 5000}, {"new", 1}}}, sample()), IncarnationCause::storeAhead);
  const IncarnationDecision decision =
      decideIncarnation({kWriter, {{"journal", 7}, {"state", 4999}}}, record(sample()));
  EXPECT_EQ(decision.why,
            "space state: the store's last counter is 4999, the record beside it says 5000 to 9096: the store went "
            "back in time");
}

// After a proper end any step back is seen, be it one commit.
TEST(Incarnation, AClosedRecordAllowsNothingElse) {
  const HighWater closed{kWriter, {{"state", closedLease(77)}}};
  EXPECT_EQ(decided({kWriter, {{"state", 77}}}, closed), IncarnationCause::none);
  EXPECT_EQ(decided({kWriter, {{"state", 76}}}, closed), IncarnationCause::storeBehind);
  EXPECT_EQ(decided({kWriter, {{"state", 78}}}, closed), IncarnationCause::storeAhead);
}

// A store that writes, renews, crashes, and is restored from any earlier moment of an earlier lease. It goes on if and
// only if it is the store that crashed or a copy within the last lease: that rest is the second tripwire's.
RC_GTEST_PROP(Incarnation, NoDotIsUsedTwiceAcrossLeases, ()) {
  std::uint64_t counter = 0;
  Lease lease = leaseFrom(0);
  const int commits = *rc::gen::inRange(0, 20'000);
  for (int i = 0; i < commits; ++i) {
    if (leaseIsDue(lease, counter)) lease = leaseFrom(counter);
    ++counter;
    RC_ASSERT(leaseCovers(lease, counter));
  }
  const HighWater highWater{kWriter, {{"state", lease}}};
  RC_ASSERT(decideIncarnation({kWriter, {{"state", counter}}}, record(highWater)).cause == IncarnationCause::none);
  const std::uint64_t restored = *rc::gen::inRange<std::uint64_t>(0, counter + 1);
  const bool caught = decideIncarnation({kWriter, {{"state", restored}}}, record(highWater)).newIncarnation();
  RC_ASSERT(caught == (restored < lease.from));
  RC_ASSERT(counter - lease.from <= kLeaseCounters);
}

TEST(Incarnation, ALeaseCoversTheCountersBehindItsBeginning) {
  const Lease lease = leaseFrom(5);
  for (const std::uint64_t counter : {std::uint64_t{6}, 5 + kLeaseCounters}) EXPECT_TRUE(leaseCovers(lease, counter));
  for (const std::uint64_t counter : {std::uint64_t{5}, 6 + kLeaseCounters}) EXPECT_FALSE(leaseCovers(lease, counter));
  EXPECT_FALSE(leaseCovers(closedLease(5), 5)) << "nothing is written under one that is closed";
}

OwnClaim claim(std::uint64_t claimed, std::uint64_t issued) { return {"desk", "state", kWriter, claimed, issued}; }

TEST(Incarnation, APeerThatKnowsMoreOfMeMeansThatIWentBack) {
  EXPECT_EQ(judgeOwnClaim(claim(5, 5)).verdict, ClaimVerdict::plausible);
  EXPECT_EQ(judgeOwnClaim(claim(4, 5)).why, "");
  const ClaimJudgement judgement = judgeOwnClaim(claim(9, 5));
  EXPECT_EQ(judgement.verdict, ClaimVerdict::rolledBack);
  EXPECT_EQ(judgement.why,
            "desk says that it has 9 commits of phone@0a1b2c3d in space state, which issued 5: this store went back "
            "in time");
}

TEST(Incarnation, ALieIsNotBelieved) {
  OwnClaim bornHere = claim(6, 5);
  bornHere.bornHere = true;
  EXPECT_EQ(judgeOwnClaim(bornHere).verdict, ClaimVerdict::lie);
  OwnClaim again = claim(6, 5);
  again.rollbacksByPeer = kMaxRollbacksByPeer - 1;
  EXPECT_EQ(judgeOwnClaim(again).verdict, ClaimVerdict::rolledBack);
  again.rollbacksByPeer = kMaxRollbacksByPeer;
  EXPECT_EQ(judgeOwnClaim(again).verdict, ClaimVerdict::lie);
  EXPECT_EQ(judgeOwnClaim(claim(5 + kMaxCounterJump, 5)).verdict, ClaimVerdict::rolledBack);
  EXPECT_EQ(judgeOwnClaim(claim(6 + kMaxCounterJump, 5)).verdict, ClaimVerdict::lie);
  EXPECT_NE(judgeOwnClaim(claim(~std::uint64_t{0}, 5)).why.find("more than 2^40 ahead"), std::string::npos);
}

TEST(Incarnation, AClockThatJumpsIsALie) {
  const VectorClock known{{"a", 10}, {"b", 10}};
  EXPECT_EQ(judgeClock("desk", "state", known, {{"a", 10 + kMaxCounterJump}, {"c", 5}}).verdict,
            ClaimVerdict::plausible);
  EXPECT_EQ(judgeClock("desk", "state", known, {}).verdict, ClaimVerdict::plausible);
  const ClaimJudgement judgement = judgeClock("desk", "state", known, {{"a", 11}, {"z", kMaxCounterJump + 1}});
  EXPECT_EQ(judgement.verdict, ClaimVerdict::lie);
  EXPECT_EQ(judgement.why,
            "desk says that it has 1099511627777 commits of z in space state, of which 0 are known here: more than "
            "2^40 ahead");
}

}  // namespace
}  // namespace witan::replication::incarnation_test
