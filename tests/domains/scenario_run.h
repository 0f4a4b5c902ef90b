// Runs scenario lines and says where what came is not what was expected.
#pragma once

#include <string>
#include <vector>

#include "tests/domains/scenario.h"

namespace witan::domains::test {

// "" when every expectation held; else one line for each that did not.
inline std::string differencesOf(const DomainModule& module, const std::vector<ScenarioLine>& lines) {
  Partition partition(module);
  std::string differences;
  for (const ScenarioLine& line : lines) {
    const Decision decision = kernel::test::feed(partition, line.event);
    const bool detail = line.expect.find(':') != std::string::npos;
    const std::string got = detail ? wording(decision) : std::string(enumName(decision.outcome));
    if (line.expect.empty() || got == line.expect) continue;
    differences += line.event.entity + " at " + formatTime(line.event.at) + " " + line.event.action + ": expected " +
                   line.expect + ", got " + wording(decision) + " (" + decision.message + ")\n";
  }
  return differences;
}

}  // namespace witan::domains::test
