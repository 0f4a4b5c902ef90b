// Devices of one cluster that let different things name the owners of partitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::engines_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The first `etcd` devices have that engine.
std::function<void(std::size_t, ReplicaConfig&)> withEtcd(std::size_t etcd) {
  return [etcd](std::size_t n, ReplicaConfig& config) {
    if (n < etcd) config.etcd = EtcdOptions{};
  };
}

void expectParted(TestCluster& cluster, const std::string& what) {
  EXPECT_THAT(cluster.a().replica().otherEngines(), ElementsAre(Pair("b", HasSubstr(what))));
  EXPECT_THAT(cluster.b().replica().otherEngines(), ElementsAre(Pair("a", HasSubstr(what))));
  for (Device* device : {&cluster.a(), &cluster.b()}) {
    EXPECT_TRUE(device->noticed("otherEngine")) << device->name();
    EXPECT_TRUE(device->noticed("session ends")) << device->name();
    EXPECT_TRUE(device->replica().connectedPeers().empty()) << device->name();
  }
  EXPECT_FALSE(cluster.closed.empty());
}

TEST(Engines, EtcdAndEmbeddedPart) {
  TestCluster cluster(2, withEtcd(1));
  ASSERT_TRUE(cluster.b().replica().bootstrap(at(0)).ok());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  expectParted(cluster, "ledger engine");
  EXPECT_EQ(cluster.a().replica().owners().find(kPartition), nullptr) << "no claim of it is believed";
  // The operator mends it.
  TestCluster same(2, withEtcd(2));
  same.connect(same.a(), same.b());
  same.run();
  EXPECT_THAT(same.a().replica().otherEngines(), IsEmpty());
  EXPECT_FALSE(same.a().replica().connectedPeers().empty());
}

TEST(Engines, TwoEtcdsPartAsSoonAsBothAreKnown) {
  TestCluster cluster(2, withEtcd(2));
  cluster.connect(cluster.a(), cluster.b());
  cluster.a().replica().etcdConnected(at(0), 7);
  cluster.run();
  EXPECT_TRUE(cluster.closed.empty()) << "the other may be the same";
  cluster.b().replica().etcdConnected(at(0), 8);
  cluster.run();
  expectParted(cluster, "is another one");
}

TEST(Engines, OfOneEtcdTheySayNothing) {
  TestCluster cluster(2, withEtcd(2));
  cluster.connect(cluster.a(), cluster.b());
  cluster.a().replica().etcdConnected(at(0), 7);
  cluster.b().replica().etcdConnected(at(0), 7);
  cluster.run();
  EXPECT_TRUE(cluster.closed.empty());
  EXPECT_FALSE(cluster.a().replica().connectedPeers().empty());
}

}  // namespace
}  // namespace witan::node::test::engines_test
