// What an operator would look at first, in one go: files and their modes, keys, roster, configuration, stores, ledgers,
// disk, clock, ports; of a running node what it says of itself. Changes nothing but what opening a directory does.
//
// Blocking; any thread. A check that cannot be made is a finding, never an error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/time.h"

namespace witan::node {

WITAN_ENUM(CheckLevel, ok, warn, fail)

struct DoctorCheck {
  std::string name;
  CheckLevel level = CheckLevel::ok;
  std::string what;
  std::string todo;  // empty if ok
  WITAN_MEMBERS(DoctorCheck, name, level, what, todo)
};

// `ledgers`: verify them too, and the tables of stores that nobody has open, which reads all of them. O(data directory)
// then.
std::vector<DoctorCheck> examine(const std::filesystem::path& dir, bool ledgers, Time now);

CheckLevel worst(const std::vector<DoctorCheck>& checks);

}  // namespace witan::node
