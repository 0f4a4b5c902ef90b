// An agent proposes to a domain that this start of the device does not have: nothing is lost. The operation is tried
// again, put aside for a person in the end, and goes through when the domain is there.
#include <gtest/gtest.h>

#include "base/json.h"
#include "domains/agents.h"
#include "node/daemon/agent_feed.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "replica/agent_runtime.h"
#include "saga/saga_rows.h"
#include "tests/node/scratch.h"

namespace witan::node::unknown_domain_test {
namespace {

constexpr std::int64_t kStart = 1'774'252'800'000;  // 2026-03-23T08:00:00Z
constexpr std::int64_t kHour = 3'600'000;

// A device with udt-clinical at work, whose clock the test moves.
class Clinic {
 public:
  Clinic() : path_(scratch_ / "clinic") { EXPECT_TRUE(ReplicaDir::create(path_, {}).ok()); }

  void open(std::vector<std::string> domains) {
    NodeSetup setup;
    setup.domainNames = std::move(domains);
    setup.partitions = 2;
    AgentSetup work;
    work.agents = {domains::findAgent("udt-clinical")};
    work.policy = std::make_shared<agents::DeviceGate>();
    setup.agents = std::make_shared<const AgentSetup>(std::move(work));
    auto dir = NodeDir::open(path_, std::move(setup), now());
    ASSERT_TRUE(dir.ok()) << dir.error().message;
    dir_ = *std::move(dir);
    const OwnerTable& owners = replica().owners();
    ASSERT_TRUE(replica().bootstrap(now(), [&](std::string_view p) { return owners.find(p) == nullptr; }).ok());
  }
  void close() {
    ASSERT_TRUE(dir_->close(now()).ok());
    dir_.reset();
  }
  void enterPatient() {
    const json::object line{{"at", formatTime(now().wall)},
                            {"id", "p"},
                            {"type", "udt.patient"},
                            {"payload", json::object{{"patient", "David"},
                                                     {"fields", json::object{{"baselinePositiveOn", "2025-12-01"}}}}}};
    ASSERT_TRUE(feedLine(replica(), domains::contentSeals(), "main", line, now()).ok());
  }
  // Until the time given; what is due happens when it is due.
  void workFor(std::int64_t ms) {
    const std::int64_t end = ms_ + ms;
    for (int rounds = 0; rounds < 10'000; ++rounds) {
      Effects effects;
      replica().tick(now());
      ASSERT_TRUE(dir_->drain(now(), effects).ok());
      const std::int64_t next = replica().nextTickMs();
      if (next <= ms_) continue;
      if (next > end) break;
      ms_ = next;
    }
    ms_ = end;
  }
  // The operations that are under way.
  std::vector<saga::SagaRow> open() {
    std::vector<saga::SagaRow> rows;
    saga::SagaRows held(replica().data().database(replication::DatabaseName::agents), 0);
    const auto visit = [&](saga::SagaRow&& row) { rows.push_back(std::move(row)); };
    EXPECT_TRUE(held.visitOpen(visit).ok() && held.visitHeld(visit).ok());
    return rows;
  }
  std::size_t patients() {
    std::size_t count = 0;
    for (const auto& [id, host] : replica().hosts()) count += host->partition().entityCount();
    return count;
  }
  Replica& replica() { return dir_->replica(); }
  Now now() const { return {Time{ms_ * 1000}, ms_}; }

 private:
  const test::Scratch scratch_;
  const std::filesystem::path path_;
  std::unique_ptr<NodeDir> dir_;
  std::int64_t ms_ = kStart;
};

TEST(UnknownDomain, IsTriedAgainUntilItIsThere) {
  Clinic clinic;
  clinic.open({"budget"});
  clinic.enterPatient();
  clinic.workFor(10'000);
  ASSERT_EQ(clinic.open().size(), 1u);
  EXPECT_EQ(clinic.open()[0].lastError, "this device has no domain udt: see: witan domain list");
  EXPECT_GT(clinic.open()[0].attempts, 0u);
  EXPECT_EQ(clinic.replica().agents()->counters().failed, 0u) << "the run waits with it";
  clinic.close();

  clinic.open({"budget", "udt"});
  clinic.workFor(kHour);
  EXPECT_TRUE(clinic.open().empty());
  EXPECT_EQ(clinic.patients(), 1u);
  EXPECT_TRUE(clinic.replica().agents()->quiet());
  clinic.close();
}

TEST(UnknownDomain, IsAPersonsBusinessInTheEndAndGoesThroughWhenRetried) {
  Clinic clinic;
  clinic.open({"budget"});
  clinic.enterPatient();
  clinic.workFor(24 * kHour);
  ASSERT_EQ(clinic.open().size(), 1u);
  const OperationId operation = clinic.open()[0].id();
  EXPECT_EQ(enumName(clinic.open()[0].status), "needsAttention");
  EXPECT_EQ(clinic.replica().agents()->counters().failed, 1u) << "its run does not wait for a person's repair";
  ASSERT_TRUE(clinic.replica().agents()->lastFailure());
  EXPECT_EQ(clinic.replica().agents()->lastFailure()->agentId, "udt-clinical");
  clinic.close();

  clinic.open({"budget", "udt"});
  clinic.workFor(kHour);
  EXPECT_EQ(clinic.patients(), 0u) << "not by itself";
  ASSERT_TRUE(clinic.replica().agents()->sagas().retry(operation, clinic.now()).ok());
  clinic.workFor(kHour);
  EXPECT_TRUE(clinic.open().empty());
  EXPECT_EQ(clinic.patients(), 1u);
  clinic.close();
}

}  // namespace
}  // namespace witan::node::unknown_domain_test
