// Starts another program of this build in place of this one, as git starts git-*. Main thread only.
#pragma once

#include <string>
#include <vector>

namespace witan::node {

// Replaces the process by `program` (witan-sim, witan-lab) with these arguments: the one beside this program's file,
// else the one on PATH. Returns only on failure: an exit code, after it has said how to build or install the program.
int runSibling(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace witan::node
