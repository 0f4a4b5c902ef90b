// Readers of a ledger's stream while a takeover parts its log, on real nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/stream_reader.h"

namespace witan::node::ledger_stream_test {
namespace {

using test::begin;
using test::contentOf;
using test::enrol;
using test::Finished;
using test::Node;
using test::Scratch;
using test::until;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr const char* kPartition = "budget/0";

// What one stream says: "SEQ:AMOUNT" of an entry, "parted FROM", "refused STATUS".
class Reader {
 public:
  explicit Reader(const Node& node, const std::string& id = {}, const std::string& query = "domain=budget")
      : stream_(node, "/v1/ledger/stream?" + query, id) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const net::ServerEvent& event : stream_.events()) {
      const json::value row = parseJson(event.data).value();
      lines.push_back(event.name == "parted" ? concat("parted ", row.at("from").to_number<std::uint64_t>())
                                             : entryOf(row));
    }
    if (const int status = stream_.ended(); status > 0 && status != 200) lines.push_back(concat("refused ", status));
    return lines;
  }
  // Once it has said so much.
  std::vector<std::string> lines(std::size_t count) const {
    until([&] { return lines().size() >= count; }, std::chrono::seconds(20));
    return lines();
  }
  std::string lastId() const {
    until([&] { return !stream_.id().empty(); }, std::chrono::seconds(20));
    return stream_.id();
  }

 private:
  static std::string entryOf(const json::value& row) {
    return concat(row.at("seq").to_number<std::uint64_t>(), ":",
                  row.at("entry").at("action").at("n").to_number<std::uint64_t>());
  }

  test::StreamReader stream_;
};

