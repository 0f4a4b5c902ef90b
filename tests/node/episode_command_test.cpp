// `witan episode`: transcripts in a data directory, and the replay of one that was tampered with.
#include <gmock/gmock.h>

#include "agents/episode/episode.h"
#include "domains/agents.h"
#include "lab/conformance/toy.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "tests/node/replica.h"

namespace witan::node::episode_command_test {
namespace {

using agents::episode::Entry;
using agents::episode::Episode;
using test::Finished;
using test::Garden;
using test::Replica;
using ::testing::HasSubstr;

// One run of follow-up, all of whose looks are denied: it knows of no tool.
class Transcript {
 public:
  Transcript() {
    auto beginning =
        agents::episode::beginningOf(agent_.spec(), {}, run_, "laptop", {{"nowMs", 5}, {"reason", "timer"}});
    EXPECT_TRUE(beginning.ok());
    auto episode = Episode::begin(agent_, gate_, *std::move(beginning));
    EXPECT_TRUE(episode.ok());
    for (std::size_t i = 0; i < episode->entries().size(); ++i) {
      auto message = messageOf(episode->name(), i, episode->entries()[i], 5);
      EXPECT_TRUE(message.ok()) << message.error().message;
      messages.push_back(*std::move(message));
    }
  }
  void writeInto(const Replica& replica) const {
    auto dir = ReplicaDir::open(replica.dir());
    ASSERT_TRUE(dir.ok()) << dir.error().message;
    for (const replication::MessageBody& message : messages) {
      auto body = encodeRecord(message);
      ASSERT_TRUE(body.ok());
      const replication::Write write{replication::Kind::message, message.id, *body, false};
      ASSERT_TRUE((*dir)->replica().commit(replication::DatabaseName::agents, "main", {&write, 1}).ok());
    }
    ASSERT_TRUE((*dir)->flush().ok());
    ASSERT_TRUE((*dir)->close().ok());
  }
  std::string run() const { return run_.hex(); }
  std::vector<replication::MessageBody> messages;

 private:
  const agents::Agent& agent_ = *domains::findAgent("follow-up");
  const agents::conformance::OpenGate gate_;
  const RunKey run_ = *timerRunKey("follow-up", "hourly", 3'600'000);
};

TEST(EpisodeCommand, ListShowReplay) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  EXPECT_EQ(laptop.ok({"episode", "list"}), "no transcripts\n");
  const Transcript transcript;
  transcript.writeInto(laptop);
  EXPECT_THAT(laptop.ok({"episode", "list"}), HasSubstr(transcript.run() + "  laptop  follow-up  failedTerminal"));
  EXPECT_EQ(laptop.asJson({"episode", "list"}).at("episodes").at(0).at("entries").to_number<std::size_t>(),
            transcript.messages.size());
  EXPECT_THAT(laptop.ok({"episode", "show", transcript.run()}), HasSubstr("0  begin  {\"agent\":\"follow-up\""));
  EXPECT_THAT(laptop.ok({"episode", "show", transcript.run(), "--json"}),
              HasSubstr("," + transcript.messages[1].content + ","));
  EXPECT_THAT(laptop.ok({"episode", "show", transcript.run().substr(0, 8)}), HasSubstr("0  begin"));
  EXPECT_THAT(laptop.ok({"episode", "replay", transcript.run()}), HasSubstr("reproduced byte for byte\n"));
  EXPECT_TRUE(laptop.asJson({"episode", "replay", transcript.run()}).at("reproduced").as_bool());
}

TEST(EpisodeCommand, ReplayNamesTheFirstDifference) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  Transcript transcript;
  std::string& answer = transcript.messages.back().content;
  const std::size_t at = answer.find("failedTerminal");
  ASSERT_NE(at, std::string::npos);
  answer.replace(at, 14, "completed");
  transcript.writeInto(laptop);
  const Finished done = laptop.run({"episode", "replay", transcript.run()});
  EXPECT_EQ(done.exitCode, kExitFailed);
  EXPECT_THAT(done.out, HasSubstr("entry " + std::to_string(transcript.messages.size() - 1)));
  EXPECT_THAT(done.out, HasSubstr("recorded"));
}

TEST(EpisodeCommand, BadInputIsNamed) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  Transcript().writeInto(laptop);
  EXPECT_THAT(laptop.run({"episode", "show", "xyz"}).err, HasSubstr("witan episode list"));
  EXPECT_THAT(laptop.run({"episode", "show", ""}).err, HasSubstr("is no run key"));
  EXPECT_THAT(laptop.run({"episode", "replay", std::string(64, '0')}).err, HasSubstr("no transcript"));
  EXPECT_THAT(laptop.run({"episode", "show", Transcript().run(), "--device", "other"}).err, HasSubstr("by other"));
  EXPECT_EQ(laptop.run({"episode"}).exitCode, kExitUsage);
}

}  // namespace
}  // namespace witan::node::episode_command_test
