// Joint: the processes. Agents propose or leave; the clock closes the epoch.
#pragma once

#include "domains/joint/state.h"

namespace witan::domains::joint {

// At most one a epoch and agent. Approved means received, and nothing more: what comes of it stands in agent.outcome
// once the epoch is closed.
struct Propose {
  static constexpr std::string_view name = "Propose";
  using Reads = Footprint<WorldValue, AgentActive, AgentRequest, Epoch>;
  using Writes = Footprint<AgentRequest>;
  std::string agent;
  std::int64_t epoch = 0;  // the open one: what is late is for no other
  std::string actionType;
  std::vector<std::string> declaredScope;
  std::vector<std::string> authoritiesCited;
  std::vector<std::string> deltaKeys, deltaValues;  // of one length
  static constexpr std::size_t required = 5;
  WITAN_MEMBERS(Propose, agent, epoch, actionType, declaredScope, authoritiesCited, deltaKeys, deltaValues)
  void apply(Mutator<Fields>& m, Time) const;
};

// For ever. It releases nothing.
struct Leave {
  static constexpr std::string_view name = "Leave";
  using Reads = Footprint<AgentActive, AgentRequest>;
  using Writes = Footprint<AgentActive>;
  std::string agent;
  WITAN_MEMBERS(Leave, agent)
  void apply(Mutator<Fields>& m, Time) const;
};

struct CloseEpoch {
  static constexpr std::string_view name = "CloseEpoch";
  using Reads =
      Union<AuthorityFields, Footprint<WorldValue, WorldBefore, AgentActive, AgentRequest, Epoch, Fruitless>>::Type;
  using Writes = Footprint<WorldValue, WorldBefore, AgentRequest, AgentClosed, AgentOutcome, Epoch, Fruitless, ClassOf>;
  std::int64_t epoch = 0;  // the open one: nobody closes two by mistake
  WITAN_MEMBERS(CloseEpoch, epoch)
  void apply(Mutator<Fields>& m, Time) const;
};

struct AgentRole {
  static constexpr std::string_view name = "Agent";
  using Processes = ProcessList<Propose, Leave>;
};
struct ClockRole {
  static constexpr std::string_view name = "Clock";
  using Processes = ProcessList<CloseEpoch>;
};

}  // namespace witan::domains::joint
