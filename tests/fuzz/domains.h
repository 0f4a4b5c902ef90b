// The shipped domains, made once: what the fuzz targets run against.
#pragma once

#include <memory>
#include <vector>

#include "domains/registry.h"
#include "kernel/partition.h"

namespace witan::fuzz {

inline const std::vector<std::unique_ptr<kernel::DomainModule>>& allDomains() {
  static const auto modules = [] {
    std::vector<std::unique_ptr<kernel::DomainModule>> all;
    for (std::string_view name : domains::domainNames())
      all.push_back(domains::makeDomain(name, {}, {"dr.supervising"}).value());
    return all;
  }();
  return modules;
}

// A batch as a partition wrote it folds into the same ledger elsewhere.
inline void checkFolds(const kernel::Partition& from, std::string_view batch) {
  kernel::Partition copy(from.module());
  const auto folded = copy.fold(batch);
  WITAN_CHECK(folded.ok(), folded.ok() ? "" : folded.error().message);
  WITAN_CHECK(!folded->torn && copy.size() == from.size() && copy.tree().root() == from.tree().root(),
              "the same entries");
  for (const std::string& entity : from.entities())
    WITAN_CHECK(*copy.stateDigest(entity) == *from.stateDigest(entity), entity);
  copy.checkInvariants();
}

// Everything a person could be shown of it is JSON.
inline void checkShown(std::string_view json) {
  WITAN_CHECK(json.find('\n') == std::string_view::npos, "one line");
  const auto parsed = parseJson(json, {.bytes = json.size(), .depth = 128});
  WITAN_CHECK(parsed.ok(), parsed.ok() ? "" : parsed.error().message);
}

}  // namespace witan::fuzz
