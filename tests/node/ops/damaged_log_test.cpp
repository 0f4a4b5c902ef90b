// One turned bit in a write-ahead log takes what was acknowledged: the node says so, and keeps the log.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/json.h"
#include "cli/doctor/doctor.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "replica/core/messages.h"
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

}  // namespace
}  // namespace witan::node::damaged_log_test
