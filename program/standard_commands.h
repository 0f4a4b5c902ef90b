// The commands that every program has: version, help and manual. `app` must outlive the parse.
#pragma once

#include "program/command_line.h"

namespace witan::node {

void addStandardCommands(Command& app);

}  // namespace witan::node
