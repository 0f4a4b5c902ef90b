// Power loss at every write boundary of a wake's life (taken in, started, ended), in both databases: afterwards it has
// run to one end, is not run again, and nothing is lost (003, section 10, invariant 5; theorem 2 for wakes).
#include <gmock/gmock.h>

#include "tests/agents/wake_world.h"

namespace witan::agents::test::wake_crash_test {
namespace {

const AgentSpec kLab = agentFor("lab", "lab-result");
const std::vector<const AgentSpec*> kSpecs{&kLab};

struct Story {
  Host host{"a", kSpecs};
  RunWatch watch;
  bool edited = false, asked = false;
  int crashes = 0;

  // False: a disk has failed. May be called again.
  bool live(std::int64_t ms) {
    if (!edited && !(edited = host.tryEdit("e1", "lab-result"))) return false;
    if (!asked) {
      if (!host.center().userTurn("lab", "s", "1", "hello", at(ms)).ok()) return false;
      if (!host.device().replica().flush().ok()) return false;
      asked = true;
    }
    for (int i = 0; i < 6; ++i) {
      const auto before = host.startsByRun();
      if (!host.round(at(ms + i))) return false;
      for (const auto& [key, count] : host.startsByRun())
        if (const auto old = before.find(key); old == before.end() || old->second < count) watch.started("a", key);
      if (!host.endAll(at(ms + i))) return false;
      if (!watch.observe("a", host.device().agents()).ok()) return false;
    }
    return true;
  }
};

// Write step `step` of one of the stores is the last; whether the story got there.
bool crashesAt(bool journal, std::uint64_t step, store::Moment moment) {
  SCOPED_TRACE((journal ? "journal step " : "agents step ") + std::to_string(step) +
               (moment == store::Moment::before ? " before" : " after"));
  Story story;
  store::MemoryStore& disk = journal ? story.host.device().journalStore() : story.host.device().agentStore();
  disk.crashAt(step, moment);
  const bool lived = story.live(100);
  if (!lived) story.host.crash(at(200));
  // What a person was told is durable; what they were not told, they say again.
  if (!lived && !story.edited)
    story.edited = !replication::journalViewIn(story.host.device().journal(), "e1")->siblings.empty();
  EXPECT_TRUE(story.live(300));
  EXPECT_THAT(checkAtRest(story.host, kSpecs), testing::IsEmpty());
  EXPECT_THAT(story.watch.findings(), testing::IsEmpty());
  EXPECT_THAT(story.host.statuses(), testing::ElementsAre(WakeStatus::completed, WakeStatus::completed));
  EXPECT_EQ(story.host.center().queue().size(), 0u);
  for (const auto& [key, count] : story.host.startsByRun()) EXPECT_LE(count, lived ? 1u : 2u);
  return !lived;
}

TEST(WakeCrash, AtEveryWriteBoundary) {
  std::size_t boundaries = 0;
  for (const bool journal : {false, true})
    for (const auto moment : {store::Moment::before, store::Moment::after})
      for (std::uint64_t step = 0; crashesAt(journal, step, moment); ++step) ++boundaries;
  EXPECT_GE(boundaries, 20u);
}

// The same with everything twice: the process also ends while it recovers.
TEST(WakeCrash, AtEveryPairOfWriteBoundaries) {
  for (std::uint64_t first = 0; first < 12; ++first)
    for (std::uint64_t second = 0; second < 6; ++second) {
      Story story;
      story.host.device().agentStore().crashAt(first);
      if (story.live(100)) continue;
      story.host.device().agentStore().crash();
      story.host.device().agentStore().crashAt(second);
      story.host.crash(at(200));
      if (!story.edited)
        story.edited = !replication::journalViewIn(story.host.device().journal(), "e1")->siblings.empty();
      if (!story.live(300)) story.host.crash(at(400));
      ASSERT_TRUE(story.live(500));
      EXPECT_THAT(checkAtRest(story.host, kSpecs), testing::IsEmpty()) << first << " " << second;
      EXPECT_THAT(story.watch.findings(), testing::IsEmpty());
    }
}

}  // namespace
}  // namespace witan::agents::test::wake_crash_test
