// Any bytes as a policy file, JSON and TOML, for every domain. A policy that is accepted prints as JSON that makes the
// same module.
#pragma once

#include "program/policy_file.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline void fuzzPolicy(std::string_view text) {
  for (const char* name : {"policy.json", "policy.toml"}) {
    const auto policy = node::parsePolicy(text, name);
    if (!policy.ok()) {
      WITAN_CHECK(policy.error().message.starts_with(name), "a refusal names the file");
      continue;
    }
    for (std::string_view domain : domains::domainNames()) {
      const auto module = domains::makeDomain(domain, *policy);
      if (!module.ok()) continue;
      const std::string shown = (*module)->policyJson();
      checkShown(shown);
      const auto again = domains::makeDomain(domain, parseJson(shown).value().as_object());
      WITAN_CHECK(again.ok() && (*again)->digest() == (*module)->digest(), shown);
    }
  }
}

}  // namespace witan::fuzz
