// A space waits for those devices alone that may have it; who is given it again brings nothing back.
//
//   WITAN_SEED=n    runs that history alone and prints it
//   WITAN_LONG=1    runs 10^6 instead of 1,000
#include <cstdlib>

#include "tests/replication/history_world.h"

namespace witan::replication::test::scope_tidying_test {
namespace {

class ScopeTidying : public ::testing::Test {
 protected:
  void SetUp() override {
    for (Device* device : {&a, &b, &c}) {
      device->replica().waitFor([this](std::string_view one, DatabaseName, std::string_view scope) {
        return scope == "main" && (one != "c" || cMayHaveIt);
      });
      ASSERT_TRUE(
          a.replica()
              .addStatement(admit(*a.replica().statements(), a.replica().writer(), device->name(), 1, device->name()))
              .ok());
    }
    a.flush();
    meet(), meet();
  }
  void meet() { between(a, b), between(a, c), between(b, c); }
  void between(Device& x, Device& y) {
    const auto towards = [&](Device& peer) {
      SessionOptions options;
      options.mayHave = [this, limited = peer.name() == "c"](DatabaseName, std::string_view) {
        return !limited || cMayHaveIt;
      };
      return options;
    };
    Link link(x, y, towards(y), towards(x));
    link.run();
  }
  void lose(bool cHasItAgain) {
    cMayHaveIt = cHasItAgain;
    for (Device* device : {&a, &b, &c}) device->replica().rosterChanged();
  }
  void tidy() {
    for (int round = 0; round < 2; ++round) {
      meet();
      for (Device* device : {&a, &b, &c}) ASSERT_TRUE(device->replica().stabilise().ok());
    }
  }
  static bool keeps(Device& device, const std::string& key) {
    return !device.agents().versions(Kind::agentState, key)->empty();
  }
  void remove(Device& device, const std::string& key) {
    const Write gone{Kind::agentState, key, "", true};
    ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
    device.flush();
  }

  bool cMayHaveIt = false;
  Device a{"a", 1}, b{"b", 2}, c{"c", 3};
};

TEST_F(ScopeTidying, ALimitedDeviceHoldsNothingUp) {
  a.write("x", failures(1));
  meet();
  remove(a, "x");
  tidy();
  EXPECT_FALSE(keeps(a, "x"));
  EXPECT_FALSE(keeps(b, "x"));
  EXPECT_EQ(a.replica().waitedFor("agents/main").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(a.replica().waitedFor("agents/cluster").value(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(c.replica().waitedFor("agents/main").value(), std::vector<std::string>{});
  EXPECT_FALSE(c.replica().waitedFor("elsewhere/main").ok());
}

TEST_F(ScopeTidying, OneThatMayHaveItDoesAsBefore) {
  lose(true);
  a.write("x", failures(1));
  meet();
  remove(a, "x");
  between(a, b);
  for (Device* device : {&a, &b}) ASSERT_TRUE(device->replica().stabilise().ok());
  EXPECT_TRUE(keeps(a, "x"));
}

// It lost the scope while it held what the others then removed and replaced, and forgot.
TEST_F(ScopeTidying, WhoHasItAgainBringsNothingBack) {
  lose(true);
  a.write("removed", failures(1));
  a.write("replaced", failures(1));
  meet();
  lose(false);
  remove(a, "removed");
  a.write("replaced", failures(2));
  c.write("own", failures(3));
  tidy();
  ASSERT_FALSE(keeps(a, "removed"));
  ASSERT_TRUE(keeps(c, "removed"));
  lose(true);
  // With the one that made them, and with the other one.
  between(c, b);
  tidy();
  for (Device* device : {&a, &b, &c}) {
    EXPECT_FALSE(keeps(*device, "removed")) << device->name();
    EXPECT_EQ(device->antichain("replaced").size(), 1u) << device->name();
    EXPECT_EQ(device->view("replaced").consecutiveFailureCount, 2u) << device->name();
    EXPECT_EQ(device->antichain("own").size(), 1u) << device->name();
    EXPECT_TRUE(device->incidents().empty()) << device->name();
  }
  expectEqual(a, c);
}

std::uint64_t environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

TEST(ScopeHistories, WhoLosesAScopeHoldsNothingUpAndBringsNothingBack) {
  const std::uint64_t alone = environment("WITAN_SEED");
  const std::uint64_t last = alone != 0 ? alone : environment("WITAN_LONG") == 1 ? 1'000'000 : 1'000;
  for (std::uint64_t seed = alone != 0 ? alone : 1; seed <= last; ++seed) {
    const Plot plot = makeRolePlot(seed);
    if (alone != 0) std::printf("%s", toString(plot).c_str());
    const std::string problem = outcomeOf(plot);
    if (problem.empty()) continue;
    const Plot shorter = shrink(plot, [](const Plot& p) { return !outcomeOf(p).empty(); });
    FAIL() << problem << "\nrun it alone with WITAN_SEED=" << seed << "; the shortest history found:\n"
           << toString(shorter) << "which ends with: " << outcomeOf(shorter);
  }
}

}  // namespace
}  // namespace witan::replication::test::scope_tidying_test
