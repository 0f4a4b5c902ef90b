// GET /v1/inbox/stream: what waits for a person, as it comes, changes and goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <set>

#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "replication/records/record_write.h"
#include "tests/node/stream_reader.h"

namespace witan::node::inbox_stream_test {
namespace {

using test::Node;
using test::Scratch;
using test::until;
using ::testing::ElementsAre;

// What one stream says: "waiting N", "KIND ID" of an item, with "by NAME" if it is claimed, "gone ID", "refused
// STATUS".
class Reader {
 public:
  explicit Reader(const Node& node) : stream_(node, "/v1/inbox/stream") {}

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const net::ServerEvent& event : stream_.events()) lines.push_back(wordsOf(parseJson(event.data)->as_object()));
    if (const int status = stream_.ended(); status > 0 && status != 200) lines.push_back(concat("refused ", status));
    return lines;
  }
  std::vector<std::string> lines(std::size_t count) const {
    until([&] { return lines().size() >= count; }, std::chrono::seconds(20));
    return lines();
  }

 private:
  static std::string wordsOf(const json::object& change) {
    if (const json::value* waiting = change.if_contains("waiting"))
      return concat("waiting ", waiting->to_number<std::uint64_t>());
    if (const json::value* gone = change.if_contains("gone"))
      return concat("gone ", std::string_view(gone->as_string()));
    const json::object& item = change.at("item").as_object();
    const json::value* claim = item.if_contains("claim");
    return concat(std::string_view(item.at("id").as_string()), " ",
                  std::string_view(item.at("choices").at(0).at("choice").as_string()),
                  claim == nullptr ? std::string() : concat(" by ", std::string_view(claim->at("by").as_string())));
  }

  test::StreamReader stream_;
};

class InboxStream : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(node_.init(1).exitCode, 0);
    ASSERT_TRUE(node_.up()) << node_.log();
  }
  // Its id.
  std::string ban(const std::string& entity) const {
    const auto propose = [&](const char* role, const char* action) {
      return node_.run({"propose", "moderation", entity, role, action}).exitCode;
    };
    EXPECT_EQ(node_.run({"begin", "moderation", entity}).exitCode, 0);
    EXPECT_EQ(
        propose("SignalTriage",
                R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule v2"})"),
        0);
    EXPECT_EQ(
        propose("UserNotice",
                R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"a post","clause":"4.2","redress":"appeal"})"),
        0);
    EXPECT_EQ(propose("Enforcement",
                      R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"p1","evidence":["L1"]})"),
              0);
    const json::value items = node_.runJson({"inbox"}).at("items");
    return std::string(items.as_array().back().at("id").as_string());
  }
  void claim(const std::string& id, std::uint64_t seconds) const {
    EXPECT_TRUE(
        node_.post("/v1/inbox/claim", {{"item", id}, {"by", "human.lead"}, {"window", "1"}, {"seconds", seconds}})
            .ok());
  }
  void reject(const std::string& id) const {
    EXPECT_EQ(node_.run({"inbox", id, "reject", "--by", "human.lead"}).exitCode, 0);
  }

  const Scratch scratch_;
  Node node_{scratch_, "a", "\n"};
};

TEST_F(InboxStream, TellsWhatWaitsThenWhatComesChangesAndGoes) {
  const std::string first = ban("L");
  const Reader reader(node_);
  EXPECT_THAT(reader.lines(2), ElementsAre("waiting 1", first + " commit"));
  const std::string second = ban("M");
  EXPECT_EQ(reader.lines(3).back(), second + " commit");
  claim(first, 60);
  EXPECT_EQ(reader.lines(4).back(), first + " commit by human.lead");
  claim(first, 0);
  EXPECT_EQ(reader.lines(5).back(), first + " commit");
  reject(first);
  EXPECT_EQ(reader.lines(6).back(), "gone " + first);
  EXPECT_EQ(reader.lines().size(), 6u) << "each change once";
}

