// `witan dev`, and what it takes of `witan up`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/command_line.h"

namespace witan::node {

void addDevCommand(Command& app);

// The node of a directory at work, with these agents, until a signal comes. An exit code. In up_command.cpp.
Result<int> runNode(const std::filesystem::path& dir, const std::vector<std::string>& agents);

}  // namespace witan::node
