// Devices of one cluster that let different things name the owners of partitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/cable.h"

namespace witan::node::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

void expectParted(Cable& cable, const std::string& what) {
  EXPECT_THAT(cable.a().replica().otherEngines(), ElementsAre(Pair("b", HasSubstr(what))));
  EXPECT_THAT(cable.b().replica().otherEngines(), ElementsAre(Pair("a", HasSubstr(what))));
  for (Device* device : {&cable.a(), &cable.b()}) {
    EXPECT_TRUE(device->noticed("otherEngine")) << device->name();
    EXPECT_TRUE(device->noticed("session ends")) << device->name();
    EXPECT_TRUE(device->replica().connectedPeers().empty()) << device->name();
  }
  EXPECT_FALSE(cable.closed.empty());
}

TEST(Engines, EtcdAndEmbeddedPart) {
  Cable cable(2, 1);
  ASSERT_TRUE(cable.b().replica().bootstrap(at(0)).ok());
  cable.connect(cable.a(), cable.b());
  cable.run();
  expectParted(cable, "ledger engine");
  EXPECT_EQ(cable.a().replica().owners().find(kPartition), nullptr) << "no claim of it is believed";
  // The operator mends it.
  Cable same(2, 2);
  same.connect(same.a(), same.b());
  same.run();
  EXPECT_THAT(same.a().replica().otherEngines(), IsEmpty());
  EXPECT_FALSE(same.a().replica().connectedPeers().empty());
}

TEST(Engines, TwoEtcdsPartAsSoonAsBothAreKnown) {
  Cable cable(2, 2);
  cable.connect(cable.a(), cable.b());
  cable.a().replica().etcdConnected(at(0), 7);
  cable.run();
  EXPECT_TRUE(cable.closed.empty()) << "the other may be the same";
  cable.b().replica().etcdConnected(at(0), 8);
  cable.run();
  expectParted(cable, "is another one");
}

TEST(Engines, OfOneEtcdTheySayNothing) {
  Cable cable(2, 2);
  cable.connect(cable.a(), cable.b());
  cable.a().replica().etcdConnected(at(0), 7);
  cable.b().replica().etcdConnected(at(0), 7);
  cable.run();
  EXPECT_TRUE(cable.closed.empty());
  EXPECT_FALSE(cable.a().replica().connectedPeers().empty());
}

}  // namespace
}  // namespace witan::node::test
