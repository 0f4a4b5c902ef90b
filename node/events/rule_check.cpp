#include "node/events/rule_check.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "domains/registry.h"
#include "kernel/lint.h"
#include "kernel/partition.h"
#include "node/events/event_runner.h"

namespace witan::node {

using namespace kernel;

namespace {

constexpr std::int64_t kLater = 400 * kMicrosPerDay;

PropertyResult checkLater(const DomainModule& module, const Partition& partition) {
  PropertyResult result{"time stability of the scenarios' end states", 0, {}};
  for (const std::string& entity : partition.entities()) {
    ++result.checked;
    const std::vector<Verdict> now = module.walk(*partition.state(entity));
    EntityPtr later = module.clone(*partition.state(entity));
    later->shared.clock.micros += kLater;
    const std::vector<Verdict> then = module.walk(*later);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (result.failure.empty() && now[i].passed() && !then[i].passed())
        result.failure = "entity " + entity + ": " + module.signature().invariants[i].id + ": " + then[i].message();
  }
  return result;
}

}  // namespace

std::vector<PropertyResult> checkScenarios(const DomainModule& module) {
  return checkScenarios(module, module.scenarios(), "the shipped events");
}

std::vector<PropertyResult> checkScenarios(const DomainModule& module, std::string_view rest,
                                           const std::string& source) {
  PropertyResult result{"scenarios: expectations of " + source, 0, {}};
  Partition partition(module);
  EventRunner runner(partition, true, [&](const std::string& difference) {
    if (result.failure.empty()) result.failure = difference;
  });
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::uint64_t refused = runner.tally().unexpectedRefusals;
    const std::string answer = runner.feed(number, rest.substr(0, end));
    if (runner.tally().unexpectedRefusals > refused && result.failure.empty()) result.failure = "unexpected: " + answer;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  result.checked = runner.tally().expectations;
  return {std::move(result), checkLater(module, partition)};
}

Status mayInstall(const DomainModule& module) {
  const std::string& name = module.signature().domain;
  if (const auto names = domains::domainNames(); std::ranges::find(names, name) != names.end())
    return conflict(concat("a domain ", inQuotes(name), " is compiled into this program"),
                    "give the domain another name");
  if (const auto problems = lintSignature(module.signature()).problems; !problems.empty())
    return invalid(problems.front(), "see all of them with: witan domain check FILE");
  if (module.scenarios().empty()) return okStatus();
  for (const PropertyResult& result : checkScenarios(module))
    if (!result.failure.empty())
      return invalid("its scenarios do not hold: " + result.failure, "see them with: witan domain check FILE");
  return okStatus();
}

}  // namespace witan::node
