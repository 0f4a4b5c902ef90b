// The clinic's month: what `./run` shows must be lively, lawful and the same everywhere.
#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"
#include "tests/domains/scenario_run.h"

namespace witan::domains::test::clinic_test {
namespace {

std::string generateClinic(std::size_t patients, std::size_t days, std::uint64_t seed) {
  return makeDomain("udt").value()->generate(patients, days, seed);
}

std::map<std::string, int> outcomesOf(const std::string& events) {
  const auto module = makeDomain("udt").value();
  Partition partition(*module);
  std::map<std::string, int> counted;
  for (const ScenarioLine& line : scenarioLines(events)) ++counted[wording(kernel::test::feed(partition, line.event))];
  return counted;
}

TEST(Clinic, TheSameSeedGivesTheSameMonth) {
  EXPECT_EQ(generateClinic(50, 30, 3), generateClinic(50, 30, 3));
  EXPECT_NE(generateClinic(50, 30, 3), generateClinic(50, 30, 4));
}

TEST(Clinic, ItsLinesAreInOrderOfTimeAndNoneIsRefused) {
  const std::string events = generateClinic(200, 30, 1);
  Time before{};
  for (const ScenarioLine& line : scenarioLines(events)) {
    EXPECT_GE(line.event.at, before);
    before = line.event.at;
  }
  auto outcomes = outcomesOf(events);
  EXPECT_EQ(outcomes["refused"], 0);
  EXPECT_EQ(outcomes["initialised"], 200);
  EXPECT_GT(outcomes["approved"], 2'000);
  for (const char* wanted : {"rejected:UDT_DEFINITIVE_LIMIT", "rejected:UDT_PRESUMPTIVE_LIMIT",
                             "rejected:UDT_CLINICAL_RATIONALE", "escalated:UDT_RELAPSE_RESPONSE",
                             "escalated:UDT_SAME_DAY_DEFINITIVE", "cCommitted:safe", "cRejected", "frozen"})
    EXPECT_GT(outcomes[wanted], 0) << wanted;
  EXPECT_EQ(outcomes["escalated:UDT_RELAPSE_RESPONSE"] + outcomes["escalated:UDT_SAME_DAY_DEFINITIVE"],
            outcomes["cCommitted:safe"] + outcomes["cRejected"]);
}

// Seed 000, section 3.1: his days come as the paper tells them, whoever else is treated.
TEST(Clinic, DavidsStoryIsExact) {
  const auto module = makeDomain("udt").value();
  Partition partition(*module);
  std::vector<std::string> told;
  for (const ScenarioLine& line : scenarioLines(generateClinic(20, 30, 9))) {
    const Decision decision = kernel::test::feed(partition, line.event);
    if (line.event.entity == "David") told.push_back(formatTime(line.event.at).substr(5, 11) + " " + wording(decision));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"03-23T08:00 initialised", "03-23T09:00 approved", "03-23T09:00 approved",
                                            "03-23T15:00 approved", "03-23T16:00 approved", "03-26T09:00 approved",
                                            "03-26T09:00 approved", "03-26T09:20 escalated:UDT_RELAPSE_RESPONSE",
                                            "03-26T10:00 cCommitted:safe", "03-26T11:00 approved",
                                            "03-26T11:00 rejected:UDT_DEFINITIVE_LIMIT"}));
}

TEST(Clinic, SmallNumbersAreFine) {
  EXPECT_EQ(generateClinic(0, 30, 1), "");
  EXPECT_NE(generateClinic(1, 1, 1).find("David"), std::string::npos);
}

}  // namespace
}  // namespace witan::domains::test::clinic_test
