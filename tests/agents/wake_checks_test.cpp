// Each checker of wakes has a case in which it fires (F20).
#include "agents/wake/wake_checks.h"

#include <gmock/gmock.h>

#include "tests/agents/wake_world.h"

namespace witan::agents::test::wake_checks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const AgentSpec kLab = agentFor("lab", "lab-result");
const std::vector<const AgentSpec*> kSpecs{&kLab};

// Section 10, invariant 3: "notification classification is canonical from typedTokens".
TEST(Invariant3, FiresForATokenThatIsNotTypedAndForAKeyThatIsNotItsTokens) {
  Host a("a", kSpecs);
  a.edit("e1", "lab-result");
  auto batches = *batchesOf(a.device().journal());
  EXPECT_THAT(untypedTokens(batches), IsEmpty());
  auto broken = batches;
  broken[0].tokens[0].tokenNamespace = "ns";  // an entityId has none
  EXPECT_THAT(untypedTokens(broken), ElementsAre(HasSubstr("namespace")));
  broken = batches;
  broken[0].tokenKeys[0] = TokenKey{"e1"};
  EXPECT_THAT(untypedTokens(broken), ElementsAre(HasSubstr(R"(token "e1" is "entityId|-|e1")")));
  broken[0].tokenKeys.clear();
  EXPECT_THAT(untypedTokens(broken), ElementsAre(HasSubstr("a key for each token")));
}

// Section 10, invariant 4: "wake dedupe identity is logicalChangeKey, never localBatchId".
TEST(Invariant4, FiresForARunWhoseKeyComesFromTheLocalBatchId) {
  Host a("a", kSpecs);
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.settle(at(1)));
  const auto batches = *batchesOf(a.device().journal());
  EXPECT_THAT(runsOfNoChange(a.runs(), batches), IsEmpty());
  WakeJob job;
  job.agentId = "lab";
  job.subject = "entries";
  job.runKey = sha256("v1|run|subscription|lab|entries|" + batches[0].localBatchId);
  const auto write = *runWrite(runBody(job, WakeStatus::completed, "", 1));
  ASSERT_TRUE(a.device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  EXPECT_THAT(runsOfNoChange(a.runs(), batches), ElementsAre(HasSubstr("of lab follows from no change")));
}

// Section 10, invariant 5: "every run reaching markStarted reaches a terminal wake-run status".
TEST(Invariant5, FiresForARunThatWasStartedAndHasNoEnd) {
  Host a("a", kSpecs);
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.round(at(1)));
  EXPECT_THAT(runsWithoutEnd(a.runs()), ElementsAre(HasSubstr("of lab was started by a@")));
  EXPECT_THAT(*wakesWithoutEnd(a.device().replica(), "main", kSpecs),
              ElementsAre(HasSubstr("journal/main woke lab by entries")));
  ASSERT_TRUE(a.endAll(at(2)));
  EXPECT_THAT(checkAtRest(a, kSpecs), IsEmpty());
}

TEST(RunWatch, FiresForARunThatBeginsWhereItsEndIsKnown) {
  Host a("a", kSpecs), b("b", kSpecs);
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.round(at(1)));
  const RunKey key = a.running()[0].key();
  RunWatch watch;
  watch.started("a", key);
  watch.started("b", key);
  ASSERT_TRUE(watch.observe("a", a.device().agents()).ok());
  watch.started("a", key);  // after a crash
  EXPECT_THAT(watch.findings(), IsEmpty());
  ASSERT_TRUE(a.endAll(at(2)) && watch.observe("a", a.device().agents()).ok());
  watch.started("b", key);  // it has not heard
  EXPECT_THAT(watch.findings(), IsEmpty());
  watch.started("a", key);
  EXPECT_THAT(watch.findings(), ElementsAre(HasSubstr("device a starts run")));
  EXPECT_EQ(watch.starts(key), 5u);
}

}  // namespace
}  // namespace witan::agents::test::wake_checks_test
