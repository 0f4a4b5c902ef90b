// The policy of agents as a file (agents/policy/policy.h). A data directory with a `policy.toml` lets its agents do
// what stands there and nothing else; without one they may use what stays on the device. Read when agents start.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "agents/host/device_gate.h"
#include "base/result.h"

namespace witan::node {

inline constexpr const char* kAgentsPolicyFile = "policy.toml";

// TOML, or JSON if the name ends in .json; "-" is standard input. Errors name file, line and cause.
Result<agents::Policy> readAgentsPolicy(const std::string& path);

// The gate of the agents of a data directory. Errors: as above; the file cannot be read.
Result<std::shared_ptr<agents::DeviceGate>> gateOfDevice(const std::filesystem::path& dir);

}  // namespace witan::node
