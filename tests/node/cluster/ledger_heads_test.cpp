// Signed heads of a cluster's ledgers, as people use them: two nodes as processes, their files in the hands of somebody
// who trusts neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/json.h"
#include "tests/node/node_process.h"

namespace witan::node::ledger_heads_test {
namespace {

namespace fs = std::filesystem;
using test::begin;
using test::enrol;
using test::Finished;
using test::Node;
using test::runWitan;
using test::Scratch;
using test::until;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Finished propose(const Node& node, const std::string& operation, int amount) {
  return node.run({"propose", "budget", "team", "A", "{\"type\":\"SpendA\",\"n\":" + std::to_string(amount) + "}",
                   "--operation-id", operation, "--json"});
}

std::string cosigned(const Node& node, int entries) {
  std::string note;
  const bool there = until([&] {
    const Finished shown = node.run({"ledger", "checkpoint"});
    note = shown.out;
    return shown.exitCode == 0 && note.find("\n" + std::to_string(entries) + "\n") != std::string::npos &&
           shown.err.empty();
  });
  return there ? note : "";
}

int stranger(const std::string& words) {
  const std::string script = witan::tests::kSourceDir + std::string("/tests/node/stranger/verify_export.py ");
  return std::system(("python3 " + script + words + " >/dev/null").c_str());
}

// One entry, whose ledgers are kept as "yesterday", and another one. The node is down then.
void decideTwice(Node& node, const Scratch& scratch) {
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(propose(node, "op-1", 1).exitCode, 0);
  ASSERT_EQ(node.stop(), 0);
  fs::copy(node.dir() + "/ledgers", scratch / "yesterday", fs::copy_options::recursive);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(propose(node, "op-2", 1).exitCode, 0);
  ASSERT_EQ(node.stop(), 0);
}

TEST(LedgerHeads, AStrangerVerifiesTheExportOfANodeWithTwoSignatures) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  EXPECT_THAT(first.run({"status"}).out, Not(HasSubstr("unwitnessed")));
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(propose(first, "op-0", 1).exitCode, 0);
  EXPECT_THAT(first.run({"status"}).out, HasSubstr("unwitnessed: no other device has signed budget/"));
  ASSERT_TRUE(enrol(first, second)) << second.log();
  for (int i = 1; i < 4; ++i) ASSERT_EQ(propose(second, "op-" + std::to_string(i), 10).exitCode, 0);

  const std::string note = cosigned(first, 4);
  ASSERT_THAT(note, StartsWith("witan/")) << first.log();
  EXPECT_THAT(first.run({"status"}).out, HasSubstr("other devices have signed the ledgers"));
  EXPECT_EQ(first.run({"ledger", "verify", "--signed", "--require", "2"}).exitCode, 0);
  scratch.write("note", note);
  scratch.write("export", second.run({"ledger", "export"}).out);
  const std::string keys = " --vkey " + first.dir() + "/device.vkey" + " --vkey " + second.dir() + "/device.vkey";
  const std::vector<std::string> how{"--vkey",       first.dir() + "/device.vkey",
                                     "--vkey",       second.dir() + "/device.vkey",
                                     "--checkpoint", scratch / "note",
                                     "--require",    "2"};
  const auto verify = [&](std::vector<std::string> words) {
    words.insert(words.end(), how.begin(), how.end());
    return runWitan(words);
  };
  EXPECT_THAT(verify({"ledger", "verify", "--export", scratch / "export", "--signed"}).out, StartsWith("ok 4 "));
  EXPECT_THAT(verify({"ledger", "verify", "--export", scratch / "export", "--json"}).out,
              HasSubstr("\"provenEntries\":4"));
  EXPECT_EQ(stranger(scratch / "export" + keys + " --checkpoint " + scratch / "note" + " --require 2"), 0);
  EXPECT_NE(stranger(scratch / "export" + keys + " --checkpoint " + scratch / "note" + " --require 3"), 0);
  // A cosigner alone vouches for nothing, also where one signature is enough.
  EXPECT_NE(runWitan({"ledger", "verify", "--export", scratch / "export", "--vkey", second.dir() + "/device.vkey",
                      "--checkpoint", scratch / "note"})
                .exitCode,
            0);
  EXPECT_NE(stranger(scratch / "export" + " --vkey " + second.dir() + "/device.vkey --checkpoint " + scratch / "note"),
            0);
  EXPECT_THAT(verify({"ledger", "verify", "--dir", second.dir()}).out, StartsWith("ok "));
  EXPECT_THAT(first.run({"ledger", "proof", "2"}).out, StartsWith("c2sp.org/tlog-proof@v1\nindex 1\n"));
  EXPECT_THAT(first.run({"ledger", "proof", "--consistency-from", "3"}).out, HasSubstr("\"second\":4"));

