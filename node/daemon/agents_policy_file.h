// The policy of agents as a file (agents/policy/policy.h). A data directory with a `policy.toml` lets its agents do
// what stands there and nothing else; without one they may use what stays on the device. Read when agents start, and
// when a running node reads its configuration again.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agents/content_seal.h"
#include "agents/host/device_gate.h"
#include "base/result.h"

namespace witan::node {

inline constexpr const char* kAgentsPolicyFile = "policy.toml";

// TOML, or JSON if the name ends in .json; "-" is standard input. Errors name file, line and cause.
Result<agents::Policy> readAgentsPolicy(const std::string& path);

// Of a data directory, compiled; none: it has no such file. Errors: as above; the file cannot be read.
Result<std::optional<agents::Monitor>> policyOfDevice(const std::filesystem::path& dir);
// The gate of the agents of a data directory. Errors: likewise.
Result<std::shared_ptr<agents::DeviceGate>> gateOfDevice(const std::filesystem::path& dir);

// The seals of the entries of a scope of a data directory (agents/content_seal.h). Errors: as sealKeysOf
// (node/cluster/scope_keys.h).
Result<agents::ContentSeals> contentSealsOf(const std::filesystem::path& dir, const std::string& scope);

}  // namespace witan::node
