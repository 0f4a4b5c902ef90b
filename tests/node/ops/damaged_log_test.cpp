// One turned bit in a write-ahead log takes what was acknowledged: the node says so, and keeps the log.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/json.h"
#include "cli/doctor/doctor.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/replica_store.h"
#include "replica/core/messages.h"
#include "replica/core/partition_host.h"
#include "tests/node/node_process.h"
#include "tests/node/scratch.h"

namespace witan::node::damaged_log_test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'774'252'800'000;  // 2026-03-23T08:00:00Z
constexpr Now kNow{Time{kStart * 1000}, kStart};

Result<std::unique_ptr<NodeDir>> opened(const fs::path& dir) {
  NodeSetup setup;
  setup.domainNames = {"budget"};
  return NodeDir::open(dir, std::move(setup), kNow);
}

// Decisions, each in a write of its own.
void decide(NodeDir& node, int count) {
  Replica& replica = node.replica();
  ASSERT_TRUE(replica.bootstrap(kNow, [](std::string_view) { return true; }).ok());
  const kernel::DomainModule& module = *replica.moduleOf("budget");
  ASSERT_TRUE(replica.submit(initRequest(module, "team", "begin", json::object{}), kNow).ok());
  for (int i = 0; i <= count; ++i) {
    Effects effects;
    ASSERT_TRUE(node.drain(kNow, effects).ok());
    const json::value action{{"type", "SpendA"}, {"n", 1}};
    ASSERT_TRUE(
        replica.submit(proposalRequest(module, "team", "A", "s-" + std::to_string(i), action).value(), kNow).ok());
  }
}

void turnBitInTheMiddleOf(const fs::path& store) {
  for (const auto& entry : fs::directory_iterator(store)) {
    if (entry.path().extension() != ".log") continue;
    std::fstream log(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(entry.file_size() / 2);
    log.seekg(at);
    const char turned = static_cast<char>(log.get() ^ 0x10);
    log.seekp(at);
    log.put(turned);
  }
}

TEST(DamagedLog, IsAnIncidentAndFailsTheDoctorUntilSomebodyHasSeenToIt) {
  const test::Scratch scratch;
  const fs::path live = scratch / "live", killed = scratch / "killed";
  ASSERT_TRUE(ReplicaDir::create(live, {}).ok());
  auto node = opened(live);
  ASSERT_TRUE(node.ok()) << node.error().message;
  decide(**node, 30);
  fs::copy(live, killed, fs::copy_options::recursive);  // what a kill leaves
  turnBitInTheMiddleOf(killed / "ledgers");

  for (int start = 0; start < 2; ++start) {
    auto again = opened(killed);
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_EQ((*again)->damaged().size(), 1u);
    Effects effects;
    ASSERT_TRUE((*again)->drain(kNow, effects).ok());
    const auto incidents = (*again)->replica().data().incidents();
    ASSERT_TRUE(incidents.ok());
    EXPECT_EQ(std::ranges::count(*incidents, "damagedLog", &replication::Incident::kind), 1);
    ASSERT_TRUE((*again)->close(kNow).ok());
  }
  const auto complains = [&] {
    const auto checks = examine(killed, false, kNow.wall);
    return std::ranges::any_of(checks, [](const DoctorCheck& check) {
      return check.name == "ledgers" && check.level == CheckLevel::fail &&
             check.what.find("is damaged at byte") != std::string::npos;
    });
  };
  EXPECT_TRUE(complains());
  for (const auto& entry : fs::directory_iterator(killed / "ledgers"))
    if (entry.path().filename().string().starts_with("damaged-")) fs::remove(entry.path());
  EXPECT_FALSE(complains());
}

// What one ledger has lost stops nothing of the others.
TEST(DamagedLedger, StandsStillWhileTheRestServes) {
  const test::Scratch scratch;
  test::Node owner(scratch, "owner"), peer(scratch, "peer");
  ASSERT_TRUE(owner.init(2).exitCode == 0 && owner.up()) << owner.log();
  ASSERT_TRUE(test::enrol(owner, peer)) << peer.log();
  std::map<std::string, std::string> entityOf;  // by partition
  for (int i = 0; entityOf.size() < 2; ++i) {
    const std::string entity = "e" + std::to_string(i);
    if (!entityOf.emplace(partitionOf("budget", entity, 2), entity).second) continue;
    ASSERT_EQ(owner.run({"begin", "budget", entity}).exitCode, 0);
  }
  const auto spend = [&](const test::Node& node, const std::string& partition, const std::string& operation) {
    return node.run({"propose", "budget", entityOf[partition], "A", R"({"type":"SpendA","n":1})", "--operation-id",
                     operation, "--json"});
  };
  for (const auto& [partition, entity] : entityOf) ASSERT_EQ(spend(owner, partition, "1-" + partition).exitCode, 0);
  ASSERT_TRUE(test::until([&] { return owner.run({"ledger", "verify"}).out == peer.run({"ledger", "verify"}).out; }));
  ASSERT_EQ(owner.stop(), 0);
  {
    auto store = openReplicaStore(owner.dir() + "/ledgers");
    ASSERT_TRUE(store.ok());
    const std::string row = "p/budget/0/" + kernel::batchKey(1);
    std::string value = (*store)->get(row)->value();
    value.back() = static_cast<char>(value.back() ^ 1);
    store::WriteBatch batch;
    batch.put(row, value);
    ASSERT_TRUE((*store)->writeSynced(batch).ok());
  }
  const test::Finished verified = owner.run({"ledger", "verify"});
  EXPECT_EQ(verified.exitCode, 1);
  EXPECT_NE(verified.out.find("bad budget/0: ledgers, partition budget/0: "), std::string::npos) << verified.out;

  ASSERT_TRUE(owner.up() && owner.waitUntil("connected")) << owner.log();
  EXPECT_TRUE(owner.ready());
  EXPECT_EQ(owner.check("ledgers").find("the ledger of budget/0 is damaged and stands still"), 0u)
      << owner.check("ledgers");
  EXPECT_NE(owner.run({"incident", "list"}).out.find("damagedLedger"), std::string::npos);
  EXPECT_EQ(owner.run({"doctor", "--quick"}).exitCode, 1);
  EXPECT_EQ(owner.run({"ledger", "verify"}).exitCode, 1);
  EXPECT_EQ(owner.run({"ledger", "tail", "--partition", "budget/0"}).exitCode, 1);
  EXPECT_EQ(spend(owner, "budget/1", "2").exitCode, 0);
  const json::value waits = owner
                                .post("/v1/propose", {{"domain", "budget"},
                                                      {"entity", entityOf["budget/0"]},
                                                      {"role", "A"},
                                                      {"action", {{"type", "SpendA"}, {"n", 1}}},
                                                      {"operationId", "3"},
                                                      {"waitMs", 100}})
                                .value();
  EXPECT_EQ(waits.at("outcome").as_string(), "waiting");
  // The others hear of it, and one that has the log goes on.
  EXPECT_TRUE(test::until([&] { return peer.check("owners").starts_with("nobody decides for budget/0"); }))
      << peer.check("owners");
  const test::Finished seized = peer.run({"partition", "seize", "budget/0", "--reason", "damaged"});
  EXPECT_EQ(seized.exitCode, 0) << seized.err;
  EXPECT_EQ(spend(peer, "budget/0", "4").exitCode, 0);
  EXPECT_TRUE(test::until([&] { return owner.get("/v1/outbox").at("outbox").as_array().empty(); }));
  EXPECT_EQ(spend(owner, "budget/0", "5").exitCode, 0);
}

}  // namespace
}  // namespace witan::node::damaged_log_test
