#include "sim/check/lost_decisions.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bytes.h"

namespace witan::sim {

namespace {

bool isOf(const kernel::Entry& entry, const Operation& operation) {
  const bool repeated = operation.answer.decision.outcome == kernel::Outcome::duplicate;
  return isActOf(entry, operation) && (repeated || isOfPlan(entry, operation));
}

}  // namespace

std::vector<const Operation*> toldAndGone(std::span<const Operation* const> operations,
                                          std::span<const LedgerLine> entries) {
  std::multimap<std::string_view, const kernel::Entry*> byId;
  for (const LedgerLine& line : entries) byId.emplace(line.entry.operationId, &line.entry);
  std::vector<const Operation*> gone;
  for (const Operation* operation : operations) {
    if (!operation->returned || operation->answer.decision.seq == 0) continue;
    const auto [from, to] = byId.equal_range(operation->operationId);
    if (std::none_of(from, to, [&](const auto& entry) { return isOf(*entry.second, *operation); }))
      gone.push_back(operation);
  }
  return gone;
}

}  // namespace witan::sim
