// The vectors of this folder, one JSON object a line.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "domains/escrow/escrow.h"
#include "domains/registry.h"
#include "kernel/market/evidence.h"
#include "tests/domains/scenario.h"
#include "tests/paths.h"

namespace witan::market::tests {

inline std::vector<json::object> vectorsOf(const std::string& name) {
  std::vector<json::object> all;
  std::ifstream in(std::string(witan::tests::kSourceDir) + "/tests/market/vectors/" + name);
  for (std::string line; std::getline(in, line);) all.push_back(parseJson(line, kBundleLimits).value().as_object());
  return all;
}

inline Roots rootsOf(const json::object& from) {
  Roots roots;
  for (const auto& [org, key] : from) roots.emplace(org, hashFromHex(std::string_view(key.as_string())).value());
  return roots;
}

// The domain with a partition; lines in, words out.
class EscrowRun {
 public:
  std::string feed(const json::object& line) {
    const auto read = domains::test::scenarioLine(line, ++number_);
    const kernel::Decision decision = kernel::test::feed(partition_, read.event);
    entities_.insert(read.event.entity);
    // The model knows no operation that was turned away.
    if (decision.outcome == kernel::Outcome::duplicate)
      return std::string(enumName(decision.recorded == kernel::Outcome::frozen ? decision.recorded : decision.outcome));
    return domains::test::wording(decision);
  }
  const kernel::Partition& partition() const { return partition_; }
  json::object finals() const {
    json::object all;
    for (const std::string& each : entities_)
      if (const auto* state = partition_.state(each)) all[each] = domains::escrow::viewOf(*state);
    return all;
  }

 private:
  std::unique_ptr<kernel::DomainModule> module_ = domains::makeDomain("escrow").value();
  kernel::Partition partition_{*module_};
  std::set<std::string> entities_;
  std::size_t number_ = 0;
};

}  // namespace witan::market::tests
