#include "replication/membership.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "replication/writer.h"

namespace witan::replication::membership_test {
namespace {

using Statements = std::vector<Statement>;

std::string w(const std::string& device) { return writerName(device, 1); }

// a founds the cluster and admits the others.
Statements founded(const std::vector<std::string>& others) {
  Statements known{admit({}, w("a"), "a", 1, "first")};
  for (const std::string& device : others) known.push_back(admit(known, w("a"), device, 1, device));
  return known;
}
void propose(Statements& known, const std::string& by, const std::string& device, std::uint32_t admission = 1) {
  known.push_back(proposeRetire(known, w(by), device, admission));
}
void ack(Statements& known, const std::string& by, const std::string& device, std::vector<AckedCounter> acked = {},
         std::uint32_t admission = 1) {
  known.push_back(retireAck(known, w(by), device, admission, std::move(acked)));
}
std::vector<AckedCounter> upTo(const std::string& device, std::uint64_t counter) {
  return {{"space", w(device), counter}};
}
std::uint64_t finalOf(const Membership& m, const std::string& device) {
  const auto at = m.finals.find("space");
  return at == m.finals.end() ? 0 : at->second.at(w(device));
}

TEST(Membership, EmptyAndFounding) {
  const Membership none = membershipOf({});
  EXPECT_EQ(none.epoch, 0u);
  EXPECT_EQ(none.standing("a"), Standing::unknown);
  EXPECT_EQ(none.nextAdmission("a"), 1u);
  const Membership three = membershipOf(founded({"b", "c"}));
  EXPECT_EQ(three.epoch, 3u);
  EXPECT_EQ(three.presentDevices(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_NE(three.hash, none.hash);
}

// Reference 4.7, 1-3.
TEST(Membership, RetirementIsCompleteWhenEveryActiveDeviceHasAcked) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "c");
  EXPECT_EQ(membershipOf(known).standing("c"), Standing::retiring);
  EXPECT_EQ(acksDue(membershipOf(known), "a"), (std::vector<Member>{{"c", 1}}));
  EXPECT_EQ(acksDue(membershipOf(known), "c"), std::vector<Member>{});
  ack(known, "a", "c", upTo("c", 5));
  Membership m = membershipOf(known);
  ASSERT_EQ(m.retiring.size(), 1u);
  EXPECT_EQ(m.retiring[0].acked, (std::vector<Member>{{"a", 1}}));
  EXPECT_EQ(m.retiring[0].missing, (std::vector<Member>{{"b", 1}}));
  EXPECT_EQ(m.epoch, 3u);
  ack(known, "b", "c", upTo("c", 9));
  const Hash before = m.hash;
  m = membershipOf(known);
  EXPECT_EQ(m.standing("c"), Standing::retired);
  EXPECT_EQ(m.epoch, 4u);
  EXPECT_NE(m.hash, before);
  EXPECT_EQ(finalOf(m, "c"), 9u);
  EXPECT_EQ(m.presentDevices(), (std::vector<std::string>{"a", "b"}));
}

// An ack is never revised downwards, and a different second one cannot make replicas differ.
// Acks come before the permission and after it.
TEST(Membership, AProposalCountsOnceItMay) {
  Statements known = founded({"b", "c"});
  propose(known, "b", "c");
  const auto nobody = [](std::string_view) { return false; };
  EXPECT_EQ(membershipOf(known, nobody).standing("c"), Standing::active);
  EXPECT_TRUE(acksDue(membershipOf(known, nobody), "a").empty());
  EXPECT_EQ(membershipOf(known, nobody).statements, membershipOf(known).statements) << "it is passed on";
  ack(known, "a", "c"), ack(known, "b", "c");
  EXPECT_EQ(membershipOf(known, nobody).standing("c"), Standing::active);
  EXPECT_EQ(membershipOf(known, [](std::string_view device) { return device == "c"; }).standing("c"),
            Standing::retired);
}

TEST(Membership, ASecondAckJoinsByMaximum) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "c");
  ack(known, "a", "c", upTo("c", 5));
  ack(known, "b", "c", upTo("c", 9));
  ack(known, "b", "c", upTo("c", 2));
  EXPECT_EQ(finalOf(membershipOf(known), "c"), 9u);
  std::reverse(known.begin(), known.end());
  EXPECT_EQ(finalOf(membershipOf(known), "c"), 9u);
}

