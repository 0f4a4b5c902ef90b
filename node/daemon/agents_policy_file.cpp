#include "node/daemon/agents_policy_file.h"

#include "agents/policy/policy.h"
#include "domains/agents.h"
#include "node/cluster/scope_keys.h"
#include "program/json_file.h"
#include "program/line_reader.h"

namespace witan::node {

namespace fs = std::filesystem;

Result<agents::Policy> readAgentsPolicy(const std::string& path) {
  if (!path.ends_with(".json")) {
    WITAN_TRY(text, readInput(path, agents::kMaxPolicyBytes));
    return agents::parsePolicyToml(text, inputName(path));
  }
  WITAN_TRY(value, readJsonFile(path, {.bytes = agents::kMaxPolicyBytes}));
  auto policy = agents::policyFromJson(value);
  return policy.ok() ? std::move(policy) : named(path, policy.error());
}

Result<std::optional<agents::Monitor>> policyOfDevice(const fs::path& dir) {
  const fs::path file = dir / kAgentsPolicyFile;
  std::error_code ec;
  // Whatever stands there under this name is meant as the policy: what cannot be read must not open everything.
  const fs::file_status status = fs::symlink_status(file, ec);
  if (status.type() == fs::file_type::not_found) return std::optional<agents::Monitor>();
  WITAN_TRY(policy, readAgentsPolicy(file.string()));
  WITAN_TRY(monitor, agents::Monitor::compile(std::move(policy)));
  return std::optional(std::move(monitor));
}

Result<std::shared_ptr<agents::DeviceGate>> gateOfDevice(const fs::path& dir) {
  WITAN_TRY(monitor, policyOfDevice(dir));
  return monitor ? std::make_shared<agents::DeviceGate>(*std::move(monitor)) : std::make_shared<agents::DeviceGate>();
}

Result<agents::ContentSeals> contentSealsOf(const std::filesystem::path& dir, const std::string& scope) {
  WITAN_TRY(keys, sealKeysOf(dir, scope));
  return domains::contentSeals(std::move(keys));
}

}  // namespace witan::node
