// The registry: every domain that is listed can be made, says who it is, and has what tools and simulator need.
#include "domains/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/domains/scenario.h"

namespace witan::domains::test::registry_test {
namespace {

TEST(Registry, EveryNameMakesItsDomain) {
  std::set<std::string_view> names;
  for (std::string_view name : domainNames()) {
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    const auto module = makeDomain(name);
    ASSERT_TRUE(module.ok()) << name;
    const Signature& s = (*module)->signature();
    EXPECT_EQ(s.domain, name);
    EXPECT_FALSE(s.title.empty());
    EXPECT_FALSE(s.fields.empty());
    EXPECT_FALSE(s.roles.empty());
    std::set<std::string> ids;
    for (const InvariantInfo& i : s.invariants) {
      EXPECT_TRUE(ids.insert(i.id).second) << i.id << " twice: identifiers are distinct (Def. A.13)";
      EXPECT_FALSE(i.rule.empty());
      EXPECT_NE(i.footprint, 0u);
      EXPECT_NE(i.id, kKernelIntegrity);
    }
    std::set<std::string> fields, processes;
    for (const FieldInfo& f : s.fields)
      EXPECT_TRUE(fields.insert(f.name).second && f.name != "clock" && f.name != "waivers" && f.name != "policy")
          << f.name;
    for (const ProcessInfo& p : s.processes) EXPECT_TRUE(processes.insert(p.name).second) << p.name;
  }
}

TEST(Registry, AnUnknownNameIsToldTheKnownOnes) {
  const auto made = makeDomain("nothing");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::notFound);
  for (std::string_view name : domainNames()) EXPECT_NE(made.error().hint.find(name), std::string::npos);
}

TEST(Registry, PolicyAndCounselors) {
  EXPECT_EQ(makeDomain("budget", objectOf(R"({"cap":5})")).value()->policyJson(), R"({"cap":5})");
  EXPECT_FALSE(makeDomain("budget", objectOf(R"({"cup":5})")).ok());
  EXPECT_FALSE(makeDomain("udt", objectOf(R"({"tier2MinDays":-1})")).ok());
  const auto udt = makeDomain("udt", {}, {"someone.else"}).value();
  EXPECT_TRUE(udt->authorised("someone.else"));
  EXPECT_FALSE(udt->authorised("dr.supervising"));
  // The meaning of a ledger: signature and policy, not who may decide.
  EXPECT_EQ(udt->digest(), makeDomain("udt").value()->digest());
  EXPECT_NE(makeDomain("budget").value()->digest(), makeDomain("budget", objectOf(R"({"cap":5})")).value()->digest());
}

TEST(Registry, SamplesAreActionsOfTheirRolesAndBeginningsAreLawful) {
  for (const auto& module : everyDomain()) {
    SeededRandom random(8);
    std::set<std::uint16_t> seen;
    for (int i = 0; i < 300; ++i) {
      const Time at = parseTime("2026-03-23T08:00:00Z").value();
      auto entity = module->create(objectOf(module->sampleInit(random, at)), at);
      ASSERT_TRUE(entity.ok()) << entity.error().message;
      const ActionPtr action = module->sample(**entity, random, at);
      ASSERT_NE(action, nullptr) << module->signature().domain;
      ASSERT_LT(action->process, module->signature().processes.size());
      seen.insert(action->process);
    }
    std::size_t proposable = 0;
    for (const ProcessInfo& p : module->signature().processes) proposable += !p.role.empty();
    EXPECT_EQ(seen.size(), proposable) << module->signature().domain << ": every process is sampled";
  }
}

}  // namespace
}  // namespace witan::domains::test::registry_test