  // One byte of one entry.
  std::string altered = scratch.read("export");
  const std::size_t at = altered.find("\"bytes\":\"") + 60;
  altered[at] = altered[at] == 'A' ? 'B' : 'A';
  scratch.write("altered", altered);
  EXPECT_THAT(verify({"ledger", "verify", "--export", scratch / "altered"}).out, StartsWith("bad entry 1"));
  EXPECT_NE(stranger(scratch / "altered" + keys + " --checkpoint " + scratch / "note"), 0);

  // At rest the same.
  EXPECT_EQ(second.stop(), 0);
  EXPECT_EQ(first.stop(), 0);
  EXPECT_THAT(verify({"ledger", "verify", "--dir", second.dir()}).out, StartsWith("ok "));
  EXPECT_THAT(second.run({"ledger", "checkpoint"}).out, HasSubstr("\n4\n"));
  EXPECT_EQ(second.run({"ledger", "export"}).out, scratch.read("export"));
  EXPECT_THAT(runWitan({"ledger", "verify", "--dir", second.dir(), "--checkpoint", scratch / "note"}).err,
              HasSubstr("--checkpoint needs the keys that sign it"));
}

// The ledgers alone are put back; what the key signed stands beside them.
TEST(LedgerHeads, ASoleDeviceWhoseLedgersWentBackDecidesNothing) {
  const Scratch scratch;
  Node first(scratch, "first");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_NO_FATAL_FAILURE(decideTwice(first, scratch));
  fs::remove_all(first.dir() + "/ledgers");
  fs::copy(scratch / "yesterday", first.dir() + "/ledgers", fs::copy_options::recursive);
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_THAT(first.run({"status"}).out, HasSubstr("nobody decides for budget/"));
  EXPECT_THAT(first.run({"incident", "list"}).out, HasSubstr("wentBack"));
  EXPECT_THAT(first.run({"incident", "show", "1"}).out, HasSubstr("this device signed a log of 2 entries"));
  EXPECT_EQ(first.run({"incident", "export", "--out", scratch / "."}).out, "none\n");
  EXPECT_EQ(first.stop(), 0);
}

// Two ledgers of one size, both signed: nothing that they hold is against the rules, and `status` accuses of no such
// thing.
TEST(LedgerHeads, StatusSaysOfAProvenForkThatItIsOne) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(propose(first, "op-1", 1).exitCode, 0);
  ASSERT_NE(cosigned(second, 1), "") << second.log();
  ASSERT_EQ(second.stop(), 0);
  ASSERT_EQ(first.stop(), 0);
  fs::copy(first.dir(), scratch / "yesterday", fs::copy_options::recursive);
  ASSERT_TRUE(first.up() && second.up()) << first.log() << second.log();
  ASSERT_EQ(propose(first, "op-2", 1).exitCode, 0);
  ASSERT_NE(cosigned(second, 2), "") << second.log();
  ASSERT_EQ(second.stop(), 0);
  ASSERT_EQ(first.stop(), 0);
  fs::remove_all(first.dir());
  fs::copy(scratch / "yesterday", first.dir(), fs::copy_options::recursive);
  ASSERT_TRUE(first.up()) << first.log();
  ASSERT_EQ(propose(first, "op-3", 2).exitCode, 0) << "alone it knows of no other ledger";
  ASSERT_EQ(first.stop(), 0) << "it signs what it holds";
  ASSERT_TRUE(first.up() && second.up()) << second.log();

