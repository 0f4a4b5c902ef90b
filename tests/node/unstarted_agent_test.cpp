// Agents that devices host, and that have no state yet: what people say of them counts from the beginning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/operations/agent.h"
#include "replication/statement.h"
#include "tests/agents/clerk.h"

namespace witan::node::unstarted_agent_test {
namespace {

using namespace agents::test;
using namespace replication;
using operations::AgentLifecycleRequest;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Pair;
using ::testing::SizeIs;

void exchange(HostRig& a, HostRig& b) {
  replication::test::Link link(a.device(), b.device());
  link.run();
}

// What `witan agent destroy` and its like do on the device.
Result<operations::AgentWritten> say(HostRig& rig, const char* agent, const char* lifecycle) {
  const std::filesystem::path nowhere;
  operations::OperationContext context{
      nowhere, rig.device().replica(), {rig.ms * 1000}, [&] { return rig.device().replica().flush(); }};
  return operations::setAgentLifecycle(context, AgentLifecycleRequest{agent, lifecycle, {}});
}

TEST(AgentLifecycle, AHostedAgentWithoutStateIsDestroyedForGood) {
  auto a = clerkOn("a", "mail");
  ASSERT_TRUE(a->open().ok());
  ASSERT_TRUE(a->device().antichain("clerk").empty());
  EXPECT_EQ(say(*a, "clark", "destroyed").error().code, ErrorCode::notFound);
  const auto written = say(*a, "clerk", "destroyed");
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(a->device().view("clerk").lifecycle, Lifecycle::destroyed);
  EXPECT_EQ(say(*a, "clerk", "active").error().code, ErrorCode::conflict);
  for (const bool again : {false, true}) {
    if (again) {
      ASSERT_TRUE(a->device().replica().flush().ok());
      a->crash();
      ASSERT_TRUE(a->open().ok());
    }
    ASSERT_TRUE(a->enter(again ? "r2" : "r1", "request", "1").ok());
    ASSERT_TRUE(a->settle().ok());
    EXPECT_TRUE(a->calls.empty());
    EXPECT_THAT(a->runs(), AllOf(SizeIs(again ? 2 : 1), Each(Pair(::testing::_, WakeStatus::skippedDestroyed))));
  }
}

// The device that destroys it does not run it, and knows it only as one that another hosts.
TEST(AgentLifecycle, ADeviceDestroysWhatAnotherHosts) {
  auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
  b->agents.clear();
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  EXPECT_EQ(say(*b, "clerk", "destroyed").error().code, ErrorCode::notFound) << "it has not heard of it";
  LocalReplica& home = b->device().replica();
  for (const char* device : {"b", "a"})
    ASSERT_TRUE(home.addStatement(admit(*home.statements(), home.writer(), device, 1, device)).ok());
  exchange(*a, *b);
  const auto written = say(*b, "clerk", "destroyed");
  ASSERT_TRUE(written.ok()) << written.error().message;
  exchange(*a, *b);
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  ASSERT_TRUE(a->settle().ok());
  EXPECT_TRUE(a->calls.empty());
  EXPECT_THAT(a->runs(), AllOf(SizeIs(1), Each(Pair(::testing::_, WakeStatus::skippedDestroyed))));
  EXPECT_EQ(a->device().view("clerk").lifecycle, Lifecycle::destroyed);
}

}  // namespace
}  // namespace witan::node::unstarted_agent_test