TEST(Membership, RetiringTheSilentOneTooUnblocks) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "b");
  ack(known, "a", "b", upTo("b", 4));
  EXPECT_EQ(membershipOf(known).retired.size(), 0u);  // c is silent
  propose(known, "a", "c");
  EXPECT_EQ(membershipOf(known).retired.size(), 0u);  // and must be acked as well
  ack(known, "a", "c", upTo("c", 1));
  const Membership m = membershipOf(known);
  EXPECT_EQ(m.retired.size(), 2u);
  EXPECT_EQ(m.presentDevices(), (std::vector<std::string>{"a"}));  // all but one
  // The forced one had seen more of b. When it returns it hands over its own; what it had of b stays b's to re-issue.
  ack(known, "c", "b", upTo("b", 7));
  EXPECT_EQ(finalOf(membershipOf(known), "b"), 7u);
  EXPECT_EQ(membershipOf(known).retired.size(), 2u);
}

TEST(Membership, RacingRetirementsAreTheUnion) {
  const Statements start = founded({"b", "c", "d"});
  Statements left = start, right = start;
  propose(left, "a", "c"), ack(left, "a", "c", upTo("c", 1));
  propose(right, "b", "d"), ack(right, "b", "d", upTo("d", 2));
  Statements both = joinStatements(left, right), other = joinStatements(right, left);
  EXPECT_EQ(both, other);
  ack(both, "b", "c", upTo("c", 3));
  ack(both, "a", "d", upTo("d", 1));
  const Membership m = membershipOf(both);
  EXPECT_EQ(m.presentDevices(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(finalOf(m, "c"), 3u);
  EXPECT_EQ(finalOf(m, "d"), 2u);
}

// Each was complete where it was stated, and stays so.
TEST(Membership, TwoThatRetireEachOtherAreBothRetired) {
  const Statements start = founded({"b"});
  Statements left = start, right = start;
  propose(left, "a", "b"), ack(left, "a", "b");
  propose(right, "b", "a"), ack(right, "b", "a");
  EXPECT_EQ(membershipOf(left).standing("b"), Standing::retired);
  Statements both = joinStatements(left, right);
  EXPECT_EQ(membershipOf(both).presentDevices(), std::vector<std::string>{});
  // Nobody is left who could admit anybody: the operator founds anew, with statements of its own.
  both.push_back(admit(both, w("a"), "a", 2, "again"));
  EXPECT_EQ(membershipOf(both).presentDevices(), std::vector<std::string>{});
}

TEST(Membership, NobodyLeavesWithoutAnAck) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "b"), propose(known, "b", "c"), propose(known, "c", "a");
  EXPECT_EQ(membershipOf(known).retired.size(), 0u);
  EXPECT_EQ(membershipOf(known).retiring.size(), 3u);
}

TEST(Membership, ADeviceThatJoinsThroughAnotherInheritsItsAcks) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "c");
  ack(known, "a", "c", upTo("c", 5));
  known.push_back(admit(known, w("a"), "d", 1, "new"));
  const Membership pending = membershipOf(known);
  EXPECT_EQ(pending.retiring[0].acked, (std::vector<Member>{{"a", 1}, {"d", 1}}));
  EXPECT_EQ(acksDue(pending, "d"), std::vector<Member>{});
  ack(known, "b", "c");
  EXPECT_EQ(membershipOf(known).standing("c"), Standing::retired);

  // Through one that had not acked: it has to ack itself.
  Statements early = founded({"b", "c"});
  early.push_back(admit(early, w("a"), "d", 1, "new"));
  propose(early, "a", "c");
  ack(early, "a", "c"), ack(early, "b", "c");
  EXPECT_EQ(membershipOf(early).standing("c"), Standing::retiring);
  EXPECT_EQ(acksDue(membershipOf(early), "d"), (std::vector<Member>{{"c", 1}}));
}

TEST(Membership, RetirementDuringAPartitionStaysComplete) {
  const Statements start = founded({"b", "c"});
  Statements near = start, far = start;  // c is cut off, and admits d meanwhile
  propose(near, "a", "c"), ack(near, "a", "c"), ack(near, "b", "c");
  EXPECT_EQ(membershipOf(near).standing("c"), Standing::retired);
  far.push_back(admit(far, w("c"), "d", 1, "stranger"));
  Statements healed = joinStatements(near, far);
  Membership m = membershipOf(healed);
  EXPECT_EQ(m.standing("c"), Standing::retired);
  EXPECT_EQ(m.standing("d"), Standing::retired);  // nobody who stays knew of it
  healed.push_back(admit(healed, w("a"), "d", m.nextAdmission("d"), "no stranger"));
  m = membershipOf(healed);
  EXPECT_EQ(m.standing("d"), Standing::active);
  EXPECT_EQ(m.presentDevices(), (std::vector<std::string>{"a", "b", "d"}));
}

TEST(Membership, AnAdmissionThatAnAckKnewOfIsGood) {
  Statements known = founded({"b", "c"});
  known.push_back(admit(known, w("c"), "d", 1, "known"));
  propose(known, "a", "c"), ack(known, "a", "c"), ack(known, "b", "c");
  EXPECT_EQ(membershipOf(known).standing("c"), Standing::retiring);  // d is asked too
  ack(known, "d", "c");
  EXPECT_EQ(membershipOf(known).standing("c"), Standing::retired);
  EXPECT_EQ(membershipOf(known).standing("d"), Standing::active);
}

