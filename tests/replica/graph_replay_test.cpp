// A run made anew says what its entries say; an entry, or a transcript, that was changed is found.
#include <gtest/gtest.h>

#include "agents/episode/transcript.h"
#include "agents/wake/wake_job.h"
#include "replica/graph_replay.h"
#include "replication/writer.h"
#include "tests/replica/graph_world.h"

namespace witan::node::test::graph_replay_test {
namespace {

namespace steps = domains::graph;

class GraphReplays : public ::testing::Test {
 protected:
  GraphReplays() : device("a", configureGraphs) {
    EXPECT_TRUE(device.replica().bootstrap(at(0)).ok());
    for (int round = 0; round < 600 && !ended(); ++round) {
      driver.act(device);
      EXPECT_TRUE(device.drain().ok());
      device.passTime(std::clamp<std::int64_t>(device.replica().nextTickMs() - device.ms, 1, 1'000));
    }
    EXPECT_TRUE(ended());
    PartitionHost& host = *device.replica().host("graph/0");
    for (std::uint64_t seq = 1; seq <= host.partition().size(); ++seq) {
      const auto entry = kernel::readEntry(*host.ledger().entryBytes(seq));
      auto action = parseJson(entry->action, {.bytes = kernel::kRecordMax, .depth = 64});
      if (entry->tag == kernel::Tag::approved)
        entries.push_back({seq, steps::readStep(std::move(action->as_object())).value()});
    }
  }
  bool ended() const {
    const auto run = driver.run(const_cast<Device&>(device));
    return run && run->status == "completed";
  }
  GraphReplay replay() {
    GraphBodies bodies(device.replica().data(), "main");
    const GraphReplaySources sources{
        [&](const std::string& digest) { return bodies.document(digest); },
        [&](const std::string& digest) { return bodies.find(digest); },
        [](const std::string&, const std::string&) { return graphSetup()->agents.front(); },
        [&](const RunKey& key) -> Result<std::vector<std::string>> {
          const auto view = agents::runView(*bodies.records(), key).value();
          const std::string by(replication::deviceOf(view.run->dot.host));
          std::vector<std::string> contents;
          const auto rows = agents::episode::readTranscript(*bodies.records(), key, by).value();
          for (const auto& row : rows) contents.push_back(row.message.content);
          if (spoiled) contents.at(1) += " ";
          return contents;
        }};
    return replayGraphRun("loop", entries, sources).value();
  }
  // The n-th of a kind.
  template <class Step>
  std::pair<Step*, std::uint64_t> nth(int n) {
    for (GraphEntry& entry : entries)
      if (auto* step = std::get_if<Step>(&entry.step); step != nullptr && n-- == 0) return {step, entry.seq};
    return {nullptr, 0};
  }

  Device device;
  GraphDriver driver;
  std::vector<GraphEntry> entries;
  bool spoiled = false;
};

TEST_F(GraphReplays, EqualTheirEntries) {
  const GraphReplay made = replay();
  EXPECT_FALSE(made.differs) << *made.differs << ": " << made.why;
  EXPECT_EQ(made.episodes, 3u);
  EXPECT_EQ(made.entries, entries.size());
  EXPECT_TRUE(made.missing.empty());
}

TEST_F(GraphReplays, NameTheFirstEntryThatWasChanged) {
  const std::vector<GraphEntry> whole = entries;
  const auto differsAt = [&](std::uint64_t seq, const char* what) {
    const GraphReplay made = replay();
    EXPECT_EQ(made.differs.value_or(0), seq) << what << ": " << made.why;
    entries = whole;
  };
  const std::string other(64, 'a');
  {
    const auto [finish, seq] = nth<steps::Finish>(1);
    finish->sends.at(0).digest = other;
    differsAt(seq, "another body");
  }
  {
    const auto [finish, seq] = nth<steps::Finish>(1);
    finish->sends.at(0).key = "another";
    differsAt(seq, "another key");
  }
  {
    const auto [finish, seq] = nth<steps::Finish>(1);
    finish->sends.clear();
    differsAt(seq, "nothing is sent");
  }
  {
    const auto [begin, seq] = nth<steps::Begin>(0);
    begin->external = "another";
    differsAt(seq, "another external id");
  }
  {
    const auto [ask, seq] = nth<steps::Ask>(0);
    ask->digest = other;
    differsAt(seq, "another question");
  }
  {
    const auto [deliver, seq] = nth<steps::Deliver>(2);
    deliver->message = other;
    differsAt(seq, "another message");
  }
  {
    const auto [finish, seq] = nth<steps::Finish>(1);
    EXPECT_TRUE(finish->model.starts_with("writer@1/")) << finish->model;
    finish->model.back() = finish->model.back() == 'a' ? 'b' : 'a';
    differsAt(seq, "the model of another transcript");
  }
  spoiled = true;
  differsAt(nth<steps::Finish>(1).second, "another transcript");
}

}  // namespace
}  // namespace witan::node::test::graph_replay_test
