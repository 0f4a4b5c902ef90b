// An owner that comes back without what it decided on: every device says so, and says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::lost_ledgers_test {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::HasSubstr;

struct LostLedgers : ::testing::Test {
  void SetUp() override {
    ASSERT_EQ(owner.init(1).exitCode, 0);
    ASSERT_TRUE(owner.up()) << owner.log();
    ASSERT_TRUE(peer.joins(owner) && peer.up() && peer.waitUntil("connected")) << peer.log();
    ASSERT_EQ(owner.run({"begin", "budget", "B"}).exitCode, 0);
    EXPECT_THAT(spend(owner, "op-1"), HasSubstr("approved"));
    EXPECT_EQ(owner.check("owners"), "all reachable");
  }
  static std::string spend(const Node& node, const std::string& operation) {
    return node.run({"propose", "budget", "B", "A", R"({"type":"SpendA","n":1})", "--operation-id", operation}).out;
  }
  bool copied() {
    return until([&] { return owner.run({"ledger", "verify"}).out == peer.run({"ledger", "verify"}).out; });
  }
  void expectPlainWords() {
    for (const Node* node : {&owner, &peer}) {
      ASSERT_TRUE(until([&] { return node->check("owners").starts_with("nobody decides for "); }))
          << node->name() << ": " << node->check("owners") << node->log();
      EXPECT_THAT(node->check("owners"), HasSubstr(node == &owner ? "this device" : "owner"));
      EXPECT_THAT(node->run({"status"}).out, HasSubstr("witan partition seize "));
      const Finished examined = node->run({"doctor"});
      EXPECT_EQ(examined.exitCode, 1);
      EXPECT_THAT(examined.out, HasSubstr("witan partition seize "));
      EXPECT_GE(node->metric("partitions_lost"), 1);
      const auto client = ControlClient::open(node->dir());
      ASSERT_TRUE(client.ok());
      EXPECT_THAT(*client->text("/readyz?verbose=1"), HasSubstr("[!] owners: nobody decides for "));
    }
  }
  void seizeAll() {
    const json::value all = peer.runJson({"partition", "list"});
    for (const json::value& row : all.at("partitions").as_array()) {
      const std::string partition(row.at("partition").as_string());
      if (row.at("here").as_bool()) continue;
      const auto seized = peer.post("/v1/partitions/seize", {{"partition", partition}, {"reason", "ledgers lost"}});
      EXPECT_TRUE(seized.ok() || seized.error().message.find("is connected") != std::string::npos)
          << partition << ": " << seized.error().message;
    }
    for (const Node* node : {&owner, &peer})
      EXPECT_TRUE(until([&] { return node->check("owners") == "all reachable"; })) << node->check("owners");
  }

  Scratch scratch;
  Node owner{scratch, "owner"}, peer{scratch, "peer"};
};

TEST_F(LostLedgers, AnOwnerWithoutItsLedgersSaysSo) {
  ASSERT_TRUE(copied());
  ASSERT_EQ(owner.stop(), 0);
  fs::remove_all(owner.dir() + "/ledgers");
  ASSERT_TRUE(owner.up() && owner.waitUntil("connected")) << owner.log();
  expectPlainWords();
  seizeAll();
  EXPECT_THAT(spend(owner, "op-1"), HasSubstr("entry 1"));  // decided before
  EXPECT_THAT(spend(owner, "op-2"), HasSubstr("approved, entry 2"));
}

TEST_F(LostLedgers, AnOwnerWhoseLedgersWentBackSaysSo) {
  ASSERT_EQ(owner.stop(), 0);
  fs::copy(owner.dir() + "/ledgers", scratch / "before", fs::copy_options::recursive);
  ASSERT_TRUE(owner.up() && owner.waitUntil("connected")) << owner.log();
  EXPECT_THAT(spend(owner, "op-2"), HasSubstr("approved"));
  ASSERT_TRUE(copied());
  ASSERT_EQ(owner.stop(), 0);
  fs::remove_all(owner.dir() + "/ledgers");
  fs::copy(scratch / "before", owner.dir() + "/ledgers", fs::copy_options::recursive);
  ASSERT_TRUE(owner.up() && owner.waitUntil("connected")) << owner.log();
  expectPlainWords();
  seizeAll();
  EXPECT_THAT(spend(owner, "op-2"), HasSubstr("entry 2"));
  EXPECT_THAT(spend(owner, "op-3"), HasSubstr("approved, entry 3"));
}

TEST_F(LostLedgers, ARevokedOwnerLeavesOrphansThatAreNamedWithTheirMend) {
  ASSERT_TRUE(copied());
  ASSERT_EQ(owner.run({"partition", "move", "budget/0", "peer"}).exitCode, 0);
  ASSERT_TRUE(until([&] { return peer.owned() == 1; }));
  EXPECT_EQ(owner.metric("partitions_orphaned"), 0);
  const Finished revoked = owner.run({"device", "revoke", "peer", "--reason", "sold"});
  EXPECT_EQ(revoked.exitCode, 0);
  EXPECT_THAT(revoked.out + revoked.err, HasSubstr("witan partition seize budget/0 "));
  EXPECT_THAT(owner.check("owners"), HasSubstr("budget/0"));
  EXPECT_EQ(owner.metric("partitions_orphaned"), 1);
  EXPECT_THAT(owner.run({"status"}).out, HasSubstr("witan partition seize budget/0 "));
  const Finished examined = owner.run({"doctor"});
  EXPECT_EQ(examined.exitCode, 1);
  EXPECT_THAT(examined.out, HasSubstr("witan partition seize budget/0 "));
  EXPECT_EQ(owner.run({"partition", "seize"}).exitCode, 2) << "neither one nor all of them";
  const json::value seized = owner.runJson({"partition", "seize", "--all-lost", "--reason", "owner revoked"});
  EXPECT_EQ(seized.at("seized"), 1) << canonicalJson(seized);
  EXPECT_EQ(seized.at("failed"), 0);
  EXPECT_EQ(owner.metric("partitions_orphaned"), 0);
  EXPECT_THAT(spend(owner, "op-2"), HasSubstr("approved, entry 2"));
}

}  // namespace
}  // namespace witan::node::lost_ledgers_test