  const auto kinds = [&] {
    std::set<std::string> found;
    const json::value answer = second.get("/v1/incidents");
    for (const json::value& one : answer.at("incidents").as_array()) found.emplace(one.at("kind").as_string());
    return found;
  };
  ASSERT_TRUE(until([&] { return kinds().contains("forkProven"); })) << second.log();
  EXPECT_FALSE(kinds().contains("unlawful"));
  ASSERT_TRUE(until([&] { return second.todo("owners").find("seize") != std::string::npos; })) << second.log();
  EXPECT_THAT(second.todo("owners"), HasSubstr("--reason 'fork'"));
  EXPECT_THAT(second.check("owners"), Not(HasSubstr("the rules do not give")));
  // By the name of the device, as `witan incidents`.
  EXPECT_THAT(second.run({"incident", "list"}).out, HasSubstr("  first ("));
}

// The file heads.signed stands outside of the database: who deletes or cuts the database does not take it along.
TEST(LedgerHeads, VerifyAtRestMissesWhatTheFileOfSignedHeadsHas) {
  const Scratch scratch;
  Node first(scratch, "first");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_NO_FATAL_FAILURE(decideTwice(first, scratch));
  fs::copy(first.dir() + "/ledgers", scratch / "today", fs::copy_options::recursive);
  ASSERT_EQ(first.run({"ledger", "verify"}).exitCode, 0);
  const auto expectMissed = [&](const std::string& here) {
    const Finished verified = first.run({"ledger", "verify", "--json"});
    EXPECT_EQ(verified.exitCode, 1);
    const json::value report = *parseJson(verified.out);
    const json::value& ledger = report.at("ledgers").at(0);
    EXPECT_EQ(ledger.at("partition").as_string(), "budget/0");
    EXPECT_THAT(std::string(ledger.at("problem").as_string()),
                ::testing::AllOf(HasSubstr("heads.signed says that this device signed 2 entries"),
                                 HasSubstr("the log here has " + here), HasSubstr("witan partition seize budget/0")));
    const Finished examined = first.run({"doctor"});
    EXPECT_EQ(examined.exitCode, 1);
    EXPECT_THAT(examined.out, HasSubstr("budget/0: the file heads.signed says"));
  };
  const auto replaceBy = [&](const std::string& copy) {
    fs::remove_all(first.dir() + "/ledgers");
    if (!copy.empty()) fs::copy(scratch / copy, first.dir() + "/ledgers", fs::copy_options::recursive);
  };
  replaceBy("");
  expectMissed("0");
  replaceBy("yesterday");
  expectMissed("1");
  replaceBy("today");
  EXPECT_EQ(first.run({"ledger", "verify"}).exitCode, 0);
  const std::string whole = test::contentOf(scratch / "first/heads.signed");
  const std::string lines = whole.substr(whole.find('\n') + 1);
  for (const std::string& cut : {std::string(), whole.substr(0, whole.size() - 12), whole + lines, lines}) {
    scratch.write("first/heads.signed", cut);
    EXPECT_THAT(first.run({"doctor"}).out, HasSubstr("heads.signed is damaged")) << cut;
  }
  scratch.write("first/heads.signed", "2 nonsense\n");
  for (const char* command : {"verify", "tail"}) {
    const Finished refused = first.run({"ledger", command});
    EXPECT_EQ(refused.exitCode, 1) << command;
    EXPECT_THAT(refused.err, HasSubstr(first.dir() + "/heads.signed is damaged"));
  }
  EXPECT_THAT(first.run({"doctor"}).out, HasSubstr("heads.signed is damaged"));
  EXPECT_THAT(first.run({"up"}).err, HasSubstr("heads.signed is damaged"));
}

}  // namespace
}  // namespace witan::node::ledger_heads_test
