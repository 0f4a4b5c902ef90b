// Roles that no domain has are given, and said (node/cluster/roster.h).
#include "node/cluster/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "domains/registry.h"
#include "tests/node/node_process.h"

namespace witan::node::role_warnings_test {
namespace {

using test::Finished;
using test::Node;
using test::Scratch;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RoleWarnings, NameWhatThereIs) {
  const auto budget = domains::makeDomain("budget").value();
  const auto warningsOf = [&](const std::vector<std::string>& roles) {
    return roleWarnings(roles,
                        [&](std::string_view domain) { return domain == "budget" ? &budget->signature() : nullptr; });
  };
  EXPECT_THAT(warningsOf({"ledger", "*", "budget.A", "budget.counselor"}), IsEmpty());
  EXPECT_THAT(warningsOf({"budget.A", "budget.C", "budgte.A"}),
              ElementsAre(AllOf(HasSubstr("\"budget.C\""), HasSubstr("there are budget.A, budget.B, budget.counselor")),
                          AllOf(HasSubstr("\"budgte.A\" is of no domain"), HasSubstr("budget, "))));
}

TEST(RoleWarnings, NameRolesOfPersonsAndNamesThatLookAlike) {
  const auto budget = domains::makeDomain("budget").value();
  const SigningKey admin = *SigningKey::fromSeed(std::string(32, 'x'));
  Roster roster;
  const auto warningsOf = [&](const std::string& name, const std::vector<std::string>& roles) {
    return personWarnings(roster, name, roles,
                          [&](std::string_view domain) { return domain == "budget" ? &budget->signature() : nullptr; });
  };
  EXPECT_THAT(warningsOf("clinic", {"budget.counselor", "graph.Person"}), IsEmpty());
  EXPECT_THAT(warningsOf("clinic", {"foo.counselor"}), ElementsAre(HasSubstr("\"foo.counselor\" is of no domain")));
  roster.persons.emplace(
      {RosterPerson{"clinic", {toHex(admin.publicKey())}, DeviceState::active, {"budget.counselor"}, {}, ""}});
  EXPECT_THAT(warningsOf("clinic", {"budget.counselor"}), IsEmpty()) << "the same one";
  EXPECT_THAT(warningsOf("cIinic", {"budget.counselor"}), ElementsAre(HasSubstr("looks like that of \"clinic\"")));
}

TEST(RoleWarnings, AreOnStderrOrInTheJson) {
  const Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const std::vector<std::string> wrong{"device", "invite", "--role", "udt.LabOrdr"};
  const Finished made = node.run(wrong);
  EXPECT_EQ(made.exitCode, 0);
  EXPECT_THAT(made.out, HasSubstr("witan1."));
  EXPECT_THAT(made.err, AllOf(HasSubstr("witan: warning: the role \"udt.LabOrdr\""), HasSubstr("udt.LabOrder")));
  const json::value answer = node.runJson(wrong);
  ASSERT_EQ(answer.at("warnings").as_array().size(), 1u);
  EXPECT_THAT(std::string(answer.at("warnings").at(0).as_string()), HasSubstr("udt.LabOrder"));
  EXPECT_TRUE(node.runJson({"device", "invite", "--role", "udt.LabOrder"}).at("warnings").as_array().empty());
  EXPECT_THAT(node.run({"device", "roles", "a", "--role", "ledger", "--role", "udt.LabOrdr"}).err,
              HasSubstr("witan: warning: the role \"udt.LabOrdr\""));
}

}  // namespace
}  // namespace witan::node::role_warnings_test