// A reader that comes back hears all that waits: what came and went meanwhile is lost to nobody.
TEST_F(InboxStream, BeginsWithWhatWaitsAlsoAfterARestart) {
  const std::string first = ban("L");
  EXPECT_THAT(Reader(node_).lines(2), ElementsAre("waiting 1", first + " commit"));
  const std::string second = ban("M");
  reject(first);
  EXPECT_THAT(Reader(node_).lines(2), ElementsAre("waiting 1", second + " commit"));
  ASSERT_EQ(node_.stop(), 0);
  ASSERT_TRUE(node_.up()) << node_.log();
  EXPECT_THAT(Reader(node_).lines(2), ElementsAre("waiting 1", second + " commit"));
}

constexpr std::size_t kMany = 450;

// Questions of an agent that wait, in a directory without a node.
void askMany(const std::string& dir) {
  using namespace replication;
  auto opened = ReplicaDir::open(dir);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::vector<Write> writes;
  for (std::size_t i = 0; i < kMany; ++i) {
    ApprovalBody asked;
    asked.operationId = asked.digest = asked.runKey = sha256(concat("mail ", i));
    asked.agentId = "clerk", asked.what = R"({"tool":"mail.send"})";
    asked.verdict = ApprovalVerdict::waiting;
    asked.atMs = 1'000 + static_cast<std::int64_t>(i / 3);
    writes.push_back(*recordWrite(toHex(asked.operationId), asked));
  }
  ASSERT_TRUE((*opened)->replica().commit(DatabaseName::agents, "main", writes).ok());
  ASSERT_TRUE((*opened)->flush().ok());
  ASSERT_TRUE((*opened)->close().ok());
}

// More than are told at once, each once, while one goes.
TEST_F(InboxStream, TellsEachOfManyOnce) {
  ASSERT_EQ(node_.stop(), 0);
  ASSERT_NO_FATAL_FAILURE(askMany(node_.dir()));
  ASSERT_TRUE(node_.up()) << node_.log();
  const Reader reader(node_);
  std::vector<std::string> lines = reader.lines(1 + kMany);
  ASSERT_EQ(lines.size(), 1 + kMany);
  EXPECT_EQ(lines.front(), concat("waiting ", kMany));
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 1 + kMany);
  const std::string last = lines.back().substr(0, lines.back().find(' '));
  ASSERT_EQ(node_.run({"inbox", last, "deny", "--by", "ann"}).exitCode, 0);
  EXPECT_EQ(reader.lines(2 + kMany).back(), "gone " + last);
}

TEST_F(InboxStream, IsOneOfTheStreamsThatANodeServes) {
  std::list<Reader> readers;
  for (int i = 0; i < 48; ++i) readers.emplace_back(node_);
  for (const Reader& reader : readers) EXPECT_THAT(reader.lines(1), ElementsAre("waiting 0"));
  EXPECT_THAT(Reader(node_).lines(1), ElementsAre("refused 503"));
}

// As programs see it: a change a line, of one kind if they want one.
TEST_F(InboxStream, TheCommandFollows) {
  const std::string all = scratch_ / "all.log", words = scratch_ / "words.log", other = scratch_ / "other.log";
  const std::vector<std::string> follow{tests::kProgram, "inbox", "--follow", "--dir", node_.dir()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), follow.begin(), follow.end());
    return more;
  };
  const test::Process json(with({"--json"}), all), people(with({}), words), narrow(with({"--kind", "approval"}), other);
  const auto has = [](const std::string& log, const std::string& text) {
    return until([&] { return test::contentOf(log).find(text) != std::string::npos; });
  };
  ASSERT_TRUE(has(all, "\"waiting\":0") && has(words, "0 wait") && has(other, "0 wait"));
  const std::string id = ban("L");
  EXPECT_TRUE(has(all, "\"item\":{") && has(words, id)) << test::contentOf(all) << test::contentOf(words);
  reject(id);
  EXPECT_TRUE(has(all, "{\"gone\":\"" + id + "\"}") && has(words, "gone: " + id)) << test::contentOf(words);
  EXPECT_EQ(test::contentOf(other), "0 wait\n");
  EXPECT_EQ(node_.run({"inbox", "--follow", id}).exitCode, kExitUsage);
}

}  // namespace
}  // namespace witan::node::inbox_stream_test
