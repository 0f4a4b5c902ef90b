// Extension: what a domain brings beside its rules. A domain that has one declares `static const Extension&
// extension();` in its domain type and defines it in domains/<name>/extension.cpp. Every member may be empty.
// Immutable, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/tools/ledger_tool.h"

namespace witan::agents {
class Agent;
}

namespace witan::domains {

// The journal of a made-up organisation, for agents to act on: JSON Lines {"at", "id", "type", "payload"} in order of
// time, as `witan agent run --feed` reads them. Deterministic.
struct Feed {
  std::string_view what;  // "a clinic"
  Result<std::string> (*make)(std::size_t entities, std::size_t days, std::uint64_t seed) = nullptr;
};

struct Extension {
  std::vector<const agents::Agent*> agents;
  std::vector<const agents::LedgerTool*> tools;
  // No keys: the seal refuses whatever it would have to seal.
  std::shared_ptr<const agents::ContentSeal> (*seal)(std::shared_ptr<const agents::SealKeys> keys) = nullptr;
  Feed feed;
};

}  // namespace witan::domains
