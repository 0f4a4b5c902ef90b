// Replicas two and three at a time: what a link that is fresh, slow or lossy does to requests, claims and seizures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::owners_links_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Status seize(Device& device) { return device.replica().forceTakeover(kPartition, "the owner is gone", at(device.ms)); }

// A signature costs more than a decision: what comes while the owner works leaves together.
TEST(OwnersLinks, RequestsGatherWhileTheOwnerWorks) {
  TestCluster cluster(2);
  cluster.found();
  Device& b = cluster.b();
  b.ms = 100;
  std::vector<std::string> sent;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    Request request;
    if (frame.to == "a" && isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::request &&
        readMessage(frame.bytes.substr(replication::kFrameHeaderBytes), request, "request").ok())
      sent.push_back(request.operationId);
    return false;
  };
  const auto leaving = [&] {
    cluster.collect();
    for (const TestCluster::Frame& frame : cluster.underWay) (void)cluster.lose(frame);
    return std::exchange(sent, {});
  };
  b.submit(spend("op-1", 1));
  b.submit(spend("op-2", 1));
  EXPECT_THAT(leaving(), ElementsAre("op-1", "op-2"));  // the owner has nothing to do
  b.submit(spend("op-3", 1));
  EXPECT_THAT(leaving(), ElementsAre("op-1", "op-2"));  // those still under way
  b.submit(spend("op-4", 1));
  EXPECT_THAT(leaving(), ElementsAre("op-1", "op-2", "op-3", "op-4")) << "as many as are under way";
  cluster.run();
  EXPECT_THAT(sent, ElementsAre("op-1", "op-2", "op-3", "op-4"));
  ASSERT_NE(b.answered("op-4"), nullptr);
  // Fewer wait for the answers.
  for (const char* id : {"op-5", "op-6", "op-7"}) b.submit(spend(id, 1)), cluster.collect();
  sent.clear();
  cluster.run();
  EXPECT_THAT(sent, ElementsAre("op-5", "op-6", "op-7"));
  ASSERT_NE(b.answered("op-7"), nullptr);
  // An owner that does not answer holds them up for milliseconds.
  for (const char* id : {"op-8", "op-9", "op-10"}) b.submit(spend(id, 1)), cluster.collect();
  cluster.underWay.clear();
  sent.clear();
  EXPECT_THAT(leaving(), IsEmpty());
  b.passTime(20);
  EXPECT_THAT(leaving(), ElementsAre("op-10"));
}

// A link is up some milliseconds before its other end has said that it is the owner.
TEST(OwnersLinks, ASeizureWaitsUntilTheOtherEndOfAFreshLinkHasSaidWhatItHas) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  cluster.connect(cluster.a(), cluster.b());
  EXPECT_EQ(seize(cluster.b()).error().code, ErrorCode::conflict);
  cluster.run();
  EXPECT_THAT(seize(cluster.b()).error().message, HasSubstr("is connected"));
  // A device that links and says nothing hinders only for a while.
  cluster.cut(cluster.a(), cluster.b());
  cluster.connect(cluster.a(), cluster.b());
  cluster.b().passTime(9'999);
  EXPECT_EQ(seize(cluster.b()).error().code, ErrorCode::conflict);
  cluster.b().passTime(1);
  EXPECT_TRUE(seize(cluster.b()).ok());
}

TEST(OwnersLinks, AClaimThatWasLostIsToldAgain) {
  TestCluster cluster(3);
  cluster.found();
  cluster.cut(cluster.a(), cluster.b());
  cluster.cut(cluster.a(), cluster.c());
  ASSERT_TRUE(seize(cluster.b()).ok());
  cluster.lose = [](const TestCluster::Frame& frame) { return frame.to == "c"; };
  cluster.run();
  cluster.lose = {};
  ASSERT_EQ(cluster.c().replica().owners().latestEpoch(kPartition), 1u);
  for (Device* device : {&cluster.b(), &cluster.c()}) device->passTime(60'000);
  cluster.run();
  EXPECT_EQ(cluster.c().replica().owners().latestEpoch(kPartition), 2u);
  EXPECT_EQ(cluster.c().host().lineage().epochs, cluster.b().host().lineage().epochs);
  // Those that know the same are not told again.
  std::size_t claims = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    PeerAdvertisement standing;
    if (isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::standing &&
        readMessage(frame.bytes.substr(replication::kFrameHeaderBytes), standing, "standing").ok())
      claims += standing.claims.size();
    return false;
  };
  for (Device* device : {&cluster.b(), &cluster.c()}) device->passTime(60'000);
  cluster.run();
  EXPECT_EQ(claims, 0u);
}

}  // namespace
}  // namespace witan::node::test::owners_links_test
