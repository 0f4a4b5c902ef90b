// Broken wake centers, each noticed by a checker on a short story that the real one passes.
#include "tests/agents/wake_world.h"
#include "tests/with_mutant.h"

namespace witan::agents::test::wakes_test {
namespace {

const AgentSpec kLab = agentFor("lab", "lab-result");
const std::vector<const AgentSpec*> kSpecs{&kLab};

using witan::tests::WithMutant;

void expectNoticed(std::string_view mutant, bool (*story)()) {
  EXPECT_TRUE(story());
  const WithMutant with(mutant);
  EXPECT_FALSE(story()) << mutant << " is not noticed";
}

// A day with one edit; then the power goes, and the batch is delivered again.
bool oneEditOneRun() {
  Host a("a", kSpecs);
  RunWatch watch;
  a.edit("e1", "lab-result");
  for (int i = 0; i < 2; ++i) {
    const std::size_t before = a.starts();
    if (!a.round(at(i))) return false;
    if (a.starts() > before) watch.started("a", a.running()[0].key());
    if (!a.endAll(at(i)) || !watch.observe("a", a.device().agents()).ok()) return false;
    std::vector<replication::BatchEvent> again;
    const auto batches = *batchesOf(a.device().journal());
    for (const auto& batch : batches) {
      const auto version = (*a.device().journal().versions(
          replication::Kind::batch, batch.dot.host + ":" + std::to_string(batch.dot.counter)))[0];
      again.push_back({version.dot, version.body});
    }
    if (!a.center().batchEvents("journal/main", again, at(i)).ok()) return false;
  }
  return watch.findings().empty() && checkAtRest(a, kSpecs).empty();
}

bool theWakeSurvivesACrash() {
  Host a("a", kSpecs);
  a.edit("e1", "lab-result");
  a.center().takeEvents(at(1)).ok();
  a.device().flush();
  a.center().durable();
  a.device().flush();
  a.crash(at(2));
  return a.settle(at(3)) && checkAtRest(a, kSpecs).empty();
}

bool oneDeviceRunsIt() {
  Host a("a", kSpecs), b("b", kSpecs);
  a.edit("e1", "lab-result");
  meet(a, b, at(0));
  return a.round(at(1)) && b.round(at(1)) && a.starts() + b.starts() == 1;
}

TEST(WakeMutants, AnEndThatIsNotRecordedIsNoticed) { expectNoticed("dropRunLog", oneEditOneRun); }
TEST(WakeMutants, ARunThatRunsAgainIsNoticed) { expectNoticed("wakeTwice", oneEditOneRun); }
TEST(WakeMutants, AQueueThatIsNotDurableIsNoticed) { expectNoticed("lostWake", theWakeSurvivesACrash); }
TEST(WakeMutants, DevicesThatDoNotWaitForEachOtherAreNoticed) { expectNoticed("noGrace", oneDeviceRunsIt); }

}  // namespace
}  // namespace witan::agents::test::wakes_test
