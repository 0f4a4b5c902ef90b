// The scenarios that each domain ships, and those of the checkout's neighbour folder ../shared when it is there.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "kernel/history_check.h"
#include "tests/domains/scenario_run.h"
#include "tests/paths.h"

namespace witan::domains::test::scenarios_test {
namespace {

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<DomainModule> moduleOf(std::string_view name) { return makeDomain(name).value(); }

class Scenarios : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(EveryDomain, Scenarios, testing::ValuesIn(domainNames()),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(Scenarios, ShippedOnesHold) {
  const auto module = moduleOf(GetParam());
  const auto lines = scenarioLines(module->scenarios());
  EXPECT_FALSE(lines.empty());
  for (const ScenarioLine& line : lines)
    EXPECT_NE(line.expect, "") << line.event.entity << " at " << formatTime(line.event.at);
  EXPECT_EQ(differencesOf(*module, lines), "");
}

// Lines of the neighbour's scenarios that the rules have made unlawful since, and what comes of them now
// (docs/FINDINGS.md, "Rules against an adversary", has the reasons).
struct Unlawful {
  std::string_view domain, entity, at, type, was, now;
};
constexpr std::string_view kIncomplete = "rejected:DISCLOSURE_COMPLETENESS", kDiscloses = "ExecuteDisclosure";
constexpr std::string_view kUncredited = "cCommitted:UNSAFE[DISCLOSURE_COMPLETENESS]", kSafe = "cCommitted:safe";
constexpr Unlawful kUnlawful[] = {
    // An action that names a person as the one who decides.
    {"moderation", "M06", "2026-01-04T00:00:00Z", "DecideAppeal", "approved", "escalated:UCM_HUMAN_APPEAL_DECISION"},
    // A disclosure that credits nobody; V2 of V09 also links another text than its fix. V05 and V10: the same by a
    // commit, and what follows it.
    {"disclosure", "V01", "2026-04-03T00:00:00Z", kDiscloses, "approved", kIncomplete},
    {"disclosure", "V04", "2026-01-20T00:00:00Z", kDiscloses, "approved", kIncomplete},
    {"disclosure", "V09", "2026-04-20T00:00:00Z", kDiscloses, "approved", kIncomplete},
    {"disclosure", "V14", "2026-04-03T00:00:00Z", kDiscloses, "approved", kIncomplete},
    {"disclosure", "V05", "2026-02-04T10:00:00Z", "", kSafe, kUncredited},
    {"disclosure", "V05", "2026-02-05T00:00:00Z", "AssertReadiness", "approved", kIncomplete},
    {"disclosure", "V10", "2026-03-01T01:00:00Z", "", kSafe, kUncredited},
};

std::vector<ScenarioLine> asOfToday(std::string_view domain, std::vector<ScenarioLine> lines) {
  std::set<std::string_view> used;
  for (ScenarioLine& line : lines)
    for (const Unlawful& u : kUnlawful)
      if (u.domain == domain && u.entity == line.event.entity && parseTime(u.at).value() == line.event.at &&
          line.event.action.find(u.type) != std::string::npos && u.was == line.expect) {
        line.expect = u.now;
        used.insert(u.entity);
      }
  for (const Unlawful& u : kUnlawful) {
    if (u.domain != domain) continue;
    EXPECT_TRUE(used.contains(u.entity)) << u.entity << " has no such line";
  }
  return lines;
}

TEST_P(Scenarios, SharedOnesHold) {
  const auto path = std::filesystem::path(witan::tests::kSourceDir).parent_path() / "shared" / "scenarios" /
                    (std::string(GetParam()) + ".jsonl");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no ../shared/scenarios beside the source folder";
  EXPECT_EQ(differencesOf(*moduleOf(GetParam()), asOfToday(GetParam(), scenarioLines(textOf(path)))), "");
}

TEST_P(Scenarios, RandomHistoriesHaveEveryProperty) {
  const auto module = moduleOf(GetParam());
  for (const PropertyResult& property : checkHistories(*module, {.seed = 7, .histories = 60})) {
    EXPECT_EQ(property.failure, "") << property.name;
    EXPECT_GT(property.checked, 0u) << property.name;
  }
}

TEST(ScenariosOfUdt, AllNineteenAreThere) {
  std::set<std::string> entities;
  for (const ScenarioLine& line : scenarioLines(moduleOf("udt")->scenarios())) entities.insert(line.event.entity);
  for (int i = 1; i <= 19; ++i) {
    const std::string name = std::string(i < 10 ? "U0" : "U") + std::to_string(i);
    EXPECT_TRUE(entities.contains(name)) << name;
  }
}

TEST(ScenariosOfUdt, EveryInvariantIsAWitnessSomewhere) {
  const auto module = moduleOf("udt");
  std::string expectations;
  for (const ScenarioLine& line : scenarioLines(module->scenarios())) expectations += line.expect + "\n";
  for (const auto& invariant : module->signature().invariants)
    EXPECT_NE(expectations.find(":" + invariant.id + "\n"), std::string::npos) << invariant.id;
  EXPECT_NE(expectations.find(":KERNEL_INTEGRITY\n"), std::string::npos);
}

TEST(ScenariosOfUdt, TheCheckFires) {
  const auto module = moduleOf("udt");
  auto lines = scenarioLines(module->scenarios());
  lines.at(2).expect = "rejected:UDT_CODE_KIND";
  EXPECT_NE(differencesOf(*module, lines).find("expected rejected:UDT_CODE_KIND, got approved"), std::string::npos);
}

// Another policy gives other outcomes: limits are configuration.
TEST(ScenariosOfUdt, LimitsAreConfiguration) {
  const json::object policy = objectOf(R"({"limits":{"DEFINITIVE":{"D0_30":[2,7]}}})");
  const auto module = makeDomain("udt", policy).value();
  const std::string differences = differencesOf(*module, scenarioLines(module->scenarios()));
  EXPECT_NE(differences.find("U02 at 2026-03-26T11:00:00Z"), std::string::npos) << differences;
}

}  // namespace
}  // namespace witan::domains::test::scenarios_test
