// What a takeover takes out of a log is listed, exported, and asked for again from the present owner, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/string_util.h"
#include "tests/node/node_process.h"

namespace witan::node::suffix_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Suffixes : ::testing::Test {
  void SetUp() override {
    ASSERT_EQ(owner.init(1).exitCode, 0);
    ASSERT_TRUE(owner.up()) << owner.log();
    ASSERT_TRUE(peer.joins(owner) && peer.up() && peer.waitUntil("connected")) << peer.log();
    ASSERT_EQ(owner.run({"begin", "budget", "B"}).exitCode, 0);
    EXPECT_THAT(spend(owner, "B", "op-1"), HasSubstr("approved"));
    ASSERT_TRUE(until([&] { return owner.run({"ledger", "verify"}).out == peer.run({"ledger", "verify"}).out; }));
    ASSERT_EQ(peer.stop(), 0);
    // Nobody else hears of these.
    EXPECT_THAT(spend(owner, "B", "op-2"), HasSubstr("approved"));
    EXPECT_THAT(spend(owner, "B", "op-much", 1'000'000'000), HasSubstr("rejected"));
    ASSERT_EQ(owner.run({"begin", "budget", "C", "--operation-id", "begin-C"}).exitCode, 0);
    EXPECT_THAT(spend(owner, "C", "op-3"), HasSubstr("approved"));
    ASSERT_EQ(owner.stop(), 0);
    ASSERT_TRUE(peer.up()) << peer.log();
    ASSERT_EQ(peer.run({"partition", "seize", "budget/0", "--reason", "owner is away"}).exitCode, 0);
    EXPECT_THAT(spend(peer, "B", "op-4"), HasSubstr("approved, entry 2"));
    ASSERT_TRUE(owner.up() && owner.waitUntil("connected")) << owner.log();
    ASSERT_TRUE(until([&] { return rows().size() == 1; })) << owner.log();
  }
  static std::string spend(const Node& node, const std::string& entity, const std::string& operation, int n = 1) {
    return node
        .run(
            {"propose", "budget", entity, "A", concat(R"({"type":"SpendA","n":)", n, "}"), "--operation-id", operation})
        .out;
  }
  json::array rows() const {
    const json::value all = owner.runJson({"suffix", "list"});
    return all.as_object().contains("suffixes") ? all.at("suffixes").as_array() : json::array();
  }
  // Outcome of each record; then the exit code.
  std::vector<std::string> askAgain(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"suffix", "propose", "budget/0", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = owner.run(words);
    std::vector<std::string> told;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) {
      const auto row = parseJson(line);
      told.push_back(row.ok() ? concat(std::string(row->at("operationId").as_string()), " ",
                                       std::string(row->at("outcome").as_string()))
                              : line);
    }
    told.push_back(std::to_string(done.exitCode));
    return told;
  }

  Scratch scratch;
  Node owner{scratch, "owner"}, peer{scratch, "peer"};
};

TEST_F(Suffixes, AreListedExportedAndAskedForAgainOnce) {
  const json::array listed = rows();
  EXPECT_EQ(listed[0].at("partition").as_string(), "budget/0");
  EXPECT_EQ(listed[0].at("entries").to_number<int>(), 3);
  EXPECT_EQ(listed[0].at("beginnings").to_number<int>(), 1);
  EXPECT_EQ(peer.runJson({"suffix", "list"}).at("suffixes").as_array().size(), 0);

  ASSERT_EQ(owner.run({"suffix", "export", "budget/0", scratch / "lost.jsonl"}).exitCode, 0);
  std::istringstream file(contentOf(scratch / "lost.jsonl"));
  std::vector<std::string> operations;
  for (std::string line; std::getline(file, line);) {
    const json::value record = *parseJson(line);
    operations.emplace_back(record.at("operationId").as_string());
    EXPECT_TRUE(record.as_object().contains("bytes") && record.as_object().contains("leafHash")) << line;
  }
  EXPECT_THAT(operations, ElementsAre("op-2", "op-much", "begin-C", "op-3"));

  EXPECT_THAT(askAgain({"--dry-run"}), ElementsAre("op-2 ask", "op-much left out", "begin-C ask", "op-3 ask", "0"));
  EXPECT_THAT(askAgain(),
              ElementsAre("op-2 approved", "op-much left out", "begin-C initialised", "op-3 approved", "0"));
  const std::string decided = peer.run({"ledger", "verify"}).out;
  EXPECT_THAT(decided, HasSubstr("ok 4 "));
  EXPECT_THAT(askAgain(),
              ElementsAre("op-2 duplicate", "op-much left out", "begin-C duplicate", "op-3 duplicate", "0"));
  EXPECT_EQ(peer.run({"ledger", "verify"}).out, decided);
  EXPECT_EQ(rows(), listed);  // the suffix stays: it is what was decided once
}

TEST_F(Suffixes, AreReadWhileNoNodeRunsAndNoneThatIsNotThere) {
  const json::array listed = rows();
  const Finished none = owner.run({"suffix", "export", "budget/1", scratch / "none.jsonl", "--json"});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.err, HasSubstr(R"("code":"notFound")"));
  ASSERT_EQ(owner.run({"suffix", "export", "budget/0", scratch / "live.jsonl"}).exitCode, 0);
  EXPECT_EQ(owner.run({"suffix", "export", "budget/0", scratch / "live.jsonl"}).exitCode, 1) << "the file is there";
  EXPECT_EQ(owner.run({"suffix", "export", "budget/0", scratch / "live.jsonl", "--force"}).exitCode, 0);
  ASSERT_EQ(owner.stop(), 0);
  EXPECT_EQ(rows(), listed);
  ASSERT_EQ(owner.run({"suffix", "export", "budget/0", scratch / "rest.jsonl"}).exitCode, 0);
  EXPECT_EQ(contentOf(scratch / "rest.jsonl"), contentOf(scratch / "live.jsonl"));
  EXPECT_EQ(owner.run({"suffix", "propose", "budget/0"}).exitCode, 4);
}

}  // namespace
}  // namespace witan::node::suffix_test
