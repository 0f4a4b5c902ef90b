// Operations on wakes of agents and their runs.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

struct WakeListRequest {
  Omittable<std::string> agent;
  Omittable<bool> all;
  Omittable<bool> failed;
  Omittable<std::string> scope;
  WITAN_MEMBERS(WakeListRequest, agent, all, failed, scope)
  static constexpr std::array notes{
      MemberNote{"agent", "Wakes of this agent only"}, MemberNote{"all", "true: every known run too"},
      MemberNote{"failed", "true: failed runs only"}, MemberNote{"scope", "Scope of the database; default: main"}};
};

struct WakeRow {
  std::string run;
  std::string agentId;
  std::string reason;
  std::string subject;
  std::string status;
  std::string cause;
  std::int64_t atMs = 0;
  WITAN_MEMBERS(WakeRow, run, agentId, reason, subject, status, cause, atMs)
  static constexpr std::array notes{MemberNote{"run", "Key of the run"},
                                    MemberNote{"agentId", "Agent"},
                                    MemberNote{"reason", "Why it wakes"},
                                    MemberNote{"subject", "What it wakes for"},
                                    MemberNote{"status", "State of the wake or its run"},
                                    MemberNote{"cause", "Cause of the end"},
                                    MemberNote{"atMs", "When, in milliseconds since 1970"}};
};

struct Wakes {
  std::vector<WakeRow> wakes;
  WITAN_MEMBERS(Wakes, wakes)
  static constexpr std::array notes{MemberNote{"wakes", "Wakes and runs, oldest first"}};
};

Result<Wakes> listWakes(OperationContext& context, const WakeListRequest& request);

inline constexpr Operation kWakeList{"GET", "/v1/wake/list", listWakes};

}  // namespace witan::node::operations
