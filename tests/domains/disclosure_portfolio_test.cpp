// A portfolio that runs by itself: the rules of its workers propose only what is lawful, and a human is asked only when
// something escalates.

#include <gtest/gtest.h>

#include "domains/disclosure/disclosure.h"
#include "tests/domains/scenario_run.h"

namespace witan::domains::disclosure::disclosure_portfolio_test {
namespace {

struct Outcomes {
  std::map<std::string, int> decided;
  std::map<Phase, int> phases;
};

Outcomes runYear(const json::object& policy, std::size_t vulnerabilities, std::uint64_t seed) {
  const auto module = makeDomain("disclosure", policy).value();
  Partition partition(*module);
  Outcomes out;
  for (const auto& line : test::scenarioLines(module->generate(vulnerabilities, 365, seed))) {
    const Decision d = kernel::test::feed(partition, line.event);
    ++out.decided[std::string(enumName(d.outcome))];
    EXPECT_NE(d.outcome, Outcome::rejected) << d.message << " " << line.event.action;
    EXPECT_TRUE(d.outcome != Outcome::cCommitted || d.safe.value_or(false)) << line.event.at.micros;
  }
  const State& state = stateOf(*partition.state("portfolio"));
  for (Slot slot : state.vulns.byKey()) ++out.phases[*state.vulns.row(slot).phase];
  return out;
}

TEST(DisclosurePortfolio, RunsByItselfWithAHumanOnlyAtEscalations) {
  const Outcomes year = runYear({}, 1500, 3);
  EXPECT_EQ(year.decided.at("escalated"), year.decided.at("cCommitted") + year.decided.at("cRejected"));
  EXPECT_GT(year.decided.at("approved"), 15'000);
  EXPECT_LT(year.decided.at("escalated"), 150);
  EXPECT_FALSE(year.decided.contains("frozen"));
  EXPECT_FALSE(year.decided.contains("refused"));
  EXPECT_GT(year.phases.at(Phase::DISCLOSED), 1300);
}

TEST(DisclosurePortfolio, UnderEveryRegime) {
  for (const char* policy : {R"({"preset":"CERTCC"})", R"({"preset":"P0"})", R"({"preset":"ANTHROPIC"})"}) {
    SCOPED_TRACE(policy);
    EXPECT_GT(runYear(test::objectOf(policy), 200, 5).phases.at(Phase::DISCLOSED), 150);
  }
}

TEST(DisclosurePortfolio, TheSameSeedGivesTheSameYear) {
  const auto module = makeDomain("disclosure").value();
  EXPECT_EQ(module->generate(80, 200, 9), module->generate(80, 200, 9));
  EXPECT_NE(module->generate(80, 200, 9), module->generate(80, 200, 10));
  EXPECT_EQ(module->generate(1, 1, 1).find("\"entity\":\"portfolio\",\"init\""),
            std::string("{\"at\":\"2026-01-01T00:00:00Z\",").size());
}

}  // namespace
}  // namespace witan::domains::disclosure::disclosure_portfolio_test
