// How long agents without an arbiter take to coordinate, by their number: as many resources as agents, each agent may
// write every resource, and all are to write one each in one epoch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/message.h"
#include "base/result.h"

namespace witan::node {

struct GrowthOptions {
  std::vector<std::size_t> agents{2, 4, 8, 16, 32, 64};  // 2 to 1,000 each
  std::uint32_t maxEpochs = 40;
  std::vector<std::string> program;  // of external agents; empty: the shipped hash_partition
};

WITAN_STRUCT(GrowthRow, (std::uint64_t, agents, "Number of agents and of resources"),
             (std::optional<std::uint64_t>, coordinatedAt, "Epochs until all executed in one; null: never"),
             (std::uint64_t, refusals, "Refused proposals until then"),
             (std::uint64_t, messages, "Messages until then"),
             (std::optional<std::string>, terminal, "STATE_DEADLOCK, STATE_LIVELOCK, ...; null: none"),
             (std::optional<std::string>, kernel, "What the auditors found of the kernel; null: nothing"))

// Errors: a program that cannot be started or understood.
Result<GrowthRow> grow(std::size_t agents, const GrowthOptions& options);

}  // namespace witan::node
