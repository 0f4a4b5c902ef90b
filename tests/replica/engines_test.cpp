// Devices of one cluster that let different things name the owners of partitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "rules/domain/rule_module.h"
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

// A rule file whose text may take most of a record; `version` only differs.
const kernel::DomainModule& notes(int version) {
  static std::map<int, std::unique_ptr<kernel::DomainModule>> made;
  auto& module = made[version];
  if (!module)
    module = *rules::makeRuleModule(concat("domain = \"budget\"\ntitle = \"version ", version, R"toml("
[fields]
s = "string = ''"
[processes.Set]
role = "A"
arguments = "k: string"
do = "s = k"
[processes.Twice]
role = "A"
do = "s = s + s"
[processes.Again]
role = "A"
do = "s = s"
)toml"),
                                    "notes.domain.toml");
  return *module;
}

Request noteRequest(const std::string& id, const char* type, const std::string& text = "") {
  json::object action{{"type", type}};
  if (!text.empty()) action["k"] = text;
  const std::string bytes = notes(1).encodeAction(**notes(1).parseAction(action));
  Request request = spend(id, 1);
  request.actionType = type;
  request.action.assign(bytes.begin(), bytes.end());
  return request;
}

TEST(RuleFiles, OfTwoVersionsNeitherDeviceFollowsTheOther) {
  int versions[] = {1, 2};
  TestCluster cluster(2, [&](std::size_t n, ReplicaConfig& config) { config.domains = {&notes(versions[n])}; });
  ASSERT_TRUE(cluster.a().replica().bootstrap(at(0)).ok());
  cluster.a().submit(beginning());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  const auto passMinutes = [&](int minutes) {
    for (; minutes > 0; --minutes) {
      for (Device* device : {&cluster.a(), &cluster.b()}) device->passTime(60'000);
      cluster.run();
    }
  };
  for (Device* device : {&cluster.a(), &cluster.b()})
    EXPECT_FALSE(device->hasIncident("otherRules")) << "a version that is rolled out is no incident";
  passMinutes(2);
  for (Device* device : {&cluster.a(), &cluster.b()}) {
    EXPECT_TRUE(device->hasIncident("otherRules")) << device->name();
    const auto notice = std::ranges::find(device->notices, "otherRules", &Notice::kind);
    ASSERT_NE(notice, device->notices.end()) << device->name();
    EXPECT_THAT(notice->what, HasSubstr("has another version of the rule file (digest"));
  }
  EXPECT_EQ(cluster.b().host().ledger().batches(), 0u) << "not even the first entry";
  EXPECT_FALSE(cluster.b().noticed("unlawful"));
  // Without an entry the copy takes the right file.
  cluster.losePower(cluster.b());
  versions[1] = 1;
  cluster.losePower(cluster.b());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  EXPECT_EQ(cluster.b().host().ledger().batches(), cluster.a().host().ledger().batches());
  EXPECT_GT(cluster.b().host().ledger().batches(), 0u);
  // So it is over, for the device that began again and for the one that did not.
  for (Device* device : {&cluster.a(), &cluster.b()}) EXPECT_FALSE(device->hasIncident("otherRules")) << device->name();
  // It may begin again.
  versions[1] = 2;
  cluster.losePower(cluster.b());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  passMinutes(2);
  EXPECT_TRUE(cluster.a().hasIncident("otherRules"));
}

// What one round decides may be more than a frame holds.
TEST(RuleFiles, ManyLargeEntriesOfOneRoundReachTheCopies) {
  TestCluster cluster(2, [](std::size_t, ReplicaConfig& config) { config.domains = {&notes(1)}; });
  cluster.found();
  cluster.a().submit(noteRequest("set", "Set", std::string(60'000, 'x')));
  for (int i = 0; i < 6; ++i) cluster.a().submit(noteRequest(concat("twice", i), "Twice"));
  cluster.run();
  for (int i = 0; i < 8; ++i) cluster.a().submit(noteRequest(concat("again", i), "Again"));
  cluster.run();
  ASSERT_NE(cluster.a().answered("again7"), nullptr);
  EXPECT_EQ(cluster.a().answered("again7")->outcome, kernel::Outcome::approved);
  EXPECT_EQ(cluster.b().host().partition().size(), cluster.a().host().partition().size());
  EXPECT_EQ(cluster.b().host().partition().tree().root(), cluster.a().host().partition().tree().root());
}

}  // namespace
}  // namespace witan::node::test::engines_test
