// Rule files that come to running nodes: a domain that the admin publishes, and a later version of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::rules_come_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDesk = R"([tables.asks]
amount = "int"
[processes.Ask]
role = "Staff"
arguments = "key: string, amount: int"
do = '''asks[key].amount = amount'''
[invariants.POSITIVE]
rule = "an ask is of something"
each = "asks as a"
check = '''require a.amount > 0 else reject 'of nothing' '''
)";
constexpr const char* kMore = R"([invariants.LIMIT]
rule = "an ask stays within ten"
each = "asks as a"
check = '''require a.amount <= 10 else reject 'too much' '''
[since]
2 = ["LIMIT"]
)";

TEST(RulesCome, APublishedDomainAndItsLaterVersionCountWithoutARestart) {
  const Scratch scratch;
  Node first(scratch, "first"), lab(scratch, "lab");
  ASSERT_TRUE(begin(first) && enrol(first, lab)) << first.log() << lab.log();
  const auto said = [](const Node& node, std::vector<std::string> words) {
    const Finished done = node.run(std::move(words));
    return done.out + done.err;
  };
  const auto asks = [&](const Node& node, const std::string& entity, const std::string& amount) {
    return said(node, {"propose", "desk", entity, "Staff", R"({"type":"Ask","key":"k","amount":)" + amount + "}"});
  };

  scratch.write("desk.domain.toml", std::string("domain = \"desk\"\n") + kDesk);
  ASSERT_EQ(first.run({"publish", scratch / "desk.domain.toml"}).exitCode, 0) << first.log();
  ASSERT_TRUE(until([&] { return lab.run({"begin", "desk", "old"}).exitCode == 0; })) << lab.log();
  ASSERT_TRUE(until([&] { return asks(lab, "old", "20").find("approved") != std::string::npos; })) << lab.log();
  EXPECT_THAT(asks(lab, "old", "0"), HasSubstr("POSITIVE"));

  scratch.write("desk.domain.toml", std::string("domain = \"desk\"\nversion = 2\n") + kDesk + kMore);
  const auto taken = [](const Node& node, std::size_t times) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = node.log().find("other rules have come", at)) != std::string::npos; ++at) ++found;
    return found == times && node.connectedTo(1);
  };
  ASSERT_TRUE(until([&] { return first.run({"publish", scratch / "desk.domain.toml"}).exitCode == 0; })) << first.log();
  ASSERT_TRUE(until([&] { return taken(first, 2) && taken(lab, 2); })) << first.log() << lab.log();
  ASSERT_TRUE(until([&] { return lab.run({"begin", "desk", "new"}).exitCode == 0; })) << lab.log();
  EXPECT_THAT(asks(lab, "new", "20"), HasSubstr("LIMIT"));
  // The old entity is as it was until it is moved on, which its state does not allow yet.
  EXPECT_THAT(asks(lab, "old", "30"), HasSubstr("approved"));
  const std::vector<std::string> upgrade{"propose", "desk", "old", "Upgrade", R"({"type":"UpgradeRules"})"};
  EXPECT_THAT(said(lab, upgrade), HasSubstr("LIMIT"));
  EXPECT_THAT(asks(lab, "old", "5"), HasSubstr("approved"));
  EXPECT_THAT(said(lab, upgrade), HasSubstr("approved"));
  EXPECT_THAT(asks(lab, "old", "30"), HasSubstr("LIMIT"));
  for (Node* node : {&first, &lab}) {
    EXPECT_TRUE(node->running()) << node->log();
    // Nobody is accused, nor said to have another file for as long as a rollout takes.
    EXPECT_THAT(said(*node, {"incidents"}), AllOf(Not(HasSubstr("headDiffers")), Not(HasSubstr("unlawful")),
                                                  Not(HasSubstr("fork")), Not(HasSubstr("otherRules"))));
    EXPECT_TRUE(until([&] {
      return node->run({"ledger", "verify", "--replay"}).exitCode == 0;
    })) << said(*node, {"ledger", "verify", "--replay"});
    EXPECT_EQ(node->stop(), 0);
  }
}

}  // namespace
}  // namespace witan::node::rules_come_test
