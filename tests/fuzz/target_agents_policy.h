// Any bytes as a policy of agents, in TOML and in JSON. What is accepted compiles, prints as JSON that reads back to
// the same, and lets nothing through that its own allowlist does not have.
#pragma once

#include "agents/policy/monitor.h"

namespace witan::fuzz {

inline void checkAgentsPolicy(const agents::Policy& policy) {
  const std::string shown = toJson(policy);
  const auto again = agents::policyFromJson(parseJson(shown, {.bytes = shown.size()}).value());
  WITAN_CHECK(again.ok() && *again == policy, shown);
  const auto monitor = agents::Monitor::compile(policy);
  WITAN_CHECK(monitor.ok(), shown);
  const json::value payload = parseJson(R"({"a":{"b":[1,{"c":2}]},"x":"y","list":[{"id":1},[2]]})").value();
  for (const agents::Boundary& boundary : policy.boundary)
    for (const agents::OperationRule& rule : boundary.operation) {
      const agents::Allowlist* allowed = monitor->allowlist(boundary.name, rule.name);
      WITAN_CHECK(allowed != nullptr, shown);
      const agents::Projection once = agents::project(*allowed, payload);
      WITAN_CHECK(agents::conforms(*allowed, once.payload), shown);
      WITAN_CHECK(agents::project(*allowed, once.payload).payload == once.payload, shown);
    }
  for (const agents::Grant& grant : policy.grant)
    WITAN_CHECK(agents::covers(agents::grantedScope(policy, grant.agent, grant.category), {}), shown);
  WITAN_CHECK(!monitor->check({}, {}, {}).mayRun(), "a request of nothing");
}

inline void fuzzAgentsPolicy(std::string_view text) {
  const auto policy = agents::parsePolicyToml(text, "policy.toml");
  if (policy.ok())
    checkAgentsPolicy(*policy);
  else
    WITAN_CHECK(policy.error().message.starts_with("policy.toml:"), "a refusal names the file");
  const auto value = parseJson(text);
  if (!value.ok()) return;
  if (const auto read = agents::policyFromJson(*value); read.ok()) checkAgentsPolicy(*read);
}

}  // namespace witan::fuzz