// `first` owned the partition and decided 2 and 3 when it was cut off; `second` seized it and decides anew.
class LedgerStream : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(first_.init(1).exitCode, 0);
    ASSERT_TRUE(first_.up() && enrol(first_, second_)) << first_.log() << second_.log();
    for (const char* entity : {"team", "other"})
      ASSERT_TRUE(first_.post("/v1/entities", {{"domain", "budget"}, {"entity", entity}}).ok());
    ASSERT_TRUE(spend(first_, 1));
    ASSERT_TRUE(until([&] { return entries(second_) == 1; }));
  }
  bool spend(const Node& node, int amount, const char* entity = "team") const {
    const auto made = node.post(
        "/v1/propose",
        {{"domain", "budget"}, {"entity", entity}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", amount}}}});
    return made.ok() && made->at("outcome") == "approved";
  }
  std::size_t entries(const Node& node) const {
    const json::value rows = node.get(concat("/v1/ledger?partition=", kPartition, "&after=0"));
    return rows.is_object() ? rows.at("entries").as_array().size() : 0;
  }
  void cut() {
    ASSERT_EQ(second_.run({"peers", "cut", "first"}).exitCode, 0);
    ASSERT_TRUE(until([&] { return first_.connectedTo(0) && second_.connectedTo(0); }));
  }
  void seize() {
    const Finished seized = second_.run({"partition", "seize", kPartition, "--reason", "away"});
    ASSERT_EQ(seized.exitCode, 0) << seized.err;
  }
  void heal() {
    ASSERT_EQ(second_.run({"peers", "heal", "first"}).exitCode, 0);
    ASSERT_TRUE(until([&] { return first_.connectedTo(1) && second_.connectedTo(1); }));
  }
  std::string leafOf(const Node& node, std::uint64_t seq) const {
    const json::value rows = node.get(concat("/v1/ledger?partition=", kPartition, "&limit=1&after=", seq - 1));
    return std::string(rows.at("entries").at(0).at("leafHash").as_string()).substr(0, 16);
  }

  const Scratch scratch_;
  Node first_{scratch_, "first"}, second_{scratch_, "second"};
};

TEST_F(LedgerStream, TellsWhereATakeoverPartedTheLog) {
  const Reader open(first_), narrow(first_, "", "entity=other");
  ASSERT_THAT(open.lastId(), StartsWith("budget/0/1."));
  ASSERT_THAT(narrow.lastId(), StartsWith("budget/0/1."));
  const std::string before = open.lastId();
  cut();
  ASSERT_TRUE(spend(first_, 11) && spend(first_, 12));
  ASSERT_THAT(open.lines(2), ElementsAre("2:11", "3:12"));
  const std::string parted = open.lastId();
  seize();
  ASSERT_TRUE(spend(second_, 21) && spend(second_, 22) && spend(second_, 23, "other"));
  heal();
  // Readers whose stream was open: one that had read what was set aside, and one that had not.
  EXPECT_THAT(open.lines(6), ElementsAre("2:11", "3:12", "parted 2", "2:21", "3:22", "4:23"));
  EXPECT_THAT(narrow.lines(1), ElementsAre("4:23"));
  // Readers that come back, to either node.
  for (const Node* node : {&first_, &second_}) {
    EXPECT_THAT(Reader(*node, parted).lines(4), ElementsAre("parted 2", "2:21", "3:22", "4:23")) << node->name();
    EXPECT_THAT(Reader(*node, before).lines(3), ElementsAre("2:21", "3:22", "4:23")) << node->name();
    EXPECT_THAT(Reader(*node, "0").lines(4), ElementsAre("1:1", "2:21", "3:22", "4:23")) << node->name();
  }
  // What follows a parting is a place like any other.
  const Reader again(first_, open.lastId());
  ASSERT_TRUE(spend(second_, 24));
  EXPECT_THAT(again.lines(1), ElementsAre("5:24"));
  EXPECT_THAT(open.lines(7).back(), "5:24");
}

// A log may part without an entry that follows.
TEST_F(LedgerStream, TellsAPartingAtOnce) {
  const Reader open(first_);
  ASSERT_THAT(open.lastId(), StartsWith("budget/0/1."));
  const std::string words = scratch_ / "tail.log", rows = scratch_ / "rows.log";
  std::vector<std::string> tail{witan::tests::kProgram, "ledger", "tail", "-f", "--dir", first_.dir()};
  const test::Process people(tail, words);
  tail.emplace_back("--json");
  const test::Process programs(tail, rows);
  const auto has = [](const std::string& log, const char* text) { return contentOf(log).find(text) != log.npos; };
  cut();
  // A tail's stream begins after what it has shown; each try is another entry.
  std::size_t given = 0;
  ASSERT_TRUE(until([&] {
    return spend(first_, static_cast<int>(100 + ++given)) && has(words, concat("n=", 100 + given).c_str()) &&
           has(rows, concat("\"n\":", 100 + given).c_str());
  }));
  ASSERT_EQ(open.lines(given).size(), given);
  seize();
  heal();
  EXPECT_EQ(open.lines(given + 1).back(), "parted 2");
  EXPECT_TRUE(until([&] { return has(rows, "{\"from\":2,\"partition\":\"budget/0\"}"); })) << contentOf(rows);
  EXPECT_TRUE(until([&] { return has(words, "budget/0 a takeover parted this ledger"); })) << contentOf(words);
  const Reader again(second_, open.lastId());
  ASSERT_TRUE(spend(second_, 21));
  EXPECT_THAT(again.lines(1), ElementsAre("2:21"));
}

TEST_F(LedgerStream, APlaceIsProvenOrRefused) {
  ASSERT_TRUE(spend(first_, 2) && spend(first_, 3));
  ASSERT_TRUE(until([&] { return entries(second_) == 3; }));
  const std::string two = concat(kPartition, "/2.", leafOf(first_, 2));
  EXPECT_THAT(Reader(first_, two).lines(1), ElementsAre("3:3"));
  EXPECT_THAT(Reader(second_, two).lines(1), ElementsAre("3:3"));
  // Of an entry that is not here, and an id that does not say where its epoch began.
  EXPECT_THAT(Reader(first_, concat(kPartition, "/2.", leafOf(first_, 1))).lines(4),
              ElementsAre("parted 1", "1:1", "2:2", "3:3"));
  EXPECT_THAT(Reader(first_, concat(kPartition, "/99999.", leafOf(first_, 1))).lines(4),
              ElementsAre("parted 1", "1:1", "2:2", "3:3"));
  // By the epochs: the last one that both have, as far as either of them has it; and where it begins, if it forked.
  const Reader resumed(first_, two);
  ASSERT_EQ(resumed.lines(1).size(), 1u);
  const std::string whole = resumed.lastId(), epoch = whole.substr(whole.find('.', whole.find('.') + 1));
  ASSERT_THAT(epoch, MatchesRegex("\\.1-[0-9a-f]{8}-0"));
  const std::string leaf = ".0123456789abcdef";
  for (const auto& [place, first] :
       {std::pair(concat("9", leaf, epoch), "parted 4"),
        std::pair(concat("9", leaf, epoch, ".2-0123abcd-2"), "parted 3"),
        std::pair(concat("9", leaf, epoch, ".2-0123abcd-7"), "parted 4"),
        std::pair(concat("3", leaf, epoch), "parted 1"), std::pair(concat("9", leaf, ".1-0123abcd-0"), "parted 1")})
    EXPECT_EQ(Reader(first_, concat(kPartition, "/", place)).lines(1).front(), first) << place;
  for (const char* id : {"budget/0/3", "budget/0/99999", "budget/0/3.0123456789abcdef.1-0123abcd-3",
                         "budget/0/9.0123456789abcdef.1-0123abcd-5.2-0123abcd-5", "budget/0/3.", "budget/0/3.0123",
                         "budget/0/x.0123456789abcdef", "budget/0/2.0123456789ABCDEF", "budget/0/2.0123456789abcdef.1",
                         "budget/0/0.0123456789abcdef", ",", "no-id", "budget/0"})
    EXPECT_THAT(Reader(first_, id).lines(1), ElementsAre("refused 400")) << id;
  EXPECT_THAT(Reader(first_, two + "," + two).lines(1), ElementsAre("refused 400"));
  for (const char* id : {"nodomain/0/3.0123456789abcdef", "budget/7/3.0123456789abcdef"})
    EXPECT_THAT(Reader(first_, id).lines(1), ElementsAre("refused 404")) << id;
  // Places beyond the filter are not looked at, those in it are sent from there.
  const Reader elsewhere(first_, two, "domain=udt");
  ASSERT_TRUE(spend(first_, 4));
  EXPECT_THAT(Reader(first_, two).lines(2), ElementsAre("3:3", "4:4"));
  EXPECT_THAT(elsewhere.lines(), ElementsAre());
}

// A copy that lags has no answer yet: what it does not have is given again.
TEST_F(LedgerStream, AReaderThatIsAheadOfACopyIsToldWhereThatEnds) {
  cut();
  const Reader open(first_);
  ASSERT_THAT(open.lastId(), StartsWith("budget/0/1."));
  ASSERT_TRUE(spend(first_, 2) && spend(first_, 3));
  ASSERT_EQ(open.lines(2).size(), 2u);
  const Reader there(second_, open.lastId());
  EXPECT_THAT(there.lines(1), ElementsAre("parted 2"));
  heal();
  EXPECT_THAT(there.lines(3), ElementsAre("parted 2", "2:2", "3:3"));
}

}  // namespace
}  // namespace witan::node::ledger_stream_test
