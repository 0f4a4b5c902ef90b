// Agents of a node that is stopped while they wait for an answer: `systemctl restart`, however often, is no failure of
// theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::agent_stop_test {
namespace {

using test::Node;
using test::Scratch;
using test::until;
using ::testing::HasSubstr;
using ::testing::Not;

// More than the five starts after which a run is given up.
constexpr int kStops = 7;

TEST(AgentStop, AnOrderlyStopCountsNoStart) {
  const Scratch scratch;
  Node owner(scratch, "owner"), clinic(scratch, "clinic");
  const std::vector<std::string> working{"--agent", "udt-lab"};
  ASSERT_TRUE(test::begin(owner)) << owner.log();
  ASSERT_EQ(owner.run({"begin", "udt", "David"}).exitCode, 0);
  ASSERT_TRUE(test::enrol(owner, clinic, {}, working)) << clinic.log();
  // Nobody decides about David from here on, so what the laboratory proposes waits.
  owner.stop();
  const json::object order{{"patient", "David"},
                           {"order", "O1"},
                           {"kind", "DEFINITIVE"},
                           {"code", "G0480"},
                           {"method", "LCMS"},
                           {"dos", "2026-03-23"},
                           {"rationale", "treatment plan: random monitoring"}};
  const auto entered =
      clinic.post("/v1/feed", {{"id", "udt/David/order/O1"}, {"type", "udt.order"}, {"payload", order}});
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto runs = [&] { return clinic.run({"wake", "list", "--all"}).out; };
  const auto works = [&] {
    const json::value waiting = clinic.get("/v1/outbox"), status = clinic.get("/v1/status");
    return waiting.is_object() && canonicalJson(waiting).find("David") != std::string::npos && status.is_object() &&
           status.at("agentRuns").at("started") == 1;
  };
  for (int stop = 0; stop < kStops; ++stop) {
    ASSERT_TRUE(until(works)) << stop << "\n" << runs() << clinic.log();
    ASSERT_EQ(clinic.stop(), 0);
    ASSERT_TRUE(clinic.up(working)) << clinic.log();
  }
  EXPECT_TRUE(until(works)) << runs();
  EXPECT_THAT(runs(), Not(HasSubstr("failed")));
  ASSERT_TRUE(owner.up()) << owner.log();
  EXPECT_TRUE(until([&] { return runs().find("completed") != std::string::npos; })) << runs() << clinic.log();
}

}  // namespace
}  // namespace witan::node::agent_stop_test
