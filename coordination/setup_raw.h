// A setup as it was read, with names still in words. Between the two halves of readSetup (setup_reader.cpp checks the
// form, setup_number.cpp numbers the names); nobody else needs it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordination/setup.h"

namespace witan::kernel::joint {

using RawAtoms = std::vector<std::pair<std::string, ActionType>>;
using RawState = std::vector<std::pair<std::string, std::string>>;  // key, canonical JSON of the value

struct RawAuthority {
  std::string id, holder;
  Commitment commitment = Commitment::ALLOW;
  RawAtoms scope;
};

struct RawRequest {
  ActionType type = ActionType::READ;
  std::vector<std::string> scope, cited;
  RawState delta;
  std::string scopeText, citedText, deltaText;
};

struct RawEntry {
  bool exits = false;
  std::optional<RawRequest> request;
};

struct RawAgent {
  std::string id;
  StrategyKind strategy = StrategyKind::scripted;
  std::vector<RawEntry> script;
  bool repeatLast = false;
};

struct RawSetup {
  Setup plain;  // what has no names in it
  RawState initialState;
  std::vector<RawAuthority> authorities;
  std::vector<RawAgent> agents;
};

// Errors: more names than the limits allow, a log that would be too large. O(names * log).
Result<Setup> numberSetup(RawSetup raw, const SetupLimits& limits);

}  // namespace witan::kernel::joint