// Nobody takes anything from a device of which an ack of its sponsor did not know; it leaves too, and joins anew.
TEST(Membership, AStrangerToOneAckLeavesWithItsSponsor) {
  const Statements start = founded({"b", "c"});
  Statements near = start, far = start;
  propose(near, "a", "c"), ack(near, "a", "c");
  far.push_back(admit(far, w("c"), "d", 1, "late"));
  Statements known = joinStatements(near, far);
  EXPECT_EQ(membershipOf(known).standing("d"), Standing::retiring);
  EXPECT_EQ(acksDue(membershipOf(known), "b"), (std::vector<Member>{{"c", 1}, {"d", 1}}));
  ack(known, "b", "c");  // knows of d
  EXPECT_EQ(membershipOf(known).retired.size(), 0u);
  ack(known, "b", "d", upTo("d", 3));
  const Membership m = membershipOf(known);
  EXPECT_EQ(m.retired.size(), 2u);
  EXPECT_EQ(finalOf(m, "d"), 3u);
  known.push_back(admit(known, w("b"), "d", m.nextAdmission("d"), "anew"));
  EXPECT_EQ(membershipOf(known).standing("d"), Standing::active);
}

// Reference 4.7, 4.
TEST(Membership, RetireAndReturn) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "c"), ack(known, "a", "c", upTo("c", 5)), ack(known, "b", "c", upTo("c", 7));
  Membership m = membershipOf(known);
  EXPECT_EQ(m.nextAdmission("c"), 2u);
  EXPECT_EQ(m.finals.at("space"), (VectorClock{{w("c"), 7}}));

  known.push_back(admit(known, w("b"), "c", 2, "c again"));
  m = membershipOf(known);
  EXPECT_EQ(m.standing("c"), Standing::active);
  EXPECT_EQ(m.retired.size(), 1u);
  EXPECT_EQ(m.epoch, 5u);
  propose(known, "a", "c", 2), ack(known, "a", "c", {}, 2), ack(known, "b", "c", {}, 2);
  EXPECT_EQ(membershipOf(known).standing("c"), Standing::retired);
  EXPECT_EQ(membershipOf(known).retired.size(), 2u);
}

TEST(Membership, AStatementCountsWhenItsPastIsThere) {
  Statements known = founded({"b", "c"});
  propose(known, "a", "c"), ack(known, "a", "c"), ack(known, "b", "c");
  const Statements gap{known[0], known[1], known[2], known[4], known[5]};
  const Membership m = membershipOf(gap);
  EXPECT_EQ(m.waiting, 2u);
  EXPECT_EQ(m.standing("c"), Standing::active);
}

TEST(Membership, TwoStatementsOfOneDotAreReportedAndTheSameOneCounts) {
  Statements known = founded({});
  const Statement one = admit(known, w("a"), "b", 1, "b"), other = admit(known, w("a"), "c", 1, "c");
  const Statements left{known[0], one, other}, right{other, one, known[0]};
  EXPECT_EQ(membershipOf(left), membershipOf(right));
  EXPECT_EQ(membershipOf(left).forked, (std::vector<Dot>{{w("a"), 2}}));
  EXPECT_EQ(membershipOf(left).active.size(), 2u);
}

// The failing twin: an epoch that moves before b has acked drops c's entry while b has more of c than the others. Equal
// vectors, so nobody sends anything: a never gets commit 2.
TEST(Membership, FailingTwinEpochsWithoutAllAcksLoseUpdates) {
  const VectorClock a{{w("c"), 1}}, b{{w("c"), 2}};
  const VectorClock early{{w("c"), 1}};  // the maximum over a's ack alone
  const auto dropped = [](VectorClock clock, const VectorClock& finals) {
    for (const auto& [writer, unused] : finals.entries()) clock.set(writer, 0);
    return clock;
  };
  EXPECT_EQ(dropped(a, early), dropped(b, early));  // nothing to send, says sync; and b's commit 2 is lost

  Statements known = founded({"b", "c"});
  propose(known, "a", "c"), ack(known, "a", "c", upTo("c", 1));
  EXPECT_TRUE(membershipOf(known).finals.empty());
  ack(known, "b", "c", upTo("c", 2));
  const VectorClock finals = membershipOf(known).finals.at("space");
  EXPECT_NE(a.at(w("c")), finals.at(w("c")));  // so it is sent
  EXPECT_EQ(b.at(w("c")), finals.at(w("c")));
}

}  // namespace
}  // namespace witan::replication::membership_test
